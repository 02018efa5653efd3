//! Robot with two wheels under a camera: motor board, accelerometer, buttons and display.
//!
//! A motor board has no timeout. The firmware therefore stops it at every start before anything else, and on every path
//! that ends control: no poses, a tilted robot, a fault, and the reset by the watchdog.

use nrf_pac::{Interrupt, TWIM0, TWIM1, uarte::vals::Baudrate};
use wdgnn_drive::{
    Cutebot, Drive, HBridge, Maqueen, PwmPair,
    buggy::{Settings, Standing},
};
use wdgnn_link::link::RadioLink as _;
use wdgnn_protocol::companion::Status;
use wdgnn_robot::{control_loop::TickReport, onboard::OnboardTask, ports::Actuator as _};

use super::{
    Wiring,
    display::{self, Matrix},
    pin::Pin,
    provisioning::{self, Chassis},
    pwm::{self, PwmChannel},
    serial::{self, Output},
    tdma::TdmaRadio,
    time,
    twim::Twim,
};
use crate::{
    io::{
        car::Car,
        companion::CommandSender,
        picture, poses,
        tilt::{Accelerometer, Tilt},
    },
    link::Robot,
};

/// Parts of the board.
pub const WIRES: Parts = <crate::board::Wires as Wiring>::BUGGY;
/// Ticks between two measurements of the tilt.
const TILT_TICKS: u32 = 5;
/// Ticks for which a button must be pressed, and both for a calibration.
const PRESS_TICKS: u8 = 3;
const CALIBRATION_TICKS: u8 = 150;

/// Sensor of the robot.
pub type SensorPort = Car<Motors>;
/// Actuator of the robot.
pub type ActuatorPort = Car<Motors>;

/// Pins of a robot with wheels.
#[derive(Debug)]
pub struct Parts {
    /// Buttons A and B, active low.
    pub buttons: [Pin; 2],
    /// Display.
    pub matrix: Matrix,
    /// Clock and data of the motor board.
    pub motor_bus: [Pin; 2],
    /// Clock and data of the accelerometer.
    pub sensor_bus: [Pin; 2],
    /// Motors on an H-bridge: left forward and backward, right forward and backward.
    pub bridge: [Pin; 4],
}

/// Motors of a chassis.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "one per robot")]
pub enum Motors {
    /// No chassis is set.
    Missing,
    /// Maqueen V4 or V5.
    Maqueen(Maqueen<Twim>),
    /// Cutebot.
    Cutebot(Cutebot<Twim>),
    /// Two motors on an H-bridge.
    Bridge(HBridge<PwmPair<PwmChannel, PwmChannel>, PwmPair<PwmChannel, PwmChannel>>),
}

impl Motors {
    fn open(chassis: Option<Chassis>, sleeps: bool) -> Self {
        let bus = || Twim::new(TWIM0, Interrupt::TWISPI0, WIRES.motor_bus, sleeps);
        match chassis {
            None => Self::Missing,
            Some(Chassis::Maqueen) => Self::Maqueen(Maqueen::new(bus())),
            Some(Chassis::Cutebot) => Self::Cutebot(Cutebot::new(bus())),
            Some(Chassis::Bridge) => {
                let [a, b, c, d] = pwm::start(WIRES.bridge);
                Self::Bridge(HBridge {
                    left: PwmPair { forward: a, backward: b },
                    right: PwmPair { forward: c, backward: d },
                })
            }
        }
    }
}

impl Drive for Motors {
    type Error = ();

    fn drive(&mut self, left: f32, right: f32) -> Result<(), ()> {
        match self {
            Self::Missing => Err(()),
            Self::Maqueen(board) => board.drive(left, right).map_err(|_| ()),
            Self::Cutebot(board) => board.drive(left, right).map_err(|_| ()),
            Self::Bridge(bridge) => bridge.drive(left, right).map_err(|_| ()),
        }
    }
}

/// Stops the motors at a start and in a fault.
pub fn stop_motors() {
    time::start();
    let mut motors = Motors::open(provisioning::chassis(), false);
    // A second attempt: a reset may have interrupted a transfer.
    if motors.stop().is_err() {
        let _ = motors.stop();
    }
}

/// Button with a short memory, so that it does not bounce.
#[derive(Clone, Copy, Debug, Default)]
pub struct Button(u8);

impl Button {
    /// Looks at the button once per tick. Returns whether it was just pressed.
    pub fn is_pressed(&mut self, pin: Pin) -> bool {
        self.0 = if pin.is_high() { 0 } else { self.0.saturating_add(1) };
        self.0 == PRESS_TICKS
    }

    /// Ticks for which the button has been pressed.
    fn held(self) -> u8 {
        self.0
    }
}

