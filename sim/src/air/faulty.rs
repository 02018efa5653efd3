//! An ear with faults: wraps any other and loses, harms, doubles and delays what it hears.

use std::collections::VecDeque;

use rand::{Rng as _, RngExt as _};
use rand_chacha::ChaCha8Rng;
use wdgnn_link::header::Identity;

use super::{
    loss::{Channels, Loss},
    mailbox::Ear,
    options::Delay,
};
use crate::scene::Frame;

/// What happens to frames. All chances are per frame and receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadioFaults {
    /// Frames that do not arrive.
    pub loss: Loss,
    /// Chance that a frame arrives with anything from one bit to all of it changed.
    pub corrupt: f64,
    /// Chance that a frame arrives twice.
    pub duplicate: f64,
    /// Share of frames that arrive late, and their largest delay in listening windows.
    pub delay: Option<Delay>,
    /// By how many listening windows somebody holds back every frame.
    pub hold_back: u32,
}

impl RadioFaults {
    /// Nothing happens.
    pub const NONE: Self = Self { loss: Loss::NONE, corrupt: 0.0, duplicate: 0.0, delay: None, hold_back: 0 };
}

/// An ear with faults. A listening window ends when the ear inside has nothing more to say.
#[derive(Clone, Debug)]
pub struct Faulty<E> {
    inner: E,
    faults: RadioFaults,
    sender: fn(&[u8]) -> Option<Identity>,
    random: ChaCha8Rng,
    channels: Channels,
    window: u32,
    /// Frames heard a second time.
    again: VecDeque<Frame>,
    /// Frames to come with the window in which they do, in the order in which they were sent.
    late: Vec<(u32, Frame)>,
}

impl<E: Ear> Faulty<E> {
    /// Wraps an ear. `sender` reads whose frame it is, so that every link has its own bursts of losses.
    pub fn new(
        inner: E,
        faults: RadioFaults,
        sender: fn(&[u8]) -> Option<Identity>,
        random: ChaCha8Rng,
    ) -> Self {
        let channels = Channels::default();
        Self { inner, faults, sender, random, channels, window: 0, again: VecDeque::new(), late: Vec::new() }
    }

    /// The ear inside.
    pub fn inner(&mut self) -> &mut E {
        &mut self.inner
    }

    fn happens(&mut self, chance: f64) -> bool {
        chance > 0.0 && self.random.random_bool(chance.min(1.0))
    }

    /// A frame whose time has come: behind those that are in time.
    fn overdue(&mut self) -> Option<Frame> {
        let due = self.late.iter().position(|(window, _)| *window <= self.window)?;
        Some(self.late.remove(due).1)
    }

    /// A frame that is not what was said.
    fn corrupt(&mut self, frame: &[u8]) -> Frame {
        let mut frame = frame.to_vec();
        match self.random.random_range(0..4) {
            _ if frame.is_empty() => {}
            0 => {
                let bit = self.random.random_range(0..8 * frame.len());
                frame[bit / 8] ^= 1 << (bit % 8);
            }
            1 => {
                let from = self.random.random_range(0..frame.len());
                let to = self.random.random_range(from..frame.len());
                // Never a change by nothing.
                frame[from..=to].iter_mut().for_each(|byte| *byte ^= 0xff);
            }
            2 => self.random.fill_bytes(&mut frame),
            _ => frame.truncate(self.random.random_range(0..frame.len())),
        }
        frame.into()
    }
}

