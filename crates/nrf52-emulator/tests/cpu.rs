//! Edge cases of instructions, by the ARMv7-M Architecture Reference Manual.
//!
//! `cpu_against_qemu` compares random instructions with QEMU.

use nrf52_emulator::cpu::StopReason;

use crate::cpu_machine::{CODE, Machine, RAM, STACK, STOP};

/// Executes one instruction and returns R0 and the condition flags.
fn execute(code: &[u16], r0: u32, r1: u32, carry: bool) -> (u32, String) {
    // CMP R2, R3 sets the carry.
    let mut machine = Machine::new(&[&[0x429a], code, &[STOP]].concat());
    machine.set(&[(0, r0), (1, r1), (2, u32::from(carry)), (3, 1)]);
    machine.run();
    (machine.r(0), machine.flags())
}

#[track_caller]
fn check((r0, condition_flags): (u32, String), value: u32, flags: &str) {
    assert_eq!((r0, condition_flags), (value, flags.to_owned()));
}

#[test]
fn additions_and_subtractions_set_carry_and_overflow() {
    let adcs = [0x4148]; // adcs r0, r1
    check(execute(&adcs, 1, 2, true), 4, "----");
    check(execute(&adcs, 0xffff_ffff, 0, true), 0, "-ZC-");
    check(execute(&adcs, 0xffff_ffff, 0xffff_ffff, true), 0xffff_ffff, "N-C-");
    check(execute(&adcs, 0x7fff_ffff, 0, true), 0x8000_0000, "N--V");
    check(execute(&adcs, 0x8000_0000, 0x8000_0000, false), 0, "-ZCV");
    let sbcs = [0x4188]; // sbcs r0, r1
    check(execute(&sbcs, 5, 5, true), 0, "-ZC-");
    check(execute(&sbcs, 5, 5, false), 0xffff_ffff, "N---");
    check(execute(&sbcs, 0x8000_0000, 0, false), 0x7fff_ffff, "--CV");
    check(execute(&sbcs, 0, 0xffff_ffff, false), 0, "-Z--");
    check(execute(&[0x4240], 0, 0, false), 0, "-ZC-"); // rsbs r0, r0, #0
    check(execute(&[0x4240], 0x8000_0000, 0, true), 0x8000_0000, "N--V");
    check(execute(&[0x4288], 3, 4, true), 3, "N---"); // cmp r0, r1
}

#[test]
fn shifts_by_zero_by_32_and_by_more_than_32() {
    let (lsls, lsrs, asrs, rors) = ([0x4088], [0x40c8], [0x4108], [0x41c8]);
    for shift in [lsls, lsrs, asrs, rors] {
        check(execute(&shift, 0x8000_0001, 0, true), 0x8000_0001, "N-C-");
        check(execute(&shift, 0x8000_0001, 0, false), 0x8000_0001, "N---");
        // The shift amount is the lowest byte.
        check(execute(&shift, 0x8000_0001, 0x100, false), 0x8000_0001, "N---");
    }
    check(execute(&lsls, 0x8000_0001, 32, false), 0, "-ZC-");
    check(execute(&lsls, 0x8000_0001, 33, true), 0, "-Z--");
    check(execute(&lsrs, 0x8000_0001, 32, false), 0, "-ZC-");
    check(execute(&lsrs, 0x8000_0001, 33, true), 0, "-Z--");
    check(execute(&asrs, 0x8000_0001, 32, false), 0xffff_ffff, "N-C-");
    check(execute(&asrs, 0x8000_0001, 200, false), 0xffff_ffff, "N-C-");
    check(execute(&asrs, 0x4000_0001, 32, true), 0, "-Z--");
    check(execute(&rors, 0x8000_0001, 32, false), 0x8000_0001, "N-C-");
    check(execute(&rors, 0x8000_0001, 33, false), 0xc000_0000, "N-C-");
    check(execute(&[0x0800], 0x8000_0000, 0, false), 0, "-ZC-"); // lsrs r0, r0, #32
    check(execute(&[0x1000], 0x8000_0000, 0, false), 0xffff_ffff, "N-C-"); // asrs r0, r0, #32
    check(execute(&[0x0000], 0, 0, true), 0, "-ZC-"); // movs r0, r0
    check(execute(&[0xea5f, 0x0030], 3, 0, true), 0x8000_0001, "N-C-"); // rrxs r0, r0
    // ands r0, r0, #0x80000000: a rotated immediate sets the carry to its bit 31.
    check(execute(&[0xf010, 0x4000], 0, 0, false), 0, "-ZC-");
    // ands r0, r0, #1: an immediate without rotation leaves the carry unchanged.
    check(execute(&[0xf010, 0x0001], 2, 0, true), 0, "-ZC-");
}

#[test]
fn instructions_in_an_it_block_are_conditional_and_set_no_flags() {
    let code = [
        0x4288, // cmp r0, r1
        0xbf0b, // itete eq
        0x3201, // addeq r2, #1
        0x2300, // movne r3, #0
        0x0064, // lsleq r4, r4, #1
        0x196d, // addne r5, r5, r5
        STOP,
    ];
    for (equal, expected) in [(true, [2, 7, 0, 5]), (false, [1, 0, 0x8000_0000, 10])] {
        let mut machine = Machine::new(&code);
        machine.set(&[(0, 4), (1, if equal { 4 } else { 6 }), (2, 1), (3, 7), (4, 0x8000_0000), (5, 5)]);
        machine.run();
        assert_eq!([2, 3, 4, 5].map(|n| machine.r(n)), expected);
        assert_eq!(machine.flags(), if equal { "-ZC-" } else { "N---" });
    }
}

