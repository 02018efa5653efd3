//! The emulated board: QEMU's `mps2-an386`, a Cortex-M4F. Its world is the program that started it.
//!
//! Sensor, radio and actuator are [`wdgnn_protocol::emulation`]'s messages over QEMU's standard input and output, read and written by
//! semihosting: 15 µs a message, where the emulated UART takes 40 µs a byte. The store and the log are files in QEMU's
//! working directory. Nothing hangs: when the world closes its end, the robot reports its stack and ends; a panic or a
//! fault ends QEMU with failure.

#![allow(unsafe_code, reason = "exception handlers and the stack's painted words")]

mod log;
mod world;

use core::mem::MaybeUninit;

use cortex_m as _; // the critical section that the logger needs
use cortex_m_rt::{ExceptionFrame, exception};
use semihosting::{
    fs::{self, File},
    io::{self, Read as _},
    process,
    sys::arm_compat::sys_get_cmdline_uninit,
};
use static_cell::StaticCell;
use wdgnn_link::{security::{aes::Aes, key::{Key, parse_key}, group_key::ROSTER}, encoding::Codec as _};
use wdgnn_robot::{ports::{Clock, Ports, Store}, onboard::{Onboard, Robot}, control_loop::Report};
use wdgnn_core::{task::NodeId, tensor::Tensor as _};
use wdgnn_protocol::emulation::{Dimensions, Hello, Outcome, VERSION};

pub use self::log::Sink;
use self::world::{Air, Eyes, Motors, World};
use super::{Board, PortsOf};
use crate::link::Link;

/// The emulated board.
pub type ThisBoard = Qemu;

/// The emulated robot's hardware.
#[derive(Debug)]
pub struct Qemu {
    id: NodeId,
    robots: NodeId,
    personal: Option<Key>,
    world: &'static World,
    air: Air,
    sensor: Eyes,
    motors: Motors,
    store: Disk,
}

impl Qemu {
    /// Ends QEMU, well or badly: for programs that need nothing else of the board.
    pub fn end(well: bool) -> ! {
        process::exit(i32::from(!well))
    }
}

impl Board for Qemu {
    type Radio = Air;
    type Sensor = Eyes;
    type Actuator = Motors;
    type Store = Disk;
    type Cipher = Aes;

    /// Opens the pipes. The address is the first word on QEMU's semihosting command line, the swarm's number of robots the second,
    /// its personal key, where it has one, the third. Where names have to be proven, a file has the keys for it.
    ///
    /// Without them there is no robot: QEMU ends with failure.
    fn init() -> Self {
        static WORLD: StaticCell<World> = StaticCell::new();
        let mut line = [MaybeUninit::uninit(); 64];
        let words = sys_get_cmdline_uninit(&mut line).ok().map(|line| &*line).unwrap_or_default();
        let mut words = words.split(|byte| *byte == b' ');
        let Some(id) = words.next().and_then(number) else {
            fail("no robot's number: start QEMU with -semihosting-config enable=on,arg=NUMBER")
        };
        let Some(world) = World::open() else { fail("no pipes to and from a world") };
        let world = &*WORLD.init(world);
        let robots = words.next().and_then(number).unwrap_or(0);
        let personal = words.next().filter(|_| cfg!(rekeyed));
        let personal = personal.and_then(|word| parse_key(word.trim_ascii_end()).ok());
        Self {
            id,
            robots,
            personal,
            world,
            air: Air::new(world),
            sensor: Eyes(world),
            motors: Motors,
            store: Disk,
        }
    }

    fn give_up() -> ! {
        Self::end(false)
    }

    fn cipher(key: &Key) -> Aes {
        Aes::new(key)
    }

    fn id(&self) -> NodeId {
        self.id
    }

    fn robots(&self) -> NodeId {
        self.robots
    }

    fn personal(&self) -> Option<(Key, u8)> {
        Some((self.personal?, 0))
    }

