//! One robot of the swarm, for firmware in C: `include/wdgnn.h` and a static library.
//!
//! The caller gives the memory, the weight file's bytes and the key; the robot is the one that the simulator flies and the boards
//! carry, bit for bit. Nothing here allocates, every error is a value with a sentence, and a panic that could be reached would not
//! link.
//!
//! * `kind` — a task on a link profile, sealed or not: a table in flash each. Those that nobody names are not linked.
//! * `body` — a robot's verbs, for any kind; `listener` — frames read without being a robot.
//! * `error`, `told` — what C is told.
//! * `api` — what C calls. `unsafe` is here and in `place`, where memory becomes a robot, and nowhere else.

#![no_std]
#![deny(unsafe_code)]
#![warn(missing_docs)]

// On a machine with an operating system, panics are its business; there are none to be had.
#[cfg(not(target_os = "none"))]
extern crate std;

pub mod api;
mod body;
pub mod error;
pub mod kind;
mod listener;
mod place;
pub mod told;

/// Never called: whatever could panic would call a function that there is none of, and would not link.
#[cfg(target_os = "none")]
#[panic_handler]
#[allow(unsafe_code, reason = "a function without a body can only be named in an extern block")]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        safe fn wdgnn_a_panic_can_be_reached() -> !;
    }
    wdgnn_a_panic_can_be_reached()
}
