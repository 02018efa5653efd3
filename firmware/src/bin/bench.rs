//! Instruction counts of a tick's steps with eight neighbors.
//!
//! Runs in QEMU with `-icount shift=10`: each instruction takes 1,024 ns of emulated time, which
//! the 25 MHz `SysTick` measures exactly. Instructions are not cycles: a Cortex-M4F waits for
//! flash, needs up to 14 cycles for a division and up to three for a branch.

#![no_std]
#![no_main]

use core::{convert::Infallible, hint::black_box};

use cortex_m::peripheral::{Peripherals, SYST, syst::SystClkSource};
use firmware::board::ThisBoard as Board;
use static_cell::StaticCell;
use wdgnn_core::{
    filter::{DelayLine, LayerTaps},
    message::{AgentMessage, Message},
    model::Model as _,
    online::Learning,
    tasks::flocking::{Flocking, Motion},
    tensor::Filter,
    weights::{Aligned, Weights},
};
use wdgnn_link::{
    encoding::{Encoding, OutgoingMessage, exact::Exact, half::Dot154},
    link::{Link, MessageLink as _, Sealed},
    security::{
        LinkSecurity,
        ccm::{Block, BlockCipher},
        group_key::GroupKey,
    },
};
use wdgnn_robot::{
    control_loop,
    onboard::{self, BUFFER_LEN, FlockingModel, TaskRobot},
    ports::{Actuator, Measurement, NoStore, PortSet, Radio, ReceivedFrame, Sensor},
    tasks::MotionModel as _,
};

/// Robot of the bench, and the message that it sends.
type Robot<L> = TaskRobot<'static, Flocking, L>;
type RobotMessage = AgentMessage<FlockingModel<'static>, Flocking>;
/// Link that is sealed by a cipher of nearly zero cost.
type NullSealed = Link<Dot154, GroupKey<NullCipher, 8>>;

static MODEL: &Aligned<[u8]> = &Aligned(*include_bytes!(env!("WDGNN_MODEL")));
static ROBOT: StaticCell<Robot<Link<Exact>>> = StaticCell::new();
static OPEN: StaticCell<Robot<Link<Dot154>>> = StaticCell::new();
static NULL_SEALED: StaticCell<Robot<NullSealed>> = StaticCell::new();
static SEALED: StaticCell<Robot<Sealed<Dot154>>> = StaticCell::new();
static FRAMES: StaticCell<Aligned<Frames>> = StaticCell::new();

const NEIGHBORS: usize = 8;

/// Frames of the neighbors, each aligned to four bytes like a radio buffer.
type Frames = [[u8; FRAME_LEN]; NEIGHBORS];
const FRAME_LEN: usize = onboard::FRAME_LEN.next_multiple_of(4);

/// Emulated time per instruction, and per count of the 25 MHz timer.
const INSTRUCTION_NS: u32 = 1024;
const COUNT_NS: u32 = 40;

#[cortex_m_rt::entry]
fn main() -> ! {
    let Some(mut peripherals) = Peripherals::take() else { Board::exit(false) };
    peripherals.SYST.set_clock_source(SystClkSource::Core);
    peripherals.SYST.set_reload(0x00ff_ffff);
    peripherals.SYST.clear_current();
    peripherals.SYST.enable_counter();

    let Ok(weights) = Weights::open(&MODEL.0) else { Board::exit(false) };
    let robot = load(&ROBOT, &weights, Link::open(weights.checksum));
    let Aligned(frames) = FRAMES.init(Aligned([[0; FRAME_LEN]; NEIGHBORS]));
    let mut buffer = Aligned([0; BUFFER_LEN]);
    let buffer = &mut buffer.0[..];

    // The first tick fills the neighbor table. Later ticks, with known neighbors, are the usual
    // case.
    encode_all(weights.checksum, frames, 0);
    run(robot, 0, &mut ReplayRadio::new(frames), buffer);

    encode_all(weights.checksum, frames, 1);
    let nothing = count(|| ());
    let show = |step: &str, counted: u32| defmt::println!("{=str} {=u32}", step, counted - nothing);
    robot.sense(1, Some(Measurement::now(motion(0))));
    show("send", count(|| black_box(black_box(&mut *robot).send(0, buffer))));
    show(
        "receive",
        count(|| {
            for frame in frames.iter_mut() {
                let frame = frame.get_mut(..onboard::FRAME_LEN).unwrap_or_default();
                black_box(black_box(&mut *robot).receive(black_box(frame)).is_ok());
            }
        }),
    );
    show("end of reception", count(|| black_box(black_box(&mut *robot).end_receive())));
    show("decide", count(|| black_box(black_box(&mut *robot).decide())));
    show("learn", count(|| black_box(black_box(&mut *robot).learn())));
    robot.config_mut().agent.learning = Learning::paper(1.0);
    show("learn, by the paper's rule", count(|| black_box(black_box(&mut *robot).learn())));
    robot.config_mut().agent.learning = weights.header.learning;

    encode_all(weights.checksum, frames, 2);
    let mut radio = ReplayRadio::new(frames);
    show("tick", count(|| run(robot, 2, &mut radio, buffer)));

    let group_key = || GroupKey::new(&[7; 16]);
    let (written, read) = frame(Link::<Dot154>::open(0), buffer);
    show("write a dot154 frame", written);
    show("read a dot154 frame", read);
    let (written, read) = frame(Sealed::<Dot154>::new(0, group_key()), buffer);
    show("write a dot154 frame, sealed", written);
    show("read a dot154 frame, sealed", read);
    let good = robot.neighbors().len() == NEIGHBORS;

    let open = || Link::open(weights.checksum);
    let null = || Link::new(weights.checksum, GroupKey::with_cipher(NullCipher));
    let aes = || Link::new(weights.checksum, group_key());
    let (open, null, aes) = (
        whole(&OPEN, &weights, open, frames, buffer),
        whole(&NULL_SEALED, &weights, null, frames, buffer),
        whole(&SEALED, &weights, aes, frames, buffer),
    );
    let (Some(open), Some(null), Some(aes)) = (open, null, aes) else { Board::exit(false) };
    show("tick, dot154", open[0]);
    show("tick, dot154, two heard", open[1]);
    show("tick, dot154 sealed, without its AES", null[0]);
    show("tick, dot154 sealed, without its AES, two heard", null[1]);
    show("tick, dot154 sealed", aes[0]);
    show("tick, dot154 sealed, two heard", aes[1]);
    Board::exit(good)
}

