//! A swarm's key, and how it is read from a file.

/// A swarm's key. It is never printed and never logged.
pub type Key = [u8; 16];

/// The key in a file's content: 16 bytes as they are, or 32 hexadecimal digits with white space around them.
///
/// ```
/// use wdgnn_core::seal::parse_key;
///
/// let key = Some(*b"0123456789abcdef");
/// assert_eq!(parse_key(b"0123456789abcdef"), key);
/// assert_eq!(parse_key(b"30313233343536373839616263646566\n"), key);
/// assert_eq!(parse_key(b"3031"), None);
/// ```
#[must_use]
pub const fn parse_key(content: &[u8]) -> Option<Key> {
    if let Some(key) = content.as_array() {
        return Some(*key);
    }
    let Some(digits) = content.trim_ascii().as_array::<32>() else { return None };
    let mut key = [0; 16];
    let mut at = 0;
    while at < digits.len() {
        let Some(digit) = (digits[at] as char).to_digit(16) else { return None };
        key[at / 2] = key[at / 2] << 4 | digit as u8;
        at += 1;
    }
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_and_bytes_are_keys() {
        let key = Some(*b"0123456789abcdef");
        assert_eq!(parse_key(b"0123456789abcdef"), key);
        assert_eq!(parse_key(b"30313233343536373839616263646566"), key);
        assert_eq!(parse_key(b" 30313233343536373839616263646566\r\n"), key);
    }

    #[test]
    fn anything_else_is_none() {
        for bad in
            ["", "0123456789abcde", "3031323334353637383961626364656", "+0313233343536373839616263646566"]
        {
            assert_eq!(parse_key(bad.as_bytes()), None, "{bad}");
        }
        assert_eq!(parse_key("3031323334353637383961626364656g".as_bytes()), None);
        assert_eq!(parse_key(&[0xff; 32]), None);
    }
}
