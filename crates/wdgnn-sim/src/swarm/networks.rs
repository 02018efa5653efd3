//! Construction of swarms from weight files.

use wdgnn_core::agent::Config;
use wdgnn_core::{
    filter::scale::Scale,
    model::{
        GradientMetric, Model,
        activation::Activation,
        shape::{Dimensions, Shape},
    },
    online::Learning,
};
use wdgnn_robot::{config::RobotConfig, onboard::ModelOf};

use super::{
    Robots,
    in_memory::{InMemory, Online},
    native::Native,
    radio_swarm::{OtherModelRobots, RadioConfig, RadioSwarm},
};
use crate::{
    error::{Error, Result},
    medium::{
        adversary::SwarmAdversary,
        any_link,
        options::{Faults, Trust},
        robot_config::SwarmConfig,
        shares,
    },
    model::ModelFile,
    profiles::Profile,
    scene::{SimTask, Swarm},
    seeds::Purpose,
    shapes::{Shapes, Visitor},
};

/// Swarm that borrows its model.
pub type AnySwarm<'a, T> = Box<dyn Swarm<T> + 'a>;

/// Network and how it is run.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "contains a function")]
pub struct Network<'a, T: SimTask> {
    /// Weight file of the network.
    pub model: &'a ModelFile,
    /// Task with its settings.
    pub task: T,
    /// Rule of online learning.
    pub rule: Learning,
    /// Whether online learning is off, decentralized or centralized.
    pub online: Online<T>,
    /// Link profile.
    pub profile: Profile,
    /// Weight file of the robots with another model.
    pub other: Option<&'a ModelFile>,
}

impl<'a, T: SimTask> Network<'a, T> {
    /// Creates a network with its weight file's settings and decentralized learning.
    ///
    /// # Errors
    /// Models of another task, and models whose exchange interval does not fit the profile.
    pub fn of(model: &'a ModelFile, profile: Profile) -> Result<Self> {
        profile.check(model)?;
        let rule = model.weights().header.learning;
        Ok(Self { model, task: task(model)?, rule, online: Online::Decentralized, profile, other: None })
    }

