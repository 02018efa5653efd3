//! One chip: processor, memory and peripherals on one clock.

use std::collections::VecDeque;

use crate::{
    block::{Context, Peripheral, Plain},
    clock::Clock,
    cpu::{Bus, BusFault, Cpu, Size, Stop},
    memory::{Memory, RAM, UICR},
    nvmc::Nvmc,
    ppi::Ppi,
    radio::Radio,
    rtc::Rtc,
    small::{Ecb, Rng, Wdt},
    timer::Timer,
    uarte::Uarte,
};

/// Which chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 1 MiB of flash, 256 KiB of RAM.
    Nrf52840,
    /// 512 KiB of flash, 128 KiB of RAM.
    Nrf52833,
}

impl Kind {
    fn memory(self) -> Memory {
        match self {
            Self::Nrf52840 => Memory::new(1024 << 10, 256 << 10),
            Self::Nrf52833 => Memory::new(512 << 10, 128 << 10),
        }
    }

    /// INFO.PART and INFO.VARIANT (product specification, FICR): build codes with the improved access port protection.
    fn information(self) -> [(u32, u32); 2] {
        let (part, variant) = match self {
            Self::Nrf52840 => (0x0005_2840, u32::from_be_bytes(*b"AAF0")),
            Self::Nrf52833 => (0x0005_2833, u32::from_be_bytes(*b"AAB0")),
        };
        [(0x100, part), (0x104, variant)]
    }
}

/// RESETREAS: why a chip starts.
pub mod reason {
    /// By its reset pin.
    pub const PIN: u32 = 1;
    /// By its watchdog.
    pub const WATCHDOG: u32 = 2;
    /// By its program.
    pub const SOFTWARE: u32 = 4;
    /// Because the processor could not go on.
    pub const LOCKUP: u32 = 8;
}

macro_rules! peripherals {
    ($($page:literal $field:ident: $kind:ty, $irq:literal;)*) => {
        /// All peripherals, by the page that each lies in; the others are only remembered.
        #[derive(Debug, Default)]
        pub struct Peripherals {
            $(#[doc = stringify!($kind)] pub $field: $kind,)*
            others: std::collections::BTreeMap<u32, Plain>,
        }

        impl Peripherals {
            fn at(&mut self, page: u32) -> &mut dyn Peripheral {
                match page {
                    $($page => &mut self.$field,)*
                    _ => self.others.entry(page).or_default(),
                }
            }

            fn due(&self) -> Option<(u64, u32)> {
                let mut first: Option<(u64, u32)> = None;
                $(
                    if let Some(at) = self.$field.due() && first.is_none_or(|(known, _)| at < known) {
                        first = Some((at, $page));
                    }
                )*
                first
            }

            fn lines(&mut self) -> u64 {
                let mut lines = 0;
                $(lines |= u64::from(self.$field.block().line()) << $irq;)*
                lines
            }
        }
    };
}

peripherals! {
    0x4000_0000 clock: Clock, 0;
    0x4000_1000 radio: Radio, 1;
    0x4000_2000 uarte: Uarte, 2;
    0x4000_8000 timer0: Timer, 8;
    0x4000_9000 timer1: Timer, 9;
    0x4000_a000 timer2: Timer, 10;
    0x4000_d000 rng: Rng, 13;
    0x4000_e000 ecb: Ecb, 14;
    0x4001_0000 wdt: Wdt, 16;
    0x4001_1000 rtc1: Rtc, 17;
    0x4001_a000 timer3: Timer, 26;
    0x4001_b000 timer4: Timer, 27;
    0x4001_e000 nvmc: Nvmc, 63;
    0x4001_f000 ppi: Ppi, 62;
}

/// Everything around the processor.
#[derive(Debug)]
struct Inside {
    memory: Memory,
    parts: Peripherals,
    /// The time, in cycles.
    now: u64,
    /// Peripherals were touched: the processor's caller looks when something is due next.
    touched: bool,
    /// A write to flash while writing was off, or to nowhere.
    complaints: Vec<String>,
}

impl Inside {
    /// Does what is due until then, in order.
    fn elapse(&mut self, until: u64) {
        while let Some((at, page)) = self.parts.due().filter(|(at, _)| *at <= until) {
            let mut context = Context { at, memory: &mut self.memory, raised: Vec::new() };
            self.parts.at(page).elapse(&mut context);
            let raised = context.raised;
            self.spread(page, raised, at);
        }
    }

    /// Events and what the interconnect makes of them.
    fn spread(&mut self, page: u32, raised: Vec<u8>, at: u64) {
        let mut events: VecDeque<(u32, u8)> = raised.into_iter().map(|event| (page, event)).collect();
        while let Some((page, event)) = events.pop_front() {
            self.parts.at(page).block().happen(event);
            for task in self.parts.ppi.tasks(page + 0x100 + 4 * u32::from(event)) {
                let (page, offset) = (task & !0xfff, task & 0xfff);
                let mut context = Context { at, memory: &mut self.memory, raised: Vec::new() };
                self.parts.at(page).task(offset, &mut context);
                events.extend(context.raised.into_iter().map(|event| (page, event)));
            }
        }
    }
}

/// What the processor sees.
struct Seen<'a> {
    inside: &'a mut Inside,
    /// The processor's own time.
    at: u64,
    /// Nothing is due before: an access in an instruction that takes longer happens before what is due then.
    until: u64,
}

