//! Messages between a tracking system on a PC and its gateway, on a serial [`mod@line`] at 1 Mbit/s.
//!
//! The PC sends a command (one byte) and an open [`PoseFrame`] with each image. Of the header, only the age counts: the time from
//! the exposure to the last byte of the message. The gateway sends its [`TrackerStatus`] ten times per second.

use serde::{Deserialize, Serialize};
use wdgnn_link::frames::{Frame as _, PoseFrame, decode};

use crate::line;

/// Command to the swarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// No new command.
    None,
    /// Drive.
    Start,
    /// Stand.
    Stop,
}

/// Length of the longest message with COBS and its zero.
pub const MAX_TRACKER_MESSAGE: usize = 1 + PoseFrame::BYTES + line::CHECKSUM_LEN + 2;

/// Encodes an image and returns its length.
#[must_use]
pub fn encode_image(command: Command, frame: &PoseFrame, buffer: &mut [u8]) -> Option<usize> {
    line::encode::<MAX_TRACKER_MESSAGE>(&(command, frame), buffer)
}

/// Decodes an image without its final zero, in place.
#[must_use]
pub fn decode_image(message: &mut [u8]) -> Option<(Command, PoseFrame)> {
    let (command, frame) = line::open(message)?.split_first()?;
    let command = match command {
        0 => Command::None,
        1 => Command::Start,
        2 => Command::Stop,
        _ => return None,
    };
    Some((command, decode(frame).ok()?))
}

/// State of the gateway. Counters wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackerStatus {
    /// Tick of the swarm.
    pub tick: u32,
    /// 1 while the swarm drives.
    pub is_driving: u8,
    /// Robots that were heard in the last second: bit 0 is address 0.
    pub heard: u32,
    /// Sent images.
    pub sent: u16,
    /// Rejected frames of robots.
    pub refused: u16,
    /// Frames lost in full queues.
    pub lost: u16,
    /// Unreadable messages from the PC.
    pub malformed: u16,
}

impl TrackerStatus {
    /// Encodes the status and returns its length.
    #[must_use]
    pub fn encode(&self, buffer: &mut [u8]) -> Option<usize> {
        line::encode::<32>(self, buffer)
    }

    /// Decodes a status without its final zero, in place.
    #[must_use]
    pub fn decode(message: &mut [u8]) -> Option<Self> {
        line::decode(message)
    }
}

#[cfg(test)]
mod tests {
    use wdgnn_link::frames::{
        PoseHeader,
        poses::{POSE_BYTE, Pose},
    };

    use super::*;

    #[test]
    fn messages_survive_a_round_trip() {
        let mut frame = PoseFrame::new(PoseHeader { kind: POSE_BYTE, ..PoseHeader::default() });
        assert!(frame.push(3, &Pose { position: [0.5, -0.25], heading: 77 }));
        let mut buffer = [0; MAX_TRACKER_MESSAGE];
        let length = encode_image(Command::Start, &frame, &mut buffer).unwrap();
        assert_eq!((length, buffer[length - 1]), (MAX_TRACKER_MESSAGE, 0));
        assert_eq!(decode_image(&mut buffer[..length - 1]), Some((Command::Start, frame)));
        let status = TrackerStatus { tick: u32::MAX, heard: u32::MAX, sent: 300, ..TrackerStatus::default() };
        let length = status.encode(&mut buffer).unwrap();
        assert_eq!(TrackerStatus::decode(&mut buffer[..length - 1]), Some(status));
        assert_eq!(decode_image(&mut [1, 1]), None);
    }
}
