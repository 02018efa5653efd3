//! Rows about single frames and the neighbor table: one sealed robot and invalid frames.

use rand::{Rng as _, RngExt as _};
use wdgnn_core::{
    filter::DelayLines,
    message::{AgentMessage, Message},
    model::Model as _,
    neighbors::MAX_NEIGHBORS,
    task::NodeId,
    tasks::flocking::{Flocking, Motion},
};
use wdgnn_link::{
    encoding::{Encoding as _, OutgoingMessage, exact::Exact, half::MAX_TAG_LEN},
    error::{FrameError, FrameErrorCounts},
    link::RadioLink as _,
    security::{LinkSecurity as _, aes::Aes, group_key::GroupKey},
};
use wdgnn_robot::{
    onboard::{self, FlockingModel, MAX_BUFFER_LEN},
    ports::Measurement,
};

use super::row::{Row, Yardstick, reasons};
use crate::{
    error::Result,
    medium::{
        any_link::{AnyLink, RobotKeys},
        insider::Lie,
        robot_config::SimRobot,
    },
    model::ModelFile,
    models,
    profiles::Profile,
    seeds::{Purpose, generator},
    swarm::radio_swarm::KEY,
};

type Robot<'w> = SimRobot<FlockingModel<'w>, Flocking>;

/// Returns all rows about frames.
pub fn rows(seed: u64) -> Result<Vec<Row>> {
    let model = models::for_profile(Profile::Exact)?;
    let rows = [lengths(&model, seed)?, numbers(&model)?, crowd(&model)?];
    Ok(rows.into_iter().map(|row| Row { seed, ..row }).collect())
}

/// Creates a robust robot with the swarm key, at rest at the origin, in tick 0.
fn robot(model: &ModelFile) -> Result<Robot<'_>> {
    let weights = model.weights();
    let link = AnyLink::new(Profile::Exact, weights.checksum, Some(RobotKeys { group: &KEY, own: None }));
    let mut robot =
        onboard::robot_from_weights(0, &weights, link).map_err(|source| model.unusable(source))?;
    robot.sense(0, Some(Measurement::now(Motion { position: [0.0; 2], velocity: [0.0; 2] })));
    Ok(robot)
}

/// Returns a frame of another robot with the swarm key. A lie is written before the frame is sealed.
fn sealed(robot: &Robot<'_>, sender: NodeId, lie: Option<&Lie>) -> Vec<u8> {
    let state = Motion { position: [1.0, 0.0], velocity: [0.0, 1.0] };
    let (taps, wide) = (DelayLines::ZERO, *robot.config().agent.model.offline());
    let message: AgentMessage<FlockingModel<'_>, Flocking> =
        Message { sender, tick: 0, degree: 1, state, taps, wide };
    let model = robot.link().model_checksum();
    let out = OutgoingMessage { message: &message, boot: 0, sequence: 0, model, round: 0 };
    let mut frame = [0; MAX_BUFFER_LEN];
    let length = Exact::encode(&out, 0, &mut frame).unwrap_or_default();
    if let Some(lie) = lie {
        lie.patch(&mut frame[..length], Exact::HEADER_LEN);
    }
    let key = GroupKey::<Aes, MAX_TAG_LEN>::new(&KEY);
    let length = key.seal::<Exact>(model, &out.id(), length, &mut frame).unwrap_or_default();
    frame[..length].to_vec()
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
    let good = sealed(&robot, 1, None);
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
        .filter(|frame| robot.receive(&mut (*frame).clone()).map_err(|reason| refused.count(reason)).is_ok());
    let accepted = accepted.count();
    // The state is unchanged if the valid frame is still accepted as new.
    let unharmed = robot.neighbors().len() == 0 && robot.receive(&mut good.clone()).is_ok();
    let property = format!("{accepted} of {} accepted, nothing changed", bad.len());
    Ok(row("cut, long, noise, versions", "0 to 300 bytes", &refused, accepted == 0 && unharmed, property))
}

/// Tests invalid numbers at each place of a message, sealed with the correct key.
fn numbers(model: &ModelFile) -> Result<Row> {
    const BAD: [f32; 6] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::from_bits(1), f32::MAX, f32::MIN];
    let mut robot = robot(model)?;
    let places = (onboard::FRAME_LEN - Exact::HEADER_LEN) / 4;
    let mut refused = FrameErrorCounts::default();
    let (mut made, mut accepted) = (0, 0);
    for (place, number) in (0..places).flat_map(|place| BAD.map(|number| (place, number))) {
        let mut frame = sealed(&robot, 1, Some(&Lie::Number { place, number }));
        made += 1;
        match robot.receive(&mut frame) {
            Ok(()) => accepted += 1,
            Err(reason) => refused.count(reason),
        }
    }
    let early = refused.of(FrameError::NotAdmissible) == made;
    let unharmed = robot.neighbors().len() == 0 && robot.receive(&mut sealed(&robot, 1, None)).is_ok();
    let property = format!("{accepted} of {made} accepted, {places} places");
    Ok(row("NaN, ±∞, subnormal, ±max", "every number", &refused, early && unharmed, property))
}

/// Tests 200 authenticated senders with a table of 16 entries.
fn crowd(model: &ModelFile) -> Result<Row> {
    const SENDERS: NodeId = 200;
    let mut robot = robot(model)?;
    let mut refused = FrameErrorCounts::default();
    for sender in 1..=SENDERS {
        let mut frame = sealed(&robot, sender, None);
        let _ = robot.receive(&mut frame).map_err(|reason| refused.count(reason));
    }
    let kept = robot.neighbors().map(|neighbor| usize::from(neighbor.message.sender)).eq(1..=MAX_NEIGHBORS);
    let counted = refused.total() == u32::from(SENDERS) - MAX_NEIGHBORS as u32;
    let property = if kept { "the first 16 kept" } else { "ESTABLISHED ONES LOST" }.into();
    Ok(row("200 senders", "table of 16", &refused, kept && counted, property))
}
