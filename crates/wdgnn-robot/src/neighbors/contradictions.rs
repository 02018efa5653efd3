//! What the table does about words that contradict those before: whose they may have been, and who is held to them.

use super::{entry::Heard, *};
use wdgnn_core::{filter::NoDelayLine, tasks::flocking::Motion, tensor::Vector};
use wdgnn_link::header::Payload;

type Table = Neighbors<Motion<2>, NoDelayLine, Vector<1>, 4>;

fn at(x: f32) -> Motion<2> {
    Motion { position: [x, 0.0], velocity: [0.0; 2] }
}

/// Sender 5 says at `tick` that it is at `x`. Believed is who goes a metre at most, and of a newcomer ten.
fn says(table: &mut Table, tick: u32, x: f32) -> Result<(), FrameError> {
    let mut beacon = Message::silent(at(x));
    (beacon.sender, beacon.sequence) = (5, tick);
    let now = Heard { tick, said: tick, state: at(x), other_model: false };
    table.hear_parts(&now, &beacon, Payload::STATE, |track, said, _, known, (): &mut ()| {
        let gone = (said.position[0] - track.position[0]).abs();
        (*said, gone <= if known <= 1 { 10.0 } else { 1.0 })
    })
}

/// A table in which sender 5 has said so much, one word per tick from the first on.
fn after(words: &[f32]) -> (Table, u32) {
    let mut table = Table::new();
    let mut tick = 1;
    for x in words {
        let _ = says(&mut table, tick, *x);
        tick += 1;
    }
    (table, tick)
}

#[test]
fn a_word_that_nobody_would_believe_may_have_been_somebody_else_s() {
    let (mut table, tick) = after(&[0.0, 0.0, 0.0, 50.0]);
    assert_eq!(says(&mut table, tick, 0.0), Ok(()), "its own next word bears out what it said before");
}

#[test]
fn a_word_that_a_newcomer_could_have_said_is_its_own() {
    let (mut table, tick) = after(&[0.0, 0.0, 0.0, 5.0]);
    assert_eq!(says(&mut table, tick, 0.0), Err(FrameError::Implausible));
}

#[test]
fn who_is_not_believed_has_nothing_to_come_back_to() {
    let (mut table, tick) = after(&[0.0, 0.0, 0.0, 5.0, 100.0]);
    assert_eq!(says(&mut table, tick, 5.0), Err(FrameError::Implausible));
}

#[test]
fn of_somebody_who_has_spoken_once_the_next_word_may_be_somebody_else_s_too() {
    let (mut table, tick) = after(&[0.0, 50.0]);
    assert_eq!(says(&mut table, tick, 0.0), Ok(()));
}

#[test]
fn who_has_said_what_cannot_be_has_to_prove_itself_anew_and_nobody_else_has() {
    let (mut table, tick) = after(&[0.0, 0.0, 0.0]);
    let mut other = Message::silent(at(1.0));
    (other.sender, other.sequence) = (6, tick);
    let now = Heard { tick, said: tick, state: at(1.0), other_model: false };
    table.hear(&now, &other).unwrap();
    table.doubt(6);
    let doubted: Vec<_, 4> = table.iter().map(|entry| (entry.proven > 0, entry.doubted)).collect();
    assert_eq!(doubted, [(true, false), (false, true)]);
}
