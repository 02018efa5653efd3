//! The nRF52840 (as on its development kit): IEEE 802.15.4 radio, companion computer on UART0, store in flash, watchdog.
//!
//! The driver is embassy-nrf's. Its futures are run to their end one at a time: a robot's tick is one straight line, and
//! what it waits for is the air. Never flown: see `docs/firmware.md`.

#[cfg(sealed)]
pub mod aes;
mod air;
mod flash;

use embassy_futures::block_on;
use embassy_nrf::{
    bind_interrupts, buffered_uarte,
    config::{Config, HfclkSource, LfclkSource},
    mode::Blocking,
    nvmc::Nvmc,
    pac, peripherals, radio,
    rng::Rng,
    uarte,
    wdt::{self, Watchdog, WatchdogHandle},
};
use embassy_time::{Duration, Instant, Timer};
use static_cell::ConstStaticCell;
use wdgnn_core::{
    ports::{Clock, Ports},
    robot::{OUTPUTS, Robot},
    task::NodeId,
    tick::Report,
};
use {defmt_rtt as _, panic_probe as _};

use self::{air::Air, flash::Flash};
use crate::{
    io::companion::{Acceleration, Pose},
    link::Link,
};

#[cfg(not(profile = "dot154"))]
compile_error!("this board's radio carries the link profile dot154: leave WDGNN_PROFILE out");

bind_interrupts!(struct Interrupts {
    RADIO => radio::InterruptHandler<peripherals::RADIO>;
    UARTE0 => buffered_uarte::InterruptHandler<peripherals::UARTE0>;
});

/// The control period: 100 ticks a second, as the models are trained for.
const PERIOD: Duration = Duration::from_millis(10);
/// Half a second without a finished tick is a robot out of control: it starts again. Longer than erasing a flash page, 85 ms.
const WATCHDOG_TICKS: u32 = 32_768 / 2;
/// The companion's line, in bits per second.
const BAUD: uarte::Baudrate = uarte::Baudrate::Baud460800;

type Serial = buffered_uarte::BufferedUarteRx<'static>;
type SerialOut = buffered_uarte::BufferedUarteTx<'static>;

/// The robot's hardware.
pub struct Board {
    /// The robot's address.
    pub id: NodeId,
    air: Air,
    pose: Pose<Line<Serial>>,
    acceleration: Acceleration<Line<SerialOut>>,
    flash: Flash,
    chance: Rng<'static, Blocking>,
    watchdog: Option<WatchdogHandle>,
    start: Instant,
    /// Periods since the start.
    tick: u32,
    /// What the swarm's count of ticks is ahead of that.
    ahead: u32,
}

impl core::fmt::Debug for Board {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Board").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Board {
    /// Starts the clocks, the radio, the serial line and the watchdog.
    #[must_use]
    pub fn init() -> Self {
        static RECEIVED: ConstStaticCell<[u8; 256]> = ConstStaticCell::new([0; 256]);
        static SENDING: ConstStaticCell<[u8; 64]> = ConstStaticCell::new([0; 64]);
        let mut config = Config::default();
        // The radio sends nothing on the internal oscillator.
        config.hfclk_source = HfclkSource::ExternalXtal;
        config.lfclk_source = LfclkSource::ExternalXtal;
        let chip = embassy_nrf::init(config);

        let mut line = uarte::Config::default();
        line.baudrate = BAUD;
        let serial = buffered_uarte::BufferedUarte::new(
            chip.UARTE0,
            chip.TIMER0,
            chip.PPI_CH0,
            chip.PPI_CH1,
            chip.PPI_GROUP0,
            chip.P0_08,
            chip.P0_06,
            Interrupts,
            line,
            RECEIVED.take(),
            SENDING.take(),
        );
        let (receiver, sender) = serial.split();

        let mut guard = wdt::Config::default();
        guard.timeout_ticks = WATCHDOG_TICKS;
        guard.action_during_debug_halt = wdt::HaltConfig::Pause;
        // Refused only when a watchdog with other settings survived the last reset; then that one stays unfed and ends it.
        let watchdog = Watchdog::try_new(chip.WDT, guard).ok().map(|(_, [handle])| handle);

        let id = address();
        Self {
            id,
            air: Air::new(radio::ieee802154::Radio::new(chip.RADIO, Interrupts), id),
            pose: Pose::new(Line(receiver)),
            acceleration: Acceleration::new(Line(sender)),
            flash: Flash::new(Nvmc::new(chip.NVMC)),
            chance: Rng::new_blocking(chip.RNG),
            watchdog,
            start: Instant::now(),
            tick: 0,
            ahead: 0,
        }
    }

    /// The robot's ports for a tick.
    pub fn ports(&mut self) -> Ports<'_, Air, Pose<Line<Serial>>, Acceleration<Line<SerialOut>>, Flash> {
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
        let mut boot = [0; 4];
        self.chance.blocking_fill_bytes(&mut boot);
        u32::from_le_bytes(boot) >> 1
    }

    /// The robot is ready.
    pub fn ready(&mut self, robot: &Robot<'_, Link>, _: bool) {
        self.air.take_turns(robot.behaviour().exchange);
        self.start = Instant::now();
    }

    /// A tick is finished: the only place where the watchdog is fed.
    pub fn finish(&mut self, _: &Robot<'_, Link>, _: &Report<[f32; OUTPUTS]>) {
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.pet();
        }
    }
}

impl Clock for Board {
    /// Waits for the next whole period; those that have passed already are skipped. Where the companion tells the swarm's time, the
    /// ticks are counted by it.
    fn next_tick(&mut self) -> u32 {
        if let Some(time) = self.pose.take_time() {
            // It came with the pose of the tick that ends now, and may be a tick old: within what clocks may differ.
            let swarm = time / PERIOD.as_millis() as u32;
            if swarm.abs_diff(self.tick.wrapping_add(self.ahead)) > 1 {
                self.ahead = swarm.wrapping_sub(self.tick);
            }
        }
        let passed = self.start.elapsed().as_ticks() / PERIOD.as_ticks();
        self.tick = (passed as u32).max(self.tick) + 1;
        let begins = self.start + PERIOD * self.tick;
        block_on(Timer::at(begins));
        self.air.open(begins);
        self.tick.wrapping_add(self.ahead)
    }
}

/// The robot's address: the first customer word of the UICR, if one was written there (`docs/firmware.md`), else two bytes of
/// the chip's own.
fn address() -> NodeId {
    let given = pac::UICR.customer(0).read();
    if given == u32::MAX { pac::FICR.deviceaddr(0).read() as NodeId } else { given as NodeId }
}

/// A serial line for drivers that wait.
#[derive(Debug)]
pub struct Line<T>(T);

impl<T: embedded_io::ErrorType> embedded_io::ErrorType for Line<T> {
    type Error = T::Error;
}

impl embedded_io::ReadReady for Line<Serial> {
    fn read_ready(&mut self) -> Result<bool, Self::Error> {
        embedded_io_async::ReadReady::read_ready(&mut self.0)
    }
}

impl embedded_io::Read for Line<Serial> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Self::Error> {
        block_on(self.0.read(buffer))
    }
}

impl embedded_io::Write for Line<SerialOut> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Self::Error> {
        block_on(self.0.write(bytes))
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        block_on(self.0.flush())
    }
}
