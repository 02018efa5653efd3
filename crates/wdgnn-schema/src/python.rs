//! Python module: fields as data, and functions that decode and encode them.

use super::Frame;

const HEAD: &str = r#""""Radio frames of wdgnn, made by `host-sim schema --format python`.

Dimensions are those of the flocking network. All numbers are little-endian.
"""

import re
import struct

_FORMATS = {"u8": "B", "u16": "H", "u24": "3s", "u32": "I", "f16": "e", "f32": "f"}


class Frame:
    """First byte and length of a frame, and its fields: `degree:u8 taps:f16[18]`."""

    def __init__(self, first, length, fields):
        self.first, self.length = first, length
        self.fields = [
            (name, kind, int(count) if count else None)
            for name, kind, count in re.findall(r"(\w+):(\w+)(?:\[(\d+)\])?", fields)
        ]
        formats = (_FORMATS[kind] * (count or 1) for _, kind, count in self.fields)
        self.struct = struct.Struct("<" + "".join(formats))


"#;

const TAIL: &str = r#"

def identify(data):
    """Name of the frame type with this first byte and length, or None."""
    for name, frame in FRAMES.items():
        if data and data[0] == frame.first and len(data) == frame.length:
            return name
    return None


def decode(name, data):
    """Fields of a frame. Raises ValueError for another first byte or length."""
    frame = FRAMES[name]
    if len(data) != frame.length or data[0] != frame.first:
        raise ValueError(f"not a {name}")
    numbers = [
        int.from_bytes(number, "little") if isinstance(number, bytes) else number
        for number in frame.struct.unpack(data)
    ]
    values = {}
    for field, _, count in frame.fields:
        values[field] = numbers[:count] if count else numbers[0]
        numbers = numbers[count or 1 :]
    return values


def encode(name, values):
    """Bytes of a frame with these fields."""
    frame = FRAMES[name]
    numbers = []
    for field, kind, count in frame.fields:
        items = values[field] if count else [values[field]]
        numbers += [item.to_bytes(3, "little") if kind == "u24" else item for item in items]
    return frame.struct.pack(*numbers)
"#;

/// Length of a line of fields.
const LINE: usize = 90;

pub fn describe(frames: &[Frame]) -> String {
    let entries: String = frames.iter().map(entry).collect();
    format!("{HEAD}FRAMES = {{\n{entries}}}\n{TAIL}")
}

fn entry(frame: &Frame) -> String {
    let mut fields = String::new();
    let mut column = LINE;
    for field in &frame.fields {
        let field = format!("{}:{}", field.name, field.type_name());
        if column + field.len() > LINE {
            fields += "\n       ";
            column = 0;
        }
        column += field.len();
        fields = fields + " " + &field;
    }
    let (name, first, bytes) = (frame.name, frame.first, frame.bytes);
    format!("    \"{name}\": Frame(0x{first:02x}, {bytes}, \"\"\"{fields}\n    \"\"\"),\n")
}
