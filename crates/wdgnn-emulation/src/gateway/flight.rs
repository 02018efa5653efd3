//! All simulated robots behind one gateway, from received to sent bytes of its line.

use std::collections::{BTreeMap, BTreeSet};

use wdgnn_core::{
    message::Message,
    task::{NodeId, State as _},
    tasks::flocking::{Flocking, Motion},
    weights::Weights,
};
use wdgnn_link::{
    header::FrameId,
    link::{MessageLink as _, RadioLink as _},
    security::key::Key,
    tdma::{SlotInfo, SlotTiming},
};
use wdgnn_protocol::{
    companion::{self, Command},
    event::{
        Arrival, GatewayEvent, GatewayRequest, Hello, MAX_EVENT_LEN, MAX_REQUEST_LEN, SendResult, VERSION,
    },
    line::Deframer,
    mac::{self, HEADER_BYTES},
};
use wdgnn_robot::onboard::FlockingModel;

use super::{
    counts::{Counts, RealRobot},
    simulated::Simulated,
};
use crate::{
    chips::twin,
    error::{Error, Result},
    medium::any_link::{AnyLink, AnyLinkOf, RobotKeys},
    profiles::Profile,
    scene::Frame,
    world::flock::variation,
};

/// Airtime of a byte in µs. Preamble, delimiter and length take six bytes, the checksum two.
const BYTE_US: u64 = 32;
const AROUND_BYTES: u64 = 8;

/// Configuration of the simulated robots.
#[allow(missing_debug_implementations, reason = "contains a key")]
pub struct Settings<'w> {
    /// Weight file of the simulated robots.
    pub weights: Weights<'w>,
    /// Addresses and initial motions of the simulated robots.
    pub simulated: Vec<(NodeId, Motion)>,
    /// Total number of robots; addresses start at 0. Frames from other addresses are dropped.
    pub robots: NodeId,
    /// Radio range of simulated robots in m.
    pub radius: f32,
    /// Swarm key, if frames are sealed.
    pub key: Option<Key>,
    /// Random number for slots and boot counts. It must differ between runs with one key.
    pub chance: u64,
}

impl Settings<'_> {
    fn is_simulated(&self, address: NodeId) -> bool {
        self.simulated.iter().any(|(id, _)| *id == address)
    }
}

/// Running simulated robots.
pub struct Flight<'w> {
    settings: Settings<'w>,
    /// Reader of all frames on the channel.
    decoder: AnyLinkOf<FlockingModel<'w>, Flocking>,
    line: Deframer<MAX_EVENT_LEN>,
    gateway: Option<Hello>,
    /// Time of the gateway.
    now: u64,
    /// Simulated robots, after the gateway's first time message.
    robots: Vec<Simulated<'w>>,
    /// Frames at the gateway by number, with sender and content.
    given: BTreeMap<u16, (usize, Frame)>,
    number: u16,
    /// Last reported gateway counters of lost frames and unread messages.
    told: Option<[u16; 2]>,
    /// End of the last closed tick.
    closed: u64,
    pub counts: Counts,
    /// Real robots by address.
    pub real: BTreeMap<NodeId, RealRobot>,
    /// Addresses of simulated robots that other senders use.
    pub conflicts: BTreeSet<NodeId>,
    /// Velocity variation of all robots at each tick of the first simulated one. Real robots count
    /// with their reported motion.
    pub variation: Vec<f64>,
}

impl std::fmt::Debug for Flight<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Flight").field("counts", &self.counts).finish_non_exhaustive()
    }
}

impl<'w> Flight<'w> {
    /// Creates robots that wait for their gateway.
    pub fn new(settings: Settings<'w>) -> Self {
        let keys = settings.key.as_ref().map(|group| RobotKeys { group, own: None });
        Self {
            decoder: AnyLink::new(Profile::Dot154, settings.weights.checksum, keys),
            settings,
            line: Deframer::default(),
            gateway: None,
            now: 0,
            robots: Vec::new(),
            given: BTreeMap::new(),
            number: 0,
            told: None,
            closed: 0,
            counts: Counts::default(),
            real: BTreeMap::new(),
            conflicts: BTreeSet::new(),
            variation: Vec::new(),
        }
    }

    /// Returns the first bytes for a gateway.
    pub fn greeting() -> Vec<u8> {
        encoded(&GatewayRequest::Query)
    }

    /// Returns whether the gateway has identified itself.
    pub fn is_greeted(&self) -> bool {
        self.gateway.is_some()
    }