fn run<E: Encoding, S: LinkSecurity>(
    robot: &mut Robot<Link<E, S>>, tick: u32, radio: &mut ReplayRadio<'_>, buffer: &mut [u8],
) {
    let mut ports = PortSet { radio, sensor: &mut Still, actuator: &mut Still, store: &mut NoStore };
    black_box(control_loop::run_tick(black_box(robot), tick, &mut ports, buffer));
}

/// Not inlined, so that its stack is released before the measurements.
#[inline(never)]
fn load<E: Encoding, S: LinkSecurity>(
    cell: &'static StaticCell<Robot<Link<E, S>>>, weights: &Weights<'static>, link: Link<E, S>,
) -> &'static mut Robot<Link<E, S>> {
    cell.init_with(|| match onboard::robot_from_weights::<Flocking, _>(0, weights, link) {
        Ok(robot) => robot,
        Err(_) => Board::exit(false),
    })
}

/// Instructions of a whole tick with eight and with two received frames, on a profile with one
/// frame per exchange. `None` if a frame is rejected.
#[inline(never)]
fn whole<E: Encoding, S: LinkSecurity>(
    cell: &'static StaticCell<Robot<Link<E, S>>>, weights: &Weights<'static>, link: impl Fn() -> Link<E, S>,
    frames: &mut Frames, buffer: &mut [u8],
) -> Option<[u32; 2]> {
    let robot = load(cell, weights, link());
    // The model exchanges in every tick, the profile does not.
    let interval = E::PROFILE.exchange_ticks().into();
    let config = robot.config().with_exchange_interval(interval);
    *robot.config_mut() = if S::IS_SEALED { config.robust() } else { config };
    let encode_all = |exchange, frames: &mut Frames, robot: &Robot<Link<E, S>>| {
        let mut length = 0;
        for (sender, frame) in (1..).zip(frames) {
            // A plausible position and plausible parameters at that tick.
            let tick = exchange * interval;
            let config = &robot.config().agent;
            let state = config.task.predict(&motion(sender), tick);
            let message = Message { state, wide: *config.model.offline(), ..message(sender, tick) };
            length = link().send(&message, exchange, 0, frame)?;
        }
        Some(length)
    };
    let mut counted = [0; 2];
    // In the first exchange all neighbors are new; in the last one only two are received.
    for (exchange, received) in (0..).zip([NEIGHBORS, NEIGHBORS, NEIGHBORS, 2]) {
        let (tick, length) = (exchange * interval, encode_all(exchange, frames, robot)?);
        let mut radio = ReplayRadio { frames: frames.get(..received)?.iter(), length };
        match (&mut counted, exchange) {
            ([eight, _], 2) => *eight = count(|| run(robot, tick, &mut radio, buffer)),
            ([_, two], 3) => *two = count(|| run(robot, tick, &mut radio, buffer)),
            _ => run(robot, tick, &mut radio, buffer),
        }
        if robot.trusted().filter(|neighbor| neighbor.last_received == tick).count() != received {
            return None;
        }
    }
    (robot.neighbors().len() == NEIGHBORS).then_some(counted)
}

/// Block cipher of nearly zero cost, as a stand-in for AES hardware. Not secure.
struct NullCipher;

