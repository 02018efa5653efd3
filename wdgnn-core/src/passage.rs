//! Out of a robot and into another that is to be the same: every bit that lasts from tick to tick, so that a simulator stores a swarm or
//! hands a robot over to another process.
//!
//! Whatever is listed once passes both ways: going out, a [`Passage`] looks at the bytes that it is shown; coming in, it puts others in
//! their place. So there is no second list that could be in another order.

use heapless::Vec;

/// Where numbers pass, out or in.
pub struct Passage<'a> {
    carry: &'a mut dyn FnMut(&mut [u8]) -> bool,
    good: bool,
}

impl core::fmt::Debug for Passage<'_> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Passage").field("good", &self.good).finish_non_exhaustive()
    }
}

/// Something that passes with every bit.
pub trait Pass {
    /// Passes.
    fn pass(&mut self, passage: &mut Passage<'_>);
}

impl Pass for () {
    fn pass(&mut self, _: &mut Passage<'_>) {}
}

impl<'a> Passage<'a> {
    /// A passage on which `carry` looks at bytes, or puts others in their place; it says whether it could.
    pub fn new(carry: &'a mut dyn FnMut(&mut [u8]) -> bool) -> Self {
        Self { carry, good: true }
    }

    /// Whether everything has passed, and could be what it says.
    #[must_use]
    pub fn good(&self) -> bool {
        self.good
    }

    /// What came in cannot be.
    pub fn refuse(&mut self) {
        self.good = false;
    }

    /// Bytes as they are.
    pub fn bytes(&mut self, bytes: &mut [u8]) {
        self.good = self.good && (self.carry)(bytes);
    }

    /// A byte.
    pub fn byte(&mut self, byte: &mut u8) {
        self.bytes(core::slice::from_mut(byte));
    }

    /// Yes or no.
    pub fn flag(&mut self, flag: &mut bool) {
        let mut byte = u8::from(*flag);
        self.byte(&mut byte);
        *flag = byte != 0;
    }

    /// 16 bits.
    pub fn half(&mut self, half: &mut u16) {
        let mut bytes = half.to_le_bytes();
        self.bytes(&mut bytes);
        *half = u16::from_le_bytes(bytes);
    }

    /// 32 bits.
    pub fn word(&mut self, word: &mut u32) {
        let mut bytes = word.to_le_bytes();
        self.bytes(&mut bytes);
        *word = u32::from_le_bytes(bytes);
    }

    /// 64 bits.
    pub fn long(&mut self, long: &mut u64) {
        let mut bytes = long.to_le_bytes();
        self.bytes(&mut bytes);
        *long = u64::from_le_bytes(bytes);
    }

    /// 64 bits with a sign.
    pub fn signed(&mut self, long: &mut i64) {
        let mut bits = long.cast_unsigned();
        self.long(&mut bits);
        *long = bits.cast_signed();
    }

    /// How many there are, up to `most`.
    pub fn count(&mut self, count: usize, most: usize) -> usize {
        let mut word = count as u32;
        self.word(&mut word);
        if word as usize > most {
            self.refuse();
            return 0;
        }
        word as usize
    }

    /// Numbers, bit by bit, in the order of this machine's bytes.
    pub fn numbers(&mut self, numbers: &mut [f32]) {
        self.bytes(bytemuck::cast_slice_mut(numbers));
    }

    /// What may be missing; `nothing` is where it comes in.
    pub fn option<T>(&mut self, option: &mut Option<T>, nothing: T, each: impl FnOnce(&mut Self, &mut T)) {
        let mut there = option.is_some();
        self.flag(&mut there);
        if !there {
            *option = None;
            return;
        }
        each(self, option.get_or_insert(nothing));
    }

    /// A list with room for `N`; `nothing` is where something comes in.
    pub fn list<T, const N: usize>(
        &mut self,
        list: &mut Vec<T, N>,
        nothing: impl Fn() -> T,
        each: impl Fn(&mut Self, &mut T),
    ) {
        let count = self.count(list.len(), N);
        list.truncate(count);
        while list.len() < count && list.push(nothing()).is_ok() {}
        for item in list {
            each(self, item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Passes out of `from` and into `to`; whether that was good.
    fn pass<T>(from: &mut T, to: &mut T, short: usize, each: impl Fn(&mut Passage<'_>, &mut T)) -> bool {
        let mut bytes = Vec::<u8, 256>::new();
        let mut write = |some: &mut [u8]| bytes.extend_from_slice(some).is_ok();
        each(&mut Passage::new(&mut write), from);
        let mut rest = &bytes[..bytes.len() - short];
        let mut read = |some: &mut [u8]| {
            let Some((front, behind)) = rest.split_at_checked(some.len()) else { return false };
            some.copy_from_slice(front);
            rest = behind;
            true
        };
        let mut passage = Passage::new(&mut read);
        each(&mut passage, to);
        passage.good() && rest.is_empty()
    }

    #[test]
    fn what_goes_out_comes_in_and_half_of_it_is_told() {
        let list = |passage: &mut Passage<'_>, list: &mut Vec<Option<u32>, 4>| {
            passage.list(list, || None, |passage, item| passage.option(item, 0, Passage::word));
        };
        let mut from: Vec<Option<u32>, 4> = [Some(7), None, Some(u32::MAX)].into_iter().collect();
        let mut to: Vec<Option<u32>, 4> = [None, Some(3), None, Some(4)].into_iter().collect();
        assert!(pass(&mut from, &mut to, 0, list));
        assert_eq!(from, to);
        assert!(!pass(&mut from, &mut to, 1, list));
        let mut number = [f32::from_bits(0x7fc0_1234)];
        let mut copy = [0.0];
        assert!(pass(&mut number, &mut copy, 0, |passage, x| passage.numbers(x)));
        assert_eq!(copy[0].to_bits(), 0x7fc0_1234, "also what is no number");
    }

    #[test]
    fn a_list_that_is_too_long_is_refused() {
        let mut long = 5;
        let mut read = |bytes: &mut [u8]| {
            bytes.fill(0);
            bytes[0] = core::mem::take(&mut long);
            true
        };
        let mut passage = Passage::new(&mut read);
        passage.list(&mut Vec::<u8, 4>::new(), || 0, Passage::byte);
        assert!(!passage.good());
    }
}
