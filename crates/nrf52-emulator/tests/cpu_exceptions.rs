//! Exceptions, sleep and the private peripherals of the Cortex-M4F.
use crate::cpu_machine;

use cpu_machine::{ATTENTION, CODE, LINES, Machine, RAM, STACK, STOP, external, handler};
use nrf52_emulator::cpu::Stop;

const CFSR: u32 = 0xe000_ed28;
const HFSR: u32 = 0xe000_ed2c;
const SHCSR: u32 = 0xe000_ed24;
const HARD_FAULT: u32 = 3;

/// NOPs, then a stop.
fn idle(count: usize) -> Vec<u16> {
    let mut code = vec![0xbf00; count];
    code.push(STOP);
    code
}

#[test]
fn a_call_from_unprivileged_code_on_its_own_stack() {
    let mut machine = Machine::new(&[
        0xf380, 0x8809, // msr psp, r0
        0x2003, // movs r0, #3
        0xf380, 0x8814, // msr control, r0
        0xdf07, // svc #7
        0xf3ef, 0x8514, // mrs r5, control
        STOP,
    ]);
    machine.code(
        handler(11),
        &[
            0x4676, // mov r6, lr
            0xf3ef, 0x8409, // mrs r4, psp
            0xf3ef, 0x8705, // mrs r7, ipsr
            0x4770, // bx lr
        ],
    );
    // Not a multiple of eight: the frame is aligned, and the stack comes back as it was.
    machine.set(&[(0, RAM + 0x1004), (12, 0x1212), (14, 0x1414)]);
    machine.run();
    assert_eq!((machine.r(6), machine.r(7)), (0xffff_fffd, 11));
    assert_eq!((machine.r(4), machine.r(5), machine.r(13)), (RAM + 0xfe0, 3, RAM + 0x1004));
    let frame = [16, 20, 24].map(|at| machine.read(RAM + 0xfe0 + at));
    assert_eq!(frame, [0x1212, 0x1414, CODE + 12]);
    assert_eq!(machine.read(RAM + 0xfe0 + 28) & 0x0100_0200, 0x0100_0200);
    assert_eq!((machine.r(12), machine.r(14)), (0x1212, 0x1414));
    assert_eq!(machine.cpu.active_exception(), 0);
}

#[test]
fn floats_survive_a_handler_that_uses_them() {
    let mut machine = Machine::new(&[
        0xeeb7, 0x0a00, // vmov.f32 s0, #1.0
        0xeef0, 0x7a00, // vmov.f32 s15, #2.0
        0xeeb0, 0x8a08, // vmov.f32 s16, #3.0
        0xeeb4, 0x0a67, // vcmp.f32 s0, s15
        0xbf00, // nop
        0xeef1, 0x5a10, // vmrs r5, fpscr
        STOP,
    ]);
    machine.code(
        handler(external(5)),
        &[
            0xeeb2, 0x0a04, // vmov.f32 s0, #10.0
            0xeef2, 0x7a06, // vmov.f32 s15, #11.0
            0xeef4, 0x7a40, // vcmp.f32 s15, s0
            0x466e, // mov r6, sp
            0x4677, // mov r7, lr
            0x4770, // bx lr
        ],
    );
    machine.enable_float();
    machine.enable(5, 2);
    machine.steps(4);
    machine.cpu.line(5, true);
    machine.step();
    assert_eq!(u32::from(machine.cpu.active_exception()), external(5));
    machine.cpu.line(5, false);
    machine.run();
    assert_eq!((machine.r(6), machine.r(7)), (STACK - 0x68, 0xffff_ffe9));
    let floats = machine.cpu.float_registers();
    assert_eq!([floats[0], floats[15], floats[16]], [1.0f32, 2.0, 3.0].map(f32::to_bits));
    assert_eq!(machine.r(5) >> 28, 0b1000);
    assert_eq!(machine.r(13), STACK);
}

#[test]
fn without_floats_the_frame_is_small() {
    let mut machine = Machine::new(&idle(4));
    machine.code(handler(external(5)), &[0x466e, 0x4677, 0x4770]); // mov r6, sp; mov r7, lr; bx lr
    machine.enable_float();
    machine.enable(5, 2);
    machine.poke(0xe000_e200, 1 << 5);
    machine.run();
    assert_eq!((machine.r(6), machine.r(7)), (STACK - 0x20, 0xffff_fff9));
}

