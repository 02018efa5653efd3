//! Symmetric keys and their file format.

/// AES-128 key. The crate never prints or logs it.
pub type Key = [u8; 16];

/// Reason why the content of a file is not a key. The message follows the name of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyParseError {
    /// The content is neither 16 bytes nor 32 hexadecimal digits.
    #[error(
        "is not a key: a key has 16 bytes or 32 hexadecimal digits, as `openssl rand -hex 16` prints them"
    )]
    NotAKey,
    /// The content is 16 hexadecimal digits, which is half a key.
    ///
    /// Read as 16 bytes, they would have at most 64 bits of entropy instead of 128.
    #[error(
        "has 16 hexadecimal digits, which is half a key: a key has 32, as `openssl rand -hex 16` prints them"
    )]
    HalfKey,
}

/// Parses a key file: 16 raw bytes or 32 hexadecimal digits.
///
/// White space around the digits is ignored. 16 bytes that are all hexadecimal digits are rejected.
///
/// ```
/// use wdgnn_link::security::key::{KeyParseError, parse_key};
///
/// let key = Ok(*b"a swarm's secret");
/// assert_eq!(parse_key(b"a swarm's secret"), key);
/// assert_eq!(parse_key(b"6120737761726d277320736563726574\n"), key);
/// assert_eq!(parse_key(b"3031"), Err(KeyParseError::NotAKey));
/// assert_eq!(parse_key(b"6120737761726d27"), Err(KeyParseError::HalfKey));
/// ```
///
/// # Errors
/// The reason why the content is not a key.
pub const fn parse_key(content: &[u8]) -> Result<Key, KeyParseError> {
    let digits = content.trim_ascii();
    let (mut key, mut count) = ([0; 16], 0);
    while count < digits.len() && count < 32 {
        let Some(digit) = (digits[count] as char).to_digit(16) else { break };
        key[count / 2] = key[count / 2] << 4 | digit as u8;
        count += 1;
    }
    match content.split_first_chunk() {
        _ if count == 32 && digits.len() == 32 => Ok(key),
        _ if count == 16 && digits.len() == 16 => Err(KeyParseError::HalfKey),
        Some((key, [])) => Ok(*key),
        _ => Err(KeyParseError::NotAKey),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits_and_raw_bytes_are_keys() {
        let key = Ok(*b"a swarm's secret");
        assert_eq!(parse_key(b"a swarm's secret"), key);
        assert_eq!(parse_key(b"6120737761726d277320736563726574"), key);
        assert_eq!(parse_key(b" 6120737761726D277320736563726574\r\n"), key);
        assert_eq!(parse_key(&[0; 16]), Ok([0; 16]));
        assert_eq!(parse_key(b"0123456789abcdeg"), Ok(*b"0123456789abcdeg"), "g is no hexadecimal digit");
    }

    #[test]
    fn sixteen_hexadecimal_digits_are_rejected() {
        for half in ["0123456789abcdef", "0123456789ABCDEF", "0123456789abcdef\n", " 0000000000000000"] {
            assert_eq!(parse_key(half.as_bytes()), Err(KeyParseError::HalfKey), "{half}");
        }
    }

    #[test]
    fn other_lengths_and_characters_are_rejected() {
        for bad in
            ["", "0123456789abcde", "3031323334353637383961626364656", "+0313233343536373839616263646566"]
        {
            assert_eq!(parse_key(bad.as_bytes()), Err(KeyParseError::NotAKey), "{bad}");
        }
        assert_eq!(parse_key("3031323334353637383961626364656g".as_bytes()), Err(KeyParseError::NotAKey));
        assert_eq!(parse_key(&[0xff; 32]), Err(KeyParseError::NotAKey));
    }
}
