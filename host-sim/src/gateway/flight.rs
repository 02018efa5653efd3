//! All simulated robots behind one gateway: bytes of its line in, bytes of its line out.

use std::{collections::BTreeMap, sync::Arc};

use wdgnn_core::{
    codec::Codec,
    flocking::Motion,
    message::Identity,
    refusal::{Refusal, Refusals},
    rhythm::{Note, Timing},
    robot::Robot,
    seal::Key,
    task::NodeId,
};
use wdgnn_protocol::{
    companion::{self, Command},
    gateway::{Down, Fate, Hello, LARGEST, Line, Up, VERSION},
    mac,
};

use super::{
    counts::{Counts, Seen, Sightings},
    simulated::{Overheard, Simulated, Words},
};
use crate::{
    error::{Error, Result},
    profiles::Profile,
    sniff::{Ear, ProfileName, Sighting},
    world::flock::variation,
};

/// A byte in the air, in microseconds; preamble, delimiter and length are six of them, and the checksum two.
const BYTE_US: u64 = 32;
const AROUND_BYTES: u64 = 8;

/// Who flies here, and how.
#[allow(missing_debug_implementations, reason = "there is a key in it")]
pub struct Settings {
    /// The simulated robots' addresses, each with the motion that it starts with.
    pub simulated: Vec<(NodeId, Motion)>,
    /// How many robots there are in all, with addresses from 0 on: nobody else is heard.
    pub robots: NodeId,
    /// Radio range of simulated robots in metres.
    pub radius: f32,
    /// The swarm's key, if frames are sealed.
    pub key: Option<Key>,
    /// Any number: of slots, and of the boot counts by which sealed frames differ from those of every other flight. By chance wherever a
    /// key is used that others use, too.
    pub chance: u64,
}

/// Makes the robot with an address.
type Make<'w, C> = Box<dyn FnMut(NodeId) -> Result<Robot<'w, C>> + 'w>;

/// The flight.
pub struct Flight<'w, C: Codec> {
    settings: Settings,
    make: Make<'w, C>,
    ear: Ear,
    line: Line,
    gateway: Option<Hello>,
    /// The gateway's time.
    now: u64,
    /// The robots, once the gateway has told the time.
    robots: Vec<Simulated<'w, C>>,
    /// Frames that are with the gateway, by number: whose, and what.
    given: BTreeMap<u16, (usize, Arc<[u8]>)>,
    number: u16,
    /// The gateway's counts of lost frames and unread messages, as last told.
    told: Option<[u16; 2]>,
    /// What was heard until then belongs to ticks that are over.
    closed: u64,
    /// What was counted.
    pub counts: Counts,
    /// What simulated robots refused.
    pub refused: Refusals,
    /// Who was seen.
    pub sightings: Sightings,
    /// Velocity variation of all robots, real ones as they say, at every tick of the first simulated one since its start.
    pub variation: Vec<f64>,
}

impl<C: Codec> std::fmt::Debug for Flight<'_, C> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Flight").field("counts", &self.counts).finish_non_exhaustive()
    }
}

impl<'w, C: Codec> Flight<'w, C> {
    /// Robots that wait for their gateway.
    #[must_use]
    pub fn new(settings: Settings, make: impl FnMut(NodeId) -> Result<Robot<'w, C>> + 'w) -> Self {
        let mut ear = Ear::new(0);
        (ear.key, ear.profile) = (settings.key, Some(ProfileName::Dot154));
        Self {
            settings,
            make: Box::new(make),
            ear,
            line: Line::default(),
            gateway: None,
            now: 0,
            robots: Vec::new(),
            given: BTreeMap::new(),
            number: 0,
            told: None,
            closed: 0,
            counts: Counts::default(),
            refused: Refusals::default(),
            sightings: Sightings::default(),
            variation: Vec::new(),
        }
    }

    /// What is said to a gateway that has not said anything yet.
    #[must_use]
    pub fn greeting() -> Vec<u8> {
        encoded(&Down::Ask { version: VERSION })
    }

    /// Whether the gateway has introduced itself.
    #[must_use]
    pub fn is_greeted(&self) -> bool {
        self.gateway.is_some()
    }

    /// Where simulated robots are at the gateway's time, by address.
    #[must_use]
    pub fn motions(&self) -> Vec<(NodeId, Motion)> {
        self.robots.iter().map(|robot| (robot.id, robot.motion(self.now))).collect()
    }

    /// The gateway said these bytes: everything that there is to do until the time that they tell, and what is said to it.
    ///
    /// # Errors
    /// Who is there is no gateway, another kind of one, or one that was reset in flight.
    pub fn hear(&mut self, bytes: &[u8]) -> Result<Vec<u8>> {
        let mut answer = Vec::new();
        for byte in bytes {
            let Some(message) = self.line.take(*byte) else { continue };
            // A message is small, and what it does needs all of this.
            let mut message = message.to_vec();
            self.understand(&mut message, &mut answer)?;
        }
        Ok(answer)
    }

