//! SysTick, cycle counter, system control block and reset.

use nrf52_emulator::cpu::StopReason;

use crate::cpu_machine::{CODE, Machine, RAM, STACK, STOP, handler, ppb};

const SV_CALL: u32 = 11;
const PEND_SV: u32 = 14;
const SYS_TICK: u32 = 15;

#[test]
fn systick_interrupts_with_its_period() {
    let mut machine = Machine::new(&[0xe7fe]); // b .
    machine.write_code(handler(SYS_TICK), &[0xf106, 0x0601, 0x4770]); // add r6, r6, #1; bx lr
    machine.set(&[(6, 0)]);
    machine.poke(ppb::SYST_RVR, 999);
    machine.poke(ppb::SYST_CVR, 0);
    machine.poke(ppb::SYST_CSR, 7);
    let start = machine.cpu.systick_due().unwrap() - 1000;
    machine.cpu.run(&mut machine.memory, start + 999).unwrap();
    assert_eq!(machine.r(6), 0);
    machine.cpu.run(&mut machine.memory, start + 10_500).unwrap();
    assert_eq!(machine.r(6), 10);
    assert!((400..=500).contains(&machine.peek(ppb::SYST_CVR)));
    assert_ne!(machine.peek(ppb::SYST_CSR) & 1 << 16, 0);
    assert_eq!(machine.peek(ppb::SYST_CSR), 7);
}

#[test]
fn the_cycle_counter_runs_once_enabled() {
    let mut machine = Machine::new(&[[0xbf00; 10].as_slice(), &[STOP]].concat());
    assert_eq!(machine.peek(ppb::DWT_CYCCNT), 0);
    machine.poke(ppb::DEMCR, 1 << 24);
    machine.poke(ppb::DWT_CTRL, 1);
    machine.poke(ppb::DWT_CYCCNT, 0);
    let before = (machine.cpu.cycles, machine.peek(ppb::DWT_CYCCNT));
    machine.steps(10);
    let after = (machine.cpu.cycles, machine.peek(ppb::DWT_CYCCNT));
    assert_eq!(after.0 - before.0, u64::from(after.1 - before.1));
}

#[test]
fn the_processor_is_a_cortex_m4_without_debugger_and_mpu() {
    let mut machine = Machine::new(&[STOP]);
    assert_eq!(machine.peek(ppb::CPUID), 0x410f_c241);
    assert_eq!((machine.peek(ppb::DHCSR), machine.peek(ppb::MPU_TYPE)), (0, 0));
}

#[test]
fn a_byte_write_sets_one_priority_of_three_bits() {
    let mut machine = Machine::new(&[0x7001, STOP]); // strb r1, [r0]
    machine.set(&[(0, ppb::SHPR3 + 2), (1, 0xff)]);
    machine.run();
    assert_eq!(machine.peek(ppb::SHPR3), 0x00e0_0000);
}

#[test]
fn pend_sv_is_taken_after_a_write_to_icsr() {
    let mut machine = Machine::new(&[0x6001, 0xbf00, STOP]); // str r1, [r0]
    machine.write_code(handler(PEND_SV), &[0xbe14]);
    machine.set(&[(0, ppb::ICSR), (1, 1 << 28)]);
    assert_eq!(machine.run(), 0x14);
}

#[test]
fn vtor_moves_the_vector_table() {
    let mut machine = Machine::new(&[0xdf00]); // svc #0
    machine.poke(ppb::VTOR, RAM);
    machine.write_word(RAM + 4 * SV_CALL, CODE + 0x101);
    machine.write_code(CODE + 0x100, &[0xbe55]);
    assert_eq!(machine.run(), 0x55);
}

#[test]
fn sysresetreq_stops_until_reset() {
    let mut machine = Machine::new(&[0x6001, STOP]); // str r1, [r0]
    machine.set(&[(0, ppb::AIRCR), (1, 0x05fa_0004)]);
    assert_eq!(machine.run_to_stop(), StopReason::ResetRequested);
    let (cycles, instructions) = (machine.cpu.cycles, machine.cpu.instructions);
    machine.set(&[(3, 77)]);
    machine.cpu.reset(&mut machine.memory);
    assert_eq!((machine.cpu.pc(), machine.r(13), machine.r(3)), (CODE, STACK, 0));
    assert_eq!((machine.cpu.cycles, machine.cpu.instructions), (cycles, instructions));
}
