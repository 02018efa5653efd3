//! Random numbers by purpose, tick and robots, independent of the order of draws.
//!
//! Two swarms side by side get identical disturbances: equal noise on a robot's sensor at a tick,
//! and equal losses between two robots. Sequential streams would diverge at the first frame that
//! only one swarm sends.

/// Purpose of a random number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum About {
    /// Loss of a frame.
    Loss = 1,
    /// Noise of a sensor.
    Noise = 2,
    /// Strength of a robot's motors.
    Motors = 3,
}

/// Random numbers of one seed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chance(pub u64);

impl Chance {
    /// Returns 64 bits for a purpose, a tick and two numbers, such as sender and receiver.
    fn bits(self, about: About, tick: u32, one: u32, other: u32) -> u64 {
        let words = [(about as u64) << 32 | u64::from(tick), u64::from(one) << 32 | u64::from(other)];
        words.iter().fold(mixed(self.0), |bits, word| mixed(bits ^ word))
    }

    /// Returns a uniform number from 0 to below 1.
    pub fn uniform(self, about: About, tick: u32, one: u32, other: u32) -> f32 {
        // The precision of an `f32` is 24 bits.
        (self.bits(about, tick, one, other) >> 40) as f32 / (1 << 24) as f32
    }

    /// Returns a nearly normal number of standard deviation 1.
    ///
    /// It is a scaled sum of four uniform numbers, at most 3.5.
    pub fn normal(self, about: About, tick: u32, one: u32, other: u32) -> f32 {
        let bits = self.bits(about, tick, one, other);
        let sum: f32 = (0..4).map(|part| (bits >> (16 * part) & 0xffff) as f32 / 65_536.0).sum();
        // The variance of four uniform numbers is 4/12.
        (sum - 2.0) * 1.732_050_8
    }
}

/// Finalizer of splitmix64 (Steele, Lea and Flood 2014).
fn mixed(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_depend_on_seed_purpose_tick_and_robots_only() {
        let draw = |seed, tick, one| Chance(seed).uniform(About::Loss, tick, one, 7);
        assert_eq!(draw(1, 2, 3), draw(1, 2, 3));
        let others = [draw(2, 2, 3), draw(1, 3, 3), draw(1, 2, 4), Chance(1).uniform(About::Noise, 2, 3, 7)];
        assert!(others.iter().all(|other| *other != draw(1, 2, 3)), "{others:?}");
    }

    #[test]
    fn normal_numbers_have_mean_zero_and_deviation_one() {
        let draws: Vec<f64> =
            (0..20_000).map(|tick| f64::from(Chance(1).normal(About::Noise, tick, 0, 0))).collect();
        let mean = draws.iter().sum::<f64>() / 20_000.0;
        let variance = draws.iter().map(|x| x * x).sum::<f64>() / 20_000.0;
        // Four standard errors of 1/√20,000 and of √2/√20,000 (smaller, since the tails are short).
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.04, "{mean} {variance}");
    }
}
