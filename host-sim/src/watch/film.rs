//! What there is to see of a flight, tick by tick.

use wdgnn_core::task::State as _;

use crate::{flight::Moment, world::World};

/// A robot at a tick.
#[derive(Clone, Copy, Debug)]
pub struct Robot {
    /// Where it is, in metres.
    pub place: [f64; 2],
    /// How it moves, in m/s; zero where states tell nothing of it.
    pub velocity: [f64; 2],
    /// Whether it is in the sky.
    pub here: bool,
    /// Whether its word counts.
    pub honest: bool,
}

/// A tick.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Everybody.
    pub robots: Vec<Robot>,
    /// Links between robots.
    pub links: usize,
    /// The score.
    pub score: f64,
}

/// A flight so far.
#[derive(Clone, Debug)]
pub struct Film {
    /// What flies.
    pub title: String,
    /// What is scored.
    pub score: &'static str,
    /// Length of a tick, in seconds.
    pub period: f64,
    /// Ticks from beginning to end.
    pub ticks: u32,
    /// What happened last, besides.
    pub story: String,
    pictures: Vec<Picture>,
}

impl Film {
    /// Nothing yet.
    pub fn new<W: World>(title: &str, period: f32, ticks: u32) -> Self {
        let (title, story) = (title.to_owned(), String::new());
        Self { title, score: W::SCORE, period: period.into(), ticks, story, pictures: Vec::new() }
    }

    /// How many ticks there are.
    pub fn len(&self) -> usize {
        self.pictures.len()
    }

    /// A tick, if it was seen.
    pub fn picture(&self, tick: usize) -> Option<&Picture> {
        self.pictures.get(tick)
    }

    /// The scores up to a tick.
    pub fn scores(&self, tick: usize) -> impl Iterator<Item = f64> {
        self.pictures.iter().take(tick + 1).map(|picture| picture.score)
    }

    /// Sees one more.
    pub fn see<W: World>(&mut self, moment: &Moment<'_, W>) {
        let scene = &moment.scene;
        let velocity = W::layout().velocity;
        let robots = scene.states.iter().zip(scene.places).enumerate().map(|(robot, (state, [x, y, _]))| {
            let numbers = state.numbers();
            let speeds = numbers.as_ref().get(velocity.clone()).unwrap_or_default();
            let along = |axis: usize| f64::from(speeds.get(axis).copied().unwrap_or_default());
            Robot {
                place: [f64::from(*x), f64::from(*y)],
                velocity: [along(0), along(1)],
                here: moment.swarm.in_sky(robot),
                honest: moment.swarm.counts(robot),
            }
        });
        let robots: Vec<Robot> = robots.collect();
        let links = (0..robots.len()).map(|robot| scene.links.of(robot).len()).sum::<usize>() / 2;
        let score = moment.world.score(scene.tick, scene.states);
        self.pictures.push(Picture { robots, links, score });
    }
}
