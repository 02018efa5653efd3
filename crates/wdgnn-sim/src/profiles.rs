//! Link profiles, selected at run time: exchange interval, addresses and radio.
//!
//! One filter tap corresponds to one exchange, so a network must run at the exchange interval of
//! its training, which is in the weight file.

use serde::{Deserialize, Serialize};
use wdgnn_link::header;

use crate::{
    error::{Error, Result},
    model::ModelFile,
    radio::Radio,
};

/// Properties of a profile besides its encoding.
#[derive(Clone, Copy, Debug)]
struct ProfileInfo {
    name: &'static str,
    /// Profile code in frames.
    code: header::Profile,
    /// Radio of the profile.
    radio: Option<Radio>,
    /// Number of addresses in frames.
    addresses: usize,
    /// Name of networks for the exchange interval, in weight file names.
    network: &'static str,
}

macro_rules! profiles {
    ($($(#[$comment:meta])* $profile:ident: $info:expr;)+) => {
        /// Link profile.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
        #[serde(rename_all = "kebab-case")]
        pub enum Profile {
            $($(#[$comment])* $profile,)+
        }

        impl Profile {
            /// All profiles.
            pub const ALL: &'static [Self] = &[$(Self::$profile),+];

            fn info(self) -> ProfileInfo {
                match self {
                    $(Self::$profile => $info,)+
                }
            }
        }
    };
}

profiles! {
    /// Full precision at every tick, as in the paper; too long for small radios.
    #[default]
    Exact: ProfileInfo {
        name: "exact",
        code: header::Profile::Exact,
        radio: None,
        addresses: 65_536,
        network: "wd-gnn",
    };
    /// IEEE 802.15.4, one frame of at most 116 bytes, 20 exchanges a second.
    Dot154: ProfileInfo {
        name: "dot154",
        code: header::Profile::Dot154,
        radio: Some(Radio::Dot154),
        addresses: 65_536,
        network: "dot154",
    };
    /// nRF24, four frames of 32 bytes, 20 exchanges a second.
    Esb32: ProfileInfo {
        name: "esb32",
        code: header::Profile::Esb32,
        radio: Some(Radio::Nrf24),
        // The short header holds one byte of the address.
        addresses: 256,
        // Networks depend on the exchange interval only, which equals that of dot154.
        network: "dot154",
    };
    /// ESP-NOW, one frame of at most 250 bytes, 50 exchanges a second.
    Espnow: ProfileInfo {
        name: "espnow",
        code: header::Profile::EspNow,
        radio: Some(Radio::EspNow),
        addresses: 65_536,
        network: "espnow",
    };
    /// Crazyflie peer-to-peer packets, two frames of at most 57 bytes, 20 exchanges a second.
    P2p57: ProfileInfo {
        name: "p2p57",
        code: header::Profile::P2p57,
        radio: Some(Radio::Crazyflie),
        addresses: 65_536,
        // The exchange interval equals that of dot154.
        network: "dot154",
    };
}

impl Profile {
    /// Returns the name on the command line and in file names.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Returns the profile code in frames.
    pub fn code(self) -> u32 {
        self.info().code as u32
    }

    /// Returns the profile with this code.
    pub fn with_code(code: u32) -> Option<Self> {
        Self::ALL.iter().copied().find(|profile| profile.code() == code)
    }

    /// Returns the control ticks per exchange.
    pub fn exchange_ticks(self) -> u32 {
        self.info().code.exchange_ticks().into()
    }

    /// Returns the radio of the profile; `None` for `exact`.
    pub fn radio(self) -> Option<Radio> {
        self.info().radio
    }

    /// Returns the name of networks for this exchange interval, in weight file names.
    pub fn network(self) -> &'static str {
        self.info().network
    }

    /// Checks that the profile has addresses for `robots` robots.
    pub fn check_robots(self, robots: usize) -> Result {
        let addresses = self.info().addresses;
        if robots > addresses {
            return Err(Error::usage(format!(
                "--robots must be at most {addresses} on --profile {}, the number of its addresses, got {robots}",
                self.name()
            )));
        }
        Ok(())
    }

    /// Checks that a model was trained for this profile's exchange interval.
    ///
    /// Profiles with a radio also accept longer intervals.
    pub fn check(self, model: &ModelFile) -> Result {
        let trained = u32::from(model.weights().header.interval);
        if trained == self.exchange_ticks() || (self != Self::Exact && trained > self.exchange_ticks()) {
            return Ok(());
        }
        Err(Error::usage(format!(
            "{} was trained for one exchange every {}, but --profile {} has one every {}: choose another profile, or train \
             another network with `host-sim train --profile {}`",
            model.path().display(),
            ticks(trained),
            self.name(),
            ticks(self.exchange_ticks()),
            self.name()
        )))
    }
}

fn ticks(count: u32) -> String {
    if count == 1 { "tick".into() } else { format!("{count} ticks") }
}

#[cfg(test)]
mod tests {
    use wdgnn_core::tasks::flocking::Flocking;

    use super::*;
    use crate::{models, swarm::networks::Network};

    #[test]
    fn every_profile_has_a_model_of_its_exchange_interval() {
        for &profile in Profile::ALL {
            profile.check(&models::for_profile(profile).unwrap()).unwrap();
            profile.check(&models::other_for_profile(profile).unwrap()).unwrap();
        }
    }

    #[test]
    fn a_network_with_a_wrong_exchange_interval_is_rejected() {
        for (model, profile) in [(Profile::Dot154, Profile::Exact), (Profile::Exact, Profile::Dot154)] {
            let model = models::for_profile(model).unwrap();
            let refusal = Network::<Flocking>::of(&model, profile).map(drop).unwrap_err().to_string();
            assert!(refusal.contains("was trained for one exchange every"), "{refusal}");
        }
    }

    #[test]
    fn a_model_with_a_wrong_exchange_interval_is_rejected_with_advice() {
        let model = models::for_profile(Profile::Espnow).unwrap();
        let refusal = Profile::Dot154.check(&model).unwrap_err().to_string();
        assert!(refusal.contains("every 2 ticks") && refusal.contains("train --profile dot154"), "{refusal}");
        // A profile accepts models with a longer exchange interval.
        Profile::Espnow.check(&models::for_profile(Profile::Dot154).unwrap()).unwrap();
        assert!(Profile::Exact.check(&model).is_err());
    }
}
