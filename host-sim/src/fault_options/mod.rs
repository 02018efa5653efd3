//! What goes wrong in a flight, as options of commands.

pub mod attacks;
pub mod bodies;
pub mod radio;
mod words;

use clap::{Args, FromArgMatches as _};

use self::{attacks::AttackArguments, bodies::BodyArguments, radio::RadioArguments, words::Words};
use crate::{
    error::{Error, Result},
    medium::{
        events::{Events, RobotInterval, RobotTick},
        options::{Faults, Join, Trust},
    },
    option_range::OptionRange,
    usage_error,
};

/// Everything that can go wrong in a flight, of simulated or emulated robots.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Faults of single robots")]
pub struct FlightArguments {
    #[command(flatten)]
    radio: RadioArguments,
    /// Take a robot out of the sky, such as 3@50: robot 3 before tick 50.
    #[arg(long, value_name = "ROBOT@TICK", help_heading = "Faults of single robots")]
    kill: Vec<RobotTick>,
    /// Switch a robot off and on again, such as 7@80.
    #[arg(long, value_name = "ROBOT@TICK", help_heading = "Faults of single robots")]
    reboot: Vec<RobotTick>,
    /// Take a robot's power while half of what it stores is written, and give it back, such as 7@80.
    #[arg(long, value_name = "ROBOT@TICK", help_heading = "Faults of single robots")]
    brown_out: Vec<RobotTick>,
    /// Put a robot out of radio contact, such as 5@20-60: from tick 20 up to tick 60.
    #[arg(long, value_name = "ROBOT@FROM-TO", help_heading = "Faults of single robots")]
    drop: Vec<RobotInterval>,
    /// A share of robots is switched on in flight, such as 0.2@100: before tick 100. Until then they fly straight on.
    #[arg(long, value_name = "SHARE@TICK", help_heading = "Faults of single robots")]
    join: Option<Join>,
    /// A share of robots flies another model in the same air (those in this process; flocking has one).
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, help_heading = "Faults of single robots", value_parser = OptionRange::SHARE.parser::<f64>())]
    other_model: f64,
    #[command(flatten)]
    bodies: BodyArguments,
    #[command(flatten)]
    attacks: AttackArguments,
}

impl FlightArguments {
    /// These words, as they might have been typed.
    pub fn typed(words: &str) -> Result<Self> {
        let line = Self::augment_args(clap::Command::new("faults").no_binary_name(true));
        let typed = line.try_get_matches_from(words.split_whitespace());
        let typed = typed.and_then(|matches| Self::from_arg_matches(&matches));
        typed.map_err(|error| {
            usage_error::one_line(error).unwrap_or_else(|error| Error::usage(error.to_string()))
        })
    }

    /// What was asked for, which may be nothing.
    pub fn faults(&self, robots: usize, ticks: u32, seed: u64) -> Result<Faults> {
        let events = Events {
            kills: self.kill.clone(),
            reboots: self.reboot.clone(),
            brown_outs: self.brown_out.clone(),
            drops: self.drop.clone(),
        };
        let mut faults = Faults { events, join: self.join, seed, ..Faults::default() };
        faults.other_models = self.other_model;
        self.radio.add_to(&mut faults);
        self.bodies.add_to(&mut faults);
        self.attacks.add_to(&mut faults);
        faults.check(robots, ticks)?;
        Ok(faults)
    }

    /// The options as they are typed, each with a space in front.
    pub fn words(&self) -> String {
        let mut words = Words::default();
        self.radio.say(&mut words);
        let moment = |moment: &RobotTick| Some(format!("{}@{}", moment.robot, moment.tick));
        self.kill.iter().for_each(|kill| words.say("kill", moment(kill)));
        self.reboot.iter().for_each(|reboot| words.say("reboot", moment(reboot)));
        self.brown_out.iter().for_each(|brown_out| words.say("brown-out", moment(brown_out)));
        let stretch =
            |stretch: &RobotInterval| Some(format!("{}@{}-{}", stretch.robot, stretch.from, stretch.to));
        self.drop.iter().for_each(|drop| words.say("drop", stretch(drop)));
        words.say("join", self.join.map(|join| format!("{}@{}", join.share, join.tick)));
        words.number("other-model", self.other_model, 0.0);
        self.bodies.say(&mut words);
        self.attacks.say(&mut words);
        words.0
    }
}

/// Everything that can go wrong in a simulated flight, and whom robots believe in it.
#[derive(Args, Clone, Debug, Default)]
pub struct FaultArguments {
    #[command(flatten)]
    flight: FlightArguments,
    /// Fly with plain averaging and believe everybody, as the paper does.
    #[arg(long, help_heading = "Attacks")]
    plain: bool,
}

impl FaultArguments {
    /// What was asked for, or `None` when nothing was.
    pub fn faults(&self, robots: usize, ticks: u32, seed: u64) -> Result<Option<Faults>> {
        let trust = if self.plain { Trust::Plain } else { Trust::Robust };
        let faults = Faults { trust, ..self.flight.faults(robots, ticks, seed)? };
        Ok((faults != Faults { seed, ..Faults::default() }).then_some(faults))
    }

