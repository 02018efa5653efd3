//! Link that encodes and decodes frames with the robots' own code.

use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use wdgnn_core::{
    filter::DelayLines,
    math,
    message::{AgentMessage, Message},
    model::Model,
    task::{NodeId, State, Task},
    tensor::{Array, Tensor as _, param_range::ParamRange},
};
use wdgnn_link::{
    error::FrameError as LinkError,
    header::{FrameId, OBSTACLE_ONLY},
    link::{MessageLink as _, RadioLink as _},
    security::{
        PeerIdentity,
        key::{self, Key},
        key_ring::{STORED_KEYS_LEN, StoredKeys},
        key_update,
        managed_keys::ROSTER_CAPACITY,
        peer_auth,
    },
};
use wdgnn_robot::onboard::{MAX_BUFFER_LEN, ModelOf};
use wdgnn_sim::{
    medium::any_link::{self, AnyLink, AnyLinkOf, OwnKeys, RobotKeys},
    profiles::Profile,
    scene::SimTask,
    world::Environment,
};

use crate::{
    error::FrameError,
    swarm_config::{WorldVisitor, profile, visit},
};

/// Names of all frame errors.
pub fn frame_errors() -> Vec<&'static str> {
    LinkError::ALL.iter().map(|error| error.name()).collect()
}

/// Fields of a message: sender, boot count, sequence number, degree, state, taps, wide parameters, and the ranges of taps and
/// wide parameters in this frame.
type MessageFields = (u16, u32, u32, u8, Vec<f32>, Vec<f32>, Vec<f32>, (usize, usize), (usize, usize));

/// Keys of a robot from Python: address, personal key, epoch of the group key, peer keys.
type OwnKeyFields = (NodeId, Vec<u8>, u8, Vec<Vec<u8>>);

/// Link for any task.
trait DynLink: Send + Sync {
    fn sizes(&self) -> (usize, usize, usize);
    fn frames_per_exchange(&self) -> u32;
    fn decode(&mut self, now: u32, frame: &[u8]) -> Result<MessageFields, LinkError>;
    fn encode(&mut self, fields: &MessageFields, round: u32, index: u32) -> Option<Vec<u8>>;
    fn begin_tick(&mut self, now: u32);
    fn relay_key_update(&mut self, round: u32) -> Option<Vec<u8>>;
    fn encode_peer_auth(&mut self, fields: &MessageFields, round: u32) -> Option<Vec<u8>>;
    fn is_authenticated(&self, name: NodeId, now: u32) -> bool;
    fn epoch(&self) -> u8;
    fn key_state(&self) -> Option<StoredKeys>;
    fn restore_keys(&mut self, key_state: &StoredKeys);
}

type TaskLink<T> = AnyLinkOf<ModelOf<'static, T>, T>;
type TaskMessage<T> = AgentMessage<ModelOf<'static, T>, T>;
type TapsOf<T> = <ModelOf<'static, T> as Model>::Taps;
type WideOf<T> = <ModelOf<'static, T> as Model>::Wide;
type StateArray<T> = <<T as Task>::State as State>::Array;

/// Link of the task `T`.
struct TypedLink<T: SimTask> {
    link: TaskLink<T>,
    /// Link that sends messages only, no control frames. It has the keys of `link`.
    encoder: TaskLink<T>,
}

impl<T: SimTask> DynLink for TypedLink<T> {
    fn sizes(&self) -> (usize, usize, usize) {
        (StateArray::<T>::LEN, TapsOf::<T>::LEN, WideOf::<T>::LEN)
    }

    fn frames_per_exchange(&self) -> u32 {
        self.link.frames_per_exchange()
    }

    fn decode(&mut self, now: u32, frame: &[u8]) -> Result<MessageFields, LinkError> {
        let mut message = TaskMessage::<T>::empty(T::State::zero());
        let reception = self.link.receive(now, &mut frame.to_vec(), &mut message)?.of_own_model()?;
        let FrameId { sender, boot, sequence } = self.link.frame_id(now, frame).ok_or(LinkError::TooShort)?;
        let Message { degree, state, taps, wide, .. } = message;
        let taps =
            taps.transmitted().flat_map(|(_, line)| line).map(|tap| math::flush_subnormal(*tap)).collect();
        let range = |ParamRange { from, to }: ParamRange, count: usize| {
            (usize::from(from).min(count), usize::from(to).min(count))
        };
        Ok((
            sender,
            boot,
            sequence,
            degree,
            state.to_array().as_ref().to_vec(),
            taps,
            wide.numbers().to_vec(),
            range(reception.payload.taps, TapsOf::<T>::LEN),
            range(reception.payload.wide, WideOf::<T>::LEN),
        ))
    }