impl<E: Ear> Ear for Faulty<E> {
    fn next(&mut self) -> Option<Frame> {
        if let Some(frame) = self.again.pop_front() {
            return Some(frame);
        }
        loop {
            let Some(frame) = self.inner.next() else {
                let overdue = self.overdue();
                self.window += u32::from(overdue.is_none());
                return overdue;
            };
            let sender = (self.sender)(&frame).map_or(0, |identity| identity.sender);
            let loss = self.faults.loss;
            if self.channels.lose(&loss, sender, &mut self.random) {
                continue;
            }
            let Delay { share, ticks } = self.faults.delay.unwrap_or(Delay { share: 0.0, ticks: 0 });
            let late = if self.happens(share) { self.random.random_range(1..=ticks.max(1)) } else { 0 };
            let windows = late + self.faults.hold_back;
            if windows > 0 {
                self.late.push((self.window + windows, frame));
                continue;
            }
            if self.happens(self.faults.duplicate) {
                self.again.push_back(frame.clone());
            }
            return Some(if self.happens(self.faults.corrupt) { self.corrupt(&frame) } else { frame });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        air::mailbox::Mailbox,
        seeds::{Purpose, generator},
    };

    /// What arrives of `windows` listening windows, in each of which one frame is said: its window's number, eight times.
    fn heard(faults: RadioFaults, windows: u8) -> Vec<Vec<Vec<u8>>> {
        let random = generator(4, Purpose::Air, 0);
        let mut radio = Faulty::new(Mailbox::default(), faults, |_| None, random);
        (0..windows)
            .map(|window| {
                radio.inner().put([window; 8].into());
                std::iter::from_fn(|| radio.next().map(|frame| frame.to_vec())).collect()
            })
            .collect()
    }

    #[test]
    fn without_faults_everything_arrives_in_its_window() {
        for (window, frames) in heard(RadioFaults::NONE, 100).iter().enumerate() {
            assert_eq!(frames, &[[window as u8; 8]]);
        }
    }

    #[test]
    fn lost_frames_do_not_arrive() {
        let faults = RadioFaults { loss: Loss { chance: 0.3, burst: 1.0 }, ..RadioFaults::NONE };
        let arrived = heard(faults, 250).iter().filter(|frames| !frames.is_empty()).count();
        assert!((155..195).contains(&arrived), "{arrived} of 250");
    }

    #[test]
    fn doubled_frames_arrive_twice_and_unchanged() {
        let frames = heard(RadioFaults { duplicate: 0.5, ..RadioFaults::NONE }, 200);
        assert!(frames.iter().all(|window| window.iter().all(|frame| *frame == window[0])));
        let twice = frames.iter().filter(|window| window.len() == 2).count();
        assert!((80..120).contains(&twice), "{twice} of 200");
        assert!(frames.iter().all(|window| (1..=2).contains(&window.len())));
    }

    #[test]
    fn late_frames_arrive_within_the_latest_window_and_none_is_lost() {
        let frames =
            heard(RadioFaults { delay: Some(Delay { share: 0.5, ticks: 3 }), ..RadioFaults::NONE }, 200);
        let delays: Vec<usize> = (0..)
            .zip(&frames)
            .flat_map(|(window, frames)| frames.iter().map(move |frame| window - usize::from(frame[0])))
            .collect();
        assert!(delays.iter().all(|delay| *delay <= 3));
        assert!(delays.iter().filter(|delay| **delay > 0).count() > 70);
        assert!(delays.len() >= 197, "all but those still on their way: {}", delays.len());
    }

    #[test]
    fn frames_that_are_held_back_all_come_so_much_later_in_order() {
        let frames = heard(RadioFaults { hold_back: 3, ..RadioFaults::NONE }, 50);
        assert!(frames[..3].iter().all(Vec::is_empty));
        assert!((0..).zip(&frames[3..]).all(|(window, frames)| *frames == [[window; 8]]));
    }

    #[test]
    fn harmed_frames_are_never_what_was_said() {
        let frames = heard(RadioFaults { corrupt: 1.0, ..RadioFaults::NONE }, 250);
        assert!((0..).zip(&frames).all(|(window, frames)| frames[0] != [window; 8]));
        assert!(frames.iter().any(|frames| frames[0].len() < 8), "some are cut");
        let one_bit = |window: u8, frame: &[u8]| {
            frame.iter().map(|byte| (byte ^ window).count_ones()).sum::<u32>() == 1 && frame.len() == 8
        };
        assert!((0..).zip(&frames).any(|(window, frames)| one_bit(window, &frames[0])));
    }

    #[test]
    fn the_same_seed_does_the_same() {
        let faults = RadioFaults {
            loss: Loss { chance: 0.2, burst: 4.0 },
            corrupt: 0.1,
            duplicate: 0.2,
            delay: Some(Delay { share: 0.2, ticks: 5 }),
            hold_back: 1,
        };
        assert_eq!(heard(faults, 200), heard(faults, 200));
    }
}
