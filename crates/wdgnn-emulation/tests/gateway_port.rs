//! Serial port of a gateway: a pseudo-terminal that answers like other devices.

#![cfg(unix)]
#![forbid(unsafe_code)]

use std::{
    fs::File,
    io::{Read as _, Write as _},
    path::Path,
    sync::atomic::AtomicBool,
    thread,
};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use wdgnn_emulation::gateway::{
    flight::{Flight, Settings},
    port,
};
use wdgnn_link::tdma::SlotTiming;
use wdgnn_protocol::event::{GatewayEvent, Hello, MAX_EVENT_LEN};
use wdgnn_sim::{models, profiles::Profile};

/// Returns the error of a flight with a device that sends these bytes.
fn refusal(answer: &[u8]) -> String {
    let line = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
    grantpt(&line).and_then(|()| unlockpt(&line)).expect("its other end");
    let name = ptsname(&line, Vec::new()).expect("its name").into_string().expect("a path");
    let mut line = File::from(line);
    let model = models::for_profile(Profile::Dot154).expect("a model");
    let settings = Settings {
        weights: model.weights(),
        simulated: vec![],
        robots: 4,
        radius: 2.0,
        key: None,
        chance: 5,
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            // The device answers the first request.
            line.read_exact(&mut [0]).expect("a request");
            line.write_all(answer).expect("an answer");
        });
        let stop = AtomicBool::new(false);
        let flown = port::fly(Path::new(&name), &mut Flight::new(settings), &stop, |_| false);
        flown.expect_err("not a gateway of this version").to_string()
    })
}

#[test]
fn silent_outdated_and_foreign_gateways_are_refused() {
    let mut other = [0; MAX_EVENT_LEN];
    let timing = SlotTiming { period: 0, interval: 0, slots: 0, lead: 0, slot: 0, delay: 0, retry: 0 };
    let hello = Hello { version: 9, profile: 2, boot_id: 0, timing };
    let length = GatewayEvent::Hello(hello).encode(&mut other).expect("room");
    for (answer, message) in [
        (&[][..], "is silent: is it flashed"),
        (b"NMEA\0$GPGGA\0", "is not a gateway: its messages are unknown"),
        (&other[..length], "the gateway has message version 9, this program 2"),
    ] {
        let refusal = refusal(answer);
        assert!(refusal.contains(message), "{refusal}");
    }
}