    fn roster(&self) -> &'static [Key] {
        roster()
    }

    fn store(&mut self) -> &mut Disk {
        &mut self.store
    }

    /// The world's ticks go on over a restart, so any count will do.
    fn unstored_boot(&mut self) -> u32 {
        0
    }

    /// Tells the world.
    fn ready<T: Onboard>(&mut self, robot: &Robot<'_, Link, T>, resumed: bool) {
        self.world.say(&Hello {
            version: VERSION,
            id: self.id.into(),
            boot: robot.boot(),
            resumed: resumed.into(),
            model: robot.link().checksum,
            profile: robot.link().profile as u32,
            sealed: Link::SEALED.into(),
            dimensions: Dimensions::of::<T>(),
        });
    }

    /// Nothing to be done: the world keeps turns.
    fn prepare<T: Onboard>(&mut self, _: &mut Robot<'_, Link, T>, _: &mut [u8]) {}

    fn ports(&mut self) -> PortsOf<'_, Self> {
        Ports {
            radio: &mut self.air,
            sensor: &mut self.sensor,
            actuator: &mut self.motors,
            store: &mut self.store,
        }
    }

    /// Tells the world what came of it. Not inlined: its message is on the stack only while it is told.
    #[inline(never)]
    fn finish<T: Onboard>(&mut self, robot: &Robot<'_, Link, T>, report: &Report<T::Output>) {
        self.world.say(&Outcome::new(report));
        self.world.say_bytes(bytemuck::cast_slice(report.command.as_ref()));
        self.world.say_bytes(bytemuck::cast_slice(robot.wide().numbers()));
    }
}

/// The decimal number at the front of a line.
fn number(line: &[u8]) -> Option<NodeId> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(None, |number, digit| {
        Some(number.unwrap_or(0_u16).wrapping_mul(10).wrapping_add(u16::from(digit - b'0')))
    })
}

impl Clock for Qemu {
    /// The world says when; without a world the robot ends.
    fn next_tick(&mut self) -> u32 {
        self.world.next_tick()
    }
}

/// Ends QEMU with failure.
fn fail(why: &str) -> ! {
    defmt::error!("{=str}", why);
    process::exit(1)
}

/// The world is gone: the robot's last words.
fn leave() -> ! {
    defmt::info!("the world is gone; stack high-water {=usize} bytes", stack_high_water());
    process::exit(0)
}

/// How much of the stack was ever used: all above the lowest word that lost its paint.
fn stack_high_water() -> usize {
    unsafe extern "C" {
        static _stack_start: u32;
        static _stack_end: u32;
    }
    // SAFETY: only their addresses are taken; the linker script defines both.
    let (mut word, top) = (&raw const _stack_end, &raw const _stack_start);
    // SAFETY: `word` stays within the stack's memory, which start-up painted; the words are read and nothing else.
    while word < top && unsafe { word.read_volatile() } == cortex_m_rt::STACK_PAINT_VALUE {
        word = word.wrapping_add(1);
    }
    top.addr() - word.addr()
}

/// The store: a file that is replaced all at once.
#[derive(Debug)]
pub struct Disk;

impl Store for Disk {
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

/// The keys by which others prove their names to this robot, from a file beside its store. It
/// is asked for once.
fn roster() -> &'static [Key] {
    static ROOM: StaticCell<[Key; ROSTER]> = StaticCell::new();
    let Ok(mut file) = File::open(c"roster") else { return &[] };
    let Some(keys) = ROOM.try_init([[0; 16]; ROSTER]) else { return &[] };
    let bytes = file.read(keys.as_flattened_mut()).unwrap_or(0);
    keys.get(..bytes / 16).unwrap_or_default()
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    // Where, not what: the words would bring all of `core::fmt` into the image, 14 KB.
    let (file, line) = info.location().map_or(("", 0), |place| (place.file(), place.line()));
    defmt::error!("panic at {=str}:{=u32}", file, line);
    process::exit(1)
}

/// `defmt::panic!` has said what there is to say.
#[defmt::panic_handler]
fn defmt_panic() -> ! {
    process::exit(1)
}

#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    defmt::error!("fault at {=u32:#x}", frame.pc());
    process::exit(1)
}
