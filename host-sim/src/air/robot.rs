//! One robot behind a radio with faults, stepped by the core's own tick.

use wdgnn_core::{
    flocking::{Flocking, Motion},
    node::{Node, Settings},
    task::NodeId,
    tick::Report,
    wide::Model,
};

use super::{
    insider::Insider,
    mailbox::{Frame, Mailbox},
    medium::{Blueprint, Member},
};
use crate::{
    fleet::body::Body,
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
    body: Body,
}

impl<M, P> AirRobot<M, P>
where
    M: Model<Features = [f32; 6], Output = [f32; 2]> + Copy,
    P: LinkCodec,
{
    /// A robot at its start.
    pub fn new(blueprint: &Blueprint<M>, id: NodeId, motion: Motion, member: Member) -> Self {
        let mut robot = Self { node: None, member, body: Body::default() };
        robot.start(blueprint, id, motion);
        robot
    }

    /// Switches the robot on, with what it has stored.
    pub fn start(&mut self, blueprint: &Blueprint<M>, id: NodeId, motion: Motion) {
        let Blueprint { model, task, checksum, behaviour, key } = *blueprint;
        let codec = Insider { codec: P::Sealed::with_key(&key), lie: self.member.lie.clone() };
        let mut node = Node::new(Settings { id, model, task, checksum, behaviour, state: motion, codec });
        self.body.resume(&mut node, &mut [0; LONGEST_FRAME]);
        self.node = Some(node);
    }

    /// The first half of a tick: the robot's frames, none if it is gone.
    pub fn speak(&mut self, tick: u32, motion: Motion) -> Vec<Frame> {
        let Some(node) = &mut self.node else { return Vec::new() };
        let Member { radio, ahead, .. } = &mut self.member;
        self.body.open(node, radio, tick + *ahead, motion, &mut [0; LONGEST_FRAME]);
        self.mailbox().take_said()
    }

    /// The second half of a tick. What reached a robot that is gone is lost.
    pub fn hear(&mut self) -> Option<Report<[f32; 2]>> {
        let (radio, body) = (&mut self.member.radio, &mut self.body);
        let report = self.node.as_mut().map(|node| body.close(node, radio, &mut [0; LONGEST_FRAME]));
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
