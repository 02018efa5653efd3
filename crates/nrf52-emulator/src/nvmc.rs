//! NVMC (product specification, "NVMC — Non-volatile memory controller"): a word is written in 41 µs and a page erased in 85 ms,
//! during which the processor stands still, because it runs from the same flash.

use crate::{
    MICROSECOND,
    block::{Block, Context, Peripheral},
    memory::{Memory, PAGE_BYTES, UICR},
};

const READY: u32 = 0x400;
const READYNEXT: u32 = 0x408;
const CONFIG: u32 = 0x504;
const ERASEPAGE: u32 = 0x508;
const ERASEALL: u32 = 0x50c;
const ERASEUICR: u32 = 0x514;
const ERASEPAGEPARTIAL: u32 = 0x518;
const ERASEPAGEPARTIALCFG: u32 = 0x51c;
const ICACHECNF: u32 = 0x540;
/// CONFIG: writing or erasing is on.
const WRITE: u32 = 1;
const ERASE: u32 = 2;

/// "t_WRITE, time to write one word": 41 µs at most.
const WORD_TAKES: u64 = 41 * MICROSECOND;
/// "t_ERASEPAGE": 85 ms at most.
const PAGE_TAKES: u64 = 85_000 * MICROSECOND;
/// "t_ERASEALL": 169 ms at most.
const ALL_TAKES: u64 = 169_000 * MICROSECOND;

/// The flash controller.
#[derive(Clone, Debug)]
pub struct Nvmc {
    block: Block,
    /// The processor stands still until then.
    pub stands_until: u64,
    /// Pages erased, by page.
    pub erased: Vec<u32>,
    /// Words written, since power came.
    pub words: u64,
    /// Milliseconds of partial erasure that a page has had.
    partly: Vec<(u32, u32)>,
    /// Changed, so that what is cached of it must be forgotten.
    pub changed: Vec<(u32, u32)>,
    /// Power fails after so many more words or erasures: a test's.
    pub power_fails_after: Option<u64>,
}

impl Default for Nvmc {
    fn default() -> Self {
        Self {
            block: Block::with(&[(READY, 1), (READYNEXT, 1), (ERASEPAGEPARTIALCFG, 10)]),
            stands_until: 0,
            erased: Vec::new(),
            words: 0,
            partly: Vec::new(),
            changed: Vec::new(),
            power_fails_after: None,
        }
    }
}

impl Nvmc {
    /// A reset.
    pub fn reset(&mut self) {
        let Self { stands_until, erased, words, changed, partly, power_fails_after, .. } =
            std::mem::take(self);
        *self = Self {
            block: Self::default().block,
            stands_until,
            erased,
            words,
            partly,
            changed,
            power_fails_after,
        };
    }

    /// Whether instructions are cached.
    #[must_use]
    pub fn cached(&self) -> bool {
        self.block.get(ICACHECNF) & 1 != 0
    }

    /// Whether there is still power for one more of these.
    fn powered(&mut self) -> bool {
        match &mut self.power_fails_after {
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
            None => true,
        }
    }

    /// A program writes a word to flash: only ones become zeros. Returns whether writing was on.
    pub fn write(&mut self, at: u64, memory: &mut Memory, address: u32, value: u32) -> bool {
        if self.block.get(CONFIG) & 3 != WRITE || !address.is_multiple_of(4) {
            return false;
        }
        self.stands_until = self.stands_until.max(at) + WORD_TAKES;
        if !self.powered() {
            return true;
        }
        self.words += 1;
        for (index, byte) in (0..).zip(value.to_le_bytes()) {
            if let Some(slot) = memory.kept_mut(address + index) {
                *slot &= byte;
            }
        }
        self.changed.push((address, 4));
        true
    }

    fn erase(&mut self, memory: &mut Memory, from: u32, bytes: u32) {
        if !self.powered() {
            return;
        }
        (from..from + bytes).for_each(|address| {
            if let Some(slot) = memory.kept_mut(address) {
                *slot = 0xff;
            }
        });
        self.changed.push((from, bytes));
        self.erased.push(from);
    }
}