#[test]
fn the_more_urgent_preempts_and_the_less_urgent_waits() {
    let mut machine = Machine::new(&idle(8));
    // Each handler shifts its number into R11: at its beginning and, plus 8, at its end.
    for irq in 1..=3u16 {
        machine.code(
            handler(external(irq.into())),
            &[
                0xea4f,
                0x1b0b, // lsl r11, r11, #4
                0xf10b,
                0x0b00 | irq, // add r11, r11, #irq
                0xbf00,
                0xbf00, // nop
                0xea4f,
                0x1b0b, // lsl r11, r11, #4
                0xf10b,
                0x0b08 | irq, // add r11, r11, #8 + irq
                0x4770,       // bx lr
            ],
        );
    }
    machine.enable(1, 4);
    machine.enable(2, 2);
    machine.enable(3, 4);
    machine.cpu.line(1, true);
    machine.step();
    machine.cpu.line(1, false);
    machine.steps(2);
    // In the handler of 1: 3 is not more urgent, 2 is.
    machine.cpu.line(3, true);
    machine.cpu.line(2, true);
    machine.step();
    assert_eq!(u32::from(machine.cpu.active_exception()), external(2));
    assert_eq!(machine.r(14), 0xffff_fff1);
    machine.cpu.line(2, false);
    machine.steps(1);
    machine.cpu.line(3, false);
    machine.run();
    assert_eq!(machine.r(11), 0x0012_a93b);
    assert_eq!(machine.r(13), STACK);
}

#[test]
fn a_group_does_not_preempt_itself() {
    let mut machine = Machine::new(&idle(8));
    machine.enable(1, 3);
    machine.enable(2, 2);
    // PRIGROUP 5: two bits of group, one of sub-priority.
    machine.poke(0xe000_ed0c, 0x05fa_0500);
    machine.code(handler(external(1)), &idle(2));
    machine.cpu.line(1, true);
    machine.cpu.line(2, true);
    machine.step();
    assert_eq!(u32::from(machine.cpu.active_exception()), external(2));
    machine.cpu.line(2, false);
    machine.step();
    machine.step();
    machine.cpu.line(2, true);
    machine.step();
    assert_eq!(u32::from(machine.cpu.active_exception()), external(1));
}

#[test]
fn basepri_and_primask_hold_interrupts_back() {
    let mut machine = Machine::new(&[
        0xf380, 0x8811, // msr basepri, r0
        0xbf00, 0xbf00, // nop
        0xb672, // cpsid i
        0xf380, 0x8811, // msr basepri, r0
        0xbf00, // nop
        0xb662, // cpsie i
        0xbf00, STOP,
    ]);
    machine.code(handler(external(7)), &[0x3601, STOP]); // adds r6, #1
    machine.enable(7, 5);
    machine.set(&[(0, 5 << 5)]);
    machine.step();
    machine.cpu.line(7, true);
    machine.steps(3);
    machine.set(&[(0, 0)]);
    machine.steps(2);
    assert_eq!((machine.cpu.pc(), machine.cpu.active_exception()), (CODE + 16, 0));
    machine.step();
    assert_eq!(machine.cpu.pc(), CODE + 18);
    machine.step();
    assert_eq!(machine.cpu.pc(), handler(external(7)));
}

#[test]
fn a_line_that_stays_high_pends_again() {
    let mut machine = Machine::new(&idle(40));
    machine.code(handler(external(9)), &[0xf106, 0x0601, 0x4770]); // add r6, r6, #1; bx lr
    machine.enable(9, 1);
    machine.set(&[(6, 0)]);
    machine.cpu.line(9, true);
    machine.steps(9);
    assert_eq!(machine.r(6), 3);
    machine.cpu.line(9, false);
    // Pending already when the handler last returned.
    machine.run();
    assert_eq!(machine.r(6), 4);

    // Clearing it does not help while the line is high (B3.4.1).
    let mut machine = Machine::new(&idle(2));
    machine.cpu.line(9, true);
    machine.poke(0xe000_e280, 1 << 9);
    assert_eq!(machine.peek(0xe000_e200), 1 << 9);
    machine.cpu.line(9, false);
    assert_eq!(machine.peek(0xe000_e200), 1 << 9);
    machine.poke(0xe000_e280, 1 << 9);
    assert_eq!(machine.peek(0xe000_e200), 0);
}

