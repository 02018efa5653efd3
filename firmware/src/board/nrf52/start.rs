//! From reset to a chip that is ready: why it was reset, clocks, cache, supply, debug port, watchdog.

use core::ptr;

use nrf_pac::{CLOCK, NVMC, POWER, RNG, UICR, WDT, nvmc, wdt};

use super::Wiring;

/// Half a second without a finished tick is a robot out of control: it starts again. In cycles of the 32 kHz clock.
const WATCHDOG_CYCLES: u32 = 32_768 / 2;
/// UICR's APPROTECT: closed, and open to hardware (product specification, "Access port protection").
const CLOSED: u32 = 0xffff_ff00;
const OPEN: u32 = 0x0000_005a;
/// The register of newer chips that keeps the port open, which firmware has to write at every start.
const APPROTECT_DISABLE: *mut u32 = ptr::with_exposed_provenance_mut(0x4000_0558);

/// Why the chip was reset, in words. Several may be true.
pub fn reasons(bits: u32) -> &'static str {
    match bits {
        0 => "power came",
        _ if bits & 0b10 != 0 => "the watchdog",
        _ if bits & 0b1000 != 0 => "the processor locked up",
        _ if bits & 0b100 != 0 => "the program asked for it",
        _ if bits & 1 != 0 => "the reset pin",
        _ => "waking up",
    }
}

/// Whether the robot may have been flying when it was reset: then there is no time to lose.
pub fn in_flight(bits: u32) -> bool {
    bits & 0b1110 != 0
}

/// Starts the chip and returns why it was reset: RESETREAS, which is cleared.
pub fn start<W: Wiring>(debug_port_open: bool) -> u32 {
    // A watchdog of before a soft reset goes on.
    feed();
    let reasons = POWER.resetreas().read().0;
    POWER.resetreas().write(|w| w.0 = reasons);
    debug_port(debug_port_open);
    if let Some(code) = W::OUTPUT_VOLTAGE {
        fix(UICR.regout0().as_ptr().cast(), 0xffff_fff8 | code);
    }
    // Flash has two wait states, which the cache hides.
    NVMC.icachecnf().write(|w| w.set_cacheen(true));
    if W::DCDC {
        POWER.dcdcen().write(|w| w.set_dcdcen(true));
    }
    // The radio works on the crystal only, and so does the robot's clock.
    CLOCK.events_hfclkstarted().write_value(0);
    CLOCK.tasks_hfclkstart().write_value(1);
    while CLOCK.events_hfclkstarted().read() == 0 {}
    // Sleeping, the processor wakes on anything that is pending, enabled or not: the AES engine needs no handler.
    // SAFETY: nobody else has a hold of the system control block yet.
    unsafe { (*cortex_m::peripheral::SCB::PTR).scr.modify(|scr| scr | 1 << 4) };
    reasons
}

/// Closes the debug port for good, or keeps it open. What was closed opens again only by erasing the whole chip.
fn debug_port(open: bool) {
    if open {
        // SAFETY: a register that older chips ignore.
        unsafe { ptr::write_volatile(APPROTECT_DISABLE, OPEN) };
    }
    fix(UICR.approtect().as_ptr().cast(), if open { OPEN } else { CLOSED });
}

/// Writes a word of the user information, if that is possible and not so already; then the chip starts again, with it.
fn fix(place: *mut u32, wanted: u32) {
    // SAFETY: a register of the chip's, read and nothing else.
    let now = unsafe { ptr::read_volatile(place) };
    // Only ones become zeros, and an erased word (all ones) is what there is to begin with.
    if now & wanted == wanted && now != wanted {
        super::flash::write_word(place, wanted);
        cortex_m::peripheral::SCB::sys_reset();
    }
}

/// Starts the watchdog, unless it runs already.
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
    feed();
}

/// Feeds the watchdog.
pub fn feed() {
    WDT.rr(0).write(|w| w.set_rr(wdt::vals::Rr::Reload));
}

/// Nobody feeds the watchdog any more, so that everything is tried again: what was in the way may have passed.
pub fn give_up() -> ! {
    start_watchdog();
    loop {
        cortex_m::asm::wfe();
    }
}

/// A number by chance, from the chip's generator.
pub fn chance() -> u32 {
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

/// The flash controller's modes, for those who write.
pub fn flash_mode(mode: nvmc::vals::Wen) {
    NVMC.config().write(|w| w.set_wen(mode));
    ready();
}

/// Waits until flash is ready: the processor stands still while it is written, so this takes a few turns.
pub fn ready() {
    while !NVMC.ready().read().ready() {}
}
