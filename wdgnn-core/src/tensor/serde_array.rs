//! Serde implementation for array fields of any length: `#[serde(with = "serde_array")]`.
//!
//! serde itself implements its traits for arrays of up to 32 elements only. An array is a tuple, which
//! formats such as postcard encode without a length.

use core::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, SeqAccess, Visitor},
    ser::SerializeTuple as _,
};

/// Serializes an array as a tuple.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer, T: Serialize, const N: usize>(
    array: &[T; N], serializer: S,
) -> Result<S::Ok, S::Error> {
    serialize_list(serializer, N, array.iter())
}

/// Deserializes an array from a tuple.
///
/// # Errors
/// Those of the deserializer.
pub fn deserialize<'de, D, T, const N: usize>(deserializer: D) -> Result<[T; N], D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Copy + Default,
{
    let mut array = [T::default(); N];
    deserialize_list(deserializer, N, array.iter_mut())?;
    Ok(array)
}

/// Serializes `length` elements as a tuple.
pub(crate) fn serialize_list<S: Serializer, T: Serialize>(
    serializer: S, length: usize, elements: impl Iterator<Item = T>,
) -> Result<S::Ok, S::Error> {
    let mut tuple = serializer.serialize_tuple(length)?;
    for element in elements {
        tuple.serialize_element(&element)?;
    }
    tuple.end()
}

/// Deserializes a tuple of `length` elements into `places`.
pub(crate) fn deserialize_list<'de, 'a, D: Deserializer<'de>, T: Deserialize<'de> + 'a>(
    deserializer: D, length: usize, places: impl Iterator<Item = &'a mut T>,
) -> Result<(), D::Error> {
    deserializer.deserialize_tuple(length, Fill { length, places })
}

struct Fill<P> {
    length: usize,
    places: P,
}

impl<'de, 'a, T: Deserialize<'de> + 'a, P: Iterator<Item = &'a mut T>> Visitor<'de> for Fill<P> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} elements", self.length)
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
