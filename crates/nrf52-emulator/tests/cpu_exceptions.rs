//! Exception entry and return, priorities and interrupt lines.

use crate::cpu_machine::{
    CODE, INTERRUPT_LINES, Machine, RAM, RETURN_REQUEST, STACK, STOP, exception, handler, ppb,
};

/// Returns NOPs and a breakpoint.
fn nops(count: usize) -> Vec<u16> {
    let mut code = vec![0xbf00; count];
    code.push(STOP);
    code
}

#[test]
fn svc_from_unprivileged_code_stacks_on_psp() {
    let mut machine = Machine::new(&[
        0xf380, 0x8809, // msr psp, r0
        0x2003, // movs r0, #3
        0xf380, 0x8814, // msr control, r0
        0xdf07, // svc #7
        0xf3ef, 0x8514, // mrs r5, control
        STOP,
    ]);
    machine.write_code(
        handler(11),
        &[
            0x4676, // mov r6, lr
            0xf3ef, 0x8409, // mrs r4, psp
            0xf3ef, 0x8705, // mrs r7, ipsr
            0x4770, // bx lr
        ],
    );
    // The frame is aligned to eight bytes, and the return restores the unaligned SP.
    machine.set(&[(0, RAM + 0x1004), (12, 0x1212), (14, 0x1414)]);
    machine.run();
    assert_eq!((machine.r(6), machine.r(7)), (0xffff_fffd, 11));
    assert_eq!((machine.r(4), machine.r(5), machine.r(13)), (RAM + 0xfe0, 3, RAM + 0x1004));
    let frame = [16, 20, 24].map(|at| machine.read_word(RAM + 0xfe0 + at));
    assert_eq!(frame, [0x1212, 0x1414, CODE + 12]);
    assert_eq!(machine.read_word(RAM + 0xfe0 + 28) & 0x0100_0200, 0x0100_0200);
    assert_eq!((machine.r(12), machine.r(14)), (0x1212, 0x1414));
    assert_eq!(machine.cpu.active_exception(), 0);
}

#[test]
fn fp_registers_are_restored_after_a_handler_that_uses_the_fpu() {
    let mut machine = Machine::new(&[
        0xeeb7, 0x0a00, // vmov.f32 s0, #1.0
        0xeef0, 0x7a00, // vmov.f32 s15, #2.0
        0xeeb0, 0x8a08, // vmov.f32 s16, #3.0
        0xeeb4, 0x0a67, // vcmp.f32 s0, s15
        0xbf00, // nop
        0xeef1, 0x5a10, // vmrs r5, fpscr
        STOP,
    ]);
    machine.write_code(
        handler(exception(5)),
        &[
            0xeeb2, 0x0a04, // vmov.f32 s0, #10.0
            0xeef2, 0x7a06, // vmov.f32 s15, #11.0
            0xeef4, 0x7a40, // vcmp.f32 s15, s0
            0x466e, // mov r6, sp
            0x4677, // mov r7, lr
            0x4770, // bx lr
        ],
    );
    machine.enable_fpu();
    machine.enable_interrupt(5, 2);
    machine.steps(4);
    machine.cpu.set_interrupt_line(5, true);
    machine.step();
    assert_eq!(u32::from(machine.cpu.active_exception()), exception(5));
    machine.cpu.set_interrupt_line(5, false);
    machine.run();
    assert_eq!((machine.r(6), machine.r(7)), (STACK - 0x68, 0xffff_ffe9));
    let floats = machine.cpu.fp_registers();
    assert_eq!([floats[0], floats[15], floats[16]], [1.0f32, 2.0, 3.0].map(f32::to_bits));
    assert_eq!(machine.r(5) >> 28, 0b1000);
    assert_eq!(machine.r(13), STACK);
}

#[test]
fn the_frame_is_basic_before_the_first_fp_instruction() {
    let mut machine = Machine::new(&nops(4));
    machine.write_code(handler(exception(5)), &[0x466e, 0x4677, 0x4770]); // mov r6, sp; mov r7, lr; bx lr
    machine.enable_fpu();
    machine.enable_interrupt(5, 2);
    machine.poke(ppb::NVIC_ISPR0, 1 << 5);
    machine.run();
    assert_eq!((machine.r(6), machine.r(7)), (STACK - 0x20, 0xffff_fff9));
}

