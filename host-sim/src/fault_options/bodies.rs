//! What goes wrong with what robots sense and do, and with their clocks.

use clap::Args;

use super::words::Words;
use crate::{
    medium::{
        clocks::{ClockFaults, Jump},
        heading::HeadingError,
        limits::{DRIFT_PPM, NOISE, SATURATION, SKEW_TICKS},
        motors::{DriveFaults, MotorFault},
        options::Faults,
        sensors::{Noise, SensorFault},
    },
    option_range::OptionRange,
};

/// What goes wrong with what robots sense and do.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Faults of sensors, motors and clocks")]
pub struct BodyArguments {
    /// White noise on the position that a robot senses, as a standard deviation per axis and tick.
    #[arg(long, value_name = "METRES", default_value_t = 0.0, value_parser = NOISE.parser::<f32>())]
    pub position_noise: f32,
    /// White noise on the velocity that a robot senses, as a standard deviation per axis and tick.
    #[arg(long, value_name = "M/S", default_value_t = 0.0, value_parser = NOISE.parser::<f32>())]
    pub velocity_noise: f32,
    /// What the position that a robot senses is off by for the whole flight, as a standard deviation per axis over robots.
    #[arg(long, value_name = "METRES", default_value_t = 0.0, value_parser = NOISE.parser::<f32>())]
    pub position_bias: f32,
    /// The same for the velocity.
    #[arg(long, value_name = "M/S", default_value_t = 0.0, value_parser = NOISE.parser::<f32>())]
    pub velocity_bias: f32,
    /// A share of robots take their frame for turned, one way or the other, such as 30:0.2: what they sense of their velocity is off
    /// by that angle, and so is what their commands come to.
    #[arg(long, value_name = "DEGREES:SHARE")]
    pub heading_error: Option<HeadingError>,
    /// A share of sensors stops, such as frozen:0.1@50, which say the same from tick 50 on, or lost:0.1@50, which say nothing.
    #[arg(long, value_name = "frozen|lost:SHARE@TICK")]
    pub sensor: Option<SensorFault>,
    /// A share of motors fails from the start or from a tick on, such as stuck:0.1@50, which go on with the command of tick 50,
    /// dead:0.1, which do nothing, or weak:0.1, which do 40 % of what they are told.
    #[arg(long, value_name = "stuck|dead|weak:SHARE[@TICK]")]
    pub motor: Option<MotorFault>,
    /// The most that anybody's motors do, per axis.
    #[arg(long, value_name = "M/S2", value_parser = SATURATION.parser::<f32>())]
    pub saturation: Option<f32>,
    /// Robots' clocks differ by up to so many ticks either way.
    #[arg(long, value_name = "TICKS", default_value_t = 0, value_parser = SKEW_TICKS.parser::<u32>())]
    pub skew: u32,
    /// Robots' clocks are fast or slow by up to so many parts per million. Robots set them by what they hear, as boards do.
    #[arg(long, value_name = "PPM", default_value_t = 0.0, value_parser = DRIFT_PPM.parser::<f64>())]
    pub drift: f64,
    /// A robot's clock jumps, such as 3@50:40: robot 3's shows 40 ticks more at tick 50, or fewer with 3@50:-40, until
    /// robots agree again.
    #[arg(long, value_name = "ROBOT@TICK:TICKS")]
    pub time_jump: Vec<Jump>,
    /// Share of ticks that a robot skips because it is busy; its motors go on meanwhile.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = OptionRange::SHARE.parser::<f64>())]
    pub skip: f64,
}

impl BodyArguments {
    /// Adds what was asked for.
    pub(super) fn add_to(&self, faults: &mut Faults) {
        faults.senses.noise = Noise { position: self.position_noise, velocity: self.velocity_noise };
        faults.senses.bias = Noise { position: self.position_bias, velocity: self.velocity_bias };
        (faults.senses.heading, faults.senses.sensor) = (self.heading_error, self.sensor);
        faults.drives = DriveFaults { motor: self.motor, saturation: self.saturation };
        faults.skew = self.skew;
        faults.clocks = ClockFaults { drift: self.drift, jumps: self.time_jump.clone(), skip: self.skip };
    }

    /// Says the options.
    pub(super) fn say(&self, words: &mut Words) {
        words.number("position-noise", self.position_noise, 0.0);
        words.number("velocity-noise", self.velocity_noise, 0.0);
        words.number("position-bias", self.position_bias, 0.0);
        words.number("velocity-bias", self.velocity_bias, 0.0);
        words.say("heading-error", self.heading_error.map(|error| error.words()));
        words.say("sensor", self.sensor.map(|fault| fault.words()));
        words.say("motor", self.motor.map(|fault| fault.words()));
        words.say("saturation", self.saturation);
        words.number("skew", self.skew, 0);
        words.number("drift", self.drift, 0.0);
        self.time_jump.iter().for_each(|jump| words.say("time-jump", Some(jump.words())));
        words.number("skip", self.skip, 0.0);
    }
}
