//! Serial line to a companion, or from a gateway to a PC: UARTE0 (product specification, "UARTE").
//!
//! Reception runs on DMA alone: the transfer restarts itself on a ring buffer of 1 KiB, and TIMER1
//! counts the bytes through PPI. No interrupt must be served in time. If the reader is more than a
//! ring behind, it loses bytes and resynchronizes at the next message.

use core::{
    cell::UnsafeCell,
    convert::Infallible,
    ptr,
    sync::atomic::{Ordering, compiler_fence},
};

use nrf_pac::{PPI, TIMER1, UARTE0, timer, uarte::vals};

use super::pin::Pin;

/// Ring size in bytes, 22 ms at a robot's baud rate. A power of two, so that the counter may wrap.
const RING_LEN: usize = 1024;
/// Maximum length of a write.
pub const MAX_WRITE: usize = 64;
#[cfg(not(feature = "buggy"))]
/// Iteration limit of the loop that waits for the receiver to stop: four bytes, 87 µs.
const MAX_POLLS: u32 = 10_000;

struct Ring(UnsafeCell<[u8; RING_LEN]>);
struct TxBuffer(UnsafeCell<[u8; MAX_WRITE]>);

// SAFETY: DMA writes the ring, and the driver reads single bytes with volatile reads.
unsafe impl Sync for Ring {}
// SAFETY: the driver writes the buffer only while no transfer runs.
unsafe impl Sync for TxBuffer {}

static RX_RING: Ring = Ring(UnsafeCell::new([0; RING_LEN]));
static TX_BUFFER: TxBuffer = TxBuffer(UnsafeCell::new([0; MAX_WRITE]));

/// Receiver.
#[derive(Debug)]
pub struct Input {
    read: u16,
}

/// Transmitter.
#[derive(Debug)]
pub struct Output {
    started: bool,
}

/// Opens the serial line.
pub fn open(receive: Pin, send: Pin, rate: vals::Baudrate) -> (Input, Output) {
    // The idle level is high. The pull-up keeps an unconnected receiver idle.
    send.make_output(true);
    receive.pull_up();
    UARTE0.psel().rxd().write_value(receive.select());
    UARTE0.psel().txd().write_value(send.select());
    UARTE0.baudrate().write(|w| w.set_baudrate(rate));
    UARTE0.enable().write(|w| w.set_enable(vals::Enable::Enabled));

    TIMER1.tasks_stop().write_value(1);
    TIMER1.mode().write(|w| w.set_mode(timer::vals::Mode::LowPowerCounter));
    TIMER1.bitmode().write(|w| w.set_bitmode(timer::vals::Bitmode::_16bit));
    TIMER1.tasks_start().write_value(1);
    let event = UARTE0.events_rxdrdy().as_ptr().expose_provenance() as u32;
    let task = TIMER1.tasks_count().as_ptr().expose_provenance() as u32;
    PPI.ch(1).eep().write_value(event);
    PPI.ch(1).tep().write_value(task);
    PPI.chenset().write(|w| w.set_ch(1, true));

    let mut input = Input { read: 0 };
    input.start();
    (input, Output { started: false })
}

impl Input {
    fn start(&mut self) {
        TIMER1.tasks_clear().write_value(1);
        self.read = 0;
        let dma = UARTE0.dma().rx();
        dma.ptr().write_value(RX_RING.0.get().expose_provenance() as u32);
        dma.maxcnt().write(|w| w.set_maxcnt(RING_LEN as u16));
        UARTE0.shorts().write(|w| w.set_endrx_startrx(true));
        UARTE0.tasks_dma().rx().start().write_value(1);
    }

    #[cfg(not(feature = "buggy"))]
    /// Restarts the receiver after a line error.
    pub fn restart(&mut self) {
        UARTE0.shorts().write(|_| {});
        UARTE0.events_rxto().write_value(0);
        UARTE0.tasks_dma().rx().stop().write_value(1);
        for _ in 0..MAX_POLLS {
            if UARTE0.events_rxto().read() != 0 {
                break;
            }
        }
        UARTE0.errorsrc().write_value(UARTE0.errorsrc().read());
        self.start();
    }

    /// Number of received bytes that were not read yet.
    fn waiting(&self) -> u16 {
        TIMER1.tasks_capture(0).write_value(1);
        (TIMER1.cc(0).read() as u16).wrapping_sub(self.read)
    }
}

impl embedded_io::ErrorType for Input {
    type Error = Infallible;
}

impl embedded_io::ReadReady for Input {
    fn read_ready(&mut self) -> Result<bool, Infallible> {
        Ok(self.waiting() > 0)
    }
}

impl embedded_io::Read for Input {
    /// Never blocks. Returns 0 if no byte has arrived.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
        let waiting = self.waiting();
        if usize::from(waiting) > RING_LEN {
            // Overrun: drop the ring's content and continue with new bytes.
            self.read = self.read.wrapping_add(waiting);
            return Ok(0);
        }
        compiler_fence(Ordering::SeqCst);
        let count = buffer.len().min(waiting.into());
        for slot in buffer.iter_mut().take(count) {
            let place = RX_RING.0.get().cast::<u8>().wrapping_add(usize::from(self.read) % RING_LEN);
            // SAFETY: the address is inside the ring. A byte is read atomically while DMA may write
            // others.
            *slot = unsafe { ptr::read_volatile(place) };
            self.read = self.read.wrapping_add(1);
        }
        Ok(count)
    }
}

/// The previous write is still in progress, or the message has an invalid length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the serial line is busy")]
pub struct SerialBusyError;

impl embedded_io::Error for SerialBusyError {
    fn kind(&self) -> embedded_io::ErrorKind {
        embedded_io::ErrorKind::Other
    }
}

#[cfg(feature = "gateway")]
impl Output {
    /// Whether the previous write has finished.
    pub fn is_free(&self) -> bool {
        !self.started || UARTE0.events_dma().tx().end().read() != 0
    }
}

impl embedded_io::ErrorType for Output {
    type Error = SerialBusyError;
}

impl embedded_io::Write for Output {
    /// Writes the whole message or nothing. Never blocks.
    fn write(&mut self, bytes: &[u8]) -> Result<usize, SerialBusyError> {
        let ended = UARTE0.events_dma().tx().end();
        if (self.started && ended.read() == 0) || bytes.len() > MAX_WRITE || bytes.is_empty() {
            return Err(SerialBusyError);
        }
        ended.write_value(0);
        // SAFETY: no transfer runs.
        let buffer = unsafe { &mut *TX_BUFFER.0.get() };
        buffer.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        let dma = UARTE0.dma().tx();
        dma.ptr().write_value(TX_BUFFER.0.get().expose_provenance() as u32);
        dma.maxcnt().write(|w| w.set_maxcnt(bytes.len() as u16));
        compiler_fence(Ordering::SeqCst);
        UARTE0.tasks_dma().tx().start().write_value(1);
        self.started = true;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), SerialBusyError> {
        Ok(())
    }
}
