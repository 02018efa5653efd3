//! The robot's clock: TIMER3 counts microseconds of the 32 MHz crystal, which the radio keeps running anyway. No 32 kHz crystal is
//! needed, and a period has no rounding.
//!
//! Its channels: 0 wakes a sleeping robot for its next tick, 1 begins the robot's slot, 2 takes the time of a frame's end
//! (without the processor), 3 tells the time, 4 wakes whoever waits for something that may never come.

use core::cell::Cell;

use critical_section::Mutex;
use nrf_pac::{TIMER3, interrupt, timer::vals};

use super::air;

const TICK: usize = 0;
const SLOT: usize = 1;
const FRAME: usize = 2;
const NOW: usize = 3;
const GUARD: usize = 4;

/// The time when it was last asked for: the counter's 32 bits last for 71 minutes, the robot asks in every tick.
static LAST: Mutex<Cell<u64>> = Mutex::new(Cell::new(0));

/// Starts the clock. The crystal runs already.
pub fn start() {
    TIMER3.tasks_stop().write_value(1);
    TIMER3.tasks_clear().write_value(1);
    TIMER3.mode().write(|w| w.set_mode(vals::Mode::Timer));
    TIMER3.bitmode().write(|w| w.set_bitmode(vals::Bitmode::_32bit));
    // 16 MHz / 2⁴.
    TIMER3.prescaler().write(|w| w.set_prescaler(4));
    TIMER3.tasks_start().write_value(1);
    // SAFETY: its handler is below, and what it touches is there from the start.
    unsafe { cortex_m::peripheral::NVIC::unmask(nrf_pac::Interrupt::TIMER3) };
}

/// Microseconds since the start.
pub fn now() -> u64 {
    critical_section::with(|section| {
        TIMER3.tasks_capture(NOW).write_value(1);
        let last = LAST.borrow(section).get();
        let now = last + u64::from(TIMER3.cc(NOW).read().wrapping_sub(last as u32));
        LAST.borrow(section).set(now);
        now
    })
}

/// The whole of a time in the last hour of which only 32 bits are known.
pub fn whole(low: u32) -> u64 {
    let now = now();
    now - u64::from((now as u32).wrapping_sub(low))
}

/// The end of the frame that the radio has just received, in its lower 32 bits.
pub fn end_of_frame() -> u32 {
    TIMER3.cc(FRAME).read()
}

/// Where the radio's end of a frame is taken to, for the interconnect.
pub fn frame_task() -> u32 {
    TIMER3.tasks_capture(FRAME).as_ptr().expose_provenance() as u32
}

/// Sleeps until then.
pub fn sleep_until(at: u64) {
    TIMER3.events_compare(TICK).write_value(0);
    TIMER3.cc(TICK).write_value(at as u32);
    TIMER3.intenset().write(|w| w.set_compare(TICK, true));
    while now() < at {
        // Any interrupt wakes it, also one that came since it looked.
        cortex_m::asm::wfe();
    }
}

/// Wakes a sleeping processor after so many microseconds, and says when that is, in the lower 32 bits.
pub fn wake_after(microseconds: u32) -> u32 {
    TIMER3.tasks_capture(GUARD).write_value(1);
    let at = TIMER3.cc(GUARD).read().wrapping_add(microseconds);
    TIMER3.cc(GUARD).write_value(at);
    TIMER3.events_compare(GUARD).write_value(0);
    TIMER3.intenset().write(|w| w.set_compare(GUARD, true));
    at
}

/// Nobody waits any more.
pub fn wake_no_more() {
    TIMER3.intenclr().write(|w| w.set_compare(GUARD, true));
}

/// Whether the time of `wake_after` has come.
pub fn has_come(at: u32) -> bool {
    TIMER3.tasks_capture(NOW).write_value(1);
    TIMER3.cc(NOW).read().wrapping_sub(at).cast_signed() >= 0
}

/// The robot's slot begins then; what is past already begins never.
pub fn begin_slot_at(at: u64) {
    TIMER3.events_compare(SLOT).write_value(0);
    TIMER3.cc(SLOT).write_value(at as u32);
    TIMER3.intenset().write(|w| w.set_compare(SLOT, true));
}

#[interrupt]
fn TIMER3() {
    if TIMER3.events_compare(TICK).read() != 0 {
        TIMER3.events_compare(TICK).write_value(0);
        TIMER3.intenclr().write(|w| w.set_compare(TICK, true));
    }
    if TIMER3.events_compare(GUARD).read() != 0 {
        TIMER3.events_compare(GUARD).write_value(0);
        wake_no_more();
    }
    if TIMER3.events_compare(SLOT).read() != 0 {
        TIMER3.events_compare(SLOT).write_value(0);
        TIMER3.intenclr().write(|w| w.set_compare(SLOT, true));
        air::slot_begins();
    }
}
