//! From a weight file to a swarm that flies it.

use std::marker::PhantomData;

use wdgnn_core::{
    filter::scale::Scale,
    model::{
        Metric, Model,
        activation::Activation,
        shape::{Dimensions, Shape},
    },
    online::Learning,
};
use wdgnn_robot::{config::Behaviour, onboard::ModelOf};

use super::{
    Robots,
    native::Native,
    on_air::{Air, Mixed, OnAir},
    packed::Packed,
    together::Together,
    typed::{Online, Typed},
};
use crate::{
    air::{
        blueprint::Blueprint,
        options::{Faults, Trust},
        shares,
        voice::VoiceOf,
    },
    error::{Error, Result},
    model::ModelFile,
    profiles::{
        CodecVisitor, FlownCodec, LinkCodec, LinkVisitor, Profile, visit_codec, visit_link, visit_sealed,
    },
    scene::{Flown, Swarm},
    seeds::Purpose,
    shapes::{Shapes, Visitor},
};

/// A swarm, for as long as its model is there.
pub type AnySwarm<'a, T> = Box<dyn Swarm<T> + 'a>;

/// A network and how it is flown.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "a centre's rule is a function")]
pub struct Network<'a, T: Flown> {
    /// Its weight file.
    pub model: &'a ModelFile,
    /// The task's settings.
    pub task: T,
    /// The rule by which it learns in flight.
    pub rule: Learning,
    /// Who does.
    pub online: Online<T>,
    /// The link profile.
    pub profile: Profile,
    /// The weight file of those robots that fly another one.
    pub other: Option<&'a ModelFile>,
}

impl<'a, T: Flown> Network<'a, T> {
    /// A network as its weight file says, learning in flight robot by robot.
    ///
    /// A model of another task is refused, and one that was trained for an exchange rate that the profile does not have.
    pub fn of(model: &'a ModelFile, profile: Profile) -> Result<Self> {
        profile.check(model)?;
        let rule = model.weights().header.learning;
        Ok(Self { model, task: task(model)?, rule, online: Online::Decentralised, profile, other: None })
    }

    /// A swarm by the fast path, from its start. Small radios carry the network that robots carry; others fly on `exact`.
    pub fn typed<S: Shapes<T>>(&self, start: &[T::State]) -> Result<AnySwarm<'a, T>> {
        if self.profile == Profile::Exact {
            return S::visit(self.size(), MakeExact { network: *self, start })?;
        }
        self.check_robots()?;
        let blueprint = self.blueprint::<T::Shape>(None)?;
        let on = On { blueprint, online: self.online, start, model: PhantomData };
        Ok(visit_link(self.profile, on))
    }

    /// A swarm of robots in this process that speak in sealed bytes.
    pub fn on_air(&self, air: &Air<'_>, robots: usize) -> Result<AnySwarm<'a, T>> {
        self.check_robots()?;
        let make = self.put_on_air(Some(air.faults.trust), air, None, robots)?;
        Ok(visit_sealed(self.profile, make))
    }

    /// A swarm of more robots than there are addresses, on `exact`, unsealed, through an air that harms nothing.
    pub fn packed(&self, start: &[T::State]) -> Result<AnySwarm<'a, T>> {
        self.check_robots()?;
        let blueprint = self.blueprint::<T::Shape>(None)?;
        if !blueprint.behaviour.forgets() {
            return Err(Error::usage("so many robots fly on --profile exact only, with a model of its own"));
        }
        Ok(Box::new(Packed::new(&blueprint, self.learns(), start)))
    }

    /// A swarm of robots in this process exactly as the firmware flies them, sealed or not.
    pub fn native(&self, air: &Air<'_>, robots: usize, sealed: bool) -> Result<AnySwarm<'a, T>> {
        self.check_robots()?;
        let make = self.put_on_air(sealed.then_some(Trust::Robust), air, None, robots)?;
        Ok(visit_codec(self.profile, sealed, make))
    }

    /// A swarm of `count` robots of which those from number `first` on are there already, emulated ones for instance, which carry this
    /// network; those before it are in this process.
    pub fn elsewhere(
        &self,
        air: &Air<'_>,
        robots: Box<dyn Robots<T> + 'a>,
        first: usize,
        count: usize,
        sealed: bool,
    ) -> Result<AnySwarm<'a, T>> {
        let make = self.put_on_air(sealed.then_some(Trust::Robust), air, Some((robots, first)), count)?;
        Ok(visit_codec(self.profile, sealed, make))
    }

    /// Checks that networks of these dimensions can be flown on a profile.
    pub fn check_shape<S: Shapes<T>>(size: Dimensions, profile: Profile) -> Result {
        if profile == Profile::Exact {
            return if S::all().contains(&size) { Ok(()) } else { S::visit(size, Nothing) };
        }
        check_robots::<T>(size, profile)
    }

    /// Checks that this is a network that robots carry, and that its frames fit the profile's radio.
    fn check_robots(&self) -> Result {
        check_robots::<T>(self.size(), self.profile)
    }

    fn size(&self) -> Dimensions {
        Dimensions::of(&self.model.weights().header)
    }

    fn learns(&self) -> bool {
        !matches!(self.online, Online::Off)
    }

    fn put_on_air<'b>(
        &self,
        trust: Option<Trust>,
        air: &'b Air<'b>,
        there: Option<Elsewhere<'a, T>>,
        robots: usize,
    ) -> Result<PutOnAir<'a, 'b, ModelOf<'a, T>, T>> {
        air.faults.check_profile(self.profile, robots)?;
        let mixed = air.faults.other_models > 0.0;
        let blueprint = self.blueprint::<T::Shape>(trust)?;
        let other = match self.other.filter(|_| mixed) {
            Some(model) => Some(
                Self { model, other: None, ..Self::of(model, self.profile)? }.blueprint::<T::Shape>(trust)?,
            ),
            None => None,
        };
        if mixed && (other.is_none() || there.is_some()) {
            return Err(Error::usage(
                "--fault mixed-models needs robots in this process and a task with a second model: flocking",
            ));
        }
        Ok(PutOnAir { blueprint, other, there, air, learns: self.learns(), robots })
    }

    /// What every robot is made of: it behaves at the exchange rate that the model was trained for, which the profile has room for.
    fn blueprint<S: Shape<T>>(&self, trust: Option<Trust>) -> Result<Blueprint<S::Model<'a>, T>> {
        let weights = self.model.weights();
        let model = S::from_weights(&weights).map_err(|source| self.model.unusable(source))?;
        let learning = match self.online {
            Online::Decentralised => self.rule,
            _ => Learning { through_clamp: self.rule.through_clamp, ..Learning::OFF },
        };
        let behaviour = Behaviour::new(learning).every(weights.header.interval.into());
        let behaviour = match trust {
            Some(Trust::Robust) => behaviour.robust(),
            Some(Trust::AsTrained) | None => behaviour,
            Some(Trust::Plain) => behaviour.plain(),
        };
        Ok(Blueprint { model, task: self.task, checksum: weights.checksum, behaviour })
    }
}

