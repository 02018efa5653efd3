//! Provisioning page: address, swarm size and keys of one robot.
//!
//! The page is a flash page after the image. `firmware/provision.py` writes it; the firmware only
//! reads it.
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 4 | `"wdgn"` |
//! | 4 | 2 | version, 2 |
//! | 6 | 2 | address of the robot |
//! | 8 | 2 | swarm size, for addresses from 0; 0 accepts every address |
//! | 10 | 2 | 0 |
//! | 12 | 4 | CRC-32 (ISO-HDLC) of the twelve bytes before |
//!
//! With key rotation, the personal key follows:
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 16 | 16 | personal key of the robot |
//! | 32 | 1 | epoch of the group key in the image |
//! | 33 | 3 | 0 |
//! | 36 | 4 | CRC-32 of the twenty bytes before |
//!
//! With peer authentication, the roster follows:
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 40 | 4 | number of keys, at most 64 |
//! | 44 | 16 each | pairwise keys that authenticate the peers, in the order of their addresses |
//! | | 4 | CRC-32 of all bytes from offset 40 |

use core::{ptr, slice};

use nrf_pac::FICR;
use wdgnn_core::task::NodeId;
use wdgnn_link::security::{key::Key, managed_keys::ROSTER_CAPACITY};
use wdgnn_protocol::line::CHECKSUM;

const MAGIC: [u8; 4] = *b"wdgn";
const VERSION: u16 = 2;

/// Address of the page: the end of the image's flash in the board's `map.x`.
pub fn page_address() -> u32 {
    unsafe extern "C" {
        static _flash_ends: u8;
    }
    (&raw const _flash_ends).expose_provenance() as u32
}

/// Identity of a robot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provisioning {
    /// Address of the robot.
    pub id: NodeId,
    /// Swarm size; 0 accepts every address.
    pub swarm_size: NodeId,
}

impl Provisioning {
    /// Identity of a robot without a page: an address from the chip's device address.
    pub fn from_device_address() -> Self {
        Self { id: FICR.deviceaddr(0).read() as NodeId, swarm_size: 0 }
    }
}

/// Bytes at an offset in the page.
fn bytes<const COUNT: usize>(offset: u32) -> [u8; COUNT] {
    let mut found = [0; COUNT];
    for (slot, address) in found.iter_mut().zip(page_address() + offset..) {
        // SAFETY: all flash addresses are readable.
        *slot = unsafe { ptr::read_volatile(ptr::with_exposed_provenance::<u8>(address as usize)) };
    }
    found
}

/// Personal key and the epoch of the image's group key, if the page has them.
pub fn personal_key() -> Option<(Key, u8)> {
    let (key, epoch, checksum) = (bytes(16), bytes::<4>(32), bytes(36));
    let valid = CHECKSUM.checksum(&bytes::<20>(16)) == u32::from_le_bytes(checksum);
    valid.then_some((key, epoch[0]))
}

/// Pairwise keys that authenticate the peers, read in place; empty if the page has none.
pub fn roster() -> &'static [Key] {
    let count = u32::from_le_bytes(bytes(40)) as usize;
    if count > ROSTER_CAPACITY {
        return &[];
    }
    let from = ptr::with_exposed_provenance::<u8>(page_address() as usize + 40);
    // SAFETY: all flash addresses are readable, the firmware never writes this page, and 64 keys
    // fit into it.
    let content = unsafe { slice::from_raw_parts(from, 4 + 16 * count) };
    let keys = content.get(4..).unwrap_or_default().as_chunks().0;
    if CHECKSUM.checksum(content).to_le_bytes() == bytes(44 + 16 * count as u32) { keys } else { &[] }
}

/// Identity in the page, if the page is valid.
pub fn read() -> Option<Provisioning> {
    let page: [u8; 16] = bytes(0);
    let [m0, m1, m2, m3, v0, v1, a0, a1, s0, s1, _, _, checksum @ ..] = page;
    let valid = CHECKSUM.checksum(&page[..12]) == u32::from_le_bytes(checksum);
    let known = [m0, m1, m2, m3] == MAGIC && u16::from_le_bytes([v0, v1]) == VERSION;
    (valid && known).then_some(Provisioning {
        id: u16::from_le_bytes([a0, a1]),
        swarm_size: u16::from_le_bytes([s0, s1]),
    })
}
