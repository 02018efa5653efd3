//! Frames of an insider with any content and identity: robots stay within their limits.
//!
//! The property of the fuzz target `resealed`, on some thousand seeded frames of every encoding.

use crate::common::prelude::*;

const KEY: Key = *b"a swarm's secret";
const TICKS: u32 = 120;
const FRAMES_A_TICK: u32 = 12;
/// All addresses of the swarm except the listener's, 1.
const ROSTER: std::ops::Range<u16> = 2..10;

/// Numbers that an attacker sends.
const NUMBERS: [f32; 10] = [
    0.0,
    1.0,
    -1.0e6,
    MAX_ADMISSIBLE,
    -MAX_ADMISSIBLE,
    f32::NAN,
    f32::INFINITY,
    f32::MAX,
    1.0e-40,
    f32::MIN_POSITIVE,
];

/// Content of a valid frame with a few wrong numbers, random bytes, or another length. `None` if the header cannot hold the sequence.
fn content<E: Encoding>(
    random: &mut ChaCha8Rng, out: &OutgoingMessage<'_, Motion, Taps, Wide>,
) -> Option<Vec<u8>> {
    let mut frame = [0; 512];
    let index = random.random_range(0..E::FRAMES_PER_EXCHANGE);
    let out = OutgoingMessage { round: random.random_range(0..50), ..*out };
    let length = E::encode(&out, index, &mut frame)?;
    let mut content = frame[E::HEADER_LEN..length].to_vec();
    match random.random_range(0..20) {
        0 => random.fill_bytes(&mut content),
        1 => content.resize(random.random_range(0..300), random.random()),
        2..6 => {
            let number = NUMBERS[random.random_range(0..NUMBERS.len())];
            // Half-precision, fixed-point and count fields have two bytes.
            let all = number.to_le_bytes();
            let bytes = if random.random_bool(0.5) { &all[..] } else { &all[2..] };
            let at = random.random_range(0..=content.len() - bytes.len());
            content[at..at + bytes.len()].copy_from_slice(bytes);
        }
        _ => {}
    }
    Some(content)
}

fn held_within_limits<E: Encoding + core::fmt::Debug, const TAG: usize>(seed: u64) -> [u32; 2] {
    let rule = Learning { mixing: Mixing::Uniform, ..Learning::paper(0.5) };
    let config = config(rule).robust();
    let learning = config.agent.learning;
    assert!(config.trust.probation_frames() > 0 && learning.clip > 0.0 && learning.ball > 0.0);
    let mut random = seeded(seed);
    let mut listener = robot_on(1, config, sealed_link::<E, TAG>(&KEY));
    let model = config.agent.model;
    let offline = *model.offline();
    let [mut accepted, mut rejected] = [0; 2];
    for tick in 0..TICKS {
        assert!(listener.sense(tick, seen(REST)));
        for number in 0..FRAMES_A_TICK {
            let sender = random.random_range(ROSTER);
            // Each sender has its own position, so that unmodified states are plausible.
            let angle = f32::from(sender);
            let state = Motion { position: [2.0 * angle.cos(), 2.0 * angle.sin()], velocity: [0.0; 2] };
            let message = neighbor_message(&mut random, &model, sender, state);
            // Sequences increase; a few are random.
            let (mut boot, mut sequence) =
                (0, tick * E::FRAMES_PER_EXCHANGE + number % E::FRAMES_PER_EXCHANGE);
            if random.random_bool(0.05) {
                (boot, sequence) = (random.random_range(0..3), random.random());
            }
            let out = OutgoingMessage { message: &message, boot, sequence, model: MODEL, round: tick };
            let Some(content) = content::<E>(&mut random, &out) else { continue };
            let bits = if random.random_bool(0.02) { 1 << random.random_range(0..8) } else { 0 };
            let insider = Insider { content: &content, flip: (random.random_range(0..30), bits) };
            let mut frame = [0; 640];
            let Some(length) = insider.write::<E, TAG, _, _, _>(&KEY, &out, &mut frame) else { continue };
            let result = listener.receive(&mut frame[..length].to_vec());
            *if result.is_ok() { &mut accepted } else { &mut rejected } += 1;
            assert!(listener.receive(&mut frame[..length].to_vec()).is_err(), "no frame is accepted twice");
        }
        let command = listener.finish().command;
        assert!(command.iter().all(|u| u.abs() <= TASK.limit), "{command:?} in tick {tick}");
        let wide = listener.agent().wide();
        assert!(wide.is_admissible());
        let off = wide.distance(&offline) / offline.norm();
        assert!(off <= learning.ball * 1.001, "{off} of the norm in tick {tick}");
        for neighbor in listener.neighbors() {
            assert_ne!(neighbor.message.sender, listener.id(), "no robot is its own neighbor");
            assert!(neighbor.message.state.is_admissible() && neighbor.message.wide.is_admissible());
        }
    }
    [accepted, rejected]
}

#[test]
fn robots_stay_within_limits_for_every_frame_of_an_insider() {
    for seed in 0..3 {
        for (profile, [accepted, rejected]) in [
            ("exact", held_within_limits::<Exact, 8>(seed)),
            ("dot154", held_within_limits::<Dot154, 8>(seed)),
            ("espnow", held_within_limits::<EspNow, 8>(seed)),
            ("esb32", held_within_limits::<Esb32, 4>(seed)),
        ] {
            // Both branches behind the tag must be reached.
            assert!(accepted > 50 && rejected > 50, "{profile}: {accepted} accepted, {rejected} rejected");
        }
    }
}
