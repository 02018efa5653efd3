//! Radios and the airtime of their frames, from standards and datasheets.

/// Radio and bit rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Radio {
    /// IEEE 802.15.4 at 250 kbit/s.
    Dot154,
    /// nRF24 at 2 Mbit/s.
    Nrf24,
    /// nRF52 proprietary mode at 2 Mbit/s.
    Nrf52,
    /// Crazyflie peer-to-peer radio (nRF51) at 2 Mbit/s.
    Crazyflie,
    /// ESP-NOW at 24 Mbit/s.
    EspNow,
    /// ESP-NOW at 1 Mbit/s, its default rate.
    EspNowSlow,
}

impl Radio {
    /// All radios.
    pub const ALL: &'static [Self] =
        &[Self::Dot154, Self::Nrf24, Self::Nrf52, Self::Crazyflie, Self::EspNow, Self::EspNowSlow];

    /// Returns the name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dot154 => "802.15.4 250k",
            Self::Nrf24 => "nRF24 2M",
            Self::Nrf52 => "nRF52 2M",
            Self::Crazyflie => "Crazyflie 2M",
            Self::EspNow => "ESP-NOW 24M",
            Self::EspNowSlow => "ESP-NOW 1M",
        }
    }

    /// Returns the largest payload of one frame in bytes.
    pub fn max_bytes(self) -> usize {
        match self {
            // 127 bytes less a MAC header of 9 and a checksum of 2.
            Self::Dot154 => 116,
            Self::Nrf24 => 32,
            Self::Nrf52 => 254,
            // The Crazyflie firmware accepts 60 bytes; the profile uses 57.
            Self::Crazyflie => 57,
            Self::EspNow | Self::EspNowSlow => 250,
        }
    }

    /// Returns the bytes around the payload: preamble, addresses, headers and checksums.
    pub fn overhead_bytes(self) -> usize {
        match self {
            // Preamble 4, start 1, length 1, MAC header 9, checksum 2.
            Self::Dot154 => 17,
            // Preamble 1, address 5, checksum 2. The 9 bits of packet control count as gap.
            Self::Nrf24 => 8,
            // Preamble 1, address 5, length 1, checksum 2.
            Self::Nrf52 => 9,
            // Preamble 1, address 5, length 1, null port and peer-to-peer port 2, checksum 2.
            Self::Crazyflie => 11,
            // MAC header 24, category 1, organization 3, random 4, vendor element 7, checksum 4.
            // The preamble counts as gap.
            Self::EspNow | Self::EspNowSlow => 43,
        }
    }

    /// Returns the airtime of one frame in microseconds, gap to the next frame included.
    pub fn frame_us(self, bytes: usize) -> f64 {
        let bytes = (bytes + self.overhead_bytes()) as f64;
        match self {
            // 32 µs per byte; turnaround of 12 symbols of 16 µs.
            Self::Dot154 => 32.0 * bytes + 192.0,
            // 4 µs per byte; 9 bits; 130 µs for the oscillator to settle.
            Self::Nrf24 => 4.0 * bytes + 4.5 + 130.0,
            // 4 µs per byte; 3 more bits; ramp-up of 140 µs, once to send and once to receive.
            Self::Crazyflie => 4.0 * bytes + 1.5 + 280.0,
            // 4 µs per byte; fast ramp-up of 40 µs.
            Self::Nrf52 => 4.0 * bytes + 40.0,
            // Preamble and signal 20 µs, symbols of 96 bits and 4 µs with 22 extra bits, extension
            // 6 µs; DIFS 28 µs, and a mean backoff of half of 15 slots of 9 µs.
            Self::EspNow => 20.0 + 4.0 * ((22.0 + 8.0 * bytes) / 96.0).ceil() + 6.0 + 28.0 + 67.5,
            // Long preamble 192 µs, 8 µs per byte; DIFS 50 µs, and a mean backoff of half of 31
            // slots of 20 µs.
            Self::EspNowSlow => 192.0 + 8.0 * bytes + 50.0 + 310.0,
        }
    }
}
