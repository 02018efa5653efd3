//! In-memory ports of a simulated robot, except the radio, and the two halves of its tick.

use std::convert::Infallible;

use wdgnn_core::model::Model;
use wdgnn_robot::{
    control_loop::{self, PortErrors, TickReport},
    persist,
    ports::{Actuator, PortSet, Radio, Store},
};

use super::{robot_config::SimRobot, rx_queue::copy_frame};
use crate::{ports::FixedSensor, scene::SimTask};

/// Ports of a robot besides its radio, and the port errors of the current tick.
#[derive(Debug, Default)]
pub struct Peripherals {
    memory: Memory,
    errors: PortErrors,
}

impl Peripherals {
    /// Loads the stored record into a robot, as the firmware does after a start.
    pub fn resume<T, M>(&mut self, robot: &mut SimRobot<M, T>, buffer: &mut [u8])
    where
        T: SimTask,
        M: Model<Features = T::Features, Output = T::Command>,
    {
        // The store's error type is `Infallible`. A record of another model is ignored.
        let _resumed = persist::restore(robot, &mut self.memory, buffer);
    }

    /// Cuts the power during a write: `tear` returns the remaining bytes of the record.
    pub fn tear(&mut self, tear: impl FnOnce(&[u8]) -> Vec<u8>) {
        self.memory.0 = self.memory.0.as_deref().map(tear);
    }

    /// Runs the first half of a tick. Sent frames are in `radio` afterwards.
    pub fn open<T, M>(
        &mut self, robot: &mut SimRobot<M, T>, radio: &mut impl Radio, tick: u32, sensed: Option<T::State>,
        buffer: &mut [u8],
    ) where
        T: SimTask,
        M: Model<Features = T::Features, Output = T::Command>,
    {
        let (sensor, actuator, store) = (&mut FixedSensor(sensed), &mut Motors, &mut self.memory);
        let mut ports = PortSet { radio, sensor, actuator, store };
        self.errors = control_loop::begin_tick(robot, tick, &mut ports, buffer);
    }

    /// Runs the second half of a tick with the frames that `radio` receives.
    pub fn close<T, M>(
        &mut self, robot: &mut SimRobot<M, T>, radio: &mut impl Radio, buffer: &mut [u8],
    ) -> TickReport<T::Command>
    where
        T: SimTask,
        M: Model<Features = T::Features, Output = T::Command>,
    {
        let sensor = &mut FixedSensor(Some(*robot.agent().state()));
        let mut ports = PortSet { radio, sensor, actuator: &mut Motors, store: &mut self.memory };
        control_loop::end_tick(robot, &mut ports, buffer, self.errors)
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
