//! TWIM (product specification, "TWIM — I²C compatible two-wire interface master with EasyDMA").
//!
//! Each bit takes one clock period. LASTTX and LASTRX mark the start of the last byte, so shortcuts
//! take effect at its end.

use crate::{
    i2c::Bus,
    peripheral::{Context, Peripheral, Registers},
    pins::{Pin, Pins},
};

registers! {
    STARTRX = 0x000, STARTTX = 0x008, STOP = 0x014, SUSPEND = 0x01c, RESUME = 0x020,
    LASTTX_STARTRX = 7, LASTTX_SUSPEND = 8, LASTTX_STOP = 9, LASTRX_STARTTX = 10, LASTRX_SUSPEND = 11,
    LASTRX_STOP = 12, ERRORSRC = 0x4c4, ADDRESS_NACK = 1 << 1, DATA_NACK = 1 << 2, ENABLE = 0x500,
    PSEL_SCL = 0x508, PSEL_SDA = 0x50c, FREQUENCY = 0x524, RXD_PTR = 0x534, RXD_MAXCNT = 0x538,
    RXD_AMOUNT = 0x53c, TXD_PTR = 0x544, TXD_MAXCNT = 0x548, TXD_AMOUNT = 0x54c, ADDRESS = 0x588;
    events: STOPPED = 0x104, ERROR = 0x124, SUSPENDED = 0x148, RXSTARTED = 0x14c, TXSTARTED = 0x150,
    LASTRX = 0x15c, LASTTX = 0x160
}
/// ENABLE: TWIM, and none of the other interfaces with these registers.
const ENABLED: u32 = 6;
/// Bits of a byte with its acknowledge bit.
const BYTE_BITS: u64 = 9;

/// Step of a transfer, with the time of its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    #[default]
    Idle,
    /// Start condition and address.
    Address(u64),
    Byte(u64),
    /// SCL is low until the next task: the buffer ended, or a byte was not acknowledged.
    Waiting,
    Suspended,
    StopCondition(u64),
    /// A line is held low, and the start condition never ends.
    Blocked,
}

/// EasyDMA transfer.
#[derive(Clone, Copy, Debug, Default)]
struct Transfer {
    is_read: bool,
    pointer: u32,
    count: u32,
    done: u32,
}

/// I²C controller.
#[derive(Clone, Debug, Default)]
pub struct Twim {
    registers: Registers,
    step: Step,
    transfer: Transfer,
    /// STARTRX (`true`) or STARTTX that takes effect at the next byte boundary.
    pending_start: Option<bool>,
    stop_requested: bool,
    suspend_requested: bool,
    error_source: u32,
}

impl Twim {
    /// Cycles per bit. FREQUENCY is the rate times 2³² / 16 MHz.
    fn bit_time(&self) -> u64 {
        (4 << 32) / u64::from(self.registers.get(FREQUENCY)).max(1)
    }

    fn lines(&self) -> Option<(Pin, Pin)> {
        let select = |register| Pin::selected(self.registers.get(register));
        Some((select(PSEL_SCL)?, select(PSEL_SDA)?))
    }

