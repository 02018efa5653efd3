//! The simulator's log decoder against the crate `defmt-decoder`.

#![cfg(feature = "emulated")]

use std::{fs, path::Path};

use defmt_decoder::{DecodeError, Table};
use system_tests::{
    image,
    model::made_up,
    robot::{self, ID, motion, tick},
};
use wdgnn_emulation::log::Decoder;

/// Lines of a log, decoded by the crate.
fn by_the_crate(image: &Path, log: &[u8]) -> Vec<String> {
    let table = Table::parse(&fs::read(image).unwrap()).unwrap().expect("a table of strings");
    let mut decoder = table.new_stream_decoder();
    decoder.received(log);
    let mut lines = Vec::new();
    loop {
        match decoder.decode() {
            Ok(frame) => {
                let level = frame.level().map_or("", |level| level.as_str());
                lines.push(format!("{level:5} {}", frame.display_message()));
            }
            Err(DecodeError::UnexpectedEof) => return lines,
            Err(DecodeError::Malformed) => {}
        }
    }
}

/// Lines of both decoders, which must be equal.
fn lines(image: &Path, folder: &Path) -> Vec<String> {
    let log = fs::read(folder.join("log")).unwrap();
    let lines = Decoder::new(image).unwrap().lines(&log);
    assert_eq!(lines, by_the_crate(image, &log));
    lines
}

#[test]
fn logs_decode_as_with_the_defmt_crate() {
    for image in [image::build("robot", &[]).unwrap(), image::build_sealed("dot154", &[]).unwrap()] {
        let folder = tempfile::tempdir().unwrap();
        let mut robot = robot::start(&image, folder.path());
        robot.hello().unwrap();
        for now in 0..300 {
            let heard = [vec![0; 3].into(), vec![1; 300].into()];
            tick(&mut robot, now, (now % 7 > 0).then(|| motion(ID, now)), &heard);
        }
        assert!(robot.leave().unwrap().success());
        let lines = lines(&image, folder.path());
        assert_eq!(lines.len(), 1 + 3 + 1, "a start, a line every hundred ticks, an end");
        assert!(
            lines[1].starts_with("info  TickReport { tick: 99, received: 2, rejected: FrameErrorCounts(["),
            "{}",
            lines[1]
        );
    }
}

#[test]
fn start_errors_decode_as_with_the_defmt_crate() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("narrow.wdgnn");
    fs::write(&file, made_up(16, 1)).unwrap();
    let image = image::build_with("robot", &[], &[("WDGNN_MODEL", &file.display().to_string())]).unwrap();
    assert!(robot::start(&image, folder.path()).hello().is_err());
    let lines = lines(&image, folder.path());
    assert!(lines[0].ends_with("Mismatch { field: Hidden, expected: 32, found: 16 }"), "{lines:?}");
}
