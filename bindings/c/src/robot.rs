//! Operations of a robot of any task and link profile.

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
    types::{Counters, MAX_COMMAND_LEN, MAX_STATE_LEN, Neighbor, Report, Sender, Verdict},
};

/// Configuration of a robot with checked pointers and parsed keys.
pub struct CheckedConfig<'a> {
    pub address: u16,
    pub weights: &'static [u8],
    pub group_key: Option<&'a Key>,
    pub boot_count: u32,
    pub swarm_size: u16,
    /// Personal key, and epoch of the group key.
    pub personal_key: Option<(&'a Key, u8)>,
    pub peer_keys: &'static [Key],
}

/// Steps of a tick in their order, then queries and persistence.
pub trait AnyRobot {
    fn begin_tick(&mut self, tick: u32, state: Option<&[f32]>, age: u32) -> Result<(), Error>;
    fn next_frame(&mut self, buffer: &mut [u8]) -> Result<usize, Error>;
    fn receive(&mut self, frame: &mut [u8], sender: &mut Sender) -> Result<(), Error>;
    fn end_tick(&mut self) -> Report;
    fn counters(&self) -> &Counters;
    fn parameters(&self) -> &[f32];
    fn neighbor(&self, index: usize) -> Option<Neighbor>;
    fn store(&mut self, buffer: &mut [u8]) -> Result<usize, Error>;
    fn restore(&mut self, record: &[u8]) -> Result<(), Error>;
}

/// Link profile with or without a group key.
pub trait KeyedLink: Codec + Sized + Sync {
    /// Link that has not received a frame.
    fn with_key(key: Option<&Key>) -> Result<Self, Error>;

    /// Whether the group key can change in flight.
    const KEY_ROTATION: bool = false;

    /// Link of a robot with this configuration.
    fn for_robot(config: &CheckedConfig<'_>) -> Result<Self, Error> {
        if config.personal_key.is_some() || !config.peer_keys.is_empty() {
            return Err(Error::PersonalKeyUnused);
        }
        Self::with_key(config.group_key)
    }
}

macro_rules! unsealed {
    ($($profile:ty),+) => {
        $(impl KeyedLink for $profile {
            fn with_key(key: Option<&Key>) -> Result<Self, Error> {
                key.map_or(Ok(Self::default()), |_| Err(Error::KeyUnused))
            }
        })+
    };
}

unsealed!(Exact, Dot154, EspNow, Esb32, P2p57);

impl<P: Codec + Default + Sync, const TAG: usize> KeyedLink for SealedWith<P, Aes, TAG> {
    fn with_key(key: Option<&Key>) -> Result<Self, Error> {
        key.map(|key| Self::new(P::default(), key)).ok_or(Error::KeyMissing)
    }
}

impl<P: Codec + Default + Sync, const TAG: usize> KeyedLink for SealedWith<P, Aes, TAG, ROSTER> {
    const KEY_ROTATION: bool = true;

    fn with_key(key: Option<&Key>) -> Result<Self, Error> {
        key.map(|key| Self::new(P::default(), key)).ok_or(Error::KeyMissing)
    }

    fn for_robot(config: &CheckedConfig<'_>) -> Result<Self, Error> {
        let key = config.group_key.ok_or(Error::KeyMissing)?;
        let (personal, epoch) = config.personal_key.ok_or(Error::PersonalKeyMissing)?;
        let link = Self::with_key(config.group_key)?.rekeyed(config.address, personal, epoch, key);
        Ok(link.knowing(config.address, personal, config.peer_keys))
    }
}

/// Robot of the task `T` with the link `P`, and its counters.
pub struct TypedRobot<T: Onboard, P: Codec> {
    node: Robot<'static, P, T>,
    /// Frames sent in this tick.
    sent_frames: u32,
    /// Frames outside the time window that were authenticated in this tick.
    late_authentications: u32,
    hearing: Hearing,
    errors: PortErrors,
    counters: Counters,
}

impl<T: Onboard, P: KeyedLink> TypedRobot<T, P> {
    #[inline]
    pub fn new(config: &CheckedConfig<'_>) -> Result<Self, Error> {
        let codec = P::for_robot(config)?;
        let weights = Weights::open(config.weights)?;
        // A longer interval than the profile's is fine: it leaves time for more robots.
        if weights.header.interval < P::profile(true).interval() {
            return Err(Error::ExchangeRate);
        }
        let mut node = onboard::robot(config.address, &weights, codec)?;
        node.set_boot(config.boot_count);
        node.set_robots(config.swarm_size);
        Ok(Self {
            node,
            sent_frames: 0,
            late_authentications: 0,
            hearing: Hearing::default(),
            errors: PortErrors::default(),
            counters: Counters::default(),
        })
    }

    /// Sender of a frame, if it is authenticated as a member of the swarm.
    fn sender(&mut self, frame: &[u8], outcome: Result<(), Refusal>) -> Option<Sender> {
        let identity = match outcome {
            Ok(()) | Err(Refusal::Implausible | Refusal::TableFull) => P::identity(frame, self.node.tick()),
            Err(Refusal::Untimely) if self.late_authentications < MOST_VOUCHED => {
                self.late_authentications += 1;
                self.node.vouch(frame)
            }
            Err(_) => None,
        }?;
        let tick = identity.sequence / P::FRAMES.max(1);
        Some(Sender { is_member: true, address: identity.sender, boot_count: identity.boot, tick })
    }
}