    /// Creates a swarm with messages in memory.
    ///
    /// Profiles for small radios support the robots' network only; `exact` supports all compiled
    /// shapes.
    pub fn in_memory<S: Shapes<T>>(&self, start: &[T::State]) -> Result<AnySwarm<'a, T>> {
        if self.profile == Profile::Exact {
            return S::visit(self.size(), BuildExact { network: *self, start })?;
        }
        self.check_robots()?;
        let config = self.config::<T::Shape>(None)?;
        Ok(with_tables(&config, self.profile, self.online, start))
    }

    /// Creates a swarm of robots in this process that exchange sealed frames.
    pub fn radio_swarm(&self, air: &RadioConfig<'_>, robots: usize) -> Result<AnySwarm<'a, T>> {
        self.check_robots()?;
        self.build_radio_swarm(Some(air.faults.trust), true, air, None, robots)
    }

    /// Creates a swarm with messages in memory and more robots than addresses.
    ///
    /// It runs on `exact`, without encryption and faults.
    pub fn in_array(&self, start: &[T::State]) -> Result<AnySwarm<'a, T>> {
        self.check_robots()?;
        let config = self.config::<T::Shape>(None)?;
        if !config.robot.is_memoryless() {
            return Err(Error::usage(
                "swarms of this size run on --profile exact only, with a model of that profile",
            ));
        }
        Ok(Box::new(InMemory::with_array(&config.robot, self.online, start)))
    }

    /// Creates a swarm of robots in this process with the firmware's behavior, sealed or not.
    pub fn native(&self, air: &RadioConfig<'_>, robots: usize, sealed: bool) -> Result<AnySwarm<'a, T>> {
        self.check_robots()?;
        self.build_radio_swarm(sealed.then_some(Trust::Robust), sealed, air, None, robots)
    }

    /// Creates a swarm of `count` given robots, such as emulated ones, that carry this network.
    pub fn elsewhere(
        &self, air: &RadioConfig<'_>, robots: Box<dyn Robots<T> + 'a>, count: usize, sealed: bool,
    ) -> Result<AnySwarm<'a, T>> {
        self.build_radio_swarm(sealed.then_some(Trust::Robust), sealed, air, Some(robots), count)
    }

    /// Checks that networks of these dimensions are supported on a profile.
    pub fn check_shape<S: Shapes<T>>(size: Dimensions, profile: Profile) -> Result {
        if profile == Profile::Exact {
            return if S::all().contains(&size) { Ok(()) } else { S::visit(size, IgnoreShape) };
        }
        check_robots::<T>(size, profile)
    }

    /// Checks that robots carry this network and that its frames fit the profile's radio.
    fn check_robots(&self) -> Result {
        check_robots::<T>(self.size(), self.profile)
    }

    fn size(&self) -> Dimensions {
        Dimensions::of(&self.model.weights().header)
    }

    fn learns(&self) -> bool {
        !matches!(self.online, Online::Off)
    }

    fn build_radio_swarm<'b>(
        &self, trust: Option<Trust>, sealed: bool, air: &'b RadioConfig<'b>,
        there: Option<Box<dyn Robots<T> + 'a>>, count: usize,
    ) -> Result<AnySwarm<'a, T>> {
        air.faults.check_profile(self.profile, count)?;
        let mixed = air.faults.mixed_models > 0.0;
        let config = self.config::<T::Shape>(trust)?;
        let other = match self.other.filter(|_| mixed) {
            Some(model) => Some(
                Self { model, other: None, ..Self::of(model, self.profile)? }.config::<T::Shape>(trust)?,
            ),
            None => None,
        };
        if mixed && (other.is_none() || there.is_some()) {
            return Err(Error::usage(
                "--fault mixed-models needs robots in this process and a task with a second model: flocking",
            ));
        }
        let Faults { mixed_models, seed, .. } = *air.faults;
        let others = shares::of(Some(mixed_models), seed, Purpose::Models, air.swarm, count);
        let configs = || others.iter().map(|drawn| other.filter(|_| *drawn).unwrap_or(config)).collect();
        let adversary =
            Box::new(SwarmAdversary::<T, ModelOf<'a, T>>::new(config, self.profile, sealed, &air.key));
        let robots = there.unwrap_or_else(|| {
            let key = sealed.then_some(&air.key);
            Box::new(Native::<T, ModelOf<'a, T>>::new(configs(), self.profile, key, air.faults))
        });
        let mixed = other.map(|other| OtherModelRobots { common: other.shared(), drawn: others });
        let shared = config.shared();
        Ok(Box::new(RadioSwarm::new(robots, shared, mixed, adversary, air, self.learns(), count)))
    }

    /// Returns the robots' configuration, with the exchange interval of the model's training.
    fn config<S: Shape<T>>(&self, trust: Option<Trust>) -> Result<SwarmConfig<S::Model<'a>, T>> {
        let weights = self.model.weights();
        let model = S::from_weights(&weights).map_err(|source| self.model.unusable(source))?;
        let learning = match self.online {
            Online::Decentralized => self.rule,
            _ => Learning { through_clamp: self.rule.through_clamp, ..Learning::OFF },
        };
        let robot = RobotConfig::new(Config::new(model, self.task, learning))
            .with_exchange_interval(weights.header.interval.into())
            .with_lag(weights.header.lag);
        let robot = match trust {
            Some(Trust::Robust) => robot.robust(),
            Some(Trust::AsTrained) | None => robot,
            Some(Trust::Plain) => robot.without_robustness(),
        };
        Ok(SwarmConfig { robot, checksum: weights.checksum })
    }
}

/// Returns the task with the settings of a weight file.
pub fn task<T: SimTask>(model: &ModelFile) -> Result<T> {
    let trained = model.weights().header.task;
    if trained.task != T::ID {
        return Err(Error::Task { path: model.path().into(), trained: trained.task, flown: T::ID });
    }
    Ok(T::from_constants(&trained.numbers))
}

