//! Frames read by somebody who is no robot: a ground station, a sniffer, a test.

use wdgnn_core::{
    Beacon,
    filter::Chains,
    math,
    model::Model,
    task::State,
    tensor::{Tensor, span::Span},
};
use wdgnn_link::{header::Link, security::key::Key};
use wdgnn_robot::onboard::{ModelOf, Onboard};

use crate::{
    body::Keyed,
    error::Error,
    told::{self, MOST_STATES},
};

/// The most taps that travel, of any kind: three of nine features.
const MOST_TAPS: usize = 27;

type ChainsOf<T> = <ModelOf<'static, T> as Model>::Chains;
type WideOf<T> = <ModelOf<'static, T> as Model>::Wide;

/// Reads frames.
pub trait Reads {
    fn read(&mut self, now: u32, frame: &mut [u8]) -> Result<told::Beacon, Error>;
}

/// A listener: what its codec remembers, and the frame that was read last.
pub struct Listener<T: Onboard, P> {
    codec: P,
    link: Link,
    beacon: Beacon<T::State, ChainsOf<T>, WideOf<T>>,
    state: [f32; MOST_STATES],
    taps: [f32; MOST_TAPS],
}

impl<T: Onboard, P: Keyed> Listener<T, P> {
    pub fn new(checksum: u32, key: Option<&Key>) -> Result<Self, Error> {
        const { assert!(ChainsOf::<T>::COUNT <= MOST_TAPS) };
        let beacon = Beacon {
            sender: 0,
            boot: 0,
            sequence: 0,
            degree: 0,
            state: T::State::zero(),
            chains: ChainsOf::<T>::ZERO,
            wide: WideOf::<T>::ZERO,
        };
        let link = Link { profile: P::profile(true), checksum };
        Ok(Self { codec: P::with_key(key)?, link, beacon, state: [0.0; MOST_STATES], taps: [0.0; MOST_TAPS] })
    }
}

/// Where a run begins and ends in a list of this length.
fn bounds(span: Span, count: usize) -> (u16, u16) {
    let count = count.min(usize::from(u16::MAX)) as u16;
    (span.from.min(count), span.to.min(count))
}

impl<T: Onboard, P: Keyed> Reads for Listener<T, P> {
    fn read(&mut self, now: u32, frame: &mut [u8]) -> Result<told::Beacon, Error> {
        let parts = self.codec.read(&self.link, now, frame, &mut self.beacon)?;
        let Beacon { sender, boot, sequence, degree, state, chains, wide } = &self.beacon;
        self.state.iter_mut().zip(state.numbers().as_ref()).for_each(|(to, from)| *to = *from);
        let sent = chains.sent().flat_map(|(_, line)| line);
        self.taps.iter_mut().zip(sent).for_each(|(to, from)| *to = math::flush(*from));
        let (taps_from, taps_to) = bounds(parts.taps, ChainsOf::<T>::COUNT);
        let (wide_from, wide_to) = bounds(parts.wide, WideOf::<T>::COUNT);
        Ok(told::Beacon {
            sender: *sender,
            degree: *degree,
            boot: *boot,
            sequence: *sequence,
            state: self.state.as_ptr(),
            taps: parts.taps.of(&self.taps).as_ptr(),
            taps_from,
            taps_to,
            wide: parts.wide.of(wide.numbers()).as_ptr(),
            wide_from,
            wide_to,
        })
    }
}
