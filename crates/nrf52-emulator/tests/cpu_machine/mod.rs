//! Test bench: a processor with flash, RAM and one peripheral.

use nrf52_emulator::cpu::{Bus, BusError, Cpu, Size, StopReason};

/// Address of the program.
pub const CODE: u32 = 0x400;
/// Address of the exception handlers, 0x40 bytes each.
const HANDLERS: u32 = 0x2000;
/// Start of RAM.
pub const RAM: u32 = 0x2000_0000;
/// Initial MSP.
pub const STACK: u32 = RAM + 0x8000;
/// Peripheral register that sets the levels of interrupt lines 0 to 31.
pub const INTERRUPT_LINES: u32 = 0x4000_0000;
/// Peripheral register that makes [`Cpu::run`] return.
pub const RETURN_REQUEST: u32 = 0x4000_0004;
/// BKPT #0.
pub const STOP: u16 = 0xbe00;
/// Address of `STR R1, [R0]`, for [`Machine::poke`].
const POKE: u32 = 0x180;
/// Address of `LDR R1, [R0]`, for [`Machine::peek`].
const PEEK: u32 = 0x190;

/// Flash at 0, RAM at [`RAM`], and the peripheral.
#[derive(Debug, Default)]
pub struct Memory {
    flash: Vec<u8>,
    pub ram: Vec<u8>,
    interrupt_lines: Option<u64>,
    return_requested: bool,
    /// Number of calls of [`Bus::interrupt_lines`].
    pub line_queries: usize,
}

impl Memory {
    pub fn new(flash: Vec<u8>, ram: Vec<u8>) -> Self {
        Self { flash, ram, ..Self::default() }
    }

    fn bytes(&mut self, address: u32, count: usize) -> Result<&mut [u8], BusError> {
        let (memory, at) =
            if address < RAM { (&mut self.flash, address) } else { (&mut self.ram, address - RAM) };
        memory.get_mut(at as usize..at as usize + count).ok_or(BusError { address })
    }
}

impl Bus for Memory {
    fn load(&mut self, address: u32, size: Size) -> Result<u32, BusError> {
        Ok(match size {
            Size::Byte => u32::from(self.bytes(address, 1)?[0]),
            Size::Half => u32::from(self.fetch(address)?),
            Size::Word => u32::from_le_bytes(self.bytes(address, 4)?.try_into().unwrap()),
        })
    }

    fn store(&mut self, address: u32, size: Size, value: u32) -> Result<(), BusError> {
        match address {
            INTERRUPT_LINES => self.interrupt_lines = Some(value.into()),
            RETURN_REQUEST => self.return_requested = true,
            _ => {
                let count = [1, 2, 4][size as usize];
                self.bytes(address, count)?.copy_from_slice(&value.to_le_bytes()[..count]);
            }
        }
        Ok(())
    }

    fn fetch(&mut self, address: u32) -> Result<u16, BusError> {
        Ok(u16::from_le_bytes(self.bytes(address, 2)?.try_into().unwrap()))
    }

    fn interrupt_lines(&mut self) -> Option<u64> {
        self.line_queries += 1;
        self.interrupt_lines
    }

    fn should_return(&mut self) -> bool {
        std::mem::take(&mut self.return_requested)
    }
}

#[derive(Debug)]
pub struct Machine {
    pub cpu: Cpu,
    pub memory: Memory,
}

impl Machine {
    /// Creates a machine after reset, with a program at [`CODE`].
    ///
    /// Every exception has a handler at [`handler`], which returns at once.
    pub fn new(code: &[u16]) -> Self {
        let memory = Memory::new(vec![0; 0x1_0000], vec![0; 0x1_0000]);
        let mut machine = Self { cpu: Cpu::new(0x1_0000), memory };
        machine.write_word(0, STACK);
        machine.write_word(4, CODE | 1);
        for number in 2..80 {
            machine.write_word(4 * number, handler(number) | 1);
            machine.write_code(handler(number), &[0x4770]); // bx lr
        }
        machine.write_code(POKE, &[0x6001, STOP]);
        machine.write_code(PEEK, &[0x6801, STOP]);
        machine.write_code(CODE, code);
        machine.cpu.reset(&mut machine.memory);
        machine
    }

    pub fn write_word(&mut self, address: u32, value: u32) {
        self.memory.bytes(address, 4).unwrap().copy_from_slice(&value.to_le_bytes());
    }

    pub fn read_word(&mut self, address: u32) -> u32 {
        self.memory.load(address, Size::Word).unwrap()
    }

