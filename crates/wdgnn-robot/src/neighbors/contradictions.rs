//! Tests of the table with contradicting frames.

use wdgnn_core::{tasks::flocking::Motion, tensor::Filter};
use wdgnn_link::header::Payload;

use super::{entry::Arrival, *};

type Table = NeighborTable<Motion<2>, (), Filter<1, 1, 1>, 4>;

fn at(x: f32) -> Motion<2> {
    Motion { position: [x, 0.0], velocity: [0.0; 2] }
}

fn arrival(tick: u32, state: Motion<2>) -> Arrival<Motion<2>> {
    Arrival { tick, sent: tick, sequence: tick, state, shares_model: true }
}

/// Sender 5 reports position `x` at `tick`. Steps of 1 m are plausible, 10 m for a newcomer.
fn reports(table: &mut Table, tick: u32, x: f32) -> Result<(), FrameError> {
    let mut message = Message::empty(at(x));
    message.sender = 5;
    table.update_parts(
        &arrival(tick, at(x)),
        &message,
        Payload::STATE,
        |track, state, _, compared, (): &mut ()| {
            let step = (state.position[0] - track.position[0]).abs();
            (*state, step <= if compared <= 1 { 10.0 } else { 1.0 })
        },
    )
}

/// A table after reports of sender 5, one per tick, and the next tick.
fn after(reported: &[f32]) -> (Table, u32) {
    let mut table = Table::new();
    let mut tick = 1;
    for x in reported {
        let _ = reports(&mut table, tick, *x);
        tick += 1;
    }
    (table, tick)
}

#[test]
fn report_implausible_for_a_newcomer_may_come_from_another_sender() {
    let (mut table, tick) = after(&[0.0, 0.0, 0.0, 50.0]);
    assert_eq!(reports(&mut table, tick, 0.0), Ok(()), "the next report confirms the earlier track");
}

#[test]
fn report_plausible_for_a_newcomer_discredits_its_sender() {
    let (mut table, tick) = after(&[0.0, 0.0, 0.0, 5.0]);
    assert_eq!(reports(&mut table, tick, 0.0), Err(FrameError::Implausible));
}

#[test]
fn discredited_sender_has_no_disputed_track() {
    let (mut table, tick) = after(&[0.0, 0.0, 0.0, 5.0, 100.0]);
    assert_eq!(reports(&mut table, tick, 5.0), Err(FrameError::Implausible));
}

#[test]
fn second_report_of_a_sender_may_come_from_another_sender() {
    let (mut table, tick) = after(&[0.0, 50.0]);
    assert_eq!(reports(&mut table, tick, 0.0), Ok(()));
}

#[test]
fn distrust_affects_one_neighbor() {
    let (mut table, tick) = after(&[0.0, 0.0, 0.0]);
    let mut other = Message::empty(at(1.0));
    other.sender = 6;
    table.update(&arrival(tick, at(1.0)), &other).unwrap();
    table.distrust(6);
    let states: Vec<_, 4> =
        table.iter().map(|entry| (entry.plausible_frames > 0, entry.has_contradicted)).collect();
    assert_eq!(states, [(true, false), (false, true)]);
}
