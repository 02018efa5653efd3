//! Swarms that fly in a browser: the simulator's worlds and the robots' own core, behind functions that a page calls.
//!
//! A [`pair`] of swarms flies side by side, each a [`flight`] without an end. [`knobs`] are what can be turned meanwhile. Numbers and
//! text come out through memory that the page reads; nothing goes in but numbers. `cargo run -p live` makes one file of
//! this and `page/`.

#![deny(unsafe_code)]

pub mod chance;
pub mod check;
mod exports;
pub mod flight;
pub mod knobs;
pub mod models;
pub mod motors;
pub mod pair;
pub mod robots;
