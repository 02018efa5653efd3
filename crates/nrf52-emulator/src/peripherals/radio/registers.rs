//! Register offsets, events and shortcuts of RADIO.

use crate::peripheral::event;

// Tasks.
pub const TXEN: u32 = 0x000;
pub const RXEN: u32 = 0x004;
pub const START: u32 = 0x008;
pub const STOP: u32 = 0x00c;
pub const DISABLE: u32 = 0x010;
pub const CCASTART: u32 = 0x02c;
pub const CCASTOP: u32 = 0x030;

// Events.
pub const READY: u8 = event(0x100);
pub const ADDRESS: u8 = event(0x104);
pub const PAYLOAD: u8 = event(0x108);
pub const END: u8 = event(0x10c);
pub const DISABLED: u8 = event(0x110);
pub const CRCOK: u8 = event(0x130);
pub const CRCERROR: u8 = event(0x134);
pub const FRAMESTART: u8 = event(0x138);
pub const CCAIDLE: u8 = event(0x144);
pub const CCABUSY: u8 = event(0x148);
pub const CCASTOPPED: u8 = event(0x14c);
pub const TXREADY: u8 = event(0x154);
pub const RXREADY: u8 = event(0x158);
pub const PHYEND: u8 = event(0x16c);

/// Shortcuts: event, bit of SHORTS and task.
pub const SHORTCUTS: [(u8, u32, u32); 13] = [
    (READY, 0, START),
    (END, 1, DISABLE),
    (DISABLED, 2, TXEN),
    (DISABLED, 3, RXEN),
    (END, 5, START),
    (RXREADY, 11, CCASTART),
    (CCAIDLE, 12, TXEN),
    (CCABUSY, 13, DISABLE),
    (CCAIDLE, 17, STOP),
    (TXREADY, 18, START),
    (RXREADY, 19, START),
    (PHYEND, 20, DISABLE),
    (PHYEND, 21, START),
];

// Configuration and status.
pub const CRCSTATUS: u32 = 0x400;
pub const PACKETPTR: u32 = 0x504;
pub const FREQUENCY: u32 = 0x508;
pub const MODE: u32 = 0x510;
/// MODE: IEEE 802.15.4 at 250 kbit/s.
pub const IEEE_802_15_4: u32 = 15;
pub const PCNF1: u32 = 0x518;
pub const STATE: u32 = 0x550;
pub const MODECNF0: u32 = 0x650;
pub const CCACTRL: u32 = 0x66c;
pub const POWER: u32 = 0xffc;
