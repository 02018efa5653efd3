//! Emulated robots: one QEMU process each, with the firmware image.

use std::{
    io,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use wdgnn_core::task::{NodeId, State as _};
use wdgnn_link::security::key_update::personal_key;
use wdgnn_protocol::emulation::{Hello, ImageDimensions, SensorInput, VERSION};
use wdgnn_robot::onboard::OnboardTask;

use crate::{
    error::{Error, Result},
    files,
    image::BUILD,
    log::Decoder,
    medium::{
        key_operator::{self, MASTER},
        options::Faults,
    },
    model::ModelFile,
    profiles::Profile,
    qemu::{Emulator, Provisioning},
    scene::{Frame, SimTask},
    swarm::{Robots, TickInput, TickOutcome, torn},
};

/// Emulated robots. Dropping them ends all processes.
#[derive(Debug)]
pub struct Emulated {
    robots: Vec<Option<Emulator>>,
    count: usize,
    /// Whether robots have personal keys, for key rotation or peer authentication.
    told: bool,
    /// Whether robots authenticate each other.
    proofs: bool,
    lost_ones: Vec<String>,
    image: PathBuf,
    decoder: Decoder,
    folder: TempDir,
}

impl Emulated {
    /// Starts a swarm. The image must contain `model` for the task `T` and use `link`. With key
    /// rotation or peer authentication, robots get their keys at the start.
    pub fn new<T: OnboardTask>(
        image: &Path, model: &ModelFile, link: Link, robots: usize, faults: &Faults,
    ) -> Result<Self> {
        let folder =
            tempfile::tempdir().map_err(|error| Error::Failed(format!("no temporary folder: {error}")))?;
        let mut all = Self {
            robots: Vec::with_capacity(robots),
            count: robots,
            told: faults.rekey.is_some() || faults.peer_auth,
            proofs: faults.peer_auth,
            lost_ones: Vec::new(),
            image: std::path::absolute(image).unwrap_or(image.into()),
            decoder: Decoder::new(image)?,
            folder,
        };
        // Starts all processes before it waits for the first one.
        for robot in 0..robots {
            let emulator = all.start(robot)?;
            all.robots.push(Some(emulator));
        }
        for robot in 0..robots {
            let hello = all.greet(robot)?;
            check::<T>(&hello, model, link)?;
        }
        Ok(all)
    }

    /// Number of robots at the start.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the log of a robot since its first start.
    pub fn log(&self, robot: usize) -> Vec<String> {
        self.decoder.lines(&files::read(&self.place(robot).join("log")).unwrap_or_default())
    }

    /// Returns the emulator process of a robot, if it runs.
    pub fn process(&self, robot: usize) -> Option<u32> {
        self.robots[robot].as_ref().map(Emulator::process)
    }

    /// Lets all robots end by themselves, so that they complete their logs.
    pub fn leave(&mut self) {
        for robot in 0..self.robots.len() {
            if let Some(emulator) = self.robots[robot].take()
                && !emulator.leave().is_ok_and(|status| status.success())
            {
                self.lose(robot, "ended badly");
            }
        }
    }

    fn place(&self, robot: usize) -> PathBuf {
        self.folder.path().join(robot.to_string())
    }

    fn start(&self, robot: usize) -> Result<Emulator> {
        let name = robot as NodeId;
        let told = self.told.then(|| personal_key(&MASTER, name));
        let told = told.map(|key| Provisioning {
            key,
            roster: if self.proofs { key_operator::peer_keys(name) } else { &[] },
        });
        Emulator::start(&self.image, robot, self.count, told.as_ref(), &self.place(robot))
            .map_err(|error| Error::Failed(format!("robot {robot} does not start: {error}")))
    }

    /// Waits for the identification of a started robot.
    fn greet(&mut self, robot: usize) -> Result<Hello> {
        let hello = self.robots[robot].as_mut().map(Emulator::hello);
        hello.and_then(io::Result::ok).ok_or_else(|| Error::Failed(self.story(robot, "does not start")))
    }

    fn lose(&mut self, robot: usize, how: &str) {
        self.robots[robot] = None;
        let story = self.story(robot, how);
        self.lost_ones.push(story);
    }

    /// Describes the failure of a robot with its last output.
    fn story(&self, robot: usize, how: &str) -> String {
        let qemu = files::read(&self.place(robot).join("qemu")).unwrap_or_default();
        let qemu = String::from_utf8_lossy(&qemu).lines().last().map(str::to_owned);
        let last = self.log(robot).pop().or(qemu).unwrap_or("nothing".into());
        format!("robot {robot} {how}; its last output: {}", last.trim())
    }

    /// Calls a function for each running robot with an input. A robot with an error is lost.
    fn each<A, T>(
        &mut self, what: &[Option<A>], mut ask: impl FnMut(&mut Emulator, &A) -> io::Result<T>,
    ) -> Vec<Option<T>> {
        let mut answers = Vec::with_capacity(self.robots.len());
        for (robot, what) in what.iter().enumerate() {
            let answer =
                self.robots[robot].as_mut().zip(what.as_ref()).map(|(emulator, what)| ask(emulator, what));
            if matches!(answer, Some(Err(_))) {
                self.lose(robot, "is lost");
            }
            answers.push(answer.and_then(io::Result::ok));
        }
        answers
    }
}

impl<T: SimTask> Robots<T> for Emulated {
    fn begin_tick(&mut self, inputs: &[Option<TickInput<T::State>>]) -> Vec<Vec<Frame>> {
        self.each(inputs, |emulator, TickInput { tick, sensed }| {
            let situation = SensorInput { tick: *tick, sensed: sensed.is_some().into() };
            emulator.sense(&situation, sensed.unwrap_or_else(T::State::zero).to_array().as_ref())
        });
        let said = self.each(inputs, |emulator, _| emulator.speak());
        said.into_iter().map(Option::unwrap_or_default).collect()
    }

    fn end_tick(&mut self, heard: &[Option<Vec<Frame>>]) -> Vec<Option<TickOutcome>> {
        self.each(heard, |emulator, frames| emulator.hear(frames));
        self.each(heard, |emulator, _| emulator.outcome())
    }

    fn kill(&mut self, robot: usize) {
        self.robots[robot] = None;
    }

    fn reboot(&mut self, robot: usize) -> Result {
        if self.robots[robot].take().is_some() {
            self.robots[robot] = Some(self.start(robot)?);
            self.greet(robot)?;
        }
        Ok(())
    }

    fn brown_out(&mut self, robot: usize) -> Result {
        if self.robots[robot].take().is_some() {
            let store = self.place(robot).join("store");
            if let Ok(record) = files::read(&store) {
                files::write(&store, &torn(&record))?;
            }
            self.robots[robot] = Some(self.start(robot)?);
            self.greet(robot)?;
        }
        Ok(())
    }

    fn lost(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lost_ones)
    }

    fn logs(&mut self) -> Vec<Vec<String>> {
        self.leave();
        (0..self.robots.len()).map(|robot| self.log(robot)).collect()
    }
}