    fn understand(&mut self, message: &mut [u8], answer: &mut Vec<u8>) -> Result {
        let mut other = message.to_vec();
        match Up::decode(message) {
            Some(Up::Hello(hello)) => self.greet(hello),
            Some(Up::Other(version)) => Err(Error::usage(format!(
                "the gateway speaks version {version} of its messages, this program {VERSION}: flash the gateway of this version"
            ))),
            // Before it has said what it is, nothing that it says has a meaning.
            Some(_) if self.gateway.is_none() => Ok(()),
            Some(Up::Heard { began, frame }) => {
                self.counts.heard += 1;
                self.overhear(began, frame, true);
                Ok(())
            }
            Some(Up::Spoilt { began }) => {
                self.counts.spoilt += 1;
                self.robots.iter_mut().for_each(|robot| robot.spoilt(began));
                Ok(())
            }
            Some(Up::Fate { number, fate, at }) => {
                self.settle(number, fate, at);
                Ok(())
            }
            Some(Up::Time { now, lost, unread }) => {
                self.count([lost, unread]);
                self.go_on(now, answer)
            }
            None if companion::decode::<Command>(&mut other).is_some() => Err(Error::usage(
                "there is a robot at the other end of the line, not a gateway: flash the gateway's image (docs/bring-up.md)",
            )),
            None => {
                // The first piece of what was being said when the line was opened is nobody's fault.
                self.counts.damaged += u64::from(self.told.is_some());
                Ok(())
            }
        }
    }

    fn greet(&mut self, hello: Hello) -> Result {
        let carried = Profile::with_code(hello.profile.into());
        if carried != Some(Profile::Dot154) {
            return Err(Error::usage(format!(
                "the gateway's radio carries the profile {}, this flight is on dot154",
                carried.map_or("of another version", Profile::name)
            )));
        }
        if self.gateway.is_some_and(|known| known.start != hello.start) {
            return Err(Error::Failed("the gateway was reset in flight: its clock began anew".into()));
        }
        self.gateway = Some(hello);
        Ok(())
    }

    /// Takes over what the gateway has counted.
    fn count(&mut self, told: [u16; 2]) {
        let before = self.told.replace(told).unwrap_or(told);
        self.counts.lost += u64::from(told[0].wrapping_sub(before[0]));
        self.counts.damaged += u64::from(told[1].wrapping_sub(before[1]));
    }

    /// A robot's broadcast was on the air.
    fn overhear(&mut self, began: u64, frame: &[u8], real: bool) {
        let Some((note, content)) = mac::content(frame) else {
            self.counts.foreign += 1;
            return;
        };
        let ended = began + BYTE_US * (AROUND_BYTES + frame.len() as u64);
        self.counts.late_up += u64::from(ended <= self.closed);
        let sighting = self.ear.listen(content);
        let from = self.recognise(&sighting, note, began, real);
        let overheard = Overheard { ended, content: content.into(), real };
        for robot in &mut self.robots {
            let own = sighting.origin.is_some_and(|origin| origin.sender == robot.id);
            let here = robot.motion(ended).position;
            let near = |place: &[f32; 2]| {
                let [x, y] = [here[0] - place[0], here[1] - place[1]];
                x * x + y * y <= self.settings.radius * self.settings.radius
            };
            if own && !real {
                continue;
            }
            // Whoever cannot be understood is not known to be far away: it is refused as what it is.
            if from.as_ref().is_none_or(near) {
                robot.receive(overheard.clone());
            } else {
                self.counts.beyond += 1;
            }
        }
    }

    /// Whose frame it is, if its seal could be opened: everybody keeps time by it. Returns where its sender says that it is.
    fn recognise(&mut self, sighting: &Sighting, note: Note, began: u64, real: bool) -> Option<[f32; 2]> {
        let origin = sighting.origin.filter(|origin| origin.sender < self.settings.robots)?;
        // One that is not newer than the last is still a swarm member's: the rhythm knows what was held back.
        if !matches!(sighting.refused, None | Some(Refusal::Replayed | Refusal::Old)) {
            return None;
        }
        let who = Identity { sender: origin.sender, boot: origin.boot, sequence: origin.sequence };
        self.robots.iter_mut().for_each(|robot| robot.keep_time(&who, note, began));
        if real && self.settings.simulated.iter().any(|(id, _)| *id == origin.sender) {
            self.sightings.taken.insert(origin.sender);
            return None;
        }
        let said = sighting.content.as_ref();
        let motion = said.map(|said| Motion { position: said.position, velocity: said.velocity });
        if !real {
            return motion.map(|motion| motion.position);
        }
        let known = self.sightings.real.get(&origin.sender);
        let frames = known.map_or(0, |seen| seen.frames) + u64::from(motion.is_some());
        let motion = motion.or(known.map(|seen| seen.motion))?;
        self.sightings.real.insert(origin.sender, Seen { motion, tick: origin.sequence, frames });
        Some(motion.position)
    }

