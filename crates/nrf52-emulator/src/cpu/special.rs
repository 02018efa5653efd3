//! Special registers, exception masks, events and sleep (B5.2, B1.5.17 to B1.5.19).

use super::{
    Cpu, Flags, Sleep, cycles,
    op::{Op, Reg},
};

impl Cpu {
    /// Returns APSR.
    pub(super) fn apsr(&self) -> u32 {
        let Flags { n, z, c, v, q, ge } = self.flags;
        let top = [n, z, c, v, q].iter().fold(0, |bits, flag| bits << 1 | u32::from(*flag));
        top << 27 | u32::from(ge) << 16
    }

    /// Sets N, Z, C, V and Q from bits 31 to 27.
    pub(super) fn set_flags(&mut self, bits: u32) {
        let flag = |at: u32| bits >> at & 1 != 0;
        let ge = self.flags.ge;
        self.flags = Flags { n: flag(31), z: flag(30), c: flag(29), v: flag(28), q: flag(27), ge };
    }

    /// Selects PSP or MSP as R13.
    pub(super) fn use_stack(&mut self, psp: bool) {
        if self.psp_in_use != psp {
            std::mem::swap(&mut self.r[13], &mut self.banked_sp);
            self.psp_in_use = psp;
        }
    }

    /// Returns PSP or MSP.
    pub(super) fn stack_pointer(&mut self, psp: bool) -> &mut u32 {
        if self.psp_in_use == psp { &mut self.r[13] } else { &mut self.banked_sp }
    }

    pub(super) fn is_privileged(&self) -> bool {
        self.exception != 0 || !self.unprivileged
    }

    #[inline(never)]
    pub(super) fn execute_special(&mut self, op: Op) {
        match op {
            Op::Mrs { rd, special } => {
                self.cycles += cycles::SPECIAL;
                let value = self.read_special(special);
                self.put(rd, value);
            }
            Op::Msr { rn, mask, special } => {
                self.cycles += cycles::SPECIAL;
                self.write_special(special, mask, rn);
            }
            Op::Cps { disable, primask, faultmask } if self.is_privileged() => {
                if primask {
                    self.primask = disable;
                }
                // NMI and HardFault cannot set FAULTMASK (B5.2.1).
                if faultmask && (!disable || self.execution_priority() > -1) {
                    self.faultmask = disable;
                }
                self.update_pending();
            }
            Op::Sev => self.set_event(),
            Op::Wfe if self.event_register => self.event_register = false,
            Op::Wfe => self.enter_sleep(Sleep::Event),
            Op::Wfi => self.enter_sleep(Sleep::Interrupt),
            _ => {}
        }
    }

    /// Puts the processor to sleep, unless a pending exception wakes it up at once.
    pub(super) fn enter_sleep(&mut self, sleep: Sleep) {
        self.sleep = sleep;
        self.slow_path = true;
        self.update_pending();
    }

    /// Sets the event register (B1.5.18), or ends WFE.
    pub fn set_event(&mut self) {
        if self.sleep == Sleep::Event {
            self.sleep = Sleep::No;
        } else {
            self.event_register = true;
        }
    }

    /// Reads a special register: MRS (B5.2.2). EPSR reads as zero.
    fn read_special(&mut self, special: u8) -> u32 {
        match special {
            0..=7 => {
                let ipsr = if special & 1 != 0 { u32::from(self.exception) } else { 0 };
                let apsr = if special & 4 == 0 { self.apsr() } else { 0 };
                ipsr | apsr
            }
            20 => u32::from(self.unprivileged) | u32::from(self.spsel) << 1 | u32::from(self.fpca) << 2,
            _ if !self.is_privileged() => 0,
            8 => *self.stack_pointer(false),
            9 => *self.stack_pointer(true),
            16 => u32::from(self.primask),
            17 | 18 => u32::from(self.basepri),
            19 => u32::from(self.faultmask),
            _ => 0,
        }
    }

    /// Writes a special register: MSR (B5.2.3).
    fn write_special(&mut self, special: u8, mask: u8, rn: Reg) {
        let value = self.get(rn);
        if special <= 7 {
            if special & 4 == 0 {
                if mask & 2 != 0 {
                    self.set_flags(value);
                }
                if mask & 1 != 0 {
                    self.flags.ge = (value >> 16 & 15) as u8;
                }
            }
            return;
        }
        if !self.is_privileged() {
            return;
        }
        match special {
            8 => *self.stack_pointer(false) = value & !3,
            9 => *self.stack_pointer(true) = value & !3,
            16 => self.primask = value & 1 != 0,
            17 => self.basepri = value as u8 & super::scs::PRIORITY_BITS,
            18 => {
                // BASEPRI_MAX only raises the priority.
                let priority = value as u8 & super::scs::PRIORITY_BITS;
                if priority != 0 && (priority < self.basepri || self.basepri == 0) {
                    self.basepri = priority;
                }
            }
            19 if self.execution_priority() > -1 || value & 1 == 0 => self.faultmask = value & 1 != 0,
            20 => {
                self.unprivileged = value & 1 != 0;
                if self.exception == 0 {
                    self.spsel = value & 2 != 0;
                    self.use_stack(self.spsel);
                }
                self.fpca = value & 4 != 0;
                self.update_fp_ready();
            }
            _ => {}
        }
        self.update_pending();
    }
}
