//! What all of Nordic's peripherals have in common: a page of registers in which tasks, events, shortcuts and interrupt
//! enables have their fixed places (product specification, "Peripheral interface").

use crate::memory::Memory;

/// Where events begin in a page.
const EVENTS: u32 = 0x100;
/// Where they end; there are at most 32.
const EVENTS_END: u32 = 0x180;
/// Shortcuts from an event to a task of the same peripheral.
pub const SHORTS: u32 = 0x200;
const INTEN: u32 = 0x300;
const INTENSET: u32 = 0x304;
const INTENCLR: u32 = 0x308;

/// Registers of one peripheral.
#[derive(Clone, Debug)]
pub struct Block {
    words: Box<[u32; 0x400]>,
    /// Events that have happened and were not cleared.
    events: u32,
    enabled: u32,
}

impl Default for Block {
    fn default() -> Self {
        Self { words: Box::new([0; 0x400]), events: 0, enabled: 0 }
    }
}

impl Block {
    /// With these registers' values after a reset.
    #[must_use]
    pub fn with(reset: &[(u32, u32)]) -> Self {
        let mut block = Self::default();
        for (offset, value) in reset {
            block.set(*offset, *value);
        }
        block
    }

    /// A register.
    #[must_use]
    pub fn get(&self, offset: u32) -> u32 {
        self.words[(offset as usize / 4) % 0x400]
    }

    /// Changes a register behind the program's back.
    pub fn set(&mut self, offset: u32, value: u32) {
        self.words[(offset as usize / 4) % 0x400] = value;
    }

    /// Whether a shortcut is on.
    #[must_use]
    pub fn short(&self, bit: u32) -> bool {
        self.get(SHORTS) >> bit & 1 != 0
    }

    /// An event happens.
    pub fn happen(&mut self, event: u8) {
        self.events |= 1 << event;
    }

    /// Whether the peripheral asks for its interrupt: events stay until they are cleared, so the line is a level.
    #[must_use]
    pub fn line(&self) -> bool {
        self.events & self.enabled != 0
    }

    /// What a program reads.
    #[must_use]
    pub fn load(&self, offset: u32) -> u32 {
        match offset {
            EVENTS..EVENTS_END => self.events >> ((offset - EVENTS) / 4) & 1,
            INTEN | INTENSET | INTENCLR => self.enabled,
            _ => self.get(offset),
        }
    }

    /// What a program writes to anything but a task.
    pub fn store(&mut self, offset: u32, value: u32) {
        match offset {
            EVENTS..EVENTS_END => {
                let bit = 1 << ((offset - EVENTS) / 4);
                if value == 0 { self.events &= !bit } else { self.events |= bit }
            }
            INTEN => self.enabled = value,
            INTENSET => self.enabled |= value,
            INTENCLR => self.enabled &= !value,
            _ => self.set(offset, value),
        }
    }
}

/// The number of the event at a register's place.
#[must_use]
pub const fn event(offset: u32) -> u8 {
    ((offset - EVENTS) / 4) as u8
}

/// What a peripheral sees of the chip while it does something.
#[derive(Debug)]
pub struct Context<'a> {
    /// The time, in cycles of the chip's 64 MHz clock.
    pub at: u64,
    /// What its DMA reads and writes.
    pub memory: &'a mut Memory,
    /// Events that happened now, for the programmable interconnect.
    pub raised: Vec<u8>,
}

impl Context<'_> {
    /// An event happens.
    pub fn raise(&mut self, event: u8) {
        self.raised.push(event);
    }
}

/// A peripheral.
pub trait Peripheral {
    /// Its registers.
    fn block(&mut self) -> &mut Block;

    /// Does a task, by the offset of its register.
    fn task(&mut self, _offset: u32, _context: &mut Context<'_>) {}

    /// A register was written; the block has it already.
    fn written(&mut self, _offset: u32, _value: u32, _context: &mut Context<'_>) {}

    /// A register is about to be read; the block answers.
    fn reading(&mut self, _offset: u32, _at: u64) {}

    /// When it has something to do next by itself.
    fn due(&self) -> Option<u64> {
        None
    }

    /// It is due.
    fn elapse(&mut self, _context: &mut Context<'_>) {}
}

/// A peripheral that is only remembered.
#[derive(Clone, Debug, Default)]
pub struct Plain(pub Block);

impl Peripheral for Plain {
    fn block(&mut self) -> &mut Block {
        &mut self.0
    }
}