    /// What became of a frame.
    fn settle(&mut self, number: u16, fate: Fate, at: u64) {
        let Some((robot, frame)) = self.given.remove(&number) else { return };
        match fate {
            Fate::Sent => {
                self.counts.sent += 1;
                self.overhear(at, &frame, false);
            }
            Fate::Busy => {
                self.counts.busy += 1;
                self.robots[robot].crowded(at);
            }
            Fate::Late => self.counts.late_down += 1,
            Fate::Refused => self.counts.refused_down += 1,
        }
    }

    /// It is so late: the ticks that are due are run.
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
            self.counts.ticks += 1;
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

    /// Everybody is switched on.
    fn begin(&mut self, timing: Timing) -> Result {
        let mut chance = self.settings.chance;
        for &(id, start) in &self.settings.simulated {
            let mut robot = (self.make)(id)?;
            robot.set_robots(self.settings.robots);
            // SplitMix64: one number after the other, each as good as any.
            let [slots, boot] = std::array::from_fn(|_| {
                chance = chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mixed = (chance ^ chance >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
                (mixed >> 32) as u32
            });
            // The lower half, so that there is room to count on, as on a board.
            robot.set_boot(boot >> 1);
            self.robots.push(Simulated::new(robot, timing, start, self.now, slots));
        }
        Ok(())
    }

    fn say(&mut self, robot: usize, Words { at, frame }: Words, answer: &mut Vec<u8>) {
        self.number = self.number.wrapping_add(1);
        answer.extend(encoded(&Down::Send { number: self.number, at, frame: &frame }));
        self.given.insert(self.number, (robot, frame));
        self.counts.given += 1;
    }

    /// How well everybody flocks: simulated robots as they are, real ones as they say.
    fn look(&mut self, at: u64) {
        let here = self.robots.iter().map(|robot| robot.motion(at).velocity);
        let there = self.sightings.real.values().map(|seen| seen.motion.velocity);
        self.variation.push(variation(here.chain(there)));
    }
}

fn encoded(message: &Down<'_>) -> Vec<u8> {
    let mut bytes = [0; LARGEST];
    let length = message.encode(&mut bytes).unwrap_or(0);
    bytes[..length].to_vec()
}

#[cfg(test)]
mod tests {
    use wdgnn_core::{compact::Dot154, rhythm, robot};

    use super::*;
    use crate::{models, recipe::RecipeName};

    const HELLO: Hello = Hello {
        profile: 2,
        start: 7,
        timing: Timing {
            period: 10_000,
            interval: 1,
            slots: 2,
            lead: 900,
            slot: 4_530,
            delay: 211,
            retry: 350,
        },
    };

    fn said(message: &Up<'_>) -> Vec<u8> {
        let mut bytes = [0; LARGEST];
        let length = message.encode(&mut bytes).unwrap();
        bytes[..length].to_vec()
    }

    fn time(now: u64) -> Vec<u8> {
        said(&Up::Time { now, lost: 0, unread: 0 })
    }

