//! Means, deviations and paired differences over splits.

/// Mean and sample standard deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation; 0 for a single value.
    pub std: f64,
}

impl Spread {
    /// Over these values.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let std = if values.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        Self { mean, std }
    }

    /// The differences `a − b` on the same splits: their mean and the standard error of that mean.
    #[must_use]
    pub fn of_difference(a: &[f64], b: &[f64]) -> (f64, f64) {
        let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        let spread = Self::of(&differences);
        (spread.mean, spread.std / (differences.len() as f64).sqrt())
    }
}

/// Root mean square of errors.
#[must_use]
pub fn root_mean_square(errors: impl Iterator<Item = f32>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for error in errors {
        sum += f64::from(error).powi(2);
        count += 1.0;
    }
    (sum / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let spread = Spread::of(&[1.0, 3.0, 5.0]);
        assert_eq!(spread, Spread { mean: 3.0, std: 2.0 });
        assert_eq!(Spread::of(&[4.0]), Spread { mean: 4.0, std: 0.0 });
        // Differences 1, 1, 4: mean 2, deviation √3, error √3/√3.
        let (mean, error) = Spread::of_difference(&[2.0, 3.0, 7.0], &[1.0, 2.0, 3.0]);
        assert!((mean - 2.0).abs() < 1.0e-12 && (error - 1.0).abs() < 1.0e-12);
        assert_eq!(root_mean_square([3.0, -4.0, 0.0, 0.0].into_iter()), 2.5);
    }
}
