//! Rows about single frames and the neighbor table: one sealed robot and invalid frames.

use rand::{Rng as _, RngExt as _};
use wdgnn_core::{
    model::{Model as _, folded::Folded},
    task::NodeId,
    tasks::flocking::{Flocking, Motion},
};
use wdgnn_link::{
    encoding::{
        Codec,
        exact::{Exact, HEADER_BYTES},
    },
    error::{FrameError, FrameErrorCounts},
    header::Link,
    security::group_key::Sealed,
};
use wdgnn_robot::{
    config::Behavior,
    node::{MessageOf, Node, Settings},
    onboard::{self, MAX_BUFFER_LEN, RobotModel, RobotNetwork},
    ports::Sensed,
};

use super::row::{Row, Yardstick, reasons};
use crate::{
    error::Result,
    medium::insider::{Insider, Lie},
    model::ModelFile,
    models,
    profiles::Profile,
    recipe::RecipeName,
    seeds::{Purpose, generator},
    swarm::radio_swarm::KEY,
};

/// Entries of the firmware's neighbor table.
const SLOTS: usize = onboard::NEIGHBORS;

type Robot<'w> = Node<RobotModel<'w>, Flocking, SLOTS, Sealed<Exact>>;
type MessageOf<'w> = MessageOf<RobotModel<'w>, Flocking>;

/// Returns all rows about frames.
pub fn rows(seed: u64) -> Result<Vec<Row>> {
    let model = models::for_profile(RecipeName::Ours, Profile::Exact)?;
    let rows = [lengths(&model, seed)?, numbers(&model)?, crowd(&model)?];
    Ok(rows.into_iter().map(|row| Row { seed, ..row }).collect())
}

fn robot(model: &ModelFile) -> Result<Robot<'_>> {
    let weights = model.weights();
    let network = RobotNetwork::from_weights(&weights).map_err(|source| model.unusable(source))?;
    let learning = weights.header.learning;
    let folded = Folded::new(network, learning.metric);
    let (task, behavior) = (Flocking::DEFAULT, Behavior::new(learning).robust());
    let rest = Motion { position: [0.0; 2], velocity: [0.0; 2] };
    let codec = Sealed::new(Exact, &KEY);
    let (model, checksum) = (folded, weights.checksum);
    let mut robot = Node::new(Settings { id: 0, model, task, checksum, behavior, state: rest, codec });
    robot.sense(0, Some(Sensed::now(rest)));
    Ok(robot)
}

/// Returns a message of another robot, as an insider can send it.
fn beacon<'w>(robot: &Robot<'w>, sender: NodeId) -> MessageOf<'w> {
    let state = Motion { position: [1.0, 0.0], velocity: [0.0, 1.0] };
    let (chains, wide) = (wdgnn_core::filter::DelayLines::ZERO, *robot.model().offline());
    MessageOf { sender, boot: 0, sequence: 0, degree: 1, state, chains, wide }
}

/// Returns the frame of a message.
fn bytes(codec: &impl Codec, link: &Link, beacon: &MessageOf<'_>) -> Vec<u8> {
    let mut frame = [0; MAX_BUFFER_LEN];
    let length = codec.encode(link, beacon, 0, 0, &mut frame).unwrap_or_default();
    frame[..length].to_vec()
}

/// Returns the frame of a message, sealed with the swarm key.
fn sealed(link: &Link, beacon: &MessageOf<'_>) -> Vec<u8> {
    bytes(&Sealed::new(Exact, &KEY), link, beacon)
}

fn row(fault: &'static str, level: &str, refused: &FrameErrorCounts, holds: bool, property: String) -> Row {
    let (level, refused) = (level.into(), reasons(refused));
    Row {
        fault: fault.into(),
        level,
        options: String::new(),
        command: String::new(),
        seed: 0,
        ratio: None,
        limit: None,
        because: "".into(),
        yardstick: Yardstick::Usual,
        nearness: None,
        holds,
        refused,
        property,
    }
}