#[test]
fn a_comparison_in_an_it_block_sets_the_flags() {
    let code = [
        0x2800, // cmp r0, #0
        0xbf04, // itt eq
        0x2905, // cmpeq r1, #5
        0x2209, // moveq r2, #9
        STOP,
    ];
    for (r0, r1, r2) in [(0, 5, 9), (0, 6, 0), (1, 5, 0)] {
        let mut machine = Machine::new(&code);
        machine.set(&[(0, r0), (1, r1), (2, 0)]);
        machine.run();
        assert_eq!(machine.r(2), r2);
    }
}

#[test]
fn ldm_stm_ldrd_and_strd_write_back() {
    let mut machine = Machine::new(&[
        0xc80e, // ldm r0!, {r1, r2, r3}
        0xcc30, // ldm r4, {r4, r5}
        0xe926, 0x0006, // stmdb r6!, {r1, r2}
        0xe937, 0x0300, // ldmdb r7!, {r8, r9}
        0xb502, // push {r1, lr}
        0xe8bd, 0x0c00, // pop.w {r10, r11}
        0xe870, 0x1202, // ldrd r1, r2, [r0], #-8
        0xe9e6, 0x1202, // strd r1, r2, [r6, #8]!
        STOP,
    ]);
    for at in 0..8 {
        machine.write_word(RAM + 4 * at, 0x100 + at);
    }
    machine.set(&[(0, RAM), (4, RAM + 12), (6, RAM + 0x48), (7, RAM + 32), (14, 0xabcd)]);
    machine.run();
    assert_eq!([3, 4, 5].map(|n| machine.r(n)), [0x102, 0x103, 0x104]);
    assert_eq!([8, 9].map(|n| machine.r(n)), [0x106, 0x107]);
    assert_eq!([10, 11].map(|n| machine.r(n)), [0x100, 0xabcd]);
    assert_eq!([1, 2].map(|n| machine.r(n)), [0x103, 0x104]);
    assert_eq!([0, 6, 7, 13].map(|n| machine.r(n)), [RAM + 4, RAM + 0x48, RAM + 24, STACK]);
    assert_eq!([0x40, 0x44, 0x48, 0x4c].map(|at| machine.read_word(RAM + at)), [0x100, 0x101, 0x103, 0x104]);
}

#[test]
fn unaligned_words_and_halfwords_are_loaded_and_stored() {
    let mut machine = Machine::new(&[
        0x6801, // ldr r1, [r0]
        0xf9b0, 0x2002, // ldrsh.w r2, [r0, #2]
        0xf8c0, 0x1007, // str.w r1, [r0, #7]
        STOP,
    ]);
    machine.write_word(RAM, 0x4433_2211);
    machine.write_word(RAM + 4, 0x8896_8655);
    machine.set(&[(0, RAM + 3)]);
    machine.run();
    assert_eq!((machine.r(1), machine.r(2)), (0x9686_5544, 0xffff_9686));
    assert_eq!((machine.read_word(RAM + 8), machine.read_word(RAM + 12)), (0x5544_0000, 0x9686));
}

#[test]
fn multiplications_divisions_and_bit_fields() {
    let mut machine = Machine::new(&[
        0xfbe2, 0x0163, // umaal r0, r1, r2, r3
        0xf365, 0x2413, // bfi r4, r5, #8, #12
        0xf36f, 0x061f, // bfc r6, #0, #32
        0xfb98, 0xf7f9, // sdiv r7, r8, r9
        0xfbb8, 0xfafb, // udiv r10, r8, r11
        STOP,
    ]);
    let all = 0xffff_ffff;
    machine.set(&[(0, all), (1, all), (2, all), (3, all), (4, all), (5, 0x1234_5678), (6, all)]);
    machine.set(&[(8, 0x8000_0000), (9, all), (10, 5), (11, 0)]);
    machine.run();
    assert_eq!((machine.r(0), machine.r(1)), (all, all));
    assert_eq!((machine.r(4), machine.r(6)), (0xfff6_78ff, 0));
    // A quotient that overflows wraps, and a division by zero gives zero.
    assert_eq!((machine.r(7), machine.r(10)), (0x8000_0000, 0));
}

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
fn nan_results_follow_fp_process_nans() {
    let mut machine = Machine::new(&[
        0xee00, 0x0a10, // vmov s0, r0
        0xee00, 0x1a90, // vmov s1, r1
        0xee30, 0x1a20, // vadd.f32 s2, s0, s1
        0xee11, 0x2a10, // vmov r2, s2
        STOP,
    ]);
    machine.enable_fpu();
    for (x, y, sum) in [
        // Infinity minus infinity gives the default NaN.
        (0x7f80_0000, 0xff80_0000, 0x7fc0_0000),
        // A signaling NaN has precedence over a quiet one, and becomes quiet.
        (0x7fc0_0001, 0xff80_0002, 0xffc0_0002),
        // Otherwise the first NaN is the result.
        (0xffc0_0001, 0x7fc0_0002, 0xffc0_0001),
        (0x3f80_0000, 0x7fc0_0002, 0x7fc0_0002),
    ] {
        machine.set(&[(0, x), (1, y), (15, CODE)]);
        machine.run();
        assert_eq!(machine.r(2), sum);
    }
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
