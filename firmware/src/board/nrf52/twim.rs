//! I²C controller (product specification, "TWIM").
//!
//! Every transfer ends: with a stop condition, or, on a bus that hangs, after [`TIMEOUT_US`]. A device that was reset in
//! the middle of a byte may hold the data line low, so nine clock pulses follow.

use core::{
    ptr,
    sync::atomic::{Ordering, compiler_fence},
};

use embedded_hal::i2c::{ErrorKind, ErrorType, I2c, NoAcknowledgeSource, Operation};
use nrf_pac::{
    Interrupt,
    twim::{self, regs, vals},
};

use super::{pin::Pin, time};

/// Longest transfer in bytes.
const MAX_BYTES: usize = 16;
/// Timeout of a transfer: 17 bytes at 100 kbit/s take 1.6 ms.
const TIMEOUT_US: u32 = 3_000;
/// Half a period of the clock pulses that clear a bus, in cycles: 5 µs.
const HALF_PERIOD: u32 = 5 * 64;

/// Data rate. At 400 kbit/s, the chip violates the timing of the bus (erratum 219).
pub const FREQUENCY: vals::Frequency = vals::Frequency::K100;

/// Controller of one bus.
pub struct Twim {
    registers: twim::Twim,
    interrupt: Interrupt,
    scl: Pin,
    sda: Pin,
    /// Whether the processor sleeps during transfers. In a fault handler, it does not.
    sleeps: bool,
}

impl core::fmt::Debug for Twim {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Twim").field("scl", &self.scl).field("sda", &self.sda).finish_non_exhaustive()
    }
}

/// Buffer of a transfer. DMA reads and writes RAM only.
#[repr(C, align(4))]
struct Buffer([u8; MAX_BYTES]);

impl Twim {
    /// Opens a bus: I²C 0 or 1 of the chip, with its interrupt, on these pins. Clears a bus that hangs.
    pub fn new(registers: twim::Twim, interrupt: Interrupt, [scl, sda]: [Pin; 2], sleeps: bool) -> Self {
        let bus = Self { registers, interrupt, scl, sda, sleeps };
        bus.start();
        bus
    }

    fn start(&self) {
        let Self { registers, scl, sda, .. } = *self;
        registers.enable().write(|w| w.set_enable(vals::Enable::Disabled));
        // While the controller is disabled, the pins have these levels.
        scl.make_open_drain();
        sda.make_open_drain();
        if !sda.is_high() {
            clear_bus(scl, sda);
        }
        registers.psel().scl().write_value(scl.select());
        registers.psel().sda().write_value(sda.select());
        registers.frequency().write(|w| w.set_frequency(FREQUENCY));
        registers.enable().write(|w| w.set_enable(vals::Enable::Enabled));
    }

    /// Waits for the end of a transfer or an error. Returns false after the timeout.
    fn wait(&self, until_stopped: bool) -> bool {
        let registers = self.registers;
        let end = time::set_timeout(TIMEOUT_US);
        let done = loop {
            let failed = !until_stopped && registers.events_error().read() != 0;
            if registers.events_stopped().read() != 0 || failed {
                break true;
            }
            if time::has_passed(end) {
                break false;
            }
            if self.sleeps {
                cortex_m::asm::wfe();
            }
        };
        time::clear_timeout();
        done
    }

