//! What a node needs from the robot it runs on. Each port is small and fallible; a port's error is counted and never ends
//! a tick.

/// Broadcasts and receives frames.
pub trait Radio {
    /// What can go wrong.
    type Error;

    /// Broadcasts one frame.
    ///
    /// # Errors
    /// When the frame could not be handed to the air.
    fn send(&mut self, frame: &[u8]) -> Result<(), Self::Error>;

    /// Copies the next frame of this tick's listening window into `buffer` and returns the frame's length, or `None` once the
    /// window is over. A frame longer than the buffer is cut; its full length is returned all the same.
    ///
    /// # Errors
    /// When a frame was lost on the way from the air. The node keeps listening.
    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, Self::Error>;
}

/// Knows the robot's own state.
pub trait Sensor<S> {
    /// What can go wrong.
    type Error;

    /// The state at this tick.
    ///
    /// # Errors
    /// When there is none to be had; the node then carries on its last one.
    fn sense(&mut self) -> Result<S, Self::Error>;
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

    /// Replaces what was last saved, all or nothing.
    ///
    /// # Errors
    /// When it could not be written; what was there is still there.
    fn save(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;
}

/// The ports of one robot, borrowed for a tick.
#[derive(Debug)]
pub struct Ports<'a, R, S, A, K> {
    /// To the neighbours.
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
