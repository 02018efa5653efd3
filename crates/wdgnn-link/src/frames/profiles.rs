//! Messages: one struct per link profile.

use postcard::experimental::max_size::MaxSize;
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};

use super::{
    Frame,
    header::{CompactHeader, Esb32Header, ExactHeader},
    numbers::{Floats, Halves, NumberList},
};
use crate::{
    encoding::half::check_first,
    error::FrameError,
    header::{PROTOCOL_VERSION, Profile},
};

/// Message in profile `exact` or `exact-unfolded`: all numbers in `f32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, Schema, MaxSize)]
pub struct ExactFrame<S = Floats<4>, T = Floats<18>, W = Floats<48>> {
    /// Header.
    pub header: ExactHeader,
    /// State of the sender.
    pub state: S,
    /// Taps of all delay lines, without the last tap of each line.
    pub taps: T,
    /// Wide parameters.
    pub wide: W,
}

impl<S: NumberList, T: NumberList, W: NumberList> Frame for ExactFrame<S, T, W> {
    fn check(&self) -> Result<(), FrameError> {
        let header = &self.header;
        if header.version != PROTOCOL_VERSION {
            return Err(FrameError::Version);
        }
        if header.profile > Profile::ExactUnfolded as u8 {
            return Err(FrameError::Profile);
        }
        let counts = [header.state_numbers.into(), header.tap_numbers.get(), header.wide_numbers.get()];
        if counts.map(usize::from) != [S::LEN, T::LEN, W::LEN] {
            return Err(FrameError::Dimensions);
        }
        admissible(self.state.admissible() && self.taps.admissible() && self.wide.admissible())
    }
}

/// Declares a message with a [`CompactHeader`].
macro_rules! compact_frame {
    ($(#[$doc:meta])* $name:ident, $profile:expr, $state:ty, $taps:ty, $wide:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, Schema, MaxSize)]
        pub struct $name<S = $state, T = $taps, W = $wide> {
            /// Header.
            pub header: CompactHeader,
            /// State of the sender.
            pub state: S,
            /// Taps.
            pub taps: T,
            /// Run of wide parameters.
            pub wide: W,
        }

        impl<S: NumberList, T: NumberList, W: NumberList> Frame for $name<S, T, W> {
            fn check(&self) -> Result<(), FrameError> {
                check_first(self.header.version_and_profile, $profile)?;
                admissible(self.state.admissible() && self.taps.admissible() && self.wide.admissible())
            }
        }
    };
}

compact_frame!(
    /// Message in profile `dot154`: state in `f32`, all taps and a run of wide parameters in half precision.
    Dot154Frame, Profile::Dot154, Floats<4>, Halves<18>, Halves<12>
);
compact_frame!(
    /// Message in profile `espnow`: state in `f32`, all taps and all wide parameters in half precision.
    EspNowFrame, Profile::EspNow, Floats<4>, Halves<18>, Halves<48>
);
compact_frame!(
    /// Message in profile `p2p57`: state, half of the taps and a run of wide parameters in half precision.
    P2p57Frame, Profile::P2p57, Halves<4>, Halves<9>, Halves<3>
);

/// Message in profile `esb32`: state and one piece of six taps or wide parameters in half precision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, Schema, MaxSize)]
pub struct Esb32Frame<S = Halves<4>, N = Halves<6>> {
    /// Header.
    pub header: Esb32Header,
    /// State of the sender.
    pub state: S,
    /// Taps or wide parameters, padded with zeros.
    pub numbers: N,
}

impl<S: NumberList, N: NumberList> Frame for Esb32Frame<S, N> {
    fn check(&self) -> Result<(), FrameError> {
        check_first(self.header.version_and_profile, Profile::Esb32)?;
        admissible(self.state.admissible() && self.numbers.admissible())
    }
}

fn admissible(numbers: bool) -> Result<(), FrameError> {
    if numbers { Ok(()) } else { Err(FrameError::NotAdmissible) }
}