impl BlockCipher for NullCipher {
    fn with_key(_: &[u8; 16]) -> Self {
        Self
    }

    fn encrypt(&self, block: &mut Block) {
        let [first, ..] = block;
        *first = first.wrapping_add(1);
    }
}

/// Instructions of `work`, plus a constant overhead.
#[inline]
fn count<T>(work: impl FnOnce() -> T) -> u32 {
    bench_mark();
    let before = SYST::get_current();
    black_box(work());
    let counts = before.wrapping_sub(SYST::get_current()) & 0x00ff_ffff;
    bench_mark();
    (counts * COUNT_NS + INSTRUCTION_NS / 2) / INSTRUCTION_NS
}

/// Marker for tools that trace instructions: counting starts and ends here.
#[inline(never)]
fn bench_mark() {
    black_box(());
}

/// Robot 0 at the origin and the others on a circle of 1 m, too far apart for the collision guard.
fn motion(id: u16) -> Motion {
    const CIRCLE: [[f32; 2]; NEIGHBORS] = [
        [1.0, 0.0],
        [0.7, 0.7],
        [0.0, 1.0],
        [-0.7, 0.7],
        [-1.0, 0.0],
        [-0.7, -0.7],
        [0.0, -1.0],
        [0.7, -0.7],
    ];
    let place = usize::from(id).checked_sub(1).and_then(|place| CIRCLE.get(place)).copied();
    let position = place.unwrap_or_default();
    Motion { position, velocity: [0.5 + 0.1 * position[0], 0.1 * position[1] - 0.25] }
}

/// Instructions to encode and to decode a frame; zeros if decoding fails.
#[inline(never)]
fn frame<E: Encoding, S: LinkSecurity>(mut link: Link<E, S>, buffer: &mut [u8]) -> (u32, u32) {
    let (sent, mut received) = (message(1, 2), message(2, 2));
    let mut length = None;
    let written = count(|| length = link.send(black_box(&sent), 0, 0, buffer));
    let frame = length.and_then(|length| buffer.get_mut(..length)).unwrap_or_default();
    let mut good = false;
    let read = count(|| good = link.receive(2, black_box(frame), black_box(&mut received)).is_ok());
    if good { (written, read) } else { (0, 0) }
}

/// Encodes the frames of the eight neighbors at `tick`, by ascending address.
fn encode_all(model: u32, frames: &mut Frames, tick: u32) {
    for (sender, frame) in (1..).zip(frames) {
        let message = message(sender, tick);
        let out = OutgoingMessage { message: &message, boot: 0, sequence: tick, model, round: 0 };
        let _ = Exact::encode(&out, 0, frame);
    }
}

/// Message with distinct numbers of ordinary size.
fn message(sender: u16, tick: u32) -> RobotMessage {
    let mut number = f32::from(sender);
    let mut next = || {
        number = (number * 1.37 + 0.11) % 1.0;
        number - 0.5
    };
    let mut line = DelayLine([[0.0; onboard::FEATURES]; onboard::TAPS]);
    line.0.as_flattened_mut().iter_mut().for_each(|x| *x = next());
    let mut wide = Filter([[[0.0; onboard::OUTPUTS]; onboard::FEATURES]; onboard::TAPS]);
    wide.0.as_flattened_mut().as_flattened_mut().iter_mut().for_each(|x| *x = next());
    Message {
        sender,
        tick,
        degree: NEIGHBORS as u8,
        state: motion(sender),
        taps: LayerTaps { line, above: () },
        wide,
    }
}

/// Radio that receives prepared frames.
struct ReplayRadio<'a> {
    frames: core::slice::Iter<'a, [u8; FRAME_LEN]>,
    length: usize,
}

impl<'a> ReplayRadio<'a> {
    fn new(frames: &'a Frames) -> Self {
        Self { frames: frames.iter(), length: onboard::FRAME_LEN }
    }
}

impl Radio for ReplayRadio<'_> {
    type Error = Infallible;

    fn send(&mut self, frame: &[u8]) -> Result<(), Infallible> {
        black_box(frame);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<ReceivedFrame>, Infallible> {
        let Some(frame) = self.frames.next().and_then(|frame| frame.get(..self.length)) else {
            return Ok(None);
        };
        if let Some(buffer) = buffer.get_mut(..frame.len()) {
            buffer.copy_from_slice(frame);
        }
        Ok(Some(ReceivedFrame::untimed(frame.len())))
    }
}

struct Still;

impl Sensor<Motion> for Still {
    type Error = Infallible;

    fn sense(&mut self) -> Result<Measurement<Motion>, Infallible> {
        Ok(Measurement::now(motion(0)))
    }
}

impl Actuator<[f32; onboard::OUTPUTS]> for Still {
    type Error = Infallible;

    fn act(&mut self, command: &[f32; onboard::OUTPUTS]) -> Result<(), Infallible> {
        black_box(command);
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
