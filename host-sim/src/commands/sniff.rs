//! `host-sim sniff`: what robots say to each other, from a capture, a serial line, a FIFO or standard input.

use std::{
    fs::File,
    io::{self, Read},
    path::PathBuf,
};

use clap::{Args, ValueEnum};
use serde::Serialize;
use wdgnn_link::Refusal;

use crate::{
    capture,
    error::{Error, Result},
    key,
    model::ModelFile,
    models,
    pcap::{LinkType, Reader},
    recipe::{Architecture, RecipeName},
    sniff::{Counts, Ear, ProfileName, Sighting, Splitter},
};

/// What the input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A capture if it begins as one, otherwise a serial line.
    Auto,
    /// A capture in the pcap format: IEEE 802.15.4 with or without checksums (link types 195 and 230), or frames as they are (147).
    Pcap,
    /// Frames in COBS, each ended by a zero.
    Serial,
}

/// Print what robots say to each other, from a capture, a serial line, a FIFO or standard input.
///
/// Damaged input is skipped up to where it makes sense again, and what was skipped is counted. A serial line is read as it is set:
/// set its speed beforehand, such as with `stty -F /dev/ttyACM0 1000000 raw`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  host-sim swarm --capture swarm.pcap && host-sim sniff swarm.pcap\n  \
                  host-sim sniff /dev/ttyACM0 --key swarm.key --json")]
pub struct SniffArguments {
    /// A file, a device or a FIFO; - is standard input.
    input: PathBuf,
    /// What the input is.
    #[arg(long, value_enum, default_value = "auto")]
    format: Format,
    /// The swarm's key: 16 bytes or 32 hexadecimal digits. Opens sealed frames; without it, frames are read as plain ones.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// The link profile that frames must have; without it, each is read as what it says it is.
    #[arg(long, value_enum)]
    profile: Option<ProfileName>,
    /// Refuse frames of robots that fly another model than this one.
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Print a line of JSON per frame, and one of counts at the end.
    #[arg(long)]
    json: bool,
}

/// A line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    frame: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    #[serde(flatten)]
    sighting: &'a Sighting,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'static str>,
}

impl SniffArguments {
    /// Listens until the input ends.
    ///
    /// # Errors
    /// Input that cannot be read, a file that is no key, no model or no capture.
    pub fn run(&self) -> Result {
        let mut ear = self.ear()?;
        let mut input = self.open()?;
        let mut begin = vec![0; 4];
        let length = fill(&mut input, &mut begin).map_err(|source| self.unreadable(source))?;
        begin.truncate(length);
        let mut session = Session { json: self.json, counts: Counts::default() };
        if !self.json {
            println!("{HEADING}");
        }
        if self.format == Format::Pcap || (self.format == Format::Auto && Reader::recognises(&begin)) {
            input.read_to_end(&mut begin).map_err(|source| self.unreadable(source))?;
            self.capture(&begin, &mut ear, &mut session)?;
        } else {
            self.line(&begin, &mut input, &mut ear, &mut session)?;
        }
        session.finish(self.key.is_some());
        Ok(())
    }

    fn ear(&self) -> Result<Ear> {
        let model = self.model.as_deref().map(ModelFile::load).transpose()?;
        let shipped = models::shipped(RecipeName::Ours, Architecture::WdGnn)?.weights().checksum;
        let model = model.map(|model| model.weights().checksum);
        let key = self.key.as_deref().map(key::read).transpose()?;
        let mut ear = Ear::new(shipped);
        (ear.model, ear.key, ear.profile) = (model, key, self.profile);
        Ok(ear)
    }

    fn unreadable(&self, source: io::Error) -> Error {
        Error::Read { path: self.input.clone(), source }
    }

    fn open(&self) -> Result<Box<dyn Read>> {
        if self.input.as_os_str() == "-" {
            return Ok(Box::new(io::stdin()));
        }
        if self.input.is_dir() {
            return Err(self.unreadable(io::Error::other("it is a folder")));
        }
        Ok(Box::new(File::open(&self.input).map_err(|source| self.unreadable(source))?))
    }

    fn capture(&self, bytes: &[u8], ear: &mut Ear, session: &mut Session) -> Result {
        let path = self.input.display();
        let mut reader = Reader::new(bytes).ok_or_else(|| {
            Error::usage(format!("{path} is no capture: it does not begin as a pcap file does"))
        })?;
        let link = LinkType::from_code(reader.link).ok_or_else(|| {
            let found = reader.link;
            Error::usage(format!(
                "{path} has link type {found}: give one with 195, 230 (IEEE 802.15.4) or 147"
            ))
        })?;
        for packet in reader.by_ref() {
            match capture::frame(link, packet.bytes) {
                Some(frame) => session.heard(ear, Some(packet.seconds), frame),
                None => session.counts.foreign += 1,
            }
        }
        session.counts.skipped = reader.skipped;
        Ok(())
    }

