//! Parses a key file. There is no panic, and the digits of a parsed key give that key again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wdgnn_link::security::key::parse_key;

fuzz_target!(|file: &[u8]| {
    let Ok(key) = parse_key(file) else { return };
    let digits: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    for written in [digits.clone(), format!(" {digits}\r\n"), digits.to_uppercase()] {
        assert_eq!(parse_key(written.as_bytes()), Ok(key));
    }
});