/// The task with the settings of a weight file.
pub fn task<T: Flown>(model: &ModelFile) -> Result<T> {
    let trained = model.weights().header.task;
    if trained.task != T::NUMBER {
        return Err(Error::Task { path: model.path().into(), trained: trained.task, flown: T::NUMBER });
    }
    Ok(T::from_settings(&trained.numbers))
}

/// Checks that robots carry networks of these dimensions, and that their frames fit the profile's radio.
fn check_robots<T: Flown>(size: Dimensions, profile: Profile) -> Result {
    let carried = T::Shape::DIMENSIONS;
    if size != carried {
        return Err(Error::usage(format!(
            "robots carry networks of {} layers, {} taps and {} features; one of {}, {} and {} flies on --profile exact \
             without faults only",
            carried.layers, carried.taps, carried.hidden, size.layers, size.taps, size.hidden
        )));
    }
    visit_link(profile, Fits::<T::Shape, T>(profile, PhantomData))
}

/// Nothing is done with a shape.
struct Nothing;

impl<T: Flown> Visitor<T> for Nothing {
    type Output = ();

    fn visit<S: Shape<T>>(self) {}
}

struct MakeExact<'a, 'b, T: Flown> {
    network: Network<'a, T>,
    start: &'b [T::State],
}

impl<'a, T: Flown> Visitor<T> for MakeExact<'a, '_, T> {
    type Output = Result<AnySwarm<'a, T>>;

    fn visit<S: Shape<T>>(self) -> Self::Output {
        let blueprint = self.network.blueprint::<S>(None)?;
        Ok(exact(&blueprint, self.network.online, self.start))
    }
}

/// A swarm by the fast path on `exact`: packed, where nothing of what neighbours said lasts and nobody sees the whole swarm.
fn exact<'a, T, M>(blueprint: &Blueprint<M, T>, online: Online<T>, start: &[T::State]) -> AnySwarm<'a, T>
where
    T: Flown,
    M: Model<Features = T::Features, Output = T::Output> + Copy + Send + Sync + 'a,
{
    if blueprint.behaviour.forgets() && !matches!(online, Online::Centralised(..)) {
        let learns = matches!(online, Online::Decentralised);
        return Box::new(Packed::new(blueprint, learns, start));
    }
    Box::new(Typed::<T, _>::new(blueprint, online, start))
}

/// A swarm by the fast path, of which only the codec is still to be chosen.
struct On<'a, 'b, M, T: Flown> {
    blueprint: Blueprint<M, T>,
    online: Online<T>,
    start: &'b [T::State],
    model: PhantomData<&'a ()>,
}

