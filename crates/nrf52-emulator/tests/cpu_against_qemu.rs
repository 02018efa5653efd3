//! Comparison with QEMU's Cortex-M4F: random instructions with random registers.
//!
//! The test generates one image. The emulator and QEMU run it, and must store equal registers,
//! flags and memory.

use std::{env, fs, iter, path::Path, process::Command};

use nrf52_emulator::cpu::{Bus as _, Cpu, Size, StopReason, instruction_length};

use crate::{
    cpu_machine::Memory,
    cpu_patterns::{FLOAT, MEMORY, NARROW, STATUS, WIDE},
};

/// Number of generated snippets.
const CASES: usize = 12_000;
const SEED: u64 = 0x5eed_0000_4ad7;

/// Pseudorandom generator (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ x >> 31) as u32
    }

    fn below(&mut self, end: usize) -> usize {
        self.next() as usize % end
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Returns an integer, often an edge case.
    fn integer(&mut self) -> u32 {
        let special =
            [0, 1, 2, 31, 32, 33, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
        match self.below(4) {
            0 => self.pick(&special),
            1 => self.next() & 0xff,
            2 => self.next() >> self.below(32),
            _ => self.next(),
        }
    }

    /// Returns a float, often an edge case.
    ///
    /// Edge cases are zero, infinity, NaN, subnormals and the limits of integer types.
    fn float(&mut self) -> u32 {
        let special = [
            [0, 1, 0x7f_ffff, 0x80_0000, 0x80_0001, 0x3f80_0000, 0x3f00_0000, 0x3fc0_0000, 0x4020_0000],
            [0x7f7f_ffff, 0x7f80_0000, 0x7f80_0001, 0x7fc0_0000, 0x7fa0_1234, 0x7fd5_4321, 0x4f00_0000, 2, 3],
            [0x4f80_0000, 0x4eff_ffff, 0x4700_0000, 0x477f_ff00, 0x3300_0000, 0x3880_0000, 0x387f_e000, 4, 5],
            [0x4b80_0001, 0x4b00_0001, 0x477f_f000, 6, 7, 8, 9, 10, 11],
        ];
        let sign = self.next() & 0x8000_0000;
        match self.below(8) {
            0 | 1 => sign | self.pick(special.as_flattened()),
            2 => self.next(),
            3 => sign | self.next() & 0x7f_ffff,
            4 => (self.below(2000) as f32 - 1000.0).to_bits(),
            5 => sign | (0x3f80_0000 + (self.next() & 7)),
            // Half precision: infinities and NaNs.
            6 => self.next() & 0xffff_83ff | 0x7c00,
            _ => sign | (0x3000_0000 + (self.next() & 0x1fff_ffff)),
        }
    }
}

/// Registers of generated instructions.
///
/// The code around a snippet uses R12. SP and PC are excluded, too.
const REGISTERS: [u16; 13] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14];

/// Generates an instruction from a random pattern.
fn instruction(patterns: &str, random: &mut Random) -> Vec<u16> {
    let lines: Vec<_> = patterns.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let line = random.pick(&lines);
    let narrow = patterns == NARROW;
    loop {
        let mut registers = [None; 128];
        let bits: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        let (retry, bits) = bits.strip_prefix('?').map_or((false, &*bits), |bits| (true, bits));
        let bits: Vec<_> = bits.chars().take(if narrow { 16 } else { 32 }).collect();
        let mut code = 0u32;
        let mut at = 0;
        while at < bits.len() {
            let letter = bits[at];
            let run = bits[at..].iter().take_while(|c| **c == letter).count();
            let (value, taken) = match letter {
                '0' | '1' => (letter as u32 - 48, 1),
                'x' => (random.next() & 1, 1),
                _ if run == 3 => (random.next() & 7, 3),
                _ => {
                    assert_eq!(run, 4, "{line}");
                    let register = random.pick(&REGISTERS);
                    registers[letter as usize] = Some(register);
                    (u32::from(register), 4)
                }
            };
            code = code << taken | value;
            at += taken;
        }
        let code = if narrow { vec![code as u16] } else { vec![(code >> 16) as u16, code as u16] };
        let register = |letter: char| registers[letter as usize];
        if register('l').is_some() && register('l') == register('h') {
            continue;
        }
        // Write-back to a transferred register is UNPREDICTABLE.
        if patterns == MEMORY && [register('d'), register('l'), register('h')].contains(&Some(11)) {
            continue;
        }
        let length = instruction_length(code[0], *code.last().unwrap());
        if retry && length.is_none() {
            continue;
        }
        assert_eq!(length, Some(code.len() * 2), "{line}: {code:04x?}");
        return code;
    }
}

