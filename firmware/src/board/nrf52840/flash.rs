//! The store: the last two pages of flash, written in turn so that they wear evenly (`sequential-storage`).
//!
//! A page holds some 18 records; at one a second, each page is erased every 36 s and lasts its 10,000 cycles for 100 hours of
//! flight. Erasing stops the processor for 85 ms: eight ticks are skipped.

use core::ops::Range;

use embassy_embedded_hal::adapter::BlockingAsync;
use embassy_futures::block_on;
use embassy_nrf::nvmc::Nvmc;
use sequential_storage::{
    cache::{Cache, Uncached},
    map::{MapConfig, MapStorage},
};
use wdgnn_core::{ports::Store, robot::BUFFER_BYTES};

/// The last two of the chip's 256 pages of 4 KiB: far behind any image.
const PAGES: Range<u32> = 0x000f_e000..0x0010_0000;
/// The one thing that is kept.
const KEY: u8 = 0;

type Memory = BlockingAsync<Nvmc<'static>>;

/// The store.
pub struct Flash {
    map: MapStorage<u8, Memory, Cache<Uncached, Uncached, Uncached, u8>>,
}

impl core::fmt::Debug for Flash {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str("Flash")
    }
}

/// The flash could not be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashFailed;

impl Flash {
    pub(super) fn new(memory: Nvmc<'static>) -> Self {
        let config = const { MapConfig::new(PAGES) };
        Self { map: MapStorage::new(BlockingAsync::new(memory), config, Cache::new_uncached()) }
    }
}

impl Store for Flash {
    type Error = FlashFailed;

    fn load(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, FlashFailed> {
        let mut scratch = Scratch::new();
        let found = block_on(self.map.fetch_item::<&[u8]>(&mut scratch.0, &KEY));
        Ok(found.map_err(|_| FlashFailed)?.map(|bytes| {
            buffer.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            bytes.len()
        }))
    }

    fn save(&mut self, bytes: &[u8]) -> Result<(), FlashFailed> {
        let mut scratch = Scratch::new();
        block_on(self.map.store_item(&mut scratch.0, &KEY, &bytes)).map_err(|_| FlashFailed)
    }
}

/// Room for a record on its way, on a multiple of four as the flash controller wants it.
#[repr(align(4))]
struct Scratch([u8; BUFFER_BYTES.next_multiple_of(4) + 8]);

impl Scratch {
    fn new() -> Self {
        Self([0; BUFFER_BYTES.next_multiple_of(4) + 8])
    }
}
