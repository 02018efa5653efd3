//! Frame codec with the robots' own code.

use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use wdgnn_core::{
    filter::DelayLines,
    math,
    message::Message,
    model::Model,
    task::{NodeId, State},
    tensor::{Array as _, Tensor},
};
use wdgnn_link::{
    error::FrameError,
    header::Link,
    security::{
        group_key,
        key::{self, Key},
        key_ring::KEPT_BYTES,
    },
};
use wdgnn_robot::{
    node::MessageOf,
    onboard::{MAX_BUFFER_LEN, ModelOf},
};
use wdgnn_sim::{
    profiles::{CodecVisitor, RobotKeyring, SimCodec, visit_codec},
    scene::SimTask,
    world::Environment,
};

use crate::{
    error::FrameError,
    swarm_config::{WorldVisitor, profile, visit},
};

/// Names of all frame errors.
pub fn frame_errors() -> Vec<&'static str> {
    FrameError::ALL.iter().map(|refusal| refusal.name()).collect()
}

/// Fields of a beacon: sender, boot count, sequence number, degree, state, taps, wide parameters, and the ranges of taps and
/// wide parameters in this frame.
type BeaconFields = (u16, u32, u32, u8, Vec<f32>, Vec<f32>, Vec<f32>, (usize, usize), (usize, usize));

/// Keys and epochs that a robot stores over a restart.
type KeyState = [u8; KEPT_BYTES];

/// Keys of a robot from Python: address, personal key, epoch of the group key, peer keys.
type RobotKeys = (NodeId, Vec<u8>, u8, Vec<Vec<u8>>);

/// Codec for any task and link profile.
trait AnyCodec: Send + Sync {
    fn sizes(&self) -> (usize, usize, usize);
    fn frames_per_exchange(&self) -> u32;
    fn decode(&mut self, now: u32, frame: &[u8]) -> Result<BeaconFields, FrameError>;
    fn encode(&self, fields: &BeaconFields, round: u32, index: u32) -> Option<Vec<u8>>;
    fn begin_tick(&mut self, now: u32);
    fn relay_key_update(&mut self, round: u32) -> Option<Vec<u8>>;
    fn encode_peer_auth(&mut self, fields: &BeaconFields, round: u32) -> Option<Vec<u8>>;
    fn is_authenticated(&self, name: NodeId, now: u32) -> bool;
    fn epoch(&self) -> u8;
    fn key_state(&self) -> Option<KeyState>;
    fn restore_keys(&mut self, key_state: &KeyState);
}

/// Codec of the task `T` with the link `C`.
struct TypedCodec<T: SimTask, C> {
    codec: C,
    link: Link,
    task: std::marker::PhantomData<fn() -> T>,
}

type TaskBeacon<T> = MessageOf<ModelOf<'static, T>, T>;
type ChainsOf<T> = <ModelOf<'static, T> as Model>::Taps;
type WideOf<T> = <ModelOf<'static, T> as Model>::Wide;
type StateNumbers<T> = <<T as wdgnn_core::task::Task>::State as State>::Numbers;

impl<T: SimTask, C: SimCodec> AnyCodec for TypedCodec<T, C> {
    fn sizes(&self) -> (usize, usize, usize) {
        (StateNumbers::<T>::COUNT, ChainsOf::<T>::COUNT, WideOf::<T>::COUNT)
    }

    fn frames_per_exchange(&self) -> u32 {
        C::FRAMES
    }

    fn decode(&mut self, now: u32, frame: &[u8]) -> Result<BeaconFields, FrameError> {
        let (beacon, parts) =
            self.codec.decode::<T::State, ChainsOf<T>, WideOf<T>>(&self.link, now, frame)?;
        let Message { sender, boot, sequence, degree, state, chains, wide } = beacon;
        let taps = chains.sent().flat_map(|(_, line)| line).map(|tap| math::flush(*tap)).collect();
        let span =
            |from: u16, to: u16, count: usize| (usize::from(from).min(count), usize::from(to).min(count));
        Ok((
            sender,
            boot,
            sequence,
            degree,
            state.numbers().as_ref().to_vec(),
            taps,
            wide.numbers().to_vec(),
            span(parts.taps.from, parts.taps.to, ChainsOf::<T>::COUNT),
            span(parts.wide.from, parts.wide.to, WideOf::<T>::COUNT),
        ))
    }

    fn encode(&self, fields: &BeaconFields, round: u32, index: u32) -> Option<Vec<u8>> {
        let mut buffer = [0; MAX_BUFFER_LEN];
        let length = self.codec.encode(&self.link, &Self::beacon(fields)?, round, index, &mut buffer)?;
        buffer.get(..length).map(<[u8]>::to_vec)
    }