impl Bus for Seen<'_> {
    #[inline]
    fn load(&mut self, address: u32, size: Size) -> Result<u32, BusFault> {
        if address < 0x4000_0000 {
            return self.inside.memory.load(address, size);
        }
        if address >= 0x6000_0000 {
            return Err(BusFault { address });
        }
        let (page, offset) = (address & !0xfff, address & 0xffc);
        let part = self.inside.parts.at(page);
        part.reading(offset, self.at);
        let word = part.block().load(offset) >> (8 * (address & 3));
        Ok(match size {
            Size::Byte => word & 0xff,
            Size::Half => word & 0xffff,
            Size::Word => word,
        })
    }

    #[inline]
    fn store(&mut self, address: u32, size: Size, value: u32) -> Result<(), BusFault> {
        if (RAM..0x4000_0000).contains(&address) {
            return self.inside.memory.store_ram(address, size, value);
        }
        if address < RAM {
            let Inside { memory, parts, complaints, .. } = &mut *self.inside;
            let flash = (address as usize) < memory.flash.len() || (UICR..RAM).contains(&address);
            if !flash || !matches!(size, Size::Word) || !parts.nvmc.write(self.at, memory, address, value) {
                complaints.push(format!("a write to {address:#010x}, which is not open for writing"));
                return Err(BusFault { address });
            }
            self.inside.touched = true;
            return Ok(());
        }
        if address >= 0x6000_0000 {
            return Err(BusFault { address });
        }
        self.inside.touched = true;
        let (page, offset) = (address & !0xfff, address & 0xffc);
        // GPIO has no tasks.
        let is_task = offset < 0x100 && page < 0x5000_0000;
        if is_task && value & 1 == 0 {
            return Ok(());
        }
        let mut context = Context { at: self.at, memory: &mut self.inside.memory, raised: Vec::new() };
        let part = self.inside.parts.at(page);
        if is_task {
            part.task(offset, &mut context);
        } else {
            part.block().store(offset, value);
            part.written(offset, value, &mut context);
        }
        let raised = context.raised;
        self.inside.spread(page, raised, self.at);
        Ok(())
    }

    #[inline]
    fn fetch(&mut self, address: u32) -> Result<u16, BusFault> {
        self.inside.memory.load(address, Size::Half).map(|half| half as u16)
    }

    fn time(&mut self, cycles: u64) {
        self.at = cycles.min(self.until);
    }

    fn lines(&mut self) -> Option<u64> {
        self.inside.touched.then(|| self.inside.parts.lines())
    }

    fn attention(&mut self) -> bool {
        std::mem::take(&mut self.inside.touched)
    }
}

