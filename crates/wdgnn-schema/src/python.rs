//! Python module: fields as data, and functions that decode and encode them.

use super::{Field, Frame};

const HEAD: &str = r#""""Radio frames of wdgnn, made by `host-sim schema --format python`.

Dimensions are those of the flocking network. All numbers are little-endian.
"""

import struct

"#;

const TAIL: &str = r#"
_FORMATS = {"u8": "B", "u16": "H", "u24": "3s", "u32": "I", "f16": "e", "f32": "f"}


def _format(fields):
    return "<" + "".join(_FORMATS[kind] * (count or 1) for _, kind, count in fields)


def identify(data):
    """Name of the frame type with this first byte and length, or None."""
    for name, (first, length, _, _) in FRAMES.items():
        if data and data[0] == first and len(data) == length:
            return name
    return None


def decode(name, data):
    """Fields of a frame. Raises ValueError for another first byte or length."""
    first, length, _, fields = FRAMES[name]
    if len(data) != length or data[0] != first:
        raise ValueError(f"not a {name}")
    numbers = [
        int.from_bytes(number, "little") if isinstance(number, bytes) else number
        for number in struct.unpack(_format(fields), data)
    ]
    frame = {}
    for field, _, count in fields:
        frame[field] = numbers[0] if count is None else numbers[:count]
        numbers = numbers[count or 1 :]
    return frame


def encode(name, frame):
    """Bytes of a frame with these fields."""
    fields = FRAMES[name][3]
    numbers = []
    for field, kind, count in fields:
        values = [frame[field]] if count is None else frame[field]
        numbers += [value.to_bytes(3, "little") if kind == "u24" else value for value in values]
    return struct.pack(_format(fields), *numbers)
"#;

pub fn describe(frames: &[Frame]) -> String {
    let entries: String = frames.iter().map(entry).collect();
    let comment =
        "# Per frame: first byte, length, key, fields (name, type, count or None for one number).\n";
    format!("{HEAD}{comment}FRAMES = {{\n{entries}}}\n{TAIL}")
}

fn entry(frame: &Frame) -> String {
    let field = |field: &Field| {
        let count = if field.list { field.count.to_string() } else { "None".into() };
        format!("            (\"{}\", \"{}\", {count}),\n", field.name, field.kind.name())
    };
    let fields: String = frame.fields.iter().map(field).collect();
    let (name, first, bytes, key) = (frame.name, frame.first, frame.bytes, frame.key());
    format!(
        "    \"{name}\": (\n        0x{first:02x},\n        {bytes},\n        \"{key}\",\n        (\n{fields}        ),\n    ),\n"
    )
}
