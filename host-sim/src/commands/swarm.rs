//! `host-sim swarm`: one swarm of robots that run the firmware, here or each in an emulator of its own.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use clap::{Args, ValueEnum};
use serde::Serialize;
use wdgnn_core::flocking::Flocking;

use crate::{
    error::{Error, Result},
    fleet::{
        Fleet,
        emulated::Emulated,
        events::{Events, Moment, Span},
        image,
        mission::{self, Debriefing},
        native::Native,
        recorded::Recorded,
    },
    model::ModelFile,
    models,
    seeds::{Purpose, generator},
    start::{Condition, start},
    train::recipe::{Architecture, RecipeName},
};

/// What the robots run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Nodes {
    /// In this process.
    Native,
    /// Each on an emulated Cortex-M4F, from the real firmware image.
    Emulated,
}

/// Fly one swarm of robots that run the firmware's own code, and print a digest of everything they did.
///
/// Native and emulated robots print the same digest: CRC-64/XZ over every command and every wide parameter, of every robot, at
/// every tick.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  host-sim swarm --nodes emulated\n  host-sim swarm --nodes native --json\n  \
                        host-sim swarm --nodes emulated --kill 3@50 --reboot 7@80 --drop 5@20-60 --log"
)]
pub struct SwarmArguments {
    /// What the robots run on.
    #[arg(long, value_enum, default_value = "native")]
    nodes: Nodes,
    /// How many robots.
    #[arg(long, value_name = "N", default_value_t = Condition::PAPER.robots)]
    robots: usize,
    /// Length of the flight in ticks of 10 ms.
    #[arg(long, value_name = "N", default_value_t = Condition::PAPER.ticks)]
    ticks: u32,
    /// Radio range in metres; the spacing at the start goes with it.
    #[arg(long, value_name = "METRES", default_value_t = Condition::PAPER.radius, allow_negative_numbers = true)]
    radius: f32,
    /// Largest starting speed per axis in m/s.
    #[arg(long, value_name = "M/S", default_value_t = Condition::PAPER.speed, allow_negative_numbers = true)]
    speed: f32,
    /// Seed of the start.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Take a robot out of the sky, such as 3@50: robot 3 before tick 50.
    #[arg(long, value_name = "ROBOT@TICK")]
    kill: Vec<Moment>,
    /// Switch a robot off and on again, such as 7@80.
    #[arg(long, value_name = "ROBOT@TICK")]
    reboot: Vec<Moment>,
    /// Put a robot out of radio contact, such as 5@20-60: from tick 20 up to tick 60.
    #[arg(long, value_name = "ROBOT@FROM-TO")]
    drop: Vec<Span>,
    /// A model of your own in place of the one that comes with the program.
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// A firmware image in place of one that is built now.
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
    /// Write every frame that is said to a capture, for Wireshark and `host-sim sniff`.
    #[arg(long, value_name = "FILE")]
    capture: Option<PathBuf>,
    /// Print the robots' logs (emulated ones keep one).
    #[arg(long)]
    log: bool,
    /// Print JSON in place of text.
    #[arg(long)]
    json: bool,
}

/// The JSON output.
#[derive(Debug, Serialize)]
struct Output {
    robots: usize,
    ticks: u32,
    total: f64,
    r#final: f64,
    digest: String,
    wall_seconds: f64,
}

impl SwarmArguments {
    /// Flies and prints.
    ///
    /// # Errors
    /// Options that cannot be, a model or an image that does not fit, an emulator that is not there, Ctrl-C.
    pub fn run(&self) -> Result {
        let condition =
            Condition { robots: self.robots, radius: self.radius, speed: self.speed, ticks: self.ticks };
        condition.check()?;
        let events =
            Events { kills: self.kill.clone(), reboots: self.reboot.clone(), drops: self.drop.clone() };
        if let Some(robot) = events.largest().filter(|robot| *robot >= self.robots) {
            return Err(Error::usage(format!(
                "there is no robot {robot}: {} robots count from 0 to {}",
                self.robots,
                self.robots - 1
            )));
        }
        let model = match &self.model {
            Some(path) => ModelFile::load(path)?,
            None => models::shipped(RecipeName::Ours, Architecture::WdGnn)?,
        };
        // A model for other robots is refused here, before anything is built or started.
        Native::new(&model, 1)?;
        let (debriefing, seconds) = match self.nodes {
            Nodes::Native => self.fly_native(&model, &condition, &events)?,
            Nodes::Emulated => self.fly_emulated(&model, &condition, &events)?,
        };
        self.print(&debriefing, seconds);
        Ok(())
    }

    fn fly_native(
        &self,
        model: &ModelFile,
        condition: &Condition,
        events: &Events,
    ) -> Result<(Debriefing, f64)> {
        let mut fleet = Native::new(model, self.robots)?;
        self.fly(&mut fleet, model, condition, events)
    }

    fn fly_emulated(
        &self,
        model: &ModelFile,
        condition: &Condition,
        events: &Events,
    ) -> Result<(Debriefing, f64)> {
        image::check_emulator()?;
        let image = match &self.image {
            Some(image) => image.clone(),
            None => image::build(self.model.as_deref())?,
        };
        let mut fleet = Emulated::new(&image, model, self.robots)?;
        let flown = self.fly(&mut fleet, model, condition, events)?;
        if self.log {
            fleet.leave();
            for robot in 0..self.robots {
                fleet.log(robot).iter().for_each(|line| eprintln!("{robot:3} {line}"));
            }
        }
        Ok(flown)
    }

    fn fly(
        &self,
        fleet: &mut dyn Fleet,
        model: &ModelFile,
        condition: &Condition,
        events: &Events,
    ) -> Result<(Debriefing, f64)> {
        let interrupted = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&interrupted);
        ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed))
            .map_err(|error| Error::Failed(format!("Ctrl-C cannot be caught: {error}")))?;
        let from = start(condition, &mut generator(self.seed, Purpose::Testing, 0))?;
        let period = Flocking::from_settings(&model.weights().header.task.numbers).period;
        let began = Instant::now();
        let mut lost =
            |tick: u32, story: &str| eprintln!("host-sim: tick {tick}: {story}; the others fly on");
        let mut fly = |fleet: &mut dyn Fleet| {
            mission::fly(fleet, condition, &from, period, events, &interrupted, &mut lost)
        };
        let debriefing = match &self.capture {
            None => fly(fleet)?,
            Some(path) => {
                let mut recorded = Recorded::new(fleet, period, path)?;
                let debriefing = fly(&mut recorded)?;
                recorded.finish()?;
                debriefing
            }
        };
        Ok((debriefing, began.elapsed().as_secs_f64()))
    }

    fn print(&self, debriefing: &Debriefing, wall_seconds: f64) {
        let (total, r#final, digest) = (debriefing.total(), debriefing.last(), debriefing.digest.clone());
        let Self { robots, ticks, .. } = *self;
        if self.json {
            let output = Output { robots, ticks, total, r#final, digest, wall_seconds };
            println!("{}", serde_json::to_string_pretty(&output).unwrap_or_default());
            return;
        }
        let nodes = if self.nodes == Nodes::Native { "native" } else { "emulated" };
        let (heard, refused) = debriefing.frames;
        println!("{robots} {nodes} robots, {ticks} ticks of flight in {wall_seconds:.2} s");
        println!("velocity variation  total {total:.2}, final {final:.4} m²/s²", r#final = r#final);
        println!("frames              {heard} heard, {refused} refused");
        println!("digest              {digest}");
    }
}
