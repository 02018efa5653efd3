//! Native robots and robots in QEMU on a simulated radio medium.

use std::{sync::atomic::AtomicBool, time::Instant};

use wdgnn_robot::tasks::MotionModel as _;

use super::{
    super::{output::Results, recordings::RecordArguments, stop_on_interrupt},
    RunArguments, RunResult, Setup,
    build_robots::RobotBuilder,
    observers::{Losses, Ticks},
};
use crate::{
    controllers::{ONLINE, ONLINE_TITLE},
    episode::{Episode, Observer},
    error::{Error, Result},
    page::{flights::plots, replay::Recorder},
    progress,
    scene::Swarm,
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
        let robots = RobotBuilder::<W> { arguments: self, condition, network, air };
        let task = &robots.network.task;
        let start = robots.draw()?;
        // Checks that the model fits the robots before an image is built.
        let native = robots.native(&start)?;
        let (mut swarm, twin): (AnySwarm<'_, W::Task>, _) = if self.uses_qemu() {
            (robots.emulated()?, self.compare.then_some(native))
        } else {
            (native, None)
        };
        self.scenario.check()?;
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
        let resolved = self.resolved(condition);
        let origin = self.scenario.origin(resolved.command("run"), model.describe());
        let origin = &origin.with_faults(&self.faults.settings());
        let outcomes = [Self::outcome(&result)];
        self.outputs.deliver(&Results {
            origin,
            json: Self::output(condition, &result, twin.as_ref()),
            print: &|| self.print::<W>(condition, &result, twin.as_ref()),
            csv: &|| Self::csv_rows(&result.flight),
            page: &|| Ok(self.page::<W>(condition, &result, &outcomes, origin)),
            plots: &|| plots(&outcomes, W::SCORE, W::default_task().period()),
        })?;
        self.scenario.save("run", &resolved)?;
        match twin {
            Some(twin) if twin.digest != result.digest => {
                let digest = &twin.digest;
                Err(Error::Failed(format!("native robots differ: their digest is {digest}")))
            }
            _ => Ok(()),
        }
    }

    /// Runs a swarm and records the episode.
    fn fly<W: Environment>(
        &self,
        swarm: &mut dyn Swarm<W::Task>,
        task: &W::Task,
        start: &Episode<W>,
        stop: &AtomicBool,
    ) -> Result<RunResult> {
        let condition = &start.scenario;
        let mut digest = EpisodeDigest::default();
        let mut recorder = Recorder::new(condition);
        let mut records = self.records.records::<W>(task)?;
        let mut ticks = Ticks(progress::bar(condition.ticks.into(), "flying"));
        let mut losses = Losses::default();
        let mut observers: Vec<&mut dyn Observer<W>> =
            vec![&mut digest, &mut losses, &mut ticks, &mut records];
        if self.outputs.report.is_some() {
            observers.push(&mut recorder);
        }
        let began = Instant::now();
        let flight = start.fly(task, swarm, &mut observers, stop)?;
        let seconds = began.elapsed().as_secs_f64();
        losses.print();
        drop(ticks);
        records.finish()?;
        let replay =
            recorder.replay::<W>(task, condition.radius, self.profile(), (ONLINE, ONLINE_TITLE), &flight);
        Ok(RunResult { digest: digest.finish(), flight, replay, seconds })
    }
}