/// Sensors and actuators of a robot.
#[derive(Debug)]
pub struct Vehicle {
    car: Car<Motors>,
    telemetry: CommandSender<Output>,
    accelerometer: Accelerometer<Twim>,
    tilt: Tilt,
    buttons: [Button; 2],
    chassis: Option<Chassis>,
    id: u16,
    tick: u32,
}

impl Vehicle {
    /// Starts motors, accelerometer, display and serial line.
    pub fn start<W: Wiring>(id: u16) -> Self {
        let chassis = provisioning::chassis();
        let settings = provisioning::wheels().unwrap_or(Settings::MAQUEEN);
        WIRES.buttons.iter().for_each(|pin| pin.pull_up());
        display::start(&WIRES.matrix);
        display::show(picture::address(id));
        let (_, output) = serial::open(W::RX, W::TX, Baudrate::Baud460800);
        let sensors = Twim::new(TWIM1, Interrupt::TWISPI1, WIRES.sensor_bus, true);
        Self {
            car: Car::new(Settings { robot: id as u8, ..settings }, Motors::open(chassis, true)),
            telemetry: CommandSender::new(output),
            accelerometer: Accelerometer::new(sensors),
            tilt: Tilt::default(),
            buttons: [Button::default(); 2],
            chassis,
            id,
            tick: 0,
        }
    }

    /// Sensor.
    pub fn sensor(&mut self) -> &mut SensorPort {
        &mut self.car
    }

    /// Actuator. The radio has received the frames of this tick.
    pub fn actuator(&mut self, radio: &mut TdmaRadio) -> &mut ActuatorPort {
        if let Some(inbox) = radio.inbox_mut() {
            self.car.set_may_drive(inbox.is_on() && !self.tilt.is_tilted());
            if let Some(image) = inbox.take_image() {
                self.car.see(&image, poses::age(&image, self.tick));
            }
        }
        &mut self.car
    }

    /// Sets the number of the next tick.
    pub fn set_tick(&mut self, tick: u32) {
        self.tick = tick;
        self.telemetry.set_tick(tick);
    }

    /// Reads the buttons.
    pub fn before_tick<T: OnboardTask>(&mut self, robot: &mut Robot<'_, T>, radio: &mut TdmaRadio) {
        let pressed: [bool; 2] = core::array::from_fn(|index| {
            let button = self.buttons.get_mut(index).zip(WIRES.buttons.get(index));
            button.is_some_and(|(button, pin)| button.is_pressed(*pin))
        });
        if let Some(inbox) = radio.inbox_mut() {
            inbox.set_since(robot.recordings_before());
            let [a, b] = self.buttons.map(Button::held);
            if pressed[0] && b == 0 {
                inbox.toggle();
            }
            if pressed[1] {
                inbox.stop();
                self.car.set_calibration(false);
            }
            if a.min(b) == CALIBRATION_TICKS && !inbox.is_on() {
                self.car.set_calibration(true);
            }
        }
        radio.announce(robot.link().boot_count());
    }

    /// Whether the robot has been without poses for so long that it may not go on counting the time.
    pub fn is_silent(&self) -> bool {
        self.car.standing() == Some(Standing::Silence)
    }

    /// Shows the state on the display and sends it on the serial line.
    pub fn after_tick<W: Wiring, T: OnboardTask>(
        &mut self, robot: &Robot<'_, T>, radio: &mut TdmaRadio, turn: Option<u32>,
        report: &TickReport<T::Command>,
    ) {
        let (is_on, number) = radio.inbox_mut().map_or((false, 0), |inbox| (inbox.is_on(), inbox.number()));
        // After the slot of this tick began: the measurement takes longer than the lead of a slot.
        if report.tick.is_multiple_of(TILT_TICKS)
            && let Ok(measured) = self.accelerometer.measure()
        {
            self.tilt.update(measured, !is_on);
        }
        let blink = report.tick / 50 % 2 == 0;
        display::show(match (self.chassis, self.car.standing()) {
            (None, _) => picture::NO_CHASSIS,
            _ if !self.car.has_motors() => picture::MOTORS,
            _ if self.tilt.is_tilted() => picture::TILT,
            (_, Some(Standing::Silence)) if blink => picture::NO_POSES,
            (_, Some(Standing::Unseen)) if blink => picture::UNSEEN,
            _ if is_on => picture::neighbors(report.neighbors),
            _ => picture::address(self.id),
        });
        let epoch = robot.link().security().key_epoch();
        self.telemetry.set_status(Status::new(report, number, radio.synchronized(), turn, epoch));
        // The line may be unconnected.
        let _ = self.telemetry.act(&self.car.duties());
    }
}
