//! Golden text and generated files.

use std::{fs, path::Path};

use wdgnn_schema::{Format, describe};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Compares with a file of the repository; `BLESS=1` writes the file.
fn assert_file(path: &str, text: &str) {
    let path = Path::new(ROOT).join(path);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, text).expect("it is written");
    }
    let golden = fs::read_to_string(&path).expect("the file is there");
    assert!(golden == text, "{} differs: BLESS=1 cargo test -p wdgnn-schema", path.display());
}

#[test]
fn the_schema_is_the_golden_text() {
    assert_file("crates/wdgnn-schema/tests/goldens/schema.txt", &describe(Format::Text));
}

#[test]
fn the_python_module_of_the_example_is_up_to_date() {
    assert_file("examples/listener/wdgnn_frames.py", &describe(Format::Python));
}

#[test]
fn json_has_the_offsets_of_the_text_and_the_postcard_schema() {
    let frames: serde_json::Value = serde_json::from_str(&describe(Format::Json)).expect("JSON");
    let frame = &frames[1];
    assert_eq!((frame["name"].as_str(), frame["bytes"].as_u64()), (Some("Dot154Frame"), Some(93)));
    assert_eq!(frame["fields"][9]["offset"], 69);
    assert_eq!(frame["schema"]["name"], "Dot154Frame");
    assert_eq!(frames.as_array().map(Vec::len), Some(15));
}

/// The document is normative: its field blocks match the frame types.
#[test]
fn the_wire_format_has_the_fields_of_the_schema() {
    let document = fs::read_to_string(Path::new(ROOT).join("docs/wire-format.md")).expect("the document");
    let text = describe(Format::Text);
    let blocks: Vec<(&str, &str)> = document
        .split("```schema ")
        .skip(1)
        .filter_map(|block| block.split_once("```")?.0.split_once('\n'))
        .collect();
    assert_eq!(blocks.len(), 7);
    for (name, fields) in blocks {
        let (_, behind) = text.split_once(&format!("\n{name}: ")).expect("a frame of this name");
        let (_, rows) = behind.split_once('\n').expect("rows");
        assert_eq!(fields, &rows[..fields.len()], "{name}");
        assert!(
            rows[fields.len()..].starts_with('\n') || rows.len() == fields.len(),
            "{name} has more fields"
        );
    }
}
