//! List of frames as JSON, one frame per line.

use serde_json::{Value, json};

use super::{Field, Frame};

pub fn describe(frames: &[Frame]) -> String {
    let lines: Vec<String> = frames.iter().map(|frame| line(frame).to_string()).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

fn line(frame: &Frame) -> Value {
    let field = |field: &Field| {
        json!({
            "name": field.name,
            "offset": field.offset,
            "bytes": field.bytes(),
            "type": field.kind.name(),
            "count": field.count,
        })
    };
    json!({
        "name": frame.name,
        "first": frame.first,
        "bytes": frame.bytes,
        "key": frame.key(),
        "fields": frame.fields.iter().map(field).collect::<Vec<_>>(),
        "schema": frame.schema,
    })
}
