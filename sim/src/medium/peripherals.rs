//! A robot's body in this process: every port but the radio, made of memory, and the two halves of a tick through them.

use std::convert::Infallible;

use wdgnn_core::model::Model;
use wdgnn_link::encoding::Codec;
use wdgnn_robot::{
    control_loop::{self, PortErrors, Report},
    node::Node,
    persist,
    ports::{Actuator, Ports, Radio, Store},
};

use super::rx_queue::deliver;
use crate::{ports::FixedSensor, scene::SimTask};

/// What a robot has besides its node and its radio.
#[derive(Debug, Default)]
pub struct Peripherals {
    memory: Memory,
    errors: PortErrors,
}

impl Peripherals {
    /// Takes up what the robot has stored, as the firmware does after a start.
    pub fn resume<T, M, C, const N: usize>(&mut self, node: &mut Node<M, T, N, C>, buffer: &mut [u8])
    where
        T: SimTask,
        M: Model<Features = T::Features, Output = T::Output>,
        C: Codec,
    {
        // A memory's errors are `Infallible`; a record of another model leaves the offline parameters in place.
        let _resumed = persist::resume(node, &mut self.memory, buffer);
    }

    /// The power goes while what the robot stores is written: `tear` says what is left of it.
    pub fn tear(&mut self, tear: impl FnOnce(&[u8]) -> Vec<u8>) {
        self.memory.0 = self.memory.0.as_deref().map(tear);
    }

    /// The first half of a tick: what the robot says is in its radio then.
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

    /// The second half of a tick: hears what its radio has.
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

/// The command is in the tick's report.
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

/// What a robot keeps while it is off.
#[derive(Debug, Default)]
struct Memory(Option<Vec<u8>>);

impl Store for Memory {
    type Error = Infallible;

    fn load(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, Infallible> {
        Ok(self.0.as_ref().map(|bytes| deliver(bytes, buffer).length))
    }

    fn save(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        self.0 = Some(bytes.to_vec());
        Ok(())
    }
}
