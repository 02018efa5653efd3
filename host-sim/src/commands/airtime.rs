//! `host-sim airtime`: frames, airtime and exchange rates of link profiles.

use clap::Args;
use serde::Serialize;

use super::{
    invocation::Invocation,
    output::{OutputArguments, Results},
};
use crate::{
    airtime::{Airtime, MAX_CHANNEL_USE},
    error::{Error, Result},
    option_range::OptionRange,
    origin::Origin,
    page::{self, Bar, Bars, ChartPage},
    profiles::Profile,
    radio::Radio,
    table,
};

/// Range of the number of robots. Addresses have 16 bits.
const ROBOTS: OptionRange = OptionRange::whole(1, 65_535);
/// Range of the exchange rate.
const RATE_HZ: OptionRange = OptionRange::above(0.0, 1.0e6);

/// Print bytes, airtime and the highest exchange rate of a link profile for each radio.
///
/// Frames are sealed, and all robots hear each other. A schedule above 80 % of the channel time of
/// the profile's radio is an error. Times are from standards and data sheets, not measured.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  host-sim airtime\n  host-sim airtime --profile dot154 --robots 10\n  \
                  host-sim airtime --profile espnow --robots 50 --rate 100 --json")]
pub struct AirtimeArguments {
    #[command(flatten)]
    invocation: Invocation,
    /// Link profile: exact, dot154, esb32, espnow or p2p57 [default: all].
    #[arg(long, value_enum, hide_possible_values = true)]
    profile: Option<Profile>,
    /// Robots that hear each other.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = ROBOTS.parser::<usize>())]
    robots: usize,
    /// Exchanges per second [default: the profile's].
    #[arg(long, value_name = "HZ", value_parser = RATE_HZ.parser::<f64>())]
    rate: Option<f64>,
    #[command(flatten)]
    outputs: OutputArguments,
}

/// JSON output.
#[derive(Debug, Serialize)]
struct Output {
    robots: usize,
    profiles: Vec<ProfileOutput>,
}

#[derive(Debug, Serialize)]
struct ProfileOutput {
    profile: Profile,
    frames: usize,
    frame_bytes: usize,
    rate: f64,
    radios: Vec<RadioOutput>,
}

#[derive(Debug, Serialize)]
struct RadioOutput {
    radio: &'static str,
    made_for: bool,
    /// Null, like all values below, for frames that do not fit.
    bytes: Option<usize>,
    microseconds: Option<f64>,
    usage: Option<f64>,
    highest_rate: Option<f64>,
}

impl AirtimeArguments {
    /// Prints the table.
    pub fn run(&self) -> Result {
        if self.rate.is_some() && self.profile.is_none() {
            return Err(Error::usage("--rate needs --profile"));
        }
        self.outputs.check()?;
        let profiles = self.profile.map_or(Profile::ALL.to_vec(), |profile| vec![profile]);
        let outputs = profiles.iter().map(|profile| self.output(*profile)).collect();
        let origin = Origin::new(self.invocation.command("airtime"), "none");
        let page = self.page(&profiles, origin);
        self.outputs.deliver(&Results {
            origin: &page.origin,
            json: Output { robots: self.robots, profiles: outputs },
            print: &|| self.print(),
            csv: &|| page.table.clone(),
            page: &|| Ok(page::charts(&page)),
            plots: &|| page.plots(),
        })?;
        self.profile.map_or(Ok(()), |profile| check(profile, self.robots, self.rate_of(profile)))
    }

    /// Returns heading and table.
    fn rows(&self) -> (String, Vec<Vec<String>>) {
        self.profile.map_or_else(|| self.overview(), |profile| self.for_profile(profile))
    }

    /// Returns the note below the table.
    fn note(&self) -> String {
        match self.profile {
            None => "–: the frames exceed the radio's limit. Details of one profile: --profile NAME".into(),
            Some(_) => format!(
                "on the air, time: per robot and exchange; –: the frame is longer than the radio's; highest rate: at {:.0} % of the \
                 time.",
                100.0 * MAX_CHANNEL_USE
            ),
        }
    }

    fn print(&self) {
        let (heading, rows) = self.rows();
        println!("{heading}\n");
        table::print(&rows);
        println!("\n{}", self.note());
    }

