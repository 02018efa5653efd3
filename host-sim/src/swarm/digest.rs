//! A digest of a whole flight: CRC-64/XZ over the little-endian bits of every command and every wide parameter, of every robot
//! in ascending id, at every tick. Two flights with the same digest did the same, bit for bit.

use crc::{CRC_64_XZ, Crc, Digest, Table};

use super::Outcome;

const CRC: Crc<u64, Table<1>> = Crc::<u64, Table<1>>::new(&CRC_64_XZ);
static TABLE: Crc<u64, Table<1>> = CRC;

/// A digest in the making.
pub struct FlightDigest(Digest<'static, u64, Table<1>>);

impl std::fmt::Debug for FlightDigest {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("FlightDigest")
    }
}

impl Default for FlightDigest {
    fn default() -> Self {
        Self(TABLE.digest())
    }
}

impl FlightDigest {
    /// Takes in what one robot did in one tick.
    pub fn add(&mut self, outcome: &Outcome) {
        for number in outcome.command.iter().chain(&outcome.wide) {
            self.0.update(&number.to_bits().to_le_bytes());
        }
    }

    /// The digest as 16 hexadecimal digits.
    #[must_use]
    pub fn finish(self) -> String {
        format!("{:016x}", self.0.finalize())
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::Zeroable as _;
    use wdgnn_protocol::emulation;

    use super::*;

    fn digest(change: impl Fn(&mut Outcome)) -> String {
        let counts = emulation::Outcome::zeroed();
        let mut outcome = Outcome { counts, command: vec![0.0; 2], wide: vec![0.0; 48] };
        change(&mut outcome);
        let mut digest = FlightDigest::default();
        digest.add(&outcome);
        digest.finish()
    }

    #[test]
    fn every_bit_of_commands_and_parameters_counts() {
        let base = digest(|_| {});
        assert_ne!(base, digest(|outcome| outcome.command[1] = -0.0));
        assert_ne!(base, digest(|outcome| outcome.wide[47] = f32::from_bits(1)));
        assert_eq!(base, digest(|outcome| outcome.counts.heard = 9), "what was heard is not part of it");
    }

    #[test]
    fn the_digest_is_the_one_that_the_standard_names() {
        // CRC-64/XZ of 50 words of zeros, by another implementation (Python's `crcmod`-style bitwise loop).
        let mut crc = u64::MAX;
        for _bit in 0..50 * 32 {
            crc = (crc >> 1) ^ (0xc96c_5795_d787_0f42 & (crc & 1).wrapping_neg());
        }
        assert_eq!(digest(|_| {}), format!("{:016x}", !crc));
    }
}
