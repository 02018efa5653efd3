//! One swarm twice, side by side, as an animated GIF: left the network as it was trained, right the same robots learning in flight; below
//! them, the velocity variation of both over time, on a logarithmic scale.
//!
//! Seen from the middle of each swarm, without links or ground: what moves is what robots do against each other, and a file of all that
//! moves stays small.

use std::sync::atomic::AtomicBool;

use gif::{Encoder, Frame, Repeat};

use super::canvas::{Canvas, Colour, Point};
use crate::{
    error::{Error, Result},
    flight::{Moment, Observer, Start},
    lineup::{Controller, Lineup, OFFLINE, ONLINE},
    seeds::{Purpose, generator},
    world::{Condition, flock::Flock},
};

/// Six seconds, at the pace of the world.
const TICKS: u32 = 600;
/// Ticks from one picture to the next, and hundredths of a second that it stays: a tick is one.
const STRIDE: u16 = 5;
/// The last one stays longer.
const LAST: u16 = 150;

const WIDTH: usize = 720;
const HEIGHT: usize = 384;
/// Where the two swarms are: `[left, top, right, bottom]`.
const PANES: [[usize; 4]; 2] = [[0, 0, 354, 304], [366, 0, 720, 304]];
/// Where the curves are.
const CURVES: [usize; 4] = [0, 312, 720, 384];
/// The ends of the curves' logarithmic scale, in m²/s².
const SCORES: [f64; 2] = [2.0e-5, 20.0];

/// The colours of the page, in the light.
const PAPER: Colour = [251, 251, 249];
const GRID: usize = 0;
const SIDES: [usize; 2] = [1, 2];
const INKS: [Colour; 3] = [[232, 235, 239], [200, 83, 10], [11, 95, 165]];
/// Robots from those that fly with the swarm to those that fly against it.
const SHADES: usize = 20;
const STOPS: [[f32; 3]; 4] =
    [[45.0, 155.0, 212.0], [130.0, 92.0, 204.0], [163.0, 42.0, 138.0], [168.0, 0.0, 40.0]];
/// Deviations from the mean velocity that their ends stand for, in m/s, on a logarithmic scale.
const DEVIATIONS: [f32; 2] = [0.02, 3.0];
/// Lines from robots are as long as their deviation takes them in this time, in seconds, and no longer than so many metres.
const AHEAD: f32 = 0.5;
const LONGEST: f32 = 1.5;

/// The colour of what has not changed: none of the palette's.
const SAME: u8 = 255;

/// Robots at a tick: place and velocity.
type Robots = Vec<([f32; 2], [f32; 2])>;

/// Writes down every so many-th tick.
#[derive(Debug, Default)]
struct Film(Vec<Robots>);

impl Observer<Flock> for Film {
    fn see(&mut self, moment: &Moment<'_, Flock>) -> Result {
        if moment.scene.tick.is_multiple_of(STRIDE.into()) {
            let robots = moment.scene.states.iter().map(|motion| (motion.position, motion.velocity));
            self.0.push(robots.collect());
        }
        Ok(())
    }
}

/// Flies the first held-out swarm of a seed twice and draws it.
///
/// # Errors
/// Models that do not fit, conditions that cannot be.
pub fn flock(lineup: &Lineup<Flock>, condition: &Condition, seed: u64) -> Result<Vec<u8>> {
    let condition = Condition { ticks: TICKS, ..*condition };
    let start = Start::draw(&lineup.world, &condition, &mut generator(seed, Purpose::Testing, 0))?;
    let fly = |name: &str| -> Result<(Film, Vec<f64>)> {
        let mut swarm = lineup.swarm(&Controller::named(name)?, &start, 0)?;
        let mut film = Film::default();
        let flight = start.fly(&lineup.task()?, swarm.as_mut(), &mut [&mut film], &AtomicBool::new(false))?;
        Ok((film, flight.score))
    };
    let sides = [fly(OFFLINE)?, fly(ONLINE)?];
    encode(&sides).map_err(|error| Error::usage(format!("the animation cannot be made: {error}")))
}

