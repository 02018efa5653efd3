//! Digest of an episode: CRC-64/XZ over commands and wide parameters.
//!
//! It covers the little-endian bits of every command and wide parameter of each robot, in ascending
//! order, at every tick. Equal digests mean bit-identical episodes.

use crc::{CRC_64_XZ, Crc, Digest, Table};

use crate::{
    episode::{Observer, TickView},
    error::Result,
    world::World,
};

/// Lookup tables: 32 KB for speed, or 2 KB on web pages for size.
#[cfg(not(target_family = "wasm"))]
type Lookup = Table<16>;
#[cfg(target_family = "wasm")]
type Lookup = Table<1>;

static CRC: Crc<u64, Lookup> = Crc::<u64, Lookup>::new(&CRC_64_XZ);

/// Digest of the ticks observed so far.
#[derive(Clone)]
pub struct EpisodeDigest {
    digest: Digest<'static, u64, Lookup>,
    /// Buffer for one robot's bytes.
    bytes: Vec<u8>,
}

impl std::fmt::Debug for EpisodeDigest {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("EpisodeDigest")
    }
}

impl Default for EpisodeDigest {
    fn default() -> Self {
        Self { digest: CRC.digest(), bytes: Vec::new() }
    }
}

impl EpisodeDigest {
    /// Adds one robot's command and wide parameters of a tick.
    pub fn add(&mut self, command: &[f32], wide: &[f32]) {
        self.bytes.clear();
        for number in command.iter().chain(wide) {
            self.bytes.extend(number.to_bits().to_le_bytes());
        }
        self.digest.update(&self.bytes);
    }

    /// Returns the digest as 16 hexadecimal digits.
    pub fn finish(self) -> String {
        format!("{:016x}", self.digest.finalize())
    }
}

impl<W: World> Observer<W> for EpisodeDigest {
    /// Adds a tick without its absent robots.
    fn observe(&mut self, moment: &TickView<'_, W>) -> Result {
        for (robot, command) in moment.commands.iter().enumerate() {
            if let Some(view) = moment.swarm.robot(robot) {
                self.add(command.as_ref(), view.wide);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(change: impl Fn(&mut [f32; 2], &mut [f32; 48])) -> String {
        let (mut command, mut wide) = ([0.0; 2], [0.0; 48]);
        change(&mut command, &mut wide);
        let mut digest = EpisodeDigest::default();
        digest.add(&command, &wide);
        digest.finish()
    }

    #[test]
    fn every_bit_of_commands_and_parameters_counts() {
        let base = digest(|_, _| {});
        assert_ne!(base, digest(|command, _| command[1] = -0.0));
        assert_ne!(base, digest(|_, wide| wide[47] = f32::from_bits(1)));
    }

    #[test]
    fn digest_equals_standard_crc_64_xz() {
        // CRC-64/XZ of 50 words of zeros, by an independent bitwise implementation.
        let mut crc = u64::MAX;
        for _bit in 0..50 * 32 {
            crc = (crc >> 1) ^ (0xc96c_5795_d787_0f42 & (crc & 1).wrapping_neg());
        }
        assert_eq!(digest(|_, _| {}), format!("{:016x}", !crc));
    }
}
