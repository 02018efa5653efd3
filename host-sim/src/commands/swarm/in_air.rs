//! Native and emulated robots in a simulated air.

use std::{sync::atomic::AtomicBool, time::Instant};

use wdgnn_core::Task as _;

use super::{
    super::{outputs::Results, records::RecordArguments, stop_on_interrupt},
    Flown, Given, SwarmArguments,
    crew::Crew,
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

impl SwarmArguments {
    /// Flies them, and prints.
    pub(super) fn fly_in_air<W: Environment>(&self, given: &Given) -> Result {
        let Given { condition, faults, model, key } = given;
        self.refuse_off_chips(faults, condition.robots)?;
        let other = (faults.other_models > 0.0).then(|| W::other_model(self.profile)).transpose()?;
        let network = Network { other: other.as_ref(), ..Network::<W::Task>::of(model, self.profile)? };
        let layout = W::layout();
        let air = RadioConfig { layout: &layout, faults, swarm: 0, key: key.unwrap_or_default() };
        let crew = Crew::<W> { arguments: self, condition, network, air };
        let task = &crew.network.task;
        let start = crew.draw()?;
        // A model for other robots is refused here, before anything is built or started.
        let native = crew.native(&start)?;
        let (mut swarm, twin): (AnySwarm<'_, W::Task>, _) =
            if self.emulates() { (crew.emulated()?, self.compare.then_some(native)) } else { (native, None) };
        self.scenario.check()?;
        self.outputs.check()?;
        let stop = stop_on_interrupt()?;
        let flown = self.fly::<W>(swarm.as_mut(), task, &start, &stop)?;
        let alone = Self { records: RecordArguments::default(), ..self.clone() };
        let twin = twin.map(|mut twin| alone.fly::<W>(twin.as_mut(), task, &start, &stop)).transpose()?;
        if self.log {
            for (robot, lines) in swarm.logs().iter().enumerate() {
                for line in lines {
                    eprintln!("{robot:3} {line}");
                }
            }
        }
        let settled = self.settled(condition);
        let origin = self.scenario.origin(settled.command("swarm"), model.describe());
        let origin = &origin.with_faults(&self.faults.words());
        let outcomes = [Self::outcome(&flown)];
        self.outputs.deliver(&Results {
            origin,
            json: Self::output(condition, &flown, twin.as_ref()),
            print: &|| self.print::<W>(condition, &flown, twin.as_ref()),
            csv: &|| Self::csv_rows(&flown.flight),
            page: &|| Ok(self.page::<W>(condition, &flown, &outcomes, origin)),
            plots: &|| plots(&outcomes, W::SCORE, W::default_task().period()),
        })?;
        self.scenario.save("swarm", &settled)?;
        match twin {
            Some(twin) if twin.digest != flown.digest => {
                let digest = &twin.digest;
                Err(Error::Failed(format!("native robots did something else: their digest is {digest}")))
            }
            _ => Ok(()),
        }
    }

    /// Flies a swarm and records the flight.
    fn fly<W: Environment>(
        &self,
        swarm: &mut dyn Swarm<W::Task>,
        task: &W::Task,
        start: &Episode<W>,
        stop: &AtomicBool,
    ) -> Result<Flown> {
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
        losses.tell();
        drop(ticks);
        records.finish()?;
        let replay =
            recorder.replay::<W>(task, condition.radius, self.profile, (ONLINE, ONLINE_TITLE), &flight);
        Ok(Flown { digest: digest.finish(), flight, replay, seconds })
    }
}