fn encode(sides: &[(Film, Vec<f64>); 2]) -> std::result::Result<Vec<u8>, gif::EncodingError> {
    let mut inks = INKS.to_vec();
    inks.extend((0..SHADES).map(shade));
    let mut bytes = Vec::new();
    let palette = Canvas::palette(PAPER, &inks);
    let mut encoder = Encoder::new(&mut bytes, WIDTH as u16, HEIGHT as u16, &palette)?;
    encoder.set_repeat(Repeat::Infinite)?;
    let reach = sides.iter().flat_map(|(film, _)| film.0.iter().map(|robots| view(robots).1));
    // One scale for all: what grows on the screen grows.
    let scale = (PANES[0][3] - PANES[0][1]) as f32 / 2.0 / reach.fold(1.0, f32::max);
    let frames = sides[0].0.0.len();
    let mut before = Vec::new();
    for frame in 0..frames {
        let mut canvas = Canvas::new(WIDTH, HEIGHT);
        for (side, (film, _)) in sides.iter().enumerate() {
            draw_swarm(&mut canvas, &film.0[frame], scale, side);
        }
        draw_curves(&mut canvas, sides, frame * usize::from(STRIDE));
        let (width, height) = (WIDTH as u16, HEIGHT as u16);
        let delay = if frame + 1 == frames { LAST } else { STRIDE };
        let buffer = changed(&before, canvas.pixels()).into();
        encoder.write_frame(&Frame {
            width,
            height,
            delay,
            buffer,
            transparent: Some(SAME),
            ..Frame::default()
        })?;
        before = canvas.pixels().to_vec();
    }
    drop(encoder);
    Ok(bytes)
}

/// What is different from the picture before, which stays where it is not.
fn changed(before: &[u8], now: &[u8]) -> Vec<u8> {
    let before = before.iter().map(Some).chain(std::iter::repeat(None));
    now.iter().zip(before).map(|(now, before)| if before == Some(now) { SAME } else { *now }).collect()
}

/// The middle of a swarm, and how far it reaches from there.
fn view(robots: &Robots) -> ([f32; 2], f32) {
    let ends = [0, 1].map(|axis| {
        let along = robots.iter().map(|(place, _)| place[axis]);
        (along.clone().fold(f32::INFINITY, f32::min), along.fold(f32::NEG_INFINITY, f32::max))
    });
    let reach = ends.iter().map(|(low, high)| 0.56 * (high - low)).fold(0.0, f32::max);
    (ends.map(|(low, high)| f32::midpoint(low, high)), reach)
}

fn draw_swarm(canvas: &mut Canvas, robots: &Robots, scale: f32, side: usize) {
    let window @ [left, top, right, bottom] = PANES[side];
    let (middle, _) = view(robots);
    let centre = [(left + right) as f32 / 2.0, (top + bottom) as f32 / 2.0];
    // Upwards is up; on whole pixels, so that what stands still does so on the screen.
    let at = |place: &[f32; 2]| -> Point {
        [centre[0] + scale * (place[0] - middle[0]), centre[1] - scale * (place[1] - middle[1])]
            .map(f32::round)
    };
    let share = 1.0 / robots.len() as f32;
    let mean = [0, 1].map(|axis| robots.iter().map(|(_, velocity)| velocity[axis] * share).sum::<f32>());
    for (place, velocity) in robots {
        draw_robot(canvas, at(place), *velocity, mean, scale, window);
    }
    canvas.fill(&corners([left, top, right, top + 3]), SIDES[side], window);
}

