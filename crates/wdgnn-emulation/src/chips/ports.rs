//! Chips on pseudo-terminals, so that `firmware/companion.py` runs emulated robots as it runs
//! boards.
//!
//! The chips run in real time if the machine is fast enough. They wait for each companion's answer
//! to a command.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    os::unix::fs::{OpenOptionsExt as _, symlink},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use nrf52_emulator::{
    Chip,
    air::{Air, SECOND, Station},
    image,
    rtt::Rtt,
};
use rand::RngExt as _;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{OFlags, fcntl_setfl},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{OptionalActions, tcgetattr, tcsetattr},
};
use wdgnn_protocol::{
    companion::{Command, decode},
    event,
};

use super::{Settings, companion::BAUD};
use crate::{
    error::{Error, Result},
    seeds::{Purpose, generator},
};

/// Interval at which bytes move between chips and ports.
const STEP: u64 = SECOND / 1_000;
/// Time after which a silent companion counts as gone.
const PATIENCE: Duration = Duration::from_secs(2);
/// Time within which each port must be opened.
const COMING: Duration = Duration::from_mins(1);
/// Largest delay that is made up for.
const BEHIND: Duration = Duration::from_millis(50);

/// Robot's end of its line.
#[derive(Debug)]
struct Line {
    file: fs::File,
    /// Slave end, kept open so that the line exists before and after a companion.
    _other_end: fs::File,
    frame: Vec<u8>,
    baud: u64,
    /// Number of unanswered commands.
    unanswered: bool,
    /// Whether a companion has the line open.
    companion: bool,
}

fn open(link: &Path, baud: u64) -> io::Result<Line> {
    let file = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&file)?;
    unlockpt(&file)?;
    let name = ptsname(&file, Vec::new())?.into_string().map_err(io::Error::other)?;
    let not_ours = OFlags::NOCTTY.bits().cast_signed();
    let other_end = fs::OpenOptions::new().read(true).write(true).custom_flags(not_ours).open(&name)?;
    // Sets raw mode.
    let mut settings = tcgetattr(&other_end)?;
    settings.make_raw();
    tcsetattr(&other_end, OptionalActions::Now, &settings)?;
    fcntl_setfl(&file, OFlags::NONBLOCK)?;
    match fs::remove_file(link) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => symlink(name, link)?,
    }
    let (file, frame, unanswered, companion) = (file.into(), vec![], false, false);
    Ok(Line { file, _other_end: other_end, frame, baud, unanswered, companion })
}

impl Line {
    /// Sends the robot's bytes. A line without a reader loses them, like a wire.
    fn say(&mut self, bytes: &[u8]) {
        let _ = self.file.write(bytes);
        for byte in bytes {
            if *byte != 0 {
                self.frame.push(*byte);
            } else if decode::<Command>(&mut std::mem::take(&mut self.frame)).is_some() {
                self.unanswered = true;
            }
        }
    }

    /// Moves bytes in both directions.
    fn exchange(&mut self, chip: &mut Chip) {
        let said = std::mem::take(&mut chip.peripherals().uarte.tx_bytes);
        self.say(&said.into_iter().map(|(_, byte)| byte).collect::<Vec<_>>());
        let (heard, now) = (self.hear(), chip.now());
        chip.peripherals().uarte.receive(now, self.baud, &heard);
    }

    /// Returns the companion's bytes; waits for a pending answer.
    fn hear(&mut self) -> Vec<u8> {
        let (mut heard, begun) = (vec![], Instant::now());
        loop {
            let mut bytes = [0; 1024];
            let count = self.file.read(&mut bytes).unwrap_or(0);
            heard.extend(bytes.iter().take(count));
            if count > 0 {
                self.companion = true;
                // A pose ends with a zero byte.
                self.unanswered &= !heard.contains(&0);
            }
            if !(self.companion && self.unanswered) {
                return heard;
            }
            let left = PATIENCE.saturating_sub(begun.elapsed());
            if left.is_zero() {
                self.companion = false;
                return heard;
            }
            let wait = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            let _ = poll(&mut [PollFd::new(&self.file, PollFlags::IN)], Some(&wait));
        }
    }
}

/// Creates robots with provisioning pages, powered on within a moment. All robots are in range of
/// each other.
fn switch_on(settings: &Settings) -> Result<Air> {
    let pieces = super::pieces(&settings.image)?;
    let mut random = generator(settings.seed, Purpose::Testing, 1_000_000);
    let mut air = Air::default();
    for robot in 0..settings.start.len() {
        let mut chip = Chip::new(settings.kind, random.random());
        chip.flash(&pieces);
        chip.program(settings.settings_page, &settings.pages[robot]);
        let on = (settings.apart * SECOND as f64 * random.random::<f64>()) as u64;
        air.stations.push(Station::new(chip, on, settings.ppm * random.random_range(-1.0..=1.0)));
    }
    air.stations.extend(super::gateway(settings, &mut random)?);
    Ok(air)
}

/// Runs chips on the ports `robot0`, `robot1`, … in a folder, and a gateway on `gateway`, for the
/// length of the run after all companions opened their ports, or until all are gone. Calls `go_on`
/// at each millisecond. Returns the robots' logs.
pub fn serve(settings: &Settings, folder: &Path, mut go_on: impl FnMut() -> Result) -> Result<Vec<Vec<u8>>> {
    let failed =
        |error: io::Error| Error::Failed(format!("no serial ports in {}: {error}", folder.display()));
    let mut air = switch_on(settings)?;
    let rtt = image::elf_symbol(&settings.image, "_SEGGER_RTT").map(Rtt::new);
    fs::create_dir_all(folder).map_err(failed)?;
    let robots = settings.start.len();
    let links = (0..robots).map(|robot| (folder.join(format!("robot{robot}")), BAUD));
    let links = links.chain(settings.gateway.iter().map(|_| (folder.join("gateway"), event::BAUD.into())));
    let lines = links.map(|(link, baud)| open(&link, baud)).collect::<io::Result<Vec<_>>>();
    let mut lines = lines.map_err(failed)?;
    let mut logs = vec![vec![]; robots];
    eprintln!("host-sim: {robots} robots at {}", folder.join("robot*").display());
    let begun = Instant::now();
    let (mut due, mut end) = (begun, None);
    while end.is_none_or(|end| air.now() < end) {
        air.run(air.now() + STEP);
        // The recording is not used here.
        air.transmissions.clear();
        air.arrivals.clear();
        for (robot, station) in air.stations.iter_mut().enumerate() {
            lines[robot].exchange(&mut station.chip);
            if let Some(log) = logs.get_mut(robot) {
                log.extend(rtt.iter().flat_map(|rtt| rtt.read(&mut station.chip)));
            }
        }
        if end.is_none() && lines.iter().all(|line| line.companion) {
            end = Some(air.now() + (settings.seconds * SECOND as f64) as u64);
        }
        match end {
            None if begun.elapsed() > COMING => {
                return Err(Error::Failed("no companion opened every port".into()));
            }
            // The PC of a gateway may disconnect and reconnect.
            Some(_) if lines[..robots].iter().all(|line| !line.companion) => break,
            _ => {}
        }
        go_on()?;
        due += Duration::from_millis(1);
        let now = Instant::now();
        thread::sleep(due.saturating_duration_since(now));
        due = due.max(now.checked_sub(BEHIND).unwrap_or(now));
    }
    Ok(logs)
}