#[test]
fn peripherals_move_lines_and_want_attention() {
    let mut machine = Machine::new(&[
        0x6001, // str r1, [r0]
        0xbf00, // nop
        0x6042, // str r2, [r0, #4]
        0x3301, // adds r3, #1
        STOP,
    ]);
    machine.enable(4, 1);
    machine.code(handler(external(4)), &[0x6005, 0x2609, 0x4770]); // str r5, [r0]; movs r6, #9; bx lr
    machine.set(&[(0, LINES), (1, 1 << 4), (3, 0), (5, 0)]);
    let asked = machine.memory.asked;
    machine.steps(2);
    assert_eq!(machine.memory.asked, asked + 1);
    assert_eq!(u32::from(machine.cpu.active_exception()), external(4));
    assert_eq!(machine.cpu.run(&mut machine.memory, u64::MAX), Ok(()));
    assert_eq!(ATTENTION, LINES + 4);
    assert_eq!((machine.r(6), machine.cpu.pc(), machine.r(3)), (9, CODE + 6, 0));
    machine.run();
    assert_eq!(machine.r(3), 1);
}

#[test]
fn an_interrupted_it_block_goes_on_where_it_was() {
    let mut machine = Machine::new(&[
        0x2800, // cmp r0, #0
        0xbf0c, // ite eq
        0x2101, // moveq r1, #1
        0x2102, // movne r1, #2
        0x3301, // adds r3, #1
        STOP,
    ]);
    machine.code(handler(external(0)), &[0x2a00, 0x2405, 0x4770]); // cmp r2, #0; movs r4, #5; bx lr
    machine.enable(0, 0);
    machine.set(&[(0, 0), (2, 1), (3, 0)]);
    machine.steps(3);
    machine.cpu.line(0, true);
    machine.step();
    machine.cpu.line(0, false);
    machine.run();
    assert_eq!([1, 3, 4].map(|n| machine.r(n)), [1, 1, 5]);
}

#[test]
fn an_exception_ends_an_exclusive_access() {
    let mut machine = Machine::new(&[
        0xe851, 0x0f00, // ldrex r0, [r1]
        0xe841, 0x0200, // strex r2, r0, [r1]
        STOP,
    ]);
    machine.enable(0, 0);
    machine.set(&[(1, RAM)]);
    machine.step();
    machine.cpu.line(0, true);
    machine.step();
    machine.cpu.line(0, false);
    machine.run();
    assert_eq!(machine.r(2), 1);
}

#[test]
fn returns_by_pop_and_by_load() {
    for (code, stack) in [
        (vec![0xb500, 0x2407, 0xbd00], 0),         // push {lr}; movs r4, #7; pop {pc}
        (vec![0xb500, 0x2407, 0xf85d, 0xfb04], 0), // push {lr}; movs r4, #7; ldr pc, [sp], #4
        (vec![0xb510, 0x2407, 0xe8bd, 0x8010], 4), // push {r4, lr}; movs r4, #7; pop.w {r4, pc}
    ] {
        let mut machine = Machine::new(&[0xdf00, STOP]); // svc #0
        machine.code(handler(11), &code);
        machine.set(&[(4, 0)]);
        machine.run();
        assert_eq!((machine.r(13), machine.cpu.pc(), machine.cpu.active_exception()), (STACK, CODE + 2, 0));
        assert_eq!(machine.r(4), if stack == 0 { 7 } else { 0 });
    }
}

#[test]
fn wfe_waits_for_events() {
    // sev; wfe; wfe; wfe
    let mut machine = Machine::new(&[0xbf40, 0xbf20, 0xbf20, 0xbf20, STOP]);
    machine.steps(3);
    assert!(machine.cpu.asleep());
    assert_eq!(machine.cpu.pc(), CODE + 6);
    let cycles = machine.cpu.cycles;
    assert_eq!(machine.cpu.run(&mut machine.memory, cycles + 1000), Ok(()));
    assert_eq!(machine.cpu.cycles, cycles);
    machine.cpu.set_event();
    assert!(!machine.cpu.asleep());
    machine.step();
    assert!(machine.cpu.asleep());
}

#[test]
fn wfe_with_primask_wakes_by_sevonpend_alone() {
    for sevonpend in [false, true] {
        let mut machine = Machine::new(&[0xb672, 0xbf20, 0x3301, STOP]); // cpsid i; wfe; adds r3, #1
        machine.poke(0xe000_ed10, u32::from(sevonpend) << 4);
        // Not even enabled.
        machine.steps(2);
        assert!(machine.cpu.asleep());
        machine.cpu.line(20, true);
        assert_eq!(machine.cpu.asleep(), !sevonpend);
        if sevonpend {
            machine.set(&[(3, 0)]);
            machine.run();
            assert_eq!((machine.r(3), machine.cpu.active_exception()), (1, 0));
        }
    }
}