    fn encode(&mut self, fields: &MessageFields, round: u32, index: u32) -> Option<Vec<u8>> {
        if let Some(keys) = self.link.security().stored_keys() {
            self.encoder.security_mut().restore_keys(&keys);
        }
        send::<T>(&mut self.encoder, fields, round, index)
    }

    fn begin_tick(&mut self, now: u32) {
        self.link.security_mut().begin_tick(now);
    }

    fn relay_key_update(&mut self, round: u32) -> Option<Vec<u8>> {
        let index = self.link.frames_per_exchange() - 1;
        let frame = write(&mut self.link, &dummy::<T>(), round, index)?;
        (frame.first() == Some(&key_update::KEY_UPDATE_BYTE)).then_some(frame)
    }

    fn encode_peer_auth(&mut self, fields: &MessageFields, round: u32) -> Option<Vec<u8>> {
        let index = self.link.frames_per_exchange() - 1;
        let frame = send::<T>(&mut self.link, fields, round, index)?;
        let first = *frame.first()?;
        (first != key_update::KEY_UPDATE_BYTE && first & peer_auth::PROOF_MARK != 0).then_some(frame)
    }

    fn is_authenticated(&self, name: NodeId, now: u32) -> bool {
        self.link.security().peer_identity(name, now) == PeerIdentity::Proven
    }

    fn epoch(&self) -> u8 {
        self.link.security().key_epoch()
    }

    fn key_state(&self) -> Option<StoredKeys> {
        self.link.security().stored_keys()
    }

    fn restore_keys(&mut self, key_state: &StoredKeys) {
        self.link.security_mut().restore_keys(key_state);
    }
}

/// Sends a message with the boot count and the sequence number in `fields`.
///
/// Returns `None` if a tap is not admissible or a frame cannot hold a number.
fn send<T: SimTask>(
    link: &mut TaskLink<T>, fields: &MessageFields, round: u32, index: u32,
) -> Option<Vec<u8>> {
    let (sender, boot, sequence, degree, state, taps, numbers, ..) = fields;
    if !taps.iter().copied().all(math::is_admissible) {
        return None;
    }
    let tick = sequence / link.frames_per_exchange();
    let state = T::State::from_array(Array::from_slice(state));
    let mut message: TaskMessage<T> =
        Message { sender: *sender, tick, degree: *degree, ..Message::empty(state) };
    let lines = message.taps.transmitted_mut().flat_map(|(_, line)| line);
    lines.zip(taps).for_each(|(to, from)| *to = *from);
    message.wide.numbers_mut().iter_mut().zip(numbers).for_each(|(to, from)| *to = *from);
    link.set_boot_count(*boot);
    // The first frame of a tick has the tick times the frames per exchange as its number.
    for _ in 0..sequence % link.frames_per_exchange() {
        write(link, &Message { tick, ..dummy::<T>() }, round, 0);
    }
    write(link, &message, round, index)
}

/// Message that no robot uses.
fn dummy<T: SimTask>() -> TaskMessage<T> {
    Message { degree: OBSTACLE_ONLY, ..Message::empty(T::State::zero()) }
}

fn write<S: State, L: DelayLines, W: wdgnn_core::tensor::Tensor>(
    link: &mut AnyLink<S, L, W>, message: &Message<S, L, W>, round: u32, index: u32,
) -> Option<Vec<u8>> {
    let mut buffer = [0; MAX_BUFFER_LEN];
    let length = link.send(message, round, index, &mut buffer)?;
    buffer.get(..length).map(<[u8]>::to_vec)
}

/// Creates a link for a task.
struct ForTask {
    profile: Profile,
    checksum: u32,
    key: Option<Key>,
    own: Option<OwnKeys>,
}

impl WorldVisitor for ForTask {
    type Output = PyResult<Box<dyn DynLink>>;

    fn visit<W: Environment>(self) -> Self::Output {
        let Self { profile, checksum, key, own } = self;
        if !any_link::fits::<<W::Task as Task>::State, TapsOf<W::Task>, WideOf<W::Task>>(profile) {
            let (task, profile) = (W::NAME, profile.name());
            return Err(PyValueError::new_err(format!(
                "messages of task {task} do not fit the frames of profile {profile}"
            )));
        }
        let link = |own| AnyLink::new(profile, checksum, key.as_ref().map(|group| RobotKeys { group, own }));
        let without_peers = own.map(|own| OwnKeys { roster: &[], ..own });
        Ok(Box::new(TypedLink::<W::Task> { link: link(own), encoder: link(without_peers) }))
    }
}

