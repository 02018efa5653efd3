//! Chip: processor, memory and peripherals on one clock.

use crate::{
    cpu::{Cpu, Size, StopReason},
    image::Segment,
    memory::{Memory, RAM_FILL},
    peripherals::Peripherals,
    pins::Pins,
    system::{System, SystemBus},
};

/// Emulated part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// nRF52840: 1 MiB of flash, 256 KiB of RAM.
    Nrf52840,
    /// nRF52833: 512 KiB of flash, 128 KiB of RAM.
    Nrf52833,
}

impl Part {
    fn memory(self) -> Memory {
        match self {
            Self::Nrf52840 => Memory::new(1024 << 10, 256 << 10),
            Self::Nrf52833 => Memory::new(512 << 10, 128 << 10),
        }
    }

    /// Offsets and values of INFO.PART and INFO.VARIANT in FICR.
    ///
    /// The build codes are revisions with improved access port protection.
    fn info(self) -> [(u32, u32); 2] {
        let (part, variant) = match self {
            Self::Nrf52840 => (0x0005_2840, u32::from_be_bytes(*b"AAF0")),
            Self::Nrf52833 => (0x0005_2833, u32::from_be_bytes(*b"AAB0")),
        };
        [(0x100, part), (0x104, variant)]
    }
}

/// Bits of RESETREAS: causes of a reset.
pub mod reset_reason {
    /// RESETPIN: reset pin.
    pub const PIN: u32 = 1;
    /// DOG: watchdog timeout.
    pub const WATCHDOG: u32 = 2;
    /// SREQ: soft reset by AIRCR.SYSRESETREQ.
    pub const SOFTWARE: u32 = 4;
    /// LOCKUP: processor lockup, or an instruction that is not emulated.
    pub const LOCKUP: u32 = 8;
}

/// Reset of a chip after power-on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reset {
    /// Time in cycles.
    pub at: u64,
    /// Bit of [`reset_reason`].
    pub reason: u32,
    /// Cause in words.
    pub description: String,
}

/// Flash wait states per 16 instructions with the instruction cache enabled.
///
/// Accounts for cache misses. Together with [`crate::cpu`]'s cycles, typical firmware takes 1.72
/// cycles per instruction.
const CACHED_WAIT_PER_16: u64 = 2;
/// Flash wait states per 16 instructions with the instruction cache disabled.
///
/// Accounts for two wait states per 32-bit fetch, and more after branches: about 3 cycles per
/// instruction.
const UNCACHED_WAIT_PER_16: u64 = 22;

/// Emulated chip.
#[derive(Debug)]
pub struct Chip {
    cpu: Cpu,
    system: System,
    part: Part,
    /// Address of the vector table that a reset loads.
    vector_table: u32,
    /// Cycles in which the processor did not sleep.
    pub active_cycles: u64,
    /// Resets since the chip was created, without power-on resets.
    pub resets: Vec<Reset>,
}

impl Chip {
    /// Creates a chip without power and with erased flash.
    ///
    /// `device_id` becomes DEVICEID and DEVICEADDR in FICR and seeds the random number generator.
    pub fn new(part: Part, device_id: u64) -> Self {
        let mut memory = part.memory();
        let flash_bytes = memory.flash.len() as u32;
        let mut set_ficr = |offset: u32, value: u32| {
            memory.ficr[offset as usize..][..4].copy_from_slice(&value.to_le_bytes());
        };
        part.info().into_iter().for_each(|(offset, value)| set_ficr(offset, value));
        // DEVICEID and DEVICEADDR.
        for offset in [0x60, 0xa4] {
            set_ficr(offset, device_id as u32);
            set_ficr(offset + 4, (device_id >> 32) as u32);
        }
        let mut peripherals = Peripherals::default();
        peripherals.rng.seed(device_id.wrapping_mul(0xd134_2543_de82_ef95));
        // 64 MHz / 32.768 kHz = 15,625 / 8.
        peripherals.rtc1.cycles_per_4096_ticks = 4096 * 15_625 / 8;
        let system = System::new(memory, peripherals);
        let cpu = Cpu::new(flash_bytes);
        Self { cpu, system, part, vector_table: 0, active_cycles: 0, resets: Vec::new() }
    }

