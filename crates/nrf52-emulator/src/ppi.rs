//! PPI (product specification, "PPI — Programmable peripheral interconnect"): an event does a task, without the processor.

use crate::block::{Block, Context, Peripheral};

const CHEN: u32 = 0x500;
const CHENSET: u32 = 0x504;
const CHENCLR: u32 = 0x508;
const CHANNEL: u32 = 0x510;
const GROUP: u32 = 0x800;
const FORK: u32 = 0x910;
/// Channels that a program can choose both ends of.
const CHANNELS: u32 = 20;

/// Channels 20 to 31: their ends are fixed ("Pre-programmed channels").
const FIXED: [(u32, u32); 12] = [
    (0x4000_8140, 0x4000_1000), // TIMER0 COMPARE[0] → RADIO TXEN
    (0x4000_8140, 0x4000_1004), // TIMER0 COMPARE[0] → RADIO RXEN
    (0x4000_8144, 0x4000_1010), // TIMER0 COMPARE[1] → RADIO DISABLE
    (0x4000_1128, 0x4000_f000), // RADIO BCMATCH → AAR START (not modelled)
    (0x4000_1100, 0x4000_f000), // RADIO READY → CCM KSGEN (not modelled)
    (0x4000_1104, 0x4000_f004), // RADIO ADDRESS → CCM CRYPT (not modelled)
    (0x4000_1104, 0x4000_8044), // RADIO ADDRESS → TIMER0 CAPTURE[1]
    (0x4000_110c, 0x4000_8048), // RADIO END → TIMER0 CAPTURE[2]
    (0x4000_b140, 0x4000_1000), // RTC0 COMPARE[0] → RADIO TXEN
    (0x4000_b140, 0x4000_1004), // RTC0 COMPARE[0] → RADIO RXEN
    (0x4000_b140, 0x4000_800c), // RTC0 COMPARE[0] → TIMER0 CLEAR
    (0x4000_b140, 0x4000_8000), // RTC0 COMPARE[0] → TIMER0 START
];

/// The interconnect.
#[derive(Clone, Debug, Default)]
pub struct Ppi {
    block: Block,
}

impl Ppi {
    /// The tasks that an event does.
    #[must_use]
    pub fn tasks(&self, event: u32) -> Vec<u32> {
        let on = self.block.get(CHEN);
        if on == 0 {
            return Vec::new();
        }
        let chosen = (0..CHANNELS)
            .filter(|n| on >> n & 1 != 0 && self.block.get(CHANNEL + 8 * n) == event)
            .flat_map(|n| [self.block.get(CHANNEL + 8 * n + 4), self.block.get(FORK + 4 * n)]);
        let fixed = (CHANNELS..32).zip(FIXED);
        let fixed = fixed.filter(|(n, (from, _))| on >> n & 1 != 0 && *from == event).map(|(_, (_, to))| to);
        chosen.chain(fixed).filter(|task| *task != 0).collect()
    }
}

impl Peripheral for Ppi {
    fn block(&mut self) -> &mut Block {
        &mut self.block
    }

    /// Switches a group of channels on or off.
    fn task(&mut self, offset: u32, _: &mut Context<'_>) {
        let group = self.block.get(GROUP + 4 * (offset / 8));
        let on = self.block.get(CHEN);
        self.block.set(CHEN, if offset.is_multiple_of(8) { on | group } else { on & !group });
    }

    fn reading(&mut self, offset: u32, _: u64) {
        if offset == CHENSET || offset == CHENCLR {
            let on = self.block.get(CHEN);
            self.block.set(offset, on);
        }
    }

    fn written(&mut self, offset: u32, value: u32, _: &mut Context<'_>) {
        let on = self.block.get(CHEN);
        match offset {
            CHENSET => self.block.set(CHEN, on | value),
            CHENCLR => self.block.set(CHEN, on & !value),
            _ => {}
        }
    }
}
