//! Reads a plain frame of any profile. There is no panic, and a message that is written again is read unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wdgnn_core::{
    filter::LayerTaps,
    message::Message,
    tasks::flocking::Motion,
    tensor::{Filter, param_range::ParamRange},
};
use wdgnn_link::{
    encoding::{
        Encoding, OutgoingMessage,
        esb32::Esb32,
        exact::Exact,
        half::{Dot154, EspNow, P2p57},
    },
    error::FrameError,
    header::{FrameId, Payload, Profile},
};

type Full = Message<Motion, LayerTaps<4, 6, ()>, Filter<4, 6, 2>>;

/// The model of the golden frames.
const MODEL: u32 = 0xdead_beef;

fn read<E: Encoding>(frame: &[u8]) -> Result<(FrameId, Full, Payload), FrameError> {
    let header = E::read_header(frame, 0).ok_or(FrameError::TooShort)?;
    let mut message = Full::empty(Motion::REST);
    let payload = E::decode(frame, &header, MODEL, &mut message)?;
    (message.sender, message.degree) = (header.id.sender, header.degree);
    Ok((header.id, message, payload))
}

fn check<E: Encoding>(frame: &[u8], run: u16) {
    let Ok((id, message, payload)) = read::<E>(frame) else { return };
    let (round, index) = match payload.wide {
        // An exchange has two parts.
        wide if E::PROFILE == Profile::P2p57 => {
            (u32::from(wide.from / run / 2), u32::from(wide.from / run % 2))
        }
        ParamRange::NONE => (0, u32::from(payload.taps.from / run)),
        wide => (u32::from(wide.from / run), E::FRAMES_PER_EXCHANGE - 1),
    };
    let out =
        OutgoingMessage { message: &message, boot: id.boot, sequence: id.sequence, model: MODEL, round };
    let mut again = [0; 512];
    let length = E::encode(&out, index, &mut again).expect("the buffer is long enough");
    // The bytes may differ: −0 is written as 0.
    assert_eq!(length, frame.len());
    assert_eq!(read::<E>(&again[..length]), Ok((id, message, payload)));
}

fuzz_target!(|frame: &[u8]| {
    check::<Exact>(frame, 48);
    check::<Dot154>(frame, 12);
    check::<EspNow>(frame, 48);
    check::<Esb32>(frame, 6);
    check::<P2p57>(frame, 3);
});
