//! `host-sim run --target microbit-buggy`: robots with two wheels under a camera.

use std::{
    env, fs,
    path::{Path, PathBuf},
    str::FromStr,
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

use clap::Args;
use nrf52_emulator::devices::MotorProtocol;
use serde::Serialize;
use wdgnn_drive::buggy::Settings as Wheels;
use wdgnn_emulation::{
    buggies::{
        camera::Camera,
        chips::{BUTTONS, Settings, Swarm},
        eye::{Eye, IdealEye},
        native::{self, Conditions, Controller, scattered},
        score::Figures,
        tracker::{self, TrackerEye},
        twin,
    },
    image,
};

use super::{
    super::{output::print_json, stop_on_interrupt},
    RunArguments, Setup, Target,
};
use crate::{
    error::{Error, Result},
    files, key,
    model::ModelFile,
    option_range::OptionRange,
    profiles::Profile,
    progress,
    seeds::{Purpose, generator},
    table::aligned,
};

/// Network of buggies: ten messages per second.
const NETWORK: &str = "models/flocking-dot154-10hz.wdgnn";
/// Default number of robots, and of ticks after the start.
const ROBOTS: usize = 10;
const TICKS: u32 = 2_000;
/// Time in seconds before chips begin to drive.
const START: f64 = 1.5;
/// Largest frequency error of the crystals in parts per million.
const CRYSTAL_PPM: f64 = 40.0;

/// Source of poses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CameraName {
    /// `tools/tracker.py` on rendered images.
    #[default]
    Tracker,
    /// Poses with noise, without images.
    Ideal,
}

impl FromStr for CameraName {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "tracker" => Ok(Self::Tracker),
            "ideal" => Ok(Self::Ideal),
            _ => Err("tracker or ideal".into()),
        }
    }
}

/// Options for buggies.
#[derive(Args, Clone, Debug, PartialEq)]
#[command(next_help_heading = "Buggies (--target buggy, microbit-buggy)")]
pub struct BuggyArguments {
    /// Source of poses: tracker (OpenCV on rendered images) or ideal (no images).
    #[arg(long, default_value = "tracker")]
    camera: CameraName,
    /// Time from an exposure to its poses in ms; the tracker assumes 100, and robots learn the rest.
    #[arg(long, value_name = "MS", default_value_t = 100.0, value_parser = OptionRange::real(20.0, 300.0).parser::<f64>())]
    latency: f64,
    /// Largest deviation of a wheel's speed.
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, value_parser = OptionRange::real(0.0, 0.3).parser::<f64>())]
    unequal_wheels: f64,
    /// Share of detections that the ideal camera misses.
    #[arg(long, value_name = "SHARE", default_value_t = 0.02, value_parser = OptionRange::real(0.0, 0.9).parser::<f64>())]
    missed_detections: f64,
    /// Starts, with the seeds from --seed on (--target buggy).
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = OptionRange::whole(1, 10_000).parser::<u64>())]
    starts: u64,
    /// Align by the mean direction of all messages instead of the network (--target buggy).
    #[arg(long)]
    law: bool,
    /// Do not learn wheel gains and latency (--target buggy).
    #[arg(long)]
    no_wheel_learning: bool,
    /// Second in which robot 0 stops forever (--target buggy).
    #[arg(long, value_name = "SECONDS", value_parser = OptionRange::real(0.0, 10_000.0).parser::<f64>())]
    robot_dies: Option<f64>,
    /// Video of the tracker's picture.
    #[arg(long, value_name = "MP4")]
    video: Option<PathBuf>,
}

impl Default for BuggyArguments {
    fn default() -> Self {
        Self {
            camera: CameraName::Tracker,
            latency: 100.0,
            unequal_wheels: 0.05,
            missed_detections: 0.02,
            starts: 1,
            law: false,
            no_wheel_learning: false,
            robot_dies: None,
            video: None,
        }
    }
}

/// JSON output.
#[derive(Debug, Serialize)]
struct Output {
    robots: usize,
    seconds: f64,
    starts: Vec<Figures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chips: Option<Chips>,
    wall_seconds: f64,
}

/// Figures of chips.
#[derive(Clone, Copy, Debug, Serialize)]
struct Chips {
    ticks_equal_to_native: u64,
    ticks_that_differ: usize,
    images_sent: u16,
    stack_bytes: u32,
    resets: usize,
}

