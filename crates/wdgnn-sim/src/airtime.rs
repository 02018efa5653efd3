//! Airtime of frames on each radio, and the exchange rates that it allows.
//!
//! All robots are in range of each other: one collision domain, the worst case. Radios with slots
//! use TDMA, with time between two slots for turnaround and clock error. ESP-NOW senses the carrier
//! before it sends. Times are from standards and datasheets, not measured.

use wdgnn_core::tasks::flocking::Flocking;
use wdgnn_link::link::{MessageLink as _, RadioLink as _};
use wdgnn_robot::onboard::FlockingModel;

use crate::{
    medium::any_link::{AnyLink, AnyLinkOf, RobotKeys},
    profiles::Profile,
    radio::Radio,
};

/// Largest share of channel time for a schedule; the rest is for other networks.
pub const MAX_CHANNEL_USE: f64 = 0.8;

/// Relative drift of two clocks with an error of 100 ppm each.
const DRIFT: f64 = 200.0e-6;

impl Profile {
    /// Frames per exchange and bytes per frame, sealed, for the robots' network.
    pub fn frames(self) -> (usize, usize) {
        let keys = RobotKeys { group: &[0; 16], own: None };
        let link: AnyLinkOf<FlockingModel<'static>, Flocking> = AnyLink::new(self, 0, Some(keys));
        (link.frames_per_exchange() as usize, link.max_frame_len())
    }

    /// Exchanges per second at 100 ticks per second.
    pub fn rate(self) -> f64 {
        100.0 / f64::from(self.exchange_ticks())
    }
}

/// Airtime of a profile's frames on a radio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Airtime {
    /// Bytes per robot and exchange, radio overhead included.
    pub bytes: usize,
    /// Microseconds per robot and exchange, without the guard time for clocks.
    pub microseconds: f64,
}

impl Airtime {
    /// Computes the airtime; `None` when the frames do not fit into the radio's.
    pub fn new(profile: Profile, radio: Radio) -> Option<Self> {
        let (frames, bytes) = profile.frames();
        (bytes <= radio.max_bytes()).then(|| Self {
            bytes: frames * (bytes + radio.overhead_bytes()),
            microseconds: frames as f64 * radio.frame_us(bytes),
        })
    }

    /// Share of channel time that `robots` use at `rate` exchanges per second.
    ///
    /// Each robot needs a guard time for the drift of clocks between two exchanges.
    pub fn usage(&self, robots: usize, rate: f64) -> f64 {
        robots as f64 * (self.microseconds * 1.0e-6 * rate + DRIFT)
    }

    /// Highest rate within [`MAX_CHANNEL_USE`]; 0 when there is none.
    pub fn max_rate(&self, robots: usize) -> f64 {
        let guards = DRIFT * robots as f64;
        ((MAX_CHANNEL_USE - guards) / (robots as f64 * self.microseconds * 1.0e-6)).max(0.0)
    }

    /// Largest number of robots within [`MAX_CHANNEL_USE`].
    pub fn max_robots(&self, rate: f64) -> usize {
        (MAX_CHANNEL_USE / (self.microseconds * 1.0e-6 * rate + DRIFT)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_dot154_frame_by_hand() {
        // (101 + 17) · 32 + 192 = 3,968 µs. Ten robots at 20 Hz: 10 · (0.003968 · 20 + 0.0002) = 79.56 %.
        let airtime = Airtime::new(Profile::Dot154, Radio::Dot154).unwrap();
        assert_eq!((airtime.bytes, airtime.microseconds), (118, 3968.0));
        assert!((airtime.usage(10, 20.0) - 0.7956).abs() < 1.0e-12);
        assert_eq!(airtime.max_robots(20.0), 10);
        assert!((airtime.max_rate(10) - 20.11).abs() < 0.01);
    }

    #[test]
    fn four_short_frames_by_hand() {
        // 4 · ((32 + 8) · 4 + 134.5) = 1,178 µs.
        assert_eq!(Airtime::new(Profile::Esb32, Radio::Nrf24).unwrap().microseconds, 1178.0);
    }

    #[test]
    fn two_packets_of_a_crazyflie_by_hand() {
        // 2 · ((57 + 11) · 4 + 1.5 + 280) = 1,107 µs.
        assert_eq!(Airtime::new(Profile::P2p57, Radio::Crazyflie).unwrap().microseconds, 1107.0);
    }

    #[test]
    fn an_esp_now_frame_by_hand() {
        // 22 + 8 · (173 + 43) = 1,750 bits: 19 symbols. 20 + 76 + 6 + 28 + 67.5 = 197.5 µs.
        assert_eq!(Airtime::new(Profile::Espnow, Radio::EspNow).unwrap().microseconds, 197.5);
    }

    #[test]
    fn profiles_fit_their_radios_and_exact_fits_none() {
        for (profile, robots) in
            [(Profile::Dot154, 10), (Profile::Esb32, 10), (Profile::P2p57, 10), (Profile::Espnow, 50)]
        {
            let airtime = Airtime::new(profile, profile.radio().unwrap()).unwrap();
            assert!(airtime.usage(robots, profile.rate()) <= MAX_CHANNEL_USE, "{}", profile.name());
        }
        assert!(Radio::ALL.iter().all(|radio| Airtime::new(Profile::Exact, *radio).is_none()));
    }

    #[test]
    fn max_rate_uses_exactly_the_allowed_channel_time() {
        let airtime = Airtime::new(Profile::Dot154, Radio::Nrf52).unwrap();
        let rate = airtime.max_rate(50);
        assert!((airtime.usage(50, rate) - MAX_CHANNEL_USE).abs() < 1.0e-9);
        assert_eq!(airtime.max_robots(rate * 0.999), 50);
        assert_eq!(airtime.max_rate(5000), 0.0, "the guard times alone exceed the limit");
    }
}
