//! Link profiles, chosen at run time: which codec, how often robots exchange, and for how long a silent neighbour is held.
//!
//! One filter tap is one exchange, so a network flies at the exchange rate that it was trained at: the weight file says which.

use std::{fmt::Debug, marker::PhantomData};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use wdgnn_core::{
    behaviour::Behaviour,
    codec::{Codec, Exact},
    compact::{Dot154, EspNow},
    esb32::Esb32,
    message,
    online::Learning,
    seal::{Key, Sealed, SealedEsb32},
};

use crate::{
    error::{Error, Result},
    model::ModelFile,
    shapes::{self, Dimensions, Shape, Visitor},
};

/// A link profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Everything in f32 at every tick: the paper's exchange, which fits no small radio.
    #[default]
    Exact,
    /// IEEE 802.15.4, one frame of at most 116 bytes, 20 exchanges a second.
    Dot154,
    /// nRF24, four frames of 32 bytes, 20 exchanges a second.
    Esb32,
    /// ESP-NOW, one frame of at most 250 bytes, 50 exchanges a second.
    Espnow,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 4] = [Self::Exact, Self::Dot154, Self::Esb32, Self::Espnow];

    /// The name on the command line and in file names.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Dot154 => "dot154",
            Self::Esb32 => "esb32",
            Self::Espnow => "espnow",
        }
    }

    /// Control ticks per exchange.
    #[must_use]
    pub fn exchange(self) -> u32 {
        let profile = match self {
            Self::Exact => message::Profile::Exact,
            Self::Dot154 => message::Profile::Dot154,
            Self::Esb32 => message::Profile::Esb32,
            Self::Espnow => message::Profile::EspNow,
        };
        profile.interval().into()
    }

    /// How a node behaves on this profile.
    #[must_use]
    pub fn behaviour(self, learning: Learning) -> Behaviour {
        Behaviour::new(learning).every(self.exchange())
    }

    /// Checks that there are addresses for so many robots.
    ///
    /// # Errors
    /// [`Error::Usage`] with the most there can be.
    pub fn check_robots(self, robots: usize) -> Result {
        // The short header of esb32 has one byte for an address.
        if self == Self::Esb32 && robots > 256 {
            return Err(Error::usage(format!(
                "--robots {robots} cannot be on esb32, which has 256 addresses"
            )));
        }
        Ok(())
    }

    /// Checks that a model was trained for this profile's exchange rate, or for a lower one: the air has room for that, too.
    ///
    /// # Errors
    /// [`Error::Usage`] that says how to train one that is.
    pub fn check(self, model: &ModelFile) -> Result {
        let trained = u32::from(model.weights().header.interval);
        if trained == self.exchange() || (self != Self::Exact && trained > self.exchange()) {
            return Ok(());
        }
        Err(Error::usage(format!(
            "{} was trained with an exchange in every {trained} ticks, --profile {} has one in every {}: train it with \
             `host-sim train --profile {}`",
            model.path().display(),
            self.name(),
            self.exchange(),
            self.name()
        )))
    }
}

/// Something to do with a network's shape and a codec that are known only now.
pub trait LinkVisitor {
    /// What comes out.
    type Output;

    /// Does it.
    fn visit<S: Shape<TAPS, G>, const TAPS: usize, const G: usize, P: LinkCodec>(self) -> Self::Output;
}

/// A codec as it is flown, with a key or without one.
pub trait FlownCodec: Codec + Debug + Send + Sync + 'static {
    /// One that has heard nothing yet. A codec that seals nothing has no use for the key.
    fn with_key(key: &Key) -> Self;
}

/// A codec without a key, and its sealed form.
pub trait LinkCodec: FlownCodec + Clone + Default {
    /// With a key.
    type Sealed: FlownCodec;
}

macro_rules! sealed {
    ($($codec:ty: $sealed:ty),+ $(,)?) => {
        $(
            impl LinkCodec for $codec {
                type Sealed = $sealed;
            }

            impl FlownCodec for $codec {
                fn with_key(_: &Key) -> Self {
                    Self::default()
                }
            }

            impl FlownCodec for $sealed {
                fn with_key(key: &Key) -> Self {
                    Self::new(<$codec>::default(), key)
                }
            }
        )+
    };
}

