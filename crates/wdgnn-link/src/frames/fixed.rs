//! Integers, half-precision numbers and byte strings of fixed length.
//!
//! Postcard encodes `u16` and `u32` as varints. Types over byte arrays keep the length of a frame fixed, and their derived schema
//! describes the bytes.

use core::fmt;

use postcard::experimental::max_size::MaxSize;
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};
use wdgnn_core::tensor::serde_array;

use crate::encoding::halves;

macro_rules! little_endian {
    ($(#[$doc:meta])* $name:ident, $bytes:literal, $number:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, Schema, MaxSize)]
        pub struct $name(pub [u8; $bytes]);

        impl $name {
            /// Keeps the low bytes of `number`.
            #[inline]
            pub fn new(number: $number) -> Self {
                let mut low = [0; $bytes];
                low.iter_mut().zip(number.to_le_bytes()).for_each(|(to, from)| *to = from);
                Self(low)
            }

            /// The number.
            #[inline]
            pub fn get(self) -> $number {
                let mut all = [0; size_of::<$number>()];
                all.iter_mut().zip(self.0).for_each(|(to, from)| *to = from);
                <$number>::from_le_bytes(all)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.get().fmt(f)
            }
        }
    };
}

little_endian!(
    /// 16-bit unsigned integer in two bytes, little-endian.
    U16Le, 2, u16
);
little_endian!(
    /// 24-bit unsigned integer in three bytes, little-endian.
    U24Le, 3, u32
);
little_endian!(
    /// 32-bit unsigned integer in four bytes, little-endian.
    U32Le, 4, u32
);

/// Number in half precision (IEEE 754 binary16) in two bytes, little-endian.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, Schema, MaxSize)]
pub struct F16(pub [u8; 2]);

impl F16 {
    /// Rounds to nearest, ties to even. Larger magnitudes become ±65504; −0 and subnormals of `f32` become 0.
    pub fn new(number: f32) -> Self {
        let mut bytes = [0; 2];
        halves::write(&mut bytes, &[number]);
        Self(bytes)
    }

    /// The number, or `None` for NaN and infinities.
    pub fn get(self) -> Option<f32> {
        let mut number = [0.0];
        halves::read(&mut number, &self.0).then_some(number[0])
    }
}

impl fmt::Debug for F16 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().unwrap_or(f32::NAN).fmt(f)
    }
}

/// Implements the traits of a newtype over an array that serde and postcard derive for short arrays only.
macro_rules! array_newtype {
    ($name:ident, $element:ty) => {
        impl<const N: usize> Default for $name<N> {
            fn default() -> Self {
                Self([<$element>::default(); N])
            }
        }

        impl<const N: usize> postcard_schema::Schema for $name<N> {
            const SCHEMA: &'static postcard_schema::schema::NamedType = &postcard_schema::schema::NamedType {
                name: stringify!($name),
                ty: &postcard_schema::schema::DataModelType::Tuple(
                    &[<$element as postcard_schema::Schema>::SCHEMA; N],
                ),
            };
        }

        impl<const N: usize> postcard::experimental::max_size::MaxSize for $name<N> {
            const POSTCARD_MAX_SIZE: usize =
                N * <$element as postcard::experimental::max_size::MaxSize>::POSTCARD_MAX_SIZE;
        }
    };
}
pub(super) use array_newtype;

/// `N` bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Bytes<const N: usize>(#[serde(with = "serde_array")] pub [u8; N]);

array_newtype!(Bytes, u8);

impl<const N: usize> fmt::Debug for Bytes<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
