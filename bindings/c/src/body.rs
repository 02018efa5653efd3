//! A robot's verbs, whatever its task and its link profile.

use wdgnn_core::{
    task::State,
    tensor::{Numbers, Tensor as _},
    weights::Weights,
};
use wdgnn_link::{
    Refusal,
    encoding::{
        Codec,
        esb32::Esb32,
        exact::Exact,
        half::{Dot154, EspNow},
        p2p57::P2p57,
    },
    security::{
        aes::Aes,
        group_key::{ROSTER, SealedWith},
        key::Key,
    },
};
use wdgnn_robot::{
    control_loop::{self, Hearing, MOST_FRAMES, MOST_VOUCHED, PortErrors},
    onboard::{self, LONGEST_BUFFER, Onboard, Robot},
    persist,
    ports::{Actuator, Sensed, Store},
};

use crate::{
    error::Error,
    told::{Counters, MOST_COMMANDS, MOST_STATES, Neighbour, Report, Sender, Verdict},
};

/// What a robot is made of.
pub struct Parts<'a> {
    pub address: u16,
    pub weights: &'static [u8],
    pub key: Option<&'a Key>,
    pub boot: u32,
    pub robots: u16,
    /// The personal key, and the epoch of the swarm's.
    pub personal: Option<(&'a Key, u8)>,
    pub roster: &'static [Key],
}

/// What a robot does, in the order of a tick, and what it can be asked.
pub trait Verbs {
    fn sense(&mut self, tick: u32, state: Option<&[f32]>, age: u32) -> Result<(), Error>;
    fn speak(&mut self, buffer: &mut [u8]) -> Result<usize, Error>;
    fn hear(&mut self, frame: &mut [u8], sender: &mut Sender) -> Result<(), Error>;
    fn finish(&mut self) -> Report;
    fn counters(&self) -> &Counters;
    fn parameters(&self) -> &[f32];
    fn neighbour(&self, index: usize) -> Option<Neighbour>;
    fn store(&mut self, buffer: &mut [u8]) -> Result<usize, Error>;
    fn restore(&mut self, record: &[u8]) -> Result<(), Error>;
}

/// A link profile that may have a key.
pub trait Keyed: Codec + Sized + Sync {
    /// One that has heard nothing yet.
    fn with_key(key: Option<&Key>) -> Result<Self, Error>;

    /// Whether its key can change in flight.
    const REKEYABLE: bool = false;

    /// The same for a robot that was told these parts.
    fn of(parts: &Parts<'_>) -> Result<Self, Error> {
        if parts.personal.is_some() || !parts.roster.is_empty() {
            return Err(Error::PersonalUnused);
        }
        Self::with_key(parts.key)
    }
}

macro_rules! open {
    ($($profile:ty),+) => {
        $(impl Keyed for $profile {
            fn with_key(key: Option<&Key>) -> Result<Self, Error> {
                key.map_or(Ok(Self::default()), |_| Err(Error::KeyUnused))
            }
        })+
    };
}

open!(Exact, Dot154, EspNow, Esb32, P2p57);

impl<P: Codec + Default + Sync, const TAG: usize> Keyed for SealedWith<P, Aes, TAG> {
    fn with_key(key: Option<&Key>) -> Result<Self, Error> {
        key.map(|key| Self::new(P::default(), key)).ok_or(Error::KeyMissing)
    }
}

impl<P: Codec + Default + Sync, const TAG: usize> Keyed for SealedWith<P, Aes, TAG, ROSTER> {
    const REKEYABLE: bool = true;

    fn with_key(key: Option<&Key>) -> Result<Self, Error> {
        key.map(|key| Self::new(P::default(), key)).ok_or(Error::KeyMissing)
    }

    fn of(parts: &Parts<'_>) -> Result<Self, Error> {
        let key = parts.key.ok_or(Error::KeyMissing)?;
        let (personal, epoch) = parts.personal.ok_or(Error::PersonalMissing)?;
        let link = Self::with_key(parts.key)?.rekeyed(parts.address, personal, epoch, key);
        Ok(link.knowing(parts.address, personal, parts.roster))
    }
}

/// A robot and what is counted of it.
pub struct Body<T: Onboard, P: Codec> {
    node: Robot<'static, P, T>,
    /// Frames of this tick that were spoken.
    spoken: u32,
    /// Untimely frames of this tick whose seals were opened.
    vouched: u32,
    hearing: Hearing,
    errors: PortErrors,
    counters: Counters,
}

impl<T: Onboard, P: Keyed> Body<T, P> {
    #[inline]
    pub fn new(parts: &Parts<'_>) -> Result<Self, Error> {
        let codec = P::of(parts)?;
        let weights = Weights::open(parts.weights)?;
        // Rarer is no problem: more robots have their turn then.
        if weights.header.interval < P::profile(true).interval() {
            return Err(Error::ExchangeRate);
        }
        let mut node = onboard::robot(parts.address, &weights, codec)?;
        node.set_boot(parts.boot);
        node.set_robots(parts.robots);
        Ok(Self {
            node,
            spoken: 0,
            vouched: 0,
            hearing: Hearing::default(),
            errors: PortErrors::default(),
            counters: Counters::default(),
        })
    }