impl BuggyArguments {
    /// Rejects options for buggies on other targets.
    pub fn check_unused(&self) -> Result {
        if *self == Self::default() {
            return Ok(());
        }
        Err(Error::usage("options for buggies need --target buggy or microbit-buggy"))
    }

    fn conditions(&self, robots: usize, seconds: f64, seed: u64) -> Conditions {
        Conditions {
            robots,
            seconds,
            unequal: self.unequal_wheels,
            learning: !self.no_wheel_learning,
            dies: self.robot_dies,
            seed,
            ..Conditions::default()
        }
    }

    fn eye(&self, robots: usize, starts: f64, seed: u64) -> Result<Box<dyn Eye>> {
        let latency = self.latency / 1e3;
        if self.camera == CameraName::Ideal {
            let camera = Camera { latency, missed: self.missed_detections, ..Camera::default() };
            return Ok(Box::new(IdealEye::new(camera, starts, seed)));
        }
        let video = self.video.clone();
        Ok(Box::new(TrackerEye::start(tracker::Settings {
            robots,
            latency,
            stated_latency: 0.1,
            video,
            seed,
        })?))
    }
}

/// Key of emulated robots, if the command line has none.
fn emulated_key() -> Result<PathBuf> {
    let path = env::temp_dir().join("wdgnn-emulated.key");
    fs::write(&path, "656d756c617465642d7377617261000a").map_err(|error| Error::Failed(error.to_string()))?;
    Ok(path)
}

/// Builds the image of a robot or of the gateway.
fn build(key: &Path, model: &Path, gateway: bool) -> Result<Vec<u8>> {
    files::read(&image::build(&image::Settings {
        package: "wdgnn-firmware",
        task: "flocking",
        profile: Profile::Dot154,
        key: Some(key),
        model: Some(model),
        board: Some("board-microbit-v2"),
        buggy: true,
        gateway,
        ..image::Settings::default()
    })?)
}

