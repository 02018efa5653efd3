//! One emulated robot: a QEMU process with the firmware image.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    time::Duration,
};

use bytemuck::Pod;
use wdgnn_link::security::key::Key;
use wdgnn_protocol::emulation::{self, FrameHeader, Hello, MAX_FRAME, SensorInput, VERSION};
use wdgnn_robot::control_loop::MAX_FRAMES_PER_TICK;

use crate::{image::QEMU, scene, swarm::TickOutcome};

/// Time limit for an answer. Robots answer within a millisecond; fifty starting robots on one slow
/// core take seconds.
const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes that a pipe takes without blocking once it takes any (`PIPE_BUF` of Linux).
const PIPE_BYTES: usize = 4096;

/// Largest number of values in a command or wide part, four times that of the largest frame.
const MOST_NUMBERS: usize = MAX_FRAME;

/// Provisioned secrets of one robot.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "keys are never printed")]
pub struct Provisioning {
    pub key: Key,
    /// Keys by which the robot authenticates its peers; empty without peer authentication.
    pub roster: &'static [Key],
}

/// Emulated robot. Dropping it ends the process.
#[derive(Debug)]
pub struct Emulator {
    child: Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
    /// Sizes of command and wide part, from the robot's identification.
    numbers: [usize; 2],
}

impl Emulator {
    /// Starts robot `id` of a swarm (0 robots for an unknown size) in `folder`, which contains its
    /// log, its storage and its keys.
    pub fn start(
        image: &Path, id: usize, robots: usize, told: Option<&Provisioning>, folder: &Path,
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
        Ok(Self { child, input, output, numbers: [0; 2] })
    }

    /// Receives the identification.
    pub fn hello(&mut self) -> io::Result<Hello> {
        let hello: Hello = self.read()?;
        let counts = [hello.dimensions.outputs, hello.dimensions.wide].map(|count| count as usize);
        if hello.version == VERSION && counts.iter().all(|count| *count <= MOST_NUMBERS) {
            self.numbers = counts;
        }
        Ok(hello)
    }

    /// Begins a tick with the numbers of the robot's state.
    pub fn sense(&mut self, situation: &SensorInput, state: &[f32]) -> io::Result<()> {
        self.write(&[bytemuck::bytes_of(situation), bytemuck::cast_slice(state)].concat())
    }

    /// Receives the robot's frames of this tick.
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

    /// Sends the received frames of this tick: at most one more than the robot reads.
    pub fn hear(&mut self, frames: &[scene::Frame]) -> io::Result<()> {
        let frames = frames.get(..=MAX_FRAMES_PER_TICK as usize).unwrap_or(frames);
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

    /// Receives the result of this tick.
    pub fn outcome(&mut self) -> io::Result<TickOutcome> {
        let counts: emulation::TickResult = self.read()?;
        let [mut command, mut wide] = self.numbers.map(|count| vec![0.0; count]);
        self.read_bytes(bytemuck::cast_slice_mut(&mut command))?;
        self.read_bytes(bytemuck::cast_slice_mut(&mut wide))?;
        Ok(TickOutcome { counts, command, wide })
    }

    /// Closes the pipe and waits for the end of the process.
    pub fn leave(mut self) -> io::Result<ExitStatus> {
        self.input = None;
        while Timed(&mut self.output, PATIENCE).read(&mut [0; PIPE_BYTES])? > 0 {}
        self.child.wait()
    }

    /// Emulator process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    fn read<M: Pod>(&mut self) -> io::Result<M> {
        let mut message = M::zeroed();
        self.read_bytes(bytemuck::bytes_of_mut(&mut message))?;
        Ok(message)
    }

    fn read_bytes(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        Timed(&mut self.output, PATIENCE).read_exact(bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let input = self.input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        Timed(input, PATIENCE).write_all(bytes)
    }
}

/// Pipe of a robot with a time limit, so that a robot that hangs is an error.
struct Timed<'a, P>(&'a mut P, Duration);

#[cfg(unix)]
impl<P: std::os::fd::AsFd> Timed<'_, P> {
    /// Waits until the pipe has or takes bytes, or is closed.
    fn wait(&self, direction: rustix::event::PollFlags) -> io::Result<()> {
        use rustix::event::{PollFd, Timespec, poll};

        let limit =
            Timespec { tv_sec: self.1.as_secs().cast_signed(), tv_nsec: self.1.subsec_nanos().into() };
        match poll(&mut [PollFd::new(self.0, direction)], Some(&limit))? {
            0 => Err(io::ErrorKind::TimedOut.into()),
            _ => Ok(()),
        }
    }
}

impl io::Read for Timed<'_, ChildStdout> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        self.wait(rustix::event::PollFlags::IN)?;
        self.0.read(bytes)
    }
}

impl io::Write for Timed<'_, ChildStdin> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(unix)]
        self.wait(rustix::event::PollFlags::OUT)?;
        self.0.write(&bytes[..bytes.len().min(PIPE_BYTES)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        // The process may have ended; waiting removes it from the process table.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn silent_processes_are_errors_after_the_time_limit() {
        let mut child = Command::new("sleep").arg("60").stdout(Stdio::piped()).spawn().unwrap();
        let mut output = child.stdout.take().unwrap();
        let silent = Timed(&mut output, Duration::from_millis(50)).read(&mut [0]).unwrap_err();
        assert_eq!(silent.kind(), io::ErrorKind::TimedOut);
        child.kill().and_then(|()| child.wait()).unwrap();
        assert_eq!(Timed(&mut output, PATIENCE).read(&mut [0]).unwrap(), 0, "the end is no error");
    }
}
