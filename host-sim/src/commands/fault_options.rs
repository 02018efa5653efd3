//! What goes wrong in a flight, as options of commands.

use clap::Args;

use crate::{
    air::{
        events::{Events, Moment, Stretch},
        faulty::RadioFaults,
        loss::Loss,
        options::{Delay, Faults, Liars, Partition, Trust},
        senses::Noise,
    },
    error::Result,
};

/// What goes wrong on a robot's radio: for any radio, simulated or emulated robots.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Faults of the air")]
pub struct RadioArguments {
    /// Share of frames that is lost, 0 to 1.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub drop_chance: f64,
    /// Mean length of a burst of lost frames on a link; 1 for losses that know nothing of each other.
    #[arg(long, value_name = "FRAMES", default_value_t = 1.0)]
    pub burst: f64,
    /// Share of frames in which anything from one bit to all of it is changed, 0 to 1.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub corrupt_chance: f64,
    /// Share of frames that arrive twice, 0 to 1.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub duplicate_chance: f64,
    /// Share of frames that arrive late, and by how many ticks at most, such as 0.2:5.
    #[arg(long, value_name = "SHARE:TICKS")]
    pub delay: Option<Delay>,
    /// Record what every robot hears and play it back over and over from this tick on.
    #[arg(long, value_name = "TICK")]
    pub replay: Option<u32>,
}

impl Default for RadioArguments {
    /// Nothing.
    fn default() -> Self {
        let (drop_chance, corrupt_chance, duplicate_chance) = (0.0, 0.0, 0.0);
        Self { drop_chance, burst: 1.0, corrupt_chance, duplicate_chance, delay: None, replay: None }
    }
}

impl RadioArguments {
    /// What was asked for.
    ///
    /// # Errors
    /// [`Error::Usage`] naming the option that cannot be.
    pub fn faults(&self) -> Result<RadioFaults> {
        let Delay { share: delay, ticks: latest } = self.delay.unwrap_or(Delay { share: 0.0, ticks: 0 });
        let faults = RadioFaults {
            loss: Loss { chance: self.drop_chance, burst: self.burst },
            corrupt: self.corrupt_chance,
            duplicate: self.duplicate_chance,
            delay,
            latest,
        };
        faults.check()?;
        Ok(faults)
    }
}

/// Everything that can go wrong in a flight, of simulated or emulated robots.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Faults of the air")]
pub struct FlightArguments {
    #[command(flatten)]
    radio: RadioArguments,
    /// Let everybody hear so many frames per exchange of somebody without the swarm's key.
    #[arg(long, value_name = "FRAMES", default_value_t = 0)]
    forge: u32,
    /// Take a robot out of the sky, such as 3@50: robot 3 before tick 50.
    #[arg(long, value_name = "ROBOT@TICK")]
    kill: Vec<Moment>,
    /// Switch a robot off and on again, such as 7@80.
    #[arg(long, value_name = "ROBOT@TICK")]
    reboot: Vec<Moment>,
    /// Put a robot out of radio contact, such as 5@20-60: from tick 20 up to tick 60.
    #[arg(long, value_name = "ROBOT@FROM-TO")]
    drop: Vec<Stretch>,
    /// Robots' clocks differ by up to so many ticks either way.
    #[arg(long, value_name = "TICKS", default_value_t = 0)]
    skew: u32,
    /// Nothing passes between two halves of the swarm, such as 50-150: from tick 50 up to tick 150.
    #[arg(long, value_name = "FROM-TO")]
    partition: Option<Partition>,
    /// Robots with the swarm's key that lie, about what, and which share of the swarm: STATE:0.1 or PARAMETERS:0.2; or
    /// SUBTLE:0.1, about their velocity and taps by just as much as is believed; or VELOCITY:0.1@0.5, about their velocity by
    /// 0.5 m/s per axis.
    #[arg(long, value_name = "STATE|PARAMETERS|SUBTLE|VELOCITY:SHARE[@M/S]")]
    liars: Option<Liars>,
    /// White noise on the position that a robot senses, as a standard deviation per axis and tick.
    #[arg(long, value_name = "METRES", default_value_t = 0.0)]
    position_noise: f32,
    /// White noise on the velocity that a robot senses, as a standard deviation per axis and tick.
    #[arg(long, value_name = "M/S", default_value_t = 0.0)]
    velocity_noise: f32,
}

impl FlightArguments {
    /// What was asked for, which may be nothing.
    ///
    /// # Errors
    /// [`Error::Usage`] naming the option that cannot be.
    pub fn faults(&self, robots: usize, seed: u64) -> Result<Faults> {
        let noise = Noise { position: self.position_noise, velocity: self.velocity_noise };
        let (kills, reboots, drops) = (self.kill.clone(), self.reboot.clone(), self.drop.clone());
        let faults = Faults {
            radio: self.radio.faults()?,
            replay: self.radio.replay,
            forge: self.forge,
            events: Events { kills, reboots, drops },
            skew: self.skew,
            partition: self.partition.clone().map(|Partition(ticks)| ticks),
            liars: self.liars,
            noise,
            seed,
            ..Faults::default()
        };
        faults.check(robots)?;
        Ok(faults)
    }

