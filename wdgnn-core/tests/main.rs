//! All tests of the core from outside, in one program.

#![forbid(unsafe_code)]

mod blindness;
mod ccm;
mod common;
mod consensus;
mod dense_reference;
mod exchange;
mod folding;
mod frames;
mod gradients;
mod keeping_safe;
mod lateness;
mod permutation;
mod probation;
mod profiles;
mod restart;
mod rhythm;
mod sealing;
mod space;
mod tanh_every_float;
mod theorem_1;
mod tick_driver;
mod vectors;
mod vouching;
mod wariness;
mod weight_file;
mod wire_format;
