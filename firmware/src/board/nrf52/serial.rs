//! The serial line to the companion, or to a gateway's PC: UARTE0 (product specification, "UARTE").
//!
//! What comes in goes round a ring of a kilobyte by DMA alone: the transfer starts itself again at the same place, and a counter
//! (TIMER1, through the interconnect) counts the bytes. There is nothing to serve in time and no count to lose: whoever reads too
//! late loses bytes, and is back in step with the next message.

use core::{
    cell::UnsafeCell,
    convert::Infallible,
    ptr,
    sync::atomic::{Ordering, compiler_fence},
};

use nrf_pac::{PPI, TIMER1, UARTE0, shared::regs::Psel, timer, uarte::vals};

/// Bytes in the ring: 22 ms at a robot's rate. A power of two, so that the counter may wrap.
const RING: usize = 1024;
/// The most that goes out at once.
pub const LONGEST: usize = 64;
/// Turns of a loop that waits for a stopped receiver: four bytes' time, 87 µs.
const STOPPED: u32 = 10_000;

struct Ring(UnsafeCell<[u8; RING]>);
struct Outgoing(UnsafeCell<[u8; LONGEST]>);

// SAFETY: the ring is written by DMA and read by volatile reads of single bytes; `Outgoing` is written only while no transfer runs.
unsafe impl Sync for Ring {}
// SAFETY: likewise.
unsafe impl Sync for Outgoing {}

static RECEIVED: Ring = Ring(UnsafeCell::new([0; RING]));
static TO_SEND: Outgoing = Outgoing(UnsafeCell::new([0; LONGEST]));

/// A pin: port and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin(pub u8, pub u8);

impl Pin {
    fn select(self) -> Psel {
        let mut select = Psel(0);
        select.set_pin(self.1);
        select.set_port(self.0 != 0);
        select.set_connect(nrf_pac::shared::vals::Connect::Connected);
        select
    }
}

/// The line's two directions.
#[derive(Debug)]
pub struct Input {
    read: u16,
}

/// The way out.
#[derive(Debug)]
pub struct Output {
    begun: bool,
}

/// Opens the line.
pub fn open(receive: Pin, send: Pin, rate: vals::Baudrate) -> (Input, Output) {
    let pin =
        |Pin(port, number): Pin| (if port == 0 { nrf_pac::P0 } else { nrf_pac::P1 }, usize::from(number));
    // Idle is high, also before the line is on; the receiver's pin is pulled up, so that an open one is silent.
    let (port, number) = pin(send);
    port.outset().write(|w| w.0 = 1 << number);
    port.dirset().write(|w| w.0 = 1 << number);
    let (port, number) = pin(receive);
    port.pin_cnf(number % 32).write(|w| w.set_pull(nrf_pac::gpio::vals::Pull::Pullup));
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
    (input, Output { begun: false })
}

impl Input {
    fn start(&mut self) {
        TIMER1.tasks_clear().write_value(1);
        self.read = 0;
        let dma = UARTE0.dma().rx();
        dma.ptr().write_value(RECEIVED.0.get().expose_provenance() as u32);
        dma.maxcnt().write(|w| w.set_maxcnt(RING as u16));
        UARTE0.shorts().write(|w| w.set_endrx_startrx(true));
        UARTE0.tasks_dma().rx().start().write_value(1);
    }

    /// Begins anew, whatever happened to the line.
    pub fn restart(&mut self) {
        UARTE0.shorts().write(|_| {});
        UARTE0.events_rxto().write_value(0);
        UARTE0.tasks_dma().rx().stop().write_value(1);
        for _ in 0..STOPPED {
            if UARTE0.events_rxto().read() != 0 {
                break;
            }
        }
        UARTE0.errorsrc().write_value(UARTE0.errorsrc().read());
        self.start();
    }

    /// Bytes that have come and were not read.
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
    /// Never waits: nothing there is nothing read.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
        let waiting = self.waiting();
        if usize::from(waiting) > RING {
            // Overtaken: what is left of it is in pieces. On with what comes now.
            self.read = self.read.wrapping_add(waiting);
            return Ok(0);
        }
        compiler_fence(Ordering::SeqCst);
        let count = buffer.len().min(waiting.into());
        for slot in buffer.iter_mut().take(count) {
            let place = RECEIVED.0.get().cast::<u8>().wrapping_add(usize::from(self.read) % RING);
            // SAFETY: within the ring; the DMA may be writing elsewhere in it, and a byte is read at once.
            *slot = unsafe { ptr::read_volatile(place) };
            self.read = self.read.wrapping_add(1);
        }
        Ok(count)
    }
}

/// The last message is still on its way, or this one is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupied;

impl core::fmt::Display for Occupied {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str("the last message is still on its way")
    }
}

impl core::error::Error for Occupied {}

impl embedded_io::Error for Occupied {
    fn kind(&self) -> embedded_io::ErrorKind {
        embedded_io::ErrorKind::Other
    }
}

#[cfg(feature = "gateway")]
impl Output {
    /// Whether the last message has left.
    pub fn is_free(&self) -> bool {
        !self.begun || UARTE0.events_dma().tx().end().read() != 0
    }
}

impl embedded_io::ErrorType for Output {
    type Error = Occupied;
}

impl embedded_io::Write for Output {
    /// All of a message, or nothing: never waits.
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Occupied> {
        let ended = UARTE0.events_dma().tx().end();
        if (self.begun && ended.read() == 0) || bytes.len() > LONGEST || bytes.is_empty() {
            return Err(Occupied);
        }
        ended.write_value(0);
        // SAFETY: no transfer runs.
        let buffer = unsafe { &mut *TO_SEND.0.get() };
        buffer.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        let dma = UARTE0.dma().tx();
        dma.ptr().write_value(TO_SEND.0.get().expose_provenance() as u32);
        dma.maxcnt().write(|w| w.set_maxcnt(bytes.len() as u16));
        compiler_fence(Ordering::SeqCst);
        UARTE0.tasks_dma().tx().start().write_value(1);
        self.begun = true;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Occupied> {
        Ok(())
    }
}
