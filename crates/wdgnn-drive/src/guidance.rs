//! Velocity of a robot in a flock on a floor with walls: distances, walls, gathering, a leader, collision avoidance.

use crate::{
    angle::{Vector, add, angle, cross, dot, length, limited, scale, sub, turned, unit_or},
    peers::{MAX_PEERS, Peer},
    pose_filter::Motion,
};

/// Address of the virtual leader.
pub const LEADER: u8 = 254;

/// Distance up to which robots keep their spacing, in meters.
const RANGE: f32 = 0.6;
/// Robots repel below the first distance and attract above the second, by this speed per meter and at most [`MAX_SPACING`].
const NEAR: f32 = 0.24;
const REPULSION: f32 = 0.75;
const APART: f32 = 0.45;
const ATTRACTION: f32 = 0.03;
const MAX_SPACING: f32 = 0.062;
/// Distance to walls in which the flock turns, and the time that it looks ahead.
const MARGIN: f32 = 0.3;
const LOOK_AHEAD: f32 = 0.75;
/// Speed away from a wall and along it, per meter within the margin.
const FROM_WALL: f32 = 0.5;
const ALONG_WALL: f32 = 0.45;
/// Distance up to which robots belong to one group.
const LINK: f32 = 0.5;
/// Speed to the center of the arena while no group has half of the robots, and behind a larger group.
const GATHERING_SPEED: f32 = 0.15;
const CATCHING_SPEED: f32 = 0.2;
/// Correction of the distance to the leader, per second, and the largest speed behind it.
const LEADER_GAIN: f32 = 1.65;
const LEADER_SPEED: f32 = 0.19;
/// Distance in which a standing robot is an obstacle, and the speed around it.
const OBSTACLE_RANGE: f32 = 0.32;
const OBSTACLE_SPEED: f32 = 0.08;
/// Turn rate per radian of heading error, and its limit, in rad/s.
const STEERING: f32 = 5.2;
const MAX_TURN: f32 = 4.0;
/// Horizon of collision avoidance in seconds, the distance that it keeps between centers, and that to walls.
const HORIZON: f32 = 0.41;
const CLEARANCE: f32 = 0.145;
const WALL_CLEARANCE: f32 = 0.075;

/// Floor between walls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arena {
    /// Lower left corner in meters.
    pub low: Vector,
    /// Upper right corner.
    pub high: Vector,
}

impl Arena {
    /// Center of the floor.
    pub fn center(&self) -> Vector {
        scale(0.5, add(self.low, self.high))
    }

    /// Distances of a box to the walls with the unit vectors away from them.
    fn walls(&self, low: Vector, high: Vector) -> [(f32, Vector); 4] {
        let ([left, bottom], [right, top]) = (sub(low, self.low), sub(self.high, high));
        [(left, [1.0, 0.0]), (right, [-1.0, 0.0]), (bottom, [0.0, 1.0]), (top, [0.0, -1.0])]
    }
}

/// Surroundings of a robot.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a, P> {
    /// Walls.
    pub arena: &'a Arena,
    /// Other robots.
    pub peers: P,
    /// Position and velocity of the virtual leader.
    pub leader: Option<(Vector, Vector)>,
}

/// Course of the flock: the velocity in which neighbors agree, and the spacing of this robot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Course {
    /// Velocity in m/s that the swarm shares.
    pub shared: Vector,
    /// Velocity of this robot alone: the shared one with the spacing, or the way to the others.
    pub own: Vector,
}

/// Robots that are connected by distances below [`LINK`].
#[derive(Clone, Copy, Debug, PartialEq)]
struct Group {
    /// Smallest address, with which all robots name the group.
    name: u8,
    robots: usize,
    centroid: Vector,
    /// Corners of the smallest box around it.
    low: Vector,
    high: Vector,
}

