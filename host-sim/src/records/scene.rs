//! A flight as a scene in three dimensions, for Foxglove and whoever reads MCAP: a sphere and an arrow per robot, and the score.

use std::path::PathBuf;

use serde_json::{Value, json};
use wdgnn_core::task::{State as _, Task as _};

use super::mcap::Mcap;
use crate::{
    error::Result,
    files,
    flight::{Moment, Observer},
    world::World,
};

/// Of a scene's update, the parts that are used. Readers know the rest by its name.
const SCENE: (&str, &str) = (
    "foxglove.SceneUpdate",
    r#"{"type":"object","properties":{"deletions":{"type":"array"},"entities":{"type":"array","items":{"type":"object"}}}}"#,
);

const SCORE: (&str, &str) = (
    "wdgnn.Score",
    r#"{"type":"object","properties":{"score":{"type":"number","description":"how bad things are; less is better"}}}"#,
);

/// A robot's diameter in metres, as it is drawn.
const DIAMETER: f32 = 0.1;

/// An arrow is as long as a robot goes in so many seconds.
const ARROW_SECONDS: f32 = 0.2;

/// Writes down a flight as a scene.
#[derive(Debug)]
pub struct Film {
    path: PathBuf,
    /// Control period in seconds.
    period: f32,
    log: Mcap,
    topics: (u16, u16),
}

impl Film {
    /// Writes to `path` how robots of a task move.
    #[must_use]
    pub fn new<W: World>(path: PathBuf, task: &W::Task) -> Self {
        let mut log = Mcap::default();
        let topics = (log.topic("/swarm", SCENE), log.topic("/score", SCORE));
        Self { path, period: task.period(), log, topics }
    }

    /// Writes the file.
    ///
    /// # Errors
    /// [`crate::error::Error::Write`].
    pub fn finish(self) -> Result {
        files::write(&self.path, &self.log.finish())
    }
}

fn point([x, y, z]: [f32; 3]) -> Value {
    json!({"x": x, "y": y, "z": z})
}

/// A sphere at a place.
fn sphere(place: [f32; 3]) -> Value {
    json!({
        "pose": {"position": point(place), "orientation": {"x": 0, "y": 0, "z": 0, "w": 1}},
        "size": point([DIAMETER; 3]),
        "color": {"r": 0.15, "g": 0.45, "b": 0.85, "a": 1},
    })
}

/// An arrow from a place along a velocity; none for a robot at rest.
fn arrow(place: [f32; 3], [x, y, z]: [f32; 3]) -> Option<Value> {
    let speed = (x * x + y * y + z * z).sqrt();
    // Half the way from the x axis to the velocity, and double it: the turn about the axis across both.
    let half = [x + speed, y, z];
    let length = (half[0] * half[0] + y * y + z * z).sqrt();
    if speed < 1.0e-3 {
        return None;
    }
    // Straight back there is no half way: half a turn about the z axis.
    let turn = if length < 1.0e-6 * speed {
        json!({"x": 0, "y": 0, "z": 1, "w": 0})
    } else {
        json!({"x": 0, "y": -half[2] / length, "z": half[1] / length, "w": half[0] / length})
    };
    let shaft = speed * ARROW_SECONDS;
    Some(json!({
        "pose": {"position": point(place), "orientation": turn},
        "shaft_length": shaft,
        "shaft_diameter": 0.2 * DIAMETER,
        "head_length": 0.5 * DIAMETER,
        "head_diameter": 0.4 * DIAMETER,
        "color": {"r": 0.85, "g": 0.55, "b": 0.1, "a": 1},
    }))
}

impl<W: World> Observer<W> for Film {
    fn see(&mut self, moment: &Moment<'_, W>) -> Result {
        let scene = &moment.scene;
        let layout = W::layout();
        let velocity = |state: &crate::world::StateOf<W>| {
            let numbers = state.numbers();
            let mut velocity = [0.0; 3];
            for (axis, at) in velocity.iter_mut().zip(layout.velocity.clone()) {
                *axis = numbers.as_ref().get(at).copied().unwrap_or_default();
            }
            velocity
        };
        let robots = scene.states.iter().zip(scene.places);
        let arrows: Vec<Value> = robots.filter_map(|(state, place)| arrow(*place, velocity(state))).collect();
        let spheres: Vec<Value> = scene.places.iter().map(|place| sphere(*place)).collect();
        let microseconds = (f64::from(self.period) * f64::from(scene.tick) * 1.0e6).round() as u64;
        let nanoseconds = 1000 * microseconds;
        let timestamp = json!({"sec": nanoseconds / 1_000_000_000, "nsec": nanoseconds % 1_000_000_000});
        let update = json!({"deletions": [], "entities": [{
            "timestamp": timestamp, "frame_id": "world", "id": "swarm", "lifetime": {"sec": 0, "nsec": 0},
            "frame_locked": false, "metadata": [], "arrows": arrows, "cubes": [], "spheres": spheres,
            "cylinders": [], "lines": [], "triangles": [], "texts": [], "models": [],
        }]});
        self.log.message(self.topics.0, nanoseconds, &update.to_string());
        let score = json!({"score": moment.world.score(scene.tick, scene.states)});
        self.log.message(self.topics.1, nanoseconds, &score.to_string());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where an arrow points: the x axis, turned.
    fn direction(velocity: [f32; 3]) -> [f64; 3] {
        let arrow = arrow([0.0; 3], velocity).unwrap();
        let of = |name: &str| arrow["pose"]["orientation"][name].as_f64().unwrap();
        let (x, y, z, w) = (of("x"), of("y"), of("z"), of("w"));
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)]
    }

    #[test]
    fn arrows_point_along_velocities() {
        for velocity in
            [[1.0, 0.0, 0.0], [-2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.6, -0.48, 0.64], [-1.0, 0.1, -0.2]]
        {
            let size = velocity.iter().map(|v| v * v).sum::<f32>().sqrt();
            for (found, wanted) in direction(velocity).iter().zip(velocity) {
                assert!((found - f64::from(wanted / size)).abs() < 1.0e-5, "{velocity:?}: {found}");
            }
        }
        assert_eq!(arrow([0.0; 3], [0.0; 3]), None);
    }
}
