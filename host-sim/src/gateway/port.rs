//! Serial port of a gateway. Only this file uses the wall clock, and only to detect silence.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{OFlags, fcntl_setfl},
    termios::{ControlModes, OptionalActions, QueueSelector, tcflush, tcgetattr, tcsetattr},
};
use wdgnn_link::encoding::Codec;
use wdgnn_protocol::gateway::BAUD;

use super::episode::EpisodeMetrics;
use crate::error::{Error, Result};

/// Interval at which a gateway without identification is asked again.
const ASK_EVERY: Duration = Duration::from_millis(250);
/// Time after which a gateway without identification is an error.
const PATIENCE: Duration = Duration::from_secs(3);
/// Time after which a silent gateway is an error; gateways report the time 1,000 times a second.
const SILENT: Duration = Duration::from_secs(1);
/// Interval of checks for Ctrl-C.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Opens a serial port in raw mode at the gateway's rate.
fn open(path: &Path) -> Result<File> {
    let name = path.display();
    // Does not wait for a carrier and does not become the controlling terminal.
    let flags = (OFlags::NOCTTY | OFlags::NONBLOCK).bits().cast_signed();
    let port = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path);
    let port = port.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::usage(format!(
            "there is no serial port {name}: is the gateway plugged in? (/dev/ttyACM* or /dev/ttyUSB* on Linux, /dev/tty.usb* on macOS)"
        )),
        io::ErrorKind::PermissionDenied => Error::usage(format!(
            "no permission to open {name}: on Linux, join the group dialout"
        )),
        _ => Error::usage(format!("{name} cannot be opened: {error}")),
    })?;
    let set = || -> rustix::io::Result<()> {
        let mut settings = tcgetattr(&port)?;
        settings.make_raw();
        settings.control_modes |= ControlModes::CLOCAL | ControlModes::CREAD;
        settings.set_speed(BAUD)?;
        tcsetattr(&port, OptionalActions::Now, &settings)?;
        fcntl_setfl(&port, OFlags::empty())?;
        tcflush(&port, QueueSelector::IFlush)
    };
    set().map_err(|error| Error::usage(format!("{name} is not a serial port with {BAUD} baud: {error}")))?;
    Ok(port)
}

/// Runs until `over` returns true or Ctrl-C.
pub fn fly<C: Codec>(
    path: &Path,
    flight: &mut Flight<'_, C>,
    stop: &AtomicBool,
    mut over: impl FnMut(&Flight<'_, C>) -> bool,
) -> Result {
    let mut port = open(path)?;
    let name = path.display();
    let lost = |error: io::Error| Error::Failed(format!("the gateway at {name} is lost: {error}"));
    let begun = Instant::now();
    let (mut asked, mut heard, mut any) = (None::<Instant>, begun, false);
    while !over(flight) {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        if !flight.is_greeted() && asked.is_none_or(|asked| asked.elapsed() > ASK_EVERY) {
            asked = Some(Instant::now());
            // A zero byte ends an incomplete message.
            port.write_all(&[&[0][..], &Flight::<C>::greeting()].concat()).map_err(lost)?;
        }
        let _ = poll(&mut [PollFd::new(&port, PollFlags::IN)], Some(&LOOK));
        let bytes = available(&mut port).map_err(lost)?;
        if bytes.is_empty() {
            if flight.is_greeted() && heard.elapsed() > SILENT {
                return Err(Error::Failed(format!("the gateway at {name} became silent")));
            }
        } else {
            (heard, any) = (Instant::now(), true);
            let answer = flight.hear(&bytes)?;
            port.write_all(&answer).map_err(lost)?;
        }
        if !flight.is_greeted() && begun.elapsed() > PATIENCE {
            return Err(Error::usage(if any {
                format!("the device at {name} is not a gateway: its messages are unknown")
            } else {
                format!(
                    "the gateway at {name} is silent: is it flashed (docs/bring-up.md), and is this its port?"
                )
            }));
        }
    }
    Ok(())
}

/// Reads the available bytes without waiting.
fn available(port: &mut File) -> io::Result<Vec<u8>> {
    let mut waiting = [PollFd::new(&*port, PollFlags::IN)];
    let none = Timespec { tv_sec: 0, tv_nsec: 0 };
    if poll(&mut waiting, Some(&none))? == 0 {
        return Ok(Vec::new());
    }
    let mut bytes = vec![0; 4_096];
    let count = port.read(&mut bytes)?;
    if count == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    bytes.truncate(count);
    Ok(bytes)
}
