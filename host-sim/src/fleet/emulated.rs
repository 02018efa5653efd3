//! A fleet of emulated robots: one QEMU each, all of them running the real firmware image.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use firmware::emulation::{Dimensions, Hello, Outcome, Situation, VERSION};
use tempfile::TempDir;
use wdgnn_core::{codec::Codec, flocking::Motion, message::Profile};

use super::{
    Fleet,
    image::BUILD,
    log::Decoder,
    patrol::{PATIENCE, Patrol},
    qemu::Emulator,
};
use crate::{
    air::mailbox::Frame,
    error::{Error, Result},
    files,
    model::ModelFile,
};

/// Emulated robots. Dropped, all of them are switched off.
#[derive(Debug)]
pub struct Emulated {
    robots: Vec<Option<Emulator>>,
    casualties: Vec<String>,
    image: PathBuf,
    decoder: Decoder,
    patrol: Arc<Patrol>,
    folder: TempDir,
}

impl Emulated {
    /// Starts as many robots as asked for. The image must carry `model` and speak by the codec `C`.
    ///
    /// # Errors
    /// [`Error::Failed`] when a robot does not start, or the image is for other robots, another link or another model.
    pub fn new<C: Codec>(image: &Path, model: &ModelFile, robots: usize) -> Result<Self> {
        let folder =
            tempfile::tempdir().map_err(|error| Error::Failed(format!("no temporary folder: {error}")))?;
        let mut fleet = Self {
            robots: Vec::with_capacity(robots),
            casualties: Vec::new(),
            image: std::path::absolute(image).unwrap_or(image.into()),
            decoder: Decoder::new(image)?,
            patrol: Arc::new(Patrol::new(PATIENCE)),
            folder,
        };
        // All of them start at once; only then is the first one waited for.
        for robot in 0..robots {
            let emulator = fleet.start(robot)?;
            fleet.robots.push(Some(emulator));
        }
        for robot in 0..robots {
            let hello = fleet.greet(robot)?;
            check::<C>(&hello, model)?;
        }
        Ok(fleet)
    }

    /// The log of a robot, since its first start.
    #[must_use]
    pub fn log(&self, robot: usize) -> Vec<String> {
        self.decoder.lines(&files::read(&self.place(robot).join("log")).unwrap_or_default())
    }

    /// The process that a robot's emulator runs in, while there is one.
    #[must_use]
    pub fn process(&self, robot: usize) -> Option<u32> {
        self.robots[robot].as_ref().map(Emulator::process)
    }

    /// Lets all robots end by themselves, which they do with a last line in their log.
    pub fn leave(&mut self) {
        for robot in 0..self.robots.len() {
            if let Some(emulator) = self.robots[robot].take()
                && !emulator.leave().is_ok_and(|status| status.success())
            {
                self.lost(robot, "ended badly");
            }
        }
    }

    fn place(&self, robot: usize) -> PathBuf {
        self.folder.path().join(robot.to_string())
    }

    fn start(&self, robot: usize) -> Result<Emulator> {
        Emulator::start(&self.image, robot, &self.place(robot), &self.patrol)
            .map_err(|error| Error::Failed(format!("robot {robot} does not start: {error}")))
    }

    /// Waits for a robot that was started to introduce itself.
    fn greet(&mut self, robot: usize) -> Result<Hello> {
        let hello = self.robots[robot].as_mut().map(Emulator::hello);
        hello.and_then(io::Result::ok).ok_or_else(|| Error::Failed(self.story(robot, "does not start")))
    }

    fn lost(&mut self, robot: usize, how: &str) {
        self.robots[robot] = None;
        let story = self.story(robot, how);
        self.casualties.push(story);
    }

    /// What happened to a robot, with the last thing it or QEMU said.
    fn story(&self, robot: usize, how: &str) -> String {
        let qemu = files::read(&self.place(robot).join("qemu")).unwrap_or_default();
        let qemu = String::from_utf8_lossy(&qemu).lines().last().map(str::to_owned);
        let last = self.log(robot).pop().or(qemu).unwrap_or("nothing".into());
        format!("robot {robot} {how}; the last it said: {}", last.trim())
    }

    /// Does something with every robot that is there. Who fails is lost.
    fn each<T>(&mut self, mut ask: impl FnMut(usize, &mut Emulator) -> io::Result<T>) -> Vec<Option<T>> {
        let mut answers = Vec::with_capacity(self.robots.len());
        for robot in 0..self.robots.len() {
            let answer = self.robots[robot].as_mut().map(|emulator| ask(robot, emulator));
            if matches!(answer, Some(Err(_))) {
                self.lost(robot, "is lost");
            }
            answers.push(answer.and_then(io::Result::ok));
        }
        answers
    }
}

