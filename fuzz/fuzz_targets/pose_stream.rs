//! Reads the companion's serial line as the firmware does, in pieces of any size.
//!
//! There is no panic, a tick reads a bounded number of bytes, and a pose after a zero byte is read whatever
//! precedes it.
#![no_main]

use core::convert::Infallible;

use embedded_io::{ErrorType, Read, ReadReady};
use firmware::io::companion::PoseSensor;
use libfuzzer_sys::fuzz_target;
use wdgnn_core::tasks::flocking::Motion;
use wdgnn_protocol::companion::{MAX_MESSAGE, PoseMessage, encode};
use wdgnn_robot::ports::{Measurement, Sensor};

/// A line that delivers its bytes in pieces.
struct Line {
    bytes: Vec<u8>,
    read: usize,
    piece: usize,
}

impl ErrorType for Line {
    type Error = Infallible;
}

impl ReadReady for Line {
    fn read_ready(&mut self) -> Result<bool, Infallible> {
        Ok(self.read < self.bytes.len())
    }
}

impl Read for Line {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
        let rest = &self.bytes[self.read..];
        let count = rest.len().min(buffer.len()).min(self.piece);
        buffer[..count].copy_from_slice(&rest[..count]);
        self.read += count;
        Ok(count)
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((piece, stream)) = input.split_first() else { return };
    let message =
        PoseMessage { motion: Motion { position: [1.0, 2.0], velocity: [3.0, 4.0] }, number: 7, age_ms: 20 };
    let mut good = [0; MAX_MESSAGE];
    let length = encode(&message, &mut good).expect("the buffer is long enough");
    let bytes = [stream, &[0], &good[..length]].concat();
    let mut pose = PoseSensor::new(Line { bytes, read: 0, piece: 1 + usize::from(piece % 40) });
    let (mut newest, mut before) = (None, 0);
    while pose.serial_mut().read < pose.serial_mut().bytes.len() {
        let sensed: Result<Measurement<Motion>, _> = pose.sense();
        newest = sensed.ok().or(newest);
        let read = pose.serial_mut().read;
        assert!(read > before && read - before <= 1_000, "{} bytes in a tick", read - before);
        before = read;
    }
    assert_eq!(newest, Some(Measurement { state: message.motion, age: 2 }), "the last pose is the newest");
    assert_eq!(pose.number(), 7);
});