/// Radio link of the robots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub profile: Profile,
    /// Whether frames are sealed.
    pub sealed: bool,
}

impl Link {
    fn words(self) -> String {
        format!("{} {}", self.profile.name(), if self.sealed { "sealed" } else { "unsealed" })
    }

    /// Returns the build options of an image with this link.
    fn settings(self) -> String {
        format!("WDGNN_PROFILE={}{}", self.profile.name(), if self.sealed { " WDGNN_KEY=FILE" } else { "" })
    }
}

/// Compares the identification of a robot with the expected image.
fn check<T: OnboardTask>(hello: &Hello, model: &ModelFile, link: Link) -> Result {
    if hello.version != VERSION {
        return Err(Error::Usage(format!(
            "the firmware image has another protocol version: rebuild it with `{BUILD}`"
        )));
    }
    let (here, there) = (ImageDimensions::of::<T>(), hello.dimensions);
    let fields = [
        ("as its task", here.task, there.task),
        ("numbers of a state", here.state, there.state),
        ("features", here.features, there.features),
        ("taps", here.taps, there.taps),
        ("hidden features", here.hidden, there.hidden),
        ("outputs", here.outputs, there.outputs),
        ("neighbors", here.neighbors, there.neighbors),
        ("wide parameters", here.wide, there.wide),
    ];
    if let Some((name, here, there)) = fields.into_iter().find(|(_, here, there)| here != there) {
        return Err(Error::Usage(format!(
            "the firmware image was built for {there} {name}, this program expects {here}: rebuild it with `{BUILD}`"
        )));
    }
    let spoken = Profile::with_code(hello.profile).map(|profile| Link { profile, sealed: hello.sealed != 0 });
    if spoken != Some(link) {
        return Err(Error::Usage(format!(
            "the firmware image uses {}, this run uses {}: rebuild it with `{} {BUILD}`",
            spoken.map_or("an unknown profile".into(), Link::words),
            link.words(),
            link.settings(),
        )));
    }
    let wanted = model.weights().checksum;
    if hello.model != wanted {
        return Err(Error::Usage(format!(
            "the firmware image contains model {:08x}, {} is {wanted:08x}: rebuild it with `WDGNN_MODEL={} {BUILD}`",
            hello.model,
            model.path().display(),
            model.path().display(),
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use wdgnn_core::tasks::flocking::Flocking;

    use super::*;
    use wdgnn_sim::{
        models,
        recipe::{Architecture, RecipeName},
    };

    fn refusal(change: impl Fn(&mut Hello)) -> Option<String> {
        let model = models::shipped(RecipeName::Through, Architecture::WdGnn).unwrap();
        let mut hello = Hello {
            version: VERSION,
            id: 0,
            boot: 0,
            resumed: 0,
            model: model.weights().checksum,
            profile: Profile::Exact.code(),
            sealed: 0,
            dimensions: ImageDimensions::of::<Flocking>(),
        };
        change(&mut hello);
        check::<Flocking>(&hello, &model, Link { profile: Profile::Exact, sealed: false })
            .err()
            .map(|error| error.to_string())
    }

    #[test]
    fn images_of_other_robots_are_rejected() {
        assert_eq!(refusal(|_| {}), None);
        let hidden = refusal(|hello| hello.dimensions.hidden = 16).unwrap();
        assert!(hidden.contains("built for 16 hidden features, this program expects 32"), "{hidden}");
        let model = refusal(|hello| hello.model = 0xdead_beef).unwrap();
        assert!(model.contains("contains model deadbeef, models/flocking-wd-gnn.wdgnn is"), "{model}");
        let sealed = refusal(|hello| (hello.profile, hello.sealed) = (2, 1)).unwrap();
        assert!(sealed.contains("uses dot154 sealed, this run uses exact unsealed"), "{sealed}");
        assert!(sealed.contains("`WDGNN_PROFILE=exact cargo build"), "{sealed}");
        assert!(refusal(|hello| hello.version = 0).unwrap().contains("another protocol version"));
    }
}