impl<T: Onboard, P: KeyedLink> AnyRobot for TypedRobot<T, P> {
    fn begin_tick(&mut self, tick: u32, state: Option<&[f32]>, age: u32) -> Result<(), Error> {
        (self.sent_frames, self.late_authentications) = (0, 0);
        (self.hearing, self.errors) = (Hearing::default(), PortErrors::default());
        let sensed = state.map(|list| {
            let mut numbers = <T::State as State>::Numbers::gather(list);
            // Decaying filters produce subnormal numbers, which the core rejects as noise.
            numbers.as_mut().iter_mut().filter(|x| x.is_subnormal()).for_each(|x| *x = 0.0);
            Sensed { state: T::State::from_numbers(numbers), age }
        });
        let used = self.node.sense(tick, sensed);
        self.errors.sensor = u32::from(!used);
        if used || state.is_none() { Ok(()) } else { Err(Error::StateRejected) }
    }

    fn next_frame(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        if self.sent_frames >= P::FRAMES || !self.node.speaks() {
            return Ok(0);
        }
        let index = self.sent_frames;
        self.sent_frames += 1;
        self.node.speak_frame(index, buffer).ok_or_else(|| {
            self.errors.send += 1;
            Error::HeaderOverflow
        })
    }

    fn receive(&mut self, frame: &mut [u8], sender: &mut Sender) -> Result<(), Error> {
        let outcome = if self.hearing.heard < MOST_FRAMES {
            let outcome = self.node.hear(frame);
            *sender = self.sender(frame, outcome).unwrap_or_default();
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

    fn end_tick(&mut self) -> Report {
        let report = control_loop::conclude(&mut self.node, &mut NoActuator, &self.hearing, self.errors);
        let counters = &mut self.counters;
        counters.add_errors(&report.errors);
        counters.received_frames = counters.received_frames.saturating_add(report.heard);
        for (reason, count) in report.refused.iter() {
            if let Some(sum) = counters.frame_errors.get_mut(reason as usize) {
                *sum = sum.saturating_add(count);
            }
        }
        let verdict = Verdict::from(report.verdict);
        counters.blind_ticks = counters.blind_ticks.saturating_add(u32::from(verdict == Verdict::Blind));
        // A second call in this tick must not count the frames again.
        (self.hearing, self.errors) = (Hearing::default(), PortErrors::default());
        let mut command = [0.0; MAX_COMMAND_LEN];
        command.iter_mut().zip(report.command.as_ref()).for_each(|(to, from)| *to = *from);
        Report {
            tick: report.tick,
            received_frames: report.heard,
            command,
            verdict,
            neighbors: report.neighbours,
            evicted_neighbors: report.forgotten,
            consensus_neighbors: report.agreement.mixed,
            key_epoch: self.node.epoch(),
            store_required: self.node.keys_unsaved(false),
        }
    }

    fn counters(&self) -> &Counters {
        &self.counters
    }

    fn parameters(&self) -> &[f32] {
        self.node.wide().numbers()
    }

    fn neighbor(&self, index: usize) -> Option<Neighbor> {
        let found = self.node.neighbours().nth(index)?;
        let mut state = [0.0; MAX_STATE_LEN];
        let numbers = found.beacon.state.numbers();
        state.iter_mut().zip(numbers.as_ref()).for_each(|(to, from)| *to = *from);
        Some(Neighbor {
            address: found.beacon.sender,
            is_used: found.counts,
            last_heard_tick: found.heard,
            state,
        })
    }

    fn store(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let mut store = RecordStore { stored: None, saved_bytes: 0 };
        persist::keep(&self.node, &mut store, buffer).map_err(|_| Error::BufferTooSmall)?;
        self.node.keys_unsaved(true);
        Ok(store.saved_bytes)
    }

    fn restore(&mut self, record: &[u8]) -> Result<(), Error> {
        let mut store = RecordStore { stored: Some(record), saved_bytes: 0 };
        match persist::resume(&mut self.node, &mut store, &mut [0; LONGEST_BUFFER]) {
            Ok(true) => Ok(()),
            _ => Err(Error::RecordRejected),
        }
    }
}

/// Actuator that does nothing: the caller reads the command from the report.
struct NoActuator;

impl<O> Actuator<O> for NoActuator {
    type Error = ();

    fn act(&mut self, _: &O) -> Result<(), ()> {
        Ok(())
    }

    fn stop(&mut self) -> Result<(), ()> {
        Ok(())
    }
}

/// Store over the caller's record: loads `stored`, and notes the length of a saved record.
struct RecordStore<'a> {
    stored: Option<&'a [u8]>,
    saved_bytes: usize,
}

impl Store for RecordStore<'_> {
    type Error = ();

    fn load(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, ()> {
        Ok(self.stored.map(|record| {
            buffer.iter_mut().zip(record).for_each(|(to, from)| *to = *from);
            record.len()
        }))
    }

    fn save(&mut self, bytes: &[u8]) -> Result<(), ()> {
        self.saved_bytes = bytes.len();
        Ok(())
    }
}
