//! Reader of the normative document `docs/wire-format.md`.

pub fn document() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/wire-format.md")).unwrap()
}

/// Bytes of an example in the document; checks the offsets of its lines.
pub fn example(name: &str) -> Vec<u8> {
    let document = document();
    let (_, rest) = document.split_once(&format!("```hex {name}\n")).expect("the example is there");
    let (block, _) = rest.split_once("```").unwrap();
    let mut bytes = Vec::new();
    for line in block.lines() {
        let (offset, rest) = line.split_once(':').unwrap();
        assert_eq!(usize::from_str_radix(offset, 16).unwrap(), bytes.len(), "{line}");
        let (hex, _) = rest.split_once(';').unwrap_or((rest, ""));
        let digits: String = hex.split_whitespace().collect();
        let pairs = digits.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
        bytes.extend(pairs.map(|byte| u8::from_str_radix(byte, 16).unwrap()));
    }
    bytes
}
