//! Integration tests of the robot crates, linked into one program.

#![forbid(unsafe_code)]

mod ccm;
mod collision_avoidance;
mod common;
mod consensus;
mod control_loop;
mod dense_reference;
mod encodings;
mod examples;
mod exchange;
mod flocking_3d;
mod folding;
mod frame_types;
mod gate;
mod graceful_degradation;
mod gradients;
mod group_key;
mod hostile_frames;
mod insider;
mod key_rotation;
mod late_authentication;
mod late_frames;
mod mixed_models;
mod mixing;
mod peer_auth;
mod probation;
mod restart;
mod robust_trust;
mod sensor_loss;
mod tanh_accuracy;
mod tdma;
mod vectors;
mod weight_file;
mod wire_format;
