//! Operations of a robot of any task and link profile.

use wdgnn_core::{
    task::State,
    tensor::{Array, Tensor as _},
    weights::Weights,
};
use wdgnn_link::{
    encoding::Encoding,
    error::{FrameError, FrameErrorCounts},
    link::{Link, RadioLink as _},
    security::{
        LinkSecurity, Open,
        aes::Aes,
        group_key::GroupKey,
        key::Key,
        managed_keys::{ManagedKeys, ROSTER_CAPACITY},
    },
};
use wdgnn_robot::{
    config::{RobotConfig, Trust, TrustAll, TrustPolicy},
    control_loop::{MAX_FRAMES_PER_TICK, MAX_LATE_AUTHENTICATIONS, PortErrors},
    onboard::{self, MAX_BUFFER_LEN, OnboardTask, TaskRobot},
    persist,
    ports::{Measurement, Store},
    robot::Robot,
};

use crate::{
    error::Error,
    types::{Counters, MAX_COMMAND_LEN, MAX_STATE_LEN, Neighbor, Report, Sender, Verdict},
};

/// Configuration of a robot with checked pointers and parsed keys.
pub struct CheckedConfig<'a> {
    pub address: u16,
    pub weights: &'a Weights<'static>,
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

/// Security of a link by the keys of a configuration.
pub trait KeyedSecurity: LinkSecurity + Sized + Sync {
    /// Whether the group key can change in flight.
    const KEY_ROTATION: bool = false;

    /// Treatment of received messages.
    type Trust: TrustPolicy;

    /// Configuration with this treatment.
    fn with_trust<M, T>(config: RobotConfig<M, T>) -> RobotConfig<M, T, Self::Trust>;

    /// Security of a link that has not received a frame.
    fn with_key(key: Option<&Key>) -> Result<Self, Error>;

    /// Security of a robot with this configuration.
    #[inline]
    fn for_robot(config: &CheckedConfig<'_>) -> Result<Self, Error> {
        if config.personal_key.is_some() || !config.peer_keys.is_empty() {
            return Err(Error::PersonalKeyUnused);
        }
        Self::with_key(config.group_key)
    }
}

impl KeyedSecurity for Open {
    type Trust = TrustAll;

    #[inline]
    fn with_trust<M, T>(config: RobotConfig<M, T>) -> RobotConfig<M, T, TrustAll> {
        config.with(|model| model, TrustAll)
    }

    fn with_key(key: Option<&Key>) -> Result<Self, Error> {
        key.map_or(Ok(Self), |_| Err(Error::KeyUnused))
    }
}

impl<const TAG: usize> KeyedSecurity for GroupKey<Aes, TAG> {
    type Trust = Trust;

    #[inline]
    fn with_trust<M, T>(config: RobotConfig<M, T>) -> RobotConfig<M, T> {
        config.robust()
    }

    fn with_key(key: Option<&Key>) -> Result<Self, Error> {
        key.map(Self::new).ok_or(Error::KeyMissing)
    }
}

impl<const TAG: usize> KeyedSecurity for ManagedKeys<Aes, TAG, ROSTER_CAPACITY> {
    const KEY_ROTATION: bool = true;

    type Trust = Trust;

    #[inline]
    fn with_trust<M, T>(config: RobotConfig<M, T>) -> RobotConfig<M, T> {
        config.robust()
    }

    fn with_key(key: Option<&Key>) -> Result<Self, Error> {
        GroupKey::with_key(key).map(Self::new)
    }

    fn for_robot(config: &CheckedConfig<'_>) -> Result<Self, Error> {
        let key = config.group_key.ok_or(Error::KeyMissing)?;
        let (personal, epoch) = config.personal_key.ok_or(Error::PersonalKeyMissing)?;
        let mut keys = Self::with_key(config.group_key)?;
        keys.set_key_rotation(config.address, personal, epoch, key);
        keys.set_peer_keys(config.address, personal, config.peer_keys);
        Ok(keys)
    }
}

/// Robot of the task `T` with the link profile `E` and the security `S`, and its counters.
pub struct TypedRobot<T: OnboardTask, E, S: KeyedSecurity> {
    robot: TaskRobot<'static, T, Link<E, S>, S::Trust>,
    /// Frames sent in this tick.
    sent_frames: u32,
    /// Frames outside the time window that were authenticated in this tick.
    late_authentications: u32,
    /// Frames received in this tick, including rejected ones.
    received: u32,
    /// Frames rejected in this tick, by reason.
    rejected: FrameErrorCounts,
    errors: PortErrors,
    counters: Counters,
}

impl<T: OnboardTask, E: Encoding, S: KeyedSecurity> TypedRobot<T, E, S> {
    #[inline]
    pub fn new(config: &CheckedConfig<'_>) -> Result<Self, Error> {
        let weights = config.weights;
        // A longer interval than the profile's is fine: it leaves time for more robots.
        if weights.header.interval < E::PROFILE.exchange_ticks() {
            return Err(Error::ExchangeRate);
        }
        let mut link = Link::new(weights.checksum, S::for_robot(config)?);
        link.set_boot_count(config.boot_count);
        link.security_mut().set_swarm_size(config.swarm_size);
        let robot_config = onboard::config_from_weights::<T>(weights)?;
        Ok(Self {
            robot: Robot::new(config.address, S::with_trust(robot_config), link, T::State::zero()),
            sent_frames: 0,
            late_authentications: 0,
            received: 0,
            rejected: FrameErrorCounts::default(),
            errors: PortErrors::default(),
            counters: Counters::default(),
        })
    }