/// Checks that robots carry networks of these dimensions and that frames fit the radio.
fn check_robots<T: SimTask>(size: Dimensions, profile: Profile) -> Result {
    type Of<T> = ModelOf<'static, T>;

    let carried = T::Shape::DIMENSIONS;
    if size != carried {
        return Err(Error::usage(format!(
            "robots carry networks of {} layers, {} taps and {} features; one of {}, {} and {} runs on --profile exact \
             without faults only",
            carried.layers, carried.taps, carried.hidden, size.layers, size.taps, size.hidden
        )));
    }
    if any_link::fits::<T::State, <Of<T> as Model>::Taps, <Of<T> as Model>::Wide>(profile) {
        return Ok(());
    }
    Err(Error::usage(format!(
        "a message of this network does not fit the frames of --profile {}: use fewer taps or another profile",
        profile.name()
    )))
}

/// Visitor that ignores the shape.
struct IgnoreShape;

impl<T: SimTask> Visitor<T> for IgnoreShape {
    type Output = ();

    fn visit<S: Shape<T>>(self) {}
}

struct BuildExact<'a, 'b, T: SimTask> {
    network: Network<'a, T>,
    start: &'b [T::State],
}

impl<'a, T: SimTask> Visitor<T> for BuildExact<'a, '_, T> {
    type Output = Result<AnySwarm<'a, T>>;

    fn visit<S: Shape<T>>(self) -> Self::Output {
        let config = self.network.config::<S>(None)?;
        Ok(exact(&config, self.network.online, self.start))
    }
}

/// Creates a swarm on `exact`: without tables, if no message outlives its tick.
fn exact<'a, T, M>(config: &SwarmConfig<M, T>, online: Online<T>, start: &[T::State]) -> AnySwarm<'a, T>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command> + Copy + Send + Sync + 'a,
{
    if config.robot.is_memoryless() {
        return Box::new(InMemory::with_array(&config.robot, online, start));
    }
    with_tables(config, Profile::Exact, online, start)
}

/// Creates a swarm of robots with tables, numbered from 0.
fn with_tables<'a, T, M>(
    config: &SwarmConfig<M, T>, profile: Profile, online: Online<T>, start: &[T::State],
) -> AnySwarm<'a, T>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Command> + Copy + Send + Sync + 'a,
{
    let start = (0..).zip(start.iter().copied());
    Box::new(InMemory::with_tables(config, profile, online, start))
}

/// Network in training, without a file.
#[derive(Clone, Copy, Debug)]
pub struct Draft<'a, T> {
    /// Numbers of the network.
    pub numbers: &'a [f32],
    /// Dimensions of the network.
    pub size: Dimensions,
    /// Scale of sums over neighbors.
    pub scale: Scale,
    /// Task with its settings.
    pub task: T,
    /// Control ticks per exchange.
    pub exchange: u32,
    /// Lag of the body in seconds.
    pub lag: f32,
}

impl<'a, T: SimTask> Draft<'a, T> {
    /// Creates a swarm with messages in memory and without online learning.
    ///
    /// Exchanges are in full precision: the error of half precision is far below the network's
    /// resolution.
    pub fn in_memory<S: Shapes<T>>(&self, start: &[T::State]) -> Result<AnySwarm<'a, T>> {
        struct Make<'a, 'b, T: SimTask>(Draft<'a, T>, &'b [T::State]);
        impl<'a, T: SimTask> Visitor<T> for Make<'a, '_, T> {
            type Output = Result<AnySwarm<'a, T>>;

            fn visit<S: Shape<T>>(self) -> Self::Output {
                let Self(draft, start) = self;
                let model =
                    S::from_numbers(draft.numbers, Activation::Tanh, draft.scale, GradientMetric::Euclidean);
                let model = model.ok_or_else(|| {
                    Error::usage("the checkpoint holds a network of another shape; train without --resume")
                })?;
                let robot = RobotConfig::new(Config::new(model, draft.task, Learning::OFF));
                let robot = robot.with_exchange_interval(draft.exchange).with_lag(draft.lag);
                let config = SwarmConfig { robot, checksum: 0 };
                Ok(exact(&config, Online::Off, start))
            }
        }
        S::visit(self.size, Make(*self, start))?
    }
}
