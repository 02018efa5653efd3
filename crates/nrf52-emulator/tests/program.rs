//! Generated programs that access registers.

use nrf52_emulator::{Chip, Part, memory::RAM_BASE};

/// Address for data of a program.
pub const BUFFER: u32 = RAM_BASE + 0x100;
const WFI: u16 = 0xbf30;

/// Step of a program.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Writes a word to an address.
    Write(u32, u32),
    /// Waits until the word at an address is not zero.
    Wait(u32),
    /// Copies a word from an address to an address.
    Copy(u32, u32),
}

/// Appends MOVW and MOVT.
fn constant(code: &mut Vec<u16>, register: u16, value: u32) {
    for (opcode, half) in [(0xf240, value as u16), (0xf2c0, (value >> 16) as u16)] {
        code.push(opcode | half >> 12 | (half >> 11 & 1) << 10);
        code.push((half >> 8 & 7) << 12 | register << 8 | half & 0xff);
    }
}

/// Returns an image that performs steps and then sleeps.
fn image_of(steps: &[Step]) -> Vec<u8> {
    // Initial SP and reset vector.
    let mut code = vec![0x1000, (RAM_BASE >> 16) as u16, 9, 0];
    for step in steps {
        match *step {
            Step::Write(address, value) => {
                constant(&mut code, 0, address);
                constant(&mut code, 1, value);
                code.push(0x6001); // str r1, [r0]
            }
            Step::Wait(address) => {
                constant(&mut code, 0, address);
                code.extend([0x6801, 0x2900, 0xd0fc]); // ldr r1, [r0]; cmp r1, #0; beq .-4
            }
            Step::Copy(from, to) => {
                constant(&mut code, 0, from);
                code.push(0x6801); // ldr r1, [r0]
                constant(&mut code, 0, to);
                code.push(0x6001); // str r1, [r0]
            }
        }
    }
    code.extend([WFI, 0xe7fd]); // wfi; b .-2
    code.into_iter().flat_map(u16::to_le_bytes).collect()
}

/// Returns a chip without power whose program performs steps.
pub fn chip_with(steps: &[Step]) -> Chip {
    let mut chip = Chip::new(Part::Nrf52833, 7);
    chip.program(0, &image_of(steps));
    chip
}

/// Returns a chip without power whose program writes words, given as address and value.
pub fn chip(writes: &[(u32, u32)]) -> Chip {
    let steps: Vec<Step> = writes.iter().map(|(address, value)| Step::Write(*address, *value)).collect();
    chip_with(&steps)
}
