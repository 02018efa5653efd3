//! The tick: a node's verbs against a robot's ports, in order. Firmware and simulator run this same list.
//!
//! Everybody speaks at the start of a tick in which neighbors exchange beacons, then everybody hears. Acting comes before
//! learning, so learning never delays the motors.

use crate::tasks::RobotTask;
use crate::{
    node::{ConsensusReport, Node, Thinks},
    persist::save,
    ports::{Actuator, Ports, Radio, Received, Sensor, Store},
    safety::gate::Verdict,
};
use wdgnn_core::model::Model;
use wdgnn_link::{
    encoding::Codec,
    error::{FrameError, FrameErrorCounts},
};

pub use crate::persist::{StoreFailed, resume};

/// The most frames that a node looks at in one tick, so that a tick stays within its time whatever the air carries. Four times
/// the largest table.
pub const MOST_FRAMES: u32 = 256;

/// The most untimely frames in one tick whose seals are opened to see whether they are a swarm member's all the same: a flood of
/// recordings must not take the tick's time.
pub const MOST_VOUCHED: u32 = 2;

/// Ticks between two saves of the wide parameters: one second of flight. Flash wears out.
pub const SAVE_EVERY: u32 = 100;

/// Errors of the ports in a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PortErrors {
    /// No state, or one that is not admissible: the last one was carried on.
    pub sensor: u32,
    /// The beacon was not sent.
    pub send: u32,
    /// A frame was lost on its way from the radio.
    pub receive: u32,
    /// The command did not reach the motors.
    pub actuator: u32,
    /// Parameters could not be saved or loaded.
    pub store: u32,
}

/// Everything that was counted in a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Report<O> {
    /// The tick's number.
    pub tick: u32,
    /// Frames heard, refused ones included.
    pub heard: u32,
    /// Frames refused, by reason.
    pub refused: FrameErrorCounts,
    /// Neighbors after hearing.
    pub neighbors: u8,
    /// Neighbors forgotten.
    pub forgotten: u8,
    /// The command that went to the motors.
    pub command: O,
    /// What the safety gate did to it.
    pub verdict: Verdict,
    /// What learning did.
    pub agreement: ConsensusReport,
    /// Errors of the ports.
    pub errors: PortErrors,
}

/// The first half of a tick: sense and, if it is time for an exchange and there is something to say, speak: all the frames that the
/// profile has for one.
pub fn open<M, T, R, S, A, K, const N: usize, P: Codec>(
    node: &mut Node<M, T, N, P>,
    tick: u32,
    ports: &mut Ports<'_, R, S, A, K>,
    buffer: &mut [u8],
) -> PortErrors
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
    R: Radio,
    S: Sensor<T::State>,
{
    let mut errors = PortErrors::default();
    ports.radio.begin(tick);
    if !node.sense(tick, ports.sensor.sense().ok()) {
        errors.sensor += 1;
    }
    node.set_battery(ports.sensor.battery());
    let frames = if node.speaks() { P::FRAMES } else { 0 };
    for index in 0..frames {
        let frame = node.speak_frame(index, buffer).and_then(|length| buffer.get(..length));
        if frame.is_none_or(|frame| ports.radio.send(frame).is_err()) {
            errors.send += 1;
        }
    }
    errors
}

/// What was heard in a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Hearing {
    /// Frames heard, refused ones included.
    pub heard: u32,
    /// Frames refused, by reason.
    pub refused: FrameErrorCounts,
}

/// The second half of a tick: hear, conclude, and now and then save.
pub fn close<M, T, R, S, A, K, const N: usize, P: Codec>(
    node: &mut Node<M, T, N, P>,
    ports: &mut Ports<'_, R, S, A, K>,
    buffer: &mut [u8],
    mut errors: PortErrors,
) -> Report<M::Output>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
    R: Radio,
    A: Actuator<M::Output>,
    K: Store,
{
    let hearing = hear(node, ports.radio, buffer, &mut errors);
    let mut report = conclude(node, ports.actuator, &hearing, errors);
    // A new key is kept at once.
    let new_key = node.keys_unsaved(false);
    if new_key {
        ports.store.insist();
    }
    if new_key || node.tick() % SAVE_EVERY == SAVE_EVERY - 1 {
        match save(node, ports.store, buffer) {
            Some(()) => _ = node.keys_unsaved(true),
            None => report.errors.store += 1,
        }
    }
    report
}

