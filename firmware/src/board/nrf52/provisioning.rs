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

//!
//! A robot with wheels has 14 little-endian numbers at offset 2048, two bytes each, and their CRC-32: chassis (1 Maqueen,
//! 2 Cutebot, 3 H-bridge); track in 0.1 mm; wheel speed at full duty and at the dead zone in mm/s; dead zone in 1/1000; time
//! constant of the motors in ms; gains of the left and the right wheel in 1/1000, two's complement; cruising speed in mm/s;
//! lower left and upper right corner of the arena in mm, two's complement; 0.

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

/// Chassis of a robot with wheels.
#[cfg(feature = "buggy")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chassis {
    /// Maqueen V4 or V5.
    Maqueen,
    /// Cutebot.
    Cutebot,
    /// Two motors on an H-bridge.
    Bridge,
}

/// Offset and length of the settings of a robot with wheels.
#[cfg(feature = "buggy")]
const WHEELS: u32 = 2048;
#[cfg(feature = "buggy")]
const WHEELS_LEN: usize = 28;

/// Numbers of a robot with wheels, if the page has them.
#[cfg(feature = "buggy")]
fn wheel_numbers() -> Option<[u16; WHEELS_LEN / 2]> {
    let content = bytes::<WHEELS_LEN>(WHEELS);
    let checksum = CHECKSUM.checksum(&content).to_le_bytes() == bytes(WHEELS + WHEELS_LEN as u32);
    let mut numbers = [0; WHEELS_LEN / 2];
    let pairs = content.as_chunks::<2>().0;
    numbers.iter_mut().zip(pairs).for_each(|(number, pair)| *number = u16::from_le_bytes(*pair));
    checksum.then_some(numbers)
}

/// Chassis in the page.
#[cfg(feature = "buggy")]
pub fn chassis() -> Option<Chassis> {
    match wheel_numbers()?[0] {
        1 => Some(Chassis::Maqueen),
        2 => Some(Chassis::Cutebot),
        3 => Some(Chassis::Bridge),
        _ => None,
    }
}

/// Settings of the wheels in the page, if they are possible. The address is missing.
#[cfg(feature = "buggy")]
pub fn wheels() -> Option<wdgnn_drive::buggy::Settings> {
    use wdgnn_drive::{Wheels, buggy::Settings, guidance::Arena};
    let [_, track, full, min, dead, lag, left, right, cruise, x0, y0, x1, y1, _] = wheel_numbers()?;
    let small = |number: u16| f32::from(number) / 1_000.0;
    let signed = |number: u16| f32::from(number.cast_signed()) / 1_000.0;
    let wheels = Wheels {
        track: f32::from(track) / 10_000.0,
        full_speed: small(full),
        min_speed: small(min),
        dead_zone: small(dead),
        gain: [signed(left), signed(right)],
    };
    let arena = Arena { low: [signed(x0), signed(y0)], high: [signed(x1), signed(y1)] };
    let settings = Settings { robot: 0, wheels, lag: small(lag), cruise: small(cruise), arena };
    wheels.is_valid().then_some(settings)
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
