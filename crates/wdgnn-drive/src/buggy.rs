//! A robot with two wheels under a camera: from poses and accelerations to duties.

use crate::{
    Wheels,
    angle::{Vector, add, length, limited, scale, sub, unit_or},
    guidance::{Arena, LEADER, Scene},
    peers::Peers,
    pose_filter::{Correction, Motion, PoseFilter, STEP},
};

/// Time in seconds without any poses after which the robot stands: the camera or the radio failed.
pub const SILENCE: f32 = 0.15;
/// Time in seconds without its own pose after which the robot stands.
pub const UNSEEN: f32 = 1.0;
/// Time in seconds after which a peer that is not seen is dropped.
const PEER_TIMEOUT: f32 = 2.0;
/// Rate at which the agreed velocity follows walls, gathering and leader, per second.
const FOLLOWING: f32 = 3.0;
/// Rate at which the agreed velocity returns to the cruising speed, per second.
const REGULATION: f32 = 2.0;
/// Largest speed of the virtual leader in m/s, and the share of a measured velocity in it.
const LEADER_SPEED: f32 = 0.35;
const LEADER_SHARE: f32 = 0.3;
/// Time in seconds after which the leader is gone.
const LEADER_TIMEOUT: f32 = 0.5;

/// Settings of a robot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Address.
    pub robot: u8,
    /// Wheels with their calibration.
    pub wheels: Wheels,
    /// Time constant of the motors in seconds.
    pub lag: f32,
    /// Cruising speed in m/s.
    pub cruise: f32,
    /// Walls.
    pub arena: Arena,
}

impl Settings {
    /// Maqueen on a floor of 3 × 2 m.
    pub const MAQUEEN: Self = Self {
        robot: 0,
        wheels: Wheels { track: 0.072, full_speed: 0.35, min_speed: 0.07, dead_zone: 0.2, gain: [1.0; 2] },
        lag: 0.08,
        cruise: 0.15,
        arena: Arena { low: [-1.5, -1.0], high: [1.5, 1.0] },
    };
}

/// Reason why a robot stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// No poses arrive.
    Silence,
    /// The camera does not see this robot.
    Unseen,
}

/// Point that the flock follows. The operator drags it, so that its position has no age.
#[derive(Clone, Copy, Debug)]
struct Leader {
    position: Vector,
    velocity: Vector,
    /// Seconds since the last position.
    since: f32,
}

/// Robot.
#[derive(Clone, Debug)]
pub struct Buggy {
    settings: Settings,
    filter: PoseFilter,
    peers: Peers,
    leader: Option<Leader>,
    /// Velocity that the robot reports to others and that the network accelerates.
    agreed: Vector,
    /// Seconds since the last poses, and since the own pose.
    silence: f32,
    unseen: f32,
}

impl Buggy {
    /// Robot at an unknown place.
    pub fn new(settings: Settings) -> Self {
        Self {
            filter: PoseFilter::new(&settings.wheels, settings.lag),
            settings,
            peers: Peers::default(),
            leader: None,
            agreed: [0.0; 2],
            silence: f32::MAX,
            unseen: f32::MAX,
        }
    }

    /// Filter of the own pose.
    pub fn filter(&self) -> &PoseFilter {
        &self.filter
    }

    /// Filter of the own pose, mutable.
    pub fn filter_mut(&mut self) -> &mut PoseFilter {
        &mut self.filter
    }

    /// Why the robot stands; `None` if it knows enough to drive.
    pub fn standing(&self) -> Option<Standing> {
        if self.silence > SILENCE {
            Some(Standing::Silence)
        } else if !self.filter.is_placed() || self.unseen > UNSEEN {
            Some(Standing::Unseen)
        } else {
            None
        }
    }

    /// Position in meters and agreed velocity in m/s, for the network and for other robots.
    pub fn state(&self) -> Option<(Vector, Vector)> {
        self.standing().is_none().then(|| (self.filter.motion().position, self.agreed))
    }

    /// Motion of the robot.
    pub fn motion(&self) -> Motion {
        self.filter.motion()
    }

    /// Begins the poses of one image.
    pub fn begin_image(&mut self) {
        self.silence = 0.0;
    }

    /// Takes a pose of the image: address, position in meters, heading in 1/65,536 of a turn, seconds since the exposure.
    pub fn see(&mut self, robot: u8, position: Vector, heading: i16, age: f32) {
        if robot == self.settings.robot {
            if self.filter.measure(position, heading, age) != Correction::Outlier {
                self.unseen = 0.0;
            }
        } else if robot == LEADER {
            self.see_leader(position);
        } else {
            self.peers.see(robot, position, heading, age + self.filter.extra_latency());
        }
    }

    fn see_leader(&mut self, position: Vector) {
        let velocity = match self.leader {
            Some(Leader { position: before, velocity, since }) if since > 0.0 => {
                let moved = limited(scale(1.0 / since, sub(position, before)), LEADER_SPEED);
                add(velocity, scale(LEADER_SHARE, sub(moved, velocity)))
            }
            _ => [0.0; 2],
        };
        self.leader = Some(Leader { position, velocity, since: 0.0 });
    }

    /// Number of robots in sight.
    pub fn robots_in_sight(&self) -> usize {
        1 + self.peers.iter().count()
    }

    /// Stands: the wheels get no duty in this step.
    pub fn stand(&mut self) -> [f32; 2] {
        self.agreed = [0.0; 2];
        self.peers.forgive();
        self.finish([0.0; 2])
    }

