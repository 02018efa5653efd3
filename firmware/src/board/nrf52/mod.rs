//! nRF52840 and nRF52833: IEEE 802.15.4 radio, companion computer on UART0, store in flash, watchdog.
//!
//! By their registers (`nrf-pac`), because a robot must know what happens when: the radio listens by interrupt and takes its times,
//! frames go out in slots by a timer, the serial line goes round by itself, nothing is erased in flight, and the processor sleeps
//! whenever there is nothing to do. Run register by register in `chip`, never on a board: see `docs/firmware.md`.

#![allow(
    unsafe_code,
    reason = "memory that radio, serial line and AES read and write by themselves, and interrupts"
)]

#[cfg(sealed)]
pub mod aes;
mod air;
mod boards;
mod flash;
mod light;
mod log;
mod radio;
mod serial;
mod settings;
mod start;
mod time;

use nrf_pac::radio::vals::Txpower;
use panic_never as _;
use wdgnn_core::{
    ports::{Clock, Ports},
    robot::{OUTPUTS, Robot},
    task::NodeId,
    tick::Report,
};

pub use self::log::Sink;
use self::{
    air::Air,
    flash::Flash,
    serial::{Input, Output},
};
use crate::{
    io::companion::{Acceleration, Pose, Status},
    link::Link,
};

#[cfg(not(profile = "dot154"))]
compile_error!("this board's radio carries the link profile dot154: leave WDGNN_PROFILE out");

/// The control period: 100 ticks a second, as the models are trained for.
const PERIOD_US: u32 = 10_000;
/// Ticks without a pose after which the line is started anew.
const SILENT: u32 = 25;

/// The robot's hardware.
#[derive(Debug)]
pub struct Board {
    /// The robot's address.
    pub id: NodeId,
    air: Air,
    pose: Pose<Input>,
    acceleration: Acceleration<Output>,
    flash: Flash,
    /// Ticks since the last pose.
    silent: u32,
    /// The count of ticks went back.
    back: bool,
    /// In which ticks the robot has its turn, modulo the exchange.
    turn: Option<u32>,
}

impl Board {
    /// Starts the clocks, the radio and the serial line.
    #[must_use]
    pub fn init() -> Self {
        let reasons = start::start(cfg!(debug_port_open));
        defmt::info!("started: {=str} ({=u32:#x})", start::reasons(reasons), reasons);
        time::start();
        boards::LIGHT.start();
        let (id, given) = settings::address();
        if !given {
            defmt::warn!("no address was given to this robot: it takes {=u16} of the chip's own", id);
        }
        let flash = Flash::open(start::in_flight(reasons));
        let (input, output) = serial::open(boards::RECEIVE, boards::SEND);
        Self {
            id,
            air: Air::new(id, 1, 0),
            pose: Pose::new(input),
            acceleration: Acceleration::new(output),
            flash,
            silent: 0,
            back: false,
            turn: None,
        }
    }

    /// There is nothing to fly with: the reason has been logged. Nobody feeds the watchdog, so whatever passes is tried again.
    pub fn give_up() -> ! {
        start::start_watchdog();
        loop {
            cortex_m::asm::wfe();
        }
    }

    /// The robot's ports for a tick.
    pub fn ports(&mut self) -> Ports<'_, Air, Pose<Input>, Acceleration<Output>, Flash> {
        Ports {
            radio: &mut self.air,
            sensor: &mut self.pose,
            actuator: &mut self.acceleration,
            store: &mut self.flash,
        }
    }

    /// Where parameters are kept over a restart.
    pub fn store(&mut self) -> &mut Flash {
        &mut self.flash
    }

    /// A boot count for a robot whose store knows none: by chance, because ticks begin anew with every boot and no sealed frame may
    /// have the number of an earlier one. The lower half, so that there is room to count on.
    pub fn unstored_boot(&mut self) -> u32 {
        start::chance() >> 1
    }

    /// The robot is ready: it begins to listen, and from now on the watchdog watches.
    pub fn ready(&mut self, robot: &Robot<'_, Link>, _: bool) {
        self.air = Air::new(self.id, robot.behaviour().interval, start::chance());
        radio::start(Txpower::Pos8dBm);
        start::start_watchdog();
    }

    /// Before a tick: the robot has its turn when its slot says so. When the swarm's time has gone back, frames' numbers begin anew,
    /// with a new boot count that is kept first.
    pub fn prepare(&mut self, robot: &mut Robot<'_, Link>, buffer: &mut [u8]) {
        self.turn = self.air.turn();
        if let Some(turn) = self.turn {
            robot.set_turn(turn);
        }
        if core::mem::take(&mut self.back) {
            robot.set_boot(robot.boot().wrapping_add(1));
            self.flash.insist();
            if wdgnn_core::restart::keep(robot, &mut self.flash, buffer).is_err() {
                robot.set_boot(self.unstored_boot());
            }
        }
    }

    /// A tick is finished: the only place where the watchdog is fed.
    pub fn finish(&mut self, _: &Robot<'_, Link>, report: &Report<[f32; OUTPUTS]>) {
        start::feed();
        boards::LIGHT.show(report);
        self.acceleration.tell(Status::new(report, self.pose.number(), self.air.company(), self.turn));
        self.silent = if report.errors.sensor == 0 { 0 } else { self.silent.saturating_add(1) };
        if self.silent >= SILENT {
            // A line that nothing comes from may be stuck: that costs nothing to mend.
            self.silent = 0;
            self.pose.line().restart();
        }
    }
}

/// The processor cannot go on: logged, and then the watchdog.
#[cortex_m_rt::exception]
unsafe fn HardFault(frame: &cortex_m_rt::ExceptionFrame) -> ! {
    defmt::error!("fault at {=u32:#x}", frame.pc());
    Board::give_up()
}

impl Clock for Board {
    /// Sleeps until the next tick of the swarm's clock; those that have passed already are skipped. Before that, a few words of what
    /// is to be kept are written.
    fn next_tick(&mut self) -> u32 {
        self.flash.work();
        let beat = self.air.next_beat();
        self.back |= beat.back;
        time::sleep_until(beat.begins);
        self.acceleration.begin(beat.tick);
        beat.tick
    }
}
