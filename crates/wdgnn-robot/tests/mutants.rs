//! Of the tests from outside, those that are about what `cargo mutants` changes (docs/verification.md): a third of what there is to build,
//! some hundred times. Everybody else runs them as part of `main.rs`.

#![forbid(unsafe_code)]

mod agreement;
mod ccm;
mod common;
mod exchange;
mod gate;
mod keeping_safe;
mod lateness;
mod other_models;
mod probation;
mod proving;
mod rekeying;
mod resealed;
mod sealed_link;
mod sealing;
mod separation;
mod space;
mod vouching;
