//! Frames, read and written by the core itself.

use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use wdgnn_core::{
    filter::Chains,
    math,
    message::Beacon,
    model::Model,
    task::{NodeId, State},
    tensor::{Numbers as _, Tensor},
};
use wdgnn_link::{
    error::Refusal,
    header::Link,
    security::{
        group_key,
        key::{self, Key},
        key_ring::KEPT_BYTES,
    },
};
use wdgnn_robot::{
    node::BeaconOf,
    onboard::{LONGEST_BUFFER, ModelOf},
};
use wdgnn_sim::{
    profiles::{CodecVisitor, FlownCodec, Own, visit_codec},
    scene::Flown,
    world::World,
};

use crate::{
    error::Refused,
    order::{WorldVisitor, profile, visit},
};

/// Why a frame is refused, by name.
pub fn refusals() -> Vec<&'static str> {
    Refusal::ALL.iter().map(|refusal| refusal.name()).collect()
}

/// What a beacon tells: sender, boot, sequence, degree, state, taps, wide parameters, and which of the latter two a frame carries.
type Told = (u16, u32, u32, u8, Vec<f32>, Vec<f32>, Vec<f32>, (usize, usize), (usize, usize));

type Kept = [u8; KEPT_BYTES];

/// A robot's own keys as Python gives them: address, personal key, epoch of the swarm's key, roster.
type GivenOwn = (NodeId, Vec<u8>, u8, Vec<Vec<u8>>);

trait Coder: Send + Sync {
    fn counts(&self) -> (usize, usize, usize);
    fn frames(&self) -> u32;
    fn decode(&mut self, now: u32, frame: &[u8]) -> Result<Told, Refusal>;
    fn encode(&self, told: &Told, round: u32, index: u32) -> Option<Vec<u8>>;
    fn begin(&mut self, now: u32);
    fn hand_on(&mut self, round: u32) -> Option<Vec<u8>>;
    fn prove(&mut self, told: &Told, round: u32) -> Option<Vec<u8>>;
    fn proven(&self, name: NodeId, now: u32) -> bool;
    fn epoch(&self) -> u8;
    fn kept(&self) -> Option<Kept>;
    fn take_up(&mut self, kept: &Kept);
}

struct Of<T: Flown, C> {
    codec: C,
    link: Link,
    task: std::marker::PhantomData<fn() -> T>,
}

type Said<T> = BeaconOf<ModelOf<'static, T>, T>;
type ChainsOf<T> = <ModelOf<'static, T> as Model>::Chains;
type WideOf<T> = <ModelOf<'static, T> as Model>::Wide;
type StateNumbers<T> = <<T as wdgnn_core::Task>::State as State>::Numbers;

impl<T: Flown, C: FlownCodec> Coder for Of<T, C> {
    fn counts(&self) -> (usize, usize, usize) {
        (StateNumbers::<T>::COUNT, ChainsOf::<T>::COUNT, WideOf::<T>::COUNT)
    }

    fn frames(&self) -> u32 {
        C::FRAMES
    }

