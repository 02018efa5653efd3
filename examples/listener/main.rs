//! Prints the messages of a capture: `cargo run --example listener -- CAPTURE [KEY MODEL]`.
//!
//! KEY is the key file of a swarm with sealed frames, MODEL its weight file. `listener.py` prints the same lines.

mod pcap;

use std::{env, error::Error, fs};

use wdgnn_link::{
    frames::AnyFrame,
    security::{aes::Aes, key::parse_key},
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let capture = fs::read(arguments.first().ok_or("usage: listener CAPTURE [KEY MODEL]")?)?;
    let secret = match arguments.get(1..3) {
        Some([key, model]) => {
            let key = parse_key(&fs::read(key)?).map_err(|error| format!("{key} {error}"))?;
            // A weight file ends with its checksum, which identifies the model.
            let model = *fs::read(model)?.last_chunk().ok_or("the weight file is empty")?;
            Some((Aes::new(&key), u32::from_le_bytes(model)))
        }
        _ => None,
    };
    for (microseconds, mut bytes) in pcap::frames(&capture).ok_or("not a capture of radio frames")? {
        let tick = (microseconds / 10_000) as u32;
        let frame = match &secret {
            Some((cipher, model)) => AnyFrame::open(cipher, *model, tick, &mut bytes),
            None => AnyFrame::decode(&bytes),
        };
        let (name, sender, state) = match frame {
            Ok(AnyFrame::Exact(frame)) => ("exact", frame.header.sender.get(), frame.state.0),
            Ok(AnyFrame::Dot154(frame)) => ("dot154", frame.header.sender.get(), frame.state.0),
            Ok(AnyFrame::EspNow(frame)) => ("espnow", frame.header.sender.get(), frame.state.0),
            Ok(AnyFrame::Esb32(frame)) => ("esb32", frame.header.sender.into(), frame.state.get()),
            Ok(AnyFrame::P2p57(frame)) => ("p2p57", frame.header.sender.get(), frame.state.get()),
            other => {
                println!("tick {tick}: {other:?}");
                continue;
            }
        };
        let [x, y, vx, vy] = state;
        println!("tick {tick}: {name} from {sender}: position {x:.3} {y:.3}, velocity {vx:.3} {vy:.3}");
    }
    Ok(())
}
