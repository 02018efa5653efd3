//! Chip start-up: reset reason, clocks, cache, supply, debug port and watchdog.

use core::ptr;

use nrf_pac::{CLOCK, NVMC, POWER, RNG, UICR, WDT, nvmc, wdt};

use super::Wiring;

/// Watchdog timeout in cycles of the 32 kHz clock: 0.5 s without a finished tick.
const WATCHDOG_CYCLES: u32 = 32_768 / 2;
/// UICR.APPROTECT values for a closed and an open debug port (product specification, "Access port
/// protection").
const CLOSED: u32 = 0xffff_ff00;
const OPEN: u32 = 0x0000_005a;
/// APPROTECT.DISABLE register of newer chip revisions. Firmware must write it at each start to keep
/// the port open.
const APPROTECT_DISABLE: *mut u32 = ptr::with_exposed_provenance_mut(0x4000_0558);

/// Text for a RESETREAS value. Names the most severe reason if several bits are set.
pub fn reset_reason(bits: u32) -> &'static str {
    match bits {
        0 => "power-on or brown-out",
        _ if bits & 0b10 != 0 => "watchdog",
        _ if bits & 0b1000 != 0 => "CPU lockup",
        _ if bits & 0b100 != 0 => "software reset",
        _ if bits & 1 != 0 => "reset pin",
        _ => "wake-up from System OFF",
    }
}

/// Whether the robot may have been flying at the reset. It then skips slow work such as erasing
/// flash.
pub fn was_flying(bits: u32) -> bool {
    bits & 0b1110 != 0
}

/// Starts the chip, clears RESETREAS and returns its value.
pub fn init<W: Wiring>(debug_port_open: bool) -> u32 {
    // A soft reset does not stop the watchdog.
    feed_watchdog();
    let reasons = POWER.resetreas().read().0;
    POWER.resetreas().write(|w| w.0 = reasons);
    configure_debug_port(debug_port_open);
    if let Some(code) = W::OUTPUT_VOLTAGE {
        write_uicr(UICR.regout0().as_ptr().cast(), 0xffff_fff8 | code);
    }
    // The cache hides the two wait states of the flash.
    NVMC.icachecnf().write(|w| w.set_cacheen(true));
    // All boards have the inductors of the DC/DC converter.
    POWER.dcdcen().write(|w| w.set_dcdcen(true));
    // Radio and slot timing need the crystal oscillator.
    CLOCK.events_hfclkstarted().write_value(0);
    CLOCK.tasks_hfclkstart().write_value(1);
    while CLOCK.events_hfclkstarted().read() == 0 {}
    // SEVONPEND: a pending interrupt ends WFE also if it is disabled. The AES driver uses that.
    // SAFETY: no other code uses the system control block yet.
    unsafe { (*cortex_m::peripheral::SCB::PTR).scr.modify(|scr| scr | 1 << 4) };
    reasons
}

/// Closes the debug port, or keeps it open. Only a full chip erase opens a closed port.
fn configure_debug_port(open: bool) {
    if open {
        // SAFETY: older chip revisions ignore writes to this register.
        unsafe { ptr::write_volatile(APPROTECT_DISABLE, OPEN) };
    }
    write_uicr(UICR.approtect().as_ptr().cast(), if open { OPEN } else { CLOSED });
}

/// Writes a UICR word and resets the chip, if the word differs and can be written.
fn write_uicr(place: *mut u32, wanted: u32) {
    // SAFETY: UICR words are readable.
    let current = unsafe { ptr::read_volatile(place) };
    // A write can only clear bits. An erased word is all ones.
    if current & wanted == wanted && current != wanted {
        super::flash::write_word(place, wanted);
        cortex_m::peripheral::SCB::sys_reset();
    }
}

/// Starts the watchdog if it does not run yet.
pub fn start_watchdog() {
    if !WDT.runstatus().read().runstatus() {
        WDT.config().write(|w| {
            w.set_sleep(wdt::vals::Sleep::Run);
            w.set_halt(wdt::vals::Halt::Pause);
        });
        WDT.crv().write_value(WATCHDOG_CYCLES);
        WDT.rren().write(|w| w.set_rr(0, true));
        WDT.tasks_start().write_value(1);
    }
    feed_watchdog();
}

/// Feeds the watchdog.
pub fn feed_watchdog() {
    WDT.rr(0).write(|w| w.set_rr(wdt::vals::Rr::Reload));
}

/// Waits for the watchdog reset, because the cause of the failure may be temporary.
pub fn halt() -> ! {
    #[cfg(feature = "buggy")]
    super::buggy::stop_motors();
    start_watchdog();
    loop {
        cortex_m::asm::wfe();
    }
}

/// Random number from the hardware generator.
pub fn random() -> u32 {
    RNG.config().write(|w| w.set_dercen(true));
    RNG.tasks_start().write_value(1);
    let mut number = 0;
    for _ in 0..4 {
        RNG.events_valrdy().write_value(0);
        while RNG.events_valrdy().read() == 0 {}
        number = number << 8 | u32::from(RNG.value().read().value());
    }
    RNG.tasks_stop().write_value(1);
    number
}

/// Sets the mode of the flash controller: read, write or erase.
pub fn set_flash_mode(mode: nvmc::vals::Wen) {
    NVMC.config().write(|w| w.set_wen(mode));
    wait_for_flash();
}

/// Waits until the flash controller is ready. The CPU stalls during a write, so this takes a few
/// iterations.
pub fn wait_for_flash() {
    while !NVMC.ready().read().ready() {}
}