    /// Two robots at rest in the origin, unsealed, that hear nobody further away than two metres.
    fn with_flight(act: impl FnOnce(&mut Flight<'_, Dot154>)) {
        let model = models::of_profile(RecipeName::Ours, Profile::Dot154).unwrap();
        let weights = model.weights();
        let rest = Motion { position: [0.0; 2], velocity: [0.0; 2] };
        let simulated = vec![(0, rest), (1, rest)];
        let settings = Settings { simulated, robots: 4, radius: 2.0, key: None, chance: 5 };
        let make = |id| Ok(robot::robot(id, &weights, Dot154::default()).unwrap());
        act(&mut Flight::new(settings, make));
    }

    /// What is sent in the time until then, frame by frame.
    fn sent(flight: &mut Flight<'_, Dot154>, until: u64) -> Vec<(u16, u64, Vec<u8>)> {
        let (mut found, mut line) = (Vec::new(), Line::default());
        for now in (flight.now + 1_000..=until).step_by(1_000) {
            for byte in flight.hear(&time(now)).unwrap() {
                if let Some(message) = line.take(byte)
                    && let Some(Down::Send { number, at, frame }) = Down::decode(message)
                {
                    assert!(at > now + 900, "it can be there in time");
                    found.push((number, at, frame.to_vec()));
                }
            }
        }
        found
    }

    #[test]
    fn who_is_there_is_told_by_name_when_it_is_no_gateway_of_ours() {
        let refusal = |bytes: &[u8]| {
            let mut refusal = String::new();
            with_flight(|flight| refusal = flight.hear(bytes).unwrap_err().to_string());
            refusal
        };
        assert!(refusal(&said(&Up::Other(9))).contains("speaks version 9"));
        let esb32 = Hello { profile: 4, ..HELLO };
        assert!(refusal(&said(&Up::Hello(esb32))).contains("this flight is on dot154"));
        let mut command = [0; companion::LARGEST];
        let robot = Command { acceleration: [0.0; 2], tick: 7, stop: 0 };
        let length = companion::encode(&robot, &mut command).unwrap();
        assert!(refusal(&command[..length]).contains("there is a robot at the other end"));
        let again = [said(&Up::Hello(HELLO)), said(&Up::Hello(Hello { start: 8, ..HELLO }))].concat();
        assert!(refusal(&again).contains("reset in flight"));
    }

    #[test]
    fn robots_speak_in_slots_of_their_own_and_what_becomes_of_their_frames_is_counted() {
        with_flight(|flight| {
            flight.hear(&[said(&Up::Hello(HELLO)), time(1_000)].concat()).unwrap();
            let frames = sent(flight, 500_000);
            let senders: Vec<u8> = frames.iter().map(|(_, _, frame)| frame[7]).collect();
            assert!(senders.contains(&0) && senders.contains(&1), "{senders:?}");
            let fates = [Fate::Sent, Fate::Busy, Fate::Late, Fate::Refused];
            for ((number, at, _), fate) in frames.iter().zip(fates) {
                flight.hear(&said(&Up::Fate { number: *number, fate, at: *at })).unwrap();
            }
            let Counts { given, sent, busy, late_down, refused_down, .. } = flight.counts;
            assert_eq!((given, sent, busy, late_down, refused_down), (frames.len() as u64, 1, 1, 1, 1));
            // A fate that nobody asked for is nothing.
            flight.hear(&said(&Up::Fate { number: 9_999, fate: Fate::Sent, at: 0 })).unwrap();
            assert_eq!(flight.counts.sent, 1);
        });
    }

    #[test]
    fn a_frame_is_heard_in_its_tick_and_one_that_comes_later_is_counted_and_heard_in_the_next() {
        with_flight(|flight| {
            flight.hear(&[said(&Up::Hello(HELLO)), time(1_000)].concat()).unwrap();
            let frames = sent(flight, 500_000);
            let (_, _, words) = frames.iter().find(|(_, _, frame)| frame[7] == 1).unwrap();
            // As if robot 2 had said it.
            let (_, content) = mac::content(words).unwrap();
            let from = content.windows(2).position(|pair| pair == [1, 0]).unwrap();
            let as_two = |counter: u8| {
                let mut content = content.to_vec();
                content[from] = 2;
                content[from + 6] = content[from + 6].wrapping_add(counter);
                [&mac::header(counter, 2, rhythm::Note::default())[..], &content].concat()
            };
            let heard = |flight: &mut Flight<'_, Dot154>, began: u64, counter: u8| {
                let bytes = said(&Up::Heard { began, frame: &as_two(counter) });
                flight.hear(&bytes).unwrap();
            };
            heard(flight, flight.now + 500, 1);
            assert_eq!((flight.counts.late_up, flight.counts.taken_of_real), (0, 0));
            sent(flight, 530_000);
            assert_eq!((flight.counts.late_up, flight.counts.taken_of_real), (0, 2), "by both");
            heard(flight, 400_000, 2);
            sent(flight, 560_000);
            assert_eq!((flight.counts.late_up, flight.counts.heard), (1, 2));
            flight.hear(&said(&Up::Heard { began: 560_000, frame: &[1, 2, 3] })).unwrap();
            assert_eq!(flight.counts.foreign, 1);
        });
    }

    #[test]
    fn what_the_gateway_loses_and_what_is_damaged_is_counted() {
        with_flight(|flight| {
            let told = |now, lost, unread| said(&Up::Time { now, lost, unread });
            flight.hear(&[1, 2, 3, 0]).unwrap();
            flight.hear(&[said(&Up::Hello(HELLO)), told(1_000, 65_530, 3)].concat()).unwrap();
            flight.hear(&[told(2_000, 4, 5), vec![9, 9, 0]].concat()).unwrap();
            let Counts { lost, damaged, .. } = flight.counts;
            assert_eq!(
                (lost, damaged),
                (10, 3),
                "counts go round, and what was before the flight is nobody's"
            );
        });
    }
}
