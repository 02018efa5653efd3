//! Swarms of emulated Cortex-M4F robots equal native swarms bit for bit.

#![cfg(feature = "emulated")]

use std::{collections::BTreeMap, path::Path, process::Command, sync::atomic::AtomicBool};

use host_sim::{
    episode::{Episode, Observer, TickView},
    error::Result,
    key,
    medium::options::Faults,
    model::ModelFile,
    profiles::Profile,
    scene::Swarm,
    seeds::{Purpose, generator},
    swarm::{
        digest::EpisodeDigest,
        networks::{AnySwarm, Network},
        radio_swarm::RadioConfig,
    },
    world::{Environment, Scenario, World, flock::Flock},
};
use system_tests::image;
use wdgnn_emulation::emulated::{Emulated, Link};

/// Parameters of a flight.
struct Told<'a> {
    link: Link,
    image: &'a Path,
    robots: usize,
    ticks: u32,
    seed: u64,
    faults: Faults,
}

/// Result of a flight.
#[derive(Debug, PartialEq)]
struct Flown {
    digest: String,
    score: Vec<f64>,
    heard: u64,
    refused: BTreeMap<&'static str, u64>,
}

/// Collects reports of lost robots.
#[derive(Default)]
struct Stories(Vec<String>);

impl<W: World> Observer<W> for Stories {
    fn observe(&mut self, _: &TickView<'_, W>) -> Result {
        Ok(())
    }

    fn robot_lost(&mut self, _: u32, story: &str) {
        self.0.push(story.to_owned());
    }
}

fn fly<W: Environment>(
    told: &Told<'_>, task: &W::Task, swarm: &mut dyn Swarm<W::Task>,
) -> (Flown, Vec<String>) {
    let condition = Scenario { robots: told.robots, ticks: told.ticks, ..W::default_scenario() };
    let mut random = generator(told.seed, Purpose::Testing, 0);
    let start = Episode::draw(&W::default(), &condition, &mut random).unwrap();
    let (mut digest, mut stories) = (EpisodeDigest::default(), Stories::default());
    let never = AtomicBool::new(false);
    let flight = start.fly(task, swarm, &mut [&mut digest, &mut stories], &never).unwrap();
    let counters = flight.counters.unwrap();
    let (heard, refused) = (counters.heard, counters.refused_by_name());
    (Flown { digest: digest.finish(), score: flight.score, heard, refused }, stories.0)
}

/// Flies the robots that `make` constructs.
fn fly_with<W: Environment>(
    told: &Told<'_>,
    make: impl for<'w> FnOnce(&Network<'w, W::Task>, &RadioConfig<'_>) -> AnySwarm<'w, W::Task>,
) -> (Flown, Vec<String>) {
    let model = model::<W>(told);
    let network = Network::<W::Task>::of(&model, told.link.profile).unwrap();
    assert!(network.rule.step > 0.0, "online learning is on");
    let key = key::read(Path::new(image::KEY)).unwrap();
    let (layout, faults) = (W::layout(), &told.faults);
    let mut swarm = make(&network, &RadioConfig { layout: &layout, faults, swarm: 0, key });
    fly::<W>(told, &network.task, swarm.as_mut())
}

fn model<W: Environment>(told: &Told<'_>) -> ModelFile {
    W::model(told.link.profile).unwrap()
}

fn fly_native<W: Environment>(told: &Told<'_>) -> Flown {
    fly_with::<W>(told, |network, air| network.native(air, told.robots, told.link.sealed).unwrap()).0
}

fn emulated<W: Environment>(told: &Told<'_>) -> Emulated {
    Emulated::new::<W::Task>(told.image, &model::<W>(told), told.link, told.robots, &told.faults).unwrap()
}

fn fly_emulated<W: Environment>(told: &Told<'_>, robots: Emulated) -> (Flown, Vec<String>) {
    fly_with::<W>(told, |network, air| {
        network.elsewhere(air, Box::new(robots), told.robots, told.link.sealed).unwrap()
    })
}

