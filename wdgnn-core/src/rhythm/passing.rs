//! Out of a simulated robot's clock and into another's.

use super::{Other, Rhythm};
use crate::passage::{Pass, Passage};

impl<const N: usize> Pass for Rhythm<N> {
    fn pass(&mut self, passage: &mut Passage<'_>) {
        let Self {
            timing: _,
            id: _,
            epoch,
            last,
            begun,
            listens,
            others,
            slot,
            claimed,
            obeyed,
            contested,
            broken,
            ahead_since,
            follows,
            behind_since,
            unfollowed,
            unheard_since,
            back,
            chance,
        } = self;
        passage.signed(epoch);
        passage.option(last, 0, Passage::word);
        for long in [begun, listens, claimed, obeyed, follows] {
            passage.long(long);
        }
        let nobody = || Other { sender: 0, boot: 0, later: 0, latest: 0, slot: 0, heard: 0 };
        passage.list(others, nobody, |passage, Other { sender, boot, later, latest, slot, heard }| {
            passage.half(sender);
            passage.word(boot);
            passage.signed(later);
            passage.signed(latest);
            passage.byte(slot);
            passage.long(heard);
        });
        passage.option(slot, 0, Passage::byte);
        passage.option(contested, (0, 0), place);
        for broken in broken {
            place(passage, broken);
        }
        for since in [ahead_since, behind_since, unheard_since] {
            passage.option(since, 0, Passage::long);
        }
        passage.flag(unfollowed);
        passage.flag(back);
        passage.word(chance);
    }
}

/// A slot, or how often something happened in it; and when.
fn place(passage: &mut Passage<'_>, (slot, at): &mut (u8, u64)) {
    passage.byte(slot);
    passage.long(at);
}
