//! Serde implementation for fields of type `[f32; N]`: `#[serde(with = "serde_array")]`.
//!
//! serde itself implements its traits for arrays of up to 32 elements only. An array is a tuple, which
//! formats such as postcard encode without a length.

use core::fmt;

use serde::{
    Deserializer, Serializer,
    de::{Error, SeqAccess, Visitor},
    ser::SerializeTuple as _,
};

/// Serializes an array as a tuple.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer, const N: usize>(array: &[f32; N], serializer: S) -> Result<S::Ok, S::Error> {
    serialize_list(serializer, N, array.iter())
}

/// Deserializes an array from a tuple.
///
/// # Errors
/// Those of the deserializer.
pub fn deserialize<'de, D: Deserializer<'de>, const N: usize>(deserializer: D) -> Result<[f32; N], D::Error> {
    let mut array = [0.0; N];
    deserialize_list(deserializer, N, array.iter_mut())?;
    Ok(array)
}

/// Serializes `length` numbers as a tuple.
pub(crate) fn serialize_list<'a, S: Serializer>(
    serializer: S,
    length: usize,
    numbers: impl Iterator<Item = &'a f32>,
) -> Result<S::Ok, S::Error> {
    let mut tuple = serializer.serialize_tuple(length)?;
    for number in numbers {
        tuple.serialize_element(number)?;
    }
    tuple.end()
}

/// Deserializes a tuple of `length` numbers into `places`.
pub(crate) fn deserialize_list<'de, 'a, D: Deserializer<'de>>(
    deserializer: D,
    length: usize,
    places: impl Iterator<Item = &'a mut f32>,
) -> Result<(), D::Error> {
    deserializer.deserialize_tuple(length, Fill { length, places })
}

struct Fill<P> {
    length: usize,
    places: P,
}

impl<'de, 'a, P: Iterator<Item = &'a mut f32>> Visitor<'de> for Fill<P> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} numbers", self.length)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<(), A::Error> {
        let mut index = 0;
        while let Some(place) = self.places.next() {
            *place = elements.next_element()?.ok_or_else(|| Error::invalid_length(index, &self))?;
            index += 1;
        }
        Ok(())
    }
}
