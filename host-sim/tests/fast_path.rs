//! Robots with messages in memory and robots with encoded frames behave identically.

use std::sync::atomic::AtomicBool;

use host_sim::{
    episode::Episode,
    medium::options::{Faults, Trust},
    model::ModelFile,
    models,
    profiles::Profile,
    recipe::{Architecture, RecipeName},
    scene::Swarm,
    seeds::{Purpose, generator},
    shapes::Shapes,
    swarm::{
        digest::EpisodeDigest,
        in_memory::Online,
        networks::Network,
        radio_swarm::{KEY, RadioConfig},
    },
    train::{initialization, recipe::Recipe},
    world::{Environment, Scenario, SwarmOf, flock::Flock},
};

/// Returns the digest of an episode: all commands and wide parameters.
fn digest<W: Environment>(start: &Episode<W>, task: &W::Task, swarm: &mut dyn Swarm<W::Task>) -> String {
    let mut digest = EpisodeDigest::default();
    start.fly(task, swarm, &mut [&mut digest], &AtomicBool::new(false)).unwrap();
    digest.finish()
}

/// Compares one start with messages in memory, unsealed frames and sealed frames.
fn check<W: Environment>(model: &ModelFile, profile: Profile, condition: &Scenario) {
    let start = Episode::draw(&W::default(), condition, &mut generator(2, Purpose::Testing, 0)).unwrap();
    let network = Network::<W::Task>::of(model, profile).unwrap();
    let faults = Faults { trust: Trust::AsTrained, ..Faults::default() };
    let air = RadioConfig { layout: &W::layout(), faults: &faults, swarm: 0, key: KEY };
    let robots = start.states.len();
    let of = |mut swarm: SwarmOf<'_, W>| digest(&start, &network.task, swarm.as_mut());
    let in_memory = of(network.in_memory::<W::Shapes>(&start.states).unwrap());
    let what = || format!("{} {profile:?} {}", W::NAME, model.path().display());
    assert_eq!(in_memory, of(network.native(&air, robots, false).unwrap()), "{}, unsealed", what());
    assert_eq!(in_memory, of(network.radio_swarm(&air, robots).unwrap()), "{}, sealed", what());
    let still = Network { online: Online::Off, ..network };
    assert_ne!(in_memory, of(still.in_memory::<W::Shapes>(&start.states).unwrap()), "{} learns", what());
}

#[test]
fn memory_and_frames_agree() {
    // Robots in the middle of the swarm have more neighbors than table entries.
    let condition = Scenario { robots: 40, radius: 2.5, ticks: 60, ..Scenario::PAPER };
    for &profile in Profile::ALL {
        check::<Flock>(&models::for_profile(profile).unwrap(), profile, &condition);
    }
}

/// Returns an untrained network with the shape of the task's robots.
fn untrained<W: Environment>(profile: Profile) -> ModelFile {
    let mut recipe = Recipe::<W>::named(RecipeName::Evolve, W::default()).unwrap();
    recipe.exchange = profile.exchange_ticks();
    let size = <W::Shapes as Shapes<W::Task>>::all()[0];
    let numbers = initialization::weights(&size, Architecture::WdGnn, 1);
    let header = recipe.header(size, recipe.learning(1.0, 1.0));
    ModelFile::new(std::path::Path::new("untrained"), &header, &numbers).unwrap()
}

/// Compares all profiles whose frames fit the task's messages. Returns their number.
fn check_all<W: Environment>() -> usize {
    let condition = Scenario { robots: 20, ticks: 40, ..W::default_scenario() };
    let size = <W::Shapes as Shapes<W::Task>>::all()[0];
    let fits = |profile: &&Profile| Network::<W::Task>::check_shape::<W::Shapes>(size, **profile).is_ok();
    let fitting = Profile::ALL.iter().filter(fits);
    fitting.map(|&profile| check::<W>(&untrained::<W>(profile), profile, &condition)).count()
}

#[test]
fn memory_and_frames_agree_for_other_tasks() {
    assert_eq!(check_all::<Flock<3>>(), 3, "all but those with short frames");
}
