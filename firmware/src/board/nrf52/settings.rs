//! What makes a robot of an image: its address, in a page of flash of its own that is written when the robot is provisioned
//! (`firmware/provision.py`), by whatever means a board is flashed. It lies behind the image, which does not contain it and never
//! changes it.
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 4 | `"wdgn"` |
//! | 4 | 2 | version, 1 |
//! | 6 | 2 | the robot's address |
//! | 8 | 4 | CRC-32 (as Ethernet has it) over the eight bytes before |

use core::ptr;

use nrf_pac::FICR;
use wdgnn_core::task::NodeId;
use wdgnn_protocol::companion::CHECKSUM;

const MAGIC: [u8; 4] = *b"wdgn";
const VERSION: u16 = 1;

/// Where the page is: where the board's `map.x` ends the image's flash.
pub fn place() -> u32 {
    unsafe extern "C" {
        static _flash_ends: u8;
    }
    (&raw const _flash_ends).expose_provenance() as u32
}

/// The robot's address, and whether it was given one: without, two bytes of the chip's own.
pub fn address() -> (NodeId, bool) {
    let mut page = [0; 12];
    for (slot, address) in page.iter_mut().zip(place()..) {
        // SAFETY: any address of flash may be read.
        *slot = unsafe { ptr::read_volatile(ptr::with_exposed_provenance::<u8>(address as usize)) };
    }
    let [m0, m1, m2, m3, v0, v1, a0, a1, seal @ ..] = page;
    let whole = CHECKSUM.checksum(&page[..8]) == u32::from_le_bytes(seal);
    if whole && [m0, m1, m2, m3] == MAGIC && u16::from_le_bytes([v0, v1]) == VERSION {
        return (u16::from_le_bytes([a0, a1]), true);
    }
    (FICR.deviceaddr(0).read() as NodeId, false)
}