impl RunArguments {
    /// Runs buggies in this process or on emulated chips and prints their figures.
    pub(super) fn run_buggies(&self, setup: &Setup) -> Result {
        let sets = |option| self.scenario.invocation.sets(option);
        let robots = if sets("robots") { setup.condition.robots } else { ROBOTS };
        let ticks = if sets("ticks") { setup.condition.ticks } else { TICKS };
        if robots > ROBOTS {
            return Err(Error::usage(format!("--robots must be at most {ROBOTS} for buggies, got {robots}")));
        }
        self.check_no_recordings()?;
        self.chips.check_unused()?;
        let path = self
            .model
            .model
            .clone()
            .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(NETWORK));
        let model = ModelFile::load(&path)?;
        let (seconds, began) = (f64::from(ticks) / 100.0, Instant::now());
        let interrupted = stop_on_interrupt()?;
        let go_on = || if interrupted.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) };
        let (starts, chips) = if self.target == Target::Buggy {
            (self.run_native_buggies(&model, robots, seconds, go_on)?, None)
        } else {
            let key = self.key.clone().map_or_else(emulated_key, Ok)?;
            let (figures, chips) =
                self.run_buggy_chips(&model, &path, &key, robots, seconds, &interrupted)?;
            (vec![figures], Some(chips))
        };
        let output = Output { robots, seconds, starts, chips, wall_seconds: began.elapsed().as_secs_f64() };
        if self.outputs.json {
            print_json(&self.origin(&setup.condition, &model), &output);
        } else {
            print(&output);
        }
        Ok(())
    }

    fn run_native_buggies(
        &self, model: &ModelFile, robots: usize, seconds: f64, go_on: impl Fn() -> Result,
    ) -> Result<Vec<Figures>> {
        let (weights, arguments) = (model.weights(), &self.buggies);
        let controller = if arguments.law { Controller::Law } else { Controller::Network(&weights) };
        let bar = progress::bar((100.0 * seconds) as u64 * arguments.starts, "driving");
        let mut ticks = 0;
        let seeds = self.seed..self.seed + arguments.starts;
        let figures = seeds.map(|seed| {
            let conditions = arguments.conditions(robots, seconds, seed);
            let mut eye = arguments.eye(robots, 0.0, seed)?;
            let run = native::run(&conditions, &controller, eye.as_mut(), || {
                ticks += 1;
                bar.set_position(ticks);
                go_on()
            });
            run.map(|(figures, _)| figures)
        });
        let figures = figures.collect();
        bar.finish_and_clear();
        figures
    }

    fn run_buggy_chips(
        &self, model: &ModelFile, path: &Path, key_file: &Path, robots: usize, seconds: f64,
        interrupted: &AtomicBool,
    ) -> Result<(Figures, Chips)> {
        let arguments = &self.buggies;
        if arguments.law
            || arguments.no_wheel_learning
            || arguments.robot_dies.is_some()
            || arguments.starts > 1
        {
            return Err(Error::usage(
                "--law, --no-wheel-learning, --robot-dies and --starts need --target buggy",
            ));
        }
        let (group, wheels) = (key::read(key_file)?, Wheels::MAQUEEN);
        eprintln!("host-sim: building the images of robots and gateway");
        let conditions = arguments.conditions(robots, seconds, self.seed);
        let mut random = generator(self.seed, Purpose::Testing, 0);
        let settings = Settings {
            image: build(key_file, path, false)?,
            gateway: build(key_file, path, true)?,
            bodies: scattered(&conditions, &wheels.arena, &mut random),
            wheels,
            chassis: MotorProtocol::Maqueen,
            loss: 0.0,
            ppm: CRYSTAL_PPM,
            seed: self.seed,
        };
        let mut swarm = Swarm::new(settings, arguments.eye(robots, f64::INFINITY, self.seed)?, |id| {
            twin::native(id, &model.weights(), &group)
        })?;
        swarm.set_key(&group);
        let end = START + seconds;
        let bar = progress::bar((1_000.0 * end) as u64, "driving");
        while swarm.seconds() < end {
            // The operator presses button A of the gateway.
            let presses = (START - 0.1..START).contains(&swarm.seconds());
            swarm.press(robots, BUTTONS[0], presses);
            swarm.step()?;
            bar.set_position((1_000.0 * swarm.seconds()) as u64);
            if interrupted.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
        }
        bar.finish_and_clear();
        let twins = swarm.twins();
        let resets = swarm.air.stations.iter().flat_map(|station| &station.chip.resets);
        let chips = Chips {
            ticks_equal_to_native: twins.iter().map(|twin| twin.equal).sum(),
            ticks_that_differ: twins.iter().filter(|twin| twin.differs.is_some()).count(),
            images_sent: swarm.status.map_or(0, |status| status.sent),
            stack_bytes: swarm.stack_bytes(),
            resets: resets.filter(|reset| reset.reason & 4 == 0).count(),
        };
        Ok((swarm.figures(START), chips))
    }
}

fn print(output: &Output) {
    let Output { robots, seconds, starts, chips, wall_seconds } = output;
    println!("{robots} buggies, {seconds} s after each start, in {wall_seconds:.1} s");
    let heading = ["start", "flock after", "deviation", "speed", "connected", "nearest", "at walls"];
    let row = |name: String, figures: &Figures| {
        vec![
            name,
            figures.flock_after.map_or("-".into(), |after| format!("{after:.1} s")),
            format!("{:.2}°", figures.deviation),
            format!("{:.3} m/s", figures.speed),
            format!("{:.1} %", 100.0 * figures.connected),
            format!("{:.1} cm", 100.0 * figures.nearest),
            format!("{:.1} s", figures.at_walls),
        ]
    };
    let mut rows = vec![heading.map(String::from).to_vec()];
    rows.extend(starts.iter().enumerate().map(|(index, figures)| row((index + 1).to_string(), figures)));
    if starts.len() > 1 {
        let last = starts.len() - 1;
        rows.push(row("median".into(), &Figures::ranked(starts, last / 2)));
        rows.push(row("worst".into(), &Figures::ranked(starts, last)));
    }
    println!("{}", aligned(&rows));
    if let Some(Chips { ticks_equal_to_native, ticks_that_differ, images_sent, stack_bytes, resets }) = chips
    {
        let twins = if *ticks_that_differ == 0 {
            format!("{ticks_equal_to_native} ticks, equal, bit for bit")
        } else {
            format!("{ticks_that_differ} robots DIFFER")
        };
        println!("native twins  {twins}");
        println!("images        {images_sent} sent by the gateway");
        println!("stack         {stack_bytes} bytes at most");
        println!("resets        {resets}");
    }
}
