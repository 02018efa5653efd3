//! What makes a robot of an image: its address and how many robots there are, in a page of flash of its own that is written when the robot is provisioned
//! (`firmware/provision.py`), by whatever means a board is flashed. It lies behind the image, which does not contain it and never
//! changes it.
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 4 | `"wdgn"` |
//! | 4 | 2 | version, 2 |
//! | 6 | 2 | the robot's address |
//! | 8 | 2 | how many robots the swarm has, with addresses from 0 on; 0 if that is not to be known |
//! | 10 | 2 | 0 |
//! | 12 | 4 | CRC-32 (as Ethernet has it) over the twelve bytes before |
//!
//! and, where the swarm's key can change in flight, behind that:
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 16 | 16 | the robot's personal key |
//! | 32 | 1 | the epoch of the swarm's key that is in the image |
//! | 33 | 3 | 0 |
//! | 36 | 4 | CRC-32 over the twenty bytes before |
//!
//! and, where names have to be proven, behind that:
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 40 | 4 | how many keys, up to 64 |
//! | 44 | 16 each | the keys by which others prove their names to this robot, by name |
//! | | 4 | CRC-32 over everything from offset 40 on |

use core::{ptr, slice};

use nrf_pac::FICR;
use wdgnn_core::task::NodeId;
use wdgnn_link::security::{group_key::ROSTER, key::Key};
use wdgnn_protocol::companion::CHECKSUM;

const MAGIC: [u8; 4] = *b"wdgn";
const VERSION: u16 = 2;

/// Where the page is: where the board's `map.x` ends the image's flash.
pub fn place() -> u32 {
    unsafe extern "C" {
        static _flash_ends: u8;
    }
    (&raw const _flash_ends).expose_provenance() as u32
}

/// What a robot was told when it was provisioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Its address.
    pub id: NodeId,
    /// How many robots the swarm has; 0 if that is not to be known.
    pub robots: NodeId,
}

impl Settings {
    /// Those of a robot that was told nothing: its address is two bytes of the chip's own.
    pub fn of_the_chip() -> Self {
        Self { id: FICR.deviceaddr(0).read() as NodeId, robots: 0 }
    }
}

/// What is so many bytes from the beginning of the page.
fn bytes<const COUNT: usize>(offset: u32) -> [u8; COUNT] {
    let mut found = [0; COUNT];
    for (slot, address) in found.iter_mut().zip(place() + offset..) {
        // SAFETY: any address of flash may be read.
        *slot = unsafe { ptr::read_volatile(ptr::with_exposed_provenance::<u8>(address as usize)) };
    }
    found
}

/// The robot's personal key and the epoch of its image's key, if it was told.
pub fn personal() -> Option<(Key, u8)> {
    let (key, epoch, seal) = (bytes(16), bytes::<4>(32), bytes(36));
    let whole = CHECKSUM.checksum(&bytes::<20>(16)) == u32::from_le_bytes(seal);
    whole.then_some((key, epoch[0]))
}

/// The keys by which others prove their names to this robot, where they are: they stay in flash. None if it was not told.
pub fn roster() -> &'static [Key] {
    let count = u32::from_le_bytes(bytes(40)) as usize;
    if count > ROSTER {
        return &[];
    }
    let from = ptr::with_exposed_provenance::<u8>(place() as usize + 40);
    // SAFETY: any address of flash may be read, this page is written by nobody but whoever provisions the robot, and up to 64 keys are
    // within it.
    let whole = unsafe { slice::from_raw_parts(from, 4 + 16 * count) };
    let keys = whole.get(4..).unwrap_or_default().as_chunks().0;
    if CHECKSUM.checksum(whole).to_le_bytes() == bytes(44 + 16 * count as u32) { keys } else { &[] }
}

/// What the robot was told, if it was.
pub fn read() -> Option<Settings> {
    let page: [u8; 16] = bytes(0);
    let [m0, m1, m2, m3, v0, v1, a0, a1, r0, r1, _, _, seal @ ..] = page;
    let whole = CHECKSUM.checksum(&page[..12]) == u32::from_le_bytes(seal);
    let ours = [m0, m1, m2, m3] == MAGIC && u16::from_le_bytes([v0, v1]) == VERSION;
    (whole && ours)
        .then_some(Settings { id: u16::from_le_bytes([a0, a1]), robots: u16::from_le_bytes([r0, r1]) })
}
