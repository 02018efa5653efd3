//! NeighborEntry of the neighbor table.

use wdgnn_core::{message::Message, tensor::param_range::ParamRange};

/// Filtered state of a neighbor, with which its next frame is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeighborTrack<S, E = ()> {
    /// State by all frames so far.
    pub state: S,
    /// Tick in which the last frame was sent.
    pub sent: u32,
    /// Statistics of the differences between frames and track.
    pub stats: E,
}

impl<S, E: Default> NeighborTrack<S, E> {
    /// A track that begins with one frame.
    pub(super) fn new(state: S, sent: u32) -> Self {
        Self { state, sent, stats: E::default() }
    }
}

/// A neighbor in the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeighborEntry<S, L, W, E = ()> {
    /// Tick of the last received frame.
    pub last_received: u32,
    /// Number of the last received frame.
    pub sequence: u32,
    /// Number of consecutive plausible frames.
    pub plausible_frames: u8,
    /// Number of ticks in which frames were compared with the track, up to 255.
    pub compared_ticks: u8,
    /// Whether the neighbor has contradicted itself.
    pub has_contradicted: bool,
    /// Whether the robot takes the neighbor into account.
    pub is_trusted: bool,
    /// Whether the neighbor runs the robot's weight file. Otherwise only its state is used.
    pub shares_model: bool,
    /// Range of the wide parameters in the last received tick. Late parameters are not in it.
    pub fresh: ParamRange,
    /// NeighborTrack that the next frame is compared with.
    pub track: NeighborTrack<S, E>,
    /// NeighborTrack before the current tick, with which all frames of the tick are compared. `None` for a newcomer.
    pub track_before: Option<NeighborTrack<S, E>>,
    /// NeighborTrack before a contradicting frame, kept for some ticks.
    ///
    /// If the next frame confirms it, the contradicting frame came from another sender.
    pub disputed_track: Option<NeighborTrack<S, E>>,
    /// Latest message. The state is predicted to the current tick.
    pub message: Message<S, L, W>,
}

impl<S: Copy, L, W, E: Default> NeighborEntry<S, L, W, E> {
    pub(super) fn newcomer(arrival: &Arrival<S>, fresh: ParamRange, mut message: Message<S, L, W>) -> Self {
        let track = NeighborTrack::new(message.state, arrival.sent);
        message.state = arrival.state;
        Self {
            last_received: arrival.tick,
            sequence: arrival.sequence,
            plausible_frames: 0,
            compared_ticks: 0,
            has_contradicted: false,
            is_trusted: false,
            shares_model: arrival.shares_model,
            fresh,
            track,
            track_before: None,
            disputed_track: None,
            message,
        }
    }
}

/// Age in ticks beyond which received parameters are not mixed: the robot's own have changed since.
///
/// Two ticks allow for a radio that delivers a frame one tick late and for clocks that differ by one.
pub(super) const FRESH_TICKS: u32 = 2;

/// Ticks for which a disputed track is kept: two exchanges at 20 per second, plus the guard time.
///
/// In that time, a robot moves at most 4 cm off its track at 10 m/s².
pub(super) const DISPUTE_TICKS: u32 = 12;

/// Circumstances in which a frame was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival<S> {
    /// Current tick.
    pub tick: u32,
    /// Tick in which the frame was sent.
    pub sent: u32,
    /// Number of the frame.
    pub sequence: u32,
    /// State of the sender, predicted to the current tick.
    pub state: S,
    /// Whether the sender runs the robot's weight file.
    pub shares_model: bool,
}

impl<S> Arrival<S> {
    /// Part of the received wide parameters that is recent enough for mixing.
    pub(super) fn fresh(&self, received: ParamRange) -> ParamRange {
        if self.tick.saturating_sub(self.sent) > FRESH_TICKS { ParamRange::NONE } else { received }
    }
}
