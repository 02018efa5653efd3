//! UARTE: serial port with EasyDMA.
//!
//! Product specification, "UARTE — Universal asynchronous receiver/transmitter with EasyDMA".

use std::collections::VecDeque;

use crate::peripheral::{Context, Peripheral, Registers};

registers! {
    STARTRX = 0x000, STOPRX = 0x004, STARTTX = 0x008, STOPTX = 0x00c, FLUSHRX = 0x02c,
    ENDRX_STARTRX = 5, ENDRX_STOPRX = 6, ERRORSRC = 0x480, OVERRUN = 1, ENABLE = 0x500,
    BAUDRATE = 0x524, RXD_PTR = 0x534, RXD_MAXCNT = 0x538, RXD_AMOUNT = 0x53c, TXD_PTR = 0x544,
    TXD_MAXCNT = 0x548, TXD_AMOUNT = 0x54c;
    events: RXDRDY = 0x108, ENDRX = 0x110, TXDRDY = 0x11c, ENDTX = 0x120, ERROR = 0x124, RXTO = 0x144,
    RXSTARTED = 0x14c, TXSTARTED = 0x150, TXSTOPPED = 0x158
}
/// ENABLE: UARTE, not UART.
const ENABLED: u32 = 8;
/// Capacity of the receive FIFO in bytes.
const FIFO_BYTES: usize = 6;
/// Bits per byte on the line: start bit, eight data bits, stop bit.
const BITS: u64 = 10;

/// EasyDMA transfer.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    pointer: u32,
    count: u32,
    done: u32,
}

/// Serial port.
#[derive(Clone, Debug, Default)]
pub struct Uarte {
    registers: Registers,
    /// Bytes on the receive line, each with the time of its last bit.
    rx_line: VecDeque<(u64, u8)>,
    rx_fifo: VecDeque<u8>,
    rx_transfer: Option<Transfer>,
    /// Time at which the receiver stops.
    rx_stops_at: Option<u64>,
    /// Transfer in progress, with the time of the last bit of its next byte.
    tx_transfer: Option<(Transfer, u64)>,
    /// Transmitted bytes, each with the time of its last bit in cycles.
    ///
    /// The caller may drain it.
    pub tx_bytes: Vec<(u64, u8)>,
    /// Number of received bytes lost because the FIFO was full.
    pub overruns: u64,
}

impl Uarte {
    /// Cycles per byte. BAUDRATE is the rate times 2³² / 16 MHz.
    fn byte_time(&self) -> u64 {
        let rate = u64::from(self.registers.get(BAUDRATE)).max(1);
        BITS * ((4 << 32) / rate)
    }

    /// Puts bytes on the receive line, back to back.
    ///
    /// The first byte starts at `start` (in cycles), or after the bytes that are already on the
    /// line. `baud` is the rate of the sender.
    pub fn receive(&mut self, start: u64, baud: u64, bytes: &[u8]) {
        let start = self.rx_line.back().map_or(start, |(last, _)| start.max(*last));
        let byte_time = BITS * 64_000_000 / baud.max(1);
        self.rx_line.extend((1..).zip(bytes).map(|(index, byte)| (start + index * byte_time, *byte)));
    }

    /// Resets the peripheral. Bytes on the receive line still arrive.
    pub fn reset(&mut self) {
        let (rx_line, tx_bytes) = (std::mem::take(&mut self.rx_line), std::mem::take(&mut self.tx_bytes));
        *self = Self { rx_line, tx_bytes, overruns: self.overruns, ..Self::default() };
    }

    /// Moves bytes from the FIFO to RAM.
    fn drain_fifo(&mut self, context: &mut Context<'_>) {
        while let Some(transfer) = &mut self.rx_transfer {
            let Some(byte) = self.rx_fifo.pop_front() else { return };
            context.memory.dma_write(transfer.pointer.wrapping_add(transfer.done), &[byte]);
            transfer.done += 1;
            context.raise(RXDRDY);
            if transfer.done >= transfer.count {
                self.end_rx(context);
            }
        }
    }

