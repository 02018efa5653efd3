//! What goes wrong in a flight, as it is typed.

use std::{ops::Range, str::FromStr};

use super::{
    clocks::ClockFaults,
    events::Events,
    faulty_link::RadioFaults,
    motors::DriveFaults,
    sensors::SenseFaults,
    shares::{share, share_at},
};

/// How far from the victim invented robots are, in meters, unless another distance is given.
pub const BESIDE_METRES: f32 = 0.5;

/// Whom robots believe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Whoever bears itself out, and nobody too much: [`Behavior::robust`](wdgnn_robot::Behavior::robust).
    Robust,
    /// Everybody, with the model's own learning rule.
    AsTrained,
    /// Everybody, averaged as in the paper: [`Behavior::plain`](wdgnn_robot::Behavior::plain).
    Plain,
}

/// Everything that goes wrong in a flight.
#[derive(Clone, Debug, PartialEq)]
pub struct Faults {
    /// What happens to frames.
    pub radio: RadioFaults,
    /// From which tick on a recording is played.
    pub replay: Option<u32>,
    /// Frames with a wrong key per exchange.
    pub forge: u32,
    /// What is done to single robots.
    pub events: Events,
    /// Ticks by which clocks differ.
    pub skew: u32,
    /// When the swarm is cut in two.
    pub partition: Option<Range<u32>>,
    /// Who lies.
    pub liars: Option<Liars>,
    /// What is wrong with sensors.
    pub senses: SenseFaults,
    /// What is wrong with motors.
    pub drives: DriveFaults,
    /// What is wrong with clocks, besides that they differ.
    pub clocks: ClockFaults,
    /// The share of directions in which links carry nothing.
    pub one_way: f64,
    /// Whether frames that overlap are lost.
    pub collisions: bool,
    /// When everybody is deaf.
    pub interference: Option<Bursts>,
    /// From which tick on an insider speaks in everybody's name.
    pub spoof: Option<u32>,
    /// In how many invented names an insider speaks.
    pub sybil: u32,
    /// Distance of the invented robots from the victim in meters; [`BESIDE_METRES`] where it is `None`.
    pub sybil_at: Option<f32>,
    /// From which tick on the operator brings a new key, and from which on it is used.
    pub rekey: Option<Range<u32>>,
    /// Whether names have to be proven between pairs of robots.
    pub proofs: bool,
    /// Who gets none.
    pub expelled: Vec<usize>,
    /// Who is switched on in flight.
    pub join: Option<Join>,
    /// The share of robots with another model.
    pub other_models: f64,
    /// Whom robots believe.
    pub trust: Trust,
    /// The seed of all that.
    pub seed: u64,
}

impl Default for Faults {
    /// An air that is there, byte by byte, and harms nothing.
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

/// A share of frames, and ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delay {
    /// The share that is late.
    pub share: f64,
    /// By how much at most.
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

/// A share of the time, in bursts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bursts {
    /// The share.
    pub share: f64,
    /// The mean length of a burst in ticks.
    pub ticks: u32,
}

impl FromStr for Bursts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Delay { share, ticks } = text.parse()?;
        Ok(Self { share, ticks })
    }
}

/// Robots that are switched on in flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Join {
    /// Which share of the swarm.
    pub share: f64,
    /// Before which tick.
    pub tick: u32,
}

impl FromStr for Join {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let join = share_at(text).map(|(share, tick)| Self { share, tick });
        join.ok_or_else(|| "SHARE@TICK with a share between 0 and 1, such as 0.2@100".into())
    }
}

/// A stretch of ticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition(pub Range<u32>);

impl FromStr for Partition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('-').and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
        let ticks = parsed.filter(|ticks: &Range<u32>| !ticks.is_empty());
        ticks.map(Self).ok_or_else(|| "FROM-TO in ticks, such as 50-150".into())
    }
}

/// What liars lie about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum About {
    /// Where they are, how they move, or their taps.
    State,
    /// Their wide parameters.
    Parameters,
    /// Their velocity or taps, just as much as is believed.
    Subtle,
    /// Their velocity, by so much per axis, in m/s.
    Velocity(f32),
}

impl About {
    const ALL: [Self; 3] = [Self::State, Self::Parameters, Self::Subtle];

    /// As it is typed.
    fn name(self) -> &'static str {
        match self {
            Self::State => "STATE",
            Self::Parameters => "PARAMETERS",
            Self::Subtle => "SUBTLE",
            Self::Velocity(_) => "VELOCITY",
        }
    }
}

/// Robots with the key that lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Liars {
    /// About what.
    pub about: About,
    /// Which share of the swarm.
    pub share: f64,
}

impl Liars {
    /// As they are typed.
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
    fn options_are_read() {
        assert_eq!("0.2:5".parse(), Ok(Delay { share: 0.2, ticks: 5 }));
        assert_eq!("50-150".parse(), Ok(Partition(50..150)));
        assert_eq!("state:0.1".parse(), Ok(Liars { about: About::State, share: 0.1 }));
        assert_eq!("0.1:3".parse(), Ok(Bursts { share: 0.1, ticks: 3 }));
        assert_eq!("0.2@100".parse(), Ok(Join { share: 0.2, tick: 100 }));
        assert_eq!("PARAMETERS:0.2".parse(), Ok(Liars { about: About::Parameters, share: 0.2 }));
    }

    #[test]
    fn options_that_cannot_be_are_told() {
        for bad in ["", "0.2", "2:5", "0.2:0", "0.2:x"] {
            assert!(bad.parse::<Delay>().unwrap_err().contains("SHARE:TICKS"), "{bad}");
        }
        for bad in ["", "0.2", "2@5", "0.2@x"] {
            assert!(bad.parse::<Join>().unwrap_err().contains("SHARE@TICK"), "{bad}");
        }
        for bad in ["50", "150-50", "50-50", "a-b"] {
            assert!(bad.parse::<Partition>().is_err(), "{bad}");
        }
        for bad in ["VELOCITY:0.1", "VELOCITY:0.1@x", "VELOCITY:2@1", "STATE", "STATE:2", "TASTE:0.1", ":0.1"]
        {
            assert!(bad.parse::<Liars>().is_err(), "{bad}");
        }
    }
}