    /// Whose frame this is, if it is a swarm member's: as the tick's own loop tells a radio.
    fn vouch(&mut self, frame: &[u8], outcome: Result<(), Refusal>) -> Option<Sender> {
        let identity = match outcome {
            Ok(()) | Err(Refusal::Implausible | Refusal::TableFull) => P::identity(frame, self.node.tick()),
            Err(Refusal::Untimely) if self.vouched < MOST_VOUCHED => {
                self.vouched += 1;
                self.node.vouch(frame)
            }
            Err(_) => None,
        }?;
        let tick = identity.sequence / P::FRAMES.max(1);
        Some(Sender { member: true, address: identity.sender, boot: identity.boot, tick })
    }
}

impl<T: Onboard, P: Keyed> Verbs for Body<T, P> {
    fn sense(&mut self, tick: u32, state: Option<&[f32]>, age: u32) -> Result<(), Error> {
        (self.spoken, self.vouched) = (0, 0);
        (self.hearing, self.errors) = (Hearing::default(), PortErrors::default());
        let sensed = state.map(|list| {
            let mut numbers = <T::State as State>::Numbers::gather(list);
            // A filter that comes to rest goes through numbers that are all but zero, which the core refuses as it does noise.
            numbers.as_mut().iter_mut().filter(|x| x.is_subnormal()).for_each(|x| *x = 0.0);
            Sensed { state: T::State::from_numbers(numbers), age }
        });
        let used = self.node.sense(tick, sensed);
        self.errors.sensor = u32::from(!used);
        if used || state.is_none() { Ok(()) } else { Err(Error::StateRefused) }
    }

    fn speak(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        if self.spoken >= P::FRAMES || !self.node.speaks() {
            return Ok(0);
        }
        let index = self.spoken;
        self.spoken += 1;
        self.node.speak_frame(index, buffer).ok_or_else(|| {
            self.errors.send += 1;
            Error::Unspeakable
        })
    }

    fn hear(&mut self, frame: &mut [u8], sender: &mut Sender) -> Result<(), Error> {
        let outcome = if self.hearing.heard < MOST_FRAMES {
            let outcome = self.node.hear(frame);
            *sender = self.vouch(frame, outcome).unwrap_or_default();
            outcome
        } else {
            Err(Refusal::Flood)
        };
        self.hearing.heard = self.hearing.heard.saturating_add(1);
        outcome.map_err(|refusal| {
            self.hearing.refused.count(refusal);
            refusal.into()
        })
    }

    fn finish(&mut self) -> Report {
        let report = control_loop::conclude(&mut self.node, &mut Told, &self.hearing, self.errors);
        let counters = &mut self.counters;
        counters.add_errors(&report.errors);
        counters.heard = counters.heard.saturating_add(report.heard);
        for (reason, count) in report.refused.iter() {
            if let Some(sum) = counters.refused.get_mut(reason as usize) {
                *sum = sum.saturating_add(count);
            }
        }
        let verdict = Verdict::from(report.verdict);
        counters.blind = counters.blind.saturating_add(u32::from(verdict == Verdict::Blind));
        // What is counted is counted once, also by who asks for two commands in a tick.
        (self.hearing, self.errors) = (Hearing::default(), PortErrors::default());
        let mut command = [0.0; MOST_COMMANDS];
        command.iter_mut().zip(report.command.as_ref()).for_each(|(to, from)| *to = *from);
        Report {
            tick: report.tick,
            heard: report.heard,
            command,
            verdict,
            neighbours: report.neighbours,
            forgotten: report.forgotten,
            mixed: report.agreement.mixed,
            epoch: self.node.epoch(),
            store: self.node.keys_unsaved(false),
        }
    }

    fn counters(&self) -> &Counters {
        &self.counters
    }

    fn parameters(&self) -> &[f32] {
        self.node.wide().numbers()
    }

    fn neighbour(&self, index: usize) -> Option<Neighbour> {
        let found = self.node.neighbours().nth(index)?;
        let mut state = [0.0; MOST_STATES];
        let numbers = found.beacon.state.numbers();
        state.iter_mut().zip(numbers.as_ref()).for_each(|(to, from)| *to = *from);
        Some(Neighbour { address: found.beacon.sender, counts: found.counts, heard: found.heard, state })
    }

    fn store(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let mut store = Record { there: None, saved: 0 };
        persist::keep(&self.node, &mut store, buffer).map_err(|_| Error::BufferTooSmall)?;
        self.node.keys_unsaved(true);
        Ok(store.saved)
    }

    fn restore(&mut self, record: &[u8]) -> Result<(), Error> {
        let mut store = Record { there: Some(record), saved: 0 };
        match persist::resume(&mut self.node, &mut store, &mut [0; LONGEST_BUFFER]) {
            Ok(true) => Ok(()),
            _ => Err(Error::RecordRefused),
        }
    }
}

/// The command is in the report.
struct Told;

impl<O> Actuator<O> for Told {
    type Error = ();

    fn act(&mut self, _: &O) -> Result<(), ()> {
        Ok(())
    }

    fn stop(&mut self) -> Result<(), ()> {
        Ok(())
    }
}

/// A record that is there already, and how long the one is that was written.
struct Record<'a> {
    there: Option<&'a [u8]>,
    saved: usize,
}

impl Store for Record<'_> {
    type Error = ();

    fn load(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, ()> {
        Ok(self.there.map(|record| {
            buffer.iter_mut().zip(record).for_each(|(to, from)| *to = *from);
            record.len()
        }))
    }

    fn save(&mut self, bytes: &[u8]) -> Result<(), ()> {
        self.saved = bytes.len();
        Ok(())
    }
}
