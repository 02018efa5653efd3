//! Functions that the page calls.
//!
//! `no_mangle` counts as unsafe because a symbol could be defined twice. Each name is unique here,
//! and the prefix `live_` avoids names of the C library in native builds. Nothing else is unsafe:
//! the page only reads the memory that it gets.

#![allow(unsafe_code, reason = "unmangled names, see above")]

use std::cell::RefCell;

use wdgnn_core::task::NodeId;
use wdgnn_sim::error::Result;

use crate::{
    check,
    flight::{Figures, Show},
    knobs::Controller,
    pair::{Mission, Pair},
};

/// Global state: a page has one thread and one pair of swarms.
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

/// Calls a function of the pair and returns whether it succeeded.
///
/// On failure, the text holds the error.
fn attempt(act: impl FnOnce(&mut Pair) -> Result) -> bool {
    with(|live| match act(&mut live.pair) {
        Ok(()) => true,
        Err(error) => {
            live.text = error.to_string();
            false
        }
    })
}

/// Calls a function of one swarm.
fn look(side: u32, fill: impl FnOnce(&mut Live, &dyn Show) -> usize) -> usize {
    with(|live| {
        let pair = std::mem::take(&mut live.pair);
        let count = pair.side(side).map_or(0, |flight| fill(live, flight));
        live.pair = pair;
        count
    })
}

/// Sets a control of both swarms.
#[unsafe(no_mangle)]
pub extern "C" fn live_turn(knob: u32, value: f32) {
    with(|live| live.pair.knobs.turn(knob, value));
}

/// Restarts both swarms. On failure, the text holds the error.
#[unsafe(no_mangle)]
pub extern "C" fn live_begin(mission: u32, robots: u32, speed: f32, seed: u32) -> bool {
    attempt(|pair| pair.begin(Mission::numbered(mission), robots as usize, speed, seed.into()))
}

/// Restarts both swarms with the parameters that their robots have learned.
#[unsafe(no_mangle)]
pub extern "C" fn live_land(robots: u32, speed: f32, seed: u32) -> bool {
    attempt(|pair| pair.land(robots as usize, speed, seed.into()))
}

/// Selects the controller of one swarm.
#[unsafe(no_mangle)]
pub extern "C" fn live_hand_over(side: u32, controller: u32) -> bool {
    attempt(|pair| pair.hand_over(side, Controller::numbered(controller)))
}

/// Runs both swarms for `ticks` ticks.
#[unsafe(no_mangle)]
pub extern "C" fn live_step(ticks: u32) -> bool {
    attempt(|pair| pair.step(ticks))
}

/// Removes a robot from both swarms.
#[unsafe(no_mangle)]
pub extern "C" fn live_kill(robot: u32) {
    with(|live| live.pair.each(|flight| flight.kill(robot as NodeId)));
}

/// Pushes a robot in both swarms.
#[unsafe(no_mangle)]
pub extern "C" fn live_push(robot: u32, x: f32, y: f32) {
    with(|live| live.pair.each(|flight| flight.push(robot as NodeId, [x, y])));
}

/// Sets whether a robot lies in both swarms.
#[unsafe(no_mangle)]
pub extern "C" fn live_set_liar(robot: u32, lies: bool) {
    with(|live| live.pair.each(|flight| flight.set_liar(robot as NodeId, lies)));
}

/// Splits both swarms in two, or joins them again.
#[unsafe(no_mangle)]
pub extern "C" fn live_cut(on: bool) {
    with(|live| live.pair.cut(on));
}

/// Writes the robots of one swarm to [`live_numbers`] and returns the number of values.
#[unsafe(no_mangle)]
pub extern "C" fn live_show(side: u32) -> usize {
    look(side, |live, flight| {
        flight.show(&mut live.numbers);
        live.numbers.len()
    })
}

/// Address of the values of [`live_show`].
#[unsafe(no_mangle)]
pub extern "C" fn live_numbers() -> *const f32 {
    with(|live| live.numbers.as_ptr())
}

/// Writes the links of one swarm to [`live_pairs_at`] and returns the number of values.
#[unsafe(no_mangle)]
pub extern "C" fn live_pairs(side: u32) -> usize {
    look(side, |live, flight| {
        flight.pairs(&mut live.pairs);
        live.pairs.len()
    })
}

/// Address of the values of [`live_pairs`].
#[unsafe(no_mangle)]
pub extern "C" fn live_pairs_at() -> *const u32 {
    with(|live| live.pairs.as_ptr())
}

/// Writes objects besides robots to [`live_scenery_at`] and returns the number of values.
#[unsafe(no_mangle)]
pub extern "C" fn live_scenery(side: u32) -> usize {
    look(side, |live, flight| {
        flight.scenery(&mut live.spots);
        live.spots.len()
    })
}

/// Address of the values of [`live_scenery`].
#[unsafe(no_mangle)]
pub extern "C" fn live_scenery_at() -> *const f32 {
    with(|live| live.spots.as_ptr())
}

/// Measures one swarm and returns the address of the seven numbers of [`Figures`].
#[unsafe(no_mangle)]
pub extern "C" fn live_figures(side: u32) -> *const Figures {
    look(side, |live, flight| {
        live.figures = flight.figures();
        0
    });
    with(|live| std::ptr::from_ref(&live.figures))
}

/// Seconds per tick.
#[unsafe(no_mangle)]
pub extern "C" fn live_period() -> f32 {
    with(|live| live.pair.side(0).map_or(0.01, Show::period))
}

/// Runs the self-check and returns the length of its digest, which the text holds.
#[unsafe(no_mangle)]
pub extern "C" fn live_check() -> usize {
    let digest = check::digest().unwrap_or_else(|error| error.to_string());
    with(|live| live.text = digest);
    live_text_length()
}

/// Address of the last text.
#[unsafe(no_mangle)]
pub extern "C" fn live_text() -> *const u8 {
    with(|live| live.text.as_ptr())
}

/// Length of the last text in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn live_text_length() -> usize {
    with(|live| live.text.len())
}
