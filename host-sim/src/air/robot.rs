//! One robot behind a radio with faults, stepped by the core's own tick.

use std::convert::Infallible;

use wdgnn_core::{
    flocking::{Flocking, Motion},
    node::Node,
    ports::{Actuator, Ports, Sensor},
    restart,
    task::NodeId,
    tick::{self, PortErrors, Report},
    wide::Model,
};

use super::{
    insider::Insider,
    mailbox::{Frame, Mailbox},
    medium::{Blueprint, Member},
};
use crate::{
    fleet::native::Memory,
    profiles::{FlownCodec as _, LinkCodec},
    swarm::{LONGEST_FRAME, NEIGHBOURS},
};

/// A node that seals its frames.
pub type SealedNode<M, P> = Node<M, Flocking, NEIGHBOURS, Insider<<P as LinkCodec>::Sealed>>;

/// A robot in the air.
#[derive(Debug)]
pub struct AirRobot<M: Model, P: LinkCodec> {
    /// The node; `None` once the robot is gone.
    pub node: Option<SealedNode<M, P>>,
    member: Member,
    memory: Memory,
    errors: PortErrors,
}

impl<M, P> AirRobot<M, P>
where
    M: Model<Features = [f32; 6], Output = [f32; 2]> + Copy,
    P: LinkCodec,
{
    /// A robot at its start.
    pub fn new(blueprint: &Blueprint<M>, id: NodeId, motion: Motion, member: Member) -> Self {
        let mut robot = Self { node: None, member, memory: Memory::default(), errors: PortErrors::default() };
        robot.start(blueprint, id, motion);
        robot
    }

    /// Switches the robot on, with what it has stored.
    pub fn start(&mut self, blueprint: &Blueprint<M>, id: NodeId, motion: Motion) {
        let Blueprint { model, task, checksum, behaviour, key } = *blueprint;
        let codec = Insider { codec: P::Sealed::with_key(&key), lie: self.member.lie.clone() };
        let mut node = Node::with_codec(id, model, task, checksum, behaviour, motion, codec);
        // A memory's errors are `Infallible`.
        let _resumed = restart::resume(&mut node, &mut self.memory, &mut [0; LONGEST_FRAME]);
        self.node = Some(node);
    }

    /// The first half of a tick: the robot's frames, none if it is gone.
    pub fn speak(&mut self, tick: u32, motion: Motion) -> Vec<Frame> {
        let Some(node) = &mut self.node else { return Vec::new() };
        let mut ports = Ports {
            radio: &mut self.member.radio,
            sensor: &mut Eyes(motion),
            actuator: &mut Motors,
            store: &mut self.memory,
        };
        self.errors = tick::open(node, tick + self.member.ahead, &mut ports, &mut [0; LONGEST_FRAME]);
        self.mailbox().take_said()
    }

    /// The second half of a tick. What reached a robot that is gone is lost.
    pub fn hear(&mut self) -> Option<Report<[f32; 2]>> {
        let report = self.node.as_mut().map(|node| {
            let mut ports = Ports {
                radio: &mut self.member.radio,
                sensor: &mut Eyes(*node.state()),
                actuator: &mut Motors,
                store: &mut self.memory,
            };
            tick::close(node, &mut ports, &mut [0; LONGEST_FRAME], self.errors)
        });
        self.mailbox().clear();
        report
    }

    /// What the air fills and empties.
    pub fn mailbox(&mut self) -> &mut Mailbox {
        self.member.radio.inner().inner()
    }

    /// How many recorded frames were played to it.
    pub fn replayed(&self) -> u64 {
        self.member.radio.played_frames()
    }
}

struct Eyes(Motion);

impl Sensor<Motion> for Eyes {
    type Error = Infallible;

    fn sense(&mut self) -> Result<Motion, Infallible> {
        Ok(self.0)
    }
}

/// The command is in the tick's report.
struct Motors;

impl Actuator<[f32; 2]> for Motors {
    type Error = Infallible;

    fn act(&mut self, _: &[f32; 2]) -> Result<(), Infallible> {
        Ok(())
    }
}