    fn line(&self, begin: &[u8], input: &mut dyn Read, ear: &mut Ear, session: &mut Session) -> Result {
        let mut splitter = Splitter::default();
        let mut buffer = [0; 4096];
        let mut length = begin.len();
        buffer[..length].copy_from_slice(begin);
        while length > 0 {
            splitter.feed(&buffer[..length], |frame| session.heard(ear, None, frame));
            length = read_some(input, &mut buffer).map_err(|source| self.unreadable(source))?;
        }
        splitter.finish();
        session.counts.skipped = splitter.skipped;
        Ok(())
    }
}

fn read_some(input: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Reads until the buffer is full or the input ends.
fn fill(input: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match read_some(input, &mut buffer[length..])? {
            0 => break,
            more => length += more,
        }
    }
    Ok(length)
}

const HEADING: &str = "   frame     seconds  bytes  profile         sender  boot  sequence  degree    position (m)         velocity (m/s)       taps    wide";

/// What is printed and counted.
struct Session {
    json: bool,
    counts: Counts,
}

impl Session {
    fn heard(&mut self, ear: &mut Ear, seconds: Option<f64>, frame: &[u8]) {
        let sighting = ear.listen(frame);
        let number = self.counts.frames;
        self.counts.frames += 1;
        if let Some(refusal) = sighting.refused {
            self.counts.refused.count(refusal);
        }
        if self.json {
            let refused = sighting.refused.map(Refusal::name);
            let line = Line { frame: number, seconds, sighting: &sighting, refused };
            println!("{}", serde_json::to_string(&line).unwrap_or_default());
        } else {
            println!("{}", row(number, seconds, &sighting));
        }
    }

    fn finish(&self, with_key: bool) {
        let Counts { frames, refused, foreign, skipped } = &self.counts;
        if self.json {
            let reasons = refused.iter().map(|(reason, count)| (reason.name().to_owned(), count.into()));
            let reasons: serde_json::Map<_, serde_json::Value> = reasons.collect();
            let counts = serde_json::json!({
                "frames": frames, "refused": reasons, "foreign_packets": foreign, "skipped_bytes": skipped,
            });
            println!("{counts}");
            return;
        }
        let reasons: Vec<_> =
            refused.iter().map(|(reason, count)| format!("{count} {}", reason.name())).collect();
        let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
        println!(
            "\n{frames} frames, {} refused{reasons}; {foreign} packets of others or damaged, {skipped} bytes skipped",
            refused.total()
        );
        let all = |reason| *frames > 0 && u64::from(refused.of(reason)) == *frames;
        if !with_key && all(Refusal::Trailing) {
            println!("Not one could be read: so it is with sealed frames. Give --key FILE to open them.");
        }
        if with_key && all(Refusal::Forged) {
            println!(
                "Not one could be opened: another key, another model, or not sealed at all. Frames of esb32 do not tell their model: \
                 give it with --model FILE."
            );
        }
    }
}

/// A row of the table.
fn row(number: u64, seconds: Option<f64>, sighting: &Sighting) -> String {
    let value = |value: Option<String>| value.unwrap_or_else(|| "-".into());
    let seconds = value(seconds.map(|seconds| format!("{seconds:.6}")));
    let name = |profile: ProfileName| profile.to_possible_value();
    let profile = value(sighting.profile.and_then(name).map(|name| name.get_name().to_owned()));
    let origin = |field: fn(&crate::sniff::ear::Origin) -> u32| {
        value(sighting.origin.as_ref().map(|o| field(o).to_string()))
    };
    let (sender, boot, sequence) = (origin(|o| o.sender.into()), origin(|o| o.boot), origin(|o| o.sequence));
    let said = match (&sighting.content, sighting.refused) {
        (Some(said), _) => {
            let pair = |[x, y]: [f32; 2]| format!("{x:9.3} {y:9.3}");
            let run = |from: u16, numbers: &[f32]| format!("{from}..{}", usize::from(from) + numbers.len());
            format!(
                "{:6}  {}  {}  {:6}  {}",
                said.degree,
                pair(said.position),
                pair(said.velocity),
                run(said.taps_from, &said.taps),
                run(said.wide_from, &said.wide)
            )
        }
        (None, refusal) => format!("refused: {}", refusal.map_or("", Refusal::name)),
    };
    format!(
        "{number:8}  {seconds:>10}  {:5}  {profile:14}  {sender:>6}  {boot:>4}  {sequence:>8}  {said}",
        sighting.bytes
    )
}
