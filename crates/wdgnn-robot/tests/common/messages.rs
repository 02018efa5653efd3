//! Messages and links for tests of frames: the example of the document, and random messages.

use super::{flock::MODEL, prelude::*, random_numbers};

/// Dimensions of the example in the document: F = 6, K = 1, O = 2.
pub type Example = Message<Motion, LayerTaps<2, 6, ()>, Filter<2, 6, 2>>;

/// Dimensions of the paper: F = 6, K = 3, O = 2.
pub type Taps = LayerTaps<4, 6, ()>;
pub type Wide = Filter<4, 6, 2>;
pub type Full = Message<Motion, Taps, Wide>;

/// A message with the boot count and the number of its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbered<M = Full> {
    pub boot: u32,
    pub sequence: u32,
    pub message: M,
}

/// A link for messages with the dimensions of the paper, with any encoding and security.
pub trait TestLink: MessageLink<Motion, Taps, Wide> + core::fmt::Debug {
    type Encoding: Encoding;

    const FRAMES_PER_EXCHANGE: u32 = <Self::Encoding as Encoding>::FRAMES_PER_EXCHANGE;
    const HEADER_LEN: usize = <Self::Encoding as Encoding>::HEADER_LEN;
    const PROFILE: Profile = <Self::Encoding as Encoding>::PROFILE;
}

impl<E: Encoding + core::fmt::Debug, S: LinkSecurity + core::fmt::Debug> TestLink for Link<E, S> {
    type Encoding = E;
}

/// A link without security.
pub fn open_link<E>() -> Link<E> {
    Link::open(MODEL)
}

/// A link with a group key.
pub fn sealed_link<E, const TAG: usize>(key: &Key) -> Link<E, GroupKey<Aes, TAG>> {
    sealed_link_of(MODEL, key)
}

/// A link with a group key for another weight file.
pub fn sealed_link_of<E, const TAG: usize>(model: u32, key: &Key) -> Link<E, GroupKey<Aes, TAG>> {
    Link::new(model, GroupKey::new(key))
}

/// A link with a group key and room for key rotation and peer authentication.
pub fn managed_link<E, const TAG: usize>(
    key: &Key, add_keys: impl FnOnce(&mut ManagedKeys<Aes, TAG, ROSTER_CAPACITY>),
) -> Link<E, ManagedKeys<Aes, TAG, ROSTER_CAPACITY>> {
    let mut keys = ManagedKeys::new(GroupKey::new(key));
    add_keys(&mut keys);
    Link::new(MODEL, keys)
}

pub fn example_message(sender: u16, sequence: u32) -> Numbered<Example> {
    let mut line = DelayLine::ZERO;
    line.0[0] = [1.5, -0.1, 0.0, 70_000.0, 1.0e-6, 2.0];
    let mut wide = Filter::ZERO;
    for (index, x) in wide.numbers_mut().iter_mut().enumerate() {
        *x = index as f32 * 0.25 - 3.0;
    }
    let state = Motion { position: [1.0, -2.0], velocity: [0.5, 0.25] };
    let taps = LayerTaps { line, above: () };
    Numbered { boot: 3, sequence, message: Message { sender, tick: sequence, degree: 5, state, taps, wide } }
}

/// A message of random numbers whose header fields fit the shortest header.
pub fn full_message(rng: &mut ChaCha8Rng, sender: u16, sequence: u32) -> Numbered {
    let mut taps = Taps::ZERO;
    taps.line.numbers_mut()[..18].copy_from_slice(&random_numbers(rng, 18, 20.0));
    let mut wide = Wide::ZERO;
    wide.numbers_mut().copy_from_slice(&random_numbers(rng, 48, 2.0));
    let mut pair = |range: f32| [rng.random_range(-range..range), rng.random_range(-range..range)];
    let state = Motion { position: pair(16.0), velocity: pair(8.0) };
    Numbered { boot: 3, sequence, message: Message { sender, tick: sequence, degree: 5, state, taps, wide } }
}

/// Writes frame `index` of an exchange with any boot count and number. Returns its length.
pub fn write<S: State, L: DelayLines, W: Tensor>(
    link: &mut impl MessageLink<S, L, W>, numbered: &Numbered<Message<S, L, W>>, exchange: u32, index: u32,
    buffer: &mut [u8],
) -> Option<usize> {
    let Numbered { boot, sequence, message } = numbered;
    let message = Message { tick: sequence / link.frames_per_exchange(), ..*message };
    // Numbers start again at the tick's first. Lower numbers are used up.
    link.set_boot_count(*boot);
    for _ in 0..sequence % link.frames_per_exchange() {
        link.send(&message, exchange, 0, &mut [0; 1024]);
    }
    link.send(&message, exchange, index, buffer)
}

/// Frame `index` of an exchange.
pub fn encode<S: State, L: DelayLines, W: Tensor>(
    link: &mut impl MessageLink<S, L, W>, numbered: &Numbered<Message<S, L, W>>, exchange: u32, index: u32,
) -> Vec<u8> {
    let mut frame = vec![0; link.max_frame_len()];
    let length = write(link, numbered, exchange, index, &mut frame);
    frame.truncate(length.expect("the buffer is long enough"));
    frame
}

/// A message and the numbers that its frame carried, or the error of its frame.
pub type Reading<M = Full> = Result<(Numbered<M>, Payload), FrameError>;

/// Reads a frame at tick `now`.
pub fn read<S: State, L: DelayLines, W: Tensor>(
    link: &mut impl MessageLink<S, L, W>, now: u32, frame: &[u8],
) -> Reading<Message<S, L, W>> {
    let mut message = Message::empty(S::zero());
    let Reception { sequence, payload, .. } =
        link.receive(now, &mut frame.to_vec(), &mut message)?.of_own_model()?;
    let id = link.frame_id(now, frame).expect("an accepted frame has a header");
    assert_eq!((id.sender, id.sequence), (message.sender, sequence));
    Ok((Numbered { boot: id.boot, sequence, message }, payload))
}

/// Reads a frame with the dimensions of the paper.
pub fn decode(link: &mut impl TestLink, now: u32, frame: &[u8]) -> Reading {
    read(link, now, frame)
}

/// Runs a check with the constructor of every sealed link.
macro_rules! for_sealed_links {
    ($check:ident) => {
        $check(sealed_link::<Exact, 8>);
        $check(sealed_link::<Dot154, 8>);
        $check(sealed_link::<EspNow, 8>);
        $check(sealed_link::<Esb32, 4>);
        $check(sealed_link::<P2p57, 8>);
    };
}

/// Runs a check with an open link of every encoding.
#[allow(unused_macros, reason = "each test program needs a part of it")]
macro_rules! for_open_links {
    ($check:ident) => {
        $check(open_link::<Exact>());
        $check(open_link::<Dot154>());
        $check(open_link::<EspNow>());
        $check(open_link::<Esb32>());
        $check(open_link::<P2p57>());
    };
}

pub(crate) use for_open_links;
pub(crate) use for_sealed_links;
