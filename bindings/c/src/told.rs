//! What C tells and is told: structures of the header.

use core::ffi::c_float;

use wdgnn_robot::{
    control_loop::PortErrors,
    safety::gate::{self, Isolation},
};

/// Alignment in bytes of the memory for a robot or a listener.
pub const ALIGNMENT: usize = 16;

/// Bytes that do for any robot in the plane on a processor of 32 bits, where memory is set aside when a program is compiled.
/// wdgnn_robot_bytes tells how many a kind needs, anywhere.
pub const PLANE_ROBOT_BYTES: usize = 10_752;

/// The same for kinds whose key can change in flight.
pub const REKEYABLE_ROBOT_BYTES: usize = 15_360;

/// How many reasons to refuse a frame there are: from WDGNN_ERROR_REFUSED_TOO_SHORT on.
pub const REFUSALS: usize = 19;

/// The most numbers that a command has.
pub const MOST_COMMANDS: usize = 3;

/// What a robot is made of.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The robot's address, its own in the swarm.
    pub address: u16,
    /// A weight file's bytes, on a multiple of four. They are read where they are, and must stay there unchanged: in flash.
    pub weights: *const u8,
    /// How many.
    pub weights_bytes: usize,
    /// The swarm's key, for a sealed kind: 16 bytes as they are or 32 hexadecimal digits. It is copied. Null, or no bytes, for others.
    pub key: *const u8,
    /// How many bytes that is.
    pub key_bytes: usize,
    /// How often the robot was started. On a sealed link no count may come twice: restore a record, or draw this by chance.
    pub boot: u32,
    /// How many robots the swarm has, with addresses from 0 on: a sealed robot hears nobody else. 0 hears everybody.
    pub robots: u16,
    /// For a rekeyable kind, the epoch of the swarm's key in `key`: 0 for the first.
    pub epoch: u8,
    /// For a rekeyable kind, the robot's personal key, as `host-sim key robots` makes it: like `key`.
    pub personal: *const u8,
    /// How many bytes that is.
    pub personal_bytes: usize,
    /// Where names have to be proven, the keys by which others prove theirs to this robot, by address: 16 bytes each, as they are. They are
    /// read where they are, and must stay there unchanged. Null where names are not proven.
    pub roster: *const u8,
    /// How many bytes that is: at most 64 keys.
    pub roster_bytes: usize,
}

/// What the safety gate did to a command.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Passed on as the network said.
    Clear = 0,
    /// Limited to what the robot can do, or changed by the task's last look.
    Limited = 1,
    /// The network's output was not finite: the task's fallback was taken.
    NotFinite = 2,
    /// Nobody around, just now: keep going.
    AloneHold = 3,
    /// Nobody around for a while: slow down.
    AloneSlow = 4,
    /// Nobody around for long: come to rest.
    AloneStop = 5,
    /// The robot does not know where it is. There is no command: come to rest by means of your own.
    Blind = 6,
}

impl From<gate::Verdict> for Verdict {
    fn from(verdict: gate::Verdict) -> Self {
        match verdict {
            gate::Verdict::Clear => Self::Clear,
            gate::Verdict::Limited => Self::Limited,
            gate::Verdict::NotFinite => Self::NotFinite,
            gate::Verdict::Alone(Isolation::Hold) => Self::AloneHold,
            gate::Verdict::Alone(Isolation::Slow) => Self::AloneSlow,
            gate::Verdict::Alone(Isolation::Stop) => Self::AloneStop,
            // Also for what is new: whoever does not know stops.
            _ => Self::Blind,
        }
    }
}

/// What came of a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// The tick's number.
    pub tick: u32,
    /// Frames heard in it, refused ones included.
    pub heard: u32,
    /// The command, in as many numbers as wdgnn_command_numbers says: for flocking an acceleration in m/s².
    pub command: [c_float; MOST_COMMANDS],
    /// What the safety gate did to it.
    pub verdict: Verdict,
    /// Neighbours known after hearing.
    pub neighbours: u8,
    /// Neighbours forgotten.
    pub forgotten: u8,
    /// Neighbours whose parameters were mixed in.
    pub mixed: u8,
    /// The epoch of the swarm's key that the robot uses.
    pub epoch: u8,
    /// A key has come, or come into use, that no record has yet: call wdgnn_store now, and keep what it writes.
    pub store: bool,
}

/// Whose frame it was.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sender {
    /// Whether it is a swarm member's: all else means something only then. On a sealed link its seal could be opened.
    pub member: bool,
    /// Its address.
    pub address: u16,
    /// How often it was started.
    pub boot: u32,
    /// The tick in which it spoke, by its own clock.
    pub tick: u32,
}

/// Counted since the robot was created. Counters stop at their largest number.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames heard, refused ones included.
    pub heard: u32,
    /// Frames refused: by error, less WDGNN_ERROR_REFUSED_TOO_SHORT.
    pub refused: [u32; REFUSALS],
    /// Ticks without a state that could be used.
    pub unsensed: u32,
    /// Frames that could not be written.
    pub unspoken: u32,
    /// Ticks in which the robot did not know where it is.
    pub blind: u32,
}

impl Counters {
    pub(crate) fn add_errors(&mut self, errors: &PortErrors) {
        self.unsensed = self.unsensed.saturating_add(errors.sensor);
        self.unspoken = self.unspoken.saturating_add(errors.send);
    }
}

/// A neighbour that a robot knows.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// Its address.
    pub address: u16,
    /// Whether what it says counts.
    pub counts: bool,
    /// The tick in which it was last heard.
    pub heard: u32,
    /// Its state, carried on to this tick, in as many numbers as wdgnn_state_numbers says.
    pub state: [c_float; MOST_STATES],
}

/// The most numbers that a state has.
pub const MOST_STATES: usize = 6;

/// What a frame says. Pointers lead into the listener, and hold until it reads the next frame.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Beacon {
    /// Who sent it.
    pub sender: u16,
    /// How many neighbours the sender has.
    pub degree: u8,
    /// How often the sender was started.
    pub boot: u32,
    /// Its count of frames.
    pub sequence: u32,
    /// Its state: as many numbers as wdgnn_state_numbers says.
    pub state: *const c_float,
    /// The taps that the frame carries: the first of them,
    pub taps: *const c_float,
    /// its place among all taps,
    pub taps_from: u16,
    /// and the place behind the last.
    pub taps_to: u16,
    /// The wide parameters that the frame carries, likewise.
    pub wide: *const c_float,
    /// The first one's place.
    pub wide_from: u16,
    /// The place behind the last.
    pub wide_to: u16,
}
