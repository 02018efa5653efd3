//! Frame decoder for programs that are not robots: a ground station, a sniffer, a test.

use wdgnn_core::{
    filter::DelayLines,
    math,
    message::{AgentMessage, Message},
    model::Model,
    task::State,
    tensor::{Tensor, param_range::ParamRange},
};
use wdgnn_link::{
    encoding::Encoding,
    link::{Link, MessageLink as _, RadioLink as _, Reception},
    security::key::Key,
};
use wdgnn_robot::onboard::{ModelOf, OnboardTask};

use crate::{
    error::Error,
    robot::KeyedSecurity,
    types::{self, MAX_STATE_LEN},
};

/// Maximum number of transmitted taps of all robot types: three taps of nine features.
const MAX_TAPS: usize = 27;

pub type TapsOf<T> = <ModelOf<'static, T> as Model>::Taps;
pub type WideOf<T> = <ModelOf<'static, T> as Model>::Wide;

/// Decodes frames of any robot type.
pub trait FrameReader {
    fn read(&mut self, now: u32, frame: &mut [u8]) -> Result<types::Message, Error>;
}

/// Listener: the receive state of its link, and the content of the last frame.
pub struct Listener<T: OnboardTask, E, S> {
    link: Link<E, S>,
    message: AgentMessage<ModelOf<'static, T>, T>,
    state: [f32; MAX_STATE_LEN],
    taps: [f32; MAX_TAPS],
}

impl<T: OnboardTask, E: Encoding, S: KeyedSecurity> Listener<T, E, S> {
    pub fn new(model: u32, key: Option<&Key>) -> Result<Self, Error> {
        const { assert!(TapsOf::<T>::LEN <= MAX_TAPS) };
        Ok(Self {
            link: Link::new(model, S::with_key(key)?),
            message: Message::empty(T::State::zero()),
            state: [0.0; MAX_STATE_LEN],
            taps: [0.0; MAX_TAPS],
        })
    }
}

/// First index and end index of a range, limited to `count`.
fn bounds(range: ParamRange, count: usize) -> (u16, u16) {
    let count = count.min(usize::from(u16::MAX)) as u16;
    (range.from.min(count), range.to.min(count))
}

impl<T: OnboardTask, E: Encoding, S: KeyedSecurity> FrameReader for Listener<T, E, S> {
    fn read(&mut self, now: u32, frame: &mut [u8]) -> Result<types::Message, Error> {
        let boot_count = self.link.frame_id(now, frame).map_or(0, |id| id.boot);
        let Reception { sequence, payload, .. } =
            self.link.receive(now, frame, &mut self.message)?.of_own_model()?;
        let Message { sender, degree, state, taps, wide, .. } = &self.message;
        self.state.iter_mut().zip(state.to_array().as_ref()).for_each(|(to, from)| *to = *from);
        let transmitted = taps.transmitted().flat_map(|(_, line)| line);
        self.taps.iter_mut().zip(transmitted).for_each(|(to, from)| *to = math::flush_subnormal(*from));
        let (taps_begin, taps_end) = bounds(payload.taps, TapsOf::<T>::LEN);
        let (wide_begin, wide_end) = bounds(payload.wide, WideOf::<T>::LEN);
        Ok(types::Message {
            sender: *sender,
            degree: *degree,
            boot_count,
            sequence,
            state: self.state.as_ptr(),
            taps: payload.taps.of(&self.taps).as_ptr(),
            taps_begin,
            taps_end,
            wide: payload.wide.of(wide.numbers()).as_ptr(),
            wide_begin,
            wide_end,
        })
    }
}
