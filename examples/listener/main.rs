//! Prints the messages of a swarm: `cargo run --example listener -- SOURCE [KEY MODEL]`.
//!
//! SOURCE is a capture (pcap), or the events of a gateway in a file or at a serial port. KEY is the key file of a swarm with
//! sealed frames, MODEL its weight file. `listener.py` prints the same lines.

mod pcap;

use std::{
    env,
    error::Error,
    fs::{self, File},
    io::{BufRead as _, BufReader, Read as _},
};

use wdgnn_link::{
    frames::AnyFrame,
    security::{aes::Aes, key::parse_key},
};
use wdgnn_protocol::event::{GatewayEvent, MAX_EVENT_LEN};

/// Cipher of the swarm and checksum of its weight file.
type Secret = (Aes, u32);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let mut source =
        BufReader::new(File::open(arguments.first().ok_or("usage: listener SOURCE [KEY MODEL]")?)?);
    let secret = match arguments.get(1..3) {
        Some([key, model]) => {
            let key = parse_key(&fs::read(key)?).map_err(|error| format!("{key} {error}"))?;
            // A weight file ends with its checksum, which identifies the model.
            let model = *fs::read(model)?.last_chunk().ok_or("the weight file is empty")?;
            Some((Aes::new(&key), u32::from_le_bytes(model)))
        }
        _ => None,
    };
    if source.fill_buf()?.starts_with(&pcap::MAGIC) {
        let mut capture = Vec::new();
        source.read_to_end(&mut capture)?;
        for (time_us, mut frame) in pcap::frames(&capture).ok_or("not a capture of radio frames")? {
            print(time_us, &mut frame, secret.as_ref());
        }
        return Ok(());
    }
    for line in source.split(0) {
        if let Some(event) = GatewayEvent::decode(&mut line?)
            && let Some((arrival, frame)) = event.frame(&mut [0; MAX_EVENT_LEN])
        {
            print(arrival.time_us, &mut frame.to_vec(), secret.as_ref());
        }
    }
    Ok(())
}

fn print(time_us: u64, bytes: &mut [u8], secret: Option<&Secret>) {
    let frame = match secret {
        Some((cipher, model)) => AnyFrame::open(cipher, *model, (time_us / 10_000) as u32, bytes),
        None => AnyFrame::decode(bytes),
    };
    let seconds = time_us as f64 / 1e6;
    let (name, sender, [x, y, vx, vy]) = match frame {
        Ok(AnyFrame::Exact(frame)) => ("exact", frame.header.sender.get(), frame.state.0),
        Ok(AnyFrame::Dot154(frame)) => ("dot154", frame.header.sender.get(), frame.state.0),
        Ok(AnyFrame::EspNow(frame)) => ("espnow", frame.header.sender.get(), frame.state.0),
        Ok(AnyFrame::Esb32(frame)) => ("esb32", frame.header.sender.into(), frame.state.get()),
        Ok(AnyFrame::P2p57(frame)) => ("p2p57", frame.header.sender.get(), frame.state.get()),
        Ok(AnyFrame::Poses(frame)) => {
            print!("{seconds:.3} s: poses from {}", frame.header.sender.get());
            for (robot, pose) in frame.poses() {
                let ([x, y], degrees) = (pose.position, f64::from(pose.heading) * 360.0 / 65_536.0);
                print!(", {robot} at {x:.3} {y:.3} {degrees:.2}");
            }
            println!();
            return;
        }
        other => {
            println!("{seconds:.3} s: {other:?}");
            return;
        }
    };
    println!("{seconds:.3} s: {name} from {sender}: position {x:.3} {y:.3}, velocity {vx:.3} {vy:.3}");
}