/// Generates one instruction, a conditional branch or an IT block.
///
/// The second result tells whether R11 must point to the scratch memory.
fn snippet(random: &mut Random) -> (Vec<u16>, bool) {
    match random.below(10) {
        0 | 1 => (instruction(NARROW, random), false),
        2..=4 => (instruction(WIDE, random), false),
        5 if random.below(16) == 0 => (instruction(STATUS, random), false),
        5 | 6 => (instruction(FLOAT, random), false),
        7 => (instruction(MEMORY, random), true),
        8 => {
            // A conditional branch over one instruction.
            let branch = 0xd000 | (random.below(14) as u16) << 8;
            (iter::once(branch).chain(instruction(NARROW, random)).collect(), false)
        }
        _ => {
            let (condition, mask) = (random.below(14) as u16, 1 + random.below(15) as u16);
            let mut code = vec![0xbf00 | condition << 4 | mask];
            for _ in 0..4 - mask.trailing_zeros() {
                let patterns = random.pick(&[NARROW, NARROW, WIDE, FLOAT]);
                code.extend(instruction(patterns, random));
            }
            (code, false)
        }
    }
}

const STACK: u32 = 0x203f_0000;
const RESULTS: u32 = 0x2000_0000;
const SCRATCH: u32 = 0x203e_0000;
const SCRATCH_BYTES: u32 = 512;
/// Words of a result: R0 to R11, LR, APSR, FPSCR, S0 to S31.
const WORDS: usize = 13 + 1 + 1 + 32;
/// Address of the initial registers of all snippets.
const INPUTS: u32 = 0x14_0000;

/// Image under construction.
struct Image {
    bytes: Vec<u8>,
}

impl Image {
    fn code(&mut self, halves: &[u16]) {
        self.bytes.extend(halves.iter().flat_map(|half| half.to_le_bytes()));
    }

    /// Appends MOVW and MOVT.
    fn constant(&mut self, register: u16, value: u32) {
        for (op, half) in [(0xf240, value & 0xffff), (0xf2c0, value >> 16)] {
            let half = half as u16;
            let first = op | half >> 12 | (half >> 11 & 1) << 10;
            self.code(&[first, (half >> 8 & 7) << 12 | register << 8 | half & 0xff]);
        }
    }

    /// Appends a semihosting call: BKPT 0xAB with R0 and R1.
    fn semihosting(&mut self, call: u32, argument: u32) {
        self.constant(0, call);
        self.constant(1, argument);
        self.code(&[0xbeab]);
    }

