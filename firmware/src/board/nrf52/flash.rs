//! The store: a log of records in a few pages of flash, behind the page of the robot's settings.
//!
//! * Nothing is erased in flight: an erasure stops the processor for 85 ms, which is eight ticks. Pages are erased at a start on the
//!   ground; when they are full, nothing more is kept until the next one.
//! * A record is written a few words per tick, 41 µs each, between ticks ([`Flash::work`]). It counts from its last word on: whoever
//!   loses power before that has the record before.
//! * What is not a record, because somebody else wrote there, is erased at the next start.
//!
//! A record is its head (`"wR"`, its length in bytes), its number, the bytes, and the number again with all bits inverted, all in words.

use core::{ops::Range, ptr};

use heapless::Vec;
use nrf_pac::{NVMC, nvmc::vals::Wen};
use wdgnn_robot::{
    onboard::{BUFFER_BYTES, ModelOf, Onboard},
    persist,
    ports::Store,
};

use super::{settings, start};

/// Bytes in a page.
const PAGE: u32 = 4096;
/// Pages of the store.
const PAGES: u32 = 8;
/// A record's head: this and its length.
const HEAD: u32 = 0x5277_0000;
const ERASED: u32 = u32::MAX;
/// Words of a record besides its bytes.
const AROUND: u32 = 3;
/// Bytes of the largest record.
const LARGEST: usize = BUFFER_BYTES.next_multiple_of(4);
/// Words written between two ticks: 0.33 ms.
const WORDS_AT_ONCE: usize = 8;
/// Ticks between two records, at least: ten seconds, so that the pages last for half an hour and a page of flash for ten years.
const EVERY: u32 = 1_000;
/// Bytes that a record may take, with what is around it.
const PLACE: u32 = 4 * AROUND + LARGEST as u32;
/// The last places are for records that somebody insists on: a new key takes two, and must not be lost because a flight was long.
const INSISTED: u32 = 4;
/// Fewer free pages than these are a reason to erase, on the ground.
const ENOUGH_PAGES: u32 = 2;

/// Whether a robot's record fits: its head, its keys, its wide parameters and its personal part (`docs/wire-format.md`).
pub const fn holds<T: Onboard>() -> bool {
    persist::record_bytes::<ModelOf<'_, T>>(true) <= LARGEST
}

/// The store.
#[derive(Debug)]
pub struct Flash {
    /// The newest record's bytes.
    newest: Option<Range<u32>>,
    number: u32,
    /// Where the next record begins.
    free: u32,
    /// What is being written: words that are left, and where the next one goes.
    writing: Vec<u32, { LARGEST / 4 + AROUND as usize }>,
    written: usize,
    since: u32,
    /// The next record is to be kept in any case: there is a new key in it, or a new boot count.
    insisted: bool,
}

/// The flash could not be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashFailed {
    /// There is no room until the next start on the ground.
    Full,
    /// What was written reads otherwise.
    Worn,
    /// Longer than a record can be.
    TooLong,
}

/// Where the store is.
fn store() -> Range<u32> {
    let begins = settings::place() + PAGE;
    begins..begins + PAGES * PAGE
}

fn word(address: u32) -> u32 {
    // SAFETY: any address of flash may be read.
    unsafe { ptr::read_volatile(ptr::with_exposed_provenance::<u32>(address as usize)) }
}

/// Writes a word of flash or of the user information.
pub fn write_word(place: *mut u32, value: u32) {
    start::flash_mode(Wen::Wen);
    // SAFETY: the flash controller lets only ones become zeros, in the word named; callers name words of the store or of UICR.
    unsafe { ptr::write_volatile(place, value) };
    start::ready();
    start::flash_mode(Wen::Ren);
}

fn erase(page: u32) {
    start::feed();
    start::flash_mode(Wen::Een);
    NVMC.erasepage().write_value(page);
    start::ready();
    start::flash_mode(Wen::Ren);
    start::feed();
}

fn page_of(address: u32) -> u32 {
    address / PAGE * PAGE
}

fn is_erased(range: Range<u32>) -> bool {
    range.step_by(4).all(|address| word(address) == ERASED)
}

/// The record at `address` and the address behind it; none where there is no whole one.
fn record(address: u32) -> Option<(Range<u32>, u32, u32)> {
    let head = word(address);
    let bytes = head & 0xffff;
    let words = bytes.div_ceil(4);
    let behind = address + 4 * (words + AROUND);
    if head & 0xffff_0000 != HEAD || bytes as usize > LARGEST || behind > page_of(address) + PAGE {
        return None;
    }
    let (number, from) = (word(address + 4), address + 8);
    let whole = word(behind - 4) == !number;
    // A record that was broken off is passed over; what comes behind it is still good.
    Some((if whole { from..from + bytes } else { 0..0 }, number, behind))
}

impl Flash {
    /// Looks for the newest record, and makes room where that costs no flight.
    pub(super) fn open(in_flight: bool) -> Self {
        let mut flash = Self {
            newest: None,
            number: 0,
            free: store().end,
            writing: Vec::new(),
            written: 0,
            since: EVERY,
            insisted: true,
        };
        for page in store().step_by(PAGE as usize) {
            flash.look_through(page);
        }
        let keep = flash.newest.as_ref().map(|newest| page_of(newest.start));
        flash.free = Self::next_free(keep);
        let room = store().end.saturating_sub(flash.free);
        if flash.free == store().end || (!in_flight && room < ENOUGH_PAGES * PAGE) {
            // One page is enough to go on with in flight; on the ground there is time for all that hold nothing new.
            let old = store()
                .step_by(PAGE as usize)
                .filter(|page| Some(*page) != keep && !is_erased(*page..*page + PAGE));
            old.take(if in_flight { 1 } else { usize::MAX }).for_each(erase);
            flash.free = Self::next_free(keep);
        }
        flash
    }

