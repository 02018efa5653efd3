//! nRF52840 and nRF52833: IEEE 802.15.4 radio, companion on UART0, store in flash, watchdog.
//!
//! The drivers use registers directly (`nrf-pac`) for exact timing: the radio receives by interrupt
//! and timestamps frames, a timer starts each slot, the serial line uses DMA, flash is never erased
//! in flight, and the CPU sleeps when idle. Tested in `nrf52-emulator`, not yet on hardware
//! (`docs/firmware.md`).

#![allow(unsafe_code, reason = "DMA memory of radio, serial line and AES, and interrupts")]

#[cfg(sealed)]
mod aes;
#[cfg(feature = "buggy")]
mod buggy;
#[cfg(not(feature = "buggy"))]
mod companion;
#[cfg(feature = "buggy")]
mod display;
mod flash;
#[cfg(feature = "gateway")]
pub mod gateway;
mod led;
mod log;
mod pin;
#[cfg(feature = "buggy")]
pub mod pose_gateway;
mod provisioning;
#[cfg(feature = "buggy")]
mod pwm;
mod radio;
mod serial;
mod startup;
mod tdma;
mod time;
#[cfg(feature = "buggy")]
mod twim;

use core::marker::PhantomData;

use nrf_pac::radio::vals::Txpower;
use panic_never as _;
use wdgnn_core::task::NodeId;
use wdgnn_link::{link::RadioLink as _, security::key::Key};
use wdgnn_protocol::companion::{FromPose, PlanarCommand};
use wdgnn_robot::{
    control_loop::TickReport,
    onboard::OnboardTask,
    ports::{Clock, Ports, Store as _},
};

#[cfg(sealed)]
use self::aes::ChipAes;
#[cfg(feature = "buggy")]
use self::buggy::{ActuatorPort, SensorPort, Vehicle};
#[cfg(not(feature = "buggy"))]
use self::companion::{ActuatorPort, SensorPort, Vehicle};
#[cfg(feature = "buggy")]
pub use self::{buggy::Parts, display::Matrix};
use self::{flash::Flash, provisioning::Provisioning, tdma::TdmaRadio};
pub use self::{led::Led, log::Sink, pin::Pin};
use super::Board;
use crate::link::Robot;

#[cfg(not(profile = "dot154"))]
compile_error!("the radio of this board supports only the link profile dot154: unset WDGNN_PROFILE");

/// Control period: 100 ticks per second, as in training.
const PERIOD_US: u32 = 10_000;
/// Transmit power, the maximum.
const POWER: Txpower = Txpower::Pos8dBm;

/// Pins and supply of an nRF52 board. Its memory is in `map.x`.
pub trait Wiring {
    /// Serial input from the companion.
    const RX: Pin;
    /// Serial output to the companion.
    const TX: Pin;
    /// Status LED.
    const LED: Led;
    /// Code of the output voltage in UICR.REGOUT0, for boards that must set it.
    const OUTPUT_VOLTAGE: Option<u32> = None;
    /// Parts of a robot with wheels.
    #[cfg(feature = "buggy")]
    const BUGGY: Parts;
}

/// Robot hardware on a board with wiring `W`.
#[derive(Debug)]
pub struct Nrf52<W> {
    id: NodeId,
    swarm_size: NodeId,
    radio: TdmaRadio,
    vehicle: Vehicle,
    flash: Flash,
    /// The swarm's tick count went back, so that the boot count must increase.
    went_back: bool,
    /// Tick of the robot's slot, modulo the exchange.
    turn: Option<u32>,
    wiring: PhantomData<W>,
}

impl<W: Wiring> Board for Nrf52<W> {
    #[cfg(sealed)]
    type Cipher = ChipAes;

    /// Starts clocks, serial line and store.
    fn init() -> Self {
        #[cfg(feature = "buggy")]
        buggy::stop_motors();
        let reasons = startup::init::<W>(cfg!(debug_port_open));
        defmt::info!("started: {=str} ({=u32:#x})", startup::reset_reason(reasons), reasons);
        time::start();
        let Provisioning { id, swarm_size } = provisioning::read().unwrap_or_else(|| {
            let provisioning = Provisioning::from_device_address();
            defmt::warn!("no provisioning page, using address {=u16} from the chip", provisioning.id);
            provisioning
        });
        let flash = Flash::open(startup::was_flying(reasons));
        Self {
            id,
            swarm_size,
            radio: TdmaRadio::new(id, 1, 0, 0),
            vehicle: Vehicle::start::<W>(id),
            flash,
            went_back: false,
            turn: None,
            wiring: PhantomData,
        }
    }

