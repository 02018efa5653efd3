//! Link profiles, chosen at run time: which codec, how often robots exchange, which radio it is for. One row of one table each.
//!
//! One filter tap is one exchange, so a network flies at the exchange rate that it was trained at: the weight file says which.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};
use wdgnn_core::{online::Learning, task::NodeId};
use wdgnn_link::{
    encoding::{Codec, esb32, exact::Exact, half, p2p57},
    header,
    security::{
        ccm::BlockCipher,
        group_key::{ROSTER, SealedWith},
        key::Key,
    },
};
use wdgnn_robot::config::Behaviour;

use crate::{
    cipher::Shared,
    error::{Error, Result},
    model::ModelFile,
    radio::Radio,
};

/// A codec as it is flown, with a key or without one.
pub trait SimCodec: Codec + Debug + Send + Sync + 'static {
    /// One that has heard nothing yet. A codec that seals nothing has no use for the key.
    fn with_key(key: &Key) -> Self;

    /// The same for a robot whose key can change in flight. A codec that seals nothing has no use for that.
    fn with_own(key: &Key, _own: &RobotKeys) -> Self
    where
        Self: Sized,
    {
        Self::with_key(key)
    }
}

/// What a robot whose key can change is told of its own.
#[expect(missing_debug_implementations, reason = "there are keys in it")]
pub struct RobotKeys {
    /// Its address.
    pub name: NodeId,
    /// Its personal key.
    pub personal: Key,
    /// The epoch of the swarm's key that it begins with.
    pub epoch: u8,
    /// Where names are proven, the keys by which others prove theirs.
    pub roster: &'static [Key],
}

impl<C, B, const TAG: usize, const ROSTER: usize> SimCodec for SealedWith<C, B, TAG, ROSTER>
where
    C: Codec + Default + Send + Sync + 'static,
    B: BlockCipher + Send + Sync + 'static,
{
    fn with_key(key: &Key) -> Self {
        Self::with_cipher(C::default(), B::with_key(key))
    }

    fn with_own(key: &Key, own: &RobotKeys) -> Self {
        let RobotKeys { name, personal, epoch, roster } = own;
        Self::with_key(key).rekeyed(*name, personal, *epoch, key).knowing(*name, personal, roster)
    }
}

/// Any profile, sealed, with room for keys that change in flight and for names that are proven.
type Sealed<C, const TAG: usize = 8> = SealedWith<C, Shared, TAG, ROSTER>;

/// A codec without a key, and its sealed form.
pub trait LinkCodec: SimCodec + Clone + Default {
    /// With a key.
    type Sealed: SimCodec;
}

/// Something to do with a codec that is known only now, sealed or not.
pub trait CodecVisitor {
    /// What comes out.
    type Output;

    /// Does it.
    fn visit<C: SimCodec>(self) -> Self::Output;
}

/// Something to do with a codec without a key that is known only now.
pub trait LinkVisitor {
    /// What comes out.
    type Output;

    /// Does it.
    fn visit<P: LinkCodec>(self) -> Self::Output;
}

/// What there is to know about a profile besides its codec.
#[derive(Clone, Copy, Debug)]
struct Row {
    name: &'static str,
    /// As its frames say.
    code: header::Profile,
    /// The radio that it is made for.
    radio: Option<Radio>,
    /// How many robots its frames have addresses for.
    addresses: usize,
    /// The network of its exchange rate, in the names of weight files.
    network: &'static str,
}

