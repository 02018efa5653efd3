//! Faults of a flight: the one declaration of every fault, its key, range and description.
//!
//! The command line (`--fault KEY=VALUE`), scenario files, Python and the table of faults read [`FAULTS`]. A new fault is a
//! field of [`Faults`] with an entry in [`FAULTS`], and the file that implements it.

use std::{ops::Range, str::FromStr};

use super::{
    clocks::ClockFaults,
    events::Events,
    fault_value::FaultField,
    faulty_link::RadioFaults,
    limits::{
        ATTACK_DELAY_TICKS, BURST_FRAMES, DRIFT_PPM, FORGED_FRAMES, NOISE, SATURATION, SKEW_TICKS,
        SYBIL_NAMES,
    },
    motors::DriveFaults,
    sensors::SenseFaults,
    shares::{share, share_at},
};
use crate::{
    error::{Error, Result as SimResult},
    option_range::OptionRange,
};

/// Default distance of invented robots from the victim in m.
pub const BESIDE_METRES: f32 = 0.5;

/// Trust among robots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Robust settings: [`RobotConfig::robust`](wdgnn_robot::config::RobotConfig::robust).
    Robust,
    /// Trust in all robots, with the model's learning rule.
    AsTrained,
    /// Trust in all robots, with the paper's averaging: [`RobotConfig::plain`](wdgnn_robot::config::RobotConfig::plain).
    Plain,
}

/// Faults of an episode.
#[derive(Clone, Debug, PartialEq)]
pub struct Faults {
    /// Faults of received frames.
    pub radio: RadioFaults,
    /// First tick of a replay attack.
    pub replay: Option<u32>,
    /// Forged frames per exchange.
    pub forge: u32,
    /// Events of single robots.
    pub events: Events,
    /// Largest constant clock difference in ticks.
    pub skew: u32,
    /// Ticks of a network partition.
    pub partition: Option<Range<u32>>,
    /// Lying insiders.
    pub liars: Option<Liars>,
    /// Sensor faults.
    pub senses: SenseFaults,
    /// Actuator faults.
    pub drives: DriveFaults,
    /// Clock faults in flight.
    pub clocks: ClockFaults,
    /// Share of link directions without frames.
    pub one_way: f64,
    /// Whether overlapping frames are lost.
    pub collisions: bool,
    /// Bursts of interference.
    pub interference: Option<Bursts>,
    /// Tick of a spoofing attack by an insider.
    pub spoof: Option<u32>,
    /// Number of robots that an insider invents.
    pub sybil: u32,
    /// Distance of the invented robots from the victim in m; `None` for [`BESIDE_METRES`].
    pub sybil_at: Option<f32>,
    /// First tick of a key update, and tick from which on the key is used.
    pub rekey: Option<Range<u32>>,
    /// Whether robots authenticate each other pairwise.
    pub proofs: bool,
    /// Robots excluded from the key update.
    pub expelled: Vec<usize>,
    /// Robots that start in flight.
    pub join: Option<Join>,
    /// Share of robots with another model.
    pub other_models: f64,
    /// Trust among robots.
    pub trust: Trust,
    /// Seed of all faults.
    pub seed: u64,
}

impl Default for Faults {
    /// Encoded frames without faults.
    fn default() -> Self {
        Self {
            radio: RadioFaults::NONE,
            replay: None,
            forge: 0,
            events: Events::default(),
            skew: 0,
            partition: None,
            liars: None,
            senses: SenseFaults::default(),
            drives: DriveFaults::default(),
            clocks: ClockFaults::default(),
            one_way: 0.0,
            collisions: false,
            interference: None,
            spoof: None,
            sybil: 0,
            sybil_at: None,
            rekey: None,
            proofs: false,
            expelled: Vec::new(),
            join: None,
            other_models: 0.0,
            trust: Trust::Robust,
            seed: 0,
        }
    }
}

/// Declaration of a fault.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "functions")]
pub struct Fault {
    /// Key on the command line, in scenario files and, with underscores, in Python.
    pub key: &'static str,
    /// Form of the value, such as `SHARE@TICK`.
    pub form: &'static str,
    /// Heading in lists of faults.
    pub group: &'static str,
    /// Description in one or two sentences.
    pub description: &'static str,
    /// Range of a numeric value.
    pub range: Option<OptionRange>,
    field: fn(&Faults) -> &dyn FaultField,
    field_mut: fn(&mut Faults) -> &mut dyn FaultField,
}

