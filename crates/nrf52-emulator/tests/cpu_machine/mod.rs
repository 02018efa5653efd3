//! A processor with memory and one peripheral, for programs written as halfwords.
#![allow(dead_code, reason = "each test uses some of it")]

use nrf52_emulator::cpu::{Bus, BusFault, Cpu, Size, Stop};

pub const CODE: u32 = 0x400;
/// Handlers of exceptions, 0x40 bytes each.
pub const HANDLERS: u32 = 0x2000;
pub const RAM: u32 = 0x2000_0000;
pub const STACK: u32 = RAM + 0x8000;
/// Writing a word here sets the levels of lines 0 to 31.
pub const LINES: u32 = 0x4000_0000;
/// Writing here wants attention.
pub const ATTENTION: u32 = 0x4000_0004;
/// BKPT #0
pub const STOP: u16 = 0xbe00;
/// `STR R1, [R0]` or `LDR R1, [R0]`, for the test itself.
const POKE: u32 = 0x180;
const PEEK: u32 = 0x190;

#[derive(Debug)]
pub struct Memory {
    pub flash: Vec<u8>,
    pub ram: Vec<u8>,
    pub lines: Option<u64>,
    pub attention: bool,
    pub asked: usize,
}

impl Memory {
    fn at(&mut self, address: u32, bytes: usize) -> Result<&mut [u8], BusFault> {
        let (memory, at) =
            if address < RAM { (&mut self.flash, address) } else { (&mut self.ram, address - RAM) };
        memory.get_mut(at as usize..at as usize + bytes).ok_or(BusFault { address })
    }
}

impl Bus for Memory {
    fn load(&mut self, address: u32, size: Size) -> Result<u32, BusFault> {
        Ok(match size {
            Size::Byte => u32::from(self.at(address, 1)?[0]),
            Size::Half => u32::from(self.fetch(address)?),
            Size::Word => u32::from_le_bytes(self.at(address, 4)?.try_into().unwrap()),
        })
    }

    fn store(&mut self, address: u32, size: Size, value: u32) -> Result<(), BusFault> {
        match address {
            LINES => self.lines = Some(value.into()),
            ATTENTION => self.attention = true,
            _ => {
                let bytes = [1, 2, 4][size as usize];
                self.at(address, bytes)?.copy_from_slice(&value.to_le_bytes()[..bytes]);
            }
        }
        Ok(())
    }

    fn fetch(&mut self, address: u32) -> Result<u16, BusFault> {
        Ok(u16::from_le_bytes(self.at(address, 2)?.try_into().unwrap()))
    }

    fn lines(&mut self) -> Option<u64> {
        self.asked += 1;
        self.lines
    }

    fn attention(&mut self) -> bool {
        std::mem::take(&mut self.attention)
    }
}

#[derive(Debug)]
pub struct Machine {
    pub cpu: Cpu,
    pub memory: Memory,
}

impl Machine {
    /// After a reset, at [`CODE`], where `code` is. Every exception's handler is at [`handler`], and returns at once.
    pub fn new(code: &[u16]) -> Self {
        let memory = Memory {
            flash: vec![0; 0x1_0000],
            ram: vec![0; 0x1_0000],
            lines: None,
            attention: false,
            asked: 0,
        };
        let mut machine = Self { cpu: Cpu::new(0x1_0000), memory };
        machine.word(0, STACK);
        machine.word(4, CODE | 1);
        for number in 2..80 {
            machine.word(4 * number, handler(number) | 1);
            machine.code(handler(number), &[0x4770]); // bx lr
        }
        machine.code(POKE, &[0x6001, STOP]);
        machine.code(PEEK, &[0x6801, STOP]);
        machine.code(CODE, code);
        machine.cpu.reset(&mut machine.memory);
        machine
    }

    pub fn word(&mut self, address: u32, value: u32) {
        self.memory.at(address, 4).unwrap().copy_from_slice(&value.to_le_bytes());
    }

    pub fn read(&mut self, address: u32) -> u32 {
        self.memory.load(address, Size::Word).unwrap()
    }

    pub fn code(&mut self, address: u32, code: &[u16]) {
        for (at, half) in (address..).step_by(2).zip(code) {
            self.memory.at(at, 2).unwrap().copy_from_slice(&half.to_le_bytes());
        }
        self.cpu.forget(address, 2 * code.len() as u32);
    }

    /// Runs to a breakpoint, and returns its number.
    pub fn run(&mut self) -> u8 {
        match self.cpu.run(&mut self.memory, self.cpu.cycles + 100_000) {
            Err(Stop::Breakpoint { number, .. }) => number,
            other => panic!("{other:x?} at {:#x}", self.cpu.pc()),
        }
    }

    /// Runs to something else.
    pub fn stop(&mut self) -> Stop {
        self.cpu.run(&mut self.memory, self.cpu.cycles + 100_000).expect_err("an end")
    }

    pub fn step(&mut self) {
        self.cpu.step(&mut self.memory).unwrap();
    }

    pub fn steps(&mut self, count: usize) {
        for _ in 0..count {
            self.step();
        }
    }

    fn aside(&mut self, at: u32, r0: u32, r1: u32) -> u32 {
        let before = [0, 1, 15].map(|n| self.cpu.register(n));
        for (n, value) in [(0, r0), (1, r1), (15, at)] {
            self.cpu.set_register(n, value);
        }
        self.run();
        let result = self.cpu.register(1);
        for (n, value) in [0, 1, 15].into_iter().zip(before) {
            self.cpu.set_register(n, value);
        }
        result
    }

    /// Writes a register of the processor's, as its code would.
    pub fn poke(&mut self, address: u32, value: u32) {
        self.aside(POKE, address, value);
    }

    /// Reads one.
    pub fn peek(&mut self, address: u32) -> u32 {
        self.aside(PEEK, address, 0)
    }

    pub fn set(&mut self, registers: &[(usize, u32)]) {
        for (n, value) in registers {
            self.cpu.set_register(*n, *value);
        }
    }

    pub fn r(&self, n: usize) -> u32 {
        self.cpu.register(n)
    }

    /// N, Z, C, V as letters.
    pub fn flags(&self) -> String {
        let bits = self.cpu.xpsr() >> 28;
        "NZCV".chars().enumerate().map(|(at, c)| if bits >> (3 - at) & 1 != 0 { c } else { '-' }).collect()
    }

    /// Enables interrupt `irq` with a priority of 0 to 7.
    pub fn enable(&mut self, irq: u32, priority: u32) {
        let register = 0xe000_e400 + irq / 4 * 4;
        let others = self.peek(register) & !(0xff << (8 * (irq % 4)));
        self.poke(register, others | priority << 5 << (8 * (irq % 4)));
        self.poke(0xe000_e100 + irq / 32 * 4, 1 << (irq % 32));
    }

    pub fn enable_float(&mut self) {
        self.poke(0xe000_ed88, 0x00f0_0000);
    }
}

pub fn handler(number: u32) -> u32 {
    HANDLERS + 0x40 * number
}

/// The number of the exception that interrupt `irq` is.
pub const fn external(irq: u32) -> u32 {
    16 + irq
}
