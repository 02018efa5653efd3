//! Frame types against encodings, in both directions. Shared with the fuzz target `encoded`.

use serde::de::DeserializeOwned;
use wdgnn_core::{
    filter::{DelayLines, LayerTaps},
    message::Message,
    task::State,
    tasks::flocking::Motion,
    tensor::{Filter, Tensor},
};
use wdgnn_link::{
    encoding::{
        Encoding, OutgoingMessage,
        esb32::Esb32,
        exact::Exact,
        half::{Dot154, EspNow, P2p57},
    },
    error::FrameError,
    frames::{
        CompactHeader, Dot154Frame, Esb32Frame, Esb32Header, EspNowFrame, ExactFrame, ExactHeader, Floats,
        Frame, Halves, P2p57Frame, U16Le, U24Le, U32Le, decode, encode,
    },
    header::Profile,
};

/// Checks the bytes of a frame in both directions and rejects all other lengths.
pub fn assert_bytes<F: Frame + DeserializeOwned + PartialEq + std::fmt::Debug>(frame: &F, bytes: &[u8]) {
    let mut buffer = vec![0; bytes.len()];
    assert_eq!(postcard::to_slice(frame, &mut buffer).unwrap(), bytes);
    assert_eq!(encode(frame, &mut buffer), Some(bytes.len()));
    assert_eq!(F::BYTES, bytes.len());
    let (read, rest) = postcard::take_from_bytes::<F>(bytes).unwrap();
    assert_eq!((&read, rest), (frame, &[][..]));
    assert_eq!(decode::<F>(bytes).as_ref(), Ok(frame));
    for length in 0..bytes.len() {
        assert_eq!(decode::<F>(&bytes[..length]), Err(FrameError::Truncated), "{length} bytes");
        assert_eq!(encode(frame, &mut buffer[..length]), None, "{length} bytes");
    }
    for trailing in 1..4 {
        let longer = [bytes, &[0; 4][..trailing]].concat();
        assert_eq!(decode::<F>(&longer), Err(FrameError::Trailing), "{trailing} trailing bytes");
    }
}

/// Numbers of a frame type, as a receiver uses them.
pub trait Content {
    fn numbers(&self) -> Vec<f32>;
}

impl<const N: usize> Content for Floats<N> {
    fn numbers(&self) -> Vec<f32> {
        self.0.to_vec()
    }
}

impl<const N: usize> Content for Halves<N> {
    fn numbers(&self) -> Vec<f32> {
        self.get().to_vec()
    }
}

macro_rules! content_of {
    ($frame:ident) => {
        impl<S: Content, T: Content, W: Content> Content for $frame<S, T, W> {
            fn numbers(&self) -> Vec<f32> {
                [self.state.numbers(), self.taps.numbers(), self.wide.numbers()].concat()
            }
        }
    };
}

content_of!(ExactFrame);
content_of!(Dot154Frame);
content_of!(EspNowFrame);
content_of!(P2p57Frame);

impl<S: Content, N: Content> Content for Esb32Frame<S, N> {
    fn numbers(&self) -> Vec<f32> {
        [self.state.numbers(), self.numbers.numbers()].concat()
    }
}

/// Frame `index` of an exchange.
pub fn encoded<E: Encoding, S: State, L: DelayLines, W: Tensor>(
    out: &OutgoingMessage<'_, S, L, W>, index: u32,
) -> Vec<u8> {
    let mut frame = [0; 1024];
    let length = E::encode(out, index, &mut frame).unwrap();
    frame[..length].to_vec()
}

