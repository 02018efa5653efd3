//! What others do to a swarm, with its key and without.

use clap::Args;

use super::words::Words;
use crate::{
    medium::{
        limits::{ATTACK_DELAY_TICKS, FORGED_FRAMES, NOISE, SYBIL_NAMES},
        options::{Faults, Liars, Partition},
    },
    option_range::OptionRange,
};

/// A tick of a flight. [`Faults::check`] compares it with the length of the flight.
const TICK: OptionRange = OptionRange::whole(0, u32::MAX as u64);
/// A robot. [`Faults::check`] compares it with the number of robots.
const ROBOT: OptionRange = OptionRange::whole(0, u32::MAX as u64);

/// The tick in which an impostor speaks unless another is given.
const SPOOF_TICK: &str = "50";

/// What others do to a swarm.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Attacks")]
pub struct AttackArguments {
    /// Record what every robot hears and play it back over and over from this tick on.
    #[arg(long, value_name = "TICK", value_parser = TICK.parser::<u32>())]
    pub replay: Option<u32>,
    /// Let everybody hear so many frames per exchange of somebody without the swarm's key.
    #[arg(long, value_name = "FRAMES", default_value_t = 0, value_parser = FORGED_FRAMES.parser::<u32>())]
    pub forge: u32,
    /// Somebody without the key holds back every frame for so many ticks.
    #[arg(long, value_name = "TICKS", default_value_t = 0, value_parser = ATTACK_DELAY_TICKS.parser::<u32>())]
    pub hold_back: u32,
    /// Robots with the swarm's key that lie, about what, and which share of the swarm: STATE:0.1 or PARAMETERS:0.2; or
    /// SUBTLE:0.1, about their velocity and taps by just as much as is believed; or VELOCITY:0.1@0.5, about their velocity by
    /// 0.5 m/s per axis.
    #[arg(long, value_name = "STATE|PARAMETERS|SUBTLE|VELOCITY:SHARE[@M/S]")]
    pub liars: Option<Liars>,
    /// A robot with the key speaks once in everybody's name, in frames of the last boot there can be, as new as is believed; at this
    /// tick.
    #[arg(long, value_name = "TICK", num_args = 0..=1, default_missing_value = SPOOF_TICK, value_parser = TICK.parser::<u32>())]
    pub spoof: Option<u32>,
    /// A robot with the key speaks in so many names that nobody around has, of robots all around the one that is nearest to it at the
    /// start.
    #[arg(long, value_name = "NAMES", default_value_t = 0, value_parser = SYBIL_NAMES.parser::<u32>())]
    pub sybil: u32,
    /// Distance of the invented robots from that robot, in meters; needs --sybil [default: 0.5].
    #[arg(long, value_name = "METERS", value_parser = NOISE.parser::<f32>())]
    pub sybil_at: Option<f32>,
    /// Robots prove their names to each other: the operator has told each the keys for it. Whose name is not proven is a body only.
    #[arg(long)]
    pub proofs: bool,
    /// The operator brings a new key, such as 50-150: from tick 50 on, for use from tick 150 on.
    #[arg(long, value_name = "FROM-AT")]
    pub rekey: Option<Partition>,
    /// Robot that gets no new key because it was captured; needs --rekey.
    #[arg(long, value_name = "ROBOT", value_parser = ROBOT.parser::<usize>())]
    pub expel: Vec<usize>,
}

impl AttackArguments {
    /// Adds what was asked for.
    pub(super) fn add_to(&self, faults: &mut Faults) {
        faults.replay = self.replay;
        faults.forge = self.forge;
        faults.radio.hold_back = self.hold_back;
        faults.liars = self.liars;
        faults.spoof = self.spoof;
        faults.sybil = self.sybil;
        faults.sybil_at = self.sybil_at;
        faults.proofs = self.proofs;
        faults.rekey = self.rekey.clone().map(|Partition(ticks)| ticks);
        faults.expelled.clone_from(&self.expel);
    }

    /// Says the options.
    pub(super) fn say(&self, words: &mut Words) {
        words.say("replay", self.replay);
        words.number("forge", self.forge, 0);
        words.number("hold-back", self.hold_back, 0);
        words.say("liars", self.liars.map(|liars| liars.words()));
        words.say("spoof", self.spoof);
        words.number("sybil", self.sybil, 0);
        words.say("sybil-at", self.sybil_at);
        words.flag("proofs", self.proofs);
        words.say(
            "rekey",
            self.rekey.as_ref().map(|Partition(ticks)| format!("{}-{}", ticks.start, ticks.end)),
        );
        self.expel.iter().for_each(|robot| words.say("expel", Some(robot)));
    }
}
