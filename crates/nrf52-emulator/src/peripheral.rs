//! Register interface that all peripherals share.
//!
//! Tasks, events, shortcuts and interrupt enables have fixed offsets in the 4 KiB page of each
//! peripheral (product specification, "Peripheral interface").

use crate::{memory::Memory, pins::Pins};

/// Offset of the first event register.
const EVENTS: u32 = 0x100;
/// Offset after the last event register. A peripheral has at most 32 events.
const EVENTS_END: u32 = 0x180;
/// Offset of SHORTS: shortcuts from events to tasks of the same peripheral.
pub const SHORTS: u32 = 0x200;
const INTEN: u32 = 0x300;
const INTENSET: u32 = 0x304;
const INTENCLR: u32 = 0x308;

/// Register page of one peripheral.
#[derive(Clone, Debug)]
pub struct Registers {
    words: Box<[u32; 0x400]>,
    /// Event registers, one bit each.
    events: u32,
    /// INTEN.
    interrupts_enabled: u32,
}

impl Default for Registers {
    fn default() -> Self {
        Self { words: Box::new([0; 0x400]), events: 0, interrupts_enabled: 0 }
    }
}

impl Registers {
    /// Returns the stored value of a register, unlike [`Registers::load`].
    pub fn get(&self, offset: u32) -> u32 {
        self.words[(offset as usize / 4) % 0x400]
    }

    /// Sets the stored value of a register, unlike [`Registers::store`].
    pub fn set(&mut self, offset: u32, value: u32) {
        self.words[(offset as usize / 4) % 0x400] = value;
    }

    /// Returns whether a bit of SHORTS is set.
    pub fn shortcut_enabled(&self, bit: u32) -> bool {
        self.get(SHORTS) >> bit & 1 != 0
    }

    /// Sets an event register.
    pub fn set_event(&mut self, event: u8) {
        self.events |= 1 << event;
    }

    /// Returns the level of the interrupt line.
    ///
    /// It is high while an event is set whose interrupt is enabled.
    pub fn interrupt_line(&self) -> bool {
        self.events & self.interrupts_enabled != 0
    }

    /// Reads a register as the processor does.
    pub fn load(&self, offset: u32) -> u32 {
        match offset {
            EVENTS..EVENTS_END => self.events >> ((offset - EVENTS) / 4) & 1,
            INTEN | INTENSET | INTENCLR => self.interrupts_enabled,
            _ => self.get(offset),
        }
    }

    /// Writes a register, other than a task, as the processor does.
    pub fn store(&mut self, offset: u32, value: u32) {
        match offset {
            EVENTS..EVENTS_END => {
                let bit = 1 << ((offset - EVENTS) / 4);
                if value == 0 { self.events &= !bit } else { self.events |= bit }
            }
            INTEN => self.interrupts_enabled = value,
            INTENSET => self.interrupts_enabled |= value,
            INTENCLR => self.interrupts_enabled &= !value,
            _ => self.set(offset, value),
        }
    }
}

/// Returns the number of the event whose register is at `offset`.
pub const fn event(offset: u32) -> u8 {
    ((offset - EVENTS) / 4) as u8
}

/// Access of a peripheral to the rest of the chip.
#[derive(Debug)]
pub struct Context<'a> {
    /// Current time in cycles of the chip's 64 MHz clock.
    pub now: u64,
    /// Memory for EasyDMA.
    pub memory: &'a mut Memory,
    /// Pins and the circuits on them.
    pub pins: &'a mut Pins,
    /// Events generated so far.
    ///
    /// [`Chip`](crate::Chip) sets their registers and passes them to the PPI.
    pub events: Vec<u8>,
}

impl<'a> Context<'a> {
    /// Creates the access at a time, without events.
    pub fn new(now: u64, memory: &'a mut Memory, pins: &'a mut Pins) -> Self {
        Self { now, memory, pins, events: Vec::new() }
    }

    /// Generates an event.
    pub fn raise(&mut self, event: u8) {
        self.events.push(event);
    }
}

/// Behavior of a peripheral.
pub trait Peripheral {
    /// Returns the register page.
    fn registers(&mut self) -> &mut Registers;

    /// Returns the registers that are not zero after a reset, and their values.
    fn reset_values() -> &'static [(u32, u32)]
    where
        Self: Sized,
    {
        &[]
    }

    /// Returns the peripheral after a power-on reset.
    fn power_on() -> Self
    where
        Self: Sized + Default,
    {
        let mut peripheral = Self::default();
        for (offset, value) in Self::reset_values() {
            peripheral.registers().set(*offset, *value);
        }
        peripheral
    }

    /// Triggers the task whose register is at `offset`.
    fn trigger(&mut self, _offset: u32, _context: &mut Context<'_>) {}

    /// Reacts to a register write. [`Registers::store`] has already stored the value.
    fn on_write(&mut self, _offset: u32, _value: u32, _context: &mut Context<'_>) {}

    /// Updates a register before the processor reads it.
    fn before_read(&mut self, _offset: u32, _context: &Context<'_>) {}

    /// Returns the time of the next timed action, in cycles.
    fn next_due(&self) -> Option<u64> {
        None
    }

    /// Performs the timed action that is due at `context.now`.
    fn on_due(&mut self, _context: &mut Context<'_>) {}
}

/// Peripheral without behavior: registers store and return values.
#[derive(Clone, Debug, Default)]
pub struct StorageOnly(pub Registers);

impl Peripheral for StorageOnly {
    fn registers(&mut self) -> &mut Registers {
        &mut self.0
    }
}