/// What it costs that flash is slower than the processor: cycles per 16 instructions on top of the processor's own.
/// With the instruction cache on, its misses; with it off, two wait states for every fetch of 32 bits and more for what is not
/// straight ahead. Both from what was seen: 1.72 and about 3 cycles per instruction.
const CACHED_16: u64 = 2;
const UNCACHED_16: u64 = 22;

/// How a program came to an end, before the chip was reset for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restart {
    /// When, in cycles.
    pub at: u64,
    /// RESETREAS.
    pub reason: u32,
    /// A sentence.
    pub how: String,
}

/// A chip.
#[derive(Debug)]
pub struct Chip {
    cpu: Cpu,
    inside: Inside,
    kind: Kind,
    /// Where the vector table is that a reset begins with.
    table: u32,
    /// Cycles that the processor was awake.
    pub busy: u64,
    /// How often it was reset, and why.
    pub restarts: Vec<Restart>,
}

impl Chip {
    /// A chip with an address of its own, without power.
    #[must_use]
    pub fn new(kind: Kind, device: u64) -> Self {
        let mut memory = kind.memory();
        let flash_bytes = memory.flash.len() as u32;
        let mut fact = |offset: u32, value: u32| {
            memory.ficr[offset as usize..][..4].copy_from_slice(&value.to_le_bytes());
        };
        kind.information().into_iter().for_each(|(offset, value)| fact(offset, value));
        // DEVICEID and DEVICEADDR.
        for offset in [0x60, 0xa4] {
            fact(offset, device as u32);
            fact(offset + 4, (device >> 32) as u32);
        }
        let mut parts = Peripherals::default();
        parts.rng.seed(device.wrapping_mul(0xd134_2543_de82_ef95));
        parts.rtc1.cycles_per_4096 = 4096 * 15_625 / 8;
        let inside = Inside { memory, parts, now: 0, touched: false, complaints: Vec::new() };
        let cpu = Cpu::new(flash_bytes);
        Self { cpu, inside, kind, table: 0, busy: 0, restarts: Vec::new() }
    }

    /// Bytes of a stack between two addresses that were ever written: RAM is full of what nobody wrote at first.
    #[must_use]
    pub fn stack_used(&self, bottom: u32, top: u32) -> u32 {
        let untouched = (bottom..top).take_while(|address| {
            self.inside.memory.load(*address, Size::Byte) == Ok(u32::from(crate::memory::UNTOUCHED))
        });
        top - bottom - untouched.count() as u32
    }

    /// Writes an image, as a programmer does.
    pub fn flash(&mut self, image: &[crate::image::Piece]) {
        for (address, bytes) in image {
            self.program(*address, bytes);
        }
    }

    /// Writes to flash or user information, as a programmer does.
    pub fn program(&mut self, address: u32, bytes: &[u8]) {
        for (index, byte) in (0..).zip(bytes) {
            if let Some(slot) = self.inside.memory.kept_mut(address + index) {
                *slot = *byte;
            }
        }
        self.cpu.forget(address, bytes.len() as u32);
    }

