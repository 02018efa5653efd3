//! A crew: helpers elsewhere that fly for a training, whose results are put together by number.
//!
//! ```text
//! the flights of a step → pieces → whoever is free → results by number → the same sum as here
//! ```
//!
//! A piece whose helper is lost is flown by another, or by the same one started again. What comes of it is the same: flights follow
//! from what is asked alone.

use std::{
    ops::Range,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use super::{
    helpers::{Line, Reach},
    line::LineError,
    plan::Plan,
    request::{Reply, Request},
    roll_outs::{Rolled, What},
};
use crate::{
    error::{Error, Result},
    world::World,
};

/// A helper that is lost so often in a row, without an answer in between, is not started again.
const PATIENCE: u32 = 3;
/// Pieces for each helper, so that nobody waits long for the slowest.
const PIECES: usize = 2;
/// The most flights of a piece: those that are imitated are a megabyte each.
const MOST: usize = 8;

/// Helpers, and what they have to know.
pub struct Crew {
    helpers: Vec<Mutex<Helper>>,
    arguments: Vec<String>,
    tell: fn(&str),
    /// How many are not lost.
    left: AtomicUsize,
    /// Whether anybody ever answered.
    answered: AtomicBool,
}

struct Helper {
    reach: Box<dyn Reach>,
    line: Option<Line>,
    /// How often it was lost since it last answered.
    lost: u32,
}

impl Helper {
    fn is_lost(&self) -> bool {
        self.lost >= PATIENCE
    }

    /// Asks once. What is no answer of this training's is the same as none.
    fn ask(&mut self, content: &[u8], fits: &Fits<'_>) -> std::result::Result<Result<Rolled>, LineError> {
        let line = match &mut self.line {
            Some(line) => line,
            none => none.insert(self.reach.reach()?),
        };
        let reply = Reply::read(&line.ask(content)?).ok_or(LineError::Damaged)?;
        match reply.rolled() {
            Ok(rolled) if !fits(&rolled) => Err(LineError::Damaged),
            rolled => Ok(rolled),
        }
    }
}

/// Whether results can be what was asked for.
type Fits<'a> = dyn Fn(&Rolled) -> bool + Sync + 'a;

/// What is to be flown, and what it came to so far.
struct Work {
    /// Pieces that nobody flies, by number; the next one last.
    open: Vec<usize>,
    done: Vec<Option<Rolled>>,
    /// Why it makes no sense to go on.
    ended: Option<Error>,
}

impl std::fmt::Debug for Crew {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Crew").field("arguments", &self.arguments).finish_non_exhaustive()
    }
}

impl Crew {
    /// Helpers for a training with these options. `tell` says who is lost.
    #[must_use]
    pub fn new(reaches: Vec<Box<dyn Reach>>, arguments: Vec<String>, tell: fn(&str)) -> Self {
        let helper = |reach| Mutex::new(Helper { reach, line: None, lost: 0 });
        let left = AtomicUsize::new(reaches.len());
        let helpers = reaches.into_iter().map(helper).collect();
        Self { helpers, arguments, tell, left, answered: AtomicBool::new(false) }
    }

    /// Has all flights flown: what they came to, in their order.
    ///
    /// # Errors
    /// What a flight says; [`Error::Usage`] where no helper ever answers, [`Error::Failed`] when all of them are lost on the way.
    pub fn fly<W: World>(&self, plan: &Plan<W>, what: What, weights: &[f32]) -> Result<Rolled> {
        let request = Request::new(&self.arguments, plan.fingerprint(), what, weights);
        let pieces = pieces(plan.count(what), self.helpers.len());
        let done = pieces.iter().map(|_| None).collect();
        let work = Mutex::new(Work { open: (0..pieces.len()).rev().collect(), done, ended: None });
        let job = |helper: &Mutex<Helper>| {
            let mut helper = held(helper);
            while !helper.is_lost()
                && let Some(number) = next(&work)
            {
                let which = &pieces[number];
                let fits = |rolled: &Rolled| rolled.len() == which.len() && plan.fits(what, rolled);
                let asked = request.bytes(which).map(|content| helper.ask(&content, &fits));
                self.note(&mut helper, &mut held(&work), number, asked);
            }
        };
        // Whoever is lost last may leave a piece behind when the others have gone home.
        while !held(&work).open.is_empty() {
            let there: Vec<_> = self.helpers.iter().filter(|helper| !held(helper).is_lost()).collect();
            if there.is_empty() {
                break;
            }
            thread::scope(|scope| {
                for helper in there.into_iter().take(pieces.len()) {
                    scope.spawn(|| job(helper));
                }
            });
        }
        let work = work.into_inner().unwrap_or_else(PoisonError::into_inner);
        let unfinished = || Error::Failed("no helper is left".into());
        work.ended.map_or_else(|| together(work.done).ok_or_else(unfinished), Err)
    }

    /// Notes what came of asking for a piece.
    fn note(
        &self,
        helper: &mut Helper,
        work: &mut Work,
        number: usize,
        asked: Result<std::result::Result<Result<Rolled>, LineError>>,
    ) {
        match asked {
            Ok(Ok(Ok(rolled))) => {
                helper.lost = 0;
                self.answered.store(true, Ordering::Relaxed);
                work.done[number] = Some(rolled);
            }
            Ok(Ok(Err(error))) | Err(error) => {
                work.open.clear();
                work.ended.get_or_insert(error);
            }
            Ok(Err(error)) => {
                helper.line = None;
                helper.lost += 1;
                if work.ended.is_none() {
                    work.open.push(number);
                }
                if helper.is_lost() {
                    let name = helper.reach.name();
                    if self.left.fetch_sub(1, Ordering::Relaxed) > 1 {
                        (self.tell)(&format!("the helper `{name}` is lost: {error}; the others go on"));
                    } else {
                        work.ended.get_or_insert(self.nobody(&name, &error));
                    }
                }
            }
        }
    }

    /// Everybody is lost, this one last.
    fn nobody(&self, name: &str, why: &LineError) -> Error {
        if self.answered.load(Ordering::Relaxed) {
            Error::Failed(format!(
                "no helper is left, the last one was `{name}`: {why}; --resume goes on from the last checkpoint"
            ))
        } else {
            Error::usage(format!("the helper `{name}` does not answer: {why}"))
        }
    }
}

/// The number of a piece that nobody flies.
fn next(work: &Mutex<Work>) -> Option<usize> {
    held(work).open.pop()
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Cuts flights into pieces of one size, or one more.
fn pieces(flights: usize, helpers: usize) -> Vec<Range<usize>> {
    let count = (helpers * PIECES).max(flights.div_ceil(MOST)).min(flights);
    (0..count).map(|number| number * flights / count..(number + 1) * flights / count).collect()
}

/// All results in order, if all are there.
fn together(done: Vec<Option<Rolled>>) -> Option<Rolled> {
    let mut done = done.into_iter();
    let mut all = done.next()??;
    for behind in done {
        if !all.append(behind?) {
            return None;
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_all_flights_once() {
        for (flights, helpers) in [(10, 1), (10, 4), (10, 64), (48, 2), (400, 3), (1, 1)] {
            let pieces = pieces(flights, helpers);
            assert!(pieces.iter().cloned().flatten().eq(0..flights), "{pieces:?}");
            let (least, most) = (pieces.iter().map(Range::len).min(), pieces.iter().map(Range::len).max());
            assert!(most.unwrap() <= MOST && most.unwrap() - least.unwrap() <= 1, "{pieces:?}");
        }
    }
}
