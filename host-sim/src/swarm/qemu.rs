//! One emulated robot: a QEMU that runs the firmware image, with this program as its world.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex},
};

use bytemuck::Pod;
use wdgnn_link::security::key::Key;
use wdgnn_protocol::emulation::{self, FrameHeader, Hello, MAX_FRAME, SensorInput, VERSION};
use wdgnn_robot::control_loop::MOST_FRAMES;

use super::{
    TickOutcome,
    image::QEMU,
    watchdog::{SharedChild, Watchdog, lock},
};
use crate::scene;

/// The most numbers of a command or a wide part that a robot is believed to have; the largest frame holds a quarter of that.
const MOST_NUMBERS: usize = MAX_FRAME;

/// What an operator tells one robot and no other.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "keys are never printed")]
pub struct Told {
    /// Its personal key.
    pub key: Key,
    /// The keys by which others prove their names to it; none where names are not proven.
    pub roster: &'static [Key],
}

/// An emulated robot. Dropped, it is switched off and gone.
#[derive(Debug)]
pub struct Emulator {
    child: SharedChild,
    input: Option<ChildStdin>,
    output: ChildStdout,
    watchdog: Arc<Watchdog>,
    folder: PathBuf,
    /// Numbers of a command and of the wide part, as the robot tells when it introduces itself.
    numbers: [usize; 2],
}

impl Emulator {
    /// Starts robot `id` of a swarm of so many (0 if that is not to be known) in `folder`, where it keeps its log and what it stores, and is
    /// told its keys.
    pub fn start(
        image: &Path,
        id: usize,
        robots: usize,
        told: Option<&Told>,
        folder: &Path,
        watchdog: &Arc<Watchdog>,
    ) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let personal =
            told.map_or(String::new(), |told| format!(",arg={:032x}", u128::from_be_bytes(told.key)));
        if let Some(told) = told {
            fs::write(folder.join("roster"), told.roster.as_flattened())?;
        }
        let complaints = fs::File::options().create(true).append(true).open(folder.join("qemu"))?;
        let mut child = Command::new(QEMU)
            .args(["-machine", "mps2-an386", "-display", "none", "-monitor", "none", "-serial", "none"])
            .args([
                "-semihosting-config",
                &format!("enable=on,target=native,arg={id},arg={robots}{personal}"),
            ])
            .arg("-kernel")
            .arg(image)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(complaints)
            .spawn()?;
        let (input, Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("no pipe"));
        };
        let (watchdog, folder) = (Arc::clone(watchdog), folder.into());
        Ok(Self { child: Arc::new(Mutex::new(child)), input, output, watchdog, folder, numbers: [0; 2] })
    }

    /// What the robot says first.
    pub fn hello(&mut self) -> io::Result<Hello> {
        let hello: Hello = self.read()?;
        let counts = [hello.dimensions.outputs, hello.dimensions.wide].map(|count| count as usize);
        if hello.version == VERSION && counts.iter().all(|count| *count <= MOST_NUMBERS) {
            self.numbers = counts;
        }
        Ok(hello)
    }

    /// Begins a tick, with the numbers of the robot's state.
    pub fn sense(&mut self, situation: &SensorInput, state: &[f32]) -> io::Result<()> {
        self.write(&[bytemuck::bytes_of(situation), bytemuck::cast_slice(state)].concat())
    }

    /// The robot's frames of this tick.
    pub fn speak(&mut self) -> io::Result<Vec<scene::Frame>> {
        let mut frames = Vec::new();
        loop {
            let frame: FrameHeader = self.read()?;
            if let Some(count) = frame.bytes() {
                let mut bytes = vec![0; count];
                self.read_bytes(&mut bytes)?;
                frames.push(bytes.into());
            }
            if frame.last != 0 {
                return Ok(frames);
            }
        }
    }

    /// Hands over what the robot hears in this tick: as much as it listens to, and that is one frame more than it looks at.
    pub fn hear(&mut self, frames: &[scene::Frame]) -> io::Result<()> {
        let frames = frames.get(..=MOST_FRAMES as usize).unwrap_or(frames);
        let mut messages = Vec::new();
        for (count, frame) in (1..).zip(frames) {
            let (message, bytes) = FrameHeader::of(frame, count == frames.len());
            messages.extend_from_slice(bytemuck::bytes_of(&message));
            messages.extend_from_slice(bytes);
        }
        if messages.is_empty() {
            messages.extend_from_slice(bytemuck::bytes_of(&FrameHeader::NONE));
        }
        self.write(&messages)
    }

    /// What the robot did in this tick.
    pub fn outcome(&mut self) -> io::Result<TickOutcome> {
        let counts: emulation::TickResult = self.read()?;
        let [mut command, mut wide] = self.numbers.map(|count| vec![0.0; count]);
        self.read_bytes(bytemuck::cast_slice_mut(&mut command))?;
        self.read_bytes(bytemuck::cast_slice_mut(&mut wide))?;
        Ok(TickOutcome { counts, command, wide })
    }

    /// Closes the robot's world and waits for it to end by itself.
    pub fn leave(mut self) -> io::Result<ExitStatus> {
        self.input = None;
        let Self { child, output, watchdog, .. } = &mut self;
        // Its end of the pipe closes when it ends; the watchdog sees to it that it does.
        watchdog.wait(child, || output.read_to_end(&mut Vec::new()))?;
        lock(child).wait()
    }

    /// The emulator's process.
    pub fn process(&self) -> u32 {
        lock(&self.child).id()
    }

    /// Where the robot keeps its log and what it stores.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn read<M: Pod>(&mut self) -> io::Result<M> {
        let mut message = M::zeroed();
        self.read_bytes(bytemuck::bytes_of_mut(&mut message))?;
        Ok(message)
    }

    fn read_bytes(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        let Self { child, output, watchdog, .. } = self;
        watchdog.wait(child, || output.read_exact(bytes))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Self { child, input, watchdog, .. } = self;
        let input = input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        watchdog.wait(child, || input.write_all(bytes))
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        let mut child = lock(&self.child);
        // It may have ended by itself already; waiting for it takes it off the process table either way.
        let _ = child.kill();
        let _ = child.wait();
    }
}