impl<P: Iterator<Item = Peer> + Clone> Scene<'_, P> {
    fn neighbors(&self, own: &Motion) -> impl Iterator<Item = (Peer, Vector, f32)> {
        let position = own.position;
        let near = self.peers.clone().map(move |peer| {
            let offset = sub(peer.position, position);
            (peer, offset, length(offset))
        });
        near.filter(|(.., distance)| *distance < RANGE && *distance > 0.0)
    }

    /// Returns the own group, the largest group and the number of all moving robots.
    fn groups(&self, robot: u8, own: &Motion) -> (Group, Group, usize) {
        let mut members = [(robot, own.position); MAX_PEERS + 1];
        let mut count = 1;
        for (member, peer) in
            members.iter_mut().skip(1).zip(self.peers.clone().filter(|peer| !peer.is_standing))
        {
            *member = (peer.robot, peer.position);
            count += 1;
        }
        let members = members.get(..count).unwrap_or_default();
        // Every member takes the smallest name of its group, hop by hop.
        let mut names = [u8::MAX; MAX_PEERS + 1];
        names.iter_mut().zip(members).for_each(|(name, member)| *name = member.0);
        for _ in 0..MAX_PEERS {
            let before = names;
            for (name, member) in names.iter_mut().zip(members) {
                let linked = members.iter().zip(before).filter(|(other, _)| {
                    let offset = sub(other.1, member.1);
                    dot(offset, offset) < LINK * LINK
                });
                *name = linked.map(|(_, name)| name).fold(*name, u8::min);
            }
            if names == before {
                break;
            }
        }
        let group = |name: u8| {
            let mut group =
                Group { name, robots: 0, centroid: [0.0; 2], low: [f32::MAX; 2], high: [f32::MIN; 2] };
            for ((_, position), _) in members.iter().zip(names).filter(|(_, other)| *other == name) {
                group.robots += 1;
                group.centroid = add(group.centroid, *position);
                for (axis, at) in position.iter().enumerate() {
                    group.low.get_mut(axis).into_iter().for_each(|low| *low = low.min(*at));
                    group.high.get_mut(axis).into_iter().for_each(|high| *high = high.max(*at));
                }
            }
            group.centroid = scale(1.0 / group.robots.max(1) as f32, group.centroid);
            group
        };
        let mine = group(names[0]);
        let mut largest = mine;
        for (_, name) in members.iter().zip(names) {
            let other = group(name);
            if (other.robots, largest.name) > (largest.robots, other.name) {
                largest = other;
            }
        }
        (mine, largest, count)
    }

    /// Turns an agreed velocity away from walls or to the leader, and finds the robot's own velocity.
    pub fn course(&self, robot: u8, own: &Motion, agreed: Vector, cruise: f32) -> Course {
        let heading = unit_or(agreed, own.direction);
        let (mine, largest, robots) = self.groups(robot, own);
        let mut shared = scale(cruise, heading);
        let spacing = limited(self.spacing(own, heading), MAX_SPACING);
        if let Some((position, velocity)) = self.leader {
            let to_leader = scale(LEADER_GAIN, sub(position, mine.centroid));
            shared = limited(add(velocity, to_leader), LEADER_SPEED);
            return Course { shared, own: add(shared, spacing) };
        }
        let ahead = scale(LOOK_AHEAD, shared);
        for (distance, away) in self.arena.walls(add(largest.low, ahead), add(largest.high, ahead)) {
            let within = MARGIN - distance;
            if within > 0.0 {
                let along = [-away[1], away[0]];
                let along = scale(1.0_f32.copysign(dot(along, shared)), along);
                shared = add(shared, scale(within, add(scale(FROM_WALL, away), scale(ALONG_WALL, along))));
            }
        }
        shared = limited(shared, cruise);
        let gathering = if 2 * largest.robots < robots {
            Some((sub(self.arena.center(), own.position), GATHERING_SPEED))
        } else if mine.name != largest.name {
            Some((sub(largest.centroid, own.position), CATCHING_SPEED))
        } else {
            None
        };
        let velocity = match gathering {
            Some((way, speed)) => limited(scale(2.0, way), speed),
            None => shared,
        };
        Course { shared, own: add(velocity, spacing) }
    }

    /// Velocity that keeps the distances to neighbors and leads around standing robots.
    fn spacing(&self, own: &Motion, heading: Vector) -> Vector {
        let mut spacing = [0.0; 2];
        for (peer, offset, distance) in self.neighbors(own) {
            let toward = scale(1.0 / distance, offset);
            let attraction = if distance < NEAR {
                REPULSION * (distance - NEAR)
            } else {
                ATTRACTION * (distance - APART).max(0.0)
            };
            if peer.is_standing {
                spacing = add(spacing, sidestep(heading, toward, distance));
            } else {
                spacing = add(spacing, scale(attraction, toward));
            }
        }
        spacing
    }

    /// Speed forward and turn rate toward a velocity, without collisions.
    pub fn steer(&self, own: &Motion, wanted: Vector) -> [f32; 2] {
        let error = angle([dot(own.direction, wanted), cross(own.direction, wanted)]);
        let speed = length(wanted);
        let wish =
            [speed * (1.0 - 0.5 * error * error).max(0.0), (STEERING * error).clamp(-MAX_TURN, MAX_TURN)];
        let (mut best, mut least) = (wish, self.danger(own, wish));
        if least == 0.0 {
            return wish;
        }
        for pace in [1.0, 0.6, 0.3, 0.0, -0.5] {
            for turn in [0.0, -1.3, 1.3, -2.6, 2.6, -4.0, 4.0] {
                let choice = [pace * speed, if turn == 0.0 { wish[1] } else { turn }];
                let change = (choice[0] - wish[0]).abs() + 0.01 * (choice[1] - wish[1]).abs();
                let cost = self.danger(own, choice) + 0.05 * change;
                if cost < least {
                    (best, least) = (choice, cost);
                }
            }
        }
        best
    }

    /// Sum of the distances in meters by which peers and walls come too close within the horizon.
    fn danger(&self, own: &Motion, [speed, turn]: [f32; 2]) -> f32 {
        let reach = CLEARANCE + 2.0 * HORIZON * 0.2;
        let mut danger = 0.0;
        for share in [0.35, 0.7, 1.0] {
            let time = share * HORIZON;
            let half = unit_or([1.0, 0.5 * time * turn], own.direction);
            let position = add(own.position, scale(time * speed, turned(own.direction, half)));
            for (peer, _, distance) in self.neighbors(own) {
                if distance < reach {
                    let then = sub(add(peer.position, scale(time, peer.velocity)), position);
                    danger += (CLEARANCE - length(then)).max(0.0);
                }
            }
            for (distance, _) in self.arena.walls(position, position) {
                danger += (WALL_CLEARANCE - distance).max(0.0);
            }
        }
        danger
    }
}

/// Velocity around an obstacle in the direction `toward`.
fn sidestep(heading: Vector, toward: Vector, distance: f32) -> Vector {
    let ahead = dot(heading, toward);
    if distance > OBSTACLE_RANGE || ahead < 0.0 {
        return [0.0; 2];
    }
    let side = 1.0_f32.copysign(-cross(heading, toward));
    let across = scale(side, [-heading[1], heading[0]]);
    scale(OBSTACLE_SPEED * ahead, sub(across, scale(0.5, toward)))
}
