//! Decoder of the robots' defmt logs, with the strings of the image.
//!
//! A frame is compressed with rzCOBS and ends with a zero byte. It contains the index of a string
//! and the arguments of its braces in order. A string is a symbol of the image: the address is the
//! index, the name is JSON with the string and its use. A derived type has a string, too, with its
//! variants between bars.
//!
//! This decoder supports the firmware's messages and skips others. The crate `defmt-decoder`
//! supports all of defmt but builds longer than all other dependencies.

use std::{collections::HashMap, fmt::Write as _, path::Path};

use nrf52_emulator::image;
use serde::Deserialize;

use crate::{
    error::{Error, Result},
    files,
};

/// Largest frame: the log buffer of a robot has 1,024 bytes.
const LONGEST: usize = 4096;

/// Decoder for the logs of one image.
#[derive(Debug)]
pub struct Decoder(HashMap<u16, Text>);

/// Log string of an image.
#[derive(Debug, Deserialize)]
struct Text {
    tag: String,
    data: String,
}

impl Decoder {
    /// Creates a decoder for the firmware `image`.
    pub fn new(image: &Path) -> Result<Self> {
        let file = files::read(image)?;
        let named = || Error::usage(format!("{} is not a robot's firmware image", image.display()));
        let texts = strings(&file).filter(|texts| !texts.is_empty());
        texts.map(Self).ok_or_else(named)
    }

    /// Returns the lines of a log. Skips invalid and incomplete frames.
    pub fn lines(&self, log: &[u8]) -> Vec<String> {
        let ended = log.iter().rposition(|byte| *byte == 0).unwrap_or(0);
        let frames = log[..ended].split(|byte| *byte == 0).filter(|frame| !frame.is_empty());
        frames.filter_map(|frame| self.line(&unpack(frame)?)).collect()
    }

    fn line(&self, frame: &[u8]) -> Option<String> {
        let mut values = Values(frame);
        let text = self.0.get(&(values.number(2)? as u16))?;
        let level = match text.tag.strip_prefix("defmt_")? {
            "println" => "",
            level @ ("trace" | "debug" | "info" | "warn" | "error") => level,
            _ => return None,
        };
        let mut line = format!("{level:5} ");
        self.write(&text.data, &mut values, &mut line)?;
        Some(line)
    }

    /// Writes `text` with arguments for its braces.
    fn write(&self, text: &str, values: &mut Values<'_>, line: &mut String) -> Option<()> {
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, brace) = rest.split_at(at);
            line.push_str(before);
            let doubled = ["{{", "}}"].iter().find_map(|both| brace.strip_prefix(both));
            if let Some(behind) = doubled {
                line.push_str(&brace[..1]);
                rest = behind;
                continue;
            }
            let (parameter, behind) = brace.strip_prefix('{')?.split_once('}')?;
            self.value(parameter, values, line)?;
            rest = behind;
        }
        line.push_str(rest);
        Some(())
    }

    /// Writes one argument with the format between its braces: `=type:hint`, both optional.
    fn value(&self, parameter: &str, values: &mut Values<'_>, line: &mut String) -> Option<()> {
        let (kind, hint) = parameter.split_once(':').unwrap_or((parameter, ""));
        let bytes = match kind.strip_prefix('=').unwrap_or(kind) {
            "" | "?" => return self.derived(1, values, line),
            "bool" => {
                line.push_str(if values.number(1)? == 0 { "false" } else { "true" });
                return Some(());
            }
            "f32" => return write!(line, "{:?}", f32::from_bits(values.number(4)? as u32)).ok(),
            "str" => {
                line.push_str(values.text()?);
                return Some(());
            }
            "u8" => 1,
            "u16" => 2,
            "u32" | "usize" => 4,
            "u64" => 8,
            array => {
                let count = array.strip_prefix("[?;")?.strip_suffix(']')?.trim().parse().ok()?;
                line.push('[');
                self.derived(count, values, line)?;
                line.push(']');
                return Some(());
            }
        };
        let number = values.number(bytes)?;
        match hint.strip_suffix('x') {
            None => write!(line, "{number}").ok(),
            Some(hint) => {
                let width = hint.trim_start_matches('#').parse().unwrap_or(0);
                if hint.starts_with('#') {
                    write!(line, "{number:#0width$x}").ok()
                } else {
                    write!(line, "{number:0width$x}").ok()
                }
            }
        }
    }

    /// Writes arguments of a type with its own string.
    fn derived(&self, count: usize, values: &mut Values<'_>, line: &mut String) -> Option<()> {
        let text = &self.0.get(&(values.number(2)? as u16))?.data;
        for index in 0..count {
            line.push_str(if index > 0 { ", " } else { "" });
            let variant =
                if text.contains('|') { text.split('|').nth(values.number(1)? as usize)? } else { text };
            self.write(variant, values, line)?;
        }
        Some(())
    }
}

