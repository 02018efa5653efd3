//! Nonvolatile store: a log of records in flash, after the provisioning page.
//!
//! * The store never erases in flight, because erasing a page stalls the CPU for 85 ms (eight
//!   ticks). It erases at a start on the ground. Full pages stay full until then, and new records
//!   are rejected.
//! * [`Flash::write_pending`] writes a few words between ticks, 41 µs each. A record is valid once
//!   its last word is written. After a power loss the previous record is still there.
//! * Pages with other content are erased at the next start.
//!
//! A record consists of words: header (`"wR"` and the length in bytes), number, content, inverted
//! number.

use core::{ops::Range, ptr};

use heapless::Vec;
use nrf_pac::{NVMC, nvmc::vals::Wen};
use wdgnn_robot::{
    onboard::{BUFFER_LEN, ModelOf, OnboardTask},
    persist,
    ports::Store,
};

use super::{provisioning, startup};

/// Page size in bytes.
const PAGE: u32 = 4096;
/// Number of pages of the store.
const PAGES: u32 = 8;
/// Upper half of a record header. The lower half is the length.
const HEADER: u32 = 0x5277_0000;
const ERASED: u32 = u32::MAX;
/// Words of a record in addition to its content.
const OVERHEAD: u32 = 3;
/// Maximum length of a record's content in bytes.
const MAX_CONTENT: usize = BUFFER_LEN.next_multiple_of(4);
/// Words written between two ticks: 0.33 ms.
const WORDS_PER_TICK: usize = 8;
/// Minimum number of ticks between two records: 10 s. The pages then last for half an hour
/// of flight, and the flash for ten years.
const INTERVAL_TICKS: u32 = 1_000;
/// Maximum size of a record in bytes.
const MAX_RECORD: u32 = 4 * OVERHEAD + MAX_CONTENT as u32;
/// Number of records reserved for [`Store::request_immediate_save`]. A key update takes two and must not be lost
/// after a long flight.
const RESERVED: u32 = 4;
/// A start on the ground erases old pages if fewer pages are free.
const MIN_FREE_PAGES: u32 = 2;

/// Whether the record of a robot fits: header, keys, wide parameters and local adaptation
/// (`docs/wire-format.md`).
pub const fn holds<T: OnboardTask>() -> bool {
    persist::record_len::<ModelOf<'_, T>>(true) <= MAX_CONTENT
}

/// Store in flash.
#[derive(Debug)]
pub struct Flash {
    /// Address range of the newest record's content.
    newest: Option<Range<u32>>,
    number: u32,
    /// Start of the next record.
    free: u32,
    /// Words of the record in progress, and the number of words already written.
    writing: Vec<u32, { MAX_CONTENT / 4 + OVERHEAD as usize }>,
    written: usize,
    /// Ticks since the last record.
    since: u32,
    /// The next record may use the reserved space, because it holds a new key or boot count.
    may_use_reserve: bool,
}

/// Reason why a record was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FlashError {
    /// The store is full until the next start on the ground.
    #[error("the store is full until the next start on the ground")]
    Full,
    /// The written words read back differently.
    #[error("the flash did not keep the record")]
    Worn,
    /// The record is too long.
    #[error("the record is too long")]
    TooLong,
}

/// Address range of the store.
fn store() -> Range<u32> {
    let begins = provisioning::page_address() + PAGE;
    begins..begins + PAGES * PAGE
}

fn word(address: u32) -> u32 {
    // SAFETY: all flash addresses are readable.
    unsafe { ptr::read_volatile(ptr::with_exposed_provenance::<u32>(address as usize)) }
}

/// Writes a word of flash or UICR.
pub fn write_word(place: *mut u32, value: u32) {
    startup::set_flash_mode(Wen::Wen);
    // SAFETY: callers pass words of the store or of UICR, and the flash controller can only clear
    // bits of that word.
    unsafe { ptr::write_volatile(place, value) };
    startup::wait_for_flash();
    startup::set_flash_mode(Wen::Ren);
}

fn erase(page: u32) {
    startup::feed_watchdog();
    startup::set_flash_mode(Wen::Een);
    NVMC.erasepage().write_value(page);
    startup::wait_for_flash();
    startup::set_flash_mode(Wen::Ren);
    startup::feed_watchdog();
}

fn page_of(address: u32) -> u32 {
    address / PAGE * PAGE
}

fn is_erased(range: Range<u32>) -> bool {
    range.step_by(4).all(|address| word(address) == ERASED)
}

/// Content range, number and end of the record at `address`; `None` without a record. The range is
/// empty if the record is incomplete.
fn record(address: u32) -> Option<(Range<u32>, u32, u32)> {
    let header = word(address);
    let bytes = header & 0xffff;
    let words = bytes.div_ceil(4);
    let end = address + 4 * (words + OVERHEAD);
    if header & 0xffff_0000 != HEADER || bytes as usize > MAX_CONTENT || end > page_of(address) + PAGE {
        return None;
    }
    let (number, from) = (word(address + 4), address + 8);
    let complete = word(end - 4) == !number;
    // An incomplete record is skipped; records after it are valid.
    Some((if complete { from..from + bytes } else { 0..0 }, number, end))
}

impl Flash {
    /// Delays the next record by [`INTERVAL_TICKS`].
    #[cfg(feature = "buggy")]
    pub(super) fn postpone(&mut self) {
        self.since = 0;
    }

