//! Insider: a robot with the group key that sends false data in authentic frames.

use std::ops::Range;

use wdgnn_core::{filter::DelayLines, message::Message, task::State, tensor::Tensor};

use super::{fault_value::FaultValue, shares::share};

/// Subject of a lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum About {
    /// Position, velocity or taps.
    State,
    /// Wide parameters.
    Parameters,
    /// Velocity or taps, within the accepted range.
    Subtle,
    /// Velocity, by a speed per axis in m/s.
    Velocity(f32),
}

/// Lying insiders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Liars {
    /// Subject.
    pub about: About,
    /// Share of the swarm.
    pub share: f64,
}

impl FaultValue for Liars {
    const FORM: &'static str = "STATE:SHARE, PARAMETERS:SHARE, SUBTLE:SHARE or VELOCITY:SHARE@M/S \
        with a share between 0 and 1, such as STATE:0.1";

    fn parse(text: &str) -> Option<Self> {
        let (name, rest) = text.split_once(':')?;
        if name.eq_ignore_ascii_case("VELOCITY") {
            let (part, speed) = rest.split_once('@')?;
            let speed = speed.parse().ok().filter(|speed: &f32| speed.is_finite())?;
            return Some(Self { about: About::Velocity(speed), share: share(part)? });
        }
        let about = match name.to_ascii_uppercase().as_str() {
            "STATE" => About::State,
            "PARAMETERS" => About::Parameters,
            "SUBTLE" => About::Subtle,
            _ => return None,
        };
        Some(Self { about, share: share(rest)? })
    }

    fn text(&self) -> String {
        let Self { about, share } = self;
        match about {
            About::State => format!("STATE:{share}"),
            About::Parameters => format!("PARAMETERS:{share}"),
            About::Subtle => format!("SUBTLE:{share}"),
            About::Velocity(speed) => format!("VELOCITY:{share}@{speed}"),
        }
    }
}

/// False data in a liar's frames.
#[derive(Clone, Debug, PartialEq)]
pub enum Lie {
    /// Offsets the velocity by ± the given value.
    ///
    /// The range holds the velocity's components in the state. The position is true.
    Velocity(Range<usize>, f32),
    /// Moves the position by a random offset up to the given value, at every exchange.
    ///
    /// The range holds the position's components in the state.
    Jumps(Range<usize>, f32),
    /// Sets all taps to this value.
    Taps(f32),
    /// Multiplies the wide parameters by this factor.
    ParametersScaled(f32),
    /// Replaces the wide parameters by these, which all such liars share.
    Parameters(Vec<f32>),
    /// Overwrites one number of the frame with a value that no valid encoder writes.
    Number {
        /// Index of the number.
        place: usize,
        /// Value of the number.
        number: f32,
    },
}

impl Lie {
    /// Falsifies a message of an exchange.
    pub fn apply<S: State, L: DelayLines, W: Tensor>(
        &self, message: &Message<S, L, W>, exchange: u32,
    ) -> Message<S, L, W> {
        let mut sent = *message;
        match self {
            Self::Velocity(range, offset) => map_components(&mut sent.state, range, |place, x| {
                x + if place.is_multiple_of(2) { *offset } else { -offset }
            }),
            Self::Jumps(range, reach) => map_components(&mut sent.state, range, |place, x| {
                x + reach * pseudorandom(message.sender, exchange, range.start + place)
            }),
            Self::Taps(size) => {
                sent.taps.transmitted_mut().for_each(|(_, taps)| taps.fill(*size));
            }
            Self::ParametersScaled(factor) => {
                sent.wide.numbers_mut().iter_mut().for_each(|x| *x *= factor);
            }
            Self::Parameters(numbers) => {
                sent.wide.numbers_mut().iter_mut().zip(numbers).for_each(|(x, lie)| *x = *lie);
            }
            // Changed after encoding.
            Self::Number { .. } => {}
        }
        sent
    }

