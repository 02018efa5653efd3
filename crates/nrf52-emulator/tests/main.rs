//! Integration tests, linked into one program.

#![forbid(unsafe_code)]

mod chip;
mod cpu;
mod cpu_against_qemu;
mod cpu_exceptions;
mod cpu_faults;
mod cpu_machine;
mod cpu_patterns;
mod cpu_sleep;
mod cpu_system_registers;
mod i2c;
mod pins;
mod program;
