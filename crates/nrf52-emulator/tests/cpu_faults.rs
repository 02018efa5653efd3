//! Faults, HardFault and lockup.

use nrf52_emulator::cpu::StopReason;

use crate::cpu_machine::{CODE, Machine, RAM, STOP, handler, ppb};

const HARD_FAULT: u32 = 3;
const BUS_FAULT: u32 = 5;
const USAGE_FAULT: u32 = 6;

#[test]
fn disabled_faults_escalate_to_hard_fault() {
    for (code, status) in [
        (vec![0xde01], 1 << 16),         // udf #1
        (vec![0xf7f0, 0xa001], 1 << 16), // udf.w #1
        (vec![0xeeb7, 0x0a00], 1 << 19), // vmov.f32 s0, #1.0, without the FPU
        (vec![0xee07, 0x0f10], 1 << 19), // mcr p15
        (vec![0xe890, 0x0006], 1 << 24), // ldm.w r0, {r1, r2}, unaligned
        (vec![0xf8d2, 0x1000], 0x8200),  // ldr.w r1, [r2], unmapped
        (vec![0x4718], 1 << 17),         // bx r3, without the Thumb bit
        (vec![0x4710], 1 << 8),          // bx r2, unmapped
    ] {
        let mut machine = Machine::new(&code);
        machine.write_code(handler(HARD_FAULT), &[STOP]);
        let unmapped = if code[0] == 0x4710 { 0x5000_0001 } else { 0x5000_0000 };
        machine.set(&[(0, RAM + 2), (2, unmapped), (3, CODE)]);
        machine.run();
        assert_eq!(u32::from(machine.cpu.active_exception()), HARD_FAULT, "{code:04x?}");
        let return_address = machine.read_word(machine.r(13) + 24);
        assert_eq!(return_address, if code[0] == 0x4710 { 0x5000_0000 } else { CODE }, "{code:04x?}");
        assert_eq!((machine.peek(ppb::CFSR), machine.peek(ppb::HFSR)), (status, 1 << 30), "{code:04x?}");
    }
}

#[test]
fn enabled_faults_have_separate_handlers() {
    let mut machine = Machine::new(&[0xf8d2, 0x1000, STOP]); // ldr.w r1, [r2]
    machine.write_code(handler(BUS_FAULT), &[0xbe05]);
    machine.poke(ppb::SHCSR, 1 << 17);
    machine.set(&[(2, 0x5000_0010)]);
    assert_eq!(machine.run(), 5);
    assert_eq!((machine.peek(ppb::BFAR), machine.peek(ppb::HFSR)), (0x5000_0010, 0));

    // CCR.DIV_0_TRP makes a division by zero a UsageFault.
    let mut machine = Machine::new(&[0xfb98, 0xf7f9, STOP]); // sdiv r7, r8, r9
    machine.write_code(handler(USAGE_FAULT), &[0xbe06]);
    machine.poke(ppb::SHCSR, 1 << 18);
    machine.poke(ppb::CCR, 0x210);
    machine.set(&[(8, 1), (9, 0)]);
    assert_eq!(machine.run(), 6);
    assert_eq!(machine.peek(ppb::CFSR), 1 << 25);
}

#[test]
fn a_fault_in_hard_fault_locks_up() {
    let mut machine = Machine::new(&[0xde01]);
    machine.write_code(handler(HARD_FAULT), &[0xbf00, 0xde01]);
    let stop = StopReason::Lockup { pc: handler(HARD_FAULT) + 2 };
    assert_eq!(machine.run_to_stop(), stop);
    assert_eq!(machine.run_to_stop(), stop);
    let mut machine = Machine::new(&[0xb671, 0xde01]); // cpsid f; udf #1
    assert_eq!(machine.run_to_stop(), StopReason::Lockup { pc: CODE + 2 });
    // A reset ends the lockup.
    machine.write_code(CODE, &[STOP]);
    machine.cpu.reset(&mut machine.memory);
    machine.run();
}