    pub fn write_code(&mut self, address: u32, code: &[u16]) {
        for (at, half) in (address..).step_by(2).zip(code) {
            self.memory.bytes(at, 2).unwrap().copy_from_slice(&half.to_le_bytes());
        }
        self.cpu.invalidate_code(address, 2 * code.len() as u32);
    }

    /// Runs to a breakpoint and returns its number.
    pub fn run(&mut self) -> u8 {
        match self.cpu.run(&mut self.memory, self.cpu.cycles + 100_000) {
            Err(StopReason::Breakpoint { number, .. }) => number,
            other => panic!("{other:x?} at {:#x}", self.cpu.pc()),
        }
    }

    /// Runs until the processor stops and returns the reason.
    pub fn run_to_stop(&mut self) -> StopReason {
        self.cpu.run(&mut self.memory, self.cpu.cycles + 100_000).expect_err("the processor stops")
    }

    pub fn step(&mut self) {
        self.cpu.step(&mut self.memory).unwrap();
    }

    pub fn steps(&mut self, count: usize) {
        for _ in 0..count {
            self.step();
        }
    }

    /// Runs code at `address` with R0 and R1 and returns R1.
    ///
    /// The program's registers are restored.
    fn call(&mut self, address: u32, r0: u32, r1: u32) -> u32 {
        let before = [0, 1, 15].map(|n| self.cpu.register(n));
        for (n, value) in [(0, r0), (1, r1), (15, address)] {
            self.cpu.set_register(n, value);
        }
        self.run();
        let result = self.cpu.register(1);
        for (n, value) in [0, 1, 15].into_iter().zip(before) {
            self.cpu.set_register(n, value);
        }
        result
    }

    /// Writes a register on the private peripheral bus.
    pub fn poke(&mut self, address: u32, value: u32) {
        self.call(POKE, address, value);
    }

    /// Reads a register on the private peripheral bus.
    pub fn peek(&mut self, address: u32) -> u32 {
        self.call(PEEK, address, 0)
    }

    /// Sets registers, given as pairs of number and value.
    pub fn set(&mut self, registers: &[(usize, u32)]) {
        for (n, value) in registers {
            self.cpu.set_register(*n, *value);
        }
    }

    pub fn r(&self, n: usize) -> u32 {
        self.cpu.register(n)
    }

    /// Enables interrupt `irq` with a priority of 0 to 7.
    pub fn enable_interrupt(&mut self, irq: u32, priority: u32) {
        let register = ppb::NVIC_IPR0 + irq / 4 * 4;
        let others = self.peek(register) & !(0xff << (8 * (irq % 4)));
        self.poke(register, others | priority << 5 << (8 * (irq % 4)));
        self.poke(ppb::NVIC_ISER0 + irq / 32 * 4, 1 << (irq % 32));
    }

    pub fn enable_fpu(&mut self) {
        self.poke(ppb::CPACR, 0x00f0_0000);
    }
}

/// Returns the address of the handler of an exception.
pub fn handler(number: u32) -> u32 {
    HANDLERS + 0x40 * number
}

/// Returns the exception number of interrupt `irq`.
pub const fn exception(irq: u32) -> u32 {
    16 + irq
}

/// Addresses of registers on the private peripheral bus.
pub mod ppb {
    pub const DWT_CTRL: u32 = 0xe000_1000;
    pub const DWT_CYCCNT: u32 = 0xe000_1004;
    pub const SYST_CSR: u32 = 0xe000_e010;
    pub const SYST_RVR: u32 = 0xe000_e014;
    pub const SYST_CVR: u32 = 0xe000_e018;
    pub const NVIC_ISER0: u32 = 0xe000_e100;
    pub const NVIC_ISPR0: u32 = 0xe000_e200;
    pub const NVIC_ICPR0: u32 = 0xe000_e280;
    pub const NVIC_IPR0: u32 = 0xe000_e400;
    pub const CPUID: u32 = 0xe000_ed00;
    pub const ICSR: u32 = 0xe000_ed04;
    pub const VTOR: u32 = 0xe000_ed08;
    pub const AIRCR: u32 = 0xe000_ed0c;
    pub const SCR: u32 = 0xe000_ed10;
    pub const CCR: u32 = 0xe000_ed14;
    pub const SHPR3: u32 = 0xe000_ed20;
    pub const SHCSR: u32 = 0xe000_ed24;
    pub const CFSR: u32 = 0xe000_ed28;
    pub const HFSR: u32 = 0xe000_ed2c;
    pub const BFAR: u32 = 0xe000_ed38;
    pub const CPACR: u32 = 0xe000_ed88;
    pub const MPU_TYPE: u32 = 0xe000_ed90;
    pub const DHCSR: u32 = 0xe000_edf0;
    pub const DEMCR: u32 = 0xe000_edfc;
}
