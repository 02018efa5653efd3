//! The tests that `cargo mutants` builds (docs/verification.md): a third of `main.rs`, compiled some hundred times.

#![forbid(unsafe_code)]

mod ccm;
mod collision_avoidance;
mod common;
mod exchange;
mod flocking_3d;
mod gate;
mod graceful_degradation;
mod group_key;
mod insider;
mod key_rotation;
mod late_authentication;
mod late_frames;
mod mixed_models;
mod mixing;
mod peer_auth;
mod probation;
