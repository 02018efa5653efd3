//! Figures of a run: alignment, speed, connection and distances.

use super::floor::Body;

/// Distance in meters up to which robots count as connected.
pub const RANGE: f64 = 0.6;
/// Slowest speed of a flock in m/s.
pub const SLOWEST: f64 = 0.13;
/// Alignment that counts as flocking.
pub const ALIGNED: f64 = 0.95;
/// Distance of centers in meters below which robots touch.
pub const CONTACT: f64 = 0.1;

/// State of the flock at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moment {
    pub seconds: f64,
    /// Length of the mean heading vector.
    pub order: f64,
    /// Speed of the center in m/s.
    pub speed: f64,
    pub connected: bool,
    /// Smallest distance of two centers in meters.
    pub nearest: f64,
    /// Robots at a wall.
    pub at_walls: usize,
}

impl Moment {
    /// Looks at all bodies that take part.
    pub fn of(seconds: f64, bodies: &[&Body], arena: &wdgnn_drive::guidance::Arena) -> Self {
        let count = bodies.len().max(1) as f64;
        let sum = |part: fn(&Body) -> [f64; 2]| {
            bodies.iter().fold([0.0; 2], |sum, body| [sum[0] + part(body)[0], sum[1] + part(body)[1]])
        };
        let heading = sum(|body| [body.heading.cos(), body.heading.sin()]);
        let velocity = sum(Body::velocity);
        let mut nearest = f64::INFINITY;
        let mut reached = vec![0];
        let mut waiting: Vec<usize> = (1..bodies.len()).collect();
        let mut next = 0;
        while let Some(&from) = reached.get(next) {
            let (near, far): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|to| distance(bodies[from], bodies[*to]) <= RANGE);
            reached.extend(near);
            waiting = far;
            next += 1;
        }
        for (index, one) in bodies.iter().enumerate() {
            nearest = bodies[..index].iter().map(|other| distance(one, other)).fold(nearest, f64::min);
        }
        Self {
            seconds,
            order: heading[0].hypot(heading[1]) / count,
            speed: velocity[0].hypot(velocity[1]) / count,
            connected: waiting.is_empty(),
            nearest,
            at_walls: bodies.iter().filter(|body| body.touches_wall(arena)).count(),
        }
    }

    /// Whether the swarm is one moving, aligned flock.
    pub fn is_flock(&self) -> bool {
        self.order >= ALIGNED && self.speed >= SLOWEST && self.connected
    }
}

/// Distance of two centers in meters.
pub fn distance(one: &Body, other: &Body) -> f64 {
    (one.position[0] - other.position[0]).hypot(one.position[1] - other.position[1])
}

/// Figures of a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Figures {
    /// First second of one moving, aligned flock; absent if there was none.
    pub flock_after: Option<f64>,
    /// Median alignment from 10 s on.
    pub order: f64,
    /// Deviation of the headings in degrees that belongs to the median alignment.
    pub deviation: f64,
    /// Median speed of the center from 10 s on in m/s.
    pub speed: f64,
    /// Share of the time from 10 s on in which all robots were connected.
    pub connected: f64,
    /// Smallest distance of two centers in meters.
    pub nearest: f64,
    /// Seconds with robots at a wall.
    pub at_walls: f64,
}

impl Figures {
    /// Each figure at a rank of several runs: 0 is the best, the last the worst.
    pub fn ranked(runs: &[Self], rank: usize) -> Self {
        let at = |value: fn(&Self) -> f64| {
            let mut values: Vec<f64> = runs.iter().map(value).collect();
            values.sort_by(f64::total_cmp);
            values.get(rank).copied().unwrap_or(f64::NAN)
        };
        let after = at(|run| run.flock_after.unwrap_or(f64::INFINITY));
        Self {
            flock_after: after.is_finite().then_some(after),
            order: -at(|run| -run.order),
            deviation: at(|run| run.deviation),
            speed: -at(|run| -run.speed),
            connected: -at(|run| -run.connected),
            nearest: -at(|run| -run.nearest),
            at_walls: at(|run| run.at_walls),
        }
    }

    /// Figures of moments at equal intervals.
    pub fn of(moments: &[Moment]) -> Self {
        let interval = moments.get(1).map_or(0.0, |second| second.seconds - moments[0].seconds);
        let late: Vec<&Moment> = moments.iter().filter(|moment| moment.seconds >= 10.0).collect();
        let median = |value: fn(&Moment) -> f64| {
            let mut values: Vec<f64> = late.iter().map(|moment| value(moment)).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
        };
        let order = median(|moment| moment.order);
        Self {
            flock_after: moments.iter().find(|moment| moment.is_flock()).map(|moment| moment.seconds),
            order,
            deviation: (2.0 * (1.0 - order)).max(0.0).sqrt().to_degrees(),
            speed: median(|moment| moment.speed),
            connected: late.iter().filter(|moment| moment.connected).count() as f64
                / late.len().max(1) as f64,
            nearest: moments.iter().map(|moment| moment.nearest).fold(f64::INFINITY, f64::min),
            at_walls: interval * moments.iter().filter(|moment| moment.at_walls > 0).count() as f64,
        }
    }
}