    /// Drives one step with an acceleration of the agreed velocity in m/s², and returns the duties of the wheels.
    ///
    /// The robot stands while it does not know where it is.
    pub fn drive(&mut self, acceleration: Vector) -> [f32; 2] {
        if self.standing().is_some() || !acceleration.iter().all(|a| a.is_finite()) {
            return self.stand();
        }
        let (agreed, [forward, turn]) = self.plan(acceleration);
        self.agreed = agreed;
        self.finish(self.wheels().duties(forward, turn))
    }

    /// Agreed velocity after this step, speed forward and turn rate.
    fn plan(&self, acceleration: Vector) -> (Vector, [f32; 2]) {
        let Settings { cruise, arena, .. } = &self.settings;
        let own = self.filter.motion();
        let mut agreed = add(self.agreed, scale(STEP, acceleration));
        if length(agreed) < 0.1 * cruise {
            // A robot that starts to drive continues in its heading.
            agreed = scale(0.1 * cruise, unit_or(agreed, own.direction));
        }
        let leader = self
            .leader
            .map(|Leader { position, velocity, since }| (add(position, scale(since, velocity)), velocity));
        let scene = Scene { arena, peers: self.peers.iter(), leader };
        let course = scene.course(self.settings.robot, &own, agreed, *cruise);
        let speed = length(agreed);
        let turning = sub(course.shared, scale(cruise / speed, agreed));
        let change = add(scale(REGULATION * (cruise - speed) / speed, agreed), scale(FOLLOWING, turning));
        (add(agreed, scale(STEP, change)), scene.steer(&own, course.own))
    }

    /// Wheels with learned gains.
    fn wheels(&self) -> Wheels {
        let ([left, right], wheels) = (self.filter.gains(), self.settings.wheels);
        Wheels { gain: [left * wheels.gain[0], right * wheels.gain[1]], ..wheels }
    }

    fn finish(&mut self, duties: [f32; 2]) -> [f32; 2] {
        self.filter.advance(self.wheels().rim_speeds(duties));
        self.peers.advance(STEP, PEER_TIMEOUT);
        self.silence += STEP;
        self.unseen += STEP;
        if let Some(leader) = &mut self.leader {
            leader.since += STEP;
        }
        self.leader = self.leader.filter(|leader| leader.since < LEADER_TIMEOUT);
        duties
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::angle::dot;

    /// Images at rest of this robot and another one, then one step with a duty of both wheels.
    fn placed(own: Vector, other: Vector) -> Buggy {
        let mut buggy = Buggy::new(Settings { robot: 3, ..Settings::MAQUEEN });
        for _ in 0..20 {
            buggy.begin_image();
            buggy.see(3, own, 0, 0.1);
            buggy.see(4, other, 0x4000, 0.1);
            buggy.stand();
        }
        buggy
    }

    #[test]
    fn a_robot_stands_without_poses_and_drives_with_them() {
        let mut buggy = Buggy::new(Settings::MAQUEEN);
        assert_eq!((buggy.standing(), buggy.drive([1.0, 0.0])), (Some(Standing::Silence), [0.0; 2]));
        let mut buggy = placed([0.0, 0.0], [0.4, 0.4]);
        assert!(buggy.drive([0.5, 0.0]).iter().all(|duty| *duty > 0.2));
        assert_eq!(buggy.drive([f32::NAN, 0.0]), [0.0; 2]);
        for _ in 0..15 {
            buggy.drive([0.0; 2]);
        }
        assert_eq!((buggy.standing(), buggy.drive([0.0; 2])), (Some(Standing::Silence), [0.0; 2]));
        assert_eq!(buggy.state(), None);
        for _ in 0..110 {
            buggy.begin_image();
            buggy.stand();
        }
        assert_eq!(buggy.standing(), Some(Standing::Unseen));
    }

    #[test]
    fn the_agreed_velocity_turns_away_from_walls_and_to_the_leader() {
        let mut buggy = placed([1.2, 0.0], [1.1, 0.3]);
        let mut turned = placed([0.0, 0.0], [0.1, 0.3]);
        for _ in 0..150 {
            for (buggy, at) in [(&mut buggy, [1.2, 0.0]), (&mut turned, [0.0, 0.0])] {
                buggy.begin_image();
                buggy.see(3, at, 0, 0.0);
                buggy.see(4, add(at, [-0.1, 0.3]), 0, 0.0);
                buggy.drive([0.0; 2]);
            }
            turned.see(LEADER, [0.0, -1.0], 0, 0.0);
        }
        let [away, led] = [&buggy, &turned].map(|buggy| buggy.state().unwrap().1);
        assert!(away[0] < 0.05 && (length(away) - 0.15).abs() < 0.03, "{away:?}");
        assert!(dot(led, [0.0, -1.0]) > 0.12, "{led:?}");
    }

    #[test]
    fn a_robot_in_the_way_is_not_hit() {
        let mut buggy = placed([0.0, 0.0], [0.2, 0.01]);
        let mut ahead = 0.0;
        for _ in 0..200 {
            let [x, y] = buggy.motion().position;
            buggy.begin_image();
            buggy.see(4, [0.2, 0.01], 0, 0.0);
            buggy.unseen = 0.0;
            buggy.drive([0.3, 0.0]);
            let distance = length(sub(buggy.motion().position, [0.2, 0.01]));
            assert!(distance > 0.12, "{distance} m at {x} {y}");
            ahead = x;
        }
        assert!(ahead > 0.05, "it goes around: {ahead}");
    }
}
