//! A capture or a serial line: never a panic, and every byte is accounted for.
#![no_main]

use host_sim::{
    capture,
    pcap::{LinkType, Reader},
    sniff::{Ear, Splitter},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut ear = Ear::new(0xdead_beef);
    if let Some(mut reader) = Reader::new(bytes) {
        let link = LinkType::from_code(reader.link);
        let mut read = 24;
        for packet in reader.by_ref() {
            read += 16 + packet.bytes.len();
            if let Some(frame) = link.and_then(|link| capture::frame(link, packet.bytes)) {
                ear.listen(frame);
            }
        }
        assert_eq!(read + reader.skipped as usize, bytes.len());
    }
    ear.key = Some(*b"a swarm's secret");
    let mut splitter = Splitter::default();
    splitter.feed(bytes, |frame| {
        ear.listen(frame);
    });
    splitter.finish();
    assert!(splitter.skipped as usize <= bytes.len());
});