/// Returns the log strings of an image by index.
fn strings(file: &[u8]) -> Option<HashMap<u16, Text>> {
    let symbols = image::elf_symbols(file).ok()?.into_iter().filter(|(name, _)| name.starts_with('{'));
    Some(symbols.filter_map(|(name, value)| Some((value as u16, serde_json::from_str(name).ok()?))).collect())
}

/// Remaining argument bytes of a frame.
struct Values<'a>(&'a [u8]);

impl<'a> Values<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self, bytes: usize) -> Option<u64> {
        Some(self.take(bytes)?.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = self.number(4)? as usize;
        str::from_utf8(self.take(length)?).ok()
    }
}

/// Decompresses rzCOBS from the end: a byte gives the omitted zeros of the seven bytes before it,
/// or the length of a run without zeros.
fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let mut packed = packed.iter().rev().copied();
    let mut reversed = Vec::new();
    while let Some(code) = packed.next() {
        match code {
            0x01..=0x7f => {
                for bit in (0..7).rev() {
                    reversed.push(if code >> bit & 1 == 0 { packed.next()? } else { 0 });
                }
            }
            0x80..=0xff => {
                // 134 bytes are a full run without a zero behind it.
                let run = usize::from(code & 0x7f) + 7;
                if code != 0xff {
                    reversed.push(0);
                }
                for _ in 0..run {
                    reversed.push(packed.next()?);
                }
            }
            0 => return None,
        }
    }
    reversed.reverse();
    (reversed.len() <= LONGEST).then_some(reversed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoder(texts: &[(u16, &str, &str)]) -> Decoder {
        let text = |tag: &str, data: &str| Text { tag: tag.into(), data: data.into() };
        Decoder(texts.iter().map(|(number, tag, data)| (*number, text(tag, data))).collect())
    }

    #[test]
    fn log_arguments_are_formatted() {
        let decoder = decoder(&[
            (1, "defmt_info", "robot {=u16}, {=u32:#010x}, {} of {{{=str}}}"),
            (2, "defmt_derived", "Idle|Busy({=?})"),
            (3, "defmt_prim", "{=[?;2]}"),
            (4, "defmt_prim", "{=f32}"),
        ]);
        let values: [&[u8]; 9] = [
            &[1, 0],
            &[7, 0],
            &[0xef, 0xbe, 0, 0],
            &[2, 0, 1],
            &[3, 0, 4, 0],
            &1.5_f32.to_le_bytes(),
            &(-2.0_f32).to_le_bytes(),
            &[2, 0, 0, 0],
            b"me",
        ];
        let line = "info  robot 7, 0x0000beef, Busy([1.5, -2.0]) of {me}";
        assert_eq!(decoder.line(&values.concat()).as_deref(), Some(line));
    }

    #[test]
    fn short_and_unknown_frames_are_skipped() {
        let decoder =
            decoder(&[(1, "defmt_info", "{=u32}"), (2, "defmt_prim", "x"), (3, "defmt_warn", "{=i8}")]);
        for frame in [&[1, 0, 1][..], &[2, 0], &[3, 0, 1], &[9, 9], &[]] {
            assert_eq!(decoder.line(frame), None, "{frame:?}");
        }
    }

    #[test]
    fn rzcobs_frames_are_decompressed() {
        // Examples from defmt's encoder; zeros at the end of a frame have no meaning.
        assert_eq!(unpack(&[0x7f]), Some(vec![0; 7]));
        assert_eq!(unpack(&[0x11, 0x7e]), Some(vec![0x11, 0, 0, 0, 0, 0, 0]));
        let seven = [0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77];
        assert_eq!(unpack(&[&seven[..], &[0x80]].concat()), Some([&seven[..], &[0]].concat()));
        let run = [9; 134];
        assert_eq!(unpack(&[&run[..], &[0xff, 0x7f]].concat()), Some([&run[..], &[0; 7]].concat()));
        assert_eq!(unpack(&[0xff]), None, "134 bytes are missing");
        assert_eq!(unpack(&[5, 0]), None);
    }

    #[test]
    fn incomplete_frames_wait_and_broken_ones_are_skipped() {
        let decoder = decoder(&[(1, "defmt_info", "here")]);
        assert_eq!(decoder.lines(b"\x00\x00\x01\x7e\x00\x05\x00\x01\x7e\x00\x01\x7e"), ["info  here"; 2]);
        assert_eq!(decoder.lines(b""), [""; 0]);
    }
}
