//! Replay attack: records received frames and plays them back later.

use super::rx_queue::FrameSource;
use crate::scene::Frame;

/// Frame source with a replay attack.
///
/// Receive windows are counted as in [`super::faulty_link`].
#[derive(Clone, Debug)]
pub struct ReplayAttack<E> {
    inner: E,
    /// First window of playback; `None` records nothing.
    from: Option<u32>,
    window: u32,
    recording: Vec<Vec<Frame>>,
    /// Recorded frames still to be played in this window.
    playing: std::ops::Range<usize>,
    played: u64,
}

impl<E: FrameSource> ReplayAttack<E> {
    /// Records until window `from`, then plays one recorded window per window, repeatedly.
    pub fn new(inner: E, from: Option<u32>) -> Self {
        Self { inner, from, window: 0, recording: Vec::new(), playing: 0..0, played: 0 }
    }

    /// Returns the inner source.
    pub fn inner(&mut self) -> &mut E {
        &mut self.inner
    }

    /// Returns the number of recorded frames that were played.
    pub fn played_frames(&self) -> u64 {
        self.played
    }

    /// Returns the recorded window that is played in the current one.
    fn recorded(&self) -> Option<&Vec<Frame>> {
        let since = self.window.checked_sub(self.from?)?;
        self.recording.get(since as usize % self.recording.len().max(1))
    }

    fn next_window(&mut self) {
        self.window += 1;
        self.playing = 0..self.recorded().map_or(0, Vec::len);
    }
}

impl<E: FrameSource> FrameSource for ReplayAttack<E> {
    /// Recorded frames come first: if receivers accepted them, they would displace true ones.
    fn next(&mut self) -> Option<Frame> {
        if let Some(index) = self.playing.next()
            && let Some(frame) = self.recorded().and_then(|frames| frames.get(index)).cloned()
        {
            self.played += 1;
            return Some(frame);
        }
        let heard = self.inner.next();
        if self.from.is_some_and(|from| self.window < from) {
            self.recording.resize_with(self.window as usize + 1, Vec::new);
            if let (Some(frame), Some(window)) = (&heard, self.recording.last_mut()) {
                window.push(frame.clone());
            }
        }
        if heard.is_none() {
            self.next_window();
        }
        heard
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::medium::rx_queue::RxQueue;

    #[test]
    fn recorded_frames_are_replayed_before_new_ones() {
        let mut radio = ReplayAttack::new(RxQueue::default(), Some(2));
        let window = |radio: &mut ReplayAttack<RxQueue>, number: u8| -> Vec<u8> {
            radio.inner().put([number].into());
            std::iter::from_fn(|| radio.next().map(|frame| frame[0])).collect()
        };
        let heard: Vec<Vec<u8>> = (0..6).map(|number| window(&mut radio, number)).collect();
        assert_eq!(heard, [vec![0], vec![1], vec![0, 2], vec![1, 3], vec![0, 4], vec![1, 5]]);
        assert_eq!(radio.played_frames(), 4);
    }
}
