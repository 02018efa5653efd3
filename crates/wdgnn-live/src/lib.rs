//! Swarms in a browser: worlds and the robots' core behind exported functions.
//!
//! A [`pair`] runs two swarms side by side, each in an endless episode ([`flight`]). [`knobs`]
//! holds the user's controls. Functions take numbers, and the page reads results from memory.
//! `cargo run -p wdgnn-live` builds one file of this crate and `page/`.

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