    /// Finds the newest record, and erases old pages if needed.
    pub(super) fn open(was_flying: bool) -> Self {
        let mut flash = Self {
            newest: None,
            number: 0,
            free: store().end,
            writing: Vec::new(),
            written: 0,
            since: INTERVAL_TICKS,
            may_use_reserve: true,
        };
        for page in store().step_by(PAGE as usize) {
            flash.scan(page);
        }
        let keep = flash.newest.as_ref().map(|newest| page_of(newest.start));
        flash.free = Self::next_free(keep);
        let room = store().end.saturating_sub(flash.free);
        if flash.free == store().end || (!was_flying && room < MIN_FREE_PAGES * PAGE) {
            // One page is enough in flight. On the ground there is time to erase all old pages.
            let old = store()
                .step_by(PAGE as usize)
                .filter(|page| Some(*page) != keep && !is_erased(*page..*page + PAGE));
            old.take(if was_flying { 1 } else { usize::MAX }).for_each(erase);
            flash.free = Self::next_free(keep);
        }
        flash
    }

    fn scan(&mut self, page: u32) {
        let mut at = page;
        while at + 4 * OVERHEAD <= page + PAGE
            && let Some((bytes, number, end)) = record(at)
        {
            if !bytes.is_empty()
                && (self.newest.is_none() || number.wrapping_sub(self.number).cast_signed() > 0)
            {
                (self.newest, self.number) = (Some(bytes), number);
            }
            at = end;
        }
    }

    /// Start of the next record: after the newest record in its page, or in the next erased page.
    /// Pages form a ring.
    fn next_free(newest: Option<u32>) -> u32 {
        let store = store();
        let first = newest.map_or(0, |page| (page - store.start) / PAGE);
        (0..PAGES)
            .map(|step| store.start + (first + step) % PAGES * PAGE)
            .find_map(|page| {
                let mut at = page;
                while at + 4 * OVERHEAD <= page + PAGE
                    && let Some((_, _, end)) = record(at)
                {
                    at = end;
                }
                let fits = at + MAX_RECORD <= page + PAGE;
                (fits && is_erased(at..page + PAGE)).then_some(at)
            })
            .unwrap_or(store.end)
    }

    /// Writes the next words of the record in progress. Called between ticks.
    pub(super) fn write_pending(&mut self) {
        for _ in 0..WORDS_PER_TICK {
            let Some(value) = self.writing.get(self.written).copied() else { return };
            let place = self.free + 4 * self.written as u32;
            write_word(ptr::with_exposed_provenance_mut(place as usize), value);
            self.written += 1;
            if self.written == self.writing.len() {
                self.finish_record();
            }
        }
    }

    fn finish_record(&mut self) {
        let begins = self.free;
        let length = self.writing.first().map_or(0, |header| header & 0xffff);
        self.free = Self::next_free(Some(page_of(begins)));
        if record(begins).is_some_and(|(bytes, ..)| !bytes.is_empty()) {
            self.newest = Some(begins + 8..begins + 8 + length);
        }
        self.writing.clear();
        self.written = 0;
    }

    /// Whether at most `records` more records fit. Exact if `records` is less than a page holds.
    fn has_room_for_at_most(&self, records: u32) -> bool {
        let page = page_of(self.free);
        let here = (page + PAGE).saturating_sub(self.free) / MAX_RECORD;
        let others = || store().step_by(PAGE as usize).filter(|other| *other != page);
        self.free >= store().end || (here <= records && !others().any(|other| is_erased(other..other + PAGE)))
    }

    fn begin_record(&mut self, bytes: &[u8]) -> Result<(), FlashError> {
        if self.free >= store().end {
            return Err(FlashError::Full);
        }
        self.number = self.number.wrapping_add(1);
        self.written = 0;
        self.writing.clear();
        let words = bytes
            .chunks(4)
            .map(|chunk| chunk.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)));
        let all = [HEADER | bytes.len() as u32, self.number].into_iter().chain(words).chain([!self.number]);
        for word in all {
            self.writing.push(word).map_err(|_| FlashError::TooLong)?;
        }
        Ok(())
    }
}

impl Store for Flash {
    type Error = FlashError;

    fn load(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, FlashError> {
        let Some(newest) = self.newest.clone() else { return Ok(None) };
        for (slot, address) in buffer.iter_mut().zip(newest.clone()) {
            *slot = (word(address / 4 * 4) >> (8 * (address % 4))) as u8;
        }
        Ok(Some(newest.len()))
    }

    /// Starts a record if the last one is at least 10 s old. Skipping a record is not an error.
    fn save(&mut self, bytes: &[u8]) -> Result<(), FlashError> {
        if bytes.len() > MAX_CONTENT {
            return Err(FlashError::TooLong);
        }
        // The control loop calls `save` once per `SAVE_EVERY` ticks.
        self.since = self.since.saturating_add(wdgnn_robot::control_loop::SAVE_INTERVAL_TICKS);
        if self.since < INTERVAL_TICKS || !self.writing.is_empty() {
            return Ok(());
        }
        if !core::mem::take(&mut self.may_use_reserve) && self.has_room_for_at_most(RESERVED) {
            return Err(FlashError::Full);
        }
        self.since = 0;
        self.begin_record(bytes)
    }

    /// Finishes the record in progress first: at most 7 ms, once or twice per key update.
    fn request_immediate_save(&mut self) {
        while !self.writing.is_empty() {
            self.write_pending();
        }
        (self.since, self.may_use_reserve) = (INTERVAL_TICKS, true);
    }

    /// Whether only the reserved records are left after the next one.
    fn is_nearly_full(&self) -> bool {
        self.has_room_for_at_most(RESERVED + 1)
    }

    fn flush(&mut self) -> Result<(), FlashError> {
        let begins = self.free;
        if self.writing.is_empty() {
            return Err(FlashError::Full);
        }
        while !self.writing.is_empty() {
            self.write_pending();
        }
        record(begins).filter(|(bytes, ..)| !bytes.is_empty()).map(|_| ()).ok_or(FlashError::Worn)
    }
}