impl Fault {
    /// Value in `faults` as text; `None` for the default.
    pub fn value(&self, faults: &Faults) -> Option<String> {
        let text = (self.field)(faults).text();
        (text != (self.field)(&Faults::default()).text()).then_some(text)
    }

    /// Default value as text; empty for none.
    pub fn default(&self) -> String {
        (self.field)(&Faults::default()).text()
    }

    /// Replaces the value in `faults`. A list is extended.
    pub fn set(&self, faults: &mut Faults, text: &str) -> SimResult {
        (self.field_mut)(faults).read(text, self.range).map_err(|constraint| {
            Error::usage(format!("--fault {} must be {constraint}, got {text}", self.key))
        })
    }

    /// Robots that the value names.
    pub(super) fn robots(&self, faults: &Faults) -> Vec<usize> {
        let text = (self.field)(faults).text();
        let single =
            text.split(',').filter(|_| self.form == "ROBOT,…").filter_map(|robot| robot.parse().ok());
        single.chain((self.field)(faults).robots()).collect()
    }

    /// Ticks at which the fault begins.
    pub(super) fn ticks(&self, faults: &Faults) -> Vec<u32> {
        let text = (self.field)(faults).text();
        let single = text.parse().ok().filter(|_| self.form == "TICK");
        single.into_iter().chain((self.field)(faults).ticks()).collect()
    }
}

