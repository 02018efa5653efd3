//! All tests of the core from outside, in one program.

#![forbid(unsafe_code)]

mod agreement;
mod blindness;
mod ccm;
mod common;
mod consensus;
mod dense_reference;
mod exchange;
mod folding;
mod frame_types;
mod frames;
mod gate;
mod gradients;
mod keeping_safe;
mod lateness;
mod other_models;
mod permutation;
mod probation;
mod profiles;
mod proving;
mod rekeying;
mod resealed;
mod restart;
mod rhythm;
mod sealed_link;
mod sealing;
mod separation;
mod space;
mod tanh_every_float;
mod tick_driver;
mod vectors;
mod vouching;
mod wariness;
mod weight_file;
mod wire_format;
