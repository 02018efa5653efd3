//! Images as they are flashed: ELF as the compiler makes it, Intel HEX as programmers take it.

/// Bytes for an address.
pub type Piece = (u32, Vec<u8>);

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

fn half(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at..)?.first_chunk().map(|half| usize::from(u16::from_le_bytes(*half)))
}

/// What an ELF file puts into memory, by its load addresses. `None` when it is none for a 32-bit little-endian Arm.
#[must_use]
pub fn elf(file: &[u8]) -> Option<Vec<Piece>> {
    const ARM: usize = 40;
    const LOAD: u32 = 1;
    if !file.starts_with(b"\x7fELF\x01\x01") || half(file, 18)? != ARM {
        return None;
    }
    let (table, entry, count) = (word(file, 28)? as usize, half(file, 42)?, half(file, 44)?);
    let mut pieces = Vec::new();
    for header in (0..count).map(|index| table + index * entry) {
        let bytes = word(file, header + 16)? as usize;
        if word(file, header)? == LOAD && bytes > 0 {
            let from = word(file, header + 4)? as usize;
            pieces.push((word(file, header + 12)?, file.get(from..)?.get(..bytes)?.to_vec()));
        }
    }
    Some(pieces)
}

/// The symbols of an ELF file and their values. `None` when its tables are broken.
#[must_use]
pub fn symbols(file: &[u8]) -> Option<Vec<(&str, u32)>> {
    const SYMBOLS: u32 = 2;
    let (table, entry, count) = (word(file, 32)? as usize, half(file, 46)?, half(file, 48)?);
    let section = |index: usize| table + index * entry;
    let mut symbols = Vec::new();
    for header in (0..count).map(section) {
        if word(file, header + 4)? != SYMBOLS {
            continue;
        }
        let strings = word(file, section(word(file, header + 24)? as usize) + 16)? as usize;
        let (from, bytes) = (word(file, header + 16)? as usize, word(file, header + 20)? as usize);
        for symbol in (from..from + bytes).step_by(16) {
            let text = file.get(strings + word(file, symbol)? as usize..)?;
            let name = text.split(|byte| *byte == 0).next()?;
            symbols.push((str::from_utf8(name).ok()?, word(file, symbol + 4)?));
        }
    }
    Some(symbols)
}

/// The value of a symbol of an ELF file.
#[must_use]
pub fn symbol(file: &[u8], name: &str) -> Option<u32> {
    symbols(file)?.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value)
}

/// What an Intel HEX file puts into memory. `None` when a record is broken or its checksum does not fit.
#[must_use]
pub fn hex(text: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut base = 0;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let digits = line.strip_prefix(':')?;
        let record: Vec<u8> = (0..digits.len() / 2)
            .map(|index| u8::from_str_radix(digits.get(2 * index..2 * index + 2)?, 16).ok())
            .collect::<Option<_>>()?;
        let sum = record.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        let [count, high, low, kind, data @ .., _] = record.as_slice() else { return None };
        if sum != 0 || usize::from(*count) != data.len() {
            return None;
        }
        let number = || data.iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
        match kind {
            0 => pieces.push((base + u32::from_be_bytes([0, 0, *high, *low]), data.to_vec())),
            1 => break,
            2 => base = number() << 4,
            4 => base = number() << 16,
            _ => {}
        }
    }
    Some(pieces)
}