    /// Returns the motions of simulated robots at the gateway's time, by address.
    pub fn motions(&self) -> Vec<(NodeId, Motion)> {
        self.robots.iter().map(|robot| (robot.id, robot.motion(self.now))).collect()
    }

    /// Handles bytes of the gateway: runs all robots up to the reported time and returns the bytes
    /// to send.
    pub fn hear(&mut self, bytes: &[u8]) -> Result<Vec<u8>> {
        let mut answer = Vec::new();
        for byte in bytes {
            let Some(message) = self.line.push(*byte) else { continue };
            let mut message = message.to_vec();
            self.understand(&mut message, &mut answer)?;
        }
        Ok(answer)
    }

    fn understand(&mut self, message: &mut [u8], answer: &mut Vec<u8>) -> Result {
        if self.gateway.is_none() && companion::decode::<Command>(&mut message.to_vec()).is_some() {
            return Err(Error::usage(
                "there is a robot at the other end of the line, not a gateway: flash the gateway's image (docs/bring-up.md)",
            ));
        }
        let Some(event) = GatewayEvent::decode(message) else {
            // The first fragment after opening the line may be incomplete.
            self.counts.damaged += u64::from(self.told.is_some());
            return Ok(());
        };
        match event {
            GatewayEvent::Hello(hello) => return self.greet(hello),
            // Events before the identification are ignored.
            _ if self.gateway.is_none() => {}
            GatewayEvent::Message { .. }
            | GatewayEvent::Sealed { .. }
            | GatewayEvent::Control { .. }
            | GatewayEvent::Rejected { .. } => {
                self.counts.heard += 1;
                if let Some((Arrival { time_us, slot: Some(slot), .. }, frame)) =
                    event.frame(&mut [0; MAX_EVENT_LEN])
                {
                    self.overhear(time_us, SlotInfo(slot), frame, true);
                }
            }
            GatewayEvent::Foreign { .. } => {
                self.counts.heard += 1;
                self.counts.foreign += 1;
            }
            GatewayEvent::Corrupt { time_us } => {
                self.counts.spoilt += 1;
                self.robots.iter_mut().for_each(|robot| robot.clock.record_broken_frame(time_us));
            }
            GatewayEvent::SendDone { number, result, time_us } => self.finish_send(number, result, time_us),
            GatewayEvent::Time { time_us, lost, malformed } => {
                self.count([lost, malformed]);
                return self.go_on(time_us, answer);
            }
        }
        Ok(())
    }

    fn greet(&mut self, hello: Hello) -> Result {
        if hello.version != VERSION {
            return Err(Error::usage(format!(
                "the gateway has message version {}, this program {VERSION}: flash the gateway image of this version",
                hello.version
            )));
        }
        let carried = Profile::with_code(hello.profile.into());
        if carried != Some(Profile::Dot154) {
            return Err(Error::usage(format!(
                "the gateway's profile must be dot154, got {}: flash another image",
                carried.map_or("of another version", Profile::name)
            )));
        }
        if self.gateway.is_some_and(|known| known.boot_id != hello.boot_id) {
            return Err(Error::Failed("the gateway restarted during the run".into()));
        }
        self.gateway = Some(hello);
        Ok(())
    }

    /// Updates the gateway's counters.
    fn count(&mut self, told: [u16; 2]) {
        let before = self.told.replace(told).unwrap_or(told);
        self.counts.lost += u64::from(told[0].wrapping_sub(before[0]));
        self.counts.damaged += u64::from(told[1].wrapping_sub(before[1]));
    }

    /// Reads a frame of any model: its number and the sender's motion. `None` if it is unreadable
    /// or not authentic.
    fn decode(&mut self, content: &[u8]) -> Option<(FrameId, Motion)> {
        let id = self.decoder.frame_id(0, content).filter(|id| id.sender < self.settings.robots)?;
        let mut message = Message::empty(Motion::zero());
        // The decoder has no clock: it reads each frame at the frame's tick.
        self.decoder.receive(id.sequence, &mut content.to_vec(), &mut message).ok()?;
        message.state.is_admissible().then_some((id, message.state))
    }

