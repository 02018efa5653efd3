//! Kind and settings of a body on the command line, such as `quadrotor,lag=0.8..1.2,delay=2`.

use std::{
    fmt::{self, Display},
    str::FromStr,
};

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::Body;
use crate::{option_range::OptionRange, world::Scenario};

/// Kind of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BodyKind {
    /// Point mass, whose acceleration is the command.
    #[default]
    Point,
    /// Quadrotor in level flight with the dynamics of a Crazyflie.
    Quadrotor,
    /// Robot with two driven wheels and the dynamics of a DotBot.
    Differential,
}

impl BodyKind {
    const ALL: [Self; 3] = [Self::Point, Self::Quadrotor, Self::Differential];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Point => "point",
            Self::Quadrotor => "quadrotor",
            Self::Differential => "differential",
        }
    }

    /// Returns whether the body has a setting.
    fn has(self, setting: Setting) -> bool {
        match self {
            Self::Point => setting != Setting::Lag,
            Self::Quadrotor => true,
            Self::Differential => setting != Setting::Mass,
        }
    }
}

/// Setting of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Setting {
    Mass,
    Lag,
    Gain,
    Delay,
    Noise,
    Asymmetry,
}

impl Setting {
    /// All settings, in the order of [`BodyConfig::settings`].
    const ALL: [Self; 6] = [Self::Mass, Self::Lag, Self::Gain, Self::Delay, Self::Noise, Self::Asymmetry];

    fn name(self) -> &'static str {
        match self {
            Self::Mass => "mass",
            Self::Lag => "lag",
            Self::Gain => "gain",
            Self::Delay => "delay",
            Self::Noise => "noise",
            Self::Asymmetry => "asymmetry",
        }
    }

    /// Returns the accepted values.
    fn range(self) -> OptionRange {
        match self {
            Self::Mass | Self::Lag | Self::Gain => OptionRange::real(0.1, 10.0),
            Self::Delay => OptionRange::whole(0, 100),
            Self::Noise => OptionRange::real(0.0, 10.0),
            Self::Asymmetry => OptionRange::real(0.0, 0.9),
        }
    }

    fn default(self) -> f32 {
        match self {
            Self::Mass | Self::Lag | Self::Gain => 1.0,
            Self::Delay | Self::Noise | Self::Asymmetry => 0.0,
        }
    }

    fn parse(self, text: &str) -> Result<f32, String> {
        let range = self.range();
        match range {
            OptionRange::Whole { .. } => range.parse::<u16>(text).map(f32::from),
            OptionRange::Real { .. } => range.parse(text),
        }
    }
}

/// Kind of a body and the range of each setting.
///
/// ```
/// use wdgnn_sim::world::flock::body::BodyConfig;
///
/// let body: BodyConfig = "quadrotor,lag=0.8..1.2,delay=2".parse().unwrap();
/// assert_eq!(body.to_string(), "quadrotor,lag=0.8..1.2,delay=2");
/// assert!("quadrotor,lag=-1".parse::<BodyConfig>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyConfig {
    /// Kind of the body.
    pub kind: BodyKind,
    /// Smallest and largest value of each setting.
    settings: [[f32; 2]; Setting::ALL.len()],
}

impl Default for BodyConfig {
    fn default() -> Self {
        Self::from(BodyKind::default())
    }
}

impl From<BodyKind> for BodyConfig {
    fn from(kind: BodyKind) -> Self {
        Self { kind, settings: Setting::ALL.map(|setting| [setting.default(); 2]) }
    }
}

impl BodyConfig {
    /// Returns whether all robots are point masses without deviations.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Draws the body of an episode; settings without a range are not drawn.
    pub fn draw(&self, random: &mut ChaCha8Rng) -> Body {
        let mut draw = |[low, high]: [f32; 2]| {
            if low < high { random.random_range(low..=high) } else { low }
        };
        let [mass, lag, gain, delay, noise, asymmetry] = self.settings.map(&mut draw);
        let delay = libm::roundf(delay) as u32;
        Body { kind: self.kind, mass, lag, gain, delay, noise, asymmetry }
    }

    /// Returns the default scenario of robots with this body.
    pub fn scenario(&self) -> Scenario {
        match self.kind {
            _ if self.is_default() => Scenario::PAPER,
            BodyKind::Point => Scenario { ticks: 400, ..Scenario::PAPER },
            BodyKind::Quadrotor => Scenario { robots: 10, speed: 1.0, ticks: 400, ..Scenario::PAPER },
            BodyKind::Differential => Scenario { robots: 10, speed: 0.1, ticks: 400, ..Scenario::PAPER },
        }
    }
}

impl FromStr for BodyConfig {
    type Err = String;

    /// Parses a body. Errors are the constraint, such as `a body with a lag between 0.1 and 10`.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split(',');
        let name = words.next().unwrap_or_default();
        let kind = BodyKind::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or("point, quadrotor or differential, with settings such as quadrotor,lag=1.2,delay=2")?;
        let mut body = Self::from(kind);
        for word in words {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let valid = || Setting::ALL.into_iter().enumerate().filter(|(_, one)| kind.has(*one));
            let (index, setting) = valid().find(|(_, one)| one.name() == name).ok_or_else(|| {
                let names: Vec<&str> = valid().map(|(_, one)| one.name()).collect();
                format!("a {} with settings among {}", kind.name(), names.join(", "))
            })?;
            let (low, high) = value.split_once("..").unwrap_or((value, value));
            let parse = |text: &str| {
                let expected = |range| format!("a body whose {name} is {range} or a range such as 0.8..1.2");
                setting.parse(text).map_err(expected)
            };
            body.settings[index] = [parse(low)?, parse(high)?];
            if body.settings[index][0] > body.settings[index][1] {
                return Err(format!("a body whose range of {name} starts with the smaller value"));
            }
        }
        Ok(body)
    }
}

impl Display for BodyConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.kind.name())?;
        for (setting, [low, high]) in Setting::ALL.into_iter().zip(self.settings) {
            let name = setting.name();
            if low < high {
                write!(formatter, ",{name}={low}..{high}")?;
            } else if low != setting.default() {
                write!(formatter, ",{name}={low}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds::{Purpose, generator};

    #[test]
    fn bodies_are_drawn_from_their_ranges() {
        let config: BodyConfig = "quadrotor,lag=0.8..1.2,delay=0..12,noise=0.05".parse().unwrap();
        let mut random = generator(1, Purpose::SwarmDynamics, 0);
        let bodies: Vec<Body> = (0..200).map(|_| config.draw(&mut random)).collect();
        assert!(bodies.iter().all(|body| (0.8..=1.2).contains(&body.lag) && body.noise == 0.05));
        assert!((0..=12).all(|delay| bodies.iter().any(|body| body.delay == delay)));
        assert_eq!("point".parse(), Ok(BodyConfig::default()));
    }

    #[test]
    fn errors_name_the_constraint() {
        for (text, part) in [
            ("boat", "point, quadrotor or differential"),
            ("point,lag=2", "a point with settings among mass, gain"),
            ("quadrotor,lag=99", "lag is a number between 0.1 and 10"),
            ("quadrotor,delay=0.5", "delay is a whole number between 0 and 100"),
            ("quadrotor,lag", "lag is a number"),
            ("quadrotor,lag=1.2..0.8", "range of lag starts"),
            ("differential,mass=2", "a differential with settings among lag"),
        ] {
            let error = text.parse::<BodyConfig>().unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
