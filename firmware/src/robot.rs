//! The robot, top to bottom: start, load the network, fly. [`robot!`](crate::robot!) makes an image of it.

use static_cell::StaticCell;
use wdgnn_core::{model::Model, weights::Weights};
use wdgnn_link::encoding::{Codec, exact::Exact, half::TAG_BYTES};
use wdgnn_robot::{
    control_loop,
    onboard::{Kit, ModelOf, Onboard, Robot},
    persist,
    ports::{Actuator, Sensor},
};

use crate::{
    board::Board,
    link::{self, Link},
};

/// Ticks between two lines of the log: a second of flight.
const LOG_EVERY: u32 = 100;

/// An image: the program of a robot that has this task and flies with this weight file.
///
/// ```ignore
/// #![no_std]
/// #![no_main]
///
/// firmware::robot!(rendezvous::Rendezvous, "../model.wdgnn");
/// ```
///
/// The path is taken as [`include_bytes!`] takes it. What else a crate needs that makes an image is in `docs/bring-your-own-task.md`.
#[macro_export]
macro_rules! robot {
    ($task:ty, $model:expr) => {
        const _: () = {
            /// The weight file, in flash as it is.
            static MODEL: &$crate::wdgnn_core::weights::Aligned<[u8]> =
                &$crate::wdgnn_core::weights::Aligned(*include_bytes!($model));
            static MEMORY: $crate::robot::Memory<$crate::board::ThisBoard, $task> =
                $crate::robot::Memory::new();
            const BUFFER: usize = $crate::robot::buffer_bytes::<$task>();

            #[$crate::__private::entry]
            fn main() -> ! {
                $crate::robot::live::<_, _, BUFFER>(&MODEL.0, &MEMORY)
            }
        };
    };
}

/// Where board and robot are, from the start on: not on the stack.
#[allow(missing_debug_implementations, reason = "there is nothing to see before they are made")]
pub struct Memory<B, T: Onboard> {
    board: StaticCell<B>,
    robot: StaticCell<Robot<'static, Link, T>>,
}

impl<B, T: Onboard> Memory<B, T> {
    /// For one board and one robot.
    #[allow(clippy::new_without_default, reason = "it is made once, in a static")]
    pub const fn new() -> Self {
        Self { board: StaticCell::new(), robot: StaticCell::new() }
    }
}

/// The buffer that a robot's tick needs on any profile, sealed or not: a frame, its tag, and a byte more, so that an oversize frame
/// is seen as one.
pub const fn buffer_bytes<T: Onboard>() -> usize {
    <Robot<'static, Exact, T>>::FRAME_BYTES + TAG_BYTES + 1
}

/// The robot's life.
pub fn live<B, T, const BUFFER: usize>(model: &'static [u8], memory: &'static Memory<B, T>) -> !
where
    B: Board<Sensor: Sensor<T::State>, Actuator: Actuator<T::Output>>,
    T: Onboard<Output: defmt::Format>,
{
    let board = wake(&memory.board);
    let robot = load::<B, T>(board, model, &memory.robot);
    robot.set_robots(board.robots());
    fly::<B, T, BUFFER>(board, robot)
}

/// The board. Not inlined, nor are [`load`] and [`fly`]: what one needs of the stack, the next has again.
#[inline(never)]
fn wake<B: Board>(place: &'static StaticCell<B>) -> &'static mut B {
    // It is made once.
    place.try_init_with(B::init).unwrap_or_else(|| B::give_up())
}

/// The robot with its network.
#[inline(never)]
fn load<B: Board, T: Onboard>(
    board: &B,
    model: &'static [u8],
    place: &'static StaticCell<Robot<'static, Link, T>>,
) -> &'static mut Robot<'static, Link, T> {
    let weights = match Weights::open(model) {
        Ok(weights) => weights,
        Err(error) => {
            defmt::error!("the model in this image is not usable: {}", error);
            B::give_up()
        }
    };
    let (trained, flown) = (weights.header.interval, Link::profile(true).interval());
    // Rarer is no problem: more robots have their turn then.
    if trained < flown {
        defmt::error!(
            "the model in this image was trained with an exchange in every {=u16} ticks, this image's link carries one in every {=u16}",
            trained,
            flown
        );
        B::give_up()
    }
    if !fits::<T, ModelOf<'_, T>>() {
        defmt::error!("what a robot of this task says does not fit into the frames of this image's link");
        B::give_up()
    }
    // Nobody else asks for it.
    let (personal, roster) = if cfg!(rekeyed) { (board.personal(), board.roster()) } else { (None, &[][..]) };
    let kit = match Kit::<T>::open(&weights) {
        Ok(kit) => kit,
        Err(error) => {
            defmt::error!("the model in this image is for another robot: {}", error);
            B::give_up()
        }
    };
    let made = place.try_init_with(|| kit.assemble(board.id(), link::link(board.id(), personal, roster)));
    // It is made once.
    made.unwrap_or_else(|| B::give_up())
}

/// Whether this image's link has room for what a robot says: its state, its taps and its wide parameters.
fn fits<T: Onboard, M: Model>() -> bool {
    Link::fits::<T::State, M::Chains, M::Wide>()
}

/// From the first word to the last tick.
#[inline(never)]
fn fly<B, T, const BUFFER: usize>(board: &mut B, robot: &mut Robot<'static, Link, T>) -> !
where
    B: Board<Sensor: Sensor<T::State>, Actuator: Actuator<T::Output>>,
    T: Onboard<Output: defmt::Format>,
{
    let mut buffer = [0; BUFFER];
    robot.set_boot(board.unstored_boot());
    let resumed = persist::resume(robot, board.store(), &mut buffer);
    if resumed.is_err() {
        // The next start would count the same again.
        robot.set_boot(board.unstored_boot());
    }
    let resumed = resumed.unwrap_or(false);
    defmt::info!(
        "robot {=u16}, model {=u32:#010x}, {} {=str}, boot {=u32}, {=str} parameters",
        board.id(),
        robot.link().checksum,
        robot.link().profile,
        if Link::SEALED { "sealed" } else { "unsealed" },
        robot.boot(),
        if resumed { "resumed" } else { "offline" }
    );
    board.ready(robot, resumed);

    loop {
        let tick = board.next_tick();
        board.prepare(robot, &mut buffer);
        let report = control_loop::run(robot, tick, &mut board.ports(), &mut buffer);
        board.finish(robot, &report);
        if tick % LOG_EVERY == LOG_EVERY - 1 {
            defmt::info!("{}", report);
        }
    }
}