#[test]
fn wfi_wakes_by_a_masked_interrupt_without_taking_it() {
    let mut machine = Machine::new(&[0xb672, 0xbf30, 0x3301, STOP]); // cpsid i; wfi; adds r3, #1
    machine.enable(20, 3);
    machine.set(&[(3, 0)]);
    machine.steps(2);
    assert!(machine.cpu.asleep());
    machine.cpu.set_event();
    machine.cpu.line(21, true);
    assert!(machine.cpu.asleep());
    machine.cpu.line(20, true);
    assert!(!machine.cpu.asleep());
    machine.run();
    assert_eq!((machine.r(3), machine.cpu.active_exception()), (1, 0));
}

#[test]
fn sleep_on_exit_runs_handlers_only() {
    let mut machine = Machine::new(&idle(4));
    machine.poke(0xe000_ed10, 2);
    machine.enable(2, 0);
    for _ in 0..3 {
        machine.cpu.line(2, true);
        machine.step();
        machine.cpu.line(2, false);
        machine.step();
        assert!(machine.cpu.asleep());
        assert_eq!(machine.cpu.pc(), CODE);
    }
}

#[test]
fn faults_become_hard_faults() {
    for (code, status) in [
        (vec![0xde01], 1 << 16),         // udf #1
        (vec![0xf7f0, 0xa001], 1 << 16), // udf.w #1
        (vec![0xeeb7, 0x0a00], 1 << 19), // vmov.f32 s0, #1.0, without the FPU
        (vec![0xee07, 0x0f10], 1 << 19), // mcr p15
        (vec![0xe890, 0x0006], 1 << 24), // ldm.w r0, {r1, r2}, unaligned
        (vec![0xf8d2, 0x1000], 0x8200),  // ldr.w r1, [r2], where nothing is
        (vec![0x4718], 1 << 17),         // bx r3, to no Thumb code
        (vec![0x4710], 1 << 8),          // bx r2, where nothing is
    ] {
        let mut machine = Machine::new(&code);
        machine.code(handler(HARD_FAULT), &[STOP]);
        let nowhere = if code[0] == 0x4710 { 0x5000_0001 } else { 0x5000_0000 };
        machine.set(&[(0, RAM + 2), (2, nowhere), (3, CODE)]);
        machine.run();
        assert_eq!(machine.cpu.active_exception(), 3, "{code:04x?}");
        let stacked = machine.read(machine.r(13) + 24);
        assert_eq!(stacked, if code[0] == 0x4710 { 0x5000_0000 } else { CODE }, "{code:04x?}");
        assert_eq!((machine.peek(CFSR), machine.peek(HFSR)), (status, 1 << 30), "{code:04x?}");
    }
}

#[test]
fn enabled_faults_have_their_own_handlers() {
    let mut machine = Machine::new(&[0xf8d2, 0x1000, STOP]); // ldr.w r1, [r2]
    machine.code(handler(5), &[0xbe05]);
    machine.poke(SHCSR, 1 << 17);
    machine.set(&[(2, 0x5000_0010)]);
    assert_eq!(machine.run(), 5);
    assert_eq!((machine.peek(0xe000_ed38), machine.peek(HFSR)), (0x5000_0010, 0));

    // A division by zero, once trapped.
    let mut machine = Machine::new(&[0xfb98, 0xf7f9, STOP]); // sdiv r7, r8, r9
    machine.code(handler(6), &[0xbe06]);
    machine.poke(SHCSR, 1 << 18);
    machine.poke(0xe000_ed14, 0x210);
    machine.set(&[(8, 1), (9, 0)]);
    assert_eq!(machine.run(), 6);
    assert_eq!(machine.peek(CFSR), 1 << 25);
}

#[test]
fn a_fault_in_a_hard_fault_locks_up() {
    let mut machine = Machine::new(&[0xde01]);
    machine.code(handler(HARD_FAULT), &[0xbf00, 0xde01]);
    let stop = Stop::Lockup { pc: handler(HARD_FAULT) + 2 };
    assert_eq!(machine.stop(), stop);
    assert_eq!(machine.stop(), stop);
    let mut machine = Machine::new(&[0xb671, 0xde01]); // cpsid f; udf #1
    assert_eq!(machine.stop(), Stop::Lockup { pc: CODE + 2 });
    // A reset helps.
    machine.code(CODE, &[STOP]);
    machine.cpu.reset(&mut machine.memory);
    machine.run();
}