impl Fleet for Emulated {
    fn speak(&mut self, ticks: &[u32], motions: &[Motion]) -> Vec<Vec<Frame>> {
        self.each(|robot, emulator| {
            let (tick, Motion { position, velocity }) = (ticks[robot], motions[robot]);
            emulator.sense(&Situation { tick, sensed: 1, position, velocity })
        });
        self.each(|_, emulator| emulator.speak()).into_iter().map(Option::unwrap_or_default).collect()
    }

    fn hear(&mut self, heard: &[Vec<Frame>]) -> Vec<Option<Outcome>> {
        self.each(|robot, emulator| emulator.hear(&heard[robot]));
        self.each(|_, emulator| emulator.outcome())
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

    fn casualties(&mut self) -> Vec<String> {
        std::mem::take(&mut self.casualties)
    }
}

/// Compares what a robot says about its image with what is to be flown.
fn check<C: Codec>(hello: &Hello, model: &ModelFile) -> Result {
    if hello.version != VERSION {
        return Err(Error::Usage(format!(
            "the firmware image speaks another version: build it anew with `{BUILD}`"
        )));
    }
    let (here, there) = (Dimensions::HERE, hello.dimensions);
    let fields = [
        ("features", here.features, there.features),
        ("taps", here.taps, there.taps),
        ("hidden features", here.hidden, there.hidden),
        ("outputs", here.outputs, there.outputs),
        ("neighbours", here.neighbours, there.neighbours),
    ];
    if let Some((name, here, there)) = fields.into_iter().find(|(_, here, there)| here != there) {
        return Err(Error::Usage(format!(
            "the firmware image was built for {there} {name}, this program flies {here}: build it anew with `{BUILD}`"
        )));
    }
    let (here, there) = ((C::profile(true) as u32, C::SEALED), (hello.profile, hello.sealed != 0));
    if here != there {
        return Err(Error::Usage(format!(
            "the firmware image speaks {}, this flight is {}: build it anew with `{} {BUILD}`",
            spoken(there),
            spoken(here),
            settings(here),
        )));
    }
    let wanted = model.weights().checksum;
    if hello.model != wanted {
        return Err(Error::Usage(format!(
            "the firmware image carries model {:08x}, {} is {wanted:08x}: build it anew with `WDGNN_MODEL={} {BUILD}`",
            hello.model,
            model.path().display(),
            model.path().display(),
        )));
    }
    Ok(())
}

/// A profile's name, by its code in a frame.
fn name(profile: u32) -> &'static str {
    [
        (Profile::Exact, "exact"),
        (Profile::Dot154, "dot154"),
        (Profile::EspNow, "espnow"),
        (Profile::Esb32, "esb32"),
    ]
    .into_iter()
    .find(|(known, _)| *known as u32 == profile)
    .map_or("an unknown profile", |(_, name)| name)
}

fn spoken((profile, sealed): (u32, bool)) -> String {
    format!("{} {}", name(profile), if sealed { "sealed" } else { "unsealed" })
}

/// What an image of this link is built with.
fn settings((profile, sealed): (u32, bool)) -> String {
    format!("WDGNN_PROFILE={}{}", name(profile), if sealed { " WDGNN_KEY=FILE" } else { "" })
}

#[cfg(test)]
mod tests {
    use wdgnn_core::codec::Exact;

    use super::*;
    use crate::{
        models,
        train::recipe::{Architecture, RecipeName},
    };

    fn refusal(change: impl Fn(&mut Hello)) -> Option<String> {
        let model = models::shipped(RecipeName::Ours, Architecture::WdGnn).unwrap();
        let mut hello = Hello {
            version: VERSION,
            id: 0,
            boot: 0,
            resumed: 0,
            model: model.weights().checksum,
            profile: Profile::Exact as u32,
            sealed: 0,
            dimensions: Dimensions::HERE,
        };
        change(&mut hello);
        check::<Exact>(&hello, &model).err().map(|error| error.to_string())
    }

    #[test]
    fn an_image_for_other_robots_is_refused_by_name() {
        assert_eq!(refusal(|_| {}), None);
        let hidden = refusal(|hello| hello.dimensions.hidden = 16).unwrap();
        assert!(hidden.contains("built for 16 hidden features, this program flies 32"), "{hidden}");
        let model = refusal(|hello| hello.model = 0xdead_beef).unwrap();
        assert!(model.contains("carries model deadbeef, models/flocking-wd-gnn.wdgnn is"), "{model}");
        let sealed = refusal(|hello| (hello.profile, hello.sealed) = (2, 1)).unwrap();
        assert!(sealed.contains("speaks dot154 sealed, this flight is exact unsealed"), "{sealed}");
        assert!(sealed.contains("`WDGNN_PROFILE=exact cargo build"), "{sealed}");
        assert!(refusal(|hello| hello.version = 0).unwrap().contains("another version"));
    }
}
