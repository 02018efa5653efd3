//! A chip.
#![forbid(unsafe_code)]

pub mod cpu;
