//! Emulated board: QEMU's `mps2-an386` (Cortex-M4F), started by the simulator.
//!
//! Sensor, radio and actuator are messages ([`wdgnn_protocol::emulation`]) over QEMU's standard
//! input and output. They go through semihosting, which takes 15 µs per message; the emulated UART
//! takes 40 µs per byte. Store and log are files in QEMU's working directory.
//!
//! The robot never hangs: it exits if the simulator closes its pipe, and a panic or fault exits
//! QEMU with an error.

#![allow(unsafe_code, reason = "exception handlers, and reading the painted stack")]

mod log;
mod pipes;

use cortex_m as _; // critical section of the logger
use cortex_m_rt::{ExceptionFrame, exception};
use semihosting::{
    fs::{self, File},
    io::{self, Read as _},
    process,
};
use static_cell::StaticCell;
use wdgnn_core::{
    task::{NodeId, State},
    tensor::Tensor as _,
};
#[cfg(all(sealed, feature = "aes"))]
use wdgnn_link::security::aes::Aes;
use wdgnn_link::{
    link::RadioLink as _,
    security::{
        key::{Key, parse_key},
        managed_keys::ROSTER_CAPACITY,
    },
};
use wdgnn_protocol::emulation::{Hello, ImageDimensions, TickResult, VERSION};
use wdgnn_robot::{
    control_loop::TickReport,
    onboard::OnboardTask,
    ports::{Clock, Ports, Store},
};

pub use self::log::Sink;
use self::pipes::{NullActuator, PipeRadio, PipeSensor, Pipes};
use super::Board;
use crate::link::{self, Robot};

#[cfg(all(sealed, not(feature = "aes")))]
compile_error!("a sealed robot on QEMU has AES in software: add --features aes");

/// Emulated board.
pub type ThisBoard = Qemu;

/// Hardware of the emulated robot.
#[derive(Debug)]
pub struct Qemu {
    id: NodeId,
    swarm_size: NodeId,
    personal_key: Option<Key>,
    pipes: &'static Pipes,
    radio: PipeRadio,
    sensor: PipeSensor,
    actuator: NullActuator,
    store: FileStore,
}

impl Qemu {
    /// Exits QEMU with code 0 or 1.
    pub fn exit(success: bool) -> ! {
        process::exit(i32::from(!success))
    }
}

impl Board for Qemu {
    #[cfg(sealed)]
    type Cipher = Aes;

    /// Opens the pipes and reads QEMU's semihosting command line: address, swarm size, personal key
    /// (optional).
    ///
    /// Exits with an error if the address or the pipes are missing.
    fn init() -> Self {
        static PIPES: StaticCell<Pipes> = StaticCell::new();
        let mut line = [0; 64];
        let mut words = command_line(&mut line).split(|byte| *byte == b' ');
        let Some(id) = words.next().and_then(number) else {
            fail("no robot address: start QEMU with -semihosting-config enable=on,arg=ADDRESS")
        };
        let Some(pipes) = Pipes::open() else { fail("cannot open the pipes to the simulator") };
        let pipes = &*PIPES.init(pipes);
        let swarm_size = words.next().and_then(number).unwrap_or(0);
        let personal_key = words.next().filter(|_| cfg!(key_rotation));
        let personal_key = personal_key.and_then(|word| parse_key(word.trim_ascii_end()).ok());
        Self {
            id,
            swarm_size,
            personal_key,
            pipes,
            radio: PipeRadio::new(pipes),
            sensor: PipeSensor(pipes),
            actuator: NullActuator,
            store: FileStore,
        }
    }

    fn halt() -> ! {
        Self::exit(false)
    }

    #[cfg(sealed)]
    fn cipher(key: &Key) -> Aes {
        Aes::new(key)
    }

    fn id(&self) -> NodeId {
        self.id
    }

    fn swarm_size(&self) -> NodeId {
        self.swarm_size
    }

    fn personal_key(&self) -> Option<(Key, u8)> {
        Some((self.personal_key?, 0))
    }

    fn roster(&self) -> &'static [Key] {
        roster()
    }

    /// Zero: the simulator's ticks continue over a restart, so sequence numbers do not repeat.
    fn fallback_boot_count(&mut self) -> u32 {
        0
    }

    /// Sends the hello.
    fn on_ready<T: OnboardTask>(&mut self, robot: &Robot<'_, T>, resumed: bool) {
        self.pipes.write(&Hello {
            version: VERSION,
            id: self.id.into(),
            boot: robot.link().boot_count(),
            resumed: resumed.into(),
            model: robot.link().model_checksum(),
            profile: link::PROFILE as u32,
            sealed: robot.link().is_sealed().into(),
            dimensions: ImageDimensions::of::<T>(),
        });
    }

    /// Does nothing: the simulator assigns the slots.
    fn before_tick<T: OnboardTask>(&mut self, _: &mut Robot<'_, T>, _: &mut [u8]) {}

    /// Sends the tick's result. Not inlined, so that its message is on the stack only here.
    #[inline(never)]
    fn after_tick<T: OnboardTask>(&mut self, robot: &Robot<'_, T>, report: &TickReport<T::Command>) {
        self.pipes.write(&TickResult::new(report));
        self.pipes.write_bytes(bytemuck::cast_slice(report.command.as_ref()));
        self.pipes.write_bytes(bytemuck::cast_slice(robot.agent().wide().numbers()));
    }
}

