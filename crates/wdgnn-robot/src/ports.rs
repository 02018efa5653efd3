//! What a node needs from the robot it runs on. Each port is small and fallible; a port's error is counted and never ends
//! a tick.

use wdgnn_link::header::Identity;

/// A frame that came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Received {
    /// Its length in bytes.
    pub length: usize,
    /// When it began to arrive, on the radio's own clock, in microseconds, wrapping.
    pub arrived: u32,
}

impl Received {
    /// A frame from a radio that keeps no time.
    #[must_use]
    pub const fn untimed(length: usize) -> Self {
        Self { length, arrived: 0 }
    }
}

/// Broadcasts and receives frames.
pub trait Radio {
    /// What can go wrong.
    type Error;

    /// A tick begins.
    fn begin(&mut self, _tick: u32) {}

    /// Broadcasts one frame. May return before it is on the air.
    ///
    /// # Errors
    /// When the frame could not be handed to the air.
    fn send(&mut self, frame: &[u8]) -> Result<(), Self::Error>;

    /// Copies the next frame of this tick's listening window into `buffer` and tells its length and when it came, or `None` once
    /// the window is over. A frame longer than the buffer is cut; its full length is told all the same.
    ///
    /// # Errors
    /// When a frame was lost on the way from the air. The node keeps listening.
    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<Received>, Self::Error>;

    /// The frame that was received last is a swarm member's (where frames are sealed, its seal could be opened): who sent it, and
    /// which of its frames it is. Radios that keep the swarm's clock and slots learn by it, others ignore it.
    fn vouched(&mut self, _sender: &Identity, _received: &Received) {}
}

/// A state and how old it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Sensed<S> {
    /// The state.
    pub state: S,
    /// Its age in whole ticks.
    pub age: u32,
}

impl<S> Sensed<S> {
    /// A state of this very tick.
    #[must_use]
    pub const fn now(state: S) -> Self {
        Self { state, age: 0 }
    }
}

/// Knows the robot's own state.
pub trait Sensor<S> {
    /// What can go wrong.
    type Error;

    /// The newest state there is.
    ///
    /// # Errors
    /// When there is none to be had; the node then carries on its last one, and stops when that gets too old.
    fn sense(&mut self) -> Result<Sensed<S>, Self::Error>;

    /// How much is left of the battery, in percent, where that is known.
    fn battery(&mut self) -> Option<u8> {
        None
    }
}

/// Carries out commands.
pub trait Actuator<O> {
    /// What can go wrong.
    type Error;

    /// Starts doing `command` until the next one.
    ///
    /// # Errors
    /// When the command did not reach the motors.
    fn act(&mut self, command: &O) -> Result<(), Self::Error>;

    /// Comes to rest by the actuator's own means: the robot does not know where it is, so no command can brake it.
    ///
    /// # Errors
    /// When that did not reach the motors.
    fn stop(&mut self) -> Result<(), Self::Error>;
}

/// Knows when the next tick begins.
pub trait Clock {
    /// Waits for the beginning of the next tick and returns its number. Ticks may be skipped, never repeated.
    fn next_tick(&mut self) -> u32;
}

/// Keeps a few bytes over a restart.
pub trait Store {
    /// What can go wrong.
    type Error;

    /// Copies what was last saved into `buffer` and returns its length, or `None` when there is nothing.
    ///
    /// # Errors
    /// When the storage could not be read.
    fn load(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, Self::Error>;

    /// Replaces what was last saved, all or nothing. May return before it is kept; until then what was there is still there.
    ///
    /// # Errors
    /// When it could not be written; what was there is still there.
    fn save(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;

    /// The next save is to be kept whatever was kept lately: there is a key in it. For stores that put some saves off.
    fn insist(&mut self) {}

    /// Whether the next save is the last one that there is room for in this flight.
    fn is_last(&self) -> bool {
        false
    }

    /// Waits until what was saved last is kept.
    ///
    /// # Errors
    /// When it could not be kept; what was there is still there.
    fn flush(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// The ports of one robot, borrowed for a tick.
#[derive(Debug)]
pub struct Ports<'a, R, S, A, K> {
    /// To the neighbors.
    pub radio: &'a mut R,
    /// From the world.
    pub sensor: &'a mut S,
    /// To the world.
    pub actuator: &'a mut A,
    /// Over a restart.
    pub store: &'a mut K,
}

/// A store that keeps nothing: for robots without flash to spare, and for simulations.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
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
