//! One robot of a swarm as a C library: `include/wdgnn.h` and a static library.
//!
//! The caller provides memory, a weight file and a key. The robot is the code of the simulator and of the firmware,
//! bit for bit. Nothing allocates, every error is a code with a message, and a reachable panic does not link.
//!
//! * `robot_type` — a task with a link profile and a security level, as one table in flash. Tables that a program
//!   does not name are not linked.
//! * `robot` — the operations of a robot of any type; `listener` — a frame decoder.
//! * `error`, `types` — error codes, structures and constants of the header.
//! * `api` — the functions of the header. Only `api`, `memory` and `robot_type` use `unsafe`.

#![no_std]
#![deny(unsafe_code)]
#![warn(missing_docs)]

// The host's standard library provides the panic handler.
#[cfg(not(target_os = "none"))]
extern crate std;

pub mod api;
pub mod error;
mod listener;
mod memory;
mod robot;
pub mod robot_type;
pub mod types;

/// Calls an undefined function, so that a program with a reachable panic does not link.
#[cfg(target_os = "none")]
#[panic_handler]
#[allow(unsafe_code, reason = "a function without a body can only be declared in an extern block")]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        safe fn wdgnn_a_panic_can_be_reached() -> !;
    }
    wdgnn_a_panic_can_be_reached()
}
