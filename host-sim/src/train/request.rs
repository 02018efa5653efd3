//! What a training asks of a helper, and what that answers.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{
    numbers,
    plan::Plan,
    roll_outs::{Rolled, What},
};
use crate::{
    error::{Error, Result},
    world::World,
};

/// Everything that flights follow from, but their numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    version: String,
    /// The options of the training, as they are typed.
    pub arguments: Vec<String>,
    /// What the training has made of them: a helper that makes something else of them says so.
    plan: u64,
    what: What,
    #[serde(with = "numbers")]
    weights: Vec<f32>,
}

/// What a helper says: what flights came to, or why they did not.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Reply {
    /// They were flown.
    Flown(Rolled),
    /// They cannot be.
    Refused {
        /// Whether the caller can put it right.
        usage: bool,
        /// Why.
        sentence: String,
    },
}

impl Request {
    /// To fly this.
    #[must_use]
    pub fn new(arguments: &[String], plan: u64, what: What, weights: &[f32]) -> Self {
        let version = env!("CARGO_PKG_VERSION").into();
        Self { version, arguments: arguments.to_vec(), plan, what, weights: weights.to_vec() }
    }

    /// Bytes that ask for some of the flights.
    ///
    /// # Errors
    /// [`Error::Failed`] where there is no room for them.
    pub fn bytes(&self, which: &Range<usize>) -> Result<Vec<u8>> {
        written(&(self, which.start as u64, which.end as u64))
    }

    /// Reads such bytes.
    ///
    /// # Errors
    /// [`Error::Usage`] when they are none, or another version's.
    pub fn read(bytes: &[u8]) -> Result<(Self, Range<usize>)> {
        let none = |_| Error::usage("this is no request of a training's");
        let (request, start, end): (Self, u64, u64) = postcard::from_bytes(bytes).map_err(none)?;
        if request.version != env!("CARGO_PKG_VERSION") {
            return Err(Error::usage(format!(
                "the training is version {}, and its helper {}: they have to be the same program",
                request.version,
                env!("CARGO_PKG_VERSION")
            )));
        }
        Ok((request, start as usize..end as usize))
    }

    /// Flies what is asked for.
    ///
    /// # Errors
    /// As [`Plan::roll_out`]; [`Error::Usage`] when the training's plan is another.
    pub fn flown<W: World>(&self, plan: &Plan<W>, which: Range<usize>) -> Result<Rolled> {
        if self.plan != plan.fingerprint() {
            return Err(Error::usage(
                "the training and its helper understand its options differently: they have to be the same program",
            ));
        }
        plan.roll_out(self.what, &self.weights, which)
    }
}

impl Reply {
    /// What there is to say.
    #[must_use]
    pub fn of(flown: Result<Rolled>) -> Self {
        match flown {
            Ok(rolled) => Self::Flown(rolled),
            Err(error) => {
                Self::Refused { usage: matches!(error, Error::Usage(_)), sentence: error.to_string() }
            }
        }
    }

    /// As bytes.
    ///
    /// # Errors
    /// [`Error::Failed`] where there is no room for them.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        written(self)
    }

    /// Reads such bytes; `None` where they are none.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok()
    }

    /// What flights came to.
    ///
    /// # Errors
    /// Why they did not.
    pub fn rolled(self) -> Result<Rolled> {
        match self {
            Self::Flown(rolled) => Ok(rolled),
            Self::Refused { usage: true, sentence } => Err(Error::Usage(sentence)),
            Self::Refused { usage: false, sentence } => Err(Error::Failed(sentence)),
        }
    }
}

fn written(value: &impl Serialize) -> Result<Vec<u8>> {
    postcard::to_allocvec(value)
        .map_err(|error| Error::Failed(format!("what helpers are told cannot be written: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_arrives_whole_and_another_version_is_told() {
        let request = Request::new(&["--seed".into(), "5".into()], 77, What::Step(3), &[1.0, -2.5]);
        let bytes = request.bytes(&(4..9)).unwrap();
        assert_eq!(Request::read(&bytes).unwrap(), (request.clone(), 4..9));
        for length in 0..bytes.len() {
            assert!(Request::read(&bytes[..length]).is_err(), "{length}");
        }
        let other = Request { version: "0.0.9".into(), ..request };
        let refused = Request::read(&other.bytes(&(0..1)).unwrap()).unwrap_err();
        assert!(refused.to_string().contains("version 0.0.9"), "{refused}");
    }

    #[test]
    fn an_error_arrives_as_the_error_that_it_was() {
        let over = |error: Error| {
            Reply::read(&Reply::of(Err(error)).bytes().unwrap()).unwrap().rolled().unwrap_err()
        };
        assert!(matches!(over(Error::usage("no")), Error::Usage(sentence) if sentence == "no"));
        assert!(matches!(over(Error::Failed("no".into())), Error::Failed(sentence) if sentence == "no"));
    }
}