    /// Handles a broadcast of a real or simulated robot.
    fn overhear(&mut self, began: u64, note: SlotInfo, content: &[u8], real: bool) {
        let ended = began + BYTE_US * (AROUND_BYTES + (HEADER_BYTES + content.len()) as u64);
        self.counts.late_up += u64::from(ended <= self.closed);
        let decoded = self.decode(content);
        if let Some((id, motion)) = decoded.filter(|_| real) {
            if self.settings.is_simulated(id.sender) {
                self.conflicts.insert(id.sender);
            } else {
                let frames = self.real.get(&id.sender).map_or(0, |seen| seen.frames) + 1;
                self.real.insert(id.sender, RealRobot { motion, tick: id.sequence, frames });
            }
        }
        let content = Frame::from(content);
        for robot in &mut self.robots {
            let is_own = decoded.is_some_and(|(id, _)| id.sender == robot.id);
            if let Some((id, _)) = decoded.filter(|_| !is_own) {
                robot.clock.record_frame(&id, note, began);
            }
            if is_own && !real {
                continue;
            }
            let here = robot.motion(ended).position;
            let is_near = |Motion { position, .. }: Motion| {
                let [x, y] = [here[0] - position[0], here[1] - position[1]];
                x * x + y * y <= self.settings.radius * self.settings.radius
            };
            // Unreadable frames have no position, so they are delivered and rejected.
            if decoded.is_none_or(|(_, motion)| is_near(motion)) {
                robot.inbox.push_back((ended, Frame::clone(&content)));
            } else {
                self.counts.beyond += 1;
            }
        }
    }

    /// Handles the result of a sent frame.
    fn finish_send(&mut self, number: u16, result: SendResult, at: u64) {
        let Some((robot, frame)) = self.given.remove(&number) else { return };
        match result {
            SendResult::Sent => {
                self.counts.sent += 1;
                if let Some((note, content)) = mac::parse(&frame) {
                    self.overhear(at, note, content, false);
                }
            }
            SendResult::Busy => {
                self.counts.busy += 1;
                self.robots[robot].clock.record_busy_channel(at);
            }
            SendResult::Late => self.counts.late_down += 1,
            SendResult::Refused => self.counts.refused_down += 1,
        }
    }

    /// Advances the time and runs all ticks that are due.
    fn go_on(&mut self, now: u64, answer: &mut Vec<u8>) -> Result {
        let Some(Hello { timing, .. }) = self.gateway else { return Ok(()) };
        self.now = now;
        if self.robots.is_empty() {
            return self.start_robots(timing);
        }
        let ahead = u64::from(timing.period);
        let due = |robot: &Simulated<'_>| robot.beat.begins_us <= now + ahead;
        while let Some(next) = (0..self.robots.len())
            .filter(|robot| due(&self.robots[*robot]))
            .min_by_key(|robot| self.robots[*robot].beat.begins_us)
        {
            let begins = self.robots[next].beat.begins_us;
            let closes = begins.saturating_sub(ahead);
            self.closed = self.closed.max(closes);
            let Self { robots, counts, settings, .. } = self;
            let sent = robots[next].tick(closes, now + ahead, counts, |id| settings.is_simulated(id));
            if let Some((at, frame)) = sent {
                self.submit(next, at, frame, answer);
            }
            if next == 0 && self.robots[0].flies(begins) {
                self.look(begins);
            }
        }
        Ok(())
    }

    /// Creates all robots.
    fn start_robots(&mut self, timing: SlotTiming) -> Result {
        let mut chance = self.settings.chance;
        for &(id, start) in &self.settings.simulated {
            let keys = self.settings.key.as_ref().map(|group| RobotKeys { group, own: None });
            let mut robot = twin::native(id, &self.settings.weights, keys)?;
            robot.link_mut().security_mut().set_swarm_size(self.settings.robots);
            // SplitMix64 generator.
            let [slots, boot] = std::array::from_fn(|_| {
                chance = chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mixed = (chance ^ chance >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
                (mixed >> 32) as u32
            });
            // The lower half leaves room to count, as on a board.
            robot.link_mut().set_boot_count(boot >> 1);
            self.robots.push(Simulated::new(robot, timing, start, self.now, slots));
        }
        Ok(())
    }

    fn submit(&mut self, robot: usize, at: u64, frame: Frame, answer: &mut Vec<u8>) {
        self.number = self.number.wrapping_add(1);
        answer.extend(encoded(&GatewayRequest::Send { number: self.number, slot_us: at, frame: &frame }));
        self.given.insert(self.number, (robot, frame));
        self.counts.given += 1;
    }

    /// Computes the velocity variation from simulated states and reported motions.
    fn look(&mut self, at: u64) {
        let here = self.robots.iter().map(|robot| robot.motion(at).velocity);
        let there = self.real.values().map(|seen| seen.motion.velocity);
        self.variation.push(variation(here.chain(there)));
    }
}

fn encoded(request: &GatewayRequest<'_>) -> Vec<u8> {
    let mut bytes = [0; MAX_REQUEST_LEN];
    let length = request.encode(&mut bytes).unwrap_or(0);
    bytes[..length].to_vec()
}

#[cfg(test)]
mod tests;