    /// Returns the number of bytes that a stack between two addresses has used.
    ///
    /// Counts from `top` down to the lowest byte that differs from [`RAM_FILL`].
    pub fn stack_used(&self, bottom: u32, top: u32) -> u32 {
        let unused = (bottom..top)
            .take_while(|address| self.system.memory.load(*address, Size::Byte) == Ok(u32::from(RAM_FILL)));
        top - bottom - unused.count() as u32
    }

    /// Writes an image to flash and UICR, as a programmer does.
    pub fn flash(&mut self, image: &[Segment]) {
        for (address, bytes) in image {
            self.program(*address, bytes);
        }
    }

    /// Writes bytes to flash or UICR, as a programmer does.
    ///
    /// Bytes for other addresses are ignored.
    pub fn program(&mut self, address: u32, bytes: &[u8]) {
        for (index, byte) in (0..).zip(bytes) {
            if let Some(slot) = self.system.memory.nonvolatile_mut(address + index) {
                *slot = *byte;
            }
        }
        self.cpu.invalidate_code(address, bytes.len() as u32);
    }

    /// Returns the emulated part.
    pub fn part(&self) -> Part {
        self.part
    }

    /// Returns flash, RAM, FICR and UICR.
    pub fn memory(&self) -> &Memory {
        &self.system.memory
    }

    /// Returns memory for modification, as a debug probe does.
    ///
    /// Code in flash must be changed with [`Chip::program`], which invalidates decoded
    /// instructions.
    pub fn memory_mut(&mut self) -> &mut Memory {
        &mut self.system.memory
    }

    /// Returns the peripherals.
    pub fn peripherals(&mut self) -> &mut Peripherals {
        &mut self.system.peripherals
    }

    /// Returns the pins and the circuits on them.
    pub fn pins(&mut self) -> &mut Pins {
        &mut self.system.pins
    }

    /// Returns the processor.
    pub fn cpu(&self) -> &Cpu {
        &self.cpu
    }

    /// Returns the time in cycles of the chip's clock.
    pub fn now(&self) -> u64 {
        self.system.now
    }

    /// Returns descriptions of all rejected writes to addresses below RAM.
    ///
    /// These are writes to FICR, to unmapped addresses, and to flash or UICR without
    /// NVMC.CONFIG.WEN.
    pub fn illegal_writes(&self) -> &[String] {
        &self.system.illegal_writes
    }

    /// Makes every later reset start from the vector table at `vector_table`.
    ///
    /// Emulates a bootloader that jumps to the image without delay. VTOR remains 0.
    pub fn boot_from(&mut self, vector_table: u32) {
        self.vector_table = vector_table;
    }

    /// Performs a power-on reset at a time on the chip's clock.
    pub fn power_on(&mut self, now: u64) {
        self.system.now = now;
        self.cpu.cycles = now;
        self.reset_all(0);
    }

    /// Performs a pin reset.
    pub fn pin_reset(&mut self) {
        self.reset(reset_reason::PIN, "pin reset".into());
    }

    fn reset(&mut self, reason: u32, description: String) {
        self.resets.push(Reset { at: self.system.now, reason, description });
        self.cpu.cycles = self.system.now;
        self.reset_all(reason);
    }

