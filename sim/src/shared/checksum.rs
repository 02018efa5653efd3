//! A worker's share of a flight's digest.
//!
//! CRC-64 is linear: that of a sum (bit by bit, without carry) is the sum of those of its terms. So a worker takes in its own robots' bytes
//! and zeros in place of everybody else's, and the shares of all workers add up to the digest of the whole
//! ([`FlightDigest`](crate::swarm::digest::FlightDigest)). Zeros need no bytes: to go over 2ⁱ robots' worth of them is a linear map of 64
//! bits, which is eight look-ups in a table.

use crc::{Algorithm, CRC_64_XZ, Crc, Table};

/// Without the ones at the beginning and at the end, which are one worker's business.
const BARE: Algorithm<u64> = Algorithm { init: 0, xorout: 0, ..CRC_64_XZ };
// Sixteen bytes at a time: byte by byte it took a third of a worker's time.
static CRC: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&BARE);

/// Over so many powers of two of robots goes a leap: more robots than numbers of 32 bits, a thousand times.
const POWERS: usize = 42;

/// What becomes of every byte of the sum at each of its eight places.
type Leap = [[u64; 256]; 8];

/// A worker's share of a digest in the making.
#[derive(Clone, Debug)]
pub struct ChecksumShare {
    sum: u64,
    /// Robots whose bytes are to be gone over.
    ahead: u64,
    bytes: Vec<u8>,
    /// Bytes of a robot in a tick; none before the first.
    length: usize,
    leaps: Vec<Leap>,
}

impl ChecksumShare {
    /// The share of a worker; the `first` one's has the ones at the beginning.
    #[must_use]
    pub fn new(first: bool) -> Self {
        Self {
            sum: if first { u64::MAX } else { 0 },
            ahead: 0,
            bytes: Vec::new(),
            length: 0,
            leaps: Vec::new(),
        }
    }

    /// So many robots of other workers' are next.
    pub fn pass_over(&mut self, robots: u64) {
        self.ahead += robots;
    }

    /// Takes in what an own robot did in a tick: as many numbers as everybody.
    pub fn add(&mut self, command: &[f32], wide: &[f32]) {
        self.bytes.clear();
        for number in command.iter().chain(wide) {
            self.bytes.extend(number.to_bits().to_le_bytes());
        }
        self.set_length(self.bytes.len());
        let mut digest = CRC.digest();
        digest.update(&self.bytes);
        self.ahead += 1;
        self.sum = self.leapt() ^ digest.finalize();
        self.ahead = 0;
    }

    /// What there is of it so far, and how many robots are to be gone over: for a snapshot.
    #[must_use]
    pub fn state(&self) -> (u64, u64) {
        (self.sum, self.ahead)
    }

    /// Goes on from there.
    pub fn resume(&mut self, (sum, ahead): (u64, u64)) {
        (self.sum, self.ahead) = (sum, ahead);
    }

    /// The share at the end, where every robot has so many numbers in a tick.
    #[must_use]
    pub fn finish(mut self, numbers: usize) -> u64 {
        self.set_length(4 * numbers);
        self.leapt()
    }

    /// The digest of everybody's shares, as 16 hexadecimal digits.
    #[must_use]
    pub fn digest(shares: impl IntoIterator<Item = u64>) -> String {
        format!("{:016x}", shares.into_iter().fold(u64::MAX, |sum, share| sum ^ share))
    }

    fn set_length(&mut self, length: usize) {
        assert!(self.length == 0 || self.length == length, "every robot has as many numbers as any other");
        if self.length != length {
            self.length = length;
            self.leaps = leaps(length);
        }
    }

    /// The sum behind the robots that are to be gone over.
    fn leapt(&self) -> u64 {
        let powers = (0..POWERS).filter(|power| self.ahead >> power & 1 == 1);
        powers.fold(self.sum, |sum, power| leap(&self.leaps[power], sum))
    }
}

fn leap(leap: &Leap, sum: u64) -> u64 {
    sum.to_le_bytes().iter().zip(leap).fold(0, |all, (byte, table)| all ^ table[usize::from(*byte)])
}

/// Over 1, 2, 4, … robots with so many bytes each.
fn leaps(length: usize) -> Vec<Leap> {
    let over = |sum: u64| {
        let mut sum = sum;
        for _bit in 0..8 * length {
            sum = (sum >> 1) ^ (0xc96c_5795_d787_0f42 & (sum & 1).wrapping_neg());
        }
        sum
    };
    let mut bits: [u64; 64] = std::array::from_fn(|bit| over(1 << bit));
    (0..POWERS)
        .map(|_| {
            let mut table = [[0; 256]; 8];
            for (place, table) in table.iter_mut().enumerate() {
                for (byte, sum) in table.iter_mut().enumerate() {
                    let set = (0..8).filter(|bit| byte >> bit & 1 == 1);
                    *sum = set.fold(0, |sum, bit| sum ^ bits[8 * place + bit]);
                }
            }
            bits = bits.map(|sum| leap(&table, sum));
            table
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use rand::RngExt as _;

    use super::*;
    use crate::{
        seeds::{Purpose, generator},
        swarm::digest::FlightDigest,
    };

    #[test]
    fn shares_of_any_number_of_workers_add_up_to_the_digest_of_one() {
        for workers in [1, 2, 5] {
            let mut random = generator(1, Purpose::Testing, workers);
            let mut whole = FlightDigest::default();
            let mut shares: Vec<_> = (0..workers).map(|worker| ChecksumShare::new(worker == 0)).collect();
            for _robot_and_tick in 0..700 {
                let numbers: [f32; 5] = random.random();
                let (command, wide) = numbers.split_at(2);
                whole.add(command, wide);
                let owner = random.random_range(0..workers) as usize;
                for (worker, share) in shares.iter_mut().enumerate() {
                    if worker == owner { share.add(command, wide) } else { share.pass_over(1) }
                }
            }
            let sums = shares.into_iter().map(|share| share.finish(5));
            assert_eq!(ChecksumShare::digest(sums), whole.finish(), "{workers} workers");
        }
    }
}
