//! Native robots and robots in QEMU on a simulated radio medium.

use std::{path::PathBuf, sync::atomic::AtomicBool, time::Instant};

use wdgnn_emulation::{
    emulated::{Emulated, Link},
    image::{self, Settings},
};
use wdgnn_robot::tasks::MotionModel as _;

use super::{
    super::{output::Results, recordings::RecordArguments, stop_on_interrupt},
    RunArguments, RunResult, Setup,
};
use crate::{
    controllers::{ONLINE, ONLINE_TITLE},
    episode::{Episode, Observer, TickView},
    error::{Error, Result},
    evaluate::Ticks,
    medium::options::Faults,
    page::{flights::plots, replay::Recorder},
    progress,
    scene::Swarm,
    seeds::{Purpose, generator},
    swarm::{
        digest::EpisodeDigest,
        networks::{AnySwarm, Network},
        radio_swarm::RadioConfig,
    },
    world::Environment,
};

impl RunArguments {
    /// Runs the swarm and prints the result.
    pub(super) fn run_simulated<W: Environment>(&self, setup: &Setup) -> Result {
        let Setup { condition, faults, model, key } = setup;
        self.check_simulated(faults, condition.robots)?;
        let other = (faults.mixed_models > 0.0).then(|| W::other_model(self.profile())).transpose()?;
        let network = Network { other: other.as_ref(), ..Network::<W::Task>::of(model, self.profile())? };
        let layout = W::layout();
        let air = RadioConfig { layout: &layout, faults, swarm: 0, key: key.unwrap_or_default() };
        let (task, robots) = (&network.task, condition.robots);
        let mut random = generator(self.seed, Purpose::Testing, 0);
        let start = Episode::<W>::draw(&self.body.world()?, condition, &mut random)?;
        // Checks that the model fits the robots before an image is built.
        let native = if self.is_packed(robots) {
            network.in_array(&start.states)?
        } else {
            network.native(&air, robots, key.is_some())?
        };
        let (mut swarm, twin): (AnySwarm<'_, W::Task>, _) = if self.uses_qemu() {
            let link = Link { profile: self.profile(), sealed: key.is_some() };
            let emulated =
                Emulated::new::<W::Task>(&self.qemu_image::<W>(faults)?, model, link, robots, faults)?;
            let emulated = network.elsewhere(&air, Box::new(emulated), robots, link.sealed)?;
            (emulated, self.compare.then_some(native))
        } else {
            (native, None)
        };
        self.outputs.check()?;
        let stop = stop_on_interrupt()?;
        let result = self.fly::<W>(swarm.as_mut(), task, &start, &stop)?;
        let alone = Self { records: RecordArguments::default(), ..self.clone() };
        let twin = twin.map(|mut twin| alone.fly::<W>(twin.as_mut(), task, &start, &stop)).transpose()?;
        if self.log {
            for (robot, lines) in swarm.logs().iter().enumerate() {
                for line in lines {
                    eprintln!("{robot:3} {line}");
                }
            }
        }
        let origin = &self.origin(condition, model);
        let outcomes = [Self::outcome(&result)];
        self.outputs.deliver(&Results {
            origin,
            json: Self::output(condition, &result, twin.as_ref()),
            print: &|| self.print::<W>(condition, &result, twin.as_ref()),
            csv: &|| Self::csv_rows(&result.flight),
            page: &|| Ok(self.page::<W>(condition, &result, &outcomes, origin)),
            plots: &|| plots(&outcomes, W::SCORE, W::default_task().period()),
        })?;
        match twin {
            Some(twin) if twin.digest != result.digest => {
                let digest = &twin.digest;
                Err(Error::Failed(format!("native robots differ: their digest is {digest}")))
            }
            _ => Ok(()),
        }
    }

    /// Rejects options that native robots and robots in QEMU do not support.
    fn check_simulated(&self, faults: &Faults, robots: usize) -> Result {
        self.chips.check_unused()?;
        self.buggies.check_unused()?;
        if self.is_packed(robots) && !faults.settings().is_empty() {
            return Err(Error::usage(format!(
                "--robots must be at most 65536 with faults, the number of addresses, got {robots}"
            )));
        }
        if !self.uses_qemu() && (self.image.is_some() || self.log) {
            return Err(Error::usage(
                "--image and --log have no effect on native robots: give --target qemu",
            ));
        }
        self.check_key(faults)?;
        if faults.mixed_models > 0.0 && self.uses_qemu() {
            return Err(Error::usage(
                "--fault mixed-models needs --target native: robots in QEMU run one image",
            ));
        }
        Ok(())
    }

    /// Returns the image of the robots in QEMU.
    fn qemu_image<W: Environment>(&self, faults: &Faults) -> Result<PathBuf> {
        image::check_emulator()?;
        if let Some(image) = &self.image {
            return Ok(image.clone());
        }
        image::build(&Settings {
            task: W::NAME,
            package: W::PACKAGE,
            profile: self.profile(),
            key: self.key.as_deref(),
            model: self.model.model.as_deref(),
            board: None,
            rekeyed: faults.rekey.is_some() || faults.peer_auth,
            gateway: false,
            buggy: false,
        })
    }

    /// Runs a swarm and records the episode.
    fn fly<W: Environment>(
        &self, swarm: &mut dyn Swarm<W::Task>, task: &W::Task, start: &Episode<W>, stop: &AtomicBool,
    ) -> Result<RunResult> {
        let condition = &start.scenario;
        let bar = progress::bar(condition.ticks.into(), "flying");
        let tick = || bar.inc(1);
        let (mut digest, mut losses, mut ticks) = (EpisodeDigest::default(), Losses::default(), Ticks(&tick));
        let mut recorder = Recorder::new(condition);
        let mut records = self.records.records::<W>(task)?;
        let mut observers: Vec<&mut dyn Observer<W>> =
            vec![&mut digest, &mut losses, &mut ticks, &mut records];
        if self.outputs.report.is_some() {
            observers.push(&mut recorder);
        }
        let began = Instant::now();
        let flight = start.fly(task, swarm, &mut observers, stop)?;
        let seconds = began.elapsed().as_secs_f64();
        bar.finish_and_clear();
        losses.0.iter().for_each(|failure| eprintln!("host-sim: {failure}; the other robots continued"));
        records.finish()?;
        let replay =
            recorder.replay::<W>(task, condition.radius, self.profile(), (ONLINE, ONLINE_TITLE), &flight);
        Ok(RunResult { digest: digest.finish(), flight, replay, seconds })
    }
}

/// Failures of emulated robots.
#[derive(Default)]
struct Losses(Vec<String>);

impl<W: Environment> Observer<W> for Losses {
    fn observe(&mut self, _: &TickView<'_, W>) -> Result {
        Ok(())
    }

    fn robot_lost(&mut self, tick: u32, failure: &str) {
        self.0.push(format!("tick {tick}: {failure}"));
    }
}
