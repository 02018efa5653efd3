//! Faults of a flight: the one declaration of every fault, its key, value, range and description.
//!
//! The command line (`--fault KEY=VALUE`), scenario files, Python and the table of faults read
//! [`FAULTS`]. A new fault is an entry of `faults!` and the file that implements it.

use std::ops::Range;

use super::{
    clocks::Jump,
    events::{RobotInterval, RobotTick},
    fault_value::{FaultField, ShareAt, ShareTicks},
    heading::HeadingError,
    insider::Liars,
    motors::MotorFault,
    sensors::SensorFault,
};
use crate::{
    error::{Error, Result},
    option_range::OptionRange,
};

/// Share of robots, frames or time.
const SHARE: OptionRange = OptionRange::SHARE;
/// Noise and bias of a sensor, and distances, in meters and m/s.
const NOISE: OptionRange = OptionRange::real(0.0, 100.0);

/// Trust among robots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Robust settings: [`RobotConfig::robust`](wdgnn_robot::config::RobotConfig::robust).
    #[default]
    Robust,
    /// Trust in all robots, with the model's learning rule.
    AsTrained,
    /// Trust in all robots, with the paper's averaging.
    Plain,
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

/// Declares faults: description, field, its type and default, form of the value, and range.
macro_rules! faults {
    ($($group:literal {
        $($(#[doc = $doc:literal])+ $field:ident: $type:ty $(= $default:literal)?, $form:literal $(, $range:expr)?;)+
    })+) => {
        /// Faults of an episode. A field has the name of its key, with underscores.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Faults {
            $($($(#[doc = $doc])+ pub $field: $type,)+)+
            /// Trust among robots.
            pub trust: Trust,
            /// Seed of all faults.
            pub seed: u64,
        }

        impl Default for Faults {
            /// Encoded frames without faults.
            fn default() -> Self {
                Self {
                    $($($field: faults!(@or_default $($default)?),)+)+
                    trust: Trust::default(),
                    seed: 0,
                }
            }
        }

        /// All faults.
        pub const FAULTS: &[Fault] = &[$($(Fault {
            key: {
                const KEY: [u8; stringify!($field).len()] = with_dashes(stringify!($field));
                match str::from_utf8(&KEY) {
                    Ok(key) => key,
                    Err(_) => stringify!($field),
                }
            },
            form: $form,
            group: $group,
            description: concat!($($doc),+),
            range: faults!(@range $($range)?),
            field: |faults| &faults.$field,
            field_mut: |faults| &mut faults.$field,
        }),+),+];
    };
    (@or_default) => { Default::default() };
    (@or_default $default:literal) => { $default };
    (@range) => { None };
    (@range $range:expr) => { Some($range) };
}

/// Returns the bytes of a field's name with dashes for underscores.
const fn with_dashes<const N: usize>(name: &str) -> [u8; N] {
    let mut bytes = [0; N];
    let mut place = 0;
    while place < N {
        let byte = name.as_bytes()[place];
        bytes[place] = if byte == b'_' { b'-' } else { byte };
        place += 1;
    }
    bytes
}

faults! {
    "Radio" {
        /// Share of frames lost.
        drop_chance: f64, "SHARE", SHARE;
        /// Mean length of a burst of lost frames on a link; 1 for independent losses. Needs drop-
        /// chance.
        burst: f64 = 1.0, "FRAMES", OptionRange::real(1.0, 1.0e6);
        /// Share of frames with one to all bits changed.
        corrupt_chance: f64, "SHARE", SHARE;
        /// Share of frames that arrive twice.
        duplicate_chance: f64, "SHARE", SHARE;
        /// Share of frames that arrive late, by at most TICKS.
        delay: Option<ShareTicks>, "SHARE:TICKS";
        /// Share of link directions that carry no frame during the whole flight.
        one_way: f64, "SHARE", SHARE;
        /// Lose frames that overlap at a receiver, by the airtime of the profile's radio. Robots
        /// listen before they send, but not all of them hear each other.
        collisions: bool, "true";
        /// Share of the time in which no robot receives, in bursts of TICKS on average.
        interference: Option<ShareTicks>, "SHARE:TICKS";
        /// Ticks during which no frame passes between two halves of the swarm.
        partition: Option<Range<u32>>, "FROM-TO";
    }
    "Single robots" {
        /// Remove ROBOT from the flight before TICK.
        kill: Vec<RobotTick>, "ROBOT@TICK,…";
        /// Restart ROBOT before TICK.
        reboot: Vec<RobotTick>, "ROBOT@TICK,…";
        /// Interrupt ROBOT's power while it writes its state to flash, and restart it.
        brown_out: Vec<RobotTick>, "ROBOT@TICK,…";
        /// Disconnect ROBOT's radio in these ticks.
        radio_outage: Vec<RobotInterval>, "ROBOT@FROM-TO,…";
        /// Share of robots that start at TICK. Until then they fly straight on.
        join: Option<ShareAt>, "SHARE@TICK";
        /// Share of robots that run another model of the task; flocking has one. Not for emulated
        /// robots.
        mixed_models: f64, "SHARE", SHARE;
    }
    "Sensors, motors and clocks" {
        /// Standard deviation of the white noise on sensed positions in m, per axis and tick.
        position_noise: f32, "METERS", NOISE;
        /// Standard deviation of the white noise on sensed velocities in m/s, per axis and tick.
        velocity_noise: f32, "M/S", NOISE;
        /// Standard deviation of the constant error of sensed positions in m, per axis over robots.
        position_bias: f32, "METERS", NOISE;
        /// Standard deviation of the constant error of sensed velocities in m/s, per axis over
        /// robots.
        velocity_bias: f32, "M/S", NOISE;
        /// Heading error of a share of robots, to either side: rotates sensed velocities and
        /// commands.
        heading_error: Option<HeadingError>, "DEGREES:SHARE";
        /// Share of sensors that fail at TICK: frozen ones repeat the last value, lost ones return
        /// none.
        sensor: Option<SensorFault>, "frozen|lost:SHARE@TICK";
        /// Share of motors that fail at TICK, or at the start: stuck ones repeat the last command,
        /// dead ones do nothing, weak ones give 40 % thrust.
        motor: Option<MotorFault>, "stuck|dead|weak:SHARE[@TICK]";
        /// Largest acceleration of all motors in m/s², per axis.
        saturation: Option<f32>, "M/S2", OptionRange::above(0.0, 1000.0);
        /// Largest constant difference between a robot's clock and the true time, in ticks.
        skew: u32, "TICKS", OptionRange::whole(0, 10_000);
        /// Largest rate error of clocks in parts per million. Robots synchronize their clocks by
        /// received frames.
        drift: f64, "PPM", OptionRange::real(0.0, 100_000.0);
        /// Change ROBOT's clock by TICKS, possibly negative, at TICK.
        time_jump: Vec<Jump>, "ROBOT@TICK:TICKS,…";
        /// Share of ticks that a busy robot misses. Its motors hold the last command.
        missed_ticks: f64, "SHARE", SHARE;
    }
    "Attacks" {
        /// Replay all recorded frames from TICK on.
        replay: Option<u32>, "TICK";
        /// Frames with a wrong key per exchange that every robot receives.
        forge: u32, "FRAMES", OptionRange::whole(0, 10_000);
        /// Delay of every frame by an attacker without the key.
        attack_delay: u32, "TICKS", OptionRange::whole(0, 10_000);
        /// Share of insiders that lie: about their state, their parameters, as far as believed
        /// about velocity and taps (SUBTLE), or by a speed per axis (VELOCITY:SHARE@M/S).
        liars: Option<Liars>, "STATE|PARAMETERS|SUBTLE|VELOCITY:SHARE[@M/S]";
        /// At TICK, one insider sends a frame in the name of each robot, with the highest boot
        /// count and the newest acceptable sequence number.
        spoof: Option<u32>, "TICK";
        /// Number of invented robots around the robot that is nearest to one insider at the start.
        sybil: u32, "NAMES", OptionRange::whole(0, 65_535);
        /// Distance of the invented robots from that robot in m [0.5]. Needs sybil.
        sybil_distance: Option<f32>, "METERS", NOISE;
        /// Have robots authenticate each other with pairwise keys. Robots without proof count as
        /// obstacles only.
        peer_auth: bool, "true";
        /// Distribute a new group key from tick FROM, for use from tick AT.
        rekey: Option<Range<u32>>, "FROM-AT";
        /// Captured robot that receives no new key. Needs rekey.
        expel: Vec<usize>, "ROBOT,…";
    }
}

impl Fault {
    /// Returns the fault with this key.
    pub fn named(key: &str) -> Result<&'static Self> {
        FAULTS.iter().find(|fault| fault.key == key).ok_or_else(|| {
            let keys: Vec<&str> = FAULTS.iter().map(|fault| fault.key).collect();
            Error::usage(format!("there is no fault {key}: use {}", keys.join(", ")))
        })
    }

    /// Value in `faults` as text; `None` for the default.
    pub fn value(&self, faults: &Faults) -> Option<String> {
        let text = (self.field)(faults).text();
        (text != self.default()).then_some(text)
    }

    /// Default value as text; empty for none.
    pub fn default(&self) -> String {
        (self.field)(&Faults::default()).text()
    }

    /// Replaces the value in `faults`. A list is extended.
    pub fn set(&self, faults: &mut Faults, text: &str) -> Result {
        (self.field_mut)(faults).read(text, self.range).map_err(|constraint| {
            Error::usage(format!("--fault {} must be {constraint}, got {text}", self.key))
        })
    }

    /// Robots that the value names.
    pub(super) fn robots(&self, faults: &Faults) -> Vec<usize> {
        (self.field)(faults).robots()
    }

    /// Ticks at which the fault begins.
    pub(super) fn ticks(&self, faults: &Faults) -> Vec<u32> {
        (self.field)(faults).ticks()
    }
}

impl Faults {
    /// Parses settings such as `drop-chance=0.3 kill=3@50,4@60`.
    pub fn parse(settings: &str) -> Result<Self> {
        let mut faults = Self::default();
        settings.split_whitespace().try_for_each(|setting| faults.set(setting))?;
        Ok(faults)
    }

    /// Applies one setting, such as `drop-chance=0.3`. A key without a value means `true`.
    pub fn set(&mut self, setting: &str) -> Result {
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn invalid_values_are_refused_with_their_form() {
        for (form, values) in [
            ("SHARE:TICKS", &["delay=0.2", "delay=2:5", "delay=0.2:0", "interference=0.2:x"][..]),
            ("SHARE@TICK", &["join=", "join=0.2", "join=2@5", "join=0.2@x"]),
            ("ROBOT@TICK,", &["kill=3", "kill=@5", "kill=3@", "reboot=x@5", "brown-out=3@-1"]),
            ("ROBOT@FROM-TO", &["radio-outage=3@5", "radio-outage=3@9-5", "radio-outage=3@5-5"]),
            ("ROBOT@TICK:TICKS", &["time-jump=3@50", "time-jump=3:40", "time-jump=x@50:1"]),
            ("STATE:SHARE", &["liars=STATE", "liars=STATE:2", "liars=TASTE:0.1", "liars=VELOCITY:2@1"]),
            (
                "frozen:0.1@50",
                &["sensor=frozen", "sensor=frozen:0.1", "sensor=lost:2@1", "sensor=gone:0.1@5"],
            ),
            ("stuck:0.1@50", &["motor=stuck:", "motor=stuck:2", "motor=loose:0.1", "motor=dead:0.1@x"]),
            ("30:0.2", &["heading-error=30", "heading-error=200:0.2", "heading-error=-5:0.1"]),
        ] {
            for value in values {
                assert!(refused(value).contains(form), "{value}: {}", refused(value));
            }
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
