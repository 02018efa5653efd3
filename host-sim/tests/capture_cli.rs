//! Pcap files of `--capture`.

use std::path::Path;

use host_sim::{
    medium::any_link::{AnyLink, AnyLinkOf, RobotKeys},
    model::ModelFile,
    models,
    profiles::Profile,
    recipe::RecipeName,
};
use wdgnn_core::{
    message::{AgentMessage, Message},
    task::State as _,
    tasks::flocking::{Flocking, Motion},
};
use wdgnn_link::{
    link::{MessageLink as _, RadioLink as _},
    security::key::Key,
};
use wdgnn_protocol::mac;
use wdgnn_robot::onboard::FlockingModel;

use crate::program::{folder, text};

const KEY: Key = *b"a swarm's secret";

type Link = AnyLinkOf<FlockingModel<'static>, Flocking>;
type Decoded = AgentMessage<FlockingModel<'static>, Flocking>;

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
fn capture(folder: &Path, options: &str) -> Vec<u8> {
    text(folder, &format!("run --robots 5 --ticks 20 --capture swarm.pcap {options}"));
    std::fs::read(folder.join("swarm.pcap")).expect("a pcap file")
}

/// Creates a link that reads the frames of robots with the shipped model.
fn link(profile: Profile, key: Option<&Key>) -> Link {
    let model: ModelFile = models::for_profile(RecipeName::Ours, profile).expect("a model");
    AnyLink::new(profile, model.weights().checksum, key.map(|group| RobotKeys { group, own: None }))
}

/// Decodes a frame at its tick.
fn decode(link: &mut Link, frame: &[u8]) -> Decoded {
    let tick = link.frame_id(0, frame).expect("a header").sequence / link.frames_per_exchange();
    let mut message = Message::empty(Motion::zero());
    link.receive(tick, &mut frame.to_vec(), &mut message).expect("a frame that the robots sent");
    message
}

#[test]
fn captures_contain_all_frames() {
    let folder = folder();
    let file = capture(folder.path(), "");
    let (kind, packets) = packets(&file);
    assert_eq!((kind, packets.len()), (147, 100), "too long for IEEE 802.15.4: as they are");
    let mut link = link(Profile::Exact, None);
    for (index, (microseconds, frame)) in (0..).zip(packets) {
        let message = decode(&mut link, frame);
        let tick: u32 = index / 5;
        assert_eq!((u32::from(message.sender), message.tick), (index % 5, tick));
        assert_eq!(microseconds, u64::from(tick) * 10_000);
    }
}

#[test]
fn frames_of_an_802_15_4_radio_are_broadcasts_with_a_checksum() {
    let folder = folder();
    let file = capture(folder.path(), "--profile dot154");
    let (kind, packets) = packets(&file);
    assert_eq!((kind, packets.len()), (195, 20), "four exchanges of five robots");
    let mut link = link(Profile::Dot154, None);
    for (_, packet) in packets {
        let (body, checksum) = packet.split_last_chunk().expect("a checksum");
        assert_eq!(crc::Crc::<u16>::new(&crc::CRC_16_KERMIT).checksum(body), u16::from_le_bytes(*checksum));
        let (_, frame) = mac::parse(body).expect("a robot's broadcast");
        assert!(decode(&mut link, frame).sender < 5);
    }
}

#[test]
fn sealed_frames_are_captured_sealed_and_open_with_the_key() {
    let folder = folder();
    std::fs::write(folder.path().join("swarm.key"), KEY).expect("it is written");
    // Five robots and four exchanges.
    for (profile, frames_per_exchange) in [(Profile::Esb32, 4), (Profile::P2p57, 2)] {
        let file = capture(folder.path(), &format!("--profile {} --key swarm.key", profile.name()));
        let (kind, frames) = packets(&file);
        assert_eq!((kind, frames.len()), (147, 20 * frames_per_exchange));
        let mut link = link(profile, Some(&KEY));
        for (_, frame) in frames {
            assert!(decode(&mut link, frame).sender < 5);
        }
    }
}