/// Checks a frame type against the encoding `E` in both directions.
///
/// The encoding writes the frame's postcard bytes, and reads the frame's numbers from them.
pub fn assert_frame<E, F, S, L, W>(out: &OutgoingMessage<'_, S, L, W>, index: u32, frame: &F)
where
    E: Encoding,
    F: Frame + Content + DeserializeOwned + PartialEq + std::fmt::Debug,
    S: State,
    L: DelayLines,
    W: Tensor,
{
    let bytes = encoded::<E, S, L, W>(out, index);
    assert_bytes(frame, &bytes);
    let header = E::read_header(&bytes, out.sequence / E::FRAMES_PER_EXCHANGE).unwrap();
    assert_eq!(header.id, out.id());
    assert!(header.model.is_none_or(|model| model == out.model));
    // The short header has one bit for robots that are obstacles only.
    let degree = if E::PROFILE == Profile::Esb32 { header.degree } else { out.message.degree };
    assert_eq!((header.degree, header.degree == 255), (degree, out.message.degree == 255));
    let mut message = Message::empty(S::zero());
    let payload = E::decode(&bytes, &header, out.model, &mut message).unwrap();
    let Message { state, taps, wide, .. }: Message<S, L, W> = message;
    let taps: Vec<f32> = taps.transmitted().flat_map(|(_, line)| line.to_vec()).collect();
    let numbers =
        [state.to_array().as_ref(), payload.taps.of(&taps), payload.wide.of(wide.numbers())].concat();
    let all = frame.numbers();
    let (expected, padding) = all.split_at(numbers.len());
    assert_eq!(numbers, expected);
    assert!(padding.iter().all(|x| *x == 0.0), "{padding:?}");
}

pub fn state<const N: usize, S: State>(state: &S) -> [f32; N] {
    state.to_array().as_ref().try_into().unwrap()
}

pub fn taps<const N: usize, L: DelayLines>(lines: &L, from: usize) -> [f32; N] {
    let all: Vec<f32> = lines.transmitted().flat_map(|(_, line)| line.to_vec()).collect();
    all[from..from + N].try_into().unwrap()
}

pub fn wide<const N: usize, W: Tensor>(wide: &W, from: usize) -> [f32; N] {
    wide.numbers()[from..from + N].try_into().unwrap()
}

pub fn exact_header<S, L, W>(out: &OutgoingMessage<'_, S, L, W>, counts: (u8, u16, u16)) -> ExactHeader {
    ExactHeader {
        version: 1,
        profile: 0,
        state_numbers: counts.0,
        tap_numbers: U16Le::new(counts.1),
        wide_numbers: U16Le::new(counts.2),
        model: U32Le::new(out.model),
        sender: U16Le::new(out.message.sender),
        boot: U32Le::new(out.boot),
        sequence: U32Le::new(out.sequence),
        degree: out.message.degree,
    }
}

pub fn compact_header<S, L, W>(out: &OutgoingMessage<'_, S, L, W>, first: u8, part: u8) -> CompactHeader {
    CompactHeader {
        version_and_profile: first,
        part,
        model: U32Le::new(out.model),
        sender: U16Le::new(out.message.sender),
        boot: U32Le::new(out.boot),
        sequence: U32Le::new(out.sequence),
        degree: out.message.degree,
    }
}

pub fn esb32_header<S, L, W>(out: &OutgoingMessage<'_, S, L, W>, piece: u8) -> Esb32Header {
    Esb32Header {
        version_and_profile: 0x41,
        sender: out.message.sender as u8,
        boot: U16Le::new(out.boot as u16),
        sequence: U24Le::new(out.sequence),
        piece: if out.message.degree == 255 { piece | 0x80 } else { piece },
    }
}

/// Checks all encodings on a message of the network for flocking in the plane.
pub fn assert_plane(out: &OutgoingMessage<'_, Motion, LayerTaps<4, 6, ()>, Filter<4, 6, 2>>) {
    let exchange = out.round;
    let floats = Floats::new(&state(&out.message.state));
    let halves: Halves<4> = Halves::new(&state(&out.message.state));

    let frame: ExactFrame = ExactFrame {
        header: exact_header(out, (4, 18, 48)),
        state: floats,
        taps: Floats::new(&taps(&out.message.taps, 0)),
        wide: Floats::new(&wide(&out.message.wide, 0)),
    };
    assert_frame::<Exact, _, _, _, _>(out, 0, &frame);

    let part = (exchange % 4) as usize;
    let frame: Dot154Frame = Dot154Frame {
        header: compact_header(out, 0x21, part as u8),
        state: floats,
        taps: Halves::new(&taps(&out.message.taps, 0)),
        wide: Halves::new(&wide(&out.message.wide, 12 * part)),
    };
    assert_frame::<Dot154, _, _, _, _>(out, 0, &frame);

    let frame: EspNowFrame = EspNowFrame {
        header: compact_header(out, 0x31, 0),
        state: floats,
        taps: Halves::new(&taps(&out.message.taps, 0)),
        wide: Halves::new(&wide(&out.message.wide, 0)),
    };
    assert_frame::<EspNow, _, _, _, _>(out, 0, &frame);

    for index in 0..2 {
        let part = (2 * exchange + index) % 16;
        let frame: P2p57Frame = P2p57Frame {
            header: compact_header(out, 0x51, part as u8),
            state: halves,
            taps: Halves::new(&taps(&out.message.taps, 9 * index as usize)),
            wide: Halves::new(&wide(&out.message.wide, 3 * part as usize)),
        };
        assert_frame::<P2p57, _, _, _, _>(out, index, &frame);
    }

    for index in 0..4 {
        let piece = if index < 3 { index } else { 3 + exchange % 8 };
        let frame: Esb32Frame = Esb32Frame {
            header: esb32_header(out, piece as u8),
            state: halves,
            numbers: if index < 3 {
                Halves::new(&taps(&out.message.taps, 6 * index as usize))
            } else {
                Halves::new(&wide(&out.message.wide, 6 * (piece as usize - 3)))
            },
        };
        assert_frame::<Esb32, _, _, _, _>(out, index, &frame);
    }
}