sealed! { Exact: Sealed<Exact>, Dot154: Sealed<Dot154>, EspNow: Sealed<EspNow>, Esb32: SealedEsb32 }

/// Something to do with a codec that is known only now.
pub trait CodecVisitor {
    /// What comes out.
    type Output;

    /// Does it.
    fn visit<C: FlownCodec>(self) -> Self::Output;
}

/// Calls `visitor` with the codec of this profile, sealed or not.
pub fn visit_codec<V: CodecVisitor>(profile: Profile, sealed: bool, visitor: V) -> V::Output {
    fn choose<P: LinkCodec, V: CodecVisitor>(sealed: bool, visitor: V) -> V::Output {
        if sealed { visitor.visit::<P::Sealed>() } else { visitor.visit::<P>() }
    }
    match profile {
        Profile::Exact => choose::<Exact, V>(sealed, visitor),
        Profile::Dot154 => choose::<Dot154, V>(sealed, visitor),
        Profile::Esb32 => choose::<Esb32, V>(sealed, visitor),
        Profile::Espnow => choose::<EspNow, V>(sealed, visitor),
    }
}

/// Calls `visitor` with the shape of these dimensions and the codec of this profile.
///
/// # Errors
/// [`Error::Usage`] naming the shapes that fit.
pub fn visit<V: LinkVisitor>(profile: Profile, dimensions: Dimensions, visitor: V) -> Result<V::Output> {
    match profile {
        Profile::Exact => shapes::visit(dimensions, On::<V, Exact>(visitor, PhantomData)),
        _ => visit_compact(profile, dimensions, visitor),
    }
}

/// As [`visit`], for shapes that fit every profile.
///
/// # Errors
/// As [`visit`].
pub fn visit_compact<V: LinkVisitor>(
    profile: Profile,
    dimensions: Dimensions,
    visitor: V,
) -> Result<V::Output> {
    match profile {
        Profile::Exact => shapes::visit_compact(dimensions, On::<V, Exact>(visitor, PhantomData)),
        Profile::Dot154 => shapes::visit_compact(dimensions, On::<V, Dot154>(visitor, PhantomData)),
        Profile::Esb32 => shapes::visit_compact(dimensions, On::<V, Esb32>(visitor, PhantomData)),
        Profile::Espnow => shapes::visit_compact(dimensions, On::<V, EspNow>(visitor, PhantomData)),
    }
}

/// Checks that networks of these dimensions can be flown on a profile.
///
/// # Errors
/// As [`visit`].
pub fn check_shape(profile: Profile, dimensions: Dimensions) -> Result {
    struct Nothing;
    impl LinkVisitor for Nothing {
        type Output = ();

        fn visit<S: Shape<TAPS, G>, const TAPS: usize, const G: usize, P: LinkCodec>(self) {}
    }
    visit(profile, dimensions, Nothing)
}

/// A visitor of links as a visitor of shapes, with the codec settled.
struct On<V, P>(V, PhantomData<P>);

impl<V: LinkVisitor, P: LinkCodec> Visitor for On<V, P> {
    type Output = V::Output;

    fn visit<S: Shape<TAPS, G>, const TAPS: usize, const G: usize>(self) -> Self::Output {
        self.0.visit::<S, TAPS, G, P>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models;

    #[test]
    fn every_profile_comes_with_a_model_of_its_exchange_rate() {
        for profile in Profile::ALL {
            profile.check(&models::of_profile(profile).unwrap()).unwrap();
        }
    }

    #[test]
    fn a_model_of_another_exchange_rate_is_refused_with_the_way_out() {
        let model = models::of_profile(Profile::Espnow).unwrap();
        let refusal = Profile::Dot154.check(&model).unwrap_err().to_string();
        assert!(refusal.contains("every 2 ticks") && refusal.contains("train --profile dot154"), "{refusal}");
        // The other way round there is room.
        Profile::Espnow.check(&models::of_profile(Profile::Dot154).unwrap()).unwrap();
        assert!(Profile::Exact.check(&model).is_err());
    }
}
