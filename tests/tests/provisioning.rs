//! `firmware/provision.py`: its files boot with the right address, and invalid options are rejected.

#![cfg(feature = "emulated")]

use std::{
    collections::BTreeMap,
    env, fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use nrf52_emulator::{Chip, MICROSECOND, Part, devices::MotorProtocol, image, rtt::Rtt};
use system_tests::{
    buggies::ROBOT,
    image::{KEY, alone, build_sealed},
};
use wdgnn_drive::{Wheels, buggy::Settings};
use wdgnn_emulation::buggies::chips::{SETTINGS_PAGE, wheels_part};
use wdgnn_emulation::log::Decoder;

fn provision(arguments: &[&str]) -> Command {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware/provision.py");
    let mut command = Command::new("python3");
    command.arg(script).args(arguments);
    command
}

fn words(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn sealed_elf(board: &str) -> PathBuf {
    let feature = format!("board-{board}");
    build_sealed("dot154", &["--no-default-features", "--features", &feature]).unwrap()
}

/// The bytes of a HEX file, by address.
fn bytes_of(hex: &Path) -> BTreeMap<u32, u8> {
    let pieces = image::hex_segments(&fs::read_to_string(hex).unwrap()).expect("a whole HEX file");
    pieces.into_iter().flat_map(|(address, bytes)| (address..).zip(bytes)).collect()
}

#[test]
fn robots_boot_from_their_files_with_their_addresses() {
    let key = fs::read_to_string(KEY).unwrap();
    for (board, kind) in [("nrf52840", Part::Nrf52840), ("microbit-v2", Part::Nrf52833)] {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().display().to_string();
        // Cargo writes the images of all boards to one path.
        let output = alone(|| {
            provision(&[
                "--board",
                board,
                "--robots",
                "7,300",
                "--key",
                KEY,
                "--no-key-rotation",
                "--out",
                &out,
            ])
            .output()
            .unwrap()
        });
        assert!(output.status.success(), "{}", words(&output));
        assert!(!words(&output).contains(key.trim()), "the key must not be printed");
        let elf = sealed_elf(board);
        let (decoder, file) = (Decoder::new(&elf).unwrap(), fs::read(&elf).unwrap());
        let rtt = Rtt::new(image::elf_symbol(&file, "_SEGGER_RTT").unwrap());
        for address in [7, 300] {
            let hex = folder.path().join(format!("{board}-robot-{address}.hex"));
            assert_eq!(
                fs::metadata(&hex).unwrap().permissions().mode() & 0o777,
                0o600,
                "the file contains the key"
            );
            let mut chip = Chip::new(kind, 0x1234_5678_9abc);
            for (address, byte) in bytes_of(&hex) {
                chip.program(address, &[byte]);
            }
            chip.power_on(0);
            let mut log = Vec::new();
            for millisecond in 1..200 {
                chip.run(millisecond * 1_000 * MICROSECOND);
                log.extend(rtt.read(&mut chip));
            }
            let lines = decoder.lines(&log).join("\n");
            assert!(lines.contains(&format!("robot {address}, model")), "{lines}");
            assert!(!lines.contains("no provisioning page"), "{lines}");
        }
    }
}

#[test]
fn uf2_blocks_carry_the_same_bytes_as_the_hex_file() {
    let folder = tempfile::tempdir().unwrap();
    let (out, elf) =
        (folder.path().display().to_string(), sealed_elf("feather-nrf52840").display().to_string());
    let output = provision(&["--board", "feather-nrf52840", "--robots", "3", "--image", &elf, "--out", &out])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let file = fs::read(folder.path().join("feather-nrf52840-robot-3.uf2")).unwrap();
    let mut hex = bytes_of(&folder.path().join("feather-nrf52840-robot-3.hex"));
    assert_eq!(file.len() % 512, 0);
    for (index, block) in file.chunks(512).enumerate() {
        let word = |at: usize| u32::from_le_bytes(*block[at..].first_chunk().unwrap());
        assert_eq!([word(0), word(4), word(8), word(508)], [0x0a32_4655, 0x9e5d_5157, 0x2000, 0x0ab1_6f30]);
        assert_eq!([word(16), word(20), word(24)], [256, index as u32, (file.len() / 512) as u32]);
        assert_eq!(word(28), 0xada5_2840, "the family of Adafruit's bootloader for the nRF52840");
        assert!(word(12).is_multiple_of(256) && word(12) >= 0x26000, "no block overwrites the SoftDevice");
        for (address, byte) in (word(12)..).zip(&block[32..32 + 256]) {
            assert_eq!(*byte, hex.remove(&address).unwrap_or(0xff), "{address:#x}");
        }
    }
    assert!(hex.is_empty(), "all bytes are in some block");
}

/// Stand-in for probe-rs: records its calls, and reads `memory`.
fn probe_rs(folder: &Path, memory: &str) -> (String, PathBuf) {
    let calls = folder.join("calls");
    let script = format!(
        "#!/bin/sh\necho \"$@\" >> {}\nif [ \"$1\" = read ]; then echo {memory}; fi\n",
        calls.display()
    );
    let program = folder.join("probe-rs");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    (format!("{}:{}", folder.display(), env::var("PATH").unwrap()), calls)
}

#[test]
fn flashing_reads_the_provisioning_page_back_and_rejects_a_difference() {
    let folder = tempfile::tempdir().unwrap();
    let (out, elf) = (folder.path().display().to_string(), sealed_elf("nrf52840").display().to_string());
    let arguments = ["--board", "nrf52840", "--robots", "5", "--image", &elf, "--out", &out];
    assert!(provision(&arguments).output().unwrap().status.success());
    let hex = folder.path().join("nrf52840-robot-5.hex");
    let page: Vec<String> =
        bytes_of(&hex).range(0x000f_7000..).map(|(_, byte)| format!("{byte:02x}")).collect();
    assert_eq!(page.len(), 16);

    let (path, calls) = probe_rs(folder.path(), &page.join(" "));
    let flash = [&arguments[..], &["--flash", "--probe", "1366:1015:0001"]].concat();
    let output = provision(&flash).env("PATH", &path).output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let where_ = "--chip nRF52840_xxAA --probe 1366:1015:0001";
    let expected = format!(
        "download {where_} --binary-format hex --verify {}\nread {where_} b8 0xf7000 16\nreset {where_}\n",
        hex.display()
    );
    assert_eq!(fs::read_to_string(&calls).unwrap(), expected);

    for wrong in ["ff ff ff ff ff ff ff ff ff ff ff ff", &page[1..].join(" "), ""] {
        fs::remove_file(&calls).unwrap();
        let (path, calls) = probe_rs(folder.path(), wrong);
        let output = provision(&flash).env("PATH", &path).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", words(&output));
        assert!(
            words(&output).contains("robot 5 was flashed, but its provisioning page reads back as"),
            "{}",
            words(&output)
        );
        assert!(!fs::read_to_string(&calls).unwrap().contains("reset"), "the robot must not start");
    }
}

#[test]
fn files_are_copied_to_usb_drives() {
    let (folder, drive) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let [out, to] = [&folder, &drive].map(|folder| folder.path().display().to_string());
    let elf = sealed_elf("microbit-v2").display().to_string();
    let arguments =
        ["--board", "microbit-v2", "--robots", "2", "--image", &elf, "--out", &out, "--drive", &to];
    let output = provision(&arguments).output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let file = "microbit-v2-robot-2.hex";
    assert_eq!(fs::read(folder.path().join(file)).unwrap(), fs::read(drive.path().join(file)).unwrap());
    // The image of another board could overwrite the bootloader.
    let foreign = ["--board", "nrf52840-dongle", "--robots", "2", "--image", &elf, "--out", &out];
    let output = provision(&foreign).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    assert!(
        words(&output).contains("--image must be an image for nrf52840-dongle, got one for microbit-v2"),
        "{}",
        words(&output)
    );
}

#[test]
fn invalid_options_are_rejected_with_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let bad_key = folder.path().join("bad.key");
    fs::write(&bad_key, "0123456789abcdef-not-a-key").unwrap();
    let bad_key = bad_key.display().to_string();
    let refused: [(&[&str], &str); 11] = [
        (&["--robots", "0-9"], "give either --key FILE"),
        (&["--robots", "0-9", "--key", KEY, "--unsealed"], "give either --key FILE"),
        (&["--robots", "0-4,3", "--unsealed"], "--robots must not repeat an address, got 3"),
        (&["--robots", "65536", "--unsealed"], "addresses from 0 to 65535, got 65536"),
        (&["--robots", "9-0", "--unsealed"], "must be ascending addresses"),
        (&["--robots", "seven", "--unsealed"], "--robots must be addresses such as 0-9"),
        (&["--robots", "1", "--key", "nowhere.key"], "there is no key file nowhere.key"),
        (&["--robots", "1", "--key", &bad_key], "must have 16 bytes or 32 hexadecimal digits"),
        (&["--robots", "1", "--unsealed", "--drive", "/"], "has no USB drive"),
        (&["--robots", "1", "--key", KEY], "give either --personal-keys FOLDER"),
        (
            &["--robots", "1", "--key", KEY, "--personal-keys", "nowhere"],
            "there is no key file nowhere/robot-1.key",
        ),
    ];
    for (arguments, sentence) in refused {
        let output = provision(&[&["--board", "nrf52840"], arguments].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", words(&output));
        assert!(words(&output).contains(sentence), "{arguments:?}: {}", words(&output));
        assert!(
            !words(&output).contains("0123456789abcdef"),
            "the content of a key file must not be printed"
        );
    }
}

#[test]
fn buggies_have_a_chassis_and_calibrated_wheels() {
    let folder = tempfile::tempdir().unwrap();
    let (out, image) = (folder.path().display().to_string(), ROBOT.display().to_string());
    let wheels = folder.path().join("wheels.json");
    fs::write(&wheels, r#"{"1": {"track_mm": 80.5, "gain": [0.95, 1.05]}}"#).unwrap();
    let wheels = wheels.display().to_string();
    let base = ["--board", "microbit-v2", "--buggy", "--robots", "0-1", "--image", &image, "--out", &out];
    let refused = provision(&base).output().unwrap();
    assert!(
        words(&refused).contains("--buggy requires --chassis maqueen, cutebot, h-bridge"),
        "{}",
        words(&refused)
    );
    let options = ["--chassis", "cutebot", "--wheels", &wheels];
    let output = provision(&[&base[..], &options].concat()).output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let calibrated = Wheels { track: 0.0805, gain: [0.95, 1.05], ..Settings::MAQUEEN.wheels };
    for (robot, wheels) in [(0, Settings::MAQUEEN.wheels), (1, calibrated)] {
        let bytes = bytes_of(&folder.path().join(format!("microbit-v2-robot-{robot}.hex")));
        let part: Vec<u8> = (SETTINGS_PAGE + 2048..).take(32).map(|address| bytes[&address]).collect();
        let settings = Settings { wheels, ..Settings::MAQUEEN };
        assert_eq!(part, wheels_part(MotorProtocol::Cutebot, &settings), "robot {robot}");
    }
}
