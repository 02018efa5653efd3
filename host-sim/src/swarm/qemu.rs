//! One emulated robot: a QEMU that runs the firmware image, with this program as its world.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex},
};

use bytemuck::Pod;
use firmware::emulation::{Frame, Hello, Outcome, Situation};
use wdgnn_core::tick::MOST_FRAMES;

use super::{
    image::QEMU,
    patrol::{Patrol, SharedChild, lock},
};
use crate::air::mailbox;

/// An emulated robot. Dropped, it is switched off and gone.
#[derive(Debug)]
pub struct Emulator {
    child: SharedChild,
    input: Option<ChildStdin>,
    output: ChildStdout,
    patrol: Arc<Patrol>,
    folder: PathBuf,
}

impl Emulator {
    /// Starts robot `id` in `folder`, where it keeps its log and what it stores.
    ///
    /// # Errors
    /// When QEMU cannot be started.
    pub fn start(image: &Path, id: usize, folder: &Path, patrol: &Arc<Patrol>) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let complaints = fs::File::options().create(true).append(true).open(folder.join("qemu"))?;
        let mut child = Command::new(QEMU)
            .args(["-machine", "mps2-an386", "-display", "none", "-monitor", "none", "-serial", "none"])
            .args(["-semihosting-config", &format!("enable=on,target=native,arg={id}")])
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
        let (patrol, folder) = (Arc::clone(patrol), folder.into());
        Ok(Self { child: Arc::new(Mutex::new(child)), input, output, patrol, folder })
    }

    /// What the robot says first.
    ///
    /// # Errors
    /// When it ended instead.
    pub fn hello(&mut self) -> io::Result<Hello> {
        self.read()
    }

    /// Begins a tick.
    ///
    /// # Errors
    /// When the robot is gone.
    pub fn sense(&mut self, situation: &Situation) -> io::Result<()> {
        self.write(bytemuck::bytes_of(situation))
    }

    /// The robot's frames of this tick.
    ///
    /// # Errors
    /// When the robot is gone.
    pub fn speak(&mut self) -> io::Result<Vec<mailbox::Frame>> {
        let mut frames = Vec::new();
        loop {
            let frame: Frame = self.read()?;
            frames.extend(frame.content().map(mailbox::Frame::from));
            if frame.last != 0 {
                return Ok(frames);
            }
        }
    }

    /// Hands over what the robot hears in this tick: as much as it listens to, and that is one frame more than it looks at.
    ///
    /// # Errors
    /// When the robot is gone.
    pub fn hear(&mut self, frames: &[mailbox::Frame]) -> io::Result<()> {
        let frames = frames.get(..=MOST_FRAMES as usize).unwrap_or(frames);
        let mut messages = Vec::with_capacity(frames.len().max(1));
        messages.extend((1..).zip(frames).map(|(count, frame)| Frame::of(frame, count == frames.len())));
        if messages.is_empty() {
            messages.push(Frame::nothing());
        }
        self.write(bytemuck::cast_slice(&messages))
    }

    /// What the robot did in this tick.
    ///
    /// # Errors
    /// When the robot is gone.
    pub fn outcome(&mut self) -> io::Result<Outcome> {
        self.read()
    }

    /// Closes the robot's world and waits for it to end by itself.
    ///
    /// # Errors
    /// When it cannot be waited for.
    pub fn leave(mut self) -> io::Result<ExitStatus> {
        self.input = None;
        let Self { child, output, patrol, .. } = &mut self;
        // Its end of the pipe closes when it ends; the patrol sees to it that it does.
        patrol.wait(child, || output.read_to_end(&mut Vec::new()))?;
        lock(child).wait()
    }

    /// The emulator's process.
    #[must_use]
    pub fn process(&self) -> u32 {
        lock(&self.child).id()
    }

    /// Where the robot keeps its log and what it stores.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn read<M: Pod>(&mut self) -> io::Result<M> {
        let mut message = M::zeroed();
        let Self { child, output, patrol, .. } = self;
        patrol.wait(child, || output.read_exact(bytemuck::bytes_of_mut(&mut message)))?;
        Ok(message)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Self { child, input, patrol, .. } = self;
        let input = input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        patrol.wait(child, || input.write_all(bytes))
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