    fn look_through(&mut self, page: u32) {
        let mut at = page;
        while at + 4 * AROUND <= page + PAGE
            && let Some((bytes, number, behind)) = record(at)
        {
            if !bytes.is_empty()
                && (self.newest.is_none() || number.wrapping_sub(self.number).cast_signed() > 0)
            {
                (self.newest, self.number) = (Some(bytes), number);
            }
            at = behind;
        }
    }

    /// The first place for a record: behind the newest in its page, or an erased page; pages are used in a circle from there.
    fn next_free(newest: Option<u32>) -> u32 {
        let store = store();
        let first = newest.map_or(0, |page| (page - store.start) / PAGE);
        (0..PAGES)
            .map(|step| store.start + (first + step) % PAGES * PAGE)
            .find_map(|page| {
                let mut at = page;
                while at + 4 * AROUND <= page + PAGE
                    && let Some((_, _, behind)) = record(at)
                {
                    at = behind;
                }
                let fits = at + PLACE <= page + PAGE;
                (fits && is_erased(at..page + PAGE)).then_some(at)
            })
            .unwrap_or(store.end)
    }

    /// Writes a few words of what is to be kept. Called between ticks.
    pub(super) fn work(&mut self) {
        for _ in 0..WORDS_AT_ONCE {
            let Some(value) = self.writing.get(self.written).copied() else { return };
            let place = self.free + 4 * self.written as u32;
            write_word(ptr::with_exposed_provenance_mut(place as usize), value);
            self.written += 1;
            if self.written == self.writing.len() {
                self.end();
            }
        }
    }

    fn end(&mut self) {
        let begins = self.free;
        let length = self.writing.first().map_or(0, |head| head & 0xffff);
        self.free = Self::next_free(Some(page_of(begins)));
        if record(begins).is_some_and(|(bytes, ..)| !bytes.is_empty()) {
            self.newest = Some(begins + 8..begins + 8 + length);
        }
        self.writing.clear();
        self.written = 0;
    }

    /// Whether there are no more places for records than so many, which are fewer than a page has.
    fn has_no_more_than(&self, places: u32) -> bool {
        let page = page_of(self.free);
        let here = (page + PAGE).saturating_sub(self.free) / PLACE;
        let others = || store().step_by(PAGE as usize).filter(|other| *other != page);
        self.free >= store().end || (here <= places && !others().any(|other| is_erased(other..other + PAGE)))
    }

    fn begin(&mut self, bytes: &[u8]) -> Result<(), FlashFailed> {
        if self.free >= store().end {
            return Err(FlashFailed::Full);
        }
        self.number = self.number.wrapping_add(1);
        self.written = 0;
        self.writing.clear();
        let words = bytes
            .chunks(4)
            .map(|chunk| chunk.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)));
        let all = [HEAD | bytes.len() as u32, self.number].into_iter().chain(words).chain([!self.number]);
        for word in all {
            self.writing.push(word).map_err(|_| FlashFailed::TooLong)?;
        }
        Ok(())
    }
}

impl Store for Flash {
    type Error = FlashFailed;

    fn load(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, FlashFailed> {
        let Some(newest) = self.newest.clone() else { return Ok(None) };
        for (slot, address) in buffer.iter_mut().zip(newest.clone()) {
            *slot = (word(address / 4 * 4) >> (8 * (address % 4))) as u8;
        }
        Ok(Some(newest.len()))
    }

    /// Keeps one record in ten seconds at most; what comes in between is not kept, and that is no error.
    fn save(&mut self, bytes: &[u8]) -> Result<(), FlashFailed> {
        if bytes.len() > LARGEST {
            return Err(FlashFailed::TooLong);
        }
        // Called once a second (`tick::SAVE_EVERY`).
        self.since = self.since.saturating_add(wdgnn_robot::control_loop::SAVE_EVERY);
        if self.since < EVERY || !self.writing.is_empty() {
            return Ok(());
        }
        if !core::mem::take(&mut self.insisted) && self.has_no_more_than(INSISTED) {
            return Err(FlashFailed::Full);
        }
        self.since = 0;
        self.begin(bytes)
    }

    /// What is being written is written to its end first: at most 7 ms, once or twice in a change of keys.
    fn insist(&mut self) {
        while !self.writing.is_empty() {
            self.work();
        }
        (self.since, self.insisted) = (EVERY, true);
    }

    /// Whether there is no place behind the next record but those that are for others.
    fn is_last(&self) -> bool {
        self.has_no_more_than(INSISTED + 1)
    }

    fn flush(&mut self) -> Result<(), FlashFailed> {
        let begins = self.free;
        if self.writing.is_empty() {
            return Err(FlashFailed::Full);
        }
        while !self.writing.is_empty() {
            self.work();
        }
        record(begins).filter(|(bytes, ..)| !bytes.is_empty()).map(|_| ()).ok_or(FlashFailed::Worn)
    }
}
