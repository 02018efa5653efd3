//! In-memory ports of a simulated robot, except the radio, and the two halves of its tick.

use std::convert::Infallible;

use wdgnn_core::model::Model;
use wdgnn_link::encoding::Codec;
use wdgnn_robot::{
    control_loop::{self, PortErrors, Report},
    node::Node,
    persist,
    ports::{Actuator, Ports, Radio, Store},
};

use super::rx_queue::copy_frame;
use crate::{ports::FixedSensor, scene::SimTask};

/// Ports of a robot besides its radio, and the port errors of the current tick.
#[derive(Debug, Default)]
pub struct Peripherals {
    memory: Memory,
    errors: PortErrors,
}

impl Peripherals {
    /// Loads the stored record into a node, as the firmware does after a start.
    pub fn resume<T, M, C, const N: usize>(&mut self, node: &mut Node<M, T, N, C>, buffer: &mut [u8])
    where
        T: SimTask,
        M: Model<Features = T::Features, Output = T::Output>,
        C: Codec,
    {
        // The store's error type is `Infallible`. A record of another model is ignored.
        let _resumed = persist::resume(node, &mut self.memory, buffer);
    }

    /// Cuts the power during a write: `tear` returns the remaining bytes of the record.
    pub fn tear(&mut self, tear: impl FnOnce(&[u8]) -> Vec<u8>) {
        self.memory.0 = self.memory.0.as_deref().map(tear);
    }

    /// Runs the first half of a tick. Sent frames are in `radio` afterwards.
    pub fn open<T, M, C, const N: usize>(
        &mut self,
        node: &mut Node<M, T, N, C>,
        radio: &mut impl Radio,
        tick: u32,
        sensed: Option<T::State>,
        buffer: &mut [u8],
    ) where
        T: SimTask,
        M: Model<Features = T::Features, Output = T::Output>,
        C: Codec,
    {
        let mut ports =
            Ports { radio, sensor: &mut FixedSensor(sensed), actuator: &mut Motors, store: &mut self.memory };
        self.errors = control_loop::open(node, tick, &mut ports, buffer);
    }

    /// Runs the second half of a tick with the frames that `radio` receives.
    pub fn close<T, M, C, const N: usize>(
        &mut self,
        node: &mut Node<M, T, N, C>,
        radio: &mut impl Radio,
        buffer: &mut [u8],
    ) -> Report<T::Output>
    where
        T: SimTask,
        M: Model<Features = T::Features, Output = T::Output>,
        C: Codec,
    {
        let mut ports = Ports {
            radio,
            sensor: &mut FixedSensor(Some(*node.state())),
            actuator: &mut Motors,
            store: &mut self.memory,
        };
        control_loop::close(node, &mut ports, buffer, self.errors)
    }
}

/// Actuator that ignores commands: the caller reads them from the tick's report.
struct Motors;

impl<O> Actuator<O> for Motors {
    type Error = Infallible;

    fn act(&mut self, _: &O) -> Result<(), Infallible> {
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Store that keeps a robot's record in memory.
#[derive(Debug, Default)]
struct Memory(Option<Vec<u8>>);

impl Store for Memory {
    type Error = Infallible;

    fn load(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, Infallible> {
        Ok(self.0.as_ref().map(|bytes| copy_frame(bytes, buffer).length))
    }

    fn save(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        self.0 = Some(bytes.to_vec());
        Ok(())
    }
}
