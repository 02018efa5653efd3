//! Chance that does not depend on who asks when: every number is drawn by what it is for.
//!
//! Two swarms that fly side by side are to meet the same disturbances, whatever they do: the same noise on the same robot's sensor at the
//! same tick, and the same frame lost between the same two robots. A stream of numbers would go its own way with the first frame that
//! only one of them sends.

/// What chance is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum About {
    /// Whether a frame is lost.
    Loss = 1,
    /// What a sensor errs by.
    Noise = 2,
    /// How strong a robot's motors are.
    Motors = 3,
}

/// Chance under one seed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chance(pub u64);

impl Chance {
    /// 64 bits for a matter, a tick and two numbers, such as who speaks and who hears.
    fn bits(self, about: About, tick: u32, one: u32, other: u32) -> u64 {
        let words = [(about as u64) << 32 | u64::from(tick), u64::from(one) << 32 | u64::from(other)];
        words.iter().fold(mixed(self.0), |bits, word| mixed(bits ^ word))
    }

    /// From 0 to below 1.
    pub fn uniform(self, about: About, tick: u32, one: u32, other: u32) -> f32 {
        // As many bits as an `f32` holds.
        (self.bits(about, tick, one, other) >> 40) as f32 / (1 << 24) as f32
    }

    /// Nearly normal, of standard deviation 1: four uniform numbers, which never exceed 3.5.
    pub fn normal(self, about: About, tick: u32, one: u32, other: u32) -> f32 {
        let bits = self.bits(about, tick, one, other);
        let sum: f32 = (0..4).map(|part| (bits >> (16 * part) & 0xffff) as f32 / 65_536.0).sum();
        // Four variances of 1/12 make a third.
        (sum - 2.0) * 1.732_050_8
    }
}

/// The finaliser of splitmix64 (Steele, Lea and Flood 2014).
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
    fn what_is_drawn_depends_on_what_it_is_for_alone() {
        let draw = |seed, tick, one| Chance(seed).uniform(About::Loss, tick, one, 7);
        assert_eq!(draw(1, 2, 3), draw(1, 2, 3));
        let others = [draw(2, 2, 3), draw(1, 3, 3), draw(1, 2, 4), Chance(1).uniform(About::Noise, 2, 3, 7)];
        assert!(others.iter().all(|other| *other != draw(1, 2, 3)), "{others:?}");
    }

    #[test]
    fn normal_numbers_have_a_mean_of_nothing_and_a_deviation_of_one() {
        let draws: Vec<f64> =
            (0..20_000).map(|tick| f64::from(Chance(1).normal(About::Noise, tick, 0, 0))).collect();
        let mean = draws.iter().sum::<f64>() / 20_000.0;
        let variance = draws.iter().map(|x| x * x).sum::<f64>() / 20_000.0;
        // Four standard errors of 1/√20,000 and of √2/√20,000 (fewer tails make it less).
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.04, "{mean} {variance}");
    }
}