/// Flies a swarm natively and in emulators, and compares all results.
fn fly_both<W: Environment>(told: &Told<'_>) -> Flown {
    let native = fly_native::<W>(told);
    let (emulated, stories) = fly_emulated::<W>(told, emulated::<W>(told));
    assert_eq!(stories, [""; 0], "no robot was lost");
    assert_eq!(native, emulated, "{} {:?} seed {}", W::NAME, told.link, told.seed);
    native
}

const UNSEALED: Link = Link { profile: Profile::Exact, sealed: false };

#[test]
fn fifty_emulated_robots_equal_native_ones_bit_for_bit() {
    let image = image::build("robot", &[]).unwrap();
    let mut digests = Vec::new();
    for seed in [1, 2, 3] {
        let faults = Faults::default();
        let told = Told { link: UNSEALED, image: &image, robots: 50, ticks: 200, seed, faults };
        let flown = fly_both::<Flock>(&told);
        let last = flown.score.last().unwrap();
        assert!(*last < 0.05, "the swarm flocks: {last}");
        digests.push(flown.digest);
    }
    digests.dedup();
    assert_eq!(digests.len(), 3, "each start has its own digest");
}

#[test]
fn emulated_robots_of_every_task_equal_native_ones() {
    fn check<W: Environment>() {
        let image = image::build_with("robot", &[], &[("WDGNN_TASK", W::NAME)]).unwrap();
        let faults = Faults::default();
        let told = Told { link: UNSEALED, image: &image, robots: 12, ticks: 60, seed: 3, faults };
        let flown = fly_both::<W>(&told);
        assert!(flown.score[59] < 0.7 * flown.score[0], "the score improves: {:?}", flown.score);
    }
    check::<Flock<3>>();
}

/// Losses, recordings, forgeries, lies and events.
const HOSTILE: &str = "drop-chance=0.1 burst=3 corrupt-chance=0.1 duplicate-chance=0.1 delay=0.1:5 replay=40 forge=5 \
                       kill=3@50 reboot=7@60 radio-outage=5@20-40 skew=1 partition=55-65 liars=STATE:0.2";

#[test]
fn sealed_swarms_equal_native_ones_on_every_profile_under_faults() {
    for &profile in Profile::ALL {
        let image = image::build_sealed(profile.name(), &[]).unwrap();
        let link = Link { profile, sealed: true };
        let told = |faults| Told { link, image: &image, robots: 9, ticks: 90, seed: 4, faults };
        let quiet = fly_both::<Flock>(&told(Faults::default()));
        assert_eq!(quiet.refused, BTreeMap::new());
        let faults = Faults::parse(HOSTILE).unwrap();
        let hostile = fly_both::<Flock>(&told(faults));
        for reason in ["forged", "replayed", "out-of-window", "too-short", "implausible"] {
            assert!(hostile.refused.contains_key(reason), "{}: {:?}", profile.name(), hostile.refused);
        }
        // Each robot hears 5 forged frames per exchange.
        let exchanges = u64::from(90 / profile.exchange_ticks());
        assert!(hostile.refused["forged"] > exchanges * 5 * 8 / 2, "{:?}", hostile.refused);
    }
}

/// Whatever goes wrong with robots' bodies, clocks, links and names, as it is typed.
const AILING: &str = "one-way=0.2 interference=0.1:3 collisions attack-delay=1 brown-out=7@45 join=0.2@30 position-noise=0.05 \
                      position-bias=0.05 heading-error=30:0.2 sensor=lost:0.2@40 motor=stuck:0.2@20 saturation=6 \
                      drift=10000 time-jump=2@50:5 missed-ticks=0.1 spoof=60 sybil=5";

#[test]
fn faulty_robots_equal_native_ones() {
    let image = image::build_sealed("dot154", &[]).unwrap();
    let link = Link { profile: Profile::Dot154, sealed: true };
    let faults = Faults { seed: 4, ..Faults::parse(AILING).unwrap() };
    let told = |faults| Told { link, image: &image, robots: 9, ticks: 90, seed: 4, faults };
    let ailing = fly_both::<Flock>(&told(faults));
    let well = fly_native::<Flock>(&told(Faults::default()));
    assert_ne!(ailing.digest, well.digest, "the faults have an effect");
}