impl<'a, M, T> LinkVisitor for On<'a, '_, M, T>
where
    T: Flown,
    M: Model<Features = T::Features, Output = T::Output> + Copy + Send + Sync + 'a,
{
    type Output = AnySwarm<'a, T>;

    fn visit<P: LinkCodec>(self) -> Self::Output {
        Box::new(Typed::<T, M, P>::new(&self.blueprint, self.online, self.start))
    }
}

/// Asks whether a network's beacons fit a profile's frames.
struct Fits<S, T>(Profile, PhantomData<(S, T)>);

impl<S: Shape<T>, T: Flown> LinkVisitor for Fits<S, T> {
    type Output = Result;

    fn visit<P: LinkCodec>(self) -> Result {
        type Of<'w, S, T> = <S as Shape<T>>::Model<'w>;
        if P::fits::<T::State, <Of<'_, S, T> as Model>::Chains, <Of<'_, S, T> as Model>::Wide>() {
            return Ok(());
        }
        Err(Error::usage(format!(
            "what these robots say does not fit the frames of --profile {}: a network with fewer taps may, or another profile",
            self.0.name()
        )))
    }
}

/// Robots that are there already, and the number of the first of them.
type Elsewhere<'a, T> = (Box<dyn Robots<T> + 'a>, usize);

/// Robots on an air, of which only the codec is still to be chosen.
struct PutOnAir<'a, 'b, M, T: Flown> {
    blueprint: Blueprint<M, T>,
    /// What those are made of that fly another model.
    other: Option<Blueprint<M, T>>,
    /// Those that are there already; none for robots in this process.
    there: Option<Elsewhere<'a, T>>,
    air: &'b Air<'b>,
    learns: bool,
    robots: usize,
}

impl<'a, M, T> CodecVisitor for PutOnAir<'a, '_, M, T>
where
    T: Flown,
    M: Model<Features = T::Features, Output = T::Output> + Copy + Send + Sync + 'a,
{
    type Output = AnySwarm<'a, T>;

    fn visit<C: FlownCodec>(self) -> Self::Output {
        let Self { blueprint, other, there, air, learns, robots: count } = self;
        let Faults { other_models, seed, .. } = *air.faults;
        let others = shares::of(Some(other_models), seed, Purpose::Models, air.swarm, count);
        let blueprints =
            || others.iter().map(|drawn| other.filter(|_| *drawn).unwrap_or(blueprint)).collect();
        let voice = Box::new(VoiceOf::<T, M, C>::new(blueprint, &air.key));
        let native = || {
            let native = Native::<T, M, C>::new(blueprints(), &air.key, air.faults);
            Box::new(native) as Box<dyn Robots<T> + 'a>
        };
        let robots = match there {
            None => native(),
            Some((there, 0)) => there,
            Some((there, first)) => Box::new(Together::new(native(), there, first, count)),
        };
        let mixed = other.map(|other| Mixed { common: other.common(), drawn: others });
        Box::new(OnAir::new(robots, blueprint.common(), mixed, voice, air, learns, count))
    }
}

/// A network in training: numbers that are not in a file yet.
#[derive(Clone, Copy, Debug)]
pub struct Draft<'a, T> {
    /// Its numbers.
    pub numbers: &'a [f32],
    /// Its dimensions.
    pub size: Dimensions,
    /// How sums over neighbours are scaled.
    pub scale: Scale,
    /// The task's settings.
    pub task: T,
    /// Control ticks per exchange.
    pub exchange: u32,
}

impl<'a, T: Flown> Draft<'a, T> {
    /// A swarm by the fast path that learns nothing in flight. Exchanges are in full precision: half precision is noise far below
    /// what a network can tell.
    pub fn typed<S: Shapes<T>>(&self, start: &[T::State]) -> Result<AnySwarm<'a, T>> {
        struct Make<'a, 'b, T: Flown>(Draft<'a, T>, &'b [T::State]);
        impl<'a, T: Flown> Visitor<T> for Make<'a, '_, T> {
            type Output = Result<AnySwarm<'a, T>>;

            fn visit<S: Shape<T>>(self) -> Self::Output {
                let Self(draft, start) = self;
                let model = S::over(draft.numbers, Activation::Tanh, draft.scale, Metric::Euclidean);
                let model = model.ok_or_else(|| {
                    Error::usage("the checkpoint holds a network of another shape; train without --resume")
                })?;
                let behaviour = Behaviour::new(Learning::OFF).every(draft.exchange);
                let blueprint = Blueprint { model, task: draft.task, checksum: 0, behaviour };
                Ok(exact(&blueprint, Online::Off, start))
            }
        }
        S::visit(self.size, Make(*self, start))?
    }
}
