//! Structures and constants of the C header.

use core::ffi::c_float;

use wdgnn_robot::{
    control_loop::PortErrors,
    safety::gate::{self, IsolationPhase},
};

/// Alignment in bytes of the memory for a robot or a listener.
pub const ALIGNMENT: usize = 16;

/// Upper bound of wdgnn_robot_bytes for 2D robots on 32-bit processors, for static allocation.
/// Robot types with key rotation need WDGNN_MAX_KEY_ROTATION_ROBOT_BYTES.
pub const MAX_2D_ROBOT_BYTES: usize = 10_752;

/// Upper bound of wdgnn_robot_bytes for 2D robots with key rotation on 32-bit processors.
pub const MAX_KEY_ROTATION_ROBOT_BYTES: usize = 15_360;

/// Number of frame errors. The first one is WDGNN_ERROR_FRAME_TOO_SHORT.
pub const FRAME_ERROR_COUNT: usize = 19;

/// Maximum length of a command.
pub const MAX_COMMAND_LEN: usize = 3;

/// Maximum length of a state.
pub const MAX_STATE_LEN: usize = 6;

/// Configuration of a robot. Unused pointers are null.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RobotConfig {
    /// Address of the robot, unique in the swarm.
    pub address: u16,
    /// Weight file, aligned to four bytes. The robot does not copy it: keep it unchanged, for example in flash.
    pub weights: *const u8,
    /// Length of `weights` in bytes.
    pub weights_bytes: usize,
    /// Group key for sealed robot types: 16 bytes, or 32 hexadecimal digits. Copied.
    pub group_key: *const u8,
    /// Length of `group_key` in bytes.
    pub group_key_bytes: usize,
    /// Number of starts of this robot. Part of the nonce: on a sealed link, a boot count must never repeat.
    /// Restore a record, or draw a random number.
    pub boot_count: u32,
    /// Number of robots in the swarm, with addresses from 0. A sealed robot rejects frames from other addresses.
    /// 0 accepts all addresses.
    pub swarm_size: u16,
    /// Epoch of `group_key`, for robot types with key rotation. The first epoch is 0.
    pub key_epoch: u8,
    /// Personal key from `host-sim key robots`, for robot types with key rotation: 16 bytes, or 32 hexadecimal
    /// digits. Copied.
    pub personal_key: *const u8,
    /// Length of `personal_key` in bytes.
    pub personal_key_bytes: usize,
    /// Pairwise keys for peer authentication, 16 bytes for each robot, ordered by address. Not copied: keep them
    /// unchanged. Null turns peer authentication off.
    pub peer_keys: *const u8,
    /// Length of `peer_keys` in bytes: at most 64 keys of 16 bytes.
    pub peer_keys_bytes: usize,
}

/// Decision of the safety gate about a command.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The command is the output of the network.
    Clear = 0,
    /// The command was limited to the robot's range, or changed by collision avoidance.
    Limited = 1,
    /// The output of the network was not finite. The command is the task's fallback.
    NotFinite = 2,
    /// No neighbors for a short time. The robot keeps its velocity.
    IsolatedHold = 3,
    /// No neighbors for a longer time. The robot slows down.
    IsolatedSlow = 4,
    /// No neighbors for a long time. The robot stops.
    IsolatedStop = 5,
    /// No valid state for 25 ticks. The command is not valid: stop the robot by other means.
    Blind = 6,
}

impl From<gate::Verdict> for Verdict {
    fn from(verdict: gate::Verdict) -> Self {
        match verdict {
            gate::Verdict::Clear => Self::Clear,
            gate::Verdict::Limited => Self::Limited,
            gate::Verdict::NotFinite => Self::NotFinite,
            gate::Verdict::Alone(IsolationPhase::Hold) => Self::IsolatedHold,
            gate::Verdict::Alone(IsolationPhase::Slow) => Self::IsolatedSlow,
            gate::Verdict::Alone(IsolationPhase::Stop) => Self::IsolatedStop,
            // Unknown verdicts stop the robot.
            _ => Self::Blind,
        }
    }
}

/// Result of a tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Number of the tick.
    pub tick: u32,
    /// Frames received in this tick, including rejected ones.
    pub received_frames: u32,
    /// Command, of length wdgnn_command_len. For flocking, an acceleration in m/s².
    pub command: [c_float; MAX_COMMAND_LEN],
    /// Decision of the safety gate about the command.
    pub verdict: Verdict,
    /// Neighbors in the neighbor table.
    pub neighbors: u8,
    /// Neighbors evicted from the neighbor table in this tick.
    pub evicted_neighbors: u8,
    /// Neighbors whose parameters entered the consensus step of this tick.
    pub consensus_neighbors: u8,
    /// Epoch of the group key in use.
    pub key_epoch: u8,
    /// Whether a key changed since the last wdgnn_store. If so, call wdgnn_store and save the record now.
    pub store_required: bool,
}

/// Sender of an authenticated frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sender {
    /// Whether the sender is a member of the swarm. If not, the other fields are not valid. On a sealed link, a
    /// member knows the group key.
    pub is_member: bool,
    /// Address of the sender.
    pub address: u16,
    /// Boot count of the sender.
    pub boot_count: u32,
    /// Tick of the frame on the sender's clock.
    pub tick: u32,
}

/// Counters since the robot was created. They saturate at their maximum.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Received frames, including rejected ones.
    pub received_frames: u32,
    /// Rejected frames by error. The index is the error code minus WDGNN_ERROR_FRAME_TOO_SHORT.
    pub frame_errors: [u32; FRAME_ERROR_COUNT],
    /// Ticks without a valid state.
    pub sensor_errors: u32,
    /// Frames that could not be encoded.
    pub send_errors: u32,
    /// Ticks with WDGNN_VERDICT_BLIND.
    pub blind_ticks: u32,
}

impl Counters {
    pub(crate) fn add_errors(&mut self, errors: &PortErrors) {
        self.sensor_errors = self.sensor_errors.saturating_add(errors.sensor);
        self.send_errors = self.send_errors.saturating_add(errors.send);
    }
}

/// Entry of the neighbor table.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbor {
    /// Address of the neighbor.
    pub address: u16,
    /// Whether the robot uses the neighbor for control and learning. Otherwise the neighbor is an obstacle only.
    pub is_used: bool,
    /// Tick of the last accepted frame of the neighbor.
    pub last_heard_tick: u32,
    /// State of the neighbor, extrapolated to the current tick, of length wdgnn_state_len.
    pub state: [c_float; MAX_STATE_LEN],
}

/// Content of a frame. The pointers point into the listener and are valid until its next frame.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// Address of the sender.
    pub sender: u16,
    /// Number of neighbors that the sender uses. 255 marks a robot that is an obstacle only.
    pub degree: u8,
    /// Boot count of the sender.
    pub boot_count: u32,
    /// Sequence number of the frame.
    pub sequence: u32,
    /// State of the sender, of length wdgnn_state_len.
    pub state: *const c_float,
    /// Taps in this frame: the range from `taps_begin` to `taps_end` of all taps.
    pub taps: *const c_float,
    /// Index of the first tap in this frame.
    pub taps_begin: u16,
    /// Index after the last tap in this frame.
    pub taps_end: u16,
    /// Wide parameters in this frame: the range from `wide_begin` to `wide_end` of all wide parameters.
    pub wide: *const c_float,
    /// Index of the first wide parameter in this frame.
    pub wide_begin: u16,
    /// Index after the last wide parameter in this frame.
    pub wide_end: u16,
}
