//! Robot with a companion computer on a serial line, which measures poses and executes commands.

use nrf_pac::uarte::vals::Baudrate;
use wdgnn_link::link::RadioLink as _;
use wdgnn_protocol::companion::Status;
use wdgnn_robot::{control_loop::TickReport, onboard::OnboardTask};

use super::{
    Wiring,
    serial::{self, Input, Output},
    tdma::TdmaRadio,
};
use crate::{
    io::companion::{CommandSender, PoseSensor},
    link::Robot,
};

/// Number of ticks without a pose after which the serial receiver is restarted.
const POSE_TIMEOUT_TICKS: u32 = 25;

/// Sensor of the robot.
pub type SensorPort = PoseSensor<Input>;
/// Actuator of the robot.
pub type ActuatorPort = CommandSender<Output>;

/// Sensor and actuator of a robot.
#[derive(Debug)]
pub struct Vehicle {
    pose: PoseSensor<Input>,
    commands: CommandSender<Output>,
    /// Ticks since the last pose.
    ticks_without_pose: u32,
}

impl Vehicle {
    /// Opens the serial line.
    pub fn start<W: Wiring>(_: u16) -> Self {
        W::LED.init();
        let (input, output) = serial::open(W::RX, W::TX, Baudrate::Baud460800);
        Self { pose: PoseSensor::new(input), commands: CommandSender::new(output), ticks_without_pose: 0 }
    }

    /// Sensor.
    pub fn sensor(&mut self) -> &mut SensorPort {
        &mut self.pose
    }

    /// Actuator. The radio has received the frames of this tick.
    pub fn actuator(&mut self, _: &mut TdmaRadio) -> &mut ActuatorPort {
        &mut self.commands
    }

    /// Sets the number of the next tick.
    pub fn set_tick(&mut self, tick: u32) {
        self.commands.set_tick(tick);
    }

    /// Handles a key update from the companion.
    pub fn before_tick<T: OnboardTask>(&mut self, robot: &mut Robot<'_, T>, _: &mut TdmaRadio) {
        if let Some(mut frame) = self.pose.take_key_update() {
            // The result does not matter here. An accepted key is stored at the end of the tick.
            let _ = robot.receive(&mut frame);
        }
    }

    /// Sends the status, and restarts the serial receiver if it seems to be stuck.
    pub fn after_tick<W: Wiring, T: OnboardTask>(
        &mut self, robot: &Robot<'_, T>, radio: &mut TdmaRadio, turn: Option<u32>,
        report: &TickReport<T::Command>,
    ) {
        W::LED.show(report);
        let epoch = robot.link().security().key_epoch();
        self.commands.set_status(Status::new(report, self.pose.number(), radio.synchronized(), turn, epoch));
        let has_pose = report.errors.sensor == 0;
        self.ticks_without_pose = if has_pose { 0 } else { self.ticks_without_pose.saturating_add(1) };
        if self.ticks_without_pose >= POSE_TIMEOUT_TICKS {
            // The receiver may be stuck after a line error.
            self.ticks_without_pose = 0;
            self.pose.serial_mut().restart();
        }
    }
}
