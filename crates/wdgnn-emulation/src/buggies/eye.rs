//! Sources of poses for the gateway: a camera without images, or the tracker on rendered images.

use rand_chacha::ChaCha8Rng;
use wdgnn_link::frames::{
    PoseFrame, PoseHeader, U16Le,
    poses::{POSE_BYTE, Pose},
};
use wdgnn_protocol::tracker::{Command, MAX_TRACKER_MESSAGE, encode_image};
use wdgnn_sim::seeds::{Purpose, generator};

use super::{
    camera::{Camera, Exposures, Sighting},
    floor::Body,
};
use crate::error::Result;

/// Messages for the gateway, each with the time of its last byte in seconds.
pub type Messages = Vec<(f64, Vec<u8>)>;

/// Time for which the command to start is sent, in seconds.
const STARTING: f64 = 0.1;

/// Source of poses.
pub trait Eye {
    /// Looks at the floor once per millisecond.
    ///
    /// # Errors
    /// The tracker ended.
    fn look(&mut self, seconds: f64, bodies: &[Body]) -> Result<Messages>;
}

/// Camera without images.
#[derive(Debug)]
pub struct IdealEye {
    pub camera: Camera,
    exposures: Exposures,
    random: ChaCha8Rng,
    /// Time in seconds at which the swarm begins to drive, and at which the camera fails.
    pub starts: f64,
    pub fails: f64,
}

impl IdealEye {
    /// Camera that starts the swarm at a time.
    pub fn new(camera: Camera, starts: f64, seed: u64) -> Self {
        let random = generator(seed, Purpose::Testing, 2_000_002);
        Self { camera, exposures: Exposures::default(), random, starts, fails: f64::INFINITY }
    }
}

/// Message with poses, `age` seconds old.
pub fn message(command: Command, seen: &[Sighting], age: f64) -> Option<Vec<u8>> {
    let age = U16Le::new((1.0e4 * age) as u16);
    let mut frame = PoseFrame::new(PoseHeader { kind: POSE_BYTE, age, ..PoseHeader::default() });
    for (robot, position, heading) in seen {
        let heading = (heading / core::f64::consts::TAU * 65_536.0).round() as i64 as i16;
        frame.push(*robot, &Pose { position: position.map(|at| at as f32), heading });
    }
    let mut bytes = [0; MAX_TRACKER_MESSAGE];
    let length = encode_image(command, &frame, &mut bytes)?;
    bytes.get(..length).map(<[u8]>::to_vec)
}

impl Eye for IdealEye {
    fn look(&mut self, seconds: f64, bodies: &[Body]) -> Result<Messages> {
        let Some((_, seen)) = self.camera.look(seconds, bodies, &mut self.exposures, &mut self.random) else {
            return Ok(vec![]);
        };
        let starts = (self.starts..self.starts + STARTING).contains(&seconds);
        let command = if starts { Command::Start } else { Command::None };
        let message = message(command, &seen, self.camera.stated_latency).filter(|_| seconds < self.fails);
        Ok(message.into_iter().map(|message| (seconds, message)).collect())
    }
}
