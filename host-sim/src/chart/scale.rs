//! Axes: the position of a value in pixels, and the labeled values.

use serde::Serialize;

/// A value that an axis marks.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    pub value: f64,
    /// Label; empty for a line without text.
    pub label: String,
}

/// Mapping of values to pixels.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Axis {
    /// Values at both ends.
    ends: [f64; 2],
    /// Pixels at both ends.
    pixels: [f32; 2],
    log: bool,
}

/// An axis and its ticks.
#[derive(Clone, Debug)]
pub struct Scale {
    pub axis: Axis,
    /// Marked values, ascending.
    pub ticks: Vec<Tick>,
}

/// Relative tolerance against rounding errors.
const EPSILON: f64 = 1.0e-9;

impl Scale {
    /// Returns the position of a value, in pixels.
    pub fn at(&self, value: f64) -> f32 {
        let Axis { ends: [low, high], pixels: [from, to], log } = self.axis;
        let share = if log {
            // Values without a logarithm are far below the axis.
            if value > 0.0 { (value / low).log10() / (high / low).log10() } else { -10.0 }
        } else {
            (value - low) / (high - low)
        };
        from + share as f32 * (to - from)
    }

    /// Returns a linear axis with about `count` steps. `outwards` extends it to whole steps.
    pub fn linear([mut low, mut high]: [f64; 2], pixels: [f32; 2], count: usize, outwards: bool) -> Self {
        if low >= high {
            (low, high) = (low - 0.5, high + 0.5);
        }
        // The axis begins at zero where that costs little space.
        if low > 0.0 && low < 0.3 * high {
            low = 0.0;
        }
        let rough = (high - low) / count as f64;
        let unit = 10.0_f64.powf(rough.log10().floor());
        let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * unit >= rough).unwrap_or(10.0);
        let step = factor * unit;
        if outwards {
            (low, high) = ((low / step + EPSILON).floor() * step, (high / step - EPSILON).ceil() * step);
        }
        let digits = (-(step.log10() + EPSILON).floor()).max(0.0) as usize;
        let first = (low / step - EPSILON).ceil() as i64;
        let values = (first..).map(|index| index as f64 * step).take_while(|at| *at <= high + step * EPSILON);
        let ticks = values.map(|value| Tick { value, label: format!("{value:.digits$}") }).collect();
        Self { axis: Axis { ends: [low, high], pixels, log: false }, ticks }
    }

    /// Returns a logarithmic axis.
    pub fn logarithmic([low, high]: [f64; 2], pixels: [f32; 2]) -> Self {
        let power = |value: f64| 10.0_f64.powf((value.log10() + EPSILON).floor());
        let nice = [1.0, 2.0, 5.0, 10.0];
        let below = nice.iter().rev().find(|factor| *factor * power(low) <= low * (1.0 + EPSILON));
        let above = nice.iter().find(|factor| *factor * power(high) >= high * (1.0 - EPSILON));
        let low = power(low) * below.unwrap_or(&1.0);
        let mut high = power(high) * above.unwrap_or(&10.0);
        if low >= high {
            high = low * 10.0;
        }
        let decades = (high / low).log10();
        let every = (decades / 8.0).ceil() as i32;
        let mut ticks = Vec::new();
        for exponent in low.log10().floor() as i32..=high.log10().ceil() as i32 {
            for factor in 1..10_u8 {
                let value = f64::from(factor) * 10.0_f64.powi(exponent);
                if value < low * (1.0 - EPSILON) || value > high * (1.0 + EPSILON) {
                    continue;
                }
                let labelled = match factor {
                    1 => exponent % every == 0,
                    2 | 5 => decades < 2.0,
                    _ => false,
                };
                if factor == 1 || labelled {
                    let label = if labelled { power_of_ten(factor, exponent) } else { String::new() };
                    ticks.push(Tick { value, label });
                }
            }
        }
        Self { axis: Axis { ends: [low, high], pixels, log: true }, ticks }
    }
}

/// Formats a digit times a power of ten.
fn power_of_ten(factor: u8, exponent: i32) -> String {
    match exponent {
        0..5 => format!("{factor}{}", "0".repeat(exponent as usize)),
        -3..0 => format!("0.{}{factor}", "0".repeat((-exponent - 1) as usize)),
        _ => {
            let exponent = exponent.to_string();
            let digits = exponent.chars().map(|c| match c {
                '-' => '⁻',
                '1' => '¹',
                '2' => '²',
                '3' => '³',
                digit => char::from_u32('⁰' as u32 + digit.to_digit(10).unwrap_or_default()).unwrap_or(digit),
            });
            let times = if factor > 1 { format!("{factor}·") } else { String::new() };
            format!("{times}10{}", digits.collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> Vec<&str> {
        scale.ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn steps_are_one_two_or_five_times_a_power_of_ten() {
        let scale = Scale::linear([0.2, 1.93], [0.0, 100.0], 4, true);
        assert_eq!(labels(&scale), ["0.0", "0.5", "1.0", "1.5", "2.0"]);
        assert_eq!((scale.at(0.0), scale.at(1.0), scale.at(2.0)), (0.0, 50.0, 100.0));
        assert_eq!(labels(&Scale::linear([0.9, 1.0], [0.0, 1.0], 4, false)), ["0.90", "0.95", "1.00"]);
        assert_eq!(Scale::linear([3.0, 3.0], [0.0, 1.0], 2, true).at(3.0), 0.5, "one value is in the middle");
    }

    #[test]
    fn large_and_small_values_are_powers_of_ten() {
        let scale = Scale::logarithmic([3.0e-5, 20.0], [100.0, 0.0]);
        assert_eq!(labels(&scale), ["10⁻⁴", "0.001", "0.01", "0.1", "1", "10"]);
        assert!(scale.at(0.0) > 1000.0, "zero is far below");
        assert_eq!(labels(&Scale::logarithmic([1.0, 40.0], [0.0, 1.0])), ["1", "2", "5", "10", "20", "50"]);
        assert_eq!(power_of_ten(2, -7), "2·10⁻⁷");
        assert_eq!(power_of_ten(1, 10), "10¹⁰");
    }
}