    fn end_rx(&mut self, context: &mut Context<'_>) {
        if let Some(transfer) = self.rx_transfer.take() {
            self.registers.set(RXD_AMOUNT, transfer.done);
            context.raise(ENDRX);
            if self.registers.shortcut_enabled(ENDRX_STARTRX) && self.rx_stops_at.is_none() {
                self.start_rx(context);
            } else if self.registers.shortcut_enabled(ENDRX_STOPRX) {
                self.rx_stops_at = Some(context.now + self.byte_time());
            }
        }
    }

    fn start_rx(&mut self, context: &mut Context<'_>) {
        let (pointer, count) = (self.registers.get(RXD_PTR), self.registers.get(RXD_MAXCNT) & 0xffff);
        self.rx_transfer = Some(Transfer { pointer, count, done: 0 });
        context.raise(RXSTARTED);
        if count == 0 {
            // Ends without the shortcut ENDRX_STARTRX, which would restart the empty transfer
            // forever.
            self.rx_transfer = None;
            context.raise(ENDRX);
        }
    }
}

impl Peripheral for Uarte {
    fn registers(&mut self) -> &mut Registers {
        &mut self.registers
    }

    fn trigger(&mut self, offset: u32, context: &mut Context<'_>) {
        match offset {
            STARTRX => {
                self.rx_stops_at = None;
                self.start_rx(context);
                self.drain_fifo(context);
            }
            // The receiver accepts up to four more bytes before it generates RXTO.
            STOPRX => self.rx_stops_at = Some(context.now + 4 * self.byte_time()),
            FLUSHRX => {
                self.start_rx(context);
                self.drain_fifo(context);
                self.end_rx(context);
            }
            STARTTX => {
                let (pointer, count) = (self.registers.get(TXD_PTR), self.registers.get(TXD_MAXCNT) & 0xffff);
                let end = context.now + self.byte_time();
                self.tx_transfer = (count > 0).then_some((Transfer { pointer, count, done: 0 }, end));
                context.raise(TXSTARTED);
                if count == 0 {
                    context.raise(ENDTX);
                }
            }
            STOPTX => {
                self.tx_transfer = None;
                context.raise(TXSTOPPED);
            }
            _ => {}
        }
    }

    fn on_write(&mut self, offset: u32, value: u32, _: &mut Context<'_>) {
        if offset == ENABLE && value == 0 {
            (self.rx_transfer, self.tx_transfer, self.rx_stops_at) = (None, None, None);
            self.rx_fifo.clear();
        }
        if offset == ERRORSRC {
            self.registers.set(ERRORSRC, 0);
        }
    }

    fn next_due(&self) -> Option<u64> {
        let byte = self.rx_line.front().map(|(at, _)| *at);
        [byte, self.rx_stops_at, self.tx_transfer.map(|(_, at)| at)].into_iter().flatten().min()
    }

    fn on_due(&mut self, context: &mut Context<'_>) {
        while let Some((at, byte)) = self.rx_line.front().copied()
            && at <= context.now
        {
            self.rx_line.pop_front();
            if self.registers.get(ENABLE) != ENABLED {
                continue;
            }
            if self.rx_fifo.len() < FIFO_BYTES {
                self.rx_fifo.push_back(byte);
            } else {
                self.overruns += 1;
                self.registers.set(ERRORSRC, OVERRUN);
                context.raise(ERROR);
            }
            self.drain_fifo(context);
        }
        if self.rx_stops_at.is_some_and(|at| at <= context.now) {
            self.end_rx(context);
            (self.rx_stops_at, self.rx_transfer) = (None, None);
            context.raise(RXTO);
        }
        if let Some((mut transfer, at)) = self.tx_transfer
            && at <= context.now
        {
            let byte = context.memory.dma_read(transfer.pointer.wrapping_add(transfer.done), 1)[0];
            self.tx_bytes.push((at, byte));
            transfer.done += 1;
            context.raise(TXDRDY);
            self.tx_transfer = (transfer.done < transfer.count).then(|| (transfer, at + self.byte_time()));
            if self.tx_transfer.is_none() {
                self.registers.set(TXD_AMOUNT, transfer.done);
                context.raise(ENDTX);
            }
        }
    }
}