    /// Overwrites the number of a frame with a header of `header_len` bytes, if the lie says so.
    pub fn patch(&self, frame: &mut [u8], header_len: usize) {
        if let Self::Number { place, number } = self
            && let Some(bytes) = frame.get_mut(header_len + 4 * place..).and_then(<[u8]>::first_chunk_mut)
        {
            *bytes = number.to_le_bytes();
        }
    }
}

/// Changes a range of a state's components, each by its index in the range.
fn map_components<S: State>(state: &mut S, range: &Range<usize>, change: impl Fn(usize, f32) -> f32) {
    let mut numbers = state.to_array();
    let some = numbers.as_mut().get_mut(range.clone()).unwrap_or_default();
    some.iter_mut().enumerate().for_each(|(place, x)| *x = change(place, *x));
    *state = S::from_array(numbers);
}

/// Returns a pseudorandom number between −1 and 1 (the finalizer of `splitmix64`).
fn pseudorandom(sender: u16, exchange: u32, index: usize) -> f32 {
    let mut x = (u64::from(sender) << 40 | u64::from(exchange) << 8 | index as u64).wrapping_add(1);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 40) as f32 / (1 << 23) as f32 - 1.0
}

#[cfg(test)]
mod tests {
    use wdgnn_core::{
        filter::{DelayLine, LayerTaps},
        tasks::flocking::Motion,
        tensor::{Filter, Tensor as _},
    };

    use super::*;
    use crate::{medium::any_link::forge, profiles::Profile};

    type TestMessage = Message<Motion, LayerTaps<2, 2, ()>, Filter<2, 1, 2>>;

    fn true_message() -> TestMessage {
        let state = Motion { position: [1.0, 2.0], velocity: [3.0, 4.0] };
        let taps = LayerTaps { line: DelayLine([[0.5, -0.5], [0.0; 2]]), above: () };
        let mut wide = Filter::ZERO;
        wide.numbers_mut().copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
        TestMessage { sender: 7, tick: 12, degree: 3, state, taps, wide }
    }

    #[test]
    fn a_lie_changes_only_its_own_components() {
        let sent = |lie: Lie| lie.apply(&true_message(), 0);
        let mut expected = true_message();
        expected.state.velocity = [8.0, -1.0];
        assert_eq!(sent(Lie::Velocity(2..4, 5.0)), expected);

        let mut expected = true_message();
        expected.taps.line.0[0] = [100.0, 100.0];
        assert_eq!(sent(Lie::Taps(100.0)), expected);

        let mut expected = true_message();
        expected.wide.numbers_mut().copy_from_slice(&[-1.0, -2.0, -3.0, -4.0]);
        assert_eq!(sent(Lie::ParametersScaled(-1.0)), expected);
        assert_eq!(sent(Lie::Parameters(vec![-1.0, -2.0, -3.0, -4.0])), expected);
    }

    #[test]
    fn any_number_can_be_written_into_a_frame() {
        let forge = forge(Profile::Exact, 1, None);
        let mut frame = forge.write(&true_message(), 0, 12, 0, 0).unwrap();
        Lie::Number { place: 1, number: f32::NAN }.patch(&mut frame, forge.header_len());
        assert_eq!(frame[forge.header_len() + 4..][..4], f32::NAN.to_le_bytes());
        assert_eq!(frame[forge.header_len()..][..4], 1.0_f32.to_le_bytes());
    }

    #[test]
    fn a_jumping_position_changes_at_every_exchange() {
        let [first, second] =
            [0, 1].map(|exchange| Lie::Jumps(0..2, 2.0).apply(&true_message(), exchange).state);
        assert_ne!(first.position, second.position);
        assert!(first.position.iter().zip([1.0, 2.0]).all(|(sent, is)| (sent - is).abs() <= 2.0));
        assert_eq!(first.velocity, [3.0, 4.0]);
    }
}