#[test]
fn a_higher_priority_preempts_and_an_equal_one_waits() {
    let mut machine = Machine::new(&nops(8));
    // Each handler shifts its number into R11 at its start, and its number plus 8 at its end.
    for irq in 1..=3u16 {
        machine.write_code(
            handler(exception(irq.into())),
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
    machine.enable_interrupt(1, 4);
    machine.enable_interrupt(2, 2);
    machine.enable_interrupt(3, 4);
    machine.cpu.set_interrupt_line(1, true);
    machine.step();
    machine.cpu.set_interrupt_line(1, false);
    machine.steps(2);
    // In the handler of interrupt 1, interrupt 2 preempts and interrupt 3 waits.
    machine.cpu.set_interrupt_line(3, true);
    machine.cpu.set_interrupt_line(2, true);
    machine.step();
    assert_eq!(u32::from(machine.cpu.active_exception()), exception(2));
    assert_eq!(machine.r(14), 0xffff_fff1);
    machine.cpu.set_interrupt_line(2, false);
    machine.steps(1);
    machine.cpu.set_interrupt_line(3, false);
    machine.run();
    assert_eq!(machine.r(11), 0x0012_a93b);
    assert_eq!(machine.r(13), STACK);
}

#[test]
fn an_equal_group_priority_does_not_preempt() {
    let mut machine = Machine::new(&nops(8));
    machine.enable_interrupt(1, 3);
    machine.enable_interrupt(2, 2);
    // PRIGROUP = 5: two bits of group priority and one of subpriority.
    machine.poke(ppb::AIRCR, 0x05fa_0500);
    machine.write_code(handler(exception(1)), &nops(2));
    machine.cpu.set_interrupt_line(1, true);
    machine.cpu.set_interrupt_line(2, true);
    machine.step();
    assert_eq!(u32::from(machine.cpu.active_exception()), exception(2));
    machine.cpu.set_interrupt_line(2, false);
    machine.step();
    machine.step();
    machine.cpu.set_interrupt_line(2, true);
    machine.step();
    assert_eq!(u32::from(machine.cpu.active_exception()), exception(1));
}

#[test]
fn basepri_and_primask_mask_interrupts() {
    let mut machine = Machine::new(&[
        0xf380, 0x8811, // msr basepri, r0
        0xbf00, 0xbf00, // nop
        0xb672, // cpsid i
        0xf380, 0x8811, // msr basepri, r0
        0xbf00, // nop
        0xb662, // cpsie i
        0xbf00, STOP,
    ]);
    machine.write_code(handler(exception(7)), &[0x3601, STOP]); // adds r6, #1
    machine.enable_interrupt(7, 5);
    machine.set(&[(0, 5 << 5)]);
    machine.step();
    machine.cpu.set_interrupt_line(7, true);
    machine.steps(3);
    machine.set(&[(0, 0)]);
    machine.steps(2);
    assert_eq!((machine.cpu.pc(), machine.cpu.active_exception()), (CODE + 16, 0));
    machine.step();
    assert_eq!(machine.cpu.pc(), CODE + 18);
    machine.step();
    assert_eq!(machine.cpu.pc(), handler(exception(7)));
}

#[test]
fn a_high_interrupt_line_pends_again_after_return() {
    let mut machine = Machine::new(&nops(40));
    machine.write_code(handler(exception(9)), &[0xf106, 0x0601, 0x4770]); // add r6, r6, #1; bx lr
    machine.enable_interrupt(9, 1);
    machine.set(&[(6, 0)]);
    machine.cpu.set_interrupt_line(9, true);
    machine.steps(9);
    assert_eq!(machine.r(6), 3);
    machine.cpu.set_interrupt_line(9, false);
    // The interrupt is already pending when the line goes low.
    machine.run();
    assert_eq!(machine.r(6), 4);
}

#[test]
fn a_pending_bit_cannot_be_cleared_while_the_line_is_high() {
    let mut machine = Machine::new(&nops(2));
    machine.cpu.set_interrupt_line(9, true);
    machine.poke(ppb::NVIC_ICPR0, 1 << 9);
    assert_eq!(machine.peek(ppb::NVIC_ISPR0), 1 << 9);
    machine.cpu.set_interrupt_line(9, false);
    assert_eq!(machine.peek(ppb::NVIC_ISPR0), 1 << 9);
    machine.poke(ppb::NVIC_ICPR0, 1 << 9);
    assert_eq!(machine.peek(ppb::NVIC_ISPR0), 0);
}

#[test]
fn peripheral_writes_change_interrupt_lines_and_end_run() {
    let mut machine = Machine::new(&[
        0x6001, // str r1, [r0]
        0xbf00, // nop
        0x6042, // str r2, [r0, #4]
        0x3301, // adds r3, #1
        STOP,
    ]);
    machine.enable_interrupt(4, 1);
    machine.write_code(handler(exception(4)), &[0x6005, 0x2609, 0x4770]); // str r5, [r0]; movs r6, #9; bx lr
    machine.set(&[(0, INTERRUPT_LINES), (1, 1 << 4), (3, 0), (5, 0)]);
    let queries = machine.memory.line_queries;
    machine.steps(2);
    assert_eq!(machine.memory.line_queries, queries + 1);
    assert_eq!(u32::from(machine.cpu.active_exception()), exception(4));
    assert_eq!(machine.cpu.run(&mut machine.memory, u64::MAX), Ok(()));
    assert_eq!(RETURN_REQUEST, INTERRUPT_LINES + 4);
    assert_eq!((machine.r(6), machine.cpu.pc(), machine.r(3)), (9, CODE + 6, 0));
    machine.run();
    assert_eq!(machine.r(3), 1);
}

#[test]
fn an_it_block_continues_after_an_interrupt() {
    let mut machine = Machine::new(&[
        0x2800, // cmp r0, #0
        0xbf0c, // ite eq
        0x2101, // moveq r1, #1
        0x2102, // movne r1, #2
        0x3301, // adds r3, #1
        STOP,
    ]);
    machine.write_code(handler(exception(0)), &[0x2a00, 0x2405, 0x4770]); // cmp r2, #0; movs r4, #5; bx lr
    machine.enable_interrupt(0, 0);
    machine.set(&[(0, 0), (2, 1), (3, 0)]);
    machine.steps(3);
    machine.cpu.set_interrupt_line(0, true);
    machine.step();
    machine.cpu.set_interrupt_line(0, false);
    machine.run();
    assert_eq!([1, 3, 4].map(|n| machine.r(n)), [1, 1, 5]);
}

#[test]
fn an_exception_clears_the_exclusive_monitor() {
    let mut machine = Machine::new(&[
        0xe851, 0x0f00, // ldrex r0, [r1]
        0xe841, 0x0200, // strex r2, r0, [r1]
        STOP,
    ]);
    machine.enable_interrupt(0, 0);
    machine.set(&[(1, RAM)]);
    machine.step();
    machine.cpu.set_interrupt_line(0, true);
    machine.step();
    machine.cpu.set_interrupt_line(0, false);
    machine.run();
    assert_eq!(machine.r(2), 1);
}

#[test]
fn pop_and_load_to_pc_return_from_exceptions() {
    for (code, stack) in [
        (vec![0xb500, 0x2407, 0xbd00], 0),         // push {lr}; movs r4, #7; pop {pc}
        (vec![0xb500, 0x2407, 0xf85d, 0xfb04], 0), // push {lr}; movs r4, #7; ldr pc, [sp], #4
        (vec![0xb510, 0x2407, 0xe8bd, 0x8010], 4), // push {r4, lr}; movs r4, #7; pop.w {r4, pc}
    ] {
        let mut machine = Machine::new(&[0xdf00, STOP]); // svc #0
        machine.write_code(handler(11), &code);
        machine.set(&[(4, 0)]);
        machine.run();
        assert_eq!((machine.r(13), machine.cpu.pc(), machine.cpu.active_exception()), (STACK, CODE + 2, 0));
        assert_eq!(machine.r(4), if stack == 0 { 7 } else { 0 });
    }
}
