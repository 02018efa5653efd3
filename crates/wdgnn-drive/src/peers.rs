//! Tracks of the other robots, from the poses of a camera.

use crate::angle::{Vector, add, direction, dot, length, limited, scale, sub};

/// Number of tracks: robots and the virtual leader.
pub const MAX_PEERS: usize = 20;
/// Share of a measured velocity in the velocity of a track.
const SHARE: f32 = 0.3;
/// Longest time between two images from which a velocity is measured, in seconds.
const LONGEST_GAP: f32 = 0.3;
/// Faster peers were carried.
const MAX_SPEED: f32 = 0.4;
/// Slower robots stand after the time in seconds.
const STANDING: f32 = 0.03;
const PATIENCE: f32 = 1.5;
/// Time in seconds for which a track is extrapolated.
const EXTRAPOLATION: f32 = 0.4;

/// Robot in sight of the camera, extrapolated to the present.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peer {
    /// Address.
    pub robot: u8,
    /// Position in meters.
    pub position: Vector,
    /// Velocity in m/s.
    pub velocity: Vector,
    /// Unit vector to the front.
    pub direction: Vector,
    /// Whether the robot stands while others drive.
    pub is_standing: bool,
}

#[derive(Clone, Copy, Debug)]
struct Sighting {
    peer: Peer,
    /// Time since the exposure in seconds.
    age: f32,
    /// Time for which the robot has stood in seconds.
    still: f32,
}

/// Tracks of all robots but one.
#[derive(Clone, Debug, Default)]
pub struct Peers([Option<Sighting>; MAX_PEERS]);

impl Peers {
    /// Advances all tracks by a time in seconds. Peers that were not seen for `timeout` seconds are dropped.
    pub fn advance(&mut self, seconds: f32, timeout: f32) {
        for place in &mut self.0 {
            if let Some(sighting) = place {
                sighting.age += seconds;
                let is_slow = length(sighting.peer.velocity) < STANDING;
                sighting.still = if is_slow { sighting.still + seconds } else { 0.0 };
                sighting.peer.is_standing = sighting.still > PATIENCE;
                if sighting.age > timeout {
                    *place = None;
                }
            }
        }
    }

    /// Begins to drive: robots that stood until now may begin, too.
    pub fn forgive(&mut self) {
        self.0.iter_mut().flatten().for_each(|seen| seen.still = 0.0);
    }

    /// Takes the pose of a robot, `age` seconds old.
    pub fn see(&mut self, robot: u8, position: Vector, heading: i16, age: f32) {
        let known = self.0.iter().position(|place| place.is_some_and(|seen| seen.peer.robot == robot));
        let index = known.or_else(|| self.0.iter().position(Option::is_none));
        let Some(place) = index.and_then(|index| self.0.get_mut(index)) else { return };
        let direction = direction(heading);
        let (is_standing, still) = place.map_or((false, 0.0), |seen| (seen.peer.is_standing, seen.still));
        let velocity = match place {
            Some(Sighting { peer, age: before, .. }) => {
                let gap = *before - age;
                if gap <= 0.0 {
                    return;
                }
                // Robots move along their heading; the measured displacement tells how fast.
                let moved = scale(1.0 / gap.max(0.01), sub(position, peer.position));
                let along = scale(dot(moved, direction).clamp(-MAX_SPEED, MAX_SPEED), direction);
                if gap < LONGEST_GAP {
                    let old = scale(dot(peer.velocity, direction), direction);
                    add(old, scale(SHARE, sub(along, old)))
                } else {
                    [0.0; 2]
                }
            }
            None => [0.0; 2],
        };
        *place = Some(Sighting {
            peer: Peer { robot, position, velocity: limited(velocity, MAX_SPEED), direction, is_standing },
            age,
            still,
        });
    }

    /// All robots in sight, at their extrapolated positions.
    pub fn iter(&self) -> impl Iterator<Item = Peer> + Clone + '_ {
        self.0.iter().flatten().map(|Sighting { peer, age, .. }| {
            let ahead = age.clamp(0.0, EXTRAPOLATION);
            Peer { position: add(peer.position, scale(ahead, peer.velocity)), ..*peer }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_extrapolated_and_dropped() {
        let mut peers = Peers::default();
        for image in 0..60_u8 {
            peers.see(7, [0.005 * f32::from(image), 1.0], 0, 0.1);
            peers.see(9, [-1.0, 0.0], 0x4000, 0.1);
            peers.advance(1.0 / 30.0, 0.5);
        }
        let [moving, standing] = [7, 9].map(|robot| peers.iter().find(|peer| peer.robot == robot).unwrap());
        // 0.15 m/s for 0.1 s and one image more.
        assert!((moving.position[0] - 59.0 * 0.005 - 0.15 * 0.133).abs() < 1.0e-3, "{moving:?}");
        assert!((moving.velocity[0] - 0.15).abs() < 1.0e-3 && moving.velocity[1] == 0.0, "{moving:?}");
        assert_eq!((standing.position, standing.velocity), ([-1.0, 0.0], [0.0; 2]));
        peers.advance(0.45, 0.5);
        assert_eq!(peers.iter().count(), 0);
    }

    #[test]
    fn old_images_and_more_robots_than_tracks_change_nothing() {
        let mut peers = Peers::default();
        for robot in 0..40 {
            peers.see(robot, [f32::from(robot), 0.0], 0, 0.1);
        }
        assert_eq!(peers.iter().count(), MAX_PEERS);
        peers.see(3, [9.0, 9.0], 0, 0.2);
        assert_eq!(peers.iter().find(|peer| peer.robot == 3).unwrap().position, [3.0, 0.0]);
    }
}
