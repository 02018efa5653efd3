//! Frames of an insider with any content and identity: robots stay within their limits.
//!
//! The property of the fuzz target `resealed`, on some thousand seeded frames of every encoding.

use crate::common::prelude::*;

const KEY: Key = *b"a swarm's secret";
const TICKS: u32 = 120;
const FRAMES_A_TICK: u32 = 12;
/// All addresses of the swarm except the listener's, 1.
const ROSTER: std::ops::Range<u16> = 2..10;

type Said = BeaconOf<FoldedNet, Flocking>;

/// Numbers that an attacker sends.
const NUMBERS: [f32; 10] =
    [0.0, 1.0, -1.0e6, LARGEST, -LARGEST, f32::NAN, f32::INFINITY, f32::MAX, 1.0e-40, f32::MIN_POSITIVE];

/// Content of a valid frame with a few wrong numbers, random bytes, or another length. `None` if the header cannot hold the sequence.
fn content<C: Codec>(random: &mut ChaCha8Rng, codec: &C, link: &Link, said: &Said) -> Option<Vec<u8>> {
    let mut frame = [0; 512];
    let index = random.random_range(0..C::FRAMES);
    let length = codec.encode(link, said, random.random_range(0..50), index, &mut frame)?;
    let mut content = frame[C::header_bytes()..length].to_vec();
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

fn held_within_limits<C: Codec + Copy, const TAG: usize>(codec: C, seed: u64) -> [u32; 2] {
    let rule = Learning { mixing: Mixing::Uniform, ..Learning::paper(0.5) };
    let behavior = Behaviour::new(rule).robust();
    assert!(behavior.probation > 0 && behavior.learning.clip > 0.0 && behavior.learning.ball > 0.0);
    let mut random = seeded(seed);
    let mut listener: RobotOn<_> = robot_on(1, behavior, SealedWith::<C, Aes, TAG>::new(codec, &KEY));
    let offline = *listener.model().offline();
    let link = *listener.link();
    let [mut accepted, mut refused] = [0; 2];
    for tick in 0..TICKS {
        assert!(listener.sense(tick, seen(REST)));
        for number in 0..FRAMES_A_TICK {
            let sender = random.random_range(ROSTER);
            // Each sender has its own position, so that unmodified states are plausible.
            let angle = f32::from(sender);
            let state = Motion { position: [2.0 * angle.cos(), 2.0 * angle.sin()], velocity: [0.0; 2] };
            let mut said = neighbor_beacon(&mut random, listener.model(), sender, state);
            // Sequences increase; a few are random.
            said.sequence = tick * C::FRAMES + number % C::FRAMES;
            if random.random_bool(0.05) {
                (said.boot, said.sequence) = (random.random_range(0..3), random.random());
            }
            let Some(content) = content(&mut random, &codec, &link, &said) else { continue };
            let bits = if random.random_bool(0.02) { 1 << random.random_range(0..8) } else { 0 };
            let insider = Insider { codec, content: &content, flip: (random.random_range(0..30), bits) };
            let mut frame = [0; 640];
            let sealed = SealedWith::<_, Aes, TAG>::new(insider, &KEY);
            let Some(length) = sealed.encode(&link, &said, tick, 0, &mut frame) else { continue };
            let counted = if listener.hear(&mut frame[..length].to_vec()).is_ok() {
                &mut accepted
            } else {
                &mut refused
            };
            *counted += 1;
            assert!(listener.hear(&mut frame[..length].to_vec()).is_err(), "no frame is accepted twice");
        }
        listener.conclude();
        let (command, _) = listener.guard();
        assert!(command.iter().all(|u| u.abs() <= TASK.limit), "{command:?} in tick {tick}");
        assert!(listener.wide().admissible());
        let off = listener.wide().distance(&offline) / offline.norm();
        assert!(off <= behavior.learning.ball * 1.001, "{off} of the norm in tick {tick}");
        assert!(
            listener.neighbours().all(|n| n.beacon.sender != listener.id()),
            "no robot is its own neighbor"
        );
        let numbers = |n: &Motion| n.position.into_iter().chain(n.velocity).all(f32::is_finite);
        assert!(listener.neighbours().all(|n| numbers(&n.beacon.state) && n.beacon.wide.admissible()));
    }
    [accepted, refused]
}

#[test]
fn robots_stay_within_limits_for_every_frame_of_an_insider() {
    for seed in 0..3 {
        for (profile, [accepted, refused]) in [
            ("exact", held_within_limits::<_, 8>(Exact, seed)),
            ("dot154", held_within_limits::<_, 8>(Dot154::default(), seed)),
            ("espnow", held_within_limits::<_, 8>(EspNow::default(), seed)),
            ("esb32", held_within_limits::<_, 4>(Esb32, seed)),
        ] {
            // Both branches behind the tag must be reached.
            assert!(accepted > 50 && refused > 50, "{profile}: {accepted} accepted, {refused} refused");
        }
    }
}