/// Native part of `wdgnn.wire.Link`.
#[pyclass(module = "wdgnn")]
#[allow(missing_debug_implementations, reason = "`wdgnn.wire.Link` has a `__repr__`")]
pub struct Link {
    link: Box<dyn DynLink>,
    /// Tick of the last call of `begin_tick`.
    now: Option<u32>,
}

fn parse_key(key: &[u8]) -> PyResult<Key> {
    key::parse_key(key).map_err(|no| PyValueError::new_err(format!("key: that {no}")))
}

#[pymethods]
impl Link {
    #[new]
    #[pyo3(signature = (task, profile, checksum, key=None, own=None))]
    fn new(
        task: &str, profile: &str, checksum: u32, key: Option<&[u8]>, own: Option<OwnKeyFields>,
    ) -> PyResult<Self> {
        let key = key.map(parse_key).transpose()?;
        let own = own.map(|(name, personal, epoch, roster)| {
            if key.is_none() {
                return Err(PyValueError::new_err("personal_key needs key"));
            }
            if roster.len() > ROSTER_CAPACITY {
                return Err(PyValueError::new_err(format!(
                    "peer_keys must have at most {} keys, got {}",
                    ROSTER_CAPACITY,
                    roster.len()
                )));
            }
            let roster = roster.iter().map(|key| parse_key(key)).collect::<PyResult<Vec<Key>>>()?;
            // A link borrows its peer keys for the rest of the program: at most 1,024 bytes.
            Ok(OwnKeys { name, personal: parse_key(&personal)?, epoch, roster: Vec::leak(roster) })
        });
        let order = ForTask { profile: self::profile(profile)?, checksum, key, own: own.transpose()? };
        Ok(Self { link: visit(task, order)??, now: None })
    }

    /// Epoch of the group key in use.
    #[getter]
    fn epoch(&self) -> u8 {
        self.link.epoch()
    }

    /// Keys to restore after a restart.
    #[getter]
    fn key_state<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.link.key_state().map(|state| PyBytes::new(py, &state))
    }

    /// Restores the keys from `key_state` of an earlier link.
    fn restore_keys(&mut self, key_state: &[u8]) -> PyResult<()> {
        let wrong = |_| PyValueError::new_err(format!("key_state must have {STORED_KEYS_LEN} bytes"));
        self.link.restore_keys(&key_state.try_into().map_err(wrong)?);
        Ok(())
    }

    /// Starts a tick. A new group key comes into use at its tick.
    fn begin_tick(&mut self, now: u32) {
        if self.now.replace(now) != Some(now) {
            self.link.begin_tick(now);
        }
    }

    /// Frame that relays a key update to another robot, or `None`.
    fn relay_key_update<'py>(&mut self, py: Python<'py>, exchange: u32) -> Option<Bound<'py, PyBytes>> {
        self.link.relay_key_update(exchange).map(|frame| PyBytes::new(py, &frame))
    }

    /// Frame that authenticates this robot to a peer, or `None`.
    fn encode_peer_auth<'py>(
        &mut self, py: Python<'py>, fields: MessageFields, exchange: u32,
    ) -> Option<Bound<'py, PyBytes>> {
        self.link.encode_peer_auth(&fields, exchange).map(|frame| PyBytes::new(py, &frame))
    }

    /// Whether the robot with this address is authenticated at tick `now`.
    fn is_authenticated(&self, name: NodeId, now: u32) -> bool {
        self.link.is_authenticated(name, now)
    }

    /// Lengths of the state, of the transmitted taps and of the wide parameters.
    #[getter]
    fn sizes(&self) -> (usize, usize, usize) {
        self.link.sizes()
    }

    /// Frames per exchange.
    #[getter]
    fn frames_per_exchange(&self) -> u32 {
        self.link.frames_per_exchange()
    }

    /// Decodes a frame that was received at tick `now`. Raises `FrameError`.
    fn decode(&mut self, frame: &[u8], now: u32) -> PyResult<MessageFields> {
        self.begin_tick(now);
        self.link.decode(now, frame).map_err(|error| FrameError::new_err(error.name()))
    }

    /// Encodes frame `index` of this exchange.
    fn encode<'py>(
        &mut self, py: Python<'py>, fields: MessageFields, exchange: u32, index: u32,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (state, taps, wide) = self.link.sizes();
        let found = (fields.4.len(), fields.5.len(), fields.6.len());
        if found != (state, taps, wide) {
            return Err(PyValueError::new_err(format!(
                "state, taps and wide must have {state}, {taps} and {wide} numbers, got {found:?}"
            )));
        }
        let frame = self.link.encode(&fields, exchange, index);
        let frame = frame
            .ok_or_else(|| PyValueError::new_err("a number of the message is not finite or out of range"))?;
        Ok(PyBytes::new(py, &frame))
    }
}
