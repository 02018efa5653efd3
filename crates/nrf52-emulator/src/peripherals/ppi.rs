//! PPI (product specification, "PPI — Programmable peripheral interconnect").
//!
//! A channel triggers a task when an event is generated, without the processor.

use crate::peripheral::{Context, Peripheral, Registers};

registers! {
    CHEN = 0x500, CHENSET = 0x504, CHENCLR = 0x508, CHANNEL = 0x510, GROUP = 0x800, FORK = 0x910
}
/// Number of channels with a programmable event and task.
const PROGRAMMABLE: u32 = 20;

/// Event and task of channels 20 to 31 ("Pre-programmed channels").
const PREPROGRAMMED: [(u32, u32); 12] = [
    (0x4000_8140, 0x4000_1000), // TIMER0 COMPARE[0] → RADIO TXEN
    (0x4000_8140, 0x4000_1004), // TIMER0 COMPARE[0] → RADIO RXEN
    (0x4000_8144, 0x4000_1010), // TIMER0 COMPARE[1] → RADIO DISABLE
    (0x4000_1128, 0x4000_f000), // RADIO BCMATCH → AAR START (no behavior)
    (0x4000_1100, 0x4000_f000), // RADIO READY → CCM KSGEN (no behavior)
    (0x4000_1104, 0x4000_f004), // RADIO ADDRESS → CCM CRYPT (no behavior)
    (0x4000_1104, 0x4000_8044), // RADIO ADDRESS → TIMER0 CAPTURE[1]
    (0x4000_110c, 0x4000_8048), // RADIO END → TIMER0 CAPTURE[2]
    (0x4000_b140, 0x4000_1000), // RTC0 COMPARE[0] → RADIO TXEN
    (0x4000_b140, 0x4000_1004), // RTC0 COMPARE[0] → RADIO RXEN
    (0x4000_b140, 0x4000_800c), // RTC0 COMPARE[0] → TIMER0 CLEAR
    (0x4000_b140, 0x4000_8000), // RTC0 COMPARE[0] → TIMER0 START
];

/// Programmable peripheral interconnect.
#[derive(Clone, Debug, Default)]
pub struct Ppi {
    registers: Registers,
}

impl Ppi {
    /// Returns the addresses of the tasks that an event triggers.
    ///
    /// `event` is the address of the event's register.
    pub fn tasks(&self, event: u32) -> Vec<u32> {
        let enabled = self.registers.get(CHEN);
        if enabled == 0 {
            return Vec::new();
        }
        let programmable = (0..PROGRAMMABLE)
            .filter(|n| enabled >> n & 1 != 0 && self.registers.get(CHANNEL + 8 * n) == event)
            .flat_map(|n| [self.registers.get(CHANNEL + 8 * n + 4), self.registers.get(FORK + 4 * n)]);
        let preprogrammed = (PROGRAMMABLE..32)
            .zip(PREPROGRAMMED)
            .filter(|(n, (from, _))| enabled >> n & 1 != 0 && *from == event)
            .map(|(_, (_, task))| task);
        programmable.chain(preprogrammed).filter(|task| *task != 0).collect()
    }
}

impl Peripheral for Ppi {
    fn registers(&mut self) -> &mut Registers {
        &mut self.registers
    }

    /// Enables (`CHG[n].EN`) or disables (`CHG[n].DIS`) a group of channels.
    fn trigger(&mut self, offset: u32, _: &mut Context<'_>) {
        let group = self.registers.get(GROUP + 4 * (offset / 8));
        let enabled = self.registers.get(CHEN);
        self.registers.set(CHEN, if offset.is_multiple_of(8) { enabled | group } else { enabled & !group });
    }

    fn before_read(&mut self, offset: u32, _: &Context<'_>) {
        if offset == CHENSET || offset == CHENCLR {
            let enabled = self.registers.get(CHEN);
            self.registers.set(offset, enabled);
        }
    }

    fn on_write(&mut self, offset: u32, value: u32, _: &mut Context<'_>) {
        let enabled = self.registers.get(CHEN);
        match offset {
            CHENSET => self.registers.set(CHEN, enabled | value),
            CHENCLR => self.registers.set(CHEN, enabled & !value),
            _ => {}
        }
    }
}
