//! Insider: a robot with the group key that sends false data in authentic frames.

use std::ops::Range;

use wdgnn_core::{Beacon, filter::Chains, task::State, tensor::Tensor};
use wdgnn_link::{
    encoding::Codec,
    error::Refusal,
    header::{Identity, Link, Parts, Profile},
};

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

/// Codec of any profile that falsifies frames if there is a lie.
#[derive(Clone, Debug)]
pub struct Insider<C> {
    /// Codec of the profile.
    pub codec: C,
    /// False data; `None` for an honest robot.
    pub lie: Option<Lie>,
}

impl<C: Codec> Codec for Insider<C> {
    const FRAMES: u32 = C::FRAMES;
    const SEALED: bool = C::SEALED;
    const TELLS_DEGREE: bool = C::TELLS_DEGREE;

    fn profile(folded: bool) -> Profile {
        C::profile(folded)
    }

    fn bytes<S: State, H: Chains, W: Tensor>() -> usize {
        C::bytes::<S, H, W>()
    }

    fn header_bytes() -> usize {
        C::header_bytes()
    }

    fn identity(frame: &[u8], now: u32) -> Option<Identity> {
        C::identity(frame, now)
    }

    fn vouch(&mut self, link: &Link, now: u32, since: u32, frame: &[u8]) -> Option<Identity> {
        self.codec.vouch(link, now, since, frame)
    }

    fn encode<S: State, H: Chains, W: Tensor>(
        &self,
        link: &Link,
        beacon: &Beacon<S, H, W>,
        round: u32,
        index: u32,
        buffer: &mut [u8],
    ) -> Option<usize> {
        let sent = self.lie.as_ref().map_or(*beacon, |lie| lie.apply(beacon, round));
        let length = self.codec.encode(link, &sent, round, index, buffer)?;
        if let Some(Lie::Number { place, number }) = self.lie {
            let at = C::header_bytes() + 4 * place;
            buffer.get_mut(at..at + 4)?.copy_from_slice(&number.to_le_bytes());
        }
        Some(length)
    }

    fn decode<S: State, H: Chains, W: Tensor>(
        &mut self,
        link: &Link,
        now: u32,
        frame: &[u8],
    ) -> Result<(Beacon<S, H, W>, Parts), Refusal> {
        self.codec.decode(link, now, frame)
    }
}

impl Lie {
    fn apply<S: State, H: Chains, W: Tensor>(
        &self,
        beacon: &Beacon<S, H, W>,
        exchange: u32,
    ) -> Beacon<S, H, W> {
        let mut sent = *beacon;
        match self {
            Self::Velocity(range, offset) => map_components(&mut sent.state, range, |place, x| {
                x + if place.is_multiple_of(2) { *offset } else { -offset }
            }),
            Self::Jumps(range, reach) => map_components(&mut sent.state, range, |place, x| {
                x + reach * pseudorandom(beacon.sender, exchange, range.start + place)
            }),
            Self::Taps(size) => {
                sent.chains.for_each_sent(|_, taps| taps.fill(*size));
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
}

/// Changes a range of a state's components, each by its index in the range.
fn map_components<S: State>(state: &mut S, range: &Range<usize>, change: impl Fn(usize, f32) -> f32) {
    let mut numbers = state.numbers();
    let some = numbers.as_mut().get_mut(range.clone()).unwrap_or_default();
    some.iter_mut().enumerate().for_each(|(place, x)| *x = change(place, *x));
    *state = S::from_numbers(numbers);
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
        filter::{Chain, NoChain, Stacked},
        tasks::flocking::Motion,
        tensor::{Filter, Tensor as _},
    };
    use wdgnn_link::encoding::exact::Exact;

    use super::*;

    type TestBeacon = Beacon<Motion, Stacked<2, 2, NoChain>, Filter<2, 1, 2>>;

    const LINK: Link = Link { profile: Profile::Exact, checksum: 1 };

    fn true_beacon() -> TestBeacon {
        let state = Motion { position: [1.0, 2.0], velocity: [3.0, 4.0] };
        let chains = Stacked { chain: Chain([[0.5, -0.5], [0.0; 2]]), above: NoChain };
        let mut wide = Filter::ZERO;
        wide.numbers_mut().copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
        TestBeacon { sender: 7, boot: 0, sequence: 12, degree: 3, state, chains, wide }
    }

    fn sent(lie: Option<Lie>, exchange: u32) -> TestBeacon {
        let mut insider = Insider { codec: Exact, lie };
        let mut frame = [0; 256];
        let length = insider.encode(&LINK, &true_beacon(), exchange, 0, &mut frame).unwrap();
        insider.decode(&LINK, 0, &frame[..length]).unwrap().0
    }

    #[test]
    fn an_honest_robot_sends_its_true_beacon() {
        assert_eq!(sent(None, 0), true_beacon());
    }

    #[test]
    fn a_lie_changes_only_its_own_components() {
        let mut expected = true_beacon();
        expected.state.velocity = [8.0, -1.0];
        assert_eq!(sent(Some(Lie::Velocity(2..4, 5.0)), 0), expected);

        let mut expected = true_beacon();
        expected.chains.chain.0[0] = [100.0, 100.0];
        assert_eq!(sent(Some(Lie::Taps(100.0)), 0), expected);

        let mut expected = true_beacon();
        expected.wide.numbers_mut().copy_from_slice(&[-1.0, -2.0, -3.0, -4.0]);
        assert_eq!(sent(Some(Lie::ParametersScaled(-1.0)), 0), expected);
        assert_eq!(sent(Some(Lie::Parameters(vec![-1.0, -2.0, -3.0, -4.0])), 0), expected);
    }

    #[test]
    fn any_number_can_be_written_into_a_frame() {
        let insider = Insider { codec: Exact, lie: Some(Lie::Number { place: 1, number: f32::NAN }) };
        let mut frame = [0; 256];
        insider.encode(&LINK, &true_beacon(), 0, 0, &mut frame).unwrap();
        assert_eq!(frame[Exact::header_bytes() + 4..][..4], f32::NAN.to_le_bytes());
        assert_eq!(frame[Exact::header_bytes()..][..4], 1.0_f32.to_le_bytes());
    }

    #[test]
    fn a_jumping_position_changes_at_every_exchange() {
        let [first, second] = [0, 1].map(|exchange| sent(Some(Lie::Jumps(0..2, 2.0)), exchange).state);
        assert_ne!(first.position, second.position);
        assert!(first.position.iter().zip([1.0, 2.0]).all(|(said, is)| (said - is).abs() <= 2.0));
        assert_eq!(first.velocity, [3.0, 4.0]);
    }
}