/// Declares faults: description, key, form of the value, field, and the range of a number.
macro_rules! faults {
    ($($group:literal { $($(#[doc = $doc:literal])+ $key:literal $form:literal: $($field:ident).+ $(in $range:expr)?;)+ })+) => {
        &[$($(Fault {
            key: $key,
            form: $form,
            group: $group,
            description: concat!($($doc),+),
            range: faults!(@range $($range)?),
            field: |faults| &faults.$($field).+,
            field_mut: |faults| &mut faults.$($field).+,
        }),+),+]
    };
    (@range) => { None };
    (@range $range:expr) => { Some($range) };
}

/// All faults.
pub const FAULTS: &[Fault] = faults! {
    "Radio" {
        /// Share of frames lost.
        "drop-chance" "SHARE": radio.loss.chance in OptionRange::SHARE;
        /// Mean length of a burst of lost frames on a link; 1 for independent losses. Needs drop-chance.
        "burst" "FRAMES": radio.loss.burst in BURST_FRAMES;
        /// Share of frames with one to all bits changed.
        "corrupt-chance" "SHARE": radio.corrupt in OptionRange::SHARE;
        /// Share of frames that arrive twice.
        "duplicate-chance" "SHARE": radio.duplicate in OptionRange::SHARE;
        /// Share of frames that arrive late, by at most TICKS.
        "delay" "SHARE:TICKS": radio.delay;
        /// Share of link directions that carry no frame during the whole flight.
        "one-way" "SHARE": one_way in OptionRange::SHARE;
        /// Lose frames that overlap at a receiver, by the airtime of the profile's radio. Robots listen before they send,
        /// but not all of them hear each other.
        "collisions" "true": collisions;
        /// Share of the time in which no robot receives, in bursts of TICKS on average.
        "interference" "SHARE:TICKS": interference;
        /// Ticks during which no frame passes between two halves of the swarm.
        "partition" "FROM-TO": partition;
    }
    "Single robots" {
        /// Remove ROBOT from the flight before TICK.
        "kill" "ROBOT@TICK,…": events.kills;
        /// Restart ROBOT before TICK.
        "reboot" "ROBOT@TICK,…": events.reboots;
        /// Interrupt ROBOT's power while it writes its state to flash, and restart it.
        "brown-out" "ROBOT@TICK,…": events.brown_outs;
        /// Disconnect ROBOT's radio in these ticks.
        "radio-outage" "ROBOT@FROM-TO,…": events.drops;
        /// Share of robots that start at TICK. Until then they fly straight on.
        "join" "SHARE@TICK": join;
        /// Share of robots that run another model of the task; flocking has one. Not for emulated robots.
        "mixed-models" "SHARE": other_models in OptionRange::SHARE;
    }
    "Sensors, motors and clocks" {
        /// Standard deviation of the white noise on sensed positions in m, per axis and tick.
        "position-noise" "METERS": senses.noise.position in NOISE;
        /// Standard deviation of the white noise on sensed velocities in m/s, per axis and tick.
        "velocity-noise" "M/S": senses.noise.velocity in NOISE;
        /// Standard deviation of the constant error of sensed positions in m, per axis over robots.
        "position-bias" "METERS": senses.bias.position in NOISE;
        /// Standard deviation of the constant error of sensed velocities in m/s, per axis over robots.
        "velocity-bias" "M/S": senses.bias.velocity in NOISE;
        /// Heading error of a share of robots, to either side: rotates sensed velocities and commands.
        "heading-error" "DEGREES:SHARE": senses.heading;
        /// Share of sensors that fail at TICK: frozen ones repeat the last value, lost ones return none.
        "sensor" "frozen|lost:SHARE@TICK": senses.sensor;
        /// Share of motors that fail at TICK [0]: stuck ones repeat the last command, dead ones do nothing, weak ones give
        /// 40 % thrust.
        "motor" "stuck|dead|weak:SHARE[@TICK]": drives.motor;
        /// Largest acceleration of all motors in m/s², per axis.
        "saturation" "M/S2": drives.saturation in SATURATION;
        /// Largest constant difference between a robot's clock and the true time, in ticks.
        "skew" "TICKS": skew in SKEW_TICKS;
        /// Largest rate error of clocks in parts per million. Robots synchronize their clocks by received frames.
        "drift" "PPM": clocks.drift in DRIFT_PPM;
        /// Change ROBOT's clock by TICKS, possibly negative, at TICK.
        "time-jump" "ROBOT@TICK:TICKS,…": clocks.jumps;
        /// Share of ticks that a busy robot misses. Its motors hold the last command.
        "missed-ticks" "SHARE": clocks.skip in OptionRange::SHARE;
    }
    "Attacks" {
        /// Replay all recorded frames from TICK on.
        "replay" "TICK": replay;
        /// Frames with a wrong key per exchange that every robot receives.
        "forge" "FRAMES": forge in FORGED_FRAMES;
        /// Delay of every frame by an attacker without the key.
        "attack-delay" "TICKS": radio.hold_back in ATTACK_DELAY_TICKS;
        /// Share of insiders that lie: about their state, their parameters, as far as believed about velocity and taps
        /// (SUBTLE), or by a speed per axis (VELOCITY:SHARE@M/S).
        "liars" "STATE|PARAMETERS|SUBTLE|VELOCITY:SHARE[@M/S]": liars;
        /// At TICK, one insider sends a frame in the name of each robot, with the highest boot count and the newest
        /// acceptable sequence number.
        "spoof" "TICK": spoof;
        /// Number of invented robots around the robot that is nearest to one insider at the start.
        "sybil" "NAMES": sybil in SYBIL_NAMES;
        /// Distance of the invented robots from that robot in m [0.5]. Needs sybil.
        "sybil-distance" "METERS": sybil_at in NOISE;
        /// Have robots authenticate each other with pairwise keys. Robots without proof count as obstacles only.
        "peer-auth" "true": proofs;
        /// Distribute a new group key from tick FROM, for use from tick AT.
        "rekey" "FROM-AT": rekey;
        /// Captured robot that receives no new key. Needs rekey.
        "expel" "ROBOT,…": expelled;
    }
};

impl Faults {
    /// Parses settings such as `drop-chance=0.3 kill=3@50,4@60`.
    pub fn parse(settings: &str) -> SimResult<Self> {
        let mut faults = Self::default();
        settings.split_whitespace().try_for_each(|setting| faults.set(setting))?;
        Ok(faults)
    }

    /// Applies one setting, such as `drop-chance=0.3`. A key without a value means `true`.
    pub fn set(&mut self, setting: &str) -> SimResult {
        let (key, value) = setting.split_once('=').unwrap_or((setting, "true"));
        Fault::named(key)?.set(self, value)
    }

    /// Settings that [`Faults::parse`] turns into these faults, except for seed and trust.
    pub fn settings(&self) -> String {
        let settings =
            FAULTS.iter().filter_map(|fault| Some(format!("{}={}", fault.key, fault.value(self)?)));
        settings.collect::<Vec<_>>().join(" ")
    }
}

impl Fault {
    /// Returns the fault with this key.
    pub fn named(key: &str) -> SimResult<&'static Self> {
        FAULTS.iter().find(|fault| fault.key == key).ok_or_else(|| {
            let keys: Vec<&str> = FAULTS.iter().map(|fault| fault.key).collect();
            Error::usage(format!("there is no fault {key}: use {}", keys.join(", ")))
        })
    }
}

/// Delay of a share of frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delay {
    /// Share of delayed frames.
    pub share: f64,
    /// Largest delay in ticks.
    pub ticks: u32,
}

impl FromStr for Delay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text
            .split_once(':')
            .and_then(|(part, ticks)| Some(Self { share: share(part)?, ticks: ticks.parse().ok()? }));
        let delay = parsed.filter(|delay| delay.ticks > 0);
        delay.ok_or_else(|| "SHARE:TICKS with a share between 0 and 1, such as 0.2:5".into())
    }
}