impl<S: State, C> Ports<S, C> for Qemu {
    type Radio = PipeRadio;
    type Sensor = PipeSensor;
    type Actuator = NullActuator;
    type Store = FileStore;

    fn radio(&mut self) -> &mut PipeRadio {
        &mut self.radio
    }

    fn sensor(&mut self) -> &mut PipeSensor {
        &mut self.sensor
    }

    fn actuator(&mut self) -> &mut NullActuator {
        &mut self.actuator
    }

    fn store(&mut self) -> &mut FileStore {
        &mut self.store
    }
}

/// QEMU's semihosting command line; empty if it does not fit.
///
/// `semihosting`'s own function has a reachable panic, which links `core::fmt`: 1.1 KB.
fn command_line(line: &mut [u8; 64]) -> &[u8] {
    const SYS_GET_CMDLINE: usize = 0x15;
    let mut block = [line.as_mut_ptr().expose_provenance(), line.len()];
    let mut result = SYS_GET_CMDLINE;
    // SAFETY: the block describes the buffer, and the call writes to nothing else.
    unsafe { core::arch::asm!("bkpt 0xab", inout("r0") result, in("r1") &raw mut block, options(nostack)) };
    if result != 0 {
        return &[];
    }
    line.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// Decimal number at the start of a word.
fn number(line: &[u8]) -> Option<NodeId> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(None, |number, digit| {
        Some(number.unwrap_or(0_u16).wrapping_mul(10).wrapping_add(u16::from(digit - b'0')))
    })
}

impl Clock for Qemu {
    /// Waits for the simulator. Exits if it has closed the pipe.
    fn next_tick(&mut self) -> u32 {
        self.pipes.next_tick()
    }
}

/// Logs an error and exits QEMU with code 1.
fn fail(reason: &str) -> ! {
    defmt::error!("{=str}", reason);
    process::exit(1)
}

/// Logs the stack usage and exits QEMU, after the simulator closed its pipe.
fn exit() -> ! {
    defmt::info!("pipe closed, stack high-water {=usize} bytes", stack_high_water());
    process::exit(0)
}

/// Maximum stack usage in bytes: everything above the lowest word that lost its paint.
fn stack_high_water() -> usize {
    unsafe extern "C" {
        static _stack_start: u32;
        static _stack_end: u32;
    }
    // SAFETY: the linker script defines both symbols, and only their addresses are used.
    let (mut word, top) = (&raw const _stack_end, &raw const _stack_start);
    // SAFETY: `word` stays inside the stack memory, which the start-up code painted.
    while word < top && unsafe { word.read_volatile() } == cortex_m_rt::STACK_PAINT_VALUE {
        word = word.wrapping_add(1);
    }
    top.addr() - word.addr()
}

/// Store in a file that is replaced atomically.
#[derive(Debug)]
pub struct FileStore;

impl Store for FileStore {
    type Error = io::Error;

    fn load(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, io::Error> {
        let Ok(mut file) = File::open(c"store") else { return Ok(None) };
        file.read(buffer).map(Some)
    }

    fn save(&mut self, bytes: &[u8]) -> Result<(), io::Error> {
        fs::write(c"store.new", bytes)?;
        fs::rename(c"store.new", c"store")
    }
}

/// Reads the pairwise keys of the peers from the file `roster`. Called once.
fn roster() -> &'static [Key] {
    static KEYS: StaticCell<[Key; ROSTER_CAPACITY]> = StaticCell::new();
    let Ok(mut file) = File::open(c"roster") else { return &[] };
    let Some(keys) = KEYS.try_init([[0; 16]; ROSTER_CAPACITY]) else { return &[] };
    let bytes = file.read(keys.as_flattened_mut()).unwrap_or(0);
    keys.get(..bytes / 16).unwrap_or_default()
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    // Without the message, which would link `core::fmt` (14 KB).
    let (file, line) = info.location().map_or(("", 0), |location| (location.file(), location.line()));
    defmt::error!("panic at {=str}:{=u32}", file, line);
    process::exit(1)
}

/// `defmt::panic!` has already logged the message.
#[defmt::panic_handler]
fn defmt_panic() -> ! {
    process::exit(1)
}

/// One vector instead of `cortex-m-rt`'s 240, 956 bytes less flash: no interrupt is enabled.
#[unsafe(link_section = ".vector_table.interrupts")]
#[unsafe(no_mangle)]
static __INTERRUPTS: [extern "C" fn() -> !; 1] = [unexpected_interrupt];

extern "C" fn unexpected_interrupt() -> ! {
    process::exit(1)
}

#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    defmt::error!("fault at {=u32:#x}", frame.pc());
    process::exit(1)
}