#[test]
fn floods_are_counted_and_do_not_affect_the_next_tick() {
    let image = image::build("robot", &[]).unwrap();
    let faults = Faults { forge: 300, ..Faults::default() };
    let told = Told { link: UNSEALED, image: &image, robots: 3, ticks: 4, seed: 1, faults };
    let flown = fly_both::<Flock>(&told);
    assert_eq!(flown.refused["flood"], 3 * 4, "one per tick and robot");
}

fn alive(process: u32) -> bool {
    Path::new("/proc").join(process.to_string()).exists()
}

#[test]
fn dead_emulators_are_reported_and_the_others_fly_on() {
    let image = image::build("robot", &[]).unwrap();
    let told = |faults| {
        let faults = Faults::parse(faults).unwrap();
        Told { link: UNSEALED, image: &image, robots: 4, ticks: 20, seed: 1, faults }
    };
    let robots = emulated::<Flock>(&told(""));
    let process = robots.process(2).unwrap().to_string();
    assert!(Command::new("kill").args(["-9", &process]).status().unwrap().success());
    let (flown, stories) = fly_emulated::<Flock>(&told(""), robots);
    assert_eq!(stories.len(), 1);
    assert!(
        stories[0].starts_with("robot 2 is lost; its last output: info  robot 2, model 0x"),
        "{stories:?}"
    );
    let native = fly_native::<Flock>(&told("kill=2@0"));
    assert_eq!(flown.digest, native.digest, "the others fly as without it");
}

#[test]
fn no_emulator_outlives_its_swarm() {
    let image = image::build("robot", &[]).unwrap();
    let faults = Faults::default();
    let told = Told { link: UNSEALED, image: &image, robots: 3, ticks: 1, seed: 1, faults };
    let robots = emulated::<Flock>(&told);
    let processes: Vec<u32> = (0..3).filter_map(|robot| robots.process(robot)).collect();
    assert!(processes.len() == 3 && processes.iter().all(|process| alive(*process)));
    drop(robots);
    assert!(!processes.iter().any(|process| alive(*process)));
}

#[test]
fn emulated_robots_rotate_keys_as_native_ones_do() {
    let image = image::build_with("robot", &[], &image::WITH_KEY_ROTATION).unwrap();
    let link = Link { profile: Profile::Dot154, sealed: true };
    // One is captured, one is restarted in the middle of it, and a fifth of the frames is lost.
    let options = "kill=3@40 rekey=50-350 expel=3 reboot=5@200 drop-chance=0.2";
    let faults = Faults { seed: 1, ..Faults::parse(options).unwrap() };
    let told = Told { link, image: &image, robots: 8, ticks: 500, seed: 1, faults };
    let flown = fly_both::<Flock>(&told);
    assert!(flown.refused["key-update"] > 100, "{:?}", flown.refused);
    assert!(*flown.score.last().unwrap() < 0.5, "the swarm still flocks: {:?}", flown.score.last());
}

#[test]
fn emulated_robots_prove_their_identity_as_native_ones_do() {
    let image = image::build_with("robot", &[], &image::WITH_KEY_ROTATION).unwrap();
    let link = Link { profile: Profile::Dot154, sealed: true };
    // An insider invents identities, one robot restarts, and a fifth of the frames is lost.
    let fly = |options: &str| {
        let faults = Faults { seed: 1, ..Faults::parse(options).unwrap() };
        fly_both::<Flock>(&Told { link, image: &image, robots: 10, ticks: 300, seed: 1, faults })
    };
    let proven = fly("sybil=16 peer-auth reboot=5@100 drop-chance=0.2");
    let unproven = fly("sybil=16 reboot=5@100 drop-chance=0.2");
    assert_ne!(proven.digest, unproven.digest, "proofs are said");
    assert!(proven.score.last() < unproven.score.last(), "{:?} {:?}", proven.score, unproven.score);
}
