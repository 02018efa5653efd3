//! Python module: fields as data, and functions that decode and encode them.

use super::Frame;

/// Module of the example, whose frames are replaced.
const MODULE: &str = include_str!("../../../examples/listener/wdgnn_frames.py");

/// Length of a line of fields.
const LINE: usize = 90;

pub fn describe(frames: &[Frame]) -> String {
    let entries: String = frames.iter().map(entry).collect();
    let (head, rest) = MODULE.split_once("FRAMES = {\n").unwrap_or_default();
    let (_, tail) = rest.split_once("\n}\n").unwrap_or_default();
    format!("{head}FRAMES = {{\n{entries}}}\n{tail}")
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