    fn bus<'a>(&self, pins: &'a mut Pins) -> Option<&'a mut Bus> {
        self.lines().and_then(|(scl, sda)| pins.bus(scl, sda))
    }

    /// Ends a transfer without a stop condition, as a reset or ENABLE does.
    pub(crate) fn abort(&mut self, pins: &mut Pins) {
        if self.step != Step::Idle
            && let Some(bus) = self.bus(pins)
        {
            bus.abort();
        }
        (self.step, self.pending_start) = (Step::Idle, None);
        (self.stop_requested, self.suspend_requested) = (false, false);
    }

    /// Begins with a start condition, or a repeated one.
    fn start(&mut self, is_read: bool, context: &mut Context<'_>) {
        let [pointer, count, amount] =
            if is_read { [RXD_PTR, RXD_MAXCNT, RXD_AMOUNT] } else { [TXD_PTR, TXD_MAXCNT, TXD_AMOUNT] };
        self.registers.set(amount, 0);
        let (pointer, count) = (self.registers.get(pointer), self.registers.get(count) & 0xffff);
        self.transfer = Transfer { is_read, pointer, count, done: 0 };
        let is_high =
            |(scl, sda)| context.pins.level(scl, context.now) && context.pins.level(sda, context.now);
        if self.step == Step::Idle && !self.lines().is_some_and(is_high) {
            self.step = Step::Blocked;
            return;
        }
        context.raise(if is_read { RXSTARTED } else { TXSTARTED });
        self.step = Step::Address(context.now + (1 + BYTE_BITS) * self.bit_time());
    }

    /// Continues at a byte boundary.
    fn next_step(&mut self, context: &mut Context<'_>) {
        if self.stop_requested {
            self.begin_stop(context.now);
        } else if self.suspend_requested {
            self.suspend_requested = false;
            self.step = Step::Suspended;
            context.raise(SUSPENDED);
        } else if let Some(is_read) = self.pending_start.take() {
            self.start(is_read, context);
        } else if self.transfer.done < self.transfer.count {
            self.begin_byte(context);
        } else {
            self.step = Step::Waiting;
        }
    }

    fn begin_byte(&mut self, context: &mut Context<'_>) {
        self.step = Step::Byte(context.now + BYTE_BITS * self.bit_time());
        if self.transfer.done + 1 < self.transfer.count {
            return;
        }
        let [start, suspend, stop] = if self.transfer.is_read {
            context.raise(LASTRX);
            [LASTRX_STARTTX, LASTRX_SUSPEND, LASTRX_STOP]
        } else {
            context.raise(LASTTX);
            [LASTTX_STARTRX, LASTTX_SUSPEND, LASTTX_STOP]
        };
        if self.registers.shortcut_enabled(start) {
            self.pending_start = Some(!self.transfer.is_read);
        }
        self.suspend_requested |= self.registers.shortcut_enabled(suspend);
        self.stop_requested |= self.registers.shortcut_enabled(stop);
    }

    fn begin_stop(&mut self, now: u64) {
        (self.stop_requested, self.suspend_requested, self.pending_start) = (false, false, None);
        self.step = Step::StopCondition(now + self.bit_time());
    }

    /// Waits for STOP after a byte that was not acknowledged.
    fn fail(&mut self, source: u32, context: &mut Context<'_>) {
        self.error_source |= source;
        self.registers.set(ERRORSRC, self.error_source);
        context.raise(ERROR);
        (self.pending_start, self.suspend_requested) = (None, false);
        if self.stop_requested { self.begin_stop(context.now) } else { self.step = Step::Waiting }
    }

    fn end_address(&mut self, context: &mut Context<'_>) {
        let (now, address) = (context.now, self.registers.get(ADDRESS) as u8 & 0x7f);
        let is_read = self.transfer.is_read;
        if self.bus(context.pins).is_some_and(|bus| bus.start(address, is_read, now)) {
            self.next_step(context);
        } else {
            self.fail(ADDRESS_NACK, context);
        }
    }

    fn end_byte(&mut self, context: &mut Context<'_>) {
        let (now, Transfer { is_read, pointer, done, .. }) = (context.now, self.transfer);
        let place = pointer.wrapping_add(done);
        self.transfer.done += 1;
        self.registers.set(if is_read { RXD_AMOUNT } else { TXD_AMOUNT }, self.transfer.done);
        if is_read {
            let byte = self.bus(context.pins).map_or(0xff, |bus| bus.read(now));
            context.memory.dma_write(place, &[byte]);
        } else {
            let byte = context.memory.dma_read(place, 1)[0];
            if !self.bus(context.pins).is_some_and(|bus| bus.write(byte, now)) {
                return self.fail(DATA_NACK, context);
            }
        }
        self.next_step(context);
    }
}

impl Peripheral for Twim {
    fn registers(&mut self) -> &mut Registers {
        &mut self.registers
    }

    fn reset_values() -> &'static [(u32, u32)] {
        &[(PSEL_SCL, u32::MAX), (PSEL_SDA, u32::MAX), (FREQUENCY, 0x0400_0000)]
    }

    fn trigger(&mut self, offset: u32, context: &mut Context<'_>) {
        if self.registers.get(ENABLE) != ENABLED {
            return;
        }
        match (offset, self.step) {
            (STARTRX | STARTTX, Step::Idle | Step::Waiting) => self.start(offset == STARTRX, context),
            (STARTRX | STARTTX, Step::Address(_) | Step::Byte(_) | Step::Suspended) => {
                self.pending_start = Some(offset == STARTRX);
            }
            (STOP, Step::Waiting) => self.begin_stop(context.now),
            // Without a transfer, STOP takes effect in the next one.
            (STOP, Step::Idle | Step::Address(_) | Step::Byte(_) | Step::Suspended) => {
                self.stop_requested = true;
            }
            (SUSPEND, Step::Address(_) | Step::Byte(_)) => self.suspend_requested = true,
            (SUSPEND, Step::Waiting) => {
                self.step = Step::Suspended;
                context.raise(SUSPENDED);
            }
            (RESUME, Step::Suspended) => self.next_step(context),
            _ => {}
        }
    }

    fn on_write(&mut self, offset: u32, value: u32, context: &mut Context<'_>) {
        match offset {
            ENABLE if value != ENABLED => self.abort(context.pins),
            // Writing 1 clears a bit.
            ERRORSRC => {
                self.error_source &= !value;
                self.registers.set(ERRORSRC, self.error_source);
            }
            _ => {}
        }
    }

    fn next_due(&self) -> Option<u64> {
        match self.step {
            Step::Address(at) | Step::Byte(at) | Step::StopCondition(at) => Some(at),
            _ => None,
        }
    }

    fn on_due(&mut self, context: &mut Context<'_>) {
        match self.step {
            Step::Address(_) => self.end_address(context),
            Step::Byte(_) => self.end_byte(context),
            Step::StopCondition(_) => {
                let now = context.now;
                if let Some(bus) = self.bus(context.pins) {
                    bus.stop(now);
                }
                self.step = Step::Idle;
                context.raise(STOPPED);
            }
            _ => {}
        }
    }
}