    /// Which chip it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Flash, RAM and information.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.inside.memory
    }

    /// The same, to change: what a debug probe can do.
    pub fn memory_mut(&mut self) -> &mut Memory {
        &mut self.inside.memory
    }

    /// Its peripherals.
    pub fn parts(&mut self) -> &mut Peripherals {
        &mut self.inside.parts
    }

    /// The processor.
    #[must_use]
    pub fn cpu(&self) -> &Cpu {
        &self.cpu
    }

    /// The time since power came, in cycles.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.inside.now
    }

    /// What the program did that no program should.
    #[must_use]
    pub fn complaints(&self) -> &[String] {
        &self.inside.complaints
    }

    /// From now on every reset begins with the vector table at this address, as behind a bootloader, which takes no time here.
    pub fn boot_from(&mut self, table: u32) {
        self.table = table;
    }

    /// Power comes, at a time on its clock.
    pub fn power_on(&mut self, at: u64) {
        self.inside.now = at;
        self.cpu.cycles = at;
        self.reset(0);
    }

    /// The reset pin is pulled.
    pub fn pull_reset(&mut self) {
        self.restart(reason::PIN, "its reset pin was pulled".into());
    }

    fn restart(&mut self, reason: u32, how: String) {
        self.restarts.push(Restart { at: self.inside.now, reason, how });
        self.cpu.cycles = self.inside.now;
        self.reset(reason);
    }

    fn reset(&mut self, reason: u32) {
        let parts = &mut self.inside.parts;
        let watchdog = reason == reason::SOFTWARE || reason == reason::LOCKUP;
        let (mut clock, mut radio, mut uarte) = (
            std::mem::take(&mut parts.clock),
            std::mem::take(&mut parts.radio),
            std::mem::take(&mut parts.uarte),
        );
        let (mut rng, mut nvmc) = (std::mem::take(&mut parts.rng), std::mem::take(&mut parts.nvmc));
        let (wdt, ecb) = (std::mem::take(&mut parts.wdt), std::mem::take(&mut parts.ecb));
        let slow = parts.rtc1.cycles_per_4096;
        clock.reset(reason);
        radio.reset();
        uarte.reset();
        rng.reset();
        nvmc.reset();
        *parts = Peripherals { clock, radio, uarte, rng, nvmc, ..Peripherals::default() };
        parts.rtc1.cycles_per_4096 = slow;
        parts.ecb.broken = ecb.broken;
        if watchdog {
            parts.wdt = wdt;
        }
        // A frame that was being sent is broken off; the air knows it already as whole, which is one in a flight.
        let mut seen = Seen { at: self.inside.now, until: u64::MAX, inside: &mut self.inside };
        self.cpu.reset_to(&mut seen, self.table);
    }

    /// Runs until a time on its clock.
    pub fn run(&mut self, until: u64) {
        while self.inside.now < until {
            self.inside.elapse(self.inside.now);
            if std::mem::take(&mut self.inside.parts.wdt.bitten) {
                self.restart(reason::WATCHDOG, format!("its watchdog bit at {:#010x}", self.cpu.pc()));
                continue;
            }
            let lines = self.inside.parts.lines();
            for irq in 0..64 {
                self.cpu.line(irq, lines >> irq & 1 != 0);
            }
            let next = self.inside.parts.due().map_or(until, |(at, _)| at.min(until));
            // While flash is written, the processor stands still; the peripherals do not.
            let stands = self.inside.parts.nvmc.stands_until;
            if stands > self.cpu.cycles {
                self.busy += stands - self.cpu.cycles;
                self.cpu.cycles = stands;
            }
            if self.cpu.cycles > self.inside.now {
                self.inside.now = next.min(self.cpu.cycles).max(self.inside.now + 1).min(until.max(next));
                continue;
            }
            if self.cpu.asleep() {
                self.inside.now = next.max(self.inside.now + 1);
                self.cpu.cycles = self.inside.now;
                continue;
            }
            self.execute(next.max(self.inside.now + 1));
        }
    }

    fn execute(&mut self, until: u64) {
        let (cycles, instructions) = (self.cpu.cycles, self.cpu.instructions);
        let mut seen = Seen { at: cycles, until, inside: &mut self.inside };
        let ended = self.cpu.run(&mut seen, until);
        let per_16 = if self.inside.parts.nvmc.cached() { CACHED_16 } else { UNCACHED_16 };
        self.cpu.cycles += (self.cpu.instructions - instructions) * per_16 / 16;
        for (address, bytes) in std::mem::take(&mut self.inside.parts.nvmc.changed) {
            self.cpu.forget(address, bytes);
        }
        self.busy += self.cpu.cycles - cycles;
        self.inside.now = self.inside.now.max(self.cpu.cycles.min(until)).max(cycles + 1);
        match ended {
            Ok(()) => {}
            Err(Stop::ResetRequested) => self.restart(reason::SOFTWARE, "its program asked for it".into()),
            Err(stop) => self.restart(reason::LOCKUP, format!("{stop:?}")),
        }
    }

    /// Asleep until then, if it is.
    #[must_use]
    pub fn asleep_until(&self) -> Option<u64> {
        let lines = self.cpu.asleep() && self.cpu.cycles <= self.inside.now;
        lines.then(|| self.inside.parts.due().map_or(u64::MAX, |(at, _)| at))
    }
}
