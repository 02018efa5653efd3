//! The radio of a simulated robot: what it says is taken from it, what it hears is put into it.

use std::{collections::VecDeque, convert::Infallible};

use wdgnn_core::{
    passage::Passage,
    ports::{Radio, Received},
};

use crate::{passing, scene::Frame};

/// A simulated robot's radio.
#[derive(Clone, Debug, Default)]
pub struct Mailbox {
    said: Vec<Frame>,
    heard: VecDeque<Frame>,
    /// The last one that was listened to.
    last: Option<Frame>,
}

impl Mailbox {
    /// What the robot has said since this was last asked.
    pub fn take_said(&mut self) -> Vec<Frame> {
        std::mem::take(&mut self.said)
    }

    /// Lets the robot hear a frame.
    pub fn put(&mut self, frame: Frame) {
        self.heard.push_back(frame);
    }

    /// A frame with these bytes: the one that was listened to last, where it is that.
    #[must_use]
    pub fn frame(&self, bytes: &[u8]) -> Frame {
        self.last.as_ref().filter(|last| last[..] == *bytes).map_or_else(|| bytes.into(), Frame::clone)
    }

    /// Passes: who has skipped a tick has still to listen to what was said in it.
    pub fn pass(&mut self, passage: &mut Passage<'_>) {
        let Self { said, heard, last: _ } = self;
        passing::frames(passage, said);
        let mut waiting: Vec<Frame> = std::mem::take(heard).into();
        passing::frames(passage, &mut waiting);
        *heard = waiting.into();
    }

    /// Ends the listening window: what was not listened to is gone.
    pub fn clear(&mut self) {
        self.heard.clear();
    }
}

impl Radio for Mailbox {
    type Error = Infallible;

    fn send(&mut self, frame: &[u8]) -> Result<(), Infallible> {
        self.said.push(frame.into());
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<Received>, Infallible> {
        let Some(frame) = self.heard.pop_front() else { return Ok(None) };
        let received = deliver(&frame, buffer);
        self.last = Some(frame);
        Ok(Some(received))
    }
}

/// Copies as much of a frame as fits, and tells how long it is.
pub fn deliver(frame: &[u8], buffer: &mut [u8]) -> Received {
    let fits = frame.len().min(buffer.len());
    buffer[..fits].copy_from_slice(&frame[..fits]);
    Received::untimed(frame.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_longer_than_the_buffer_is_cut_and_tells_its_length() {
        let mut mailbox = Mailbox::default();
        mailbox.put([1, 2, 3].into());
        let mut buffer = [0; 2];
        assert_eq!(mailbox.receive(&mut buffer), Ok(Some(Received::untimed(3))));
        assert_eq!(buffer, [1, 2]);
        assert_eq!(mailbox.receive(&mut buffer), Ok(None));
    }
}