/// Bursts over a share of the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bursts {
    /// Share of the time.
    pub share: f64,
    /// Mean length of a burst in ticks.
    pub ticks: u32,
}

impl FromStr for Bursts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Delay { share, ticks } = text.parse()?;
        Ok(Self { share, ticks })
    }
}

/// Robots that start in flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Join {
    /// Share of the swarm.
    pub share: f64,
    /// Tick before which they start.
    pub tick: u32,
}

impl FromStr for Join {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let join = share_at(text).map(|(share, tick)| Self { share, tick });
        join.ok_or_else(|| "SHARE@TICK with a share between 0 and 1, such as 0.2@100".into())
    }
}

/// Subject of a lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum About {
    /// Position, velocity or taps.
    State,
    /// Wide parameters.
    Parameters,
    /// Velocity or taps, within the accepted range.
    Subtle,
    /// Velocity, by a speed per axis in m/s.
    Velocity(f32),
}

impl About {
    const ALL: [Self; 3] = [Self::State, Self::Parameters, Self::Subtle];

    /// Returns the name in settings.
    fn name(self) -> &'static str {
        match self {
            Self::State => "STATE",
            Self::Parameters => "PARAMETERS",
            Self::Subtle => "SUBTLE",
            Self::Velocity(_) => "VELOCITY",
        }
    }
}

/// Lying insiders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Liars {
    /// Subject.
    pub about: About,
    /// Share of the swarm.
    pub share: f64,
}

impl Liars {
    /// Returns the text form.
    pub fn words(&self) -> String {
        let speed = if let About::Velocity(speed) = self.about { format!("@{speed}") } else { String::new() };
        format!("{}:{}{speed}", self.about.name(), self.share)
    }
}

