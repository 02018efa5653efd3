//! nRF52840 and nRF52833: IEEE 802.15.4 radio, companion computer on UART0, store in flash, watchdog.
//!
//! By their registers (`nrf-pac`), because a robot must know what happens when: the radio listens by interrupt and takes its times,
//! frames go out in slots by a timer, the serial line goes round by itself, nothing is erased in flight, and the processor sleeps
//! whenever there is nothing to do. Run register by register in `nrf52-emulator`, never on a board: see `docs/firmware.md`.

#![allow(
    unsafe_code,
    reason = "memory that radio, serial line and AES read and write by themselves, and interrupts"
)]

mod aes;
mod air;
mod flash;
#[cfg(feature = "gateway")]
pub mod gateway;
mod light;
mod log;
mod radio;
mod serial;
mod settings;
mod start;
mod time;

use core::marker::PhantomData;

use nrf_pac::{radio::vals::Txpower, uarte::vals::Baudrate};
use panic_never as _;
use wdgnn_core::task::NodeId;
use wdgnn_link::security::key::Key;
use wdgnn_protocol::companion::Status;
use wdgnn_robot::{
    control_loop::Report,
    onboard::{Onboard, Robot},
    ports::{Clock, Ports, Store as _},
};

use self::{
    aes::ChipAes,
    air::Air,
    flash::Flash,
    serial::{Input, Output},
    settings::Settings,
};
pub use self::{light::Light, log::Sink, serial::Pin};
use super::{Board, PortsOf};
use crate::{
    io::companion::{Acceleration, Pose},
    link::Link,
};

#[cfg(not(profile = "dot154"))]
compile_error!("this board's radio carries the link profile dot154: leave WDGNN_PROFILE out");

/// The control period: 100 ticks a second, as the models are trained for.
const PERIOD_US: u32 = 10_000;
/// What the radio sends with: all it has.
const POWER: Txpower = Txpower::Pos8dBm;
/// Ticks without a pose after which the line is started anew.
const SILENT: u32 = 25;

/// What differs from one nRF52 board to the next, besides the memory in its `map.x`.
pub trait Wiring {
    /// From the companion.
    const RECEIVE: Pin;
    /// To the companion.
    const SEND: Pin;
    /// What shows that the robot is alive.
    const LIGHT: Light;
    /// The voltage that the chip makes of USB's, by its code in the user information (REGOUT0), where that is not the board's to choose.
    const OUTPUT_VOLTAGE: Option<u32> = None;
    /// Whether the inductors of the chip's supply are there.
    const DCDC: bool = true;
}

/// The robot's hardware, on a board with the wiring `W`.
#[derive(Debug)]
pub struct Nrf52<W> {
    id: NodeId,
    robots: NodeId,
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
    wiring: PhantomData<W>,
}

impl<W: Wiring> Board for Nrf52<W> {
    type Radio = Air;
    type Sensor = Pose<Input>;
    type Actuator = Acceleration<Output>;
    type Store = Flash;
    type Cipher = ChipAes;

    /// Starts the clocks, the radio and the serial line.
    fn init() -> Self {
        let reasons = start::start::<W>(cfg!(debug_port_open));
        defmt::info!("started: {=str} ({=u32:#x})", start::reasons(reasons), reasons);
        time::start();
        W::LIGHT.start();
        let Settings { id, robots } = settings::read().unwrap_or_else(|| {
            let settings = Settings::of_the_chip();
            defmt::warn!(
                "no address was given to this robot: it takes {=u16} of the chip's own",
                settings.id
            );
            settings
        });
        let flash = Flash::open(start::in_flight(reasons));
        let (input, output) = serial::open(W::RECEIVE, W::SEND, Baudrate::Baud460800);
        Self {
            id,
            robots,
            air: Air::new(id, 1, 0, 0),
            pose: Pose::new(input),
            acceleration: Acceleration::new(output),
            flash,
            silent: 0,
            back: false,
            turn: None,
            wiring: PhantomData,
        }
    }

    fn give_up() -> ! {
        start::give_up()
    }

    fn cipher(key: &Key) -> ChipAes {
        ChipAes::new(key)
    }

    fn id(&self) -> NodeId {
        self.id
    }

    fn robots(&self) -> NodeId {
        self.robots
    }

    fn personal(&self) -> Option<(Key, u8)> {
        settings::personal()
    }

    fn roster(&self) -> &'static [Key] {
        settings::roster()
    }

    fn store(&mut self) -> &mut Flash {
        &mut self.flash
    }

    /// By chance, because ticks begin anew where the store knows nothing, and no sealed frame may have the number of an earlier one. The
    /// lower half, so that there is room to count on.
    fn unstored_boot(&mut self) -> u32 {
        start::chance() >> 1
    }

    /// It begins to listen, and from now on the watchdog watches.
    fn ready<T: Onboard>(&mut self, robot: &Robot<'_, Link, T>, _: bool) {
        const {
            assert!(
                flash::holds::<T>(),
                "this task's network has more wide parameters than this board keeps"
            );
        };
        self.air = Air::new(self.id, robot.behaviour().interval, start::chance(), robot.first_tick());
        radio::start(POWER);
        start::start_watchdog();
    }

    /// The robot has its turn when its slot says so. When the swarm's time has gone back, frames' numbers begin anew, with a new boot
    /// count that is kept first.
    fn prepare<T: Onboard>(&mut self, robot: &mut Robot<'_, Link, T>, buffer: &mut [u8]) {
        if let Some(mut frame) = self.pose.key() {
            // Whatever it is worth: it is counted by nobody, and kept at the end of the tick.
            let _ = robot.hear(&mut frame);
        }
        self.turn = self.air.turn();
        match self.turn {
            Some(turn) => robot.set_turn(turn),
            // While it listens, nothing of what it has to say goes out, and the swarm's time may be an earlier one.
            None => robot.set_boot(robot.boot()),
        }
        if core::mem::take(&mut self.back) {
            robot.set_boot(robot.boot().saturating_add(1));
            self.flash.insist();
            if wdgnn_robot::persist::keep(robot, &mut self.flash, buffer).is_err() {
                robot.set_boot(self.unstored_boot());
            }
        }
    }

    fn ports(&mut self) -> PortsOf<'_, Self> {
        Ports {
            radio: &mut self.air,
            sensor: &mut self.pose,
            actuator: &mut self.acceleration,
            store: &mut self.flash,
        }
    }

    /// The only place where the watchdog is fed.
    fn finish<T: Onboard>(&mut self, robot: &Robot<'_, Link, T>, report: &Report<T::Output>) {
        start::feed();
        W::LIGHT.show(report);
        let (pose, company, epoch) = (self.pose.number(), self.air.company(), robot.epoch());
        self.acceleration.tell(Status::new(report, pose, company, self.turn, epoch));
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
    start::give_up()
}

impl<W> Clock for Nrf52<W> {
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
