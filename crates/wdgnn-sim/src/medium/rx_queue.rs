//! Receive queues and per-tick radios of simulated robots.

use std::{collections::VecDeque, convert::Infallible, slice};

use wdgnn_robot::ports::{Radio, ReceivedFrame};

use crate::scene::Frame;

/// Radio of a robot in one tick.
#[derive(Clone, Debug, Default)]
pub struct TickRadio<'a> {
    /// Frames that the robot sent.
    pub sent: Vec<Frame>,
    received: slice::Iter<'a, Frame>,
}

impl<'a> TickRadio<'a> {
    /// Creates a radio that receives these frames.
    pub fn receiving(frames: &'a [Frame]) -> Self {
        Self { sent: Vec::new(), received: frames.iter() }
    }
}

impl Radio for TickRadio<'_> {
    type Error = Infallible;

    fn send(&mut self, frame: &[u8]) -> Result<(), Infallible> {
        self.sent.push(frame.into());
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<ReceivedFrame>, Infallible> {
        Ok(self.received.next().map(|frame| copy_frame(frame, buffer)))
    }
}

/// Source of received frames, one receive window after the other.
pub trait FrameSource {
    /// Returns the next frame of the current window; `None` ends the window.
    fn next(&mut self) -> Option<Frame>;
}

/// Frames that reached a robot and were not read yet.
#[derive(Clone, Debug, Default)]
pub struct RxQueue {
    received: VecDeque<Frame>,
}

impl RxQueue {
    /// Appends a received frame.
    pub fn put(&mut self, frame: Frame) {
        self.received.push_back(frame);
    }
}

impl FrameSource for RxQueue {
    fn next(&mut self) -> Option<Frame> {
        self.received.pop_front()
    }
}

/// Copies the part of a frame that fits into the buffer, and returns the frame's full length.
pub fn copy_frame(frame: &[u8], buffer: &mut [u8]) -> ReceivedFrame {
    let fits = frame.len().min(buffer.len());
    buffer[..fits].copy_from_slice(&frame[..fits]);
    ReceivedFrame::untimed(frame.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_longer_than_the_buffer_is_truncated_and_reports_its_length() {
        let frame = Frame::from([1, 2, 3]);
        let (frames, mut buffer) = ([frame], [0; 2]);
        let mut radio = TickRadio::receiving(&frames);
        assert_eq!(radio.receive(&mut buffer), Ok(Some(ReceivedFrame::untimed(3))));
        assert_eq!(buffer, [1, 2]);
        assert_eq!(radio.receive(&mut buffer), Ok(None));
    }
}
