//! What a page calls.
//!
//! `no_mangle` counts as unsafe because a name could be taken twice: here each stands once, and `live_` is in front of all, so that none is
//! the C library's where this is linked natively. There is nothing else unsafe: memory is lent to the page, which only reads it.

#![allow(unsafe_code, reason = "the names, as told above")]

use std::cell::RefCell;

use wdgnn_core::task::NodeId;
use wdgnn_sim::error::Result;

use crate::{
    check,
    flight::{Figures, Show},
    knobs::Controller,
    pair::{Mission, Pair},
};

/// Everything that there is: a page has one thread and one pair of swarms.
#[derive(Default)]
struct Live {
    pair: Pair,
    text: String,
    numbers: Vec<f32>,
    pairs: Vec<u32>,
    spots: Vec<f32>,
    figures: Figures,
}

thread_local! {
    static LIVE: RefCell<Live> = RefCell::default();
}

fn with<T>(act: impl FnOnce(&mut Live) -> T) -> T {
    LIVE.with_borrow_mut(act)
}

/// Does something with the swarms. Returns whether it could be; if not, the text says why.
fn attempt(act: impl FnOnce(&mut Pair) -> Result) -> bool {
    with(|live| match act(&mut live.pair) {
        Ok(()) => true,
        Err(error) => {
            live.text = error.to_string();
            false
        }
    })
}

/// Has one of the swarms fill in something.
fn look(side: u32, fill: impl FnOnce(&mut Live, &dyn Show) -> usize) -> usize {
    with(|live| {
        let pair = std::mem::take(&mut live.pair);
        let count = pair.side(side).map_or(0, |flight| fill(live, flight));
        live.pair = pair;
        count
    })
}

/// Turns a knob, for both swarms.
#[unsafe(no_mangle)]
pub extern "C" fn live_turn(knob: u32, value: f32) {
    with(|live| live.pair.knobs.turn(knob, value));
}

/// Starts both swarms anew; where there is no such start, the text says why.
#[unsafe(no_mangle)]
pub extern "C" fn live_begin(mission: u32, robots: u32, speed: f32, seed: u32) -> bool {
    attempt(|pair| pair.begin(Mission::numbered(mission), robots as usize, speed, seed.into()))
}

/// Starts both swarms anew with what their robots have learned.
#[unsafe(no_mangle)]
pub extern "C" fn live_land(robots: u32, speed: f32, seed: u32) -> bool {
    attempt(|pair| pair.land(robots as usize, speed, seed.into()))
}

/// Has somebody else fly one of the swarms.
#[unsafe(no_mangle)]
pub extern "C" fn live_hand_over(side: u32, controller: u32) -> bool {
    attempt(|pair| pair.hand_over(side, Controller::numbered(controller)))
}

/// Flies so many ticks.
#[unsafe(no_mangle)]
pub extern "C" fn live_step(ticks: u32) -> bool {
    attempt(|pair| pair.step(ticks))
}

/// Takes a robot out of both swarms.
#[unsafe(no_mangle)]
pub extern "C" fn live_kill(robot: u32) {
    with(|live| live.pair.kill(robot as NodeId));
}

/// Pushes a robot in both swarms.
#[unsafe(no_mangle)]
pub extern "C" fn live_push(robot: u32, x: f32, y: f32) {
    with(|live| live.pair.push(robot as NodeId, [x, y]));
}

/// Has a robot lie in both swarms, or not.
#[unsafe(no_mangle)]
pub extern "C" fn live_set_liar(robot: u32, lies: bool) {
    with(|live| live.pair.set_liar(robot as NodeId, lies));
}

/// Cuts both swarms in two, or joins them again.
#[unsafe(no_mangle)]
pub extern "C" fn live_cut(on: bool) {
    with(|live| live.pair.cut(on));
}

/// Writes down everybody of one swarm and returns how many numbers that is; see [`live_numbers`].
#[unsafe(no_mangle)]
pub extern "C" fn live_show(side: u32) -> usize {
    look(side, |live, flight| {
        flight.show(&mut live.numbers);
        live.numbers.len()
    })
}

/// Where [`live_show`] has written.
#[unsafe(no_mangle)]
pub extern "C" fn live_numbers() -> *const f32 {
    with(|live| live.numbers.as_ptr())
}

/// Writes down who is in range of whom and returns how many numbers that is; see [`live_pairs_at`].
#[unsafe(no_mangle)]
pub extern "C" fn live_pairs(side: u32) -> usize {
    look(side, |live, flight| {
        flight.pairs(&mut live.pairs);
        live.pairs.len()
    })
}

/// Where [`live_pairs`] has written.
#[unsafe(no_mangle)]
pub extern "C" fn live_pairs_at() -> *const u32 {
    with(|live| live.pairs.as_ptr())
}

/// Writes down what there is to see besides robots and returns how many numbers that is; see [`live_scenery_at`].
#[unsafe(no_mangle)]
pub extern "C" fn live_scenery(side: u32) -> usize {
    look(side, |live, flight| {
        flight.scenery(&mut live.spots);
        live.spots.len()
    })
}

/// Where [`live_scenery`] has written.
#[unsafe(no_mangle)]
pub extern "C" fn live_scenery_at() -> *const f32 {
    with(|live| live.spots.as_ptr())
}

/// Measures one swarm: where the seven numbers of [`Figures`] are.
#[unsafe(no_mangle)]
pub extern "C" fn live_figures(side: u32) -> *const Figures {
    look(side, |live, flight| {
        live.figures = flight.figures();
        0
    });
    with(|live| std::ptr::from_ref(&live.figures))
}

/// Seconds from one tick to the next.
#[unsafe(no_mangle)]
pub extern "C" fn live_period() -> f32 {
    with(|live| live.pair.side(0).map_or(0.01, Show::period))
}

/// Flies the check and returns the length of its digest, which is in the text then.
#[unsafe(no_mangle)]
pub extern "C" fn live_check() -> usize {
    let digest = check::digest().unwrap_or_else(|error| error.to_string());
    with(|live| live.text = digest);
    live_text_length()
}

/// Where the last text is.
#[unsafe(no_mangle)]
pub extern "C" fn live_text() -> *const u8 {
    with(|live| live.text.as_ptr())
}

/// How many bytes it has.
#[unsafe(no_mangle)]
pub extern "C" fn live_text_length() -> usize {
    with(|live| live.text.len())
}
