//! Robots with their boards on a lossy radio: each tick delivers the frames of the tick before.

use super::{prelude::*, seeded};

pub struct RadioSwarm<L> {
    pub robots: Vec<(RobotOn<L>, Board)>,
    /// Robots without power.
    pub off: Vec<bool>,
    pub tick: u32,
    pub loss: f64,
    /// Largest difference of the indices of robots that receive each other.
    pub reach: usize,
    pub random: ChaCha8Rng,
    /// Frames of the last tick, by robot.
    pub sent: Vec<Vec<Vec<u8>>>,
    /// Rejected frames by error.
    pub rejected: Vec<u32>,
}

impl<L: TestLink> RadioSwarm<L> {
    /// Robots at rest in a row, one meter apart.
    pub fn new(robots: u16, start: impl Fn(u16, &mut Board) -> RobotOn<L>) -> Self {
        let start = |name: u16| {
            let mut board = Board::new();
            let place = Motion { position: [f32::from(name), 0.0], velocity: [0.0; 2] };
            board.sensor.0 = Ok(Measurement::now(place));
            (start(name, &mut board), board)
        };
        Self {
            robots: (0..robots).map(start).collect(),
            off: vec![false; robots.into()],
            tick: 0,
            loss: 0.0,
            reach: usize::MAX,
            random: seeded(5),
            sent: vec![Vec::new(); robots.into()],
            rejected: vec![0; FrameError::ALL.len()],
        }
    }

    /// One tick in which the first `receivers` robots also receive `injected` frames, before all others.
    pub fn fly(&mut self, injected: &[Vec<u8>], receivers: usize) {
        let sent = core::mem::take(&mut self.sent);
        for (place, (robot, board)) in self.robots.iter_mut().enumerate() {
            let mut now = Vec::new();
            if !self.off[place] {
                let injected = if place < receivers { injected } else { &[] };
                let near = |other: usize| other != place && other.abs_diff(place) <= self.reach;
                let others = sent.iter().enumerate().filter(|(other, _)| near(*other));
                for frame in injected.iter().chain(others.flat_map(|(_, frames)| frames)) {
                    if !self.random.random_bool(self.loss) {
                        board.air.heard.push_back(Ok(frame.clone()));
                    }
                }
                let report = board.run(robot, self.tick);
                for (sum, reason) in self.rejected.iter_mut().zip(FrameError::ALL) {
                    *sum += report.rejected.of(*reason);
                }
                now = core::mem::take(&mut board.air.sent);
            }
            self.sent.push(now);
        }
        self.tick += 1;
    }

    /// Addresses in a robot's neighbor table.
    pub fn known(&self, robot: usize) -> Vec<u16> {
        self.robots[robot].0.neighbors().map(|other| other.message.sender).collect()
    }

    /// Addresses of the neighbors that a robot trusts.
    pub fn trusted(&self, robot: usize) -> Vec<u16> {
        self.robots[robot].0.trusted().map(|other| other.message.sender).collect()
    }

    /// Whether all robots trust each other.
    pub fn all_trusted(&self) -> bool {
        (0..self.robots.len()).all(|robot| self.trusted(robot).len() == self.robots.len() - 1)
    }
}
