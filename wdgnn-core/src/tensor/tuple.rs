//! Serialization of numbers as a tuple of fixed length.
//!
//! serde implements its traits for arrays of up to 32 elements only. Formats such as postcard encode
//! a tuple without a length.

use core::fmt;

use serde::{
    Deserializer, Serializer,
    de::{Error, SeqAccess, Visitor},
    ser::SerializeTuple as _,
};

/// Serializes `length` numbers.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<'a, S: Serializer>(
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

/// Deserializes `length` numbers and calls `put` with the index and the value of each.
///
/// # Errors
/// Those of the deserializer; an invalid length if numbers are missing.
pub fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
    length: usize,
    put: impl FnMut(usize, f32),
) -> Result<(), D::Error> {
    deserializer.deserialize_tuple(length, Fill { length, put })
}

struct Fill<P> {
    length: usize,
    put: P,
}

impl<'de, P: FnMut(usize, f32)> Visitor<'de> for Fill<P> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} numbers", self.length)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<(), A::Error> {
        for index in 0..self.length {
            let number = elements.next_element()?.ok_or_else(|| Error::invalid_length(index, &self))?;
            (self.put)(index, number);
        }
        Ok(())
    }
}

/// Serde implementation for fields of type `[f32; N]`: `#[serde(with = "tensor::tuple::array")]`.
pub mod array {
    use serde::{Deserializer, Serializer};

    /// Serializes an array as a tuple.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer, const N: usize>(
        array: &[f32; N],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        super::serialize(serializer, N, array.iter())
    }

    /// Deserializes an array from a tuple.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>, const N: usize>(
        deserializer: D,
    ) -> Result<[f32; N], D::Error> {
        let mut array = [0.0; N];
        super::deserialize(deserializer, N, |index, number| {
            if let Some(place) = array.get_mut(index) {
                *place = number;
            }
        })?;
        Ok(array)
    }
}
