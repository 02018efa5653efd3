//! Instructions that `cpu_against_qemu` does not compare with QEMU: branches, exclusive accesses, modified code, cycles.

use nrf52_emulator::cpu::StopReason;

use crate::cpu_machine::{CODE, Machine, RAM, STOP};

#[test]
fn tbb_branches_by_table() {
    for (index, expected) in [(0, 10), (1, 20), (2, 30), (3, 40)] {
        let mut machine = Machine::new(&[
            0xe8df, 0xf000, // tbb [pc, r0]
            0x0402, 0x0806, // 2, 4, 6, 8
            0x210a, STOP, // movs r1, #10
            0x2114, STOP, // movs r1, #20
            0x211e, STOP, // movs r1, #30
            0x2128, STOP, // movs r1, #40
        ]);
        machine.set(&[(0, index)]);
        machine.run();
        assert_eq!(machine.r(1), expected);
    }
}

#[test]
fn cbz_cbnz_and_bl_branch() {
    let mut machine = Machine::new(&[
        0xb100, // cbz r0, +4
        0x3101, // adds r1, #1
        0xb900, // cbnz r0, +4
        0x3102, // adds r1, #2
        0xf000, 0xf801, // bl +6
        STOP,   //
        0x4676, // mov r6, lr
        0x4770, // bx lr
    ]);
    machine.set(&[(0, 0), (1, 0)]);
    machine.run();
    assert_eq!((machine.r(1), machine.r(6)), (2, CODE + 13));
    assert_eq!(machine.cpu.pc(), CODE + 12);
}

#[test]
fn an_exclusive_store_succeeds_once_per_exclusive_load() {
    let mut machine = Machine::new(&[
        0xe851, 0x0f00, // ldrex r0, [r1]
        0xe841, 0x0200, // strex r2, r0, [r1]
        0xe841, 0x0300, // strex r3, r0, [r1]
        0xe851, 0x0f00, // ldrex r0, [r1]
        0xf3bf, 0x8f2f, // clrex
        0xe841, 0x0400, // strex r4, r0, [r1]
        STOP,
    ]);
    machine.set(&[(1, RAM)]);
    machine.run();
    assert_eq!([2, 3, 4].map(|n| machine.r(n)), [0, 1, 1]);
}

#[test]
fn modified_code_in_ram_is_executed() {
    let mut machine = Machine::new(&[0x4700]); // bx r0
    machine.write_code(RAM + 0x100, &[0x2105, STOP]); // movs r1, #5
    machine.set(&[(0, RAM + 0x101)]);
    machine.run();
    assert_eq!(machine.r(1), 5);
    machine.write_code(RAM + 0x100, &[0x2106, STOP]);
    machine.set(&[(15, RAM + 0x100)]);
    machine.run();
    assert_eq!(machine.r(1), 6);
}

#[test]
fn modified_code_in_flash_is_executed_after_invalidation() {
    let mut machine = Machine::new(&[0xf240, 0x0105, STOP]); // movw r1, #5
    machine.run();
    // Changes the second halfword to movw r1, #7.
    machine.write_code(CODE + 2, &[0x0107]);
    machine.set(&[(15, CODE)]);
    machine.run();
    assert_eq!(machine.r(1), 7);
}

#[test]
fn an_unknown_instruction_stops_the_processor() {
    let mut machine = Machine::new(&[0xbf00, 0xfe00, 0x0a00]); // nop; vseleq.f32, which needs FPv5
    assert_eq!(machine.run_to_stop(), StopReason::UnknownInstruction { pc: CODE + 2, code: 0xfe00_0a00 });
    assert_eq!(machine.cpu.pc(), CODE + 2);
}

#[test]
fn instructions_take_the_documented_cycles() {
    let mut machine = Machine::new(&[
        0x3001, // adds r0, #1
        0x6819, // ldr r1, [r3]
        0x681a, // ldr r2, [r3]
        0xcb06, // ldm r3!, {r1, r2}
        0xfb01, 0x0002, // mla r0, r1, r2, r0
        0xe7ff, // b +2
        0xd1fe, // bne -4, not taken
        0xee80, 0x0a81, // vdiv.f32 s0, s1, s2
        0xeea0, 0x0a81, // vfma.f32 s0, s1, s2
        STOP,
    ]);
    machine.enable_fpu();
    machine.set(&[(0, 0xffff_ffff), (3, RAM)]);
    for cycles in [1, 2, 1, 3, 2, 3, 1, 14, 3] {
        let before = machine.cpu.cycles;
        machine.step();
        assert_eq!(machine.cpu.cycles - before, cycles, "instruction before {:#x}", machine.cpu.pc());
    }
}