/// A dart, and a line that tells how it flies against the swarm.
fn draw_robot(
    canvas: &mut Canvas,
    [x, y]: Point,
    velocity: [f32; 2],
    mean: [f32; 2],
    scale: f32,
    window: [usize; 4],
) {
    const SIZE: f32 = 8.0;
    let off = [velocity[0] - mean[0], velocity[1] - mean[1]];
    let deviation = (off[0] * off[0] + off[1] * off[1]).sqrt();
    let share = (deviation.max(1.0e-9) / DEVIATIONS[0]).ln() / (DEVIATIONS[1] / DEVIATIONS[0]).ln();
    let ink = INKS.len() + (share.clamp(0.0, 1.0) * (SHADES - 1) as f32).round() as usize;
    if deviation > DEVIATIONS[0] {
        let ahead = scale * AHEAD.min(LONGEST / deviation);
        canvas.line([x, y], [x + ahead * off[0], y - ahead * off[1]], 1.8, ink, window);
    }
    let speed = (velocity[0] * velocity[0] + velocity[1] * velocity[1]).sqrt().max(1.0e-6);
    let [c, s] = [velocity[0] / speed * SIZE, -velocity[1] / speed * SIZE];
    let dart = [
        [x + c, y + s],
        [x - 0.75 * c + 0.62 * s, y - 0.75 * s - 0.62 * c],
        [x - 0.35 * c, y - 0.35 * s],
        [x - 0.75 * c - 0.62 * s, y - 0.75 * s + 0.62 * c],
    ];
    canvas.fill(&dart, ink, window);
}

/// Both scores up to a tick.
fn draw_curves(canvas: &mut Canvas, sides: &[(Film, Vec<f64>); 2], until: usize) {
    let [left, top, right, bottom] = CURVES;
    let [low, high] = SCORES.map(f64::log10);
    let y = |score: f64| {
        let share = ((score.max(SCORES[0]).log10() - low) / (high - low)).min(1.0) as f32;
        bottom as f32 - 2.0 - share * (bottom - top - 4) as f32
    };
    let x = |tick: usize| left as f32 + (right - left) as f32 * tick as f32 / TICKS as f32;
    for power in -4..=1 {
        let height = y(10_f64.powi(power)).round();
        canvas.line([left as f32, height], [right as f32, height], 1.0, GRID, CURVES);
    }
    for (side, (_, score)) in sides.iter().enumerate() {
        for tick in 0..until.min(score.len().saturating_sub(1)) {
            let [from, to] = [tick, tick + 1].map(|tick| [x(tick), y(score[tick])]);
            canvas.line(from, to, 2.2, SIDES[side], CURVES);
        }
    }
}

fn corners([left, top, right, bottom]: [usize; 4]) -> [Point; 4] {
    let [left, top, right, bottom] = [left, top, right, bottom].map(|x| x as f32);
    [[left, top], [right, top], [right, bottom], [left, bottom]]
}

fn shade(index: usize) -> Colour {
    let at = index as f32 / (SHADES - 1) as f32 * (STOPS.len() - 1) as f32;
    let first = (at as usize).min(STOPS.len() - 2);
    let share = at - first as f32;
    [0, 1, 2].map(|part| {
        (STOPS[first][part] + share * (STOPS[first + 1][part] - STOPS[first][part])).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        recipe::RecipeName,
        world::{World as _, flock::bodies::Quirks},
    };

    #[test]
    fn an_animation_is_read_back_with_all_its_pictures() {
        let mut lineup = Lineup::shipped(RecipeName::Through).unwrap();
        lineup.world = Flock::with(Quirks { delay: 8, ..Quirks::default() });
        let condition = Condition { robots: 12, ..Flock::<2>::condition() };
        let bytes = flock(&lineup, &condition, 1).unwrap();
        let mut decoder = gif::DecodeOptions::new().read_info(&bytes[..]).unwrap();
        let mut delays = Vec::new();
        let mut moved = Vec::new();
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            assert_eq!((usize::from(frame.width), usize::from(frame.height)), (WIDTH, HEIGHT));
            delays.push(frame.delay);
            moved.push(frame.buffer.iter().any(|pixel| *pixel != SAME));
        }
        assert_eq!(delays.len(), TICKS as usize / usize::from(STRIDE));
        assert_eq!(delays.last(), Some(&LAST));
        assert!(moved.iter().all(|moved| *moved), "{moved:?}");
    }
}