    /// The options as they are typed, each with a space in front.
    #[must_use]
    pub fn words(&self) -> String {
        let RadioArguments { drop_chance, burst, corrupt_chance, duplicate_chance, delay, replay } =
            &self.radio;
        let mut words = String::new();
        let mut say = |option: &str, value: Option<String>| {
            if let Some(value) = value {
                words.extend([" --", option, " ", &value]);
            }
        };
        let number = |value: f64, nothing: f64| (value != nothing).then(|| value.to_string());
        say("drop-chance", number(*drop_chance, 0.0));
        say("burst", number(*burst, 1.0));
        say("corrupt-chance", number(*corrupt_chance, 0.0));
        say("duplicate-chance", number(*duplicate_chance, 0.0));
        say("delay", delay.map(|delay| format!("{}:{}", delay.share, delay.ticks)));
        say("replay", replay.map(|tick| tick.to_string()));
        say("forge", number(self.forge.into(), 0.0));
        let moment = |moment: &Moment| Some(format!("{}@{}", moment.robot, moment.tick));
        self.kill.iter().for_each(|kill| say("kill", moment(kill)));
        self.reboot.iter().for_each(|reboot| say("reboot", moment(reboot)));
        let stretch = |stretch: &Stretch| Some(format!("{}@{}-{}", stretch.robot, stretch.from, stretch.to));
        self.drop.iter().for_each(|drop| say("drop", stretch(drop)));
        say("skew", number(self.skew.into(), 0.0));
        let partition = self.partition.as_ref();
        say("partition", partition.map(|Partition(ticks)| format!("{}-{}", ticks.start, ticks.end)));
        say("liars", self.liars.map(|liars| liars.words()));
        say("position-noise", (self.position_noise != 0.0).then(|| self.position_noise.to_string()));
        say("velocity-noise", (self.velocity_noise != 0.0).then(|| self.velocity_noise.to_string()));
        words
    }
}

/// Everything that can go wrong in a simulated flight, and whom robots believe in it.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Faults of the air")]
pub struct FaultArguments {
    #[command(flatten)]
    flight: FlightArguments,
    /// Fly with plain averaging and believe everybody, as the paper does.
    #[arg(long)]
    plain: bool,
}

impl FaultArguments {
    /// What was asked for, or `None` when nothing was.
    ///
    /// # Errors
    /// [`Error::Usage`] naming the option that cannot be.
    pub fn faults(&self, robots: usize, seed: u64) -> Result<Option<Faults>> {
        let trust = if self.plain { Trust::Plain } else { Trust::Robust };
        let faults = Faults { trust, ..self.flight.faults(robots, seed)? };
        Ok((faults != Faults { seed, ..Faults::default() }).then_some(faults))
    }

    /// The options as they are typed, each with a space in front.
    #[must_use]
    pub fn words(&self) -> String {
        self.flight.words() + if self.plain { " --plain" } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_cannot_be_are_told() {
        let loud = RadioArguments { drop_chance: 1.5, ..RadioArguments::default() };
        assert!(loud.faults().unwrap_err().to_string().contains("--drop-chance 1.5"));
        let short = RadioArguments { burst: 0.5, ..RadioArguments::default() };
        assert!(short.faults().unwrap_err().to_string().contains("--burst 0.5"));
    }

    #[test]
    fn options_are_said_as_they_are_typed() {
        use clap::Parser;

        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            faults: FaultArguments,
        }
        let typed = "line --drop-chance 0.3 --burst 5 --corrupt-chance 0.1 --duplicate-chance 0.2 --delay 0.2:5 --replay 100 --forge 9 \
                     --kill 3@50 --kill 4@60 --reboot 7@80 --drop 5@20-60 --skew 1 --partition 50-150 --liars VELOCITY:0.1@0.5 --position-noise 0.1 --velocity-noise 0.2 --plain";
        let words = Line::parse_from(typed.split_whitespace()).faults.words();
        assert_eq!(format!("line{words}"), typed.split_whitespace().collect::<Vec<_>>().join(" "));
        assert_eq!(Line::parse_from(["line"]).faults.words(), "");
    }

    #[test]
    fn noise_that_cannot_be_is_told() {
        for noise in [-0.1, f32::NAN, f32::INFINITY] {
            let flight = FlightArguments { position_noise: noise, ..FlightArguments::default() };
            assert!(flight.faults(5, 7).unwrap_err().to_string().contains("--position-noise"), "{noise}");
        }
    }

    #[test]
    fn nothing_asked_for_is_no_fault() {
        let nothing = FaultArguments::default();
        assert_eq!(nothing.faults(5, 7).unwrap(), None);
        let radio = RadioArguments { drop_chance: 0.1, ..RadioArguments::default() };
        let flight = FlightArguments { radio, ..FlightArguments::default() };
        assert!(FaultArguments { flight, plain: false }.faults(5, 7).unwrap().is_some());
        let nobody = FlightArguments { kill: vec![Moment { robot: 5, tick: 1 }], ..Default::default() };
        assert!(nobody.faults(5, 7).unwrap_err().to_string().contains("there is no robot 5"));
    }
}