    fn word(&mut self, at: u32, value: u32) {
        let at = at as usize;
        self.bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
}

/// Generates the image and returns it with the snippets.
fn image(random: &mut Random) -> (Vec<u8>, Vec<Vec<u16>>) {
    let mut image = Image { bytes: vec![0; 0x200] };
    // A fault exits without results.
    let fault = image.bytes.len() as u32;
    image.semihosting(0x18, 0x20023);
    let reset = image.bytes.len() as u32;
    image.word(0, STACK);
    for vector in 1..16 {
        image.word(4 * vector, fault | 1);
    }
    image.word(4, reset | 1);
    image.constant(0, 0xe000_ed88);
    image.constant(1, 0x00f0_0000);
    // STR R1, [R0]; DSB; ISB
    image.code(&[0x6001, 0xf3bf, 0x8f4f, 0xf3bf, 0x8f6f]);
    let (mut inputs, mut snippets) = (Vec::new(), Vec::new());
    for case in 0..CASES as u32 {
        let (code, memory) = snippet(random);
        image.constant(12, INPUTS + case * 4 * WORDS as u32);
        // VLDMIA R12!, {S0-S31}; LDR R0, [R12], #4; VMSR FPSCR, R0; LDR R0, [R12], #4; MSR
        // APSR_nzcvqg, R0; LDM R12, {R0-R11, LR}
        image.code(&[
            0xecbc, 0x0a20, 0xf85c, 0x0b04, 0xeee1, 0x0a10, 0xf85c, 0x0b04, 0xf380, 0x8c00, 0xe89c, 0x4fff,
        ]);
        image.code(&code);
        image.constant(12, RESULTS + case * 4 * WORDS as u32);
        // STMIA R12!, {R0-R11, LR}; MRS R0, APSR; STR R0, [R12], #4; VMRS R0, FPSCR; STR R0, [R12],
        // #4; VSTMIA R12!, {S0-S31}
        image.code(&[
            0xe8ac, 0x4fff, 0xf3ef, 0x8000, 0xf84c, 0x0b04, 0xeef1, 0x0a10, 0xf84c, 0x0b04, 0xecac, 0x0a20,
        ]);
        snippets.push(code);
        inputs.extend(
            iter::repeat_with(|| if random.below(8) == 0 { random.integer() } else { random.float() })
                .take(32),
        );
        let modes = [0, 0, 0, 0, 1 << 22, 2 << 22, 3 << 22, 1 << 24, 1 << 25, 1 << 26, 0x07c0_0000];
        inputs.push(random.next() & 0xf000_0000 | random.pick(&modes));
        inputs.push(random.next() & 0xf80f_0000);
        inputs.extend(iter::repeat_with(|| random.integer()).take(13));
        if memory {
            *inputs.iter_mut().nth_back(1).unwrap() = SCRATCH + SCRATCH_BYTES / 2;
        }
    }
    // SYS_OPEN "results" for writing, SYS_WRITE, SYS_EXIT.
    let arguments = INPUTS - 64;
    image.semihosting(0x01, arguments);
    image.constant(2, RESULTS - 16 + 0x3f_0000);
    // Stores the file handle in the argument block in RAM: STR R0, [R2]; MOV R1, R2
    image.code(&[0x6010, 0x4611]);
    image.constant(0, RESULTS);
    image.code(&[0x6050]);
    image.constant(0, SCRATCH + SCRATCH_BYTES - RESULTS);
    image.code(&[0x6090]);
    image.constant(0, 0x05);
    image.code(&[0xbeab]);
    image.semihosting(0x18, 0x20026);
    assert!(image.bytes.len() < arguments as usize);
    image.bytes.resize(INPUTS as usize, 0);
    for (at, word) in [INPUTS - 32, 5, 7].into_iter().enumerate() {
        image.word(arguments + 4 * at as u32, word);
    }
    image.bytes[INPUTS as usize - 32..][..7].copy_from_slice(b"results");
    image.bytes.extend(inputs.iter().flat_map(|word| word.to_le_bytes()));
    assert!(image.bytes.len() <= 0x40_0000 && SCRATCH - RESULTS > (CASES * WORDS * 4) as u32);
    (image.bytes, snippets)
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

#[test]
fn random_instructions_give_the_results_of_qemu() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cpu_against_qemu");
    fs::create_dir_all(&folder).unwrap();
    // Another seed: CPU_SEED=7 cargo test -p nrf52-emulator cpu_against_qemu
    let seed = env::var("CPU_SEED").map_or(SEED, |seed| seed.parse().unwrap());
    let (flash, snippets) = image(&mut Random(seed));
    fs::write(folder.join("image"), &flash).unwrap();

    let mut memory = Memory::new(flash.clone(), vec![0; 0x40_0000]);
    let mut cpu = Cpu::new(flash.len() as u32);
    cpu.reset(&mut memory);
    let stop = cpu.run(&mut memory, u64::MAX).unwrap_err();
    assert!(matches!(stop, StopReason::Breakpoint { number: 0xab, .. }), "{stop:x?}");
    assert_eq!(cpu.register(0), 1, "fault at {:#x}", memory.load(cpu.register(13) + 24, Size::Word).unwrap());
    let actual = words(&memory.ram[..(SCRATCH + SCRATCH_BYTES - RESULTS) as usize]);

    let _ = fs::remove_file(folder.join("results"));
    let status = Command::new("qemu-system-arm")
        .args(["-machine", "mps2-an386", "-display", "none", "-monitor", "none", "-serial", "none"])
        .args(["-semihosting-config", "enable=on,target=native", "-kernel", "image"])
        .current_dir(&folder)
        .status();
    let Ok(status) = status else {
        eprintln!("SKIPPED: qemu-system-arm is not installed");
        return;
    };
    assert!(status.success(), "a fault in QEMU");
    let expected = words(&fs::read(folder.join("results")).unwrap());
    assert_eq!(actual.len(), expected.len());

    let inputs = words(&flash[INPUTS as usize..]);
    let mut mismatches = 0;
    for (case, code) in snippets.iter().enumerate() {
        let (first, last) = (case * WORDS, (case + 1) * WORDS);
        for at in first..last {
            // The cumulative exception flags of FPSCR are not emulated.
            let mask = if at - first == 14 { !0x9f } else { !0 };
            if (actual[at] ^ expected[at]) & mask != 0 {
                mismatches += 1;
                if mismatches < 20 {
                    let name = match at - first {
                        n @ 0..=11 => format!("R{n}"),
                        12 => "LR".into(),
                        13 => "APSR".into(),
                        14 => "FPSCR".into(),
                        n => format!("S{}", n - 15),
                    };
                    eprintln!(
                        "case {case}: {code:04x?} {name} = {:08x}, QEMU {:08x}",
                        actual[at], expected[at]
                    );
                    let input = &inputs[first..last];
                    eprintln!("  S {:08x?}", &input[..32]);
                    eprintln!("  FPSCR {:08x} APSR {:08x} R {:08x?}", input[32], input[33], &input[34..]);
                }
            }
        }
    }
    assert_eq!(mismatches, 0, "mismatches in {CASES} snippets");
    let scratch = ((SCRATCH - RESULTS) / 4) as usize;
    assert_eq!(actual[scratch..], expected[scratch..], "scratch memory");
}
