//! Microsecond clock: TIMER3 on the 32 MHz crystal.
//!
//! The radio needs the crystal anyway, and a control period is a whole number of microseconds. No
//! 32 kHz crystal is needed.
//!
//! Compare channels: 0 wakes the CPU for the next tick, 1 starts the robot's slot, 2 captures the
//! end of a frame (through PPI), 3 reads the current time, 4 is a timeout.

use core::cell::Cell;

use critical_section::Mutex;
use nrf_pac::{TIMER3, interrupt, timer::vals};

use super::tdma;

const TICK: usize = 0;
const SLOT: usize = 1;
const FRAME: usize = 2;
const NOW: usize = 3;
const TIMEOUT: usize = 4;

/// Last value of [`now`]. The 32-bit counter wraps after 71 minutes; the robot reads the time in
/// every tick.
static LAST: Mutex<Cell<u64>> = Mutex::new(Cell::new(0));

/// Starts the clock. The crystal must be running.
pub fn start() {
    TIMER3.tasks_stop().write_value(1);
    TIMER3.tasks_clear().write_value(1);
    TIMER3.mode().write(|w| w.set_mode(vals::Mode::Timer));
    TIMER3.bitmode().write(|w| w.set_bitmode(vals::Bitmode::_32bit));
    // 16 MHz / 2⁴.
    TIMER3.prescaler().write(|w| w.set_prescaler(4));
    TIMER3.tasks_start().write_value(1);
    // SAFETY: the handler below uses only statics that are initialized at compile time.
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

/// Extends the lower 32 bits of a time within the last 71 minutes to 64 bits.
pub fn extend(low: u32) -> u64 {
    let now = now();
    now - u64::from((now as u32).wrapping_sub(low))
}

/// Lower 32 bits of the time at the end of the last received frame.
pub fn end_of_frame() -> u32 {
    TIMER3.cc(FRAME).read()
}

/// Address of the capture task for the end of a frame, for PPI.
pub fn frame_capture_task() -> u32 {
    TIMER3.tasks_capture(FRAME).as_ptr().expose_provenance() as u32
}

/// Sleeps until `at`.
pub fn sleep_until(at: u64) {
    TIMER3.events_compare(TICK).write_value(0);
    TIMER3.cc(TICK).write_value(at as u32);
    TIMER3.intenset().write(|w| w.set_compare(TICK, true));
    while now() < at {
        // Returns at once if an interrupt occurred since the check.
        cortex_m::asm::wfe();
    }
}

/// Wakes the CPU after a number of microseconds. Returns the lower 32 bits of that time.
#[cfg(sealed)]
pub fn set_timeout(microseconds: u32) -> u32 {
    TIMER3.tasks_capture(TIMEOUT).write_value(1);
    let at = TIMER3.cc(TIMEOUT).read().wrapping_add(microseconds);
    TIMER3.cc(TIMEOUT).write_value(at);
    TIMER3.events_compare(TIMEOUT).write_value(0);
    TIMER3.intenset().write(|w| w.set_compare(TIMEOUT, true));
    at
}

/// Cancels the timeout.
pub fn clear_timeout() {
    TIMER3.intenclr().write(|w| w.set_compare(TIMEOUT, true));
}

/// Whether the time returned by [`set_timeout`] has passed.
#[cfg(sealed)]
pub fn has_passed(at: u32) -> bool {
    TIMER3.tasks_capture(NOW).write_value(1);
    TIMER3.cc(NOW).read().wrapping_sub(at).cast_signed() >= 0
}

/// Sets the alarm for the robot's slot. An alarm in the past never fires.
pub fn set_slot_alarm(at: u64) {
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
    if TIMER3.events_compare(TIMEOUT).read() != 0 {
        TIMER3.events_compare(TIMEOUT).write_value(0);
        clear_timeout();
    }
    if TIMER3.events_compare(SLOT).read() != 0 {
        TIMER3.events_compare(SLOT).write_value(0);
        TIMER3.intenclr().write(|w| w.set_compare(SLOT, true));
        tdma::on_slot_start();
    }
}