    fn begin_tick(&mut self, now: u32) {
        self.codec.begin(now);
    }

    fn relay_key_update(&mut self, round: u32) -> Option<Vec<u8>> {
        let mut buffer = [0; MAX_BUFFER_LEN];
        let length = self.codec.hand_on(round, C::FRAMES - 1, &mut buffer)?;
        buffer.get(..length).map(<[u8]>::to_vec)
    }

    fn encode_peer_auth(&mut self, fields: &BeaconFields, round: u32) -> Option<Vec<u8>> {
        let mut buffer = [0; MAX_BUFFER_LEN];
        let length =
            self.codec.prove(&self.link, &Self::beacon(fields)?, round, C::FRAMES - 1, &mut buffer)?;
        buffer.get(..length).map(<[u8]>::to_vec)
    }

    fn is_authenticated(&self, name: NodeId, now: u32) -> bool {
        self.codec.wants_proofs() && self.codec.proven(name, now)
    }

    fn epoch(&self) -> u8 {
        self.codec.epoch()
    }

    fn key_state(&self) -> Option<KeyState> {
        self.codec.kept_keys()
    }

    fn restore_keys(&mut self, key_state: &KeyState) {
        self.codec.take_up_keys(key_state);
    }
}

impl<T: SimTask, C: SimCodec> TypedCodec<T, C> {
    /// Message with these fields, or `None` if a tap is not admissible.
    fn beacon(fields: &BeaconFields) -> Option<TaskBeacon<T>> {
        let (sender, boot, sequence, degree, state, taps, numbers, ..) = fields;
        let state = T::State::from_array(wdgnn_core::tensor::Array::gather(state));
        let mut chains = ChainsOf::<T>::ZERO;
        if !taps.iter().copied().all(math::admissible) {
            return None;
        }
        let mut taps = taps.iter();
        chains.for_each_transmitted(|_, line| {
            line.iter_mut().zip(&mut taps).for_each(|(to, from)| *to = *from)
        });
        let mut wide = WideOf::<T>::ZERO;
        wide.numbers_mut().iter_mut().zip(numbers).for_each(|(to, from)| *to = *from);
        Some(Message {
            sender: *sender,
            boot: *boot,
            sequence: *sequence,
            degree: *degree,
            state,
            chains,
            wide,
        })
    }
}

/// Creates a codec for a task.
struct ForTask<'a> {
    profile: &'a str,
    checksum: u32,
    key: Option<Key>,
    own: Option<RobotKeyring>,
}

/// Creates a codec for a link.
struct ForCodec<T> {
    checksum: u32,
    key: Key,
    own: Option<RobotKeyring>,
    task: std::marker::PhantomData<fn() -> T>,
}

impl WorldVisitor for ForTask<'_> {
    type Output = PyResult<Box<dyn AnyCodec>>;

    fn visit<W: Environment>(self) -> Self::Output {
        let Self { checksum, key, own, .. } = self;
        let visitor = ForCodec::<W::Task> {
            checksum,
            key: key.unwrap_or_default(),
            own,
            task: std::marker::PhantomData,
        };
        let codec = visit_codec(profile(self.profile)?, key.is_some(), visitor);
        codec.ok_or_else(|| {
            let (task, profile) = (W::NAME, self.profile);
            PyValueError::new_err(format!(
                "messages of task {task} do not fit the frames of profile {profile}"
            ))
        })
    }
}

impl<T: SimTask> CodecVisitor for ForCodec<T> {
    type Output = Option<Box<dyn AnyCodec>>;

    fn visit<C: SimCodec>(self) -> Self::Output {
        let link = Link { profile: C::profile(true), checksum: self.checksum };
        let codec = match &self.own {
            Some(own) => C::with_own(&self.key, own),
            None => C::with_key(&self.key),
        };
        let codec = TypedCodec::<T, C> { codec, link, task: self.task };
        C::fits::<T::State, ChainsOf<T>, WideOf<T>>().then(|| Box::new(codec) as Box<dyn AnyCodec>)
    }
}

/// Native part of `wdgnn.wire.Codec`.
#[pyclass(module = "wdgnn")]
#[allow(missing_debug_implementations, reason = "`wdgnn.wire.Codec` has a `__repr__`")]
pub struct Codec {
    codec: Box<dyn AnyCodec>,
    /// Tick of the last call of `begin_tick`.
    now: Option<u32>,
}

