//! Firmware images: ELF files and Intel HEX files.

/// Bytes for an address.
pub type Segment = (u32, Vec<u8>);

/// Reason why an image cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// Not a 32-bit little-endian ELF file for Arm.
    #[error("not a 32-bit little-endian ELF file for Arm")]
    NotArmElf,
    /// An offset points outside of the ELF file, or a symbol is not UTF-8.
    #[error("invalid ELF file")]
    InvalidElf,
    /// A record of the Intel HEX file has a wrong format, length or checksum.
    #[error("invalid Intel HEX record in line {line}")]
    InvalidHexRecord {
        /// Line number, starting at 1.
        line: usize,
    },
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

fn half(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at..)?.first_chunk().map(|half| usize::from(u16::from_le_bytes(*half)))
}

/// Returns the loadable segments of an ELF file, with their physical addresses.
pub fn elf_segments(file: &[u8]) -> Result<Vec<Segment>, ImageError> {
    const MACHINE_ARM: usize = 40;
    if !file.starts_with(b"\x7fELF\x01\x01") || half(file, 18) != Some(MACHINE_ARM) {
        return Err(ImageError::NotArmElf);
    }
    read_segments(file).ok_or(ImageError::InvalidElf)
}

fn read_segments(file: &[u8]) -> Option<Vec<Segment>> {
    const TYPE_LOAD: u32 = 1;
    let (table, entry_bytes, count) = (word(file, 28)? as usize, half(file, 42)?, half(file, 44)?);
    let mut segments = Vec::new();
    for header in (0..count).map(|index| table + index * entry_bytes) {
        let bytes = word(file, header + 16)? as usize;
        if word(file, header)? == TYPE_LOAD && bytes > 0 {
            let offset = word(file, header + 4)? as usize;
            segments.push((word(file, header + 12)?, file.get(offset..)?.get(..bytes)?.to_vec()));
        }
    }
    Some(segments)
}

/// Returns names and values of all symbols of an ELF file.
pub fn elf_symbols(file: &[u8]) -> Result<Vec<(&str, u32)>, ImageError> {
    read_symbols(file).ok_or(ImageError::InvalidElf)
}

fn read_symbols(file: &[u8]) -> Option<Vec<(&str, u32)>> {
    const TYPE_SYMBOL_TABLE: u32 = 2;
    let (table, entry_bytes, count) = (word(file, 32)? as usize, half(file, 46)?, half(file, 48)?);
    let section = |index: usize| table + index * entry_bytes;
    let mut symbols = Vec::new();
    for header in (0..count).map(section) {
        if word(file, header + 4)? != TYPE_SYMBOL_TABLE {
            continue;
        }
        let strings = word(file, section(word(file, header + 24)? as usize) + 16)? as usize;
        let (offset, bytes) = (word(file, header + 16)? as usize, word(file, header + 20)? as usize);
        for symbol in (offset..offset + bytes).step_by(16) {
            let text = file.get(strings + word(file, symbol)? as usize..)?;
            let name = text.split(|byte| *byte == 0).next()?;
            symbols.push((str::from_utf8(name).ok()?, word(file, symbol + 4)?));
        }
    }
    Some(symbols)
}

/// Returns the value of a symbol of an ELF file.
///
/// `None` if the file is invalid or does not have the symbol.
pub fn elf_symbol(file: &[u8], name: &str) -> Option<u32> {
    read_symbols(file)?.into_iter().find(|(other, _)| *other == name).map(|(_, value)| value)
}

/// Returns the data records of an Intel HEX file, with their absolute addresses.
pub fn hex_segments(text: &str) -> Result<Vec<Segment>, ImageError> {
    let mut segments = Vec::new();
    let mut base = 0;
    for (index, line) in text.lines().map(str::trim).enumerate().filter(|(_, line)| !line.is_empty()) {
        let error = ImageError::InvalidHexRecord { line: index + 1 };
        let record = hex_record(line).ok_or(error)?;
        let [_, high, low, kind, data @ .., _] = record.as_slice() else { return Err(error) };
        let number = || data.iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
        match kind {
            0 => segments.push((base + u32::from_be_bytes([0, 0, *high, *low]), data.to_vec())),
            1 => break,
            2 => base = number() << 4,
            4 => base = number() << 16,
            _ => {}
        }
    }
    Ok(segments)
}

/// Decodes a line of an Intel HEX file.
///
/// `None` if its format, length or checksum is wrong.
fn hex_record(line: &str) -> Option<Vec<u8>> {
    let digits = line.strip_prefix(':')?;
    let record: Vec<u8> = (0..digits.len() / 2)
        .map(|index| u8::from_str_radix(digits.get(2 * index..2 * index + 2)?, 16).ok())
        .collect::<Option<_>>()?;
    let sum = record.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    // Data length, address (two bytes), type, data, checksum.
    let data_bytes = usize::from(*record.first()?);
    (sum == 0 && record.len() == data_bytes + 5).then_some(record)
}
