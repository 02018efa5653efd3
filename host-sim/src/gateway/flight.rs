//! All simulated robots behind one gateway, from received to sent bytes of its line.

use std::{collections::BTreeMap, sync::Arc};

use wdgnn_core::{task::NodeId, tasks::flocking::Motion};
use wdgnn_link::{encoding::Codec, error::FrameErrorCounts, security::key::Key, tdma::Timing};
use wdgnn_protocol::{
    companion::{self, Command},
    gateway::{Deframer, FromGateway, Hello, MAX_MESSAGE, SendResult, ToGateway, VERSION},
    mac,
};
use wdgnn_robot::onboard::Robot;

use super::{
    counts::Counts,
    decoder::{FrameContent, FrameDecoder},
    simulated::{ReceivedFrame, Simulated, Words},
};
use crate::{
    error::{Error, Result},
    profiles::Profile,
    world::flock::variation,
};

/// Airtime of a byte in µs. Preamble, delimiter and length take six bytes, the checksum two.
const BYTE_US: u64 = 32;
const AROUND_BYTES: u64 = 8;

/// Configuration of the simulated robots.
#[allow(missing_debug_implementations, reason = "there is a key in it")]
pub struct Settings {
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

/// Creates the robot with an address.
type Make<'w, C> = Box<dyn FnMut(NodeId) -> Result<Robot<'w, C>> + 'w>;

/// Running simulated robots.
pub struct Flight<'w, C: Codec> {
    settings: Settings,
    make: Make<'w, C>,
    pub decoder: FrameDecoder,
    line: Deframer,
    gateway: Option<Hello>,
    /// Time of the gateway.
    now: u64,
    /// Simulated robots, after the gateway's first time message.
    robots: Vec<Simulated<'w, C>>,
    /// Frames at the gateway by number, with sender and content.
    given: BTreeMap<u16, (usize, Arc<[u8]>)>,
    number: u16,
    /// Last reported gateway counters of lost frames and unread messages.
    told: Option<[u16; 2]>,
    /// End of the last closed tick.
    closed: u64,
    pub counts: Counts,
    /// Frames that simulated robots rejected.
    pub refused: FrameErrorCounts,
    /// Velocity variation of all robots at each tick of the first simulated one. Real robots count
    /// with their reported motion.
    pub variation: Vec<f64>,
}

impl<C: Codec> std::fmt::Debug for Flight<'_, C> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Flight").field("counts", &self.counts).finish_non_exhaustive()
    }
}

impl<'w, C: Codec> Flight<'w, C> {
    /// Creates robots that wait for their gateway.
    pub fn new(settings: Settings, make: impl FnMut(NodeId) -> Result<Robot<'w, C>> + 'w) -> Self {
        let simulated = settings.simulated.iter().map(|(id, _)| *id).collect();
        Self {
            decoder: FrameDecoder::new(settings.key, settings.robots, simulated),
            settings,
            make: Box::new(make),
            line: Deframer::default(),
            gateway: None,
            now: 0,
            robots: Vec::new(),
            given: BTreeMap::new(),
            number: 0,
            told: None,
            closed: 0,
            counts: Counts::default(),
            refused: FrameErrorCounts::default(),
            variation: Vec::new(),
        }
    }