/// Tests lengths from 0 to 300 bytes: noise, a valid frame cut or extended, and all other version
/// bytes.
fn lengths(model: &ModelFile, seed: u64) -> Result<Row> {
    let mut robot = robot(model)?;
    let good = sealed(robot.link(), &beacon(&robot, 1));
    let mut random = generator(seed, Purpose::Air, 0);
    let mut bad: Vec<Vec<u8>> = Vec::new();
    for length in 0..=300 {
        let mut noise = vec![0; length];
        random.fill_bytes(&mut noise);
        bad.extend([noise, good.iter().copied().cycle().take(length).collect()]);
        bad.push([good.clone(), vec![random.random(); length + 1]].concat());
    }
    bad.extend((0..=255).filter(|version| *version != good[0]).map(|version| {
        let mut frame = good.clone();
        frame[0] = version;
        frame
    }));
    // A frame of full length may equal the valid one.
    bad.retain(|frame| *frame != good);
    let mut refused = FrameErrorCounts::default();
    let accepted = bad
        .iter()
        .filter(|frame| robot.hear(&mut (*frame).clone()).map_err(|reason| refused.count(reason)).is_ok());
    let accepted = accepted.count();
    // The state is unchanged if the valid frame is still accepted as new.
    let unharmed = robot.neighbors().len() == 0 && robot.hear(&mut good.clone()).is_ok();
    let property = format!("{accepted} of {} accepted, nothing changed", bad.len());
    Ok(row("cut, long, noise, versions", "0 to 300 bytes", &refused, accepted == 0 && unharmed, property))
}

/// Tests invalid numbers at each place of a message, sealed with the correct key.
fn numbers(model: &ModelFile) -> Result<Row> {
    const BAD: [f32; 6] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::from_bits(1), f32::MAX, f32::MIN];
    let mut robot = robot(model)?;
    let link = *robot.link();
    let honest = beacon(&robot, 1);
    let places = (onboard::FRAME_LEN - HEADER_BYTES) / 4;
    let mut refused = FrameErrorCounts::default();
    let (mut made, mut accepted) = (0, 0);
    for (place, number) in (0..places).flat_map(|place| BAD.map(|number| (place, number))) {
        let liar = Insider { codec: Exact, lie: Some(Lie::Number { place, number }) };
        let frame = bytes(&Sealed::new(liar, &KEY), &link, &honest);
        made += 1;
        match robot.hear(&mut frame.clone()) {
            Ok(()) => accepted += 1,
            Err(reason) => refused.count(reason),
        }
    }
    let early = refused.of(FrameError::NotAdmissible) == made;
    let unharmed = robot.neighbors().len() == 0 && robot.hear(&mut sealed(&link, &honest)).is_ok();
    let property = format!("{accepted} of {made} accepted, {places} places");
    Ok(row("NaN, ±∞, subnormal, ±max", "every number", &refused, early && unharmed, property))
}

/// Tests 200 authenticated senders with a table of 16 entries.
fn crowd(model: &ModelFile) -> Result<Row> {
    const SENDERS: NodeId = 200;
    let mut robot = robot(model)?;
    let link = *robot.link();
    let mut refused = FrameErrorCounts::default();
    for sender in 1..=SENDERS {
        let frame = sealed(&link, &beacon(&robot, sender));
        let _ = robot.hear(&mut frame.clone()).map_err(|reason| refused.count(reason));
    }
    let kept = robot.neighbors().map(|neighbor| usize::from(neighbor.beacon.sender)).eq(1..=SLOTS);
    let counted = refused.total() == u32::from(SENDERS) - SLOTS as u32;
    let property = if kept { "the first 16 kept" } else { "ESTABLISHED ONES LOST" }.into();
    Ok(row("200 senders", "table of 16", &refused, kept && counted, property))
}
