//! Control loop: one tick of a robot, against its ports.
//!
//! ```text
//! radio → Link → neighbor table → trust → agent → safety gate → actuator → learning
//! ```
//!
//! All robots send at the start of a tick with an exchange; then all receive. The robot acts before it
//! learns, so learning never delays the actuators. Firmware and simulator run this code.

use wdgnn_core::agent::ConsensusReport;
use wdgnn_link::error::{FrameError, FrameErrorCounts};

use crate::{
    config::{CommandOf, LinkOf, RobotTypes},
    persist::save,
    ports::{Actuator, PortsOf, Radio, ReceivedFrame, Sensor, Store},
    robot::Robot,
    safety::gate::Verdict,
};

/// Largest number of frames that a robot reads in one tick: four times the largest table.
///
/// It bounds the time of a tick.
pub const MAX_FRAMES_PER_TICK: u32 = 256;

/// Limit of late frames that a robot authenticates per tick.
///
/// A flood of recordings must not take the time of the tick.
pub const MAX_LATE_AUTHENTICATIONS: u32 = 2;

/// Ticks between two records of the parameters: one second of flight. Flash wears out.
pub const SAVE_INTERVAL_TICKS: u32 = 100;

/// Number of errors of the ports in a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PortErrors {
    /// No measurement, or one that is not admissible. The state was predicted.
    pub sensor: u32,
    /// The message was not sent.
    pub send: u32,
    /// A frame was lost between radio and robot.
    pub receive: u32,
    /// The command did not reach the actuators.
    pub actuator: u32,
    /// The record could not be stored.
    pub store: u32,
}

/// Results of a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct TickReport<O> {
    /// Number of the tick.
    pub tick: u32,
    /// Received frames, including rejected ones.
    pub received: u32,
    /// Rejected frames by reason.
    pub rejected: FrameErrorCounts,
    /// Neighbors after reception.
    pub neighbors: u8,
    /// Evicted neighbors.
    pub evicted: u8,
    /// Command for the actuators.
    pub command: O,
    /// Effect of the safety gate.
    pub verdict: Verdict,
    /// Result of learning.
    pub consensus: ConsensusReport,
    /// Errors of the ports.
    pub errors: PortErrors,
}

/// Runs the first half of a tick: senses, and sends all frames of an exchange if it is due.
pub fn begin_tick<C: RobotTypes, L: LinkOf<C>, P: PortsOf<C>, const N: usize>(
    robot: &mut Robot<C, L, N>, tick: u32, ports: &mut P, buffer: &mut [u8],
) -> PortErrors {
    let mut errors = PortErrors::default();
    ports.radio().begin(tick);
    if !robot.sense(tick, ports.sensor().sense().ok()) {
        errors.sensor += 1;
    }
    robot.set_battery(ports.sensor().battery());
    let frames = if robot.sends_this_tick() { robot.link().frames_per_exchange() } else { 0 };
    for index in 0..frames {
        let frame = robot.send(index, buffer).and_then(|length| buffer.get(..length));
        if frame.is_none_or(|frame| ports.radio().send(frame).is_err()) {
            errors.send += 1;
        }
    }
    errors
}

/// Runs the second half of a tick: receives, acts, learns, and saves from time to time.
pub fn end_tick<C: RobotTypes, L: LinkOf<C>, P: PortsOf<C>, const N: usize>(
    robot: &mut Robot<C, L, N>, ports: &mut P, buffer: &mut [u8], mut errors: PortErrors,
) -> TickReport<CommandOf<C>> {
    let (received, rejected) = receive(robot, ports.radio(), buffer, &mut errors);
    let evicted = robot.end_receive() as u8;
    let (command, verdict) = robot.decide();
    let is_blind = verdict == Verdict::Blind;
    let acted = if is_blind { ports.actuator().stop() } else { ports.actuator().act(&command) };
    errors.actuator += u32::from(acted.is_err());
    robot.set_executed_command((!is_blind && acted.is_ok()).then_some(command));
    let consensus = robot.learn();
    // A new key is stored at once.
    let has_new_key = robot.link().security().has_unsaved_keys();
    if has_new_key {
        ports.store().request_immediate_save();
    }
    if has_new_key || robot.tick() % SAVE_INTERVAL_TICKS == SAVE_INTERVAL_TICKS - 1 {
        match save(robot, ports.store(), buffer) {
            Some(()) => robot.link_mut().security_mut().mark_keys_saved(),
            None => errors.store += 1,
        }
    }
    let (tick, neighbors) = (robot.tick(), robot.neighbors().len() as u8);
    TickReport { tick, received, rejected, neighbors, evicted, command, verdict, consensus, errors }
}

/// Runs a whole tick.
///
/// `buffer` holds one frame at a time. It needs [`Robot::max_frame_len`] bytes and one more, by which
/// longer frames are detected.
pub fn run_tick<C: RobotTypes, L: LinkOf<C>, P: PortsOf<C>, const N: usize>(
    robot: &mut Robot<C, L, N>, tick: u32, ports: &mut P, buffer: &mut [u8],
) -> TickReport<CommandOf<C>> {
    let errors = begin_tick(robot, tick, ports, buffer);
    end_tick(robot, ports, buffer, errors)
}

/// Receives all frames of the listening window, up to [`MAX_FRAMES_PER_TICK`].
fn receive<C: RobotTypes, L: LinkOf<C>, R: Radio, const N: usize>(
    robot: &mut Robot<C, L, N>, radio: &mut R, buffer: &mut [u8], errors: &mut PortErrors,
) -> (u32, FrameErrorCounts) {
    let (mut received, mut rejected, mut late) = (0, FrameErrorCounts::default(), 0);
    // The loop asks for one frame more than it reads: only that frame is a flood.
    for turn in 0..=MAX_FRAMES_PER_TICK {
        match radio.receive(buffer) {
            Ok(None) => break,
            Ok(Some(arrival)) => {
                received += 1;
                let result = if turn == MAX_FRAMES_PER_TICK {
                    Err(FrameError::Flood)
                } else if let Some(frame) = buffer.get_mut(..arrival.length) {
                    let result = robot.receive(frame);
                    report_authentic(robot, radio, frame, &arrival, result, &mut late);
                    result
                } else {
                    // The radio has cut a frame that is longer than the buffer.
                    Err(FrameError::Trailing)
                };
                if let Err(error) = result {
                    rejected.count(error);
                }
            }
            Err(_) => errors.receive += 1,
        }
    }
    (received, rejected)
}

/// Reports sender and number of a frame to the radio if a member of the swarm has sent it.
fn report_authentic<C: RobotTypes, L: LinkOf<C>, R: Radio, const N: usize>(
    robot: &mut Robot<C, L, N>, radio: &mut R, frame: &[u8], arrival: &ReceivedFrame,
    result: Result<(), FrameError>, late: &mut u32,
) {
    let tick = robot.tick();
    let is_sealed = robot.link().is_sealed();
    let sender = match result {
        // These frames were read, even if they were rejected.
        Ok(()) | Err(FrameError::Implausible | FrameError::TableFull) => robot.link().frame_id(tick, frame),
        Err(FrameError::Model) if is_sealed => robot.link().frame_id(tick, frame),
        Err(FrameError::OutOfWindow) if is_sealed && *late < MAX_LATE_AUTHENTICATIONS => {
            *late += 1;
            robot.authenticate_late_frame(frame)
        }
        Err(_) => None,
    };
    if let Some(sender) = sender {
        radio.on_authenticated(&sender, arrival);
    }
}
