//! Pcap files of `--capture`.

use std::path::Path;

use host_sim::{
    model::ModelFile,
    models,
    profiles::Profile,
    recipe::{Architecture, RecipeName},
};
use wdgnn_core::{
    filter::{NoDelayLine, Stacked},
    message::Message,
    tasks::flocking::Motion,
    tensor::Filter,
};
use wdgnn_link::{
    encoding::{Codec, esb32::Esb32, exact::Exact, half::Dot154, p2p57::P2p57},
    error::FrameError,
    header::{Link, Payload},
    security::{
        group_key::{Sealed, SealedEsb32},
        key::Key,
    },
};
use wdgnn_protocol::mac;
use wdgnn_robot::onboard::{FEATURES, OUTPUTS, TAPS};

use crate::program::host_sim;

const KEY: Key = *b"a swarm's secret";

type Decoded = Message<Motion, Stacked<TAPS, FEATURES, NoDelayLine>, Filter<TAPS, FEATURES, OUTPUTS>>;

/// Returns the link type of a pcap file and its packets with times in µs.
fn packets(file: &[u8]) -> (u32, Vec<(u64, &[u8])>) {
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().expect("a word"));
    let mut rest = &file[24..];
    let mut packets = Vec::new();
    while !rest.is_empty() {
        let microseconds = u64::from(word(rest, 0)) * 1_000_000 + u64::from(word(rest, 4));
        let (packet, behind) = rest[16..].split_at(word(rest, 8) as usize);
        packets.push((microseconds, packet));
        rest = behind;
    }
    (word(file, 20), packets)
}

/// Runs five robots for 20 ticks and returns the pcap file.
fn capture(folder: &Path, options: &[&str]) -> Vec<u8> {
    let swarm = ["run", "--robots", "5", "--ticks", "20", "--capture", "swarm.pcap"];
    let output = host_sim(folder, &[&swarm[..], options].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(folder.join("swarm.pcap")).expect("a pcap file")
}

/// Decodes a frame at its tick.
fn decode<P: Codec>(codec: &mut P, model: &ModelFile, frame: &[u8]) -> Decoded {
    let link = Link { profile: P::profile(true), checksum: model.weights().checksum };
    let tick = P::identity(frame, 0).expect("a header").sequence / P::FRAMES;
    let decoded: Result<(Decoded, Payload), FrameError> = codec.decode(&link, tick, frame);
    decoded.expect("a frame that the robots sent").0
}

#[test]
fn captures_contain_all_frames() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = capture(folder.path(), &[]);
    let (link, packets) = packets(&file);
    assert_eq!((link, packets.len()), (147, 100), "too long for IEEE 802.15.4: as they are");
    let model = models::shipped(RecipeName::Ours, Architecture::WdGnn).expect("a model");
    for (index, (microseconds, frame)) in (0..).zip(packets) {
        let beacon = decode(&mut Exact, &model, frame);
        let tick: u32 = index / 5;
        assert_eq!((u32::from(beacon.sender), beacon.sequence), (index % 5, tick));
        assert_eq!(microseconds, u64::from(tick) * 10_000);
    }
}

#[test]
fn frames_of_an_802_15_4_radio_are_broadcasts_with_a_checksum() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = capture(folder.path(), &["--profile", "dot154"]);
    let (link, packets) = packets(&file);
    assert_eq!((link, packets.len()), (195, 20), "four exchanges of five robots");
    let model = models::for_profile(RecipeName::Ours, Profile::Dot154).expect("a model");
    for (_, packet) in packets {
        let (body, checksum) = packet.split_last_chunk().expect("a checksum");
        assert_eq!(crc::Crc::<u16>::new(&crc::CRC_16_KERMIT).checksum(body), u16::from_le_bytes(*checksum));
        let (_, frame) = mac::parse(body).expect("a robot's broadcast");
        assert!(decode(&mut Dot154::default(), &model, frame).sender < 5);
    }
}

#[test]
fn sealed_frames_are_captured_sealed_and_open_with_the_key() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("swarm.key"), KEY).expect("it is written");
    let sealed = |profile| capture(folder.path(), &["--profile", profile, "--key", "swarm.key"]);
    let model = models::for_profile(RecipeName::Ours, Profile::Esb32).expect("a model");
    // Five robots, four exchanges, four frames each.
    let file = sealed("esb32");
    let (link, frames) = packets(&file);
    assert_eq!((link, frames.len()), (147, 80));
    let mut codec = SealedEsb32::new(Esb32, &KEY);
    for (_, frame) in frames {
        assert!(decode(&mut codec, &model, frame).sender < 5);
    }
    // Two frames each.
    let file = sealed("p2p57");
    let (link, frames) = packets(&file);
    assert_eq!((link, frames.len()), (147, 40));
    let mut codec = Sealed::new(P2p57, &KEY);
    for (_, frame) in frames {
        assert!(decode(&mut codec, &model, frame).sender < 5);
    }
}