/// Everything behind hearing: observe, aggregate, infer, guard, act, learn, agree.
///
/// A simulator whose air cannot harm a frame hands beacons over by [`Node::accept`], or where they lie by an
/// [`Overhearing`](crate::node::overhearing::Overhearing), and goes on here.
pub fn conclude<R: Thinks, A: Actuator<R::Output>>(
    robot: &mut R,
    actuator: &mut A,
    hearing: &Hearing,
    mut errors: PortErrors,
) -> Report<R::Output> {
    let forgotten = robot.settle() as u8;
    let features = robot.observe();
    robot.aggregate();
    robot.infer(&features);
    let (command, verdict) = robot.guard();
    let blind = matches!(verdict, Verdict::Blind);
    let acted = if blind { actuator.stop() } else { actuator.act(&command) };
    if acted.is_err() {
        errors.actuator += 1;
    }
    robot.acted((!blind && acted.is_ok()).then_some(command));
    robot.learn();
    let agreement = robot.agree();
    let neighbors = robot.around() as u8;
    let Hearing { heard, refused } = *hearing;
    Report { tick: robot.tick(), heard, refused, neighbors, forgotten, command, verdict, agreement, errors }
}

/// A whole tick of one robot.
///
/// `buffer` holds one frame at a time: [`Node::frame_bytes`] and a byte more, so that an oversize frame is seen as one.
pub fn run<M, T, R, S, A, K, const N: usize, P: Codec>(
    node: &mut Node<M, T, N, P>,
    tick: u32,
    ports: &mut Ports<'_, R, S, A, K>,
    buffer: &mut [u8],
) -> Report<M::Output>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
    R: Radio,
    S: Sensor<T::State>,
    A: Actuator<M::Output>,
    K: Store,
{
    let errors = open(node, tick, ports, buffer);
    close(node, ports, buffer, errors)
}

/// Hear: every frame of the listening window, up to [`MOST_FRAMES`]. The radio is told whose frames are a swarm member's.
fn hear<M, T, R, const N: usize, P: Codec>(
    node: &mut Node<M, T, N, P>,
    radio: &mut R,
    buffer: &mut [u8],
    errors: &mut PortErrors,
) -> Hearing
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
    R: Radio,
{
    let mut hearing = Hearing::default();
    let mut vouched = 0;
    // One more than is looked at: only a frame too many is a flood.
    for turn in 0..=MOST_FRAMES {
        match radio.receive(buffer) {
            Ok(None) => break,
            Ok(Some(received)) => {
                hearing.heard += 1;
                let outcome = if turn == MOST_FRAMES {
                    Err(FrameError::Flood)
                } else if let Some(frame) = buffer.get_mut(..received.length) {
                    let outcome = node.hear(frame);
                    vouch(node, radio, frame, &received, outcome, &mut vouched);
                    outcome
                } else {
                    // A frame longer than the buffer was cut, and is refused as what it is: too long.
                    Err(FrameError::Trailing)
                };
                if let Err(refusal) = outcome {
                    hearing.refused.count(refusal);
                }
            }
            Err(_) => errors.receive += 1,
        }
    }
    hearing
}

/// Tells the radio whose frame it heard, if it is a swarm member's.
fn vouch<M, T, R, const N: usize, P: Codec>(
    node: &mut Node<M, T, N, P>,
    radio: &mut R,
    frame: &[u8],
    received: &Received,
    outcome: Result<(), FrameError>,
    vouched: &mut u32,
) where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
    R: Radio,
{
    let sender = match outcome {
        // Refused or not, what it says could be read.
        Ok(()) | Err(FrameError::Implausible | FrameError::TableFull) => P::identity(frame, node.tick()),
        Err(FrameError::Model) if P::SEALED => P::identity(frame, node.tick()),
        // Nothing is untimely where nothing is sealed.
        Err(FrameError::OutOfWindow) if P::SEALED && *vouched < MOST_VOUCHED => {
            *vouched += 1;
            node.vouch(frame)
        }
        Err(_) => None,
    };
    if let Some(sender) = sender {
        radio.vouched(&sender, received);
    }
}