    /// Returns the first bytes for a gateway.
    pub fn greeting() -> Vec<u8> {
        encoded(&ToGateway::Query { version: VERSION })
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
            // A message is small and needs no further split.
            let mut message = message.to_vec();
            self.understand(&mut message, &mut answer)?;
        }
        Ok(answer)
    }

    fn understand(&mut self, message: &mut [u8], answer: &mut Vec<u8>) -> Result {
        let mut other = message.to_vec();
        match FromGateway::decode(message) {
            Some(FromGateway::Hello(hello)) => self.greet(hello),
            Some(FromGateway::OtherVersion(version)) => Err(Error::usage(format!(
                "the gateway has message version {version}, this program {VERSION}: flash the gateway image of this version"
            ))),
            // Messages before the identification are ignored.
            Some(_) if self.gateway.is_none() => Ok(()),
            Some(FromGateway::Received { start, frame }) => {
                self.counts.received += 1;
                self.overhear(start, frame, true);
                Ok(())
            }
            Some(FromGateway::Corrupt { start }) => {
                self.counts.spoilt += 1;
                self.robots.iter_mut().for_each(|robot| robot.spoilt(start));
                Ok(())
            }
            Some(FromGateway::SendDone { number, result, at }) => {
                self.settle(number, result, at);
                Ok(())
            }
            Some(FromGateway::Time { now, lost, malformed }) => {
                self.count([lost, malformed]);
                self.go_on(now, answer)
            }
            None if companion::decode::<Command>(&mut other).is_some() => Err(Error::usage(
                "there is a robot at the other end of the line, not a gateway: flash the gateway's image (docs/bring-up.md)",
            )),
            None => {
                // The first fragment after opening the line may be incomplete.
                self.counts.damaged += u64::from(self.told.is_some());
                Ok(())
            }
        }
    }

    fn greet(&mut self, hello: Hello) -> Result {
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

    /// Handles a broadcast of a robot.
    fn overhear(&mut self, began: u64, frame: &[u8], real: bool) {
        let Some((note, content)) = mac::parse(frame) else {
            self.counts.foreign += 1;
            return;
        };
        let ended = began + BYTE_US * (AROUND_BYTES + frame.len() as u64);
        self.counts.late_up += u64::from(ended <= self.closed);
        let FrameContent { who, place } = self.decoder.see(content, real);
        let overheard = ReceivedFrame { ended, content: content.into(), real };
        for robot in &mut self.robots {
            if let Some(who) = &who {
                robot.keep_time(who, note, began);
            }
            if !real && who.is_some_and(|who| who.sender == robot.id) {
                continue;
            }
            let here = robot.motion(ended).position;
            let near = |place: &[f32; 2]| {
                let [x, y] = [here[0] - place[0], here[1] - place[1]];
                x * x + y * y <= self.settings.radius * self.settings.radius
            };
            // Unreadable frames have no position, so they are delivered and rejected.
            if place.as_ref().is_none_or(near) {
                robot.receive(overheard.clone());
            } else {
                self.counts.beyond += 1;
            }
        }
    }

    /// Handles the result of a sent frame.
    fn settle(&mut self, number: u16, result: SendResult, at: u64) {
        let Some((robot, frame)) = self.given.remove(&number) else { return };
        match result {
            SendResult::Sent => {
                self.counts.sent += 1;
                self.overhear(at, &frame, false);
            }
            SendResult::Busy => {
                self.counts.busy += 1;
                self.robots[robot].crowded(at);
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
            return self.begin(timing);
        }
        let ahead = u64::from(timing.period);
        let due = |robot: &Simulated<'_, C>| robot.beat.begins <= now + ahead;
        while let Some(next) = (0..self.robots.len())
            .filter(|robot| due(&self.robots[*robot]))
            .min_by_key(|robot| self.robots[*robot].beat.begins)
        {
            let begins = self.robots[next].beat.begins;
            let closes = begins.saturating_sub(ahead);
            self.closed = self.closed.max(closes);
            let ticked = self.robots[next].tick(closes, now + ahead);
            self.counts.robot_ticks += 1;
            self.counts.taken_of_real += ticked.taken[0];
            self.counts.taken_of_simulated += ticked.taken[1];
            self.refused.add(&ticked.refused);
            if let Some(words) = ticked.words {
                self.say(next, words, answer);
            }
            if next == 0 && self.robots[0].flies(begins) {
                self.look(begins);
            }
        }
        Ok(())
    }

    /// Creates all robots.
    fn begin(&mut self, timing: Timing) -> Result {
        let mut chance = self.settings.chance;
        for &(id, start) in &self.settings.simulated {
            let mut robot = (self.make)(id)?;
            robot.set_robots(self.settings.robots);
            // SplitMix64 generator.
            let [slots, boot] = std::array::from_fn(|_| {
                chance = chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mixed = (chance ^ chance >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
                (mixed >> 32) as u32
            });
            // The lower half leaves room to count, as on a board.
            robot.set_boot(boot >> 1);
            self.robots.push(Simulated::new(robot, timing, start, self.now, slots));
        }
        Ok(())
    }

    fn say(&mut self, robot: usize, Words { at, frame }: Words, answer: &mut Vec<u8>) {
        self.number = self.number.wrapping_add(1);
        answer.extend(encoded(&ToGateway::Send { number: self.number, at, frame: &frame }));
        self.given.insert(self.number, (robot, frame));
        self.counts.given += 1;
    }

    /// Computes the velocity variation from simulated states and reported motions.
    fn look(&mut self, at: u64) {
        let here = self.robots.iter().map(|robot| robot.motion(at).velocity);
        let there = self.decoder.sightings.real.values().map(|seen| seen.motion.velocity);
        self.variation.push(variation(here.chain(there)));
    }
}

fn encoded(message: &ToGateway<'_>) -> Vec<u8> {
    let mut bytes = [0; MAX_MESSAGE];
    let length = message.encode(&mut bytes).unwrap_or(0);
    bytes[..length].to_vec()
}

#[cfg(test)]
mod tests;
