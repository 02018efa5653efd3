//! UARTE (product specification, "UARTE — Universal asynchronous receiver/transmitter with EasyDMA").

use std::collections::VecDeque;

use crate::block::{Block, Context, Peripheral, event};

const STARTRX: u32 = 0x000;
const STOPRX: u32 = 0x004;
const STARTTX: u32 = 0x008;
const STOPTX: u32 = 0x00c;
const FLUSHRX: u32 = 0x02c;
const RXDRDY: u8 = event(0x108);
const ENDRX: u8 = event(0x110);
const TXDRDY: u8 = event(0x11c);
const ENDTX: u8 = event(0x120);
const ERROR: u8 = event(0x124);
const RXTO: u8 = event(0x144);
const RXSTARTED: u8 = event(0x14c);
const TXSTARTED: u8 = event(0x150);
const TXSTOPPED: u8 = event(0x158);
const ENDRX_STARTRX: u32 = 5;
const ENDRX_STOPRX: u32 = 6;
const ERRORSRC: u32 = 0x480;
const OVERRUN: u32 = 1;
const ENABLE: u32 = 0x500;
const BAUDRATE: u32 = 0x524;
const RXD_PTR: u32 = 0x534;
const RXD_MAXCNT: u32 = 0x538;
const RXD_AMOUNT: u32 = 0x53c;
const TXD_PTR: u32 = 0x544;
const TXD_MAXCNT: u32 = 0x548;
const TXD_AMOUNT: u32 = 0x54c;
/// Bytes that wait inside while no DMA takes them.
const FIFO: usize = 6;
/// Start bit, eight bits, stop bit.
const BITS: u64 = 10;

#[derive(Clone, Copy, Debug)]
struct Transfer {
    pointer: u32,
    count: u32,
    done: u32,
}

/// A serial line.
#[derive(Clone, Debug, Default)]
pub struct Uarte {
    block: Block,
    /// Bytes on their way in, each with the time at which its last bit arrives.
    line: VecDeque<(u64, u8)>,
    fifo: VecDeque<u8>,
    receiving: Option<Transfer>,
    stopping: Option<u64>,
    sending: Option<(Transfer, u64)>,
    /// Bytes that left, each with the time of its last bit.
    pub sent: Vec<(u64, u8)>,
    /// Bytes that nobody took in time.
    pub overrun: u64,
}

impl Uarte {
    /// Cycles per byte: BAUDRATE is the rate times 2³² over 16 MHz.
    fn byte_takes(&self) -> u64 {
        let rate = u64::from(self.block.get(BAUDRATE)).max(1);
        BITS * ((4 << 32) / rate)
    }

    /// Somebody at the other end says these bytes, beginning at `at`, back to back, at its own rate.
    pub fn hear(&mut self, at: u64, baud: u64, bytes: &[u8]) {
        let begins = self.line.back().map_or(at, |(last, _)| at.max(*last));
        let takes = BITS * 64_000_000 / baud.max(1);
        self.line.extend((1..).zip(bytes).map(|(index, byte)| (begins + index * takes, *byte)));
    }

    /// A reset: what is on the line goes on.
    pub fn reset(&mut self) {
        let (line, sent) = (std::mem::take(&mut self.line), std::mem::take(&mut self.sent));
        *self = Self { line, sent, overrun: self.overrun, ..Self::default() };
    }

    fn take(&mut self, context: &mut Context<'_>) {
        while let Some(transfer) = &mut self.receiving {
            let Some(byte) = self.fifo.pop_front() else { return };
            context.memory.dma_write(transfer.pointer.wrapping_add(transfer.done), &[byte]);
            transfer.done += 1;
            context.raise(RXDRDY);
            if transfer.done >= transfer.count {
                self.end(context);
            }
        }
    }

    fn end(&mut self, context: &mut Context<'_>) {
        if let Some(transfer) = self.receiving.take() {
            self.block.set(RXD_AMOUNT, transfer.done);
            context.raise(ENDRX);
            if self.block.short(ENDRX_STARTRX) && self.stopping.is_none() {
                self.start(context);
            } else if self.block.short(ENDRX_STOPRX) {
                self.stopping = Some(context.at + self.byte_takes());
            }
        }
    }

    fn start(&mut self, context: &mut Context<'_>) {
        let (pointer, count) = (self.block.get(RXD_PTR), self.block.get(RXD_MAXCNT) & 0xffff);
        self.receiving = Some(Transfer { pointer, count, done: 0 });
        context.raise(RXSTARTED);
        if count == 0 {
            // An endless loop of nothing, with the shortcut: the driver's mistake.
            self.receiving = None;
            context.raise(ENDRX);
        }
    }
}

impl Peripheral for Uarte {
    fn block(&mut self) -> &mut Block {
        &mut self.block
    }

    fn task(&mut self, offset: u32, context: &mut Context<'_>) {
        match offset {
            STARTRX => {
                self.stopping = None;
                self.start(context);
                self.take(context);
            }
            // It goes on for up to four bytes' time, and then says so.
            STOPRX => self.stopping = Some(context.at + 4 * self.byte_takes()),
            FLUSHRX => {
                self.start(context);
                self.take(context);
                self.end(context);
            }
            STARTTX => {
                let (pointer, count) = (self.block.get(TXD_PTR), self.block.get(TXD_MAXCNT) & 0xffff);
                let ends = context.at + self.byte_takes();
                self.sending = (count > 0).then_some((Transfer { pointer, count, done: 0 }, ends));
                context.raise(TXSTARTED);
                if count == 0 {
                    context.raise(ENDTX);
                }
            }
            STOPTX => {
                self.sending = None;
                context.raise(TXSTOPPED);
            }
            _ => {}
        }
    }

    fn written(&mut self, offset: u32, value: u32, _: &mut Context<'_>) {
        if offset == ENABLE && value == 0 {
            (self.receiving, self.sending, self.stopping) = (None, None, None);
            self.fifo.clear();
        }
        if offset == ERRORSRC {
            self.block.set(ERRORSRC, 0);
        }
    }

    fn due(&self) -> Option<u64> {
        let byte = self.line.front().map(|(at, _)| *at);
        [byte, self.stopping, self.sending.map(|(_, at)| at)].into_iter().flatten().min()
    }

    fn elapse(&mut self, context: &mut Context<'_>) {
        while let Some((at, byte)) = self.line.front().copied()
            && at <= context.at
        {
            self.line.pop_front();
            if self.block.get(ENABLE) != 8 {
                continue;
            }
            if self.fifo.len() < FIFO {
                self.fifo.push_back(byte);
            } else {
                self.overrun += 1;
                self.block.set(ERRORSRC, OVERRUN);
                context.raise(ERROR);
            }
            self.take(context);
        }
        if self.stopping.is_some_and(|at| at <= context.at) {
            self.end(context);
            (self.stopping, self.receiving) = (None, None);
            context.raise(RXTO);
        }
        if let Some((mut transfer, at)) = self.sending
            && at <= context.at
        {
            let byte = context.memory.dma_read(transfer.pointer.wrapping_add(transfer.done), 1)[0];
            self.sent.push((at, byte));
            transfer.done += 1;
            context.raise(TXDRDY);
            self.sending = (transfer.done < transfer.count).then(|| (transfer, at + self.byte_takes()));
            if self.sending.is_none() {
                self.block.set(TXD_AMOUNT, transfer.done);
                context.raise(ENDTX);
            }
        }
    }
}