    /// The options as they are typed, each with a space in front.
    pub fn words(&self) -> String {
        self.flight.words() + if self.plain { " --plain" } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &str = "--drop-chance 0.3 --burst 5 --corrupt-chance 0.1 --duplicate-chance 0.2 --delay 0.2:5 --one-way 0.3 \
                       --collisions --interference 0.1:3 --partition 50-150 --kill 3@50 --kill 4@60 --reboot 7@80 --brown-out 8@90 \
                       --drop 5@20-60 --join 0.2@100 --other-model 0.5 --position-noise 0.1 --velocity-noise 0.2 --position-bias 0.3 \
                       --velocity-bias 0.4 --heading-error 30:0.2 --sensor frozen:0.1@50 --motor stuck:0.1@20 --saturation 3 --skew 1 \
                       --drift 100 --time-jump 3@50:-40 --skip 0.1 --replay 100 --forge 9 --hold-back 5 \
                       --liars VELOCITY:0.1@0.5 --spoof 60 --sybil 16 --sybil-at 0.1 --proofs --rekey 50-150 --expel 3";

    #[test]
    fn options_are_said_as_they_are_typed() {
        let typed = ALL.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(FlightArguments::typed(ALL).unwrap().words().trim(), typed);
        assert_eq!(FlightArguments::typed("").unwrap().words(), "");
        let plain = FaultArguments { plain: true, ..FaultArguments::default() };
        assert_eq!(plain.words(), " --plain");
    }

    #[test]
    fn every_option_is_a_fault() {
        // Each with its value: the next word that is no option.
        let words: Vec<&str> = ALL.split_whitespace().collect();
        for (place, option) in words.iter().enumerate().filter(|(_, word)| word.starts_with("--")) {
            let value =
                words.get(place + 1).filter(|word| !word.starts_with("--")).copied().unwrap_or_default();
            let also = match *option {
                "--expel" => "--rekey 50-150",
                "--burst" => "--drop-chance 0.1",
                "--sybil-at" => "--sybil 3",
                _ => "",
            };
            let flight = FlightArguments::typed(&format!("{option} {value} {also}")).unwrap();
            assert!(
                FaultArguments { flight, plain: false }.faults(10, 200, 7).unwrap().is_some(),
                "{option}"
            );
        }
    }

    #[test]
    fn an_impostor_speaks_at_half_a_second_unless_told_otherwise() {
        assert_eq!(FlightArguments::typed("--spoof").unwrap().words(), " --spoof 50");
    }

    #[test]
    fn nothing_asked_for_is_no_fault() {
        assert_eq!(FaultArguments::default().faults(5, 200, 7).unwrap(), None);
    }

    #[test]
    fn robots_that_are_not_there_are_told() {
        for options in ["--kill 5@1", "--time-jump 5@1:3", "--brown-out 5@1", "--rekey 50-150 --expel 5"] {
            assert!(refusal(options).contains("names robot 5: the robots are 0 to 4"), "{options}");
        }
        for options in [
            "--kill 3@5000",
            "--replay 5000",
            "--spoof 5000",
            "--partition 5000-6000",
            "--join 0.2@5000",
            "--sensor lost:0.1@5000",
            "--motor dead:0.1@5000",
            "--rekey 50-5000",
        ] {
            assert!(refusal(options).contains("names tick 5000: the last tick"), "{options}");
        }
        assert!(refusal("--expel 3").contains("no effect without --rekey"));
        assert!(refusal("--sybil-at 0.5").contains("no effect without --sybil"));
        assert!(refusal("--burst 3").contains("no effect without --drop-chance"));
        assert!(refusal("--rekey 50-150 --liars STATE:0.1").contains("--liars"));
    }

    fn refusal(options: &str) -> String {
        let faults = FlightArguments::typed(options).and_then(|flight| flight.faults(5, 200, 7));
        faults.unwrap_err().to_string()
    }

    #[test]
    fn numbers_that_cannot_be_are_told() {
        for options in ["--drop-chance 1.5", "--burst 0.5", "--one-way NaN", "--skip 1.5", "--forge 99999999"]
        {
            let (option, value) = options.split_once(' ').unwrap();
            let refusal = refusal(options);
            let (start, end) = (format!("{option} must be a "), format!(", got {value}"));
            assert!(refusal.starts_with(&start) && refusal.ends_with(&end), "{refusal}");
        }
        for noise in ["-0.1", "NaN", "inf"] {
            for option in ["--position-noise", "--velocity-bias"] {
                assert!(refusal(&format!("{option}={noise}")).starts_with(option), "{option} {noise}");
            }
        }
        for most in ["0", "-1", "NaN"] {
            assert!(refusal(&format!("--saturation={most}")).contains("--saturation"), "{most}");
        }
        assert_eq!(refusal("--drift 1000000"), "--drift must be a number between 0 and 100000, got 1000000");
        assert_eq!(
            refusal("--delay x"),
            "--delay must be SHARE:TICKS with a share between 0 and 1, such as 0.2:5, got x"
        );
    }
}
