//! Ports: interfaces between a robot and its hardware.
//!
//! An error of a port is counted and never ends a tick.

use wdgnn_link::header::FrameId;

use crate::config::{CommandOf, RobotTypes, StateOf};

/// A received frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedFrame {
    /// Length in bytes.
    pub length: usize,
    /// Start of the frame on the radio's own clock, in microseconds, wrapping.
    pub arrived_us: u32,
}

impl ReceivedFrame {
    /// A frame from a radio without a clock.
    pub const fn untimed(length: usize) -> Self {
        Self { length, arrived_us: 0 }
    }
}

/// Broadcasts and receives frames.
pub trait Radio {
    /// Error type.
    type Error;

    /// Begins a tick.
    fn begin(&mut self, _tick: u32) {}

    /// Broadcasts one frame. May return before the frame is on the air.
    ///
    /// # Errors
    /// The frame could not be sent.
    fn send(&mut self, frame: &[u8]) -> Result<(), Self::Error>;

    /// Copies the next frame of this tick into `buffer`; `None` at the end of the listening window.
    ///
    /// A frame that is longer than the buffer is cut, and its full length is returned.
    ///
    /// # Errors
    /// A frame was lost. The robot continues to receive.
    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<ReceivedFrame>, Self::Error>;

    /// Reports that a member of the swarm has sent the last received frame.
    ///
    /// Radios with time slots synchronize their clock by it. On an open link, every frame in the right
    /// format is reported.
    fn on_authenticated(&mut self, _sender: &FrameId, _frame: &ReceivedFrame) {}
}

/// A measured state and its age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measurement<S> {
    /// The state.
    pub state: S,
    /// Age in ticks.
    pub age: u32,
}

impl<S> Measurement<S> {
    /// A state of the current tick.
    pub const fn now(state: S) -> Self {
        Self { state, age: 0 }
    }
}

/// Measures the robot's own state.
pub trait Sensor<S> {
    /// Error type.
    type Error;

    /// Latest measurement.
    ///
    /// # Errors
    /// No measurement: the robot predicts its state, and stops when it gets too old.
    fn sense(&mut self) -> Result<Measurement<S>, Self::Error>;

    /// Charge of the battery in percent, if known.
    fn battery(&mut self) -> Option<u8> {
        None
    }
}

/// Executes commands.
pub trait Actuator<O> {
    /// Error type.
    type Error;

    /// Executes `command` until the next one.
    ///
    /// # Errors
    /// The command did not reach the actuators.
    fn act(&mut self, command: &O) -> Result<(), Self::Error>;

    /// Stops by the actuator's own means: the robot does not know its state, so no command stops it.
    ///
    /// # Errors
    /// The request did not reach the actuators.
    fn stop(&mut self) -> Result<(), Self::Error>;
}

/// Waits for the start of ticks.
pub trait Clock {
    /// Waits for the next tick and returns its number. Ticks may be skipped, never repeated.
    fn next_tick(&mut self) -> u32;
}

/// Stores one record over a restart.
pub trait Store {
    /// Error type.
    type Error;

    /// Copies the stored record into `buffer` and returns its length; `None` without a record.
    ///
    /// # Errors
    /// The store could not be read.
    fn load(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, Self::Error>;

    /// Replaces the record, all or nothing. May return before the record is stored.
    ///
    /// # Errors
    /// The record could not be written; the previous one is still stored.
    fn save(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Requests that the next record is stored without delay, because it contains a new key.
    fn request_immediate_save(&mut self) {}

    /// Whether the store has room for only one more record in this flight.
    fn is_nearly_full(&self) -> bool {
        false
    }

    /// Waits until the last record is stored.
    ///
    /// # Errors
    /// The record could not be written; the previous one is still stored.
    fn flush(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// All ports of one robot with state `S` and command `O`.
///
/// [`PortSet`] combines four ports. Implement the trait for a board that has all of them.
pub trait Ports<S, O> {
    /// Radio.
    type Radio: Radio;
    /// Sensor.
    type Sensor: Sensor<S>;
    /// Actuator.
    type Actuator: Actuator<O>;
    /// Store.
    type Store: Store;

    /// Radio.
    fn radio(&mut self) -> &mut Self::Radio;
    /// Sensor.
    fn sensor(&mut self) -> &mut Self::Sensor;
    /// Actuator.
    fn actuator(&mut self) -> &mut Self::Actuator;
    /// Store.
    fn store(&mut self) -> &mut Self::Store;
}

/// Ports of a robot with the types `C`.
pub trait PortsOf<C: RobotTypes>: Ports<StateOf<C>, CommandOf<C>> {}

impl<C: RobotTypes, P: Ports<StateOf<C>, CommandOf<C>>> PortsOf<C> for P {}

/// Four borrowed ports.
#[derive(Debug)]
pub struct PortSet<'a, R, S, A, K> {
    /// Radio.
    pub radio: &'a mut R,
    /// Sensor.
    pub sensor: &'a mut S,
    /// Actuator.
    pub actuator: &'a mut A,
    /// Store.
    pub store: &'a mut K,
}

impl<X, O, R: Radio, S: Sensor<X>, A: Actuator<O>, K: Store> Ports<X, O> for PortSet<'_, R, S, A, K> {
    type Radio = R;
    type Sensor = S;
    type Actuator = A;
    type Store = K;

    #[inline]
    fn radio(&mut self) -> &mut R {
        self.radio
    }

    #[inline]
    fn sensor(&mut self) -> &mut S {
        self.sensor
    }

    #[inline]
    fn actuator(&mut self) -> &mut A {
        self.actuator
    }

    #[inline]
    fn store(&mut self) -> &mut K {
        self.store
    }
}

/// A store that keeps nothing, for robots without flash and for simulations.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoStore;

impl Store for NoStore {
    type Error = core::convert::Infallible;

    fn load(&mut self, _: &mut [u8]) -> Result<Option<usize>, Self::Error> {
        Ok(None)
    }

    fn save(&mut self, _: &[u8]) -> Result<(), Self::Error> {
        Ok(())
    }
}
