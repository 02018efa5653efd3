//! Table of all fields.

use super::{Field, Frame};

pub fn describe(frames: &[Frame]) -> String {
    let tables: Vec<String> = frames.iter().map(table).collect();
    let head = "Radio frames, little-endian, with the dimensions of the flocking network.";
    format!("{head}\n\n{}", tables.join("\n"))
}

fn table(frame: &Frame) -> String {
    let (name, bytes, first, key) = (frame.name, frame.bytes, frame.first, frame.key());
    let rows: Vec<String> = frame.fields.iter().map(row).collect();
    format!("{name}: {bytes} bytes, first byte 0x{first:02x}, key {key}\n{}", rows.concat())
}

fn row(field: &Field) -> String {
    format!("{:>5}  {:>4}  {:<8} {}\n", field.offset, field.bytes(), field.type_name(), field.name)
}