    /// Runs a transfer: a write, a read, or a write and a read after a repeated start condition.
    fn transfer(&mut self, address: u8, write: &[u8], read: &mut [u8]) -> Result<(), ErrorKind> {
        if write.len() > MAX_BYTES || read.len() > MAX_BYTES || (write.is_empty() && read.is_empty()) {
            return Err(ErrorKind::Other);
        }
        let registers = self.registers;
        let (mut out, mut into) = (Buffer([0; MAX_BYTES]), Buffer([0; MAX_BYTES]));
        out.0.iter_mut().zip(write).for_each(|(to, from)| *to = *from);
        registers.address().write(|w| w.set_address(address));
        registers.dma().tx().ptr().write_value((&raw const out).expose_provenance() as u32);
        registers.dma().tx().maxcnt().write(|w| w.0 = write.len() as u32);
        registers.dma().rx().ptr().write_value((&raw mut into).expose_provenance() as u32);
        registers.dma().rx().maxcnt().write(|w| w.0 = read.len() as u32);
        registers.shorts().write(|w| {
            w.set_lasttx_dma_rx_start(!read.is_empty());
            w.set_lasttx_stop(read.is_empty());
            w.set_lastrx_stop(true);
        });
        registers.events_stopped().write_value(0);
        registers.events_error().write_value(0);
        registers.errorsrc().write_value(regs::Errorsrc(7));
        // The interrupts wake the CPU but stay masked in the NVIC, so no handler runs.
        registers.intenset().write(|w| {
            w.set_stopped(true);
            w.set_error(true);
        });
        compiler_fence(Ordering::SeqCst);
        if write.is_empty() {
            registers.tasks_dma().rx().start().write_value(1);
        } else {
            registers.tasks_dma().tx().start().write_value(1);
        }
        let result = self.finish();
        compiler_fence(Ordering::SeqCst);
        registers.intenclr().write(|w| {
            w.set_stopped(true);
            w.set_error(true);
        });
        cortex_m::peripheral::NVIC::unpend(self.interrupt);
        for (index, to) in read.iter_mut().enumerate() {
            // SAFETY: the controller has stopped or is disabled, and `read` is not longer than the buffer.
            *to = unsafe { ptr::read_volatile((&raw const into.0).cast::<u8>().wrapping_add(index)) };
        }
        result
    }

    /// Waits for the stop condition.
    fn finish(&self) -> Result<(), ErrorKind> {
        let registers = self.registers;
        let mut done = self.wait(false);
        let source = registers.errorsrc().read();
        if done && registers.events_error().read() != 0 {
            // An error does not stop the controller.
            registers.tasks_resume().write_value(1);
            registers.tasks_stop().write_value(1);
            registers.events_error().write_value(0);
            done = self.wait(true);
        }
        if !done {
            self.start();
            return Err(ErrorKind::Bus);
        }
        if source.anack() {
            Err(ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address))
        } else if source.dnack() {
            Err(ErrorKind::NoAcknowledge(NoAcknowledgeSource::Data))
        } else if source.0 != 0 {
            Err(ErrorKind::Overrun)
        } else {
            Ok(())
        }
    }
}

/// Sends nine clock pulses, so that a device finishes its byte, and a stop condition.
fn clear_bus(scl: Pin, sda: Pin) {
    for _ in 0..9 {
        scl.set(false);
        cortex_m::asm::delay(HALF_PERIOD);
        scl.set(true);
        cortex_m::asm::delay(HALF_PERIOD);
    }
    sda.set(false);
    cortex_m::asm::delay(HALF_PERIOD);
    sda.set(true);
    cortex_m::asm::delay(HALF_PERIOD);
}

impl ErrorType for Twim {
    type Error = ErrorKind;
}

impl I2c for Twim {
    /// A write and a read behind it are one transfer; other operations end with a stop condition.
    fn transaction(&mut self, address: u8, operations: &mut [Operation<'_>]) -> Result<(), ErrorKind> {
        let mut rest = operations.iter_mut().peekable();
        while let Some(operation) = rest.next() {
            match operation {
                Operation::Write(bytes) => {
                    if let Some(Operation::Read(into)) =
                        rest.next_if(|next| matches!(next, Operation::Read(_)))
                    {
                        self.transfer(address, bytes, into)?;
                    } else {
                        self.transfer(address, bytes, &mut [])?;
                    }
                }
                Operation::Read(into) => self.transfer(address, &[], into)?,
            }
        }
        Ok(())
    }
}
