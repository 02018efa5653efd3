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
use wdgnn_protocol::event::BAUD;

use super::flight::Flight;
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
pub fn fly<'w>(
    path: &Path, flight: &mut Flight<'w>, stop: &AtomicBool, mut over: impl FnMut(&Flight<'w>) -> bool,
) -> Result {
    let mut port = open(path)?;
    let name = path.display();
    let lost = |error: io::Error| Error::Failed(format!("the gateway at {name} is lost: {error}"));
    let begun = Instant::now();
    let (mut asked, mut heard, mut bytes) = (None::<Instant>, None::<Instant>, [0; 4_096]);
    while !over(flight) {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        if !flight.is_greeted() && asked.is_none_or(|asked| asked.elapsed() > ASK_EVERY) {
            asked = Some(Instant::now());
            // A zero byte ends an incomplete message.
            port.write_all(&[&[0][..], &Flight::greeting()].concat()).map_err(lost)?;
        }
        // Ctrl-C interrupts the wait.
        if poll(&mut [PollFd::new(&port, PollFlags::IN)], Some(&LOOK)).unwrap_or(0) > 0 {
            let count = port.read(&mut bytes).map_err(lost)?;
            if count == 0 {
                return Err(lost(io::ErrorKind::UnexpectedEof.into()));
            }
            heard = Some(Instant::now());
            let answer = flight.hear(&bytes[..count])?;
            port.write_all(&answer).map_err(lost)?;
        }
        if flight.is_greeted() {
            if heard.is_none_or(|heard| heard.elapsed() > SILENT) {
                return Err(Error::Failed(format!("the gateway at {name} became silent")));
            }
        } else if begun.elapsed() > PATIENCE {
            return Err(Error::usage(if heard.is_some() {
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
