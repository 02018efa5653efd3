//! Lists of numbers as bytes, little-endian: written at once and not one by one, to the last bit.
//!
//! For `#[serde(with = "numbers")]`.

use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

const BYTES: usize = size_of::<f32>();

/// Writes them.
///
/// # Errors
/// What the serializer says.
pub fn serialize<S: Serializer>(numbers: &[f32], serializer: S) -> Result<S::Ok, S::Error> {
    if cfg!(target_endian = "little") {
        return serializer.serialize_bytes(bytemuck::cast_slice(numbers));
    }
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    serializer.serialize_bytes(&bytes)
}

/// Reads them.
///
/// # Errors
/// What the deserializer says, and where the last number is cut short.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f32>, D::Error> {
    let bytes = <&[u8]>::deserialize(deserializer)?;
    let (numbers, []) = bytes.as_chunks::<BYTES>() else {
        return Err(D::Error::custom("the last number is cut short"));
    };
    Ok(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    struct List(#[serde(with = "super")] Vec<f32>);

    #[test]
    fn every_bit_comes_back_and_half_a_number_is_refused() {
        let numbers = [1.0, -0.0, f32::MIN_POSITIVE / 2.0, f32::INFINITY, f32::from_bits(0x7fc0_1234)];
        let bytes = postcard::to_allocvec(&List(numbers.to_vec())).unwrap();
        assert_eq!(bytes.len(), 1 + 4 * numbers.len());
        let List(back) = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(back.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), numbers.map(f32::to_bits));
        assert!(postcard::from_bytes::<List>(&[3, 0, 0, 0]).is_err());
    }
}
