//! The robot: start, load the network, fly.

#![no_std]
#![no_main]

use firmware::{
    board::Board,
    link::{self, Link},
};
use static_cell::StaticCell;
use wdgnn_core::{
    codec::Codec as _,
    ports::Clock as _,
    restart,
    robot::{self, BUFFER_BYTES, Robot},
    task::NodeId,
    tick,
    weights::{Aligned, Weights},
};

/// The weight file, in flash as it is.
static MODEL: &Aligned<[u8]> = &Aligned(*include_bytes!(env!("WDGNN_MODEL")));
static BOARD: StaticCell<Board> = StaticCell::new();
static ROBOT: StaticCell<Robot<'static, Link>> = StaticCell::new();

/// Ticks between two lines of the log: a second of flight.
const LOG_EVERY: u32 = 100;

#[cortex_m_rt::entry]
fn main() -> ! {
    // It is made once.
    let Some(board) = BOARD.try_init_with(Board::init) else { Board::give_up() };
    let robot = load(board.id);
    let mut buffer = [0; BUFFER_BYTES];

    robot.set_boot(board.unstored_boot());
    let resumed = restart::resume(robot, board.store(), &mut buffer);
    if resumed.is_err() {
        // The next start would count the same again.
        robot.set_boot(board.unstored_boot());
    }
    let resumed = resumed.unwrap_or(false);
    defmt::info!(
        "robot {=u16}, model {=u32:#010x}, {} {=str}, boot {=u32}, {=str} parameters",
        board.id,
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
        let report = tick::run(robot, tick, &mut board.ports(), &mut buffer);
        board.finish(robot, &report);
        if tick % LOG_EVERY == LOG_EVERY - 1 {
            defmt::info!("{}", report);
        }
    }
}

/// The robot with its network. Not inlined: what it needs of the stack, it gives back before the first tick.
#[inline(never)]
fn load(id: NodeId) -> &'static mut Robot<'static, Link> {
    let weights = match Weights::open(&MODEL.0) {
        Ok(weights) => weights,
        Err(error) => {
            defmt::error!("the model in this image is not usable: {}", error);
            Board::give_up()
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
        Board::give_up()
    }
    let made = ROBOT.try_init_with(|| match robot::robot(id, &weights, link::link()) {
        Ok(robot) => robot,
        Err(error) => {
            defmt::error!("the model in this image is for another robot: {}", error);
            Board::give_up()
        }
    });
    // It is made once.
    made.unwrap_or_else(|| Board::give_up())
}
