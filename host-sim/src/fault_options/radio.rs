//! What goes wrong between radios.

use clap::Args;

use super::words::Words;
use crate::{
    medium::{
        faulty_link::RadioFaults,
        limits::BURST_FRAMES,
        loss::Loss,
        options::{Bursts, Delay, Faults, Partition},
    },
    option_range::OptionRange,
};

/// What goes wrong on the air, for any radio.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Faults of the air")]
pub struct RadioArguments {
    /// Share of frames that is lost, 0 to 1.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = OptionRange::SHARE.parser::<f64>())]
    pub drop_chance: f64,
    /// Mean length of a burst of lost frames on a link, 1 for independent losses; needs --drop-chance.
    #[arg(long, value_name = "FRAMES", default_value_t = 1.0, value_parser = BURST_FRAMES.parser::<f64>())]
    pub burst: f64,
    /// Share of frames in which anything from one bit to all of it is changed, 0 to 1.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = OptionRange::SHARE.parser::<f64>())]
    pub corrupt_chance: f64,
    /// Share of frames that arrive twice, 0 to 1.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = OptionRange::SHARE.parser::<f64>())]
    pub duplicate_chance: f64,
    /// Share of frames that arrive late, and by how many ticks at most, such as 0.2:5.
    #[arg(long, value_name = "SHARE:TICKS")]
    pub delay: Option<Delay>,
    /// Share of directions in which a link carries nothing, for the whole flight.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = OptionRange::SHARE.parser::<f64>())]
    pub one_way: f64,
    /// Frames that overlap at a receiver are lost, by the time that the profile's radio takes for them: robots listen before they talk,
    /// but not all of them hear each other.
    #[arg(long)]
    pub collisions: bool,
    /// Share of the time that everybody is deaf, and the mean length of such a burst, such as 0.2:5.
    #[arg(long, value_name = "SHARE:TICKS")]
    pub interference: Option<Bursts>,
    /// Nothing passes between two halves of the swarm, such as 50-150: from tick 50 up to tick 150.
    #[arg(long, value_name = "FROM-TO")]
    pub partition: Option<Partition>,
}

impl Default for RadioArguments {
    /// Nothing.
    fn default() -> Self {
        Self {
            drop_chance: 0.0,
            burst: 1.0,
            corrupt_chance: 0.0,
            duplicate_chance: 0.0,
            delay: None,
            one_way: 0.0,
            collisions: false,
            interference: None,
            partition: None,
        }
    }
}

impl RadioArguments {
    /// Adds what was asked for.
    pub(super) fn add_to(&self, faults: &mut Faults) {
        let Delay { share: delay, ticks: latest } = self.delay.unwrap_or(Delay { share: 0.0, ticks: 0 });
        faults.radio = RadioFaults {
            loss: Loss { chance: self.drop_chance, burst: self.burst },
            corrupt: self.corrupt_chance,
            duplicate: self.duplicate_chance,
            delay,
            latest,
            ..faults.radio
        };
        faults.one_way = self.one_way;
        faults.collisions = self.collisions;
        faults.interference = self.interference;
        faults.partition = self.partition.clone().map(|Partition(ticks)| ticks);
    }

    /// Says the options.
    pub(super) fn say(&self, words: &mut Words) {
        words.number("drop-chance", self.drop_chance, 0.0);
        words.number("burst", self.burst, 1.0);
        words.number("corrupt-chance", self.corrupt_chance, 0.0);
        words.number("duplicate-chance", self.duplicate_chance, 0.0);
        let timed = |share: f64, ticks: u32| format!("{share}:{ticks}");
        words.say("delay", self.delay.map(|delay| timed(delay.share, delay.ticks)));
        words.number("one-way", self.one_way, 0.0);
        words.flag("collisions", self.collisions);
        words.say("interference", self.interference.map(|bursts| timed(bursts.share, bursts.ticks)));
        let partition = self.partition.as_ref();
        words.say("partition", partition.map(|Partition(ticks)| format!("{}-{}", ticks.start, ticks.end)));
    }
}
