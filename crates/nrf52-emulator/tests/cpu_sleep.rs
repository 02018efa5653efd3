//! WFE, WFI and sleep-on-exit.

use crate::cpu_machine::{CODE, Machine, STOP, ppb};

#[test]
fn wfe_waits_for_an_event() {
    // sev; wfe; wfe; wfe
    let mut machine = Machine::new(&[0xbf40, 0xbf20, 0xbf20, 0xbf20, STOP]);
    machine.steps(3);
    assert!(machine.cpu.is_asleep());
    assert_eq!(machine.cpu.pc(), CODE + 6);
    let cycles = machine.cpu.cycles;
    assert_eq!(machine.cpu.run(&mut machine.memory, cycles + 1000), Ok(()));
    assert_eq!(machine.cpu.cycles, cycles);
    machine.cpu.set_event();
    assert!(!machine.cpu.is_asleep());
    machine.step();
    assert!(machine.cpu.is_asleep());
}

#[test]
fn a_pending_interrupt_wakes_wfe_only_with_sevonpend() {
    for sevonpend in [false, true] {
        let mut machine = Machine::new(&[0xb672, 0xbf20, 0x3301, STOP]); // cpsid i; wfe; adds r3, #1
        machine.poke(ppb::SCR, u32::from(sevonpend) << 4);
        // Interrupt 20 is disabled.
        machine.steps(2);
        assert!(machine.cpu.is_asleep());
        machine.cpu.set_interrupt_line(20, true);
        assert_eq!(machine.cpu.is_asleep(), !sevonpend);
        if sevonpend {
            machine.set(&[(3, 0)]);
            machine.run();
            assert_eq!((machine.r(3), machine.cpu.active_exception()), (1, 0));
        }
    }
}

#[test]
fn a_masked_interrupt_wakes_wfi_and_is_not_taken() {
    let mut machine = Machine::new(&[0xb672, 0xbf30, 0x3301, STOP]); // cpsid i; wfi; adds r3, #1
    machine.enable_interrupt(20, 3);
    machine.set(&[(3, 0)]);
    machine.steps(2);
    assert!(machine.cpu.is_asleep());
    machine.cpu.set_event();
    machine.cpu.set_interrupt_line(21, true);
    assert!(machine.cpu.is_asleep());
    machine.cpu.set_interrupt_line(20, true);
    assert!(!machine.cpu.is_asleep());
    machine.run();
    assert_eq!((machine.r(3), machine.cpu.active_exception()), (1, 0));
}

#[test]
fn sleep_on_exit_runs_only_handlers() {
    let mut machine = Machine::new(&[0xbf00, STOP]);
    machine.poke(ppb::SCR, 2);
    machine.enable_interrupt(2, 0);
    for _ in 0..3 {
        machine.cpu.set_interrupt_line(2, true);
        machine.step();
        machine.cpu.set_interrupt_line(2, false);
        machine.step();
        assert!(machine.cpu.is_asleep());
        assert_eq!(machine.cpu.pc(), CODE);
    }
}

#[test]
fn systick_wakes_wfi() {
    let mut machine = Machine::new(&[0xbf30, STOP]); // wfi
    machine.poke(ppb::SYST_RVR, 999);
    machine.poke(ppb::SYST_CVR, 0);
    machine.poke(ppb::SYST_CSR, 7);
    machine.step();
    assert!(machine.cpu.is_asleep());
    machine.cpu.cycles = machine.cpu.systick_due().unwrap();
    assert!(!machine.cpu.is_asleep());
    machine.step();
    assert_eq!(machine.cpu.active_exception(), 15);
}