    fn page(&self, profiles: &[Profile], origin: Origin) -> ChartPage {
        let (heading, table) = self.rows();
        let bars = profiles.iter().map(|&profile| {
            let rate = self.rate_of(profile);
            let radios = Radio::ALL.iter().filter_map(|&radio| {
                let highest = Airtime::new(profile, radio)?.max_rate(self.robots);
                let text = format!("{highest:.1} Hz");
                let label = if profile.radio() == Some(radio) { "designed for: " } else { "" };
                let label = format!("{label}{}", radio.name());
                Some(Bar { label, value: highest, limit: Some(rate), text, failed: highest < rate })
            });
            Bars {
                title: format!("{}: highest exchange rate by radio", profile.name()),
                x_label: format!("exchanges a second; marks: the profile's rate of {rate}"),
                log: true,
                rows: radios.collect(),
            }
        });
        ChartPage {
            title: "Airtime of the link profiles".into(),
            intro: format!("{heading}. Times are from standards and data sheets, not measured."),
            bars: bars.collect(),
            table,
            note: self.note(),
            origin,
            ..ChartPage::default()
        }
    }

    fn rate_of(&self, profile: Profile) -> f64 {
        self.rate.unwrap_or(profile.rate())
    }

    fn output(&self, profile: Profile) -> ProfileOutput {
        let (frames, frame_bytes) = profile.frames();
        let rate = self.rate_of(profile);
        let radio = |radio: Radio| {
            let airtime = Airtime::new(profile, radio);
            RadioOutput {
                radio: radio.name(),
                made_for: profile.radio() == Some(radio),
                bytes: airtime.map(|airtime| airtime.bytes),
                microseconds: airtime.map(|airtime| airtime.microseconds),
                usage: airtime.map(|airtime| airtime.usage(self.robots, rate)),
                highest_rate: airtime.map(|airtime| airtime.max_rate(self.robots)),
            }
        };
        ProfileOutput {
            profile,
            frames,
            frame_bytes,
            rate,
            radios: Radio::ALL.iter().copied().map(radio).collect(),
        }
    }

    fn overview(&self) -> (String, Vec<Vec<String>>) {
        let heading = format!(
            "Highest exchange rate in Hz of {} robots that hear each other, frames sealed, {:.0} % of the time",
            self.robots,
            100.0 * MAX_CHANNEL_USE
        );
        let mut rows = vec![["profile", "frames", "bytes each", "flown at"].map(str::to_owned).to_vec()];
        rows[0].extend(Radio::ALL.iter().map(|radio| radio.name().to_owned()));
        for &profile in Profile::ALL {
            let (frames, bytes) = profile.frames();
            let mut row = vec![profile.name().into(), frames.to_string(), bytes.to_string()];
            row.push(format!("{} Hz", self.rate_of(profile)));
            row.extend(Radio::ALL.iter().map(|&radio| {
                let airtime = Airtime::new(profile, radio);
                airtime.map_or("–".into(), |airtime| format!("{:.1}", airtime.max_rate(self.robots)))
            }));
            rows.push(row);
        }
        (heading, rows)
    }

    fn for_profile(&self, profile: Profile) -> (String, Vec<Vec<String>>) {
        let (frames, bytes) = profile.frames();
        let rate = self.rate_of(profile);
        let plural = if frames == 1 { "frame" } else { "frames" };
        let words = format!(
            "{}: {frames} {plural} of {bytes} bytes per robot and exchange, sealed; {} robots that hear each other, {rate} \
             exchanges a second",
            profile.name(),
            self.robots
        );
        let heading = ["radio", "on the air", "time", "use", "highest rate", ""];
        let mut rows = vec![heading.map(str::to_owned).to_vec()];
        for &radio in Radio::ALL {
            let mut row = vec![radio.name().to_owned()];
            row.extend(match Airtime::new(profile, radio) {
                None => ["–", "–", "–", "–"].map(str::to_owned),
                Some(airtime) => [
                    format!("{} bytes", airtime.bytes),
                    format!("{:.0} µs", airtime.microseconds),
                    format!("{:.1} %", 100.0 * airtime.usage(self.robots, rate)),
                    format!("{:.1} Hz", airtime.max_rate(self.robots)),
                ],
            });
            row.push(if profile.radio() == Some(radio) { "designed for" } else { "" }.into());
            rows.push(row);
        }
        (words, rows)
    }
}

/// Rejects a schedule above the usable share of channel time.
fn check(profile: Profile, robots: usize, rate: f64) -> Result {
    let Some(radio) = profile.radio() else {
        return Err(Error::usage(format!(
            "--profile {} is the reference without a radio: give another one",
            profile.name()
        )));
    };
    // Each profile fits the radio it is designed for, as a test checks.
    let Some(airtime) = Airtime::new(profile, radio) else { return Ok(()) };
    let usage = airtime.usage(robots, rate);
    if usage <= MAX_CHANNEL_USE {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{robots} robots on {} at {rate} Hz use {:.0} % of the channel time of {}, above the limit of {:.0} %: use at most {} robots, or \
         at most {:.1} exchanges a second",
        profile.name(),
        100.0 * usage,
        radio.name(),
        100.0 * MAX_CHANNEL_USE,
        airtime.max_robots(rate),
        airtime.max_rate(robots)
    )))
}
