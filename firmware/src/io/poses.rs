//! Pose frames that a robot receives, and the command that starts and stops the swarm.

use wdgnn_link::{
    error::FrameError,
    frames::{
        PoseFrame, PoseHeader, U16Le, U32Le,
        poses::{POSE_BYTE, Switch},
    },
    header::FrameId,
    security::{ccm::BlockCipher, pose_key::PoseKey},
};

/// Frames with a new command that a robot sends, so that one of them arrives.
const ANNOUNCEMENTS: u8 = 4;

/// Time of the poses within a tick in microseconds: the first symbol of the second slot.
pub const POSE_SLOT_US: i32 = 900 + 4_530 + 211;

/// Age in seconds of the poses in a frame, at the start of a tick. All robots share the clock of ticks.
pub fn age(frame: &PoseFrame, tick: u32) -> f32 {
    let ticks = tick.wrapping_sub(frame.header.sequence.get()).cast_signed();
    let sent_us = ticks.saturating_mul(10_000).saturating_sub(POSE_SLOT_US);
    1.0e-6 * sent_us as f32 + 1.0e-4 * f32::from(frame.header.age.get())
}

/// Pose frames and the last command.
#[derive(Debug)]
pub struct PoseInbox<B> {
    key: PoseKey<B>,
    switch: Switch,
    image: Option<PoseFrame>,
    /// Number of accepted images.
    number: u16,
    announcements: u8,
}

impl<B: BlockCipher> PoseInbox<B> {
    /// Inbox of a robot with the swarm's key.
    pub fn new(key: PoseKey<B>) -> Self {
        Self { key, switch: Switch::default(), image: None, number: 0, announcements: 0 }
    }

    /// Sets the tick before which frames are recordings.
    pub fn set_since(&mut self, tick: u32) {
        self.key.set_since(tick);
    }

    /// Whether the swarm drives.
    pub fn is_on(&self) -> bool {
        self.switch.is_on()
    }

    /// Number of accepted images.
    pub fn number(&self) -> u16 {
        self.number
    }

    /// Whether a frame is for this inbox.
    pub fn takes(frame: &[u8]) -> bool {
        frame.first() == Some(&POSE_BYTE)
    }

    /// Reads a frame. Returns its sender, whose clock counts.
    ///
    /// # Errors
    /// The reason of the rejection.
    pub fn receive(&mut self, tick: u32, frame: &[u8]) -> Result<FrameId, FrameError> {
        match self.key.open(tick, frame) {
            Ok(frame) => {
                if !self.switch.follow(frame.header.command) {
                    // The sender missed the last command.
                    self.announcements = self.announcements.max(1);
                }
                let id = frame.header.id();
                if frame.poses().next().is_some() {
                    self.number = self.number.wrapping_add(1);
                    self.image = Some(frame);
                }
                Ok(id)
            }
            Err(error @ FrameError::OutOfWindow) => self.key.authenticate(frame).ok_or(error),
            Err(error) => Err(error),
        }
    }

    /// Takes the newest image.
    pub fn take_image(&mut self) -> Option<PoseFrame> {
        self.image.take()
    }

    /// Starts a standing swarm and stops a driving one.
    pub fn toggle(&mut self) {
        self.switch.toggle();
        self.announcements = ANNOUNCEMENTS;
    }

    /// Stops the swarm.
    pub fn stop(&mut self) {
        if self.switch.is_on() {
            self.toggle();
        }
    }

    /// Writes the image of a frame with the last command. Returns the length of the frame.
    pub fn seal(&self, id: FrameId, age: u16, image: Option<&PoseFrame>, buffer: &mut [u8]) -> Option<usize> {
        let header = PoseHeader {
            kind: POSE_BYTE,
            command: self.switch.command(),
            sender: U16Le::new(id.sender),
            boot: U32Le::new(id.boot),
            sequence: U32Le::new(id.sequence),
            age: U16Le::new(age),
        };
        let mut frame = PoseFrame::new(header);
        if let Some(image) = image {
            frame = PoseFrame { header, ..*image };
        }
        self.key.seal(&frame, buffer)
    }

    /// Writes a frame with a new command, if the robot has one to announce.
    pub fn announcement(&mut self, id: FrameId, buffer: &mut [u8]) -> Option<usize> {
        self.announcements = self.announcements.checked_sub(1)?;
        self.seal(id, 0, None, buffer)
    }
}