impl Peripheral for Nvmc {
    fn block(&mut self) -> &mut Block {
        &mut self.block
    }

    fn written(&mut self, offset: u32, value: u32, context: &mut Context<'_>) {
        if self.block.get(CONFIG) & 3 != ERASE {
            return;
        }
        let stand = |nvmc: &mut Self, takes| nvmc.stands_until = nvmc.stands_until.max(context.at) + takes;
        match offset {
            ERASEPAGE => {
                stand(self, PAGE_TAKES);
                self.erase(context.memory, value & !(PAGE_BYTES - 1), PAGE_BYTES);
            }
            ERASEPAGEPARTIAL => {
                let page = value & !(PAGE_BYTES - 1);
                let milliseconds = self.block.get(ERASEPAGEPARTIALCFG) & 0x7f;
                stand(self, u64::from(milliseconds) * 1000 * MICROSECOND);
                let had = self.partly.iter().position(|(known, _)| *known == page);
                let total = had.map_or(0, |index| self.partly.swap_remove(index).1) + milliseconds;
                if total >= 85 {
                    self.erase(context.memory, page, PAGE_BYTES);
                } else {
                    self.partly.push((page, total));
                }
            }
            ERASEALL if value & 1 != 0 => {
                stand(self, ALL_TAKES);
                let bytes = context.memory.flash.len() as u32;
                self.erase(context.memory, 0, bytes);
                self.erase(context.memory, UICR, PAGE_BYTES);
            }
            ERASEUICR if value & 1 != 0 => {
                stand(self, PAGE_TAKES);
                self.erase(context.memory, UICR, PAGE_BYTES);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn controlled(act: impl Fn(&mut Nvmc, &mut Memory)) -> (Nvmc, Memory) {
        let (mut nvmc, mut memory) = (Nvmc::default(), Memory::new(8192, 64));
        act(&mut nvmc, &mut memory);
        (nvmc, memory)
    }

    #[test]
    fn writing_only_clears_bits_and_only_when_it_is_on() {
        let (nvmc, memory) = controlled(|nvmc, memory| {
            assert!(!nvmc.write(0, memory, 8, 0), "off");
            nvmc.block.store(CONFIG, WRITE);
            assert!(nvmc.write(0, memory, 8, 0x0f0f_0f0f));
            assert!(nvmc.write(100, memory, 8, 0xffff_00ff));
        });
        assert_eq!(memory.flash[8..12], [0x0f, 0x00, 0x0f, 0x0f]);
        assert_eq!(nvmc.stands_until, 2 * WORD_TAKES, "the processor stands still, one word after the other");
    }

    #[test]
    fn a_page_is_erased_whole_in_85_ms_and_in_parts_as_long_in_all() {
        let (nvmc, memory) = controlled(|nvmc, memory| {
            memory.flash.fill(0);
            nvmc.block.store(CONFIG, ERASE);
            let mut context = Context { at: 0, memory, raised: Vec::new() };
            nvmc.written(ERASEPAGE, 4096, &mut context);
        });
        assert!(
            memory.flash[4096..].iter().all(|byte| *byte == 0xff)
                && memory.flash[..4096].iter().all(|byte| *byte == 0)
        );
        assert_eq!(nvmc.stands_until, PAGE_TAKES);

        let (_, memory) = controlled(|nvmc, memory| {
            memory.flash.fill(0);
            nvmc.block.store(CONFIG, ERASE);
            for part in 1..=9 {
                let mut context = Context { at: 0, memory, raised: Vec::new() };
                nvmc.written(ERASEPAGEPARTIAL, 0, &mut context);
                assert_eq!(memory.flash[0] == 0xff, part == 9, "ten milliseconds each");
            }
        });
        assert_eq!(memory.flash[4096], 0);
    }
}
