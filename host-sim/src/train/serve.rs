//! A helper: flies what a training asks for, request by request, and keeps nothing that counts.

use std::{
    io::{Read, Write},
    ops::Range,
};

use super::{
    line,
    plan::Plan,
    request::{Reply, Request},
    roll_outs::Rolled,
};
use crate::{
    error::{Error, Result},
    world::World,
};

/// Flies for a training.
pub trait Flies {
    /// Flies what is asked for.
    ///
    /// # Errors
    /// As [`Request::flown`].
    fn fly(&self, request: &Request, which: Range<usize>) -> Result<Rolled>;
}

impl<W: World> Flies for Plan<W> {
    fn fly(&self, request: &Request, which: Range<usize>) -> Result<Rolled> {
        request.flown(self, which)
    }
}

/// Makes a plan of a training's options.
pub type Planned<'a> = dyn Fn(&[String]) -> Result<Box<dyn Flies>> + 'a;

/// Answers until nobody asks any more.
///
/// # Errors
/// [`Error::Usage`] for what is no request; [`Error::Failed`] where nobody hears the answer.
pub fn serve(from: &mut dyn Read, to: &mut dyn Write, planned: &Planned<'_>) -> Result {
    // Requests of one training follow each other: its options are looked at once.
    let mut known: Option<(Vec<String>, Box<dyn Flies>)> = None;
    let strange =
        |error| Error::usage(format!("a helper reads requests of a training, and this is none: {error}"));
    while let Some(bytes) = line::take(from).map_err(strange)? {
        let reply = Reply::of(answer(&bytes, &mut known, planned));
        let unheard = |error| Error::Failed(format!("nobody takes the answer: {error}"));
        line::send(to, &reply.bytes()?).map_err(unheard)?;
    }
    Ok(())
}

fn answer(
    bytes: &[u8],
    known: &mut Option<(Vec<String>, Box<dyn Flies>)>,
    planned: &Planned<'_>,
) -> Result<Rolled> {
    let (request, which) = Request::read(bytes)?;
    if let Some((arguments, plan)) = known
        && *arguments == request.arguments
    {
        return plan.fly(&request, which);
    }
    let plan = planned(&request.arguments)?;
    let rolled = plan.fly(&request, which);
    *known = Some((request.arguments, plan));
    rolled
}