impl FromStr for Liars {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once(':').and_then(|(about, share)| {
            if about.eq_ignore_ascii_case("VELOCITY") {
                let (share, speed) = share.split_once('@')?;
                let speed = speed.parse().ok().filter(|speed: &f32| speed.is_finite())?;
                return Some(Self { about: About::Velocity(speed), share: share.parse().ok()? });
            }
            let about = About::ALL.into_iter().find(|one| one.name().eq_ignore_ascii_case(about))?;
            Some(Self { about, share: share.parse().ok()? })
        });
        let liars = parsed.filter(|liars| (0.0..=1.0).contains(&liars.share));
        liars.ok_or_else(|| {
            "STATE:SHARE, PARAMETERS:SHARE, SUBTLE:SHARE or VELOCITY:SHARE@M/S with a share between 0 and 1, such as STATE:0.1"
                .into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_parsed() {
        assert_eq!("0.2:5".parse(), Ok(Delay { share: 0.2, ticks: 5 }));
        assert_eq!("state:0.1".parse(), Ok(Liars { about: About::State, share: 0.1 }));
        assert_eq!("0.1:3".parse(), Ok(Bursts { share: 0.1, ticks: 3 }));
        assert_eq!("0.2@100".parse(), Ok(Join { share: 0.2, tick: 100 }));
        assert_eq!("PARAMETERS:0.2".parse(), Ok(Liars { about: About::Parameters, share: 0.2 }));
    }

    #[test]
    fn invalid_values_are_rejected() {
        for bad in ["", "0.2", "2:5", "0.2:0", "0.2:x"] {
            assert!(bad.parse::<Delay>().unwrap_err().contains("SHARE:TICKS"), "{bad}");
        }
        for bad in ["", "0.2", "2@5", "0.2@x"] {
            assert!(bad.parse::<Join>().unwrap_err().contains("SHARE@TICK"), "{bad}");
        }
        for bad in ["VELOCITY:0.1", "VELOCITY:0.1@x", "VELOCITY:2@1", "STATE", "STATE:2", "TASTE:0.1", ":0.1"]
        {
            assert!(bad.parse::<Liars>().is_err(), "{bad}");
        }
    }

    const ALL: &str = "drop-chance=0.3 burst=5 corrupt-chance=0.1 duplicate-chance=0.2 delay=0.2:5 one-way=0.3 \
                       collisions=true interference=0.1:3 partition=50-150 kill=3@50,4@60 reboot=7@80 brown-out=8@90 \
                       radio-outage=5@20-60 join=0.2@100 mixed-models=0.5 position-noise=0.1 velocity-noise=0.2 \
                       position-bias=0.3 velocity-bias=0.4 heading-error=30:0.2 sensor=frozen:0.1@50 \
                       motor=stuck:0.1@20 saturation=3 skew=1 drift=100 time-jump=3@50:-40 missed-ticks=0.1 replay=100 \
                       forge=9 attack-delay=5 liars=VELOCITY:0.1@0.5 spoof=60 sybil=16 sybil-distance=0.1 \
                       peer-auth=true rekey=50-150 expel=3";

    fn refused(settings: &str) -> String {
        Faults::parse(settings).and_then(|faults| faults.check(5, 200)).unwrap_err().to_string()
    }

    #[test]
    fn every_fault_has_a_text_form() {
        let all = ALL.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(Faults::parse(ALL).unwrap().settings(), all);
        assert_eq!(all.split(' ').count(), FAULTS.len());
        assert_eq!(Faults::default().settings(), "");
        assert_eq!(Faults::parse("kill=3@50 kill=4@60").unwrap().settings(), "kill=3@50,4@60");
        assert_eq!(Faults::parse("collisions").unwrap().settings(), "collisions=true");
        for fault in FAULTS {
            assert!(fault.description.trim().ends_with('.'), "{}", fault.key);
        }
    }

    #[test]
    fn robots_and_ticks_outside_the_flight_are_refused() {
        for settings in ["kill=5@1", "time-jump=5@1:3", "brown-out=5@1", "rekey=50-150 expel=5"] {
            assert!(refused(settings).contains("names robot 5: the robots are 0 to 4"), "{settings}");
        }
        for settings in [
            "kill=3@5000",
            "replay=5000",
            "spoof=5000",
            "partition=5000-6000",
            "join=0.2@5000",
            "sensor=lost:0.1@5000",
            "motor=dead:0.1@5000",
            "rekey=50-5000",
        ] {
            assert!(refused(settings).contains("names tick 5000: the last tick"), "{settings}");
        }
        assert!(refused("rekey=50-150 liars=STATE:0.1").contains("--fault liars"));
    }

    #[test]
    fn values_out_of_range_are_refused_with_key_constraint_and_value() {
        for setting in ["drop-chance=1.5", "burst=0.5", "one-way=NaN", "missed-ticks=1.5", "forge=99999999"] {
            let (key, value) = setting.split_once('=').unwrap();
            let message = refused(setting);
            let (start, end) = (format!("--fault {key} must be a "), format!(", got {value}"));
            assert!(message.starts_with(&start) && message.ends_with(&end), "{message}");
        }
        for noise in ["-0.1", "NaN", "inf"] {
            assert!(
                refused(&format!("position-noise={noise}")).contains("a number between 0 and 100"),
                "{noise}"
            );
        }
        assert_eq!(
            refused("drift=1000000"),
            "--fault drift must be a number between 0 and 100000, got 1000000"
        );
        assert_eq!(
            refused("delay=x"),
            "--fault delay must be SHARE:TICKS with a share between 0 and 1, such as 0.2:5, got x"
        );
        assert!(refused("gremlins=1").starts_with("there is no fault gremlins: use drop-chance, "));
    }
}
