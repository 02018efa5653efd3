//! The emulated board: QEMU's `mps2-an386`, a Cortex-M4F. Its world is the program that started it.
//!
//! Sensor, radio and actuator are [`crate::emulation`]'s messages over QEMU's standard input and output, read and written by
//! semihosting: 15 µs a message, where the emulated UART takes 40 µs a byte. The store and the log are files in QEMU's
//! working directory. Nothing hangs: when the world closes its end, the robot reports its stack and ends; a panic or a
//! fault ends QEMU with failure.

#![allow(unsafe_code, reason = "exception handlers and the stack's painted words")]

mod log;

pub use log::Sink;

use core::{cell::Cell, convert::Infallible, mem::MaybeUninit};

use bytemuck::{Pod, Zeroable};
use cortex_m as _; // the critical section that the logger needs
use cortex_m_rt::{ExceptionFrame, exception};
use semihosting::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    process,
    sys::arm_compat::sys_get_cmdline_uninit,
};
use static_cell::StaticCell;
use wdgnn_core::{
    codec::Codec as _,
    flocking::Motion,
    ports::{Actuator, Clock, Ports, Radio, Received, Sensed, Sensor, Store},
    robot::{OUTPUTS, Robot},
    task::NodeId,
    tick::Report,
};

use crate::{
    emulation::{Dimensions, Frame, Hello, Outcome, Situation, VERSION},
    link::Link,
};

/// The emulated robot's hardware.
#[derive(Debug)]
pub struct Board {
    /// The robot's address.
    pub id: NodeId,
    world: &'static World,
    air: Air,
    sensor: Eyes,
    motors: Motors,
    store: Disk,
}

/// The pipes to and from the world, and what was last read.
#[derive(Debug)]
struct World {
    input: File,
    output: File,
    situation: Cell<Situation>,
}

impl Board {
    /// Opens the pipes. The address is the only word on QEMU's semihosting command line.
    ///
    /// Without them there is no robot: QEMU ends with failure.
    #[must_use]
    pub fn init() -> Self {
        static WORLD: StaticCell<World> = StaticCell::new();
        let mut line = [MaybeUninit::uninit(); 16];
        let Some(id) = sys_get_cmdline_uninit(&mut line).ok().and_then(|line| number(line)) else {
            fail("no robot's number: start QEMU with -semihosting-config enable=on,arg=NUMBER")
        };
        let (Ok(input), Ok(output)) = (File::open(c"/dev/stdin"), File::create(c"/dev/stdout")) else {
            fail("no pipes to and from a world")
        };
        let world = &*WORLD.init(World { input, output, situation: Cell::new(Situation::zeroed()) });
        let air = Air { world, said: 0, listening: false, message: Frame::nothing() };
        Self { id, world, air, sensor: Eyes(world), motors: Motors, store: Disk }
    }

    /// Ends QEMU, well or badly: for programs that need nothing else of the board.
    pub fn end(well: bool) -> ! {
        process::exit(i32::from(!well))
    }

    /// There is nothing to fly with: the reason has been logged.
    pub fn give_up() -> ! {
        Self::end(false)
    }

    /// The robot's ports for a tick.
    pub fn ports(&mut self) -> Ports<'_, Air, Eyes, Motors, Disk> {
        Ports {
            radio: &mut self.air,
            sensor: &mut self.sensor,
            actuator: &mut self.motors,
            store: &mut self.store,
        }
    }

    /// Where parameters are kept over a restart.
    pub fn store(&mut self) -> &mut Disk {
        &mut self.store
    }

    /// A boot count for a robot whose store knows none. The world's ticks go on over a restart, so no frame's number comes twice.
    pub fn unstored_boot(&mut self) -> u32 {
        0
    }

    /// The robot is ready: tells the world.
    pub fn ready(&mut self, robot: &Robot<'_, Link>, resumed: bool) {
        self.world.say(&Hello {
            version: VERSION,
            id: self.id.into(),
            boot: robot.boot(),
            resumed: resumed.into(),
            model: robot.link().checksum,
            profile: robot.link().profile as u32,
            sealed: Link::SEALED.into(),
            dimensions: Dimensions::HERE,
        });
    }

    /// Before a tick: nothing to be done, the world keeps turns.
    pub fn prepare(&mut self, _: &mut Robot<'_, Link>, _: &mut [u8]) {}

    /// A tick is finished: tells the world what came of it. Not inlined: its message is on the stack only while it is told.
    #[inline(never)]
    pub fn finish(&mut self, robot: &Robot<'_, Link>, report: &Report<[f32; OUTPUTS]>) {
        self.world.say(&Outcome::new(report, robot.wide()));
    }
}

/// The decimal number at the front of a line.
fn number(line: &[u8]) -> Option<NodeId> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(None, |number, digit| {
        Some(number.unwrap_or(0_u16).wrapping_mul(10).wrapping_add(u16::from(digit - b'0')))
    })
}

impl Clock for Board {
    /// The world says when; without a world the robot ends.
    fn next_tick(&mut self) -> u32 {
        (self.air.said, self.air.listening) = (0, true);
        let mut situation = Situation::zeroed();
        self.world.hear(&mut situation);
        self.world.situation.set(situation);
        situation.tick
    }
}

impl World {
    fn hear<M: Pod>(&self, message: &mut M) {
        if (&self.input).read_exact(bytemuck::bytes_of_mut(message)).is_err() {
            leave();
        }
    }

    fn say<M: Pod>(&self, message: &M) {
        if (&self.output).write_all(bytemuck::bytes_of(message)).is_err() {
            leave();
        }
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

/// The radio.
#[derive(Debug)]
pub struct Air {
    world: &'static World,
    /// Frames said in this tick.
    said: u32,
    listening: bool,
    message: Frame,
}

impl Radio for Air {
    type Error = Infallible;

    fn send(&mut self, frame: &[u8]) -> Result<(), Infallible> {
        self.said += 1;
        self.message.fill(frame, self.said == Link::FRAMES);
        self.world.say(&self.message);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<Received>, Infallible> {
        if !self.listening {
            return Ok(None);
        }
        // The world waits until everybody has spoken, also for those who have nothing to say in this tick.
        if self.said < Link::FRAMES {
            self.said = Link::FRAMES;
            self.message.length = Frame::NOTHING;
            self.message.last = 1;
            self.world.say(&self.message);
        }
        self.world.hear(&mut self.message);
        self.listening = self.message.last == 0;
        Ok(self.message.content().map(|content| {
            buffer.iter_mut().zip(content).for_each(|(to, from)| *to = *from);
            Received::untimed(self.message.length.into())
        }))
    }
}

/// The sensor.
#[derive(Debug)]
pub struct Eyes(&'static World);

/// The sensor fails in this tick, because the world wants it to.
#[derive(Clone, Copy, Debug)]
pub struct Blind;

impl Sensor<Motion> for Eyes {
    type Error = Blind;

    fn sense(&mut self) -> Result<Sensed<Motion>, Blind> {
        let Situation { sensed, position, velocity, .. } = self.0.situation.get();
        if sensed == 0 { Err(Blind) } else { Ok(Sensed::now(Motion { position, velocity })) }
    }
}

/// The actuator: the world reads the command from the tick's outcome, zeros where the robot is to come to rest.
#[derive(Debug)]
pub struct Motors;

impl Actuator<[f32; OUTPUTS]> for Motors {
    type Error = Infallible;

    fn act(&mut self, _: &[f32; OUTPUTS]) -> Result<(), Infallible> {
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
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