    fn decode(&mut self, now: u32, frame: &[u8]) -> Result<Told, Refusal> {
        let (beacon, parts) =
            self.codec.decode::<T::State, ChainsOf<T>, WideOf<T>>(&self.link, now, frame)?;
        let Beacon { sender, boot, sequence, degree, state, chains, wide } = beacon;
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

    fn encode(&self, told: &Told, round: u32, index: u32) -> Option<Vec<u8>> {
        let mut buffer = [0; LONGEST_BUFFER];
        let length = self.codec.encode(&self.link, &Self::beacon(told)?, round, index, &mut buffer)?;
        buffer.get(..length).map(<[u8]>::to_vec)
    }

    fn begin(&mut self, now: u32) {
        self.codec.begin(now);
    }

    fn hand_on(&mut self, round: u32) -> Option<Vec<u8>> {
        let mut buffer = [0; LONGEST_BUFFER];
        let length = self.codec.hand_on(round, C::FRAMES - 1, &mut buffer)?;
        buffer.get(..length).map(<[u8]>::to_vec)
    }

    fn prove(&mut self, told: &Told, round: u32) -> Option<Vec<u8>> {
        let mut buffer = [0; LONGEST_BUFFER];
        let length = self.codec.prove(&self.link, &Self::beacon(told)?, round, C::FRAMES - 1, &mut buffer)?;
        buffer.get(..length).map(<[u8]>::to_vec)
    }

    fn proven(&self, name: NodeId, now: u32) -> bool {
        self.codec.wants_proofs() && self.codec.proven(name, now)
    }

    fn epoch(&self) -> u8 {
        self.codec.epoch()
    }

    fn kept(&self) -> Option<Kept> {
        self.codec.kept_keys()
    }

    fn take_up(&mut self, kept: &Kept) {
        self.codec.take_up_keys(kept);
    }
}

impl<T: Flown, C: FlownCodec> Of<T, C> {
    /// The beacon that was told; none where a number is not admissible.
    fn beacon(told: &Told) -> Option<Said<T>> {
        let (sender, boot, sequence, degree, state, taps, numbers, ..) = told;
        let state = T::State::from_numbers(wdgnn_core::tensor::Numbers::gather(state));
        let mut chains = ChainsOf::<T>::ZERO;
        if !taps.iter().copied().all(math::admissible) {
            return None;
        }
        let mut taps = taps.iter();
        chains.for_each_sent(|_, line| line.iter_mut().zip(&mut taps).for_each(|(to, from)| *to = *from));
        let mut wide = WideOf::<T>::ZERO;
        wide.numbers_mut().iter_mut().zip(numbers).for_each(|(to, from)| *to = *from);
        Some(Beacon {
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

struct ForTask<'a> {
    profile: &'a str,
    checksum: u32,
    key: Option<Key>,
    own: Option<Own>,
}

struct ForCodec<T> {
    checksum: u32,
    key: Key,
    own: Option<Own>,
    task: std::marker::PhantomData<fn() -> T>,
}

impl WorldVisitor for ForTask<'_> {
    type Output = PyResult<Box<dyn Coder>>;

    fn visit<W: World>(self) -> Self::Output {
        let Self { checksum, key, own, .. } = self;
        let visitor = ForCodec::<W::Task> {
            checksum,
            key: key.unwrap_or_default(),
            own,
            task: std::marker::PhantomData,
        };
        let coder = visit_codec(profile(self.profile)?, key.is_some(), visitor);
        coder.ok_or_else(|| {
            let (task, profile) = (W::NAME, self.profile);
            PyValueError::new_err(format!(
                "what robots of {task} say does not fit the frames of profile {profile}"
            ))
        })
    }
}

impl<T: Flown> CodecVisitor for ForCodec<T> {
    type Output = Option<Box<dyn Coder>>;

    fn visit<C: FlownCodec>(self) -> Self::Output {
        let link = Link { profile: C::profile(true), checksum: self.checksum };
        let codec = match &self.own {
            Some(own) => C::with_own(&self.key, own),
            None => C::with_key(&self.key),
        };
        let coder = Of::<T, C> { codec, link, task: self.task };
        C::fits::<T::State, ChainsOf<T>, WideOf<T>>().then(|| Box::new(coder) as Box<dyn Coder>)
    }
}

/// The frames of one swarm: what `wdgnn.wire` is made of.
#[pyclass(module = "wdgnn")]
#[allow(missing_debug_implementations, reason = "Python has a repr")]
pub struct Codec {
    coder: Box<dyn Coder>,
    /// The tick that was told last.
    now: Option<u32>,
}

fn parsed(key: &[u8]) -> PyResult<Key> {
    key::parse_key(key).map_err(|no| PyValueError::new_err(format!("that {}", no.sentence())))
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
        own: Option<GivenOwn>,
    ) -> PyResult<Self> {
        let key = key.map(parsed).transpose()?;
        let own = own.map(|(name, personal, epoch, roster)| {
            if key.is_none() {
                return Err(PyValueError::new_err("a personal key is for robots with a key: give key, too"));
            }
            if roster.len() > group_key::ROSTER {
                return Err(PyValueError::new_err(format!("a roster has up to {} keys", group_key::ROSTER)));
            }
            let roster = roster.iter().map(|key| parsed(key)).collect::<PyResult<Vec<Key>>>()?;
            // A robot's roster is there for as long as the robot, and here there is no telling how long that is: a kilobyte at most.
            Ok(Own { name, personal: parsed(&personal)?, epoch, roster: Vec::leak(roster) })
        });
        let order = ForTask { profile, checksum, key, own: own.transpose()? };
        Ok(Self { coder: visit(task, order)??, now: None })
    }

    /// The epoch of the swarm's key that is used.
    #[getter]
    fn epoch(&self) -> u8 {
        self.coder.epoch()
    }

    /// What is to be known of keys after a restart.
    #[getter]
    fn kept<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.coder.kept().map(|kept| PyBytes::new(py, &kept))
    }

    fn take_up(&mut self, kept: &[u8]) -> PyResult<()> {
        let kept = kept.try_into().map_err(|_| PyValueError::new_err("that is not what a codec kept"))?;
        self.coder.take_up(&kept);
        Ok(())
    }

    /// A tick begins: a key may come into use with it.
    fn begin(&mut self, now: u32) {
        if self.now.replace(now) != Some(now) {
            self.coder.begin(now);
        }
    }

    fn hand_on<'py>(&mut self, py: Python<'py>, exchange: u32) -> Option<Bound<'py, PyBytes>> {
        self.coder.hand_on(exchange).map(|frame| PyBytes::new(py, &frame))
    }

    fn prove<'py>(&mut self, py: Python<'py>, told: Told, exchange: u32) -> Option<Bound<'py, PyBytes>> {
        self.coder.prove(&told, exchange).map(|frame| PyBytes::new(py, &frame))
    }

    fn proven(&self, name: NodeId, now: u32) -> bool {
        self.coder.proven(name, now)
    }

    /// How many numbers a state, the taps that travel and the wide parameters are.
    #[getter]
    fn counts(&self) -> (usize, usize, usize) {
        self.coder.counts()
    }

    /// Frames per exchange.
    #[getter]
    fn frames(&self) -> u32 {
        self.coder.frames()
    }

    fn decode(&mut self, frame: &[u8], now: u32) -> PyResult<Told> {
        self.begin(now);
        self.coder.decode(now, frame).map_err(|refusal| Refused::new_err(refusal.name()))
    }

    fn encode<'py>(
        &self,
        py: Python<'py>,
        told: Told,
        exchange: u32,
        index: u32,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (state, taps, wide) = self.coder.counts();
        let found = (told.4.len(), told.5.len(), told.6.len());
        if found != (state, taps, wide) {
            return Err(PyValueError::new_err(format!(
                "a beacon of {found:?} numbers cannot be: state, taps and wide have {state}, {taps} and {wide}"
            )));
        }
        let frame = self.coder.encode(&told, exchange, index);
        let frame = frame.ok_or_else(|| PyValueError::new_err("a number of the beacon is not admissible"))?;
        Ok(PyBytes::new(py, &frame))
    }
}
