//! System tests, linked into one program.

#![forbid(unsafe_code)]

mod boards;
mod buggies;
mod c_library;
mod chip_keys;
mod chips;
mod companion;
mod emulated_robot;
mod emulated_swarm;
mod footprint;
mod gateway;
mod instructions;
mod listener;
mod live;
mod page;
mod prose;
mod provisioning;
