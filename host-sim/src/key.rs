//! A swarm's key, from a file: 16 bytes as they are, or 32 hexadecimal digits. It is never printed.

use std::path::Path;

use wdgnn_core::seal::Key;

use crate::{
    error::{Error, Result},
    files,
};

/// Reads a key.
///
/// # Errors
/// [`Error::Read`], or [`Error::Usage`] when the file is no key.
pub fn read(path: &Path) -> Result<Key> {
    parse(&files::read(path)?).ok_or_else(|| {
        Error::usage(format!(
            "{} is no key: write 32 hexadecimal digits or 16 bytes to it, such as with `openssl rand -hex 16 > {}`",
            path.display(),
            path.display()
        ))
    })
}

fn parse(content: &[u8]) -> Option<Key> {
    if let Ok(key) = content.try_into() {
        return Some(key);
    }
    let digits = str::from_utf8(content).ok()?.trim();
    let number = u128::from_str_radix(digits, 16).ok()?;
    (digits.len() == 32 && !digits.starts_with('+')).then_some(number.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_and_bytes_are_keys() {
        let key = Some(*b"0123456789abcdef");
        assert_eq!(parse(b"0123456789abcdef"), key);
        assert_eq!(parse(b"30313233343536373839616263646566"), key);
        assert_eq!(parse(b" 30313233343536373839616263646566\r\n"), key);
    }

    #[test]
    fn anything_else_is_none() {
        for bad in
            ["", "0123456789abcde", "3031323334353637383961626364656", "+0313233343536373839616263646566"]
        {
            assert_eq!(parse(bad.as_bytes()), None, "{bad}");
        }
        assert_eq!(parse("3031323334353637383961626364656g".as_bytes()), None);
        assert_eq!(parse(&[0xff; 32]), None);
    }
}