macro_rules! profiles {
    ($($(#[$comment:meta])* $profile:ident: $codec:ty, $sealed:ty, $row:expr;)+) => {
        /// A link profile.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
        #[serde(rename_all = "kebab-case")]
        pub enum Profile {
            $($(#[$comment])* $profile,)+
        }

        impl Profile {
            /// Every profile.
            pub const ALL: &'static [Self] = &[$(Self::$profile),+];

            fn row(self) -> Row {
                match self {
                    $(Self::$profile => $row,)+
                }
            }
        }

        $(impl LinkCodec for $codec {
            type Sealed = $sealed;
        }

        impl SimCodec for $codec {
            fn with_key(_: &Key) -> Self {
                Self::default()
            }
        }
)+

        /// Calls `visitor` with the codec of this profile, sealed or not.
        pub fn visit_codec<V: CodecVisitor>(profile: Profile, sealed: bool, visitor: V) -> V::Output {
            match (profile, sealed) {
                $((Profile::$profile, false) => visitor.visit::<$codec>(),
                (Profile::$profile, true) => visitor.visit::<$sealed>(),)+
            }
        }

        /// Calls `visitor` with the codec of this profile, sealed.
        pub fn visit_sealed<V: CodecVisitor>(profile: Profile, visitor: V) -> V::Output {
            match profile {
                $(Profile::$profile => visitor.visit::<$sealed>(),)+
            }
        }

        /// Calls `visitor` with the codec of this profile, not sealed.
        pub fn visit_link<V: LinkVisitor>(profile: Profile, visitor: V) -> V::Output {
            match profile {
                $(Profile::$profile => visitor.visit::<$codec>(),)+
            }
        }
    };
}

profiles! {
    /// Everything in f32 at every tick: the paper's exchange, which fits no small radio.
    #[default]
    Exact: Exact, Sealed<Exact>, Row {
        name: "exact",
        code: header::Profile::Exact,
        radio: None,
        addresses: 65_536,
        network: "wd-gnn",
    };
    /// IEEE 802.15.4, one frame of at most 116 bytes, 20 exchanges a second.
    Dot154: half::Dot154, Sealed<half::Dot154>, Row {
        name: "dot154",
        code: header::Profile::Dot154,
        radio: Some(Radio::Dot154),
        addresses: 65_536,
        network: "dot154",
    };
    /// nRF24, four frames of 32 bytes, 20 exchanges a second.
    Esb32: esb32::Esb32, Sealed<esb32::Esb32, 4>, Row {
        name: "esb32",
        code: header::Profile::Esb32,
        radio: Some(Radio::Nrf24),
        // One byte of its short header.
        addresses: 256,
        // 20 exchanges a second are the same network on either radio.
        network: "dot154",
    };
    /// ESP-NOW, one frame of at most 250 bytes, 50 exchanges a second.
    Espnow: half::EspNow, Sealed<half::EspNow>, Row {
        name: "espnow",
        code: header::Profile::EspNow,
        radio: Some(Radio::EspNow),
        addresses: 65_536,
        network: "espnow",
    };
    /// A Crazyflie's peer-to-peer packets, two frames of at most 57 bytes, 20 exchanges a second.
    P2p57: p2p57::P2p57, Sealed<p2p57::P2p57>, Row {
        name: "p2p57",
        code: header::Profile::P2p57,
        radio: Some(Radio::Crazyflie),
        addresses: 65_536,
        // As esb32.
        network: "dot154",
    };
}

impl Profile {
    /// The name on the command line and in file names.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The code in its frames.
    pub fn code(self) -> u32 {
        self.row().code as u32
    }

    /// The profile with this code in its frames.
    pub fn with_code(code: u32) -> Option<Self> {
        Self::ALL.iter().copied().find(|profile| profile.code() == code)
    }

    /// Control ticks per exchange.
    pub fn exchange(self) -> u32 {
        self.row().code.interval().into()
    }

    /// The radio that a profile is made for; `exact` is for none.
    pub fn radio(self) -> Option<Radio> {
        self.row().radio
    }

    /// What networks of its exchange rate are called in the names of weight files.
    pub fn network(self) -> &'static str {
        self.row().network
    }

    /// How a node behaves on this profile.
    pub fn behaviour(self, learning: Learning) -> Behaviour {
        Behaviour::new(learning).every(self.exchange())
    }

    /// Checks that there are addresses for so many robots.
    pub fn check_robots(self, robots: usize) -> Result {
        let addresses = self.row().addresses;
        if robots > addresses {
            return Err(Error::usage(format!(
                "--robots must be at most {addresses} on --profile {}, the number of its addresses, got {robots}",
                self.name()
            )));
        }
        Ok(())
    }

    /// Checks that a model was trained for this profile's exchange rate, or for a lower rate on a profile with a radio.
    pub fn check(self, model: &ModelFile) -> Result {
        let trained = u32::from(model.weights().header.interval);
        if trained == self.exchange() || (self != Self::Exact && trained > self.exchange()) {
            return Ok(());
        }
        Err(Error::usage(format!(
            "{} was trained for one exchange every {}, but --profile {} has one every {}: choose another profile, or train \
             another network with `host-sim train --profile {}`",
            model.path().display(),
            ticks(trained),
            self.name(),
            ticks(self.exchange()),
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
    use crate::{models, recipe::RecipeName, swarm::networks::Network};

    #[test]
    fn every_profile_comes_with_a_model_of_its_exchange_rate() {
        for recipe in [RecipeName::Ours, RecipeName::Through] {
            for &profile in Profile::ALL {
                profile.check(&models::of_profile(recipe, profile).unwrap()).unwrap();
            }
        }
    }

    #[test]
    fn a_network_of_another_exchange_rate_cannot_be_made() {
        for (model, profile) in [(Profile::Dot154, Profile::Exact), (Profile::Exact, Profile::Dot154)] {
            let model = models::of_profile(RecipeName::Ours, model).unwrap();
            let refusal = Network::<Flocking>::of(&model, profile).map(drop).unwrap_err().to_string();
            assert!(refusal.contains("was trained for one exchange every"), "{refusal}");
        }
    }

    #[test]
    fn a_model_of_another_exchange_rate_is_refused_with_the_way_out() {
        let model = models::of_profile(RecipeName::Ours, Profile::Espnow).unwrap();
        let refusal = Profile::Dot154.check(&model).unwrap_err().to_string();
        assert!(refusal.contains("every 2 ticks") && refusal.contains("train --profile dot154"), "{refusal}");
        // The other way round there is room.
        Profile::Espnow.check(&models::of_profile(RecipeName::Ours, Profile::Dot154).unwrap()).unwrap();
        assert!(Profile::Exact.check(&model).is_err());
    }
}
