//! All tests of the chip from outside, in one program.

#![forbid(unsafe_code)]

mod cpu;
mod cpu_against_qemu;
mod cpu_exceptions;
mod cpu_machine;
mod cpu_patterns;