fn parse_key(key: &[u8]) -> PyResult<Key> {
    key::parse_key(key).map_err(|no| PyValueError::new_err(format!("key: that {}", no.sentence())))
}

#[pymethods]
impl Codec {
    #[new]
    #[pyo3(signature = (task, profile, checksum, key=None, own=None))]
    fn new(
        task: &str,
        profile: &str,
        checksum: u32,
        key: Option<&[u8]>,
        own: Option<RobotKeys>,
    ) -> PyResult<Self> {
        let key = key.map(parse_key).transpose()?;
        let own = own.map(|(name, personal, epoch, roster)| {
            if key.is_none() {
                return Err(PyValueError::new_err("personal_key needs key"));
            }
            if roster.len() > group_key::ROSTER {
                return Err(PyValueError::new_err(format!(
                    "peer_keys must have at most {} keys, got {}",
                    group_key::ROSTER,
                    roster.len()
                )));
            }
            let roster = roster.iter().map(|key| parse_key(key)).collect::<PyResult<Vec<Key>>>()?;
            // The codec borrows the peer keys for ever. They have at most 1,024 bytes.
            Ok(RobotKeyring { name, personal: parse_key(&personal)?, epoch, roster: Vec::leak(roster) })
        });
        let order = ForTask { profile, checksum, key, own: own.transpose()? };
        Ok(Self { codec: visit(task, order)??, now: None })
    }

    /// Epoch of the group key in use.
    #[getter]
    fn epoch(&self) -> u8 {
        self.codec.epoch()
    }

    /// Keys to restore after a restart.
    #[getter]
    fn key_state<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.codec.key_state().map(|state| PyBytes::new(py, &state))
    }

    /// Restores the keys from `key_state` of an earlier codec.
    fn restore_keys(&mut self, key_state: &[u8]) -> PyResult<()> {
        let wrong = |_| PyValueError::new_err(format!("key_state must have {KEPT_BYTES} bytes"));
        self.codec.restore_keys(&key_state.try_into().map_err(wrong)?);
        Ok(())
    }

    /// Starts a tick. A new group key comes into use at its tick.
    fn begin_tick(&mut self, now: u32) {
        if self.now.replace(now) != Some(now) {
            self.codec.begin_tick(now);
        }
    }

    /// Frame that relays a key update to another robot, or `None`.
    fn relay_key_update<'py>(&mut self, py: Python<'py>, exchange: u32) -> Option<Bound<'py, PyBytes>> {
        self.codec.relay_key_update(exchange).map(|frame| PyBytes::new(py, &frame))
    }

    /// Frame that authenticates this robot to a peer, or `None`.
    fn encode_peer_auth<'py>(
        &mut self,
        py: Python<'py>,
        fields: BeaconFields,
        exchange: u32,
    ) -> Option<Bound<'py, PyBytes>> {
        self.codec.encode_peer_auth(&fields, exchange).map(|frame| PyBytes::new(py, &frame))
    }

    /// Whether the robot with this address is authenticated at tick `now`.
    fn is_authenticated(&self, name: NodeId, now: u32) -> bool {
        self.codec.is_authenticated(name, now)
    }

    /// Lengths of the state, of the transmitted taps and of the wide parameters.
    #[getter]
    fn sizes(&self) -> (usize, usize, usize) {
        self.codec.sizes()
    }

    /// Frames per exchange.
    #[getter]
    fn frames_per_exchange(&self) -> u32 {
        self.codec.frames_per_exchange()
    }

    /// Decodes a frame that was received at tick `now`. Raises `FrameError`.
    fn decode(&mut self, frame: &[u8], now: u32) -> PyResult<BeaconFields> {
        self.begin_tick(now);
        self.codec.decode(now, frame).map_err(|refusal| FrameError::new_err(refusal.name()))
    }

    /// Encodes frame `index` of this exchange.
    fn encode<'py>(
        &self,
        py: Python<'py>,
        fields: BeaconFields,
        exchange: u32,
        index: u32,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (state, taps, wide) = self.codec.sizes();
        let found = (fields.4.len(), fields.5.len(), fields.6.len());
        if found != (state, taps, wide) {
            return Err(PyValueError::new_err(format!(
                "state, taps and wide must have {state}, {taps} and {wide} numbers, got {found:?}"
            )));
        }
        let frame = self.codec.encode(&fields, exchange, index);
        let frame = frame
            .ok_or_else(|| PyValueError::new_err("a number of the beacon is not finite or out of range"))?;
        Ok(PyBytes::new(py, &frame))
    }
}
