//! Users come one after the other, a predictor answers, and may learn from each of them.

use crate::movie::{
    gradient::Sample,
    network::TAPS,
    online::{Online, Rule},
    statistics::root_mean_square,
};

/// Root mean square errors of one row in one split, under both readings of the paper's "400 testing users".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The movie trained on: learn from a stream of training users, then predict the held-out ones.
    pub same: f64,
    /// The other movie: learn from a stream of its raters, then predict the held-out ones.
    pub other: f64,
    /// The movie trained on: predict and learn, one held-out user after the other.
    pub same_stream: f64,
    /// The other movie: predict and learn, one rater of the stream after the other.
    pub other_stream: f64,
}

/// Something that predicts, and may learn from each answer.
pub trait Predictor: Clone {
    /// The rating that a user with these six numbers would give.
    fn predict(&self, taps: &[f32; TAPS]) -> f32;

    /// The user gave this rating after all.
    fn learn(&mut self, sample: &Sample);
}

/// A network with its online rule; no steps make it an offline one.
#[derive(Clone, Debug)]
pub struct Learner<'m, 'w> {
    /// The network.
    pub online: Online<'m, 'w>,
    /// The rule.
    pub rule: Rule,
}

impl Predictor for Learner<'_, '_> {
    fn predict(&self, taps: &[f32; TAPS]) -> f32 {
        self.online.predict(taps)
    }

    fn learn(&mut self, sample: &Sample) {
        self.online.learn(&sample.taps, sample.label, &self.rule);
    }
}

/// A mean that knows nothing of the user: of the training ratings, or once some were seen online, of those.
#[derive(Clone, Copy, Debug)]
pub struct Mean {
    /// The mean of the training ratings.
    pub first: f32,
    /// Sum and count of what was seen online; `None` never looks.
    pub seen: Option<(f32, f32)>,
}

impl Predictor for Mean {
    fn predict(&self, _: &[f32; TAPS]) -> f32 {
        match self.seen {
            Some((sum, count)) if count > 0.0 => sum / count,
            _ => self.first,
        }
    }

    fn learn(&mut self, sample: &Sample) {
        if let Some((sum, count)) = &mut self.seen {
            *sum += sample.label;
            *count += 1.0;
        }
    }
}

/// Who comes, in which order.
#[derive(Clone, Debug)]
pub struct Streams {
    /// Training users of the movie trained on.
    pub same: Vec<Sample>,
    /// Its held-out raters.
    pub same_held_out: Vec<Sample>,
    /// Raters of the other movie.
    pub other: Vec<Sample>,
    /// Its held-out raters.
    pub other_held_out: Vec<Sample>,
}

impl Streams {
    /// Both readings, each from the start.
    pub fn score(&self, predictor: &impl Predictor) -> Score {
        let (same_stream, _) = stream(predictor.clone(), &self.same_held_out);
        let (_, adapted_to_same) = stream(predictor.clone(), &self.same);
        let (other_stream, adapted_to_other) = stream(predictor.clone(), &self.other);
        Score {
            same: frozen(&adapted_to_same, &self.same_held_out),
            other: frozen(&adapted_to_other, &self.other_held_out),
            same_stream,
            other_stream,
        }
    }
}

/// Predict, then learn, user by user.
fn stream<P: Predictor>(mut predictor: P, users: &[Sample]) -> (f64, P) {
    let errors = users.iter().map(|sample| {
        let error = predictor.predict(&sample.taps) - sample.label;
        predictor.learn(sample);
        error
    });
    let rmse = root_mean_square(errors);
    (rmse, predictor)
}

/// Predict only.
fn frozen(predictor: &impl Predictor, users: &[Sample]) -> f64 {
    root_mean_square(users.iter().map(|sample| predictor.predict(&sample.taps) - sample.label))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn users(labels: &[f32]) -> Vec<Sample> {
        labels.iter().map(|&label| Sample { taps: [0.0; TAPS], label }).collect()
    }

    #[test]
    fn both_readings_by_hand() {
        let streams = Streams {
            same: users(&[5.0, 3.0]),
            same_held_out: users(&[4.0, 2.0]),
            other: users(&[1.0, 2.0, 3.0]),
            other_held_out: users(&[2.0, 5.0]),
        };
        let running = streams.score(&Mean { first: 3.0, seen: Some((0.0, 0.0)) });
        // Same: learns 5 and 3, says 4: errors 0 and 2. Other: learns 1, 2, 3, says 2: errors 0 and −3.
        assert_eq!((running.same, running.other), (2.0_f64.sqrt(), 4.5_f64.sqrt()));
        // Streams: says 3, 4 to 4, 2: errors −1, 2. Says 3, 1, 1.5 to 1, 2, 3: errors 2, −1, −1.5.
        assert_eq!((running.same_stream, running.other_stream), (2.5_f64.sqrt(), (7.25_f64 / 3.0).sqrt()));
        let constant = streams.score(&Mean { first: 3.0, seen: None });
        assert_eq!(constant.same, constant.same_stream);
        assert_eq!(constant.other, 2.5_f64.sqrt());
    }
}