    fn halt() -> ! {
        startup::halt()
    }

    #[cfg(sealed)]
    fn cipher(key: &Key) -> ChipAes {
        ChipAes::new(key)
    }

    fn id(&self) -> NodeId {
        self.id
    }

    fn swarm_size(&self) -> NodeId {
        self.swarm_size
    }

    fn personal_key(&self) -> Option<(Key, u8)> {
        provisioning::personal_key()
    }

    fn roster(&self) -> &'static [Key] {
        provisioning::roster()
    }

    /// Random number. Without a stored boot count, ticks restart, and a sealed frame must never
    /// reuse a sequence number. The lower half of the range leaves room to count up.
    fn fallback_boot_count(&mut self) -> u32 {
        startup::random() >> 1
    }

    /// Starts radio and watchdog.
    fn on_ready<T: OnboardTask>(&mut self, robot: &Robot<'_, T>, _: bool) {
        const {
            assert!(flash::holds::<T>(), "the wide parameters of this task do not fit into the store");
        };
        let (interval, seed) = (robot.config().exchange_interval, startup::random());
        self.radio = TdmaRadio::new(self.id, interval, seed, robot.first_tick());
        #[cfg(feature = "buggy")]
        self.radio.open_inbox(robot.first_tick());
        radio::start(POWER);
        startup::start_watchdog();
    }

    /// Sets the robot's slot. If the swarm's tick
    /// count went back, increases and stores the boot count, because sequence numbers restart.
    fn before_tick<T: OnboardTask>(&mut self, robot: &mut Robot<'_, T>, buffer: &mut [u8]) {
        self.vehicle.before_tick(robot, &mut self.radio);
        self.turn = self.radio.turn();
        let boot = robot.link().boot_count();
        match self.turn {
            Some(turn) => robot.set_exchange_phase(turn),
            // Without a slot, frames are not sent, and the swarm's tick count may be lower.
            None => robot.link_mut().set_boot_count(boot),
        }
        if core::mem::take(&mut self.went_back) {
            robot.link_mut().set_boot_count(boot.saturating_add(1));
            self.flash.request_immediate_save();
            if wdgnn_robot::persist::save_and_flush(robot, &mut self.flash, buffer).is_err() {
                robot.link_mut().set_boot_count(self.fallback_boot_count());
            }
        }
    }

    /// Feeds the watchdog. In flight, only a finished tick does so.
    fn after_tick<T: OnboardTask>(&mut self, robot: &Robot<'_, T>, report: &TickReport<T::Command>) {
        startup::feed_watchdog();
        self.vehicle.after_tick::<W, T>(robot, &mut self.radio, self.turn, report);
    }
}

impl<W, S: FromPose, C: PlanarCommand> Ports<S, C> for Nrf52<W> {
    type Radio = TdmaRadio;
    type Sensor = SensorPort;
    type Actuator = ActuatorPort;
    type Store = Flash;

    fn radio(&mut self) -> &mut TdmaRadio {
        &mut self.radio
    }

    fn sensor(&mut self) -> &mut SensorPort {
        self.vehicle.sensor()
    }

    fn actuator(&mut self) -> &mut ActuatorPort {
        self.vehicle.actuator(&mut self.radio)
    }

    fn store(&mut self) -> &mut Flash {
        // A robot that waits for its camera must not count the time further than the gateway has.
        #[cfg(feature = "buggy")]
        if self.vehicle.is_silent() {
            self.flash.postpone();
        }
        &mut self.flash
    }
}

/// Logs the fault and waits for the watchdog reset.
#[cortex_m_rt::exception]
unsafe fn HardFault(frame: &cortex_m_rt::ExceptionFrame) -> ! {
    defmt::error!("fault at {=u32:#x}", frame.pc());
    startup::halt()
}

impl<W> Clock for Nrf52<W> {
    /// Writes pending words to flash, then sleeps until the next tick of the swarm's clock. Skips
    /// past ticks.
    fn next_tick(&mut self) -> u32 {
        self.flash.write_pending();
        let next = self.radio.next_tick_start();
        self.went_back |= next.went_back;
        time::sleep_until(next.begins_us);
        self.vehicle.set_tick(next.tick);
        next.tick
    }
}