    /// Sender of a frame, if it is authenticated as a member of the swarm.
    fn sender(&mut self, frame: &[u8], result: Result<(), FrameError>) -> Option<Sender> {
        let id = match result {
            Ok(()) | Err(FrameError::Implausible | FrameError::TableFull) => {
                self.robot.link().frame_id(self.robot.tick(), frame)
            }
            Err(FrameError::OutOfWindow) if self.late_authentications < MAX_LATE_AUTHENTICATIONS => {
                self.late_authentications += 1;
                self.robot.authenticate_late_frame(frame)
            }
            Err(_) => None,
        }?;
        let tick = id.sequence / E::FRAMES_PER_EXCHANGE.max(1);
        Some(Sender { is_member: true, address: id.sender, boot_count: id.boot, tick })
    }

    /// Clears the counters of a tick.
    fn clear_tick(&mut self) {
        (self.received, self.rejected) = (0, FrameErrorCounts::default());
        self.errors = PortErrors::default();
    }
}

impl<T: OnboardTask, E: Encoding + Sync, S: KeyedSecurity> AnyRobot for TypedRobot<T, E, S> {
    fn begin_tick(&mut self, tick: u32, state: Option<&[f32]>, age: u32) -> Result<(), Error> {
        (self.sent_frames, self.late_authentications) = (0, 0);
        self.clear_tick();
        let sensed = state.map(|list| {
            let mut numbers = <T::State as State>::Array::from_slice(list);
            // Decaying filters produce subnormal numbers, which the core rejects as noise.
            numbers.as_mut().iter_mut().filter(|x| x.is_subnormal()).for_each(|x| *x = 0.0);
            Measurement { state: T::State::from_array(numbers), age }
        });
        let used = self.robot.sense(tick, sensed);
        self.errors.sensor = u32::from(!used);
        if used || state.is_none() { Ok(()) } else { Err(Error::StateRejected) }
    }

    fn next_frame(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        if self.sent_frames >= E::FRAMES_PER_EXCHANGE || !self.robot.sends_this_tick() {
            return Ok(0);
        }
        let index = self.sent_frames;
        self.sent_frames += 1;
        self.robot.send(index, buffer).ok_or_else(|| {
            self.errors.send += 1;
            Error::HeaderOverflow
        })
    }

    fn receive(&mut self, frame: &mut [u8], sender: &mut Sender) -> Result<(), Error> {
        let result = if self.received < MAX_FRAMES_PER_TICK {
            let result = self.robot.receive(frame);
            *sender = self.sender(frame, result).unwrap_or_default();
            result
        } else {
            Err(FrameError::Flood)
        };
        self.received = self.received.saturating_add(1);
        result.map_err(|error| {
            self.rejected.count(error);
            error.into()
        })
    }

    fn end_tick(&mut self) -> Report {
        let evicted = self.robot.end_receive() as u8;
        let (command, verdict) = self.robot.decide();
        let verdict = Verdict::from(verdict);
        // The caller reads the command from the report and executes it.
        self.robot.set_executed_command((verdict != Verdict::Blind).then_some(command));
        let consensus = self.robot.learn();
        let counters = &mut self.counters;
        counters.add_errors(&self.errors);
        counters.received_frames = counters.received_frames.saturating_add(self.received);
        for (reason, count) in self.rejected.iter() {
            if let Some(sum) = counters.frame_errors.get_mut(reason as usize) {
                *sum = sum.saturating_add(count);
            }
        }
        counters.blind_ticks = counters.blind_ticks.saturating_add(u32::from(verdict == Verdict::Blind));
        let mut numbers = [0.0; MAX_COMMAND_LEN];
        numbers.iter_mut().zip(command.as_ref()).for_each(|(to, from)| *to = *from);
        let report = Report {
            tick: self.robot.tick(),
            received_frames: self.received,
            command: numbers,
            verdict,
            neighbors: self.robot.neighbors().len() as u8,
            evicted_neighbors: evicted,
            consensus_neighbors: consensus.mixed,
            key_epoch: self.robot.link().security().key_epoch(),
            store_required: self.robot.link().security().has_unsaved_keys(),
        };
        // A second call in this tick must not count the frames again.
        self.clear_tick();
        report
    }

    fn counters(&self) -> &Counters {
        &self.counters
    }

    fn parameters(&self) -> &[f32] {
        self.robot.agent().wide().numbers()
    }

    fn neighbor(&self, index: usize) -> Option<Neighbor> {
        let entry = self.robot.neighbors().nth(index)?;
        let mut state = [0.0; MAX_STATE_LEN];
        let numbers = entry.message.state.to_array();
        state.iter_mut().zip(numbers.as_ref()).for_each(|(to, from)| *to = *from);
        Some(Neighbor {
            address: entry.message.sender,
            is_used: entry.is_trusted,
            last_heard_tick: entry.last_received,
            state,
        })
    }

    fn store(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let mut store = RecordStore { stored: None, saved_bytes: 0 };
        persist::save_and_flush(&self.robot, &mut store, buffer).map_err(|_| Error::BufferTooSmall)?;
        self.robot.link_mut().security_mut().mark_keys_saved();
        Ok(store.saved_bytes)
    }

    fn restore(&mut self, record: &[u8]) -> Result<(), Error> {
        let mut store = RecordStore { stored: Some(record), saved_bytes: 0 };
        match persist::restore(&mut self.robot, &mut store, &mut [0; MAX_BUFFER_LEN]) {
            Ok(true) => Ok(()),
            _ => Err(Error::RecordRejected),
        }
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