#[test]
fn the_tick_comes_every_so_many_cycles() {
    let mut machine = Machine::new(&[0xe7fe]); // b .
    machine.code(handler(15), &[0xf106, 0x0601, 0x4770]); // add r6, r6, #1; bx lr
    machine.set(&[(6, 0)]);
    machine.poke(0xe000_e014, 999);
    machine.poke(0xe000_e018, 0);
    machine.poke(0xe000_e010, 7);
    let start = machine.cpu.tick_due().unwrap() - 1000;
    machine.cpu.run(&mut machine.memory, start + 999).unwrap();
    assert_eq!(machine.r(6), 0);
    machine.cpu.run(&mut machine.memory, start + 10_500).unwrap();
    assert_eq!(machine.r(6), 10);
    assert!((400..=500).contains(&machine.peek(0xe000_e018)));
    assert_ne!(machine.peek(0xe000_e010) & 1 << 16, 0);
    assert_eq!(machine.peek(0xe000_e010), 7);
}

#[test]
fn the_tick_wakes() {
    let mut machine = Machine::new(&[0xbf30, STOP]); // wfi
    machine.poke(0xe000_e014, 999);
    machine.poke(0xe000_e018, 0);
    machine.poke(0xe000_e010, 7);
    machine.step();
    assert!(machine.cpu.asleep());
    machine.cpu.cycles = machine.cpu.tick_due().unwrap();
    assert!(!machine.cpu.asleep());
    machine.step();
    assert_eq!(machine.cpu.active_exception(), 15);
}

#[test]
fn cycles_are_counted_once_enabled() {
    let mut machine = Machine::new(&idle(10));
    assert_eq!(machine.peek(0xe000_1004), 0);
    machine.poke(0xe000_edfc, 1 << 24);
    machine.poke(0xe000_1000, 1);
    machine.poke(0xe000_1004, 0);
    let before = (machine.cpu.cycles, machine.peek(0xe000_1004));
    machine.steps(10);
    let after = (machine.cpu.cycles, machine.peek(0xe000_1004));
    assert_eq!(after.0 - before.0, u64::from(after.1 - before.1));
}

#[test]
fn system_registers_and_a_reset() {
    let mut machine = Machine::new(&[0x7001, STOP]); // strb r1, [r0]
    assert_eq!(machine.peek(0xe000_ed00), 0x410f_c241);
    assert_eq!((machine.peek(0xe000_edf0), machine.peek(0xe000_ed90)), (0, 0));
    // Priorities by bytes; only three bits are there.
    machine.set(&[(0, 0xe000_ed22), (1, 0xff)]);
    machine.run();
    assert_eq!(machine.peek(0xe000_ed20), 0x00e0_0000);
    // PendSV waits for nothing.
    machine.code(handler(14), &[0xbe14]);
    machine.set(&[(15, CODE)]);
    let mut other = Machine::new(&[0x6001, 0xbf00, STOP]); // str r1, [r0]
    other.code(handler(14), &[0xbe14]);
    other.set(&[(0, 0xe000_ed04), (1, 1 << 28)]);
    assert_eq!(other.run(), 0x14);
    // VTOR moves the table.
    machine.poke(0xe000_ed08, RAM);
    machine.word(RAM + 44, CODE + 0x101);
    machine.code(CODE, &[0xdf00]);
    machine.code(CODE + 0x100, &[0xbe55]);
    machine.set(&[(15, CODE)]);
    assert_eq!(machine.run(), 0x55);

    let mut machine = Machine::new(&[0x6001, STOP]);
    machine.set(&[(0, 0xe000_ed0c), (1, 0x05fa_0004)]);
    assert_eq!(machine.stop(), Stop::ResetRequested);
    let (cycles, instructions) = (machine.cpu.cycles, machine.cpu.instructions);
    machine.set(&[(3, 77)]);
    machine.cpu.reset(&mut machine.memory);
    assert_eq!((machine.cpu.pc(), machine.r(13), machine.r(3)), (CODE, STACK, 0));
    assert_eq!((machine.cpu.cycles, machine.cpu.instructions), (cycles, instructions));
}
