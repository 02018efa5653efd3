//! The robot: start, load the network, fly.

#![no_std]
#![no_main]

use firmware::board::{Board, Link};
use static_cell::StaticCell;
use wdgnn_core::{
    ports::Clock as _,
    restart,
    robot::{self, BUFFER_BYTES, Robot},
    tick,
    weights::{Aligned, Weights},
};

/// The weight file, in flash as it is.
static MODEL: &Aligned<[u8]> = &Aligned(*include_bytes!(env!("WDGNN_MODEL")));
static ROBOT: StaticCell<Robot<'static, Link>> = StaticCell::new();

/// Ticks between two lines of the log: a second of flight.
const LOG_EVERY: u32 = 100;

#[cortex_m_rt::entry]
fn main() -> ! {
    let mut board = Board::init();
    let mut buffer = [0; BUFFER_BYTES];

    let weights = match Weights::open(&MODEL.0) {
        Ok(weights) => weights,
        Err(error) => defmt::panic!("the model in this image is not usable: {}", error),
    };
    let robot = ROBOT.init_with(|| match robot::robot(board.id, &weights, Link::default()) {
        Ok(robot) => robot,
        Err(error) => defmt::panic!("the model in this image is for another robot: {}", error),
    });

    let resumed = restart::resume(robot, board.store(), &mut buffer).unwrap_or(false);
    defmt::info!(
        "robot {=u16}, model {=u32:#010x}, boot {=u32}, {=str} parameters",
        board.id,
        weights.model,
        robot.boot(),
        if resumed { "resumed" } else { "offline" }
    );
    board.ready(robot, resumed);

    loop {
        let tick = board.next_tick();
        let report = tick::run(robot, tick, &mut board.ports(), &mut buffer);
        board.finish(robot, &report);
        if tick % LOG_EVERY == LOG_EVERY - 1 {
            defmt::info!("{}", report);
        }
    }
}