    /// Resets the processor and the peripherals.
    ///
    /// A frame in transmission is not truncated: other radios have already received it as a whole.
    fn reset_all(&mut self, reason: u32) {
        let System { peripherals, pins, memory, now, .. } = &mut self.system;
        peripherals.twim0.abort(pins);
        peripherals.twim1.abort(pins);
        pins.reset(memory.nfc_enabled(), *now);
        let keeps_watchdog = reason == reset_reason::SOFTWARE || reason == reset_reason::LOCKUP;
        let Peripherals { mut clock, mut radio, mut uarte, mut rng, mut nvmc, wdt, ecb, rtc1, .. } =
            std::mem::take(peripherals);
        clock.reset(reason);
        radio.reset();
        uarte.reset();
        rng.reset();
        nvmc.reset();
        (peripherals.clock, peripherals.radio, peripherals.uarte) = (clock, radio, uarte);
        (peripherals.rng, peripherals.nvmc) = (rng, nvmc);
        peripherals.rtc1.cycles_per_4096_ticks = rtc1.cycles_per_4096_ticks;
        peripherals.ecb.unresponsive = ecb.unresponsive;
        if keeps_watchdog {
            peripherals.wdt = wdt;
        }
        let mut bus = SystemBus { now: self.system.now, next_due: u64::MAX, system: &mut self.system };
        self.cpu.reset_to(&mut bus, self.vector_table);
    }

    /// Runs until a time on the chip's clock, in cycles.
    pub fn run(&mut self, until: u64) {
        while self.system.now < until {
            self.system.advance(self.system.now);
            if std::mem::take(&mut self.system.peripherals.wdt.timed_out) {
                let description = format!("watchdog timeout at {:#010x}", self.cpu.pc());
                self.reset(reset_reason::WATCHDOG, description);
                continue;
            }
            let lines = self.system.peripherals.interrupt_lines();
            for irq in 0..64 {
                self.cpu.set_interrupt_line(irq, lines >> irq & 1 != 0);
            }
            let next = self.system.peripherals.next_due().map_or(until, |(at, _)| at.min(until));
            // A flash operation stalls the processor, but not the peripherals.
            let stalled_until = self.system.peripherals.nvmc.stalled_until;
            if stalled_until > self.cpu.cycles {
                self.active_cycles += stalled_until - self.cpu.cycles;
                self.cpu.cycles = stalled_until;
            }
            if self.cpu.cycles > self.system.now {
                self.system.now = next.min(self.cpu.cycles).max(self.system.now + 1).min(until.max(next));
                continue;
            }
            if self.cpu.is_asleep() {
                self.system.now = next.max(self.system.now + 1);
                self.cpu.cycles = self.system.now;
                continue;
            }
            self.execute(next.max(self.system.now + 1));
        }
    }

    /// Executes instructions until `until`, a write to a peripheral, sleep or a reset.
    fn execute(&mut self, until: u64) {
        let (cycles, instructions) = (self.cpu.cycles, self.cpu.instructions);
        let mut bus = SystemBus { now: cycles, next_due: until, system: &mut self.system };
        let result = self.cpu.run(&mut bus, until);
        let nvmc = &mut self.system.peripherals.nvmc;
        let wait_per_16 = if nvmc.cache_enabled() { CACHED_WAIT_PER_16 } else { UNCACHED_WAIT_PER_16 };
        self.cpu.cycles += (self.cpu.instructions - instructions) * wait_per_16 / 16;
        for (address, bytes) in std::mem::take(&mut nvmc.modified_ranges) {
            self.cpu.invalidate_code(address, bytes);
        }
        self.active_cycles += self.cpu.cycles - cycles;
        self.system.now = self.system.now.max(self.cpu.cycles.min(until)).max(cycles + 1);
        match result {
            Ok(()) => {}
            Err(StopReason::ResetRequested) => self.reset(reset_reason::SOFTWARE, "soft reset".into()),
            Err(stop) => self.reset(reset_reason::LOCKUP, stop.to_string()),
        }
    }

    /// Returns the time of the next timed action, if the processor sleeps.
    ///
    /// The time is `u64::MAX` if no action is scheduled.
    pub fn asleep_until(&self) -> Option<u64> {
        let asleep = self.cpu.is_asleep() && self.cpu.cycles <= self.system.now;
        asleep.then(|| self.system.peripherals.next_due().map_or(u64::MAX, |(at, _)| at))
    }
}
