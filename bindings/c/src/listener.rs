//! Frame decoder for programs that are not robots: a ground station, a sniffer, a test.

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
    error::Error,
    robot::KeyedLink,
    types::{self, MAX_STATE_LEN},
};

/// Maximum number of transmitted taps of all robot types: three taps of nine features.
const MAX_TAPS: usize = 27;

type ChainsOf<T> = <ModelOf<'static, T> as Model>::Chains;
type WideOf<T> = <ModelOf<'static, T> as Model>::Wide;

/// Decodes frames of any robot type.
pub trait FrameReader {
    fn read(&mut self, now: u32, frame: &mut [u8]) -> Result<types::Beacon, Error>;
}

/// Listener: the receive state of its link, and the content of the last frame.
pub struct Listener<T: Onboard, P> {
    codec: P,
    link: Link,
    beacon: Beacon<T::State, ChainsOf<T>, WideOf<T>>,
    state: [f32; MAX_STATE_LEN],
    taps: [f32; MAX_TAPS],
}

impl<T: Onboard, P: KeyedLink> Listener<T, P> {
    pub fn new(checksum: u32, key: Option<&Key>) -> Result<Self, Error> {
        const { assert!(ChainsOf::<T>::COUNT <= MAX_TAPS) };
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
        Ok(Self {
            codec: P::with_key(key)?,
            link,
            beacon,
            state: [0.0; MAX_STATE_LEN],
            taps: [0.0; MAX_TAPS],
        })
    }
}

/// First index and end index of a range, limited to `count`.
fn bounds(span: Span, count: usize) -> (u16, u16) {
    let count = count.min(usize::from(u16::MAX)) as u16;
    (span.from.min(count), span.to.min(count))
}

impl<T: Onboard, P: KeyedLink> FrameReader for Listener<T, P> {
    fn read(&mut self, now: u32, frame: &mut [u8]) -> Result<types::Beacon, Error> {
        let parts = self.codec.read(&self.link, now, frame, &mut self.beacon)?;
        let Beacon { sender, boot, sequence, degree, state, chains, wide } = &self.beacon;
        self.state.iter_mut().zip(state.numbers().as_ref()).for_each(|(to, from)| *to = *from);
        let sent = chains.sent().flat_map(|(_, line)| line);
        self.taps.iter_mut().zip(sent).for_each(|(to, from)| *to = math::flush(*from));
        let (taps_begin, taps_end) = bounds(parts.taps, ChainsOf::<T>::COUNT);
        let (wide_begin, wide_end) = bounds(parts.wide, WideOf::<T>::COUNT);
        Ok(types::Beacon {
            sender: *sender,
            degree: *degree,
            boot_count: *boot,
            sequence: *sequence,
            state: self.state.as_ptr(),
            taps: parts.taps.of(&self.taps).as_ptr(),
            taps_begin,
            taps_end,
            wide: parts.wide.of(wide.numbers()).as_ptr(),
            wide_begin,
            wide_end,
        })
    }
}
