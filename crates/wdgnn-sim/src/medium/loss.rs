//! Frame loss: independent, or in bursts per link (Gilbert 1960, Elliott 1963).

use std::collections::BTreeMap;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_core::task::NodeId;

/// Rate and burst length of frame loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// Share of frames that are lost.
    pub chance: f64,
    /// Mean length of a loss burst on one link; losses are independent at 1 and below.
    pub burst: f64,
}

/// Gilbert–Elliott states of one receiver's links.
///
/// A bad link loses every frame, a good link loses none.
#[derive(Clone, Debug, Default)]
pub struct Channels {
    bad: BTreeMap<NodeId, bool>,
}

impl Channels {
    /// Returns whether the next frame on the link from `sender` is lost.
    ///
    /// A bad link turns good with probability 1/burst per frame. A good link turns bad with
    /// probability chance / (1 − chance) / burst, which keeps the share of lost frames at `chance`.
    /// A link starts in its stationary distribution.
    pub fn lose(&mut self, loss: &Loss, sender: NodeId, random: &mut ChaCha8Rng) -> bool {
        if loss.chance <= 0.0 {
            return false;
        }
        if loss.burst <= 1.0 || loss.chance >= 1.0 {
            return random.random_bool(loss.chance.min(1.0));
        }
        let bad = match self.bad.get(&sender) {
            None => random.random_bool(loss.chance),
            Some(true) => !random.random_bool(1.0 / loss.burst),
            Some(false) => random.random_bool((loss.chance / (1.0 - loss.chance) / loss.burst).min(1.0)),
        };
        self.bad.insert(sender, bad);
        bad
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds::{Purpose, generator};

    /// Share of lost frames and mean length of a burst over 100,000 frames of one link.
    fn measured(loss: Loss) -> (f64, f64) {
        let mut random = generator(1, Purpose::Air, 0);
        let mut channels = Channels::default();
        let lost: Vec<bool> = (0..100_000).map(|_| channels.lose(&loss, 7, &mut random)).collect();
        let count = lost.iter().filter(|lost| **lost).count() as f64;
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        (count / 100_000.0, count / bursts)
    }

    #[test]
    fn independent_losses_have_the_configured_share() {
        let (share, burst) = measured(Loss { chance: 0.3, burst: 1.0 });
        assert!((share - 0.3).abs() < 0.01, "{share}");
        assert!((burst - 1.0 / 0.7).abs() < 0.02, "consecutive losses by chance: {burst}");
    }

    #[test]
    fn loss_bursts_have_the_configured_share_and_length() {
        let (share, burst) = measured(Loss { chance: 0.3, burst: 8.0 });
        assert!((share - 0.3).abs() < 0.02, "{share}");
        assert!((burst - 8.0).abs() < 0.4, "{burst}");
    }

    #[test]
    fn links_turn_bad_independently() {
        let mut random = generator(2, Purpose::Air, 0);
        let mut channels = Channels::default();
        let loss = Loss { chance: 0.5, burst: 50.0 };
        let equal = (0..10_000)
            .filter(|_| channels.lose(&loss, 1, &mut random) == channels.lose(&loss, 2, &mut random))
            .count();
        assert!((3_000..7_000).contains(&equal), "{equal} of 10,000 equal");
    }
}
