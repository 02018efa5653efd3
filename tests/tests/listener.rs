//! Listeners in Rust and Python print the messages of captures, and the generated C header compiles.

#![cfg(feature = "interop")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use system_tests::{cargo_run, listener, run};
use wdgnn_link::{
    frames::{
        PoseFrame, PoseHeader, U16Le, U32Le, encode,
        poses::{POSE_BYTE, Pose},
    },
    security::{aes::Aes, pose_key::PoseKey},
};
use wdgnn_protocol::event::{Arrival, GatewayEvent, MAX_EVENT_LEN};
use wdgnn_schema::{Format, describe};

const KEY: &[u8] = b"a swarm's secret";

fn temporary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Checks that both listeners print `lines` messages of five robots that flew for 20 ticks.
fn assert_listeners(profile: &str, lines: usize, model: &str) {
    let key = temporary(&format!("{profile}.key"));
    fs::write(&key, KEY).unwrap();
    let key = key.to_str().unwrap();
    for sealed in [false, true] {
        let capture = temporary(&format!("{profile}-{sealed}.pcap"));
        let capture = capture.to_str().unwrap();
        let swarm = ["run", "--robots", "5", "--ticks", "20"];
        let radio = ["--profile", profile, "--capture", capture, "--key", key];
        cargo_run("host-sim", "host-sim", &[&swarm[..], &radio[..if sealed { 6 } else { 4 }]].concat());
        let model = format!("models/{model}.wdgnn");
        let arguments = [capture, key, &model];
        let arguments = &arguments[..if sealed { 3 } else { 1 }];
        let rust = listener(arguments);
        let python = run("python3", &[&["examples/listener/listener.py"], arguments].concat());
        assert_eq!(rust, python, "{profile}");
        assert_eq!(rust.lines().count(), lines, "{profile}");
        assert!(rust.lines().all(|line| line.contains(&format!(": {profile} from "))), "{rust}");
        if sealed {
            let unopened = listener(&[capture]);
            assert!(unopened.lines().all(|line| line.contains("Sealed")), "{unopened}");
        }
    }
}

#[test]
fn listeners_print_every_message_of_a_capture_open_and_sealed() {
    assert_listeners("exact", 100, "flocking-wd-gnn");
    assert_listeners("dot154", 20, "flocking-dot154");
    assert_listeners("espnow", 50, "flocking-espnow");
    assert_listeners("esb32", 80, "flocking-dot154");
    assert_listeners("p2p57", 40, "flocking-dot154");
}

#[test]
fn listeners_print_poses_open_and_sealed() {
    let mut frame = PoseFrame::new(PoseHeader {
        kind: POSE_BYTE,
        sender: U16Le::new(0xfffe),
        sequence: U32Le::new(7),
        ..PoseHeader::default()
    });
    frame.push(3, &Pose { position: [0.25, -1.5], heading: -0x2000 });
    let mut bytes = [[0; 99]; 2];
    let open = encode(&frame, &mut bytes[0]).unwrap();
    let cipher = PoseKey::new(Aes::new(KEY.first_chunk().unwrap()), 0);
    assert_eq!(cipher.seal(&frame, &mut bytes[1]), Some(99));
    let [key, file] = ["poses.key", "poses.events"].map(|name| temporary(name).to_str().unwrap().to_owned());
    fs::write(&key, KEY).unwrap();
    for (frame, secret) in
        [(&bytes[0][..open], &[][..]), (&bytes[1], &[&*key, "models/flocking-dot154.wdgnn"])]
    {
        let arrival = Arrival { time_us: 70_000, quality: None, slot: None };
        let mut line = [0; MAX_EVENT_LEN];
        let length = GatewayEvent::from_frame(arrival, frame).encode(&mut line).unwrap();
        fs::write(&file, &line[..length]).unwrap();
        let arguments = [&[&*file], secret].concat();
        let python = run("python3", &[&["examples/listener/listener.py"], &arguments[..]].concat());
        assert_eq!(listener(&arguments), python);
        assert_eq!(python, "0.070 s: poses from 65534, 3 at 0.250 -1.500 -45.00\n");
    }
}

#[test]
fn python_modules_decode_encode_or_reject_every_golden_frame() {
    // The generated module, and a module written from `docs/wire-format.md` alone.
    run("python3", &["tests/interop/test_frames.py", "examples/listener"]);
    run("python3", &["tests/interop/test_wire.py"]);
}

#[test]
fn the_c_header_compiles_and_reads_a_golden_frame() {
    let header = temporary("wdgnn_frames.h");
    fs::write(&header, describe(Format::C)).unwrap();
    let program = temporary("frames.c");
    // The document's `esb32` frame with taps.
    let source = r#"
#include "wdgnn_frames.h"
#include <stdio.h>
int main(void) {
    const uint8_t bytes[] = {0x41, 2, 3, 0, 4, 3, 2, 0, 0, 0x3c, 0, 0xc0, 0, 0x38, 0, 0x34,
                             0, 0x3e, 0x66, 0xae, 0, 0, 0xff, 0x7b, 0x11, 0, 0, 0x40};
    const wdgnn_esb32_frame *frame = (const wdgnn_esb32_frame *)bytes;
    printf("%u %u %u", frame->sender, wdgnn_u16(frame->boot), (unsigned)wdgnn_u24(frame->sequence));
    for (int i = 0; i < 4; i++) printf(" %g", wdgnn_f16(frame->state[i]));
    for (int i = 0; i < 6; i++) printf(" %g", wdgnn_f16(frame->numbers[i]));
    return 0;
}
"#;
    fs::write(&program, source).unwrap();
    let binary = temporary("frames");
    let (program, binary) = (program.to_str().unwrap(), binary.to_str().unwrap());
    run("cc", &["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", program, "-o", binary]);
    let printed = run(binary, &[]);
    assert_eq!(printed, "2 3 131844 1 -2 0.5 0.25 1.5 -0.0999756 0 65504 1.01328e-06 2");
}
