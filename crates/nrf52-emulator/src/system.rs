//! Memory and peripherals of a chip, as the processor's bus.

use std::collections::VecDeque;

use crate::{
    cpu::{Bus, BusError, Size},
    memory::{Memory, RAM_BASE, UICR_BASE},
    peripheral::Context,
    peripherals::Peripherals,
    pins::Pins,
};

/// Start of the peripheral registers.
const PERIPHERAL_BASE: u32 = 0x4000_0000;
/// End of the peripheral registers.
const PERIPHERAL_END: u32 = 0x6000_0000;
/// Start of the GPIO pages, which have no tasks.
const GPIO_BASE: u32 = 0x5000_0000;

/// All parts of a chip except the processor.
#[derive(Debug)]
pub struct System {
    pub memory: Memory,
    pub peripherals: Peripherals,
    pub pins: Pins,
    /// Current time in cycles.
    pub now: u64,
    /// The processor has written to a peripheral or to flash.
    ///
    /// Interrupt lines and due times may have changed.
    pub peripheral_written: bool,
    /// Descriptions of rejected writes to addresses below RAM.
    pub illegal_writes: Vec<String>,
}

impl System {
    /// Creates the parts at time 0.
    pub fn new(memory: Memory, peripherals: Peripherals) -> Self {
        let (pins, illegal_writes) = (Pins::default(), Vec::new());
        Self { memory, peripherals, pins, now: 0, peripheral_written: false, illegal_writes }
    }

    /// Performs all timed actions until `until`, in order.
    pub fn advance(&mut self, until: u64) {
        while let Some((now, page)) = self.peripherals.next_due().filter(|(at, _)| *at <= until) {
            let mut context = Context::new(now, &mut self.memory, &mut self.pins);
            self.peripherals.at(page).on_due(&mut context);
            let events = context.events;
            self.propagate(page, events, now);
        }
    }

    /// Sets event registers and triggers the tasks that PPI connects to the events.
    fn propagate(&mut self, page: u32, events: Vec<u8>, now: u64) {
        let mut queue: VecDeque<(u32, u8)> = events.into_iter().map(|event| (page, event)).collect();
        while let Some((page, event)) = queue.pop_front() {
            self.peripherals.at(page).registers().set_event(event);
            for task in self.peripherals.ppi.tasks(page + 0x100 + 4 * u32::from(event)) {
                let (page, offset) = (task & !0xfff, task & 0xfff);
                let mut context = Context::new(now, &mut self.memory, &mut self.pins);
                self.peripherals.at(page).trigger(offset, &mut context);
                queue.extend(context.events.into_iter().map(|event| (page, event)));
            }
        }
    }

    /// Writes a word to flash or UICR through the NVMC.
    fn store_flash(&mut self, now: u64, address: u32, size: Size, value: u32) -> Result<(), BusError> {
        let Self { memory, peripherals, illegal_writes, .. } = self;
        let exists = (address as usize) < memory.flash.len() || (UICR_BASE..RAM_BASE).contains(&address);
        if !exists || !matches!(size, Size::Word) || !peripherals.nvmc.write(now, memory, address, value) {
            illegal_writes.push(format!("write to {address:#010x}, which is not writable"));
            return Err(BusError { address });
        }
        self.peripheral_written = true;
        Ok(())
    }
}

/// Bus of the processor.
pub struct SystemBus<'a> {
    pub system: &'a mut System,
    /// Time of the current access in cycles.
    pub now: u64,
    /// Time of the next timed action.
    ///
    /// An access late in a long instruction gets at most this time, so it precedes the action.
    pub next_due: u64,
}

impl Bus for SystemBus<'_> {
    #[inline]
    fn load(&mut self, address: u32, size: Size) -> Result<u32, BusError> {
        if address < PERIPHERAL_BASE {
            return self.system.memory.load(address, size);
        }
        if address >= PERIPHERAL_END {
            return Err(BusError { address });
        }
        let (page, offset) = (address & !0xfff, address & 0xffc);
        let peripheral = self.system.peripherals.at(page);
        let context = Context::new(self.now, &mut self.system.memory, &mut self.system.pins);
        peripheral.before_read(offset, &context);
        let word = peripheral.registers().load(offset) >> (8 * (address & 3));
        Ok(match size {
            Size::Byte => word & 0xff,
            Size::Half => word & 0xffff,
            Size::Word => word,
        })
    }

    #[inline]
    fn store(&mut self, address: u32, size: Size, value: u32) -> Result<(), BusError> {
        if (RAM_BASE..PERIPHERAL_BASE).contains(&address) {
            return self.system.memory.store_ram(address, size, value);
        }
        if address < RAM_BASE {
            return self.system.store_flash(self.now, address, size, value);
        }
        if address >= PERIPHERAL_END {
            return Err(BusError { address });
        }
        self.system.peripheral_written = true;
        let (page, offset) = (address & !0xfff, address & 0xffc);
        let is_task = offset < 0x100 && page < GPIO_BASE;
        if is_task && value & 1 == 0 {
            return Ok(());
        }
        let mut context = Context::new(self.now, &mut self.system.memory, &mut self.system.pins);
        let peripheral = self.system.peripherals.at(page);
        if is_task {
            peripheral.trigger(offset, &mut context);
        } else {
            peripheral.registers().store(offset, value);
            peripheral.on_write(offset, value, &mut context);
        }
        let events = context.events;
        self.system.propagate(page, events, self.now);
        Ok(())
    }

    #[inline]
    fn fetch(&mut self, address: u32) -> Result<u16, BusError> {
        self.system.memory.load(address, Size::Half).map(|half| half as u16)
    }

    fn set_time(&mut self, cycles: u64) {
        self.now = cycles.min(self.next_due);
    }

    fn interrupt_lines(&mut self) -> Option<u64> {
        self.system.peripheral_written.then(|| self.system.peripherals.interrupt_lines())
    }

    fn should_return(&mut self) -> bool {
        std::mem::take(&mut self.system.peripheral_written)
    }
}
