//! Frame source with faults: loss, corruption, duplication and delay.

use std::{collections::VecDeque, sync::Arc};

use rand::{Rng as _, RngExt as _};
use rand_chacha::ChaCha8Rng;
use wdgnn_link::header::FrameId;

use super::{
    fault_value::ShareTicks,
    loss::{Channels, Loss},
    options::Faults,
    rx_queue::FrameSource,
};
use crate::scene::Frame;

/// Frame source with faults.
///
/// A receive window ends when the inner source returns `None`.
#[derive(Clone, Debug)]
pub struct FaultyLink<E> {
    inner: E,
    faults: Arc<Faults>,
    sender: fn(&[u8], u32) -> Option<FrameId>,
    random: ChaCha8Rng,
    channels: Channels,
    window: u32,
    /// Duplicates to deliver next.
    duplicates: VecDeque<Frame>,
    /// Delayed frames with the window in which they arrive, in order of sending.
    delayed: Vec<(u32, Frame)>,
}

impl<E: FrameSource> FaultyLink<E> {
    /// Wraps a frame source.
    ///
    /// `sender` reads the sender of a frame, since each link has its own loss bursts.
    pub fn new(
        inner: E, faults: Arc<Faults>, sender: fn(&[u8], u32) -> Option<FrameId>, random: ChaCha8Rng,
    ) -> Self {
        let channels = Channels::default();
        Self {
            inner,
            faults,
            sender,
            random,
            channels,
            window: 0,
            duplicates: VecDeque::new(),
            delayed: Vec::new(),
        }
    }

    /// Returns the inner source.
    pub fn inner(&mut self) -> &mut E {
        &mut self.inner
    }

    fn draw(&mut self, chance: f64) -> bool {
        chance > 0.0 && self.random.random_bool(chance.min(1.0))
    }

    /// Returns a delayed frame that is due. Delayed frames arrive after those in time.
    fn next_due(&mut self) -> Option<Frame> {
        let due = self.delayed.iter().position(|(window, _)| *window <= self.window)?;
        Some(self.delayed.remove(due).1)
    }

    /// Returns a copy of the frame with at least one change.
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
                // Inverts a range of bytes, so that the frame always changes.
                frame[from..=to].iter_mut().for_each(|byte| *byte ^= 0xff);
            }
            2 => self.random.fill_bytes(&mut frame),
            _ => frame.truncate(self.random.random_range(0..frame.len())),
        }
        frame.into()
    }
}

impl<E: FrameSource> FrameSource for FaultyLink<E> {
    fn next(&mut self) -> Option<Frame> {
        if let Some(frame) = self.duplicates.pop_front() {
            return Some(frame);
        }
        loop {
            let Some(frame) = self.inner.next() else {
                let next_due = self.next_due();
                self.window += u32::from(next_due.is_none());
                return next_due;
            };
            let sender = (self.sender)(&frame, 0).map_or(0, |identity| identity.sender);
            let Faults { drop_chance, burst, delay, attack_delay, duplicate_chance, corrupt_chance, .. } =
                *self.faults;
            let loss = Loss { chance: drop_chance, burst };
            if self.channels.lose(&loss, sender, &mut self.random) {
                continue;
            }
            let delay = match delay {
                Some(ShareTicks { share, ticks }) if self.draw(share) => {
                    self.random.random_range(1..=ticks.max(1))
                }
                _ => 0,
            };
            let windows = delay + attack_delay;
            if windows > 0 {
                self.delayed.push((self.window + windows, frame));
                continue;
            }
            if self.draw(duplicate_chance) {
                self.duplicates.push_back(frame.clone());
            }
            return Some(if self.draw(corrupt_chance) { self.corrupt(&frame) } else { frame });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        medium::rx_queue::RxQueue,
        seeds::{Purpose, generator},
    };

    /// Frames received in `windows` receive windows.
    ///
    /// One frame is sent in each: its window's number, eight times.
    fn heard(faults: &str, windows: u8) -> Vec<Vec<Vec<u8>>> {
        let faults = Arc::new(Faults::parse(faults).unwrap());
        let random = generator(4, Purpose::Air, 0);
        let mut radio = FaultyLink::new(RxQueue::default(), faults, |_, _| None, random);
        (0..windows)
            .map(|window| {
                radio.inner().put([window; 8].into());
                std::iter::from_fn(|| radio.next().map(|frame| frame.to_vec())).collect()
            })
            .collect()
    }

    #[test]
    fn without_faults_every_frame_arrives_in_its_window() {
        for (window, frames) in heard("", 100).iter().enumerate() {
            assert_eq!(frames, &[[window as u8; 8]]);
        }
    }

    #[test]
    fn lost_frames_do_not_arrive() {
        let arrived = heard("drop-chance=0.3", 250).iter().filter(|frames| !frames.is_empty()).count();
        assert!((155..195).contains(&arrived), "{arrived} of 250");
    }

    #[test]
    fn duplicated_frames_arrive_twice_and_unchanged() {
        let frames = heard("duplicate-chance=0.5", 200);
        assert!(frames.iter().all(|window| window.iter().all(|frame| *frame == window[0])));
        let twice = frames.iter().filter(|window| window.len() == 2).count();
        assert!((80..120).contains(&twice), "{twice} of 200");
        assert!(frames.iter().all(|window| (1..=2).contains(&window.len())));
    }

    #[test]
    fn late_frames_arrive_within_the_largest_delay() {
        let frames = heard("delay=0.5:3", 200);
        let delays: Vec<usize> = (0..)
            .zip(&frames)
            .flat_map(|(window, frames)| frames.iter().map(move |frame| window - usize::from(frame[0])))
            .collect();
        assert!(delays.iter().all(|delay| *delay <= 3));
        assert!(delays.iter().filter(|delay| **delay > 0).count() > 70);
        assert!(delays.len() >= 197, "all but those still delayed: {}", delays.len());
    }

    #[test]
    fn frames_held_back_arrive_in_order_after_the_delay() {
        let frames = heard("attack-delay=3", 50);
        assert!(frames[..3].iter().all(Vec::is_empty));
        assert!((0..).zip(&frames[3..]).all(|(window, frames)| *frames == [[window; 8]]));
    }

    #[test]
    fn corrupted_frames_always_differ_from_the_original() {
        let frames = heard("corrupt-chance=1", 250);
        assert!((0..).zip(&frames).all(|(window, frames)| frames[0] != [window; 8]));
        assert!(frames.iter().any(|frames| frames[0].len() < 8), "some are truncated");
        let one_bit = |window: u8, frame: &[u8]| {
            frame.iter().map(|byte| (byte ^ window).count_ones()).sum::<u32>() == 1 && frame.len() == 8
        };
        assert!((0..).zip(&frames).any(|(window, frames)| one_bit(window, &frames[0])));
    }

    #[test]
    fn equal_seeds_give_equal_faults() {
        let faults =
            "drop-chance=0.2 burst=4 corrupt-chance=0.1 duplicate-chance=0.2 delay=0.2:5 attack-delay=1";
        assert_eq!(heard(faults, 200), heard(faults, 200));
    }
}
