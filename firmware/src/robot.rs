//! Main program of a robot: initialize the board, load the network, run ticks.
//! [`robot!`](crate::robot!) builds an image.

use static_cell::StaticCell;
use wdgnn_core::{model::Model, task::State as _, weights::Weights};
use wdgnn_link::{
    encoding::{Encoding as _, exact, half::MAX_TAG_LEN},
    link::RadioLink as _,
};
use wdgnn_robot::{
    control_loop,
    onboard::{self, ModelOf, OnboardTask},
    persist,
    ports::Ports,
    robot::Robot,
};

use crate::{
    board::Board,
    link::{self, Encoding, Link},
};

/// Ticks between two log lines: 1 s.
const LOG_EVERY: u32 = 100;

/// Defines the image of a robot with this task and weight file.
///
/// ```ignore
/// #![no_std]
/// #![no_main]
///
/// firmware::robot!(rendezvous::Rendezvous, "../model.wdgnn");
/// ```
///
/// The path is relative, as in [`include_bytes!`]. `docs/bring-your-own-task.md` lists the other
/// requirements of an image.
#[macro_export]
macro_rules! robot {
    ($task:ty, $model:expr) => {
        const _: () = {
            /// Weight file, used in place in flash.
            static MODEL: &$crate::wdgnn_core::weights::Aligned<[u8]> =
                &$crate::wdgnn_core::weights::Aligned(*include_bytes!($model));
            static MEMORY: $crate::robot::Memory<$crate::board::ThisBoard, $task> =
                $crate::robot::Memory::new();
            const BUFFER: usize = $crate::robot::buffer_len::<$task>();

            #[$crate::__private::entry]
            fn main() -> ! {
                $crate::robot::run::<_, _, BUFFER>(&MODEL.0, &MEMORY)
            }
        };
    };
}

/// Static memory of board and robot.
#[allow(missing_debug_implementations, reason = "it is uninitialized until the start")]
pub struct Memory<B, T: OnboardTask> {
    board: StaticCell<B>,
    robot: StaticCell<link::Robot<'static, T>>,
}

impl<B, T: OnboardTask> Memory<B, T> {
    /// Uninitialized memory.
    #[allow(clippy::new_without_default, reason = "used once, in a static")]
    pub const fn new() -> Self {
        Self { board: StaticCell::new(), robot: StaticCell::new() }
    }
}

/// Length of a tick's buffer on any profile: a frame, its tag, and one byte more, so that oversize
/// frames are detected.
pub const fn buffer_len<T: OnboardTask>() -> usize {
    exact::frame_len::<T::State, <ModelOf<'_, T> as Model>::Taps, <ModelOf<'_, T> as Model>::Wide>()
        + MAX_TAG_LEN
        + 1
}

/// Runs the robot.
pub fn run<B, T, const BUFFER: usize>(model: &'static [u8], memory: &'static Memory<B, T>) -> !
where
    B: Board + Ports<T::State, T::Command>,
    T: OnboardTask<Command: defmt::Format>,
{
    let board = init_board(&memory.board);
    let robot = load::<B, T>(board, model, &memory.robot);
    link::add_keys(robot.link_mut(), board);
    robot.link_mut().security_mut().set_swarm_size(board.swarm_size());
    fly::<B, T, BUFFER>(board, robot)
}

/// Initializes the board. Not inlined, like [`load`] and [`fly`], so that the three share one stack
/// region.
#[inline(never)]
fn init_board<B: Board>(cell: &'static StaticCell<B>) -> &'static mut B {
    // Cannot fail: called once.
    cell.try_init_with(B::init).unwrap_or_else(|| B::halt())
}

/// Creates the robot with its network.
#[inline(never)]
fn load<B: Board, T: OnboardTask>(
    board: &B, model: &'static [u8], cell: &'static StaticCell<link::Robot<'static, T>>,
) -> &'static mut link::Robot<'static, T> {
    let weights = match Weights::open(model) {
        Ok(weights) => weights,
        Err(error) => {
            defmt::error!("invalid weight file: {}", error);
            B::halt()
        }
    };
    let (trained, flown) = (weights.header.interval, link::PROFILE.exchange_ticks());
    // A model trained for rarer exchanges works: more robots get a slot.
    if trained < flown {
        defmt::error!(
            "the model was trained for an exchange every {=u16} ticks, but the link profile has one every {=u16}",
            trained,
            flown
        );
        B::halt()
    }
    if !fits::<T, ModelOf<'_, T>>() {
        defmt::error!("the messages of this task do not fit into the frames of the link profile");
        B::halt()
    }
    let config = match onboard::config_from_weights::<T>(&weights) {
        Ok(config) => config,
        Err(error) => {
            defmt::error!("the model does not match this robot: {}", error);
            B::halt()
        }
    };
    // Created in place: on the stack, it would take most of it.
    let robot = cell.try_init_with(|| {
        let link = Link::new(weights.checksum, link::security());
        Robot::new(board.id(), link::with_trust(config), link, T::State::zero())
    });
    // Cannot fail: called once.
    robot.unwrap_or_else(|| B::halt())
}

/// Whether state, taps and wide parameters fit into the frames of the link profile.
fn fits<T: OnboardTask, M: Model>() -> bool {
    Encoding::has_room_for::<T::State, M::Taps, M::Wide>()
}

/// Restores the stored state and runs ticks.
#[inline(never)]
fn fly<B, T, const BUFFER: usize>(board: &mut B, robot: &mut link::Robot<'static, T>) -> !
where
    B: Board + Ports<T::State, T::Command>,
    T: OnboardTask<Command: defmt::Format>,
{
    let mut buffer = [0; BUFFER];
    robot.link_mut().set_boot_count(board.fallback_boot_count());
    let resumed = persist::restore(robot, board.store(), &mut buffer);
    if resumed.is_err() {
        // The store failed, so the next start would use this boot count again.
        robot.link_mut().set_boot_count(board.fallback_boot_count());
    }
    let resumed = resumed.unwrap_or(false);
    defmt::info!(
        "robot {=u16}, model {=u32:#010x}, {} {=str}, boot {=u32}, {=str} parameters",
        board.id(),
        robot.link().model_checksum(),
        link::PROFILE,
        if robot.link().is_sealed() { "sealed" } else { "unsealed" },
        robot.link().boot_count(),
        if resumed { "resumed" } else { "offline" }
    );
    board.on_ready(robot, resumed);

    loop {
        let tick = board.next_tick();
        board.before_tick(robot, &mut buffer);
        let report = control_loop::run_tick(robot, tick, board, &mut buffer);
        board.after_tick(robot, &report);
        if tick % LOG_EVERY == LOG_EVERY - 1 {
            defmt::info!("{}", report);
        }
    }
}
