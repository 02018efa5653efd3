//! The C library: current header, own symbols only, and swarms in one C program that equal the simulator bit for bit, on a PC,
//! an emulated STM32F405 and an emulated RISC-V without a floating-point unit.

#![cfg(feature = "c")]

use std::{
    fs,
    io::Write as _,
    ops::Range,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::AtomicBool,
};

use host_sim::{
    episode::Episode,
    key,
    medium::{
        key_operator::{self, MASTER},
        options::Faults,
    },
    profiles::Profile,
    seeds::{Purpose, generator},
    swarm::{digest::EpisodeDigest, networks::Network, radio_swarm::RadioConfig},
    world::{Presentation as _, Scenario, World as _, flock::Flock},
};
use serde_json::Value;
use system_tests::{
    c::{FOLDER, Machine, said},
    golden, image,
};
use wdgnn_core::tasks::flocking::Flocking;
use wdgnn_link::{error::FrameError, security::key_update::personal_key};
use wdgnn_robot::tasks::MotionModel as _;

/// Inputs of a C program and the expected digest of its flight.
struct Flight {
    folder: tempfile::TempDir,
    kind: &'static str,
    sealed: bool,
    rekeyed: bool,
    digest: String,
}

/// Keys and updates of the simulated operator in the format of `examples/swarm.c`.
fn operator(rekey: &Range<u32>, expelled: &[usize], robots: usize) -> Vec<u8> {
    let frames =
        key_operator::update_frames((0..robots).filter(|robot| !expelled.contains(robot)), rekey.end, 8);
    let frames_at = 16 * robots * (1 + robots);
    let numbers = [rekey.start, rekey.end, frames.len() as u32, frames_at as u32];
    let mut bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    for name in (0..robots).map(|robot| robot as u16) {
        bytes.extend(personal_key(&MASTER, name));
        bytes.extend(key_operator::peer_keys(name)[..robots].as_flattened());
    }
    for frame in &frames {
        bytes.extend(&**frame);
    }
    bytes
}

impl Flight {
    /// The flight that `host-sim run --robots 10 --seed 1` flies.
    fn new(kind: &'static str, profile: Profile, sealed: bool) -> Self {
        Self::with(kind, profile, sealed, 10, &Faults::default())
    }

    /// A flight with another swarm size and faults.
    fn with(kind: &'static str, profile: Profile, sealed: bool, robots: usize, faults: &Faults) -> Self {
        let condition = Scenario { robots, ..Flock::<2>::default_scenario() };
        let start = Episode::draw(&Flock::<2>::default(), &condition, &mut generator(1, Purpose::Testing, 0))
            .unwrap();
        let model = Flock::<2>::model(profile).unwrap();
        let network = Network::<Flocking>::of(&model, profile).unwrap();
        let layout = Flock::<2>::layout();
        let key = key::read(Path::new(image::KEY)).unwrap();
        let air = RadioConfig { layout: &layout, faults, swarm: 0, key };
        let mut swarm = network.native(&air, condition.robots, sealed).unwrap();
        let mut digest = EpisodeDigest::default();
        let never = AtomicBool::new(false);
        start.fly(&network.task, swarm.as_mut(), &mut [&mut digest], &never).unwrap();

        let folder = tempfile::tempdir().unwrap();
        let mut flight = Vec::new();
        flight.extend((condition.robots as u32).to_le_bytes());
        flight.extend(condition.ticks.to_le_bytes());
        flight.extend(condition.radius.to_le_bytes());
        flight.extend(network.task.period().to_le_bytes());
        for motion in &start.states {
            motion.position.iter().chain(&motion.velocity).for_each(|x| flight.extend(x.to_le_bytes()));
        }
        if (profile, sealed, robots) == (Profile::Exact, false, 10) {
            let shipped = fs::read(Path::new(FOLDER).join("examples/flight.bin")).unwrap();
            assert!(shipped == flight, "examples/flight.bin is the flight that docs/c-library.md describes");
        }
        fs::write(folder.path().join("flight.bin"), flight).unwrap();
        fs::write(folder.path().join("model.wdgnn"), model.as_bytes()).unwrap();
        fs::write(folder.path().join("key.bin"), key).unwrap();
        if let Some(rekey) = &faults.rekey {
            let told = operator(rekey, &faults.expel, robots);
            fs::write(folder.path().join("operator.bin"), told).unwrap();
        }
        Self { folder, kind, sealed, rekeyed: faults.rekey.is_some(), digest: digest.finish() }
    }

    /// Builds the C program.
    fn build(&self, machine: Machine) -> PathBuf {
        let place = |name: &str| self.folder.path().join(name);
        let program = place(&format!("{}-{}", self.kind, machine.name()));
        let mut build = Command::new(Path::new(FOLDER).join("examples/build.sh"));
        build.arg(machine.name()).args([place("flight.bin"), place("model.wdgnn")]).arg(self.kind);
        build.args(self.sealed.then(|| place("key.bin")));
        build.args(self.rekeyed.then(|| place("operator.bin")));
        said(build.env("LIBRARY", machine.library()).env("OUT", &program));
        program
    }
}

/// A number that a program printed.
fn number(output: &str, name: &str) -> u64 {
    let line = output.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{output}"));
    line.trim().parse().unwrap()
}

#[test]
fn the_build_script_without_arguments_prints_its_usage() {
    let output = Command::new(Path::new(FOLDER).join("examples/build.sh")).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.starts_with("usage: build.sh MACHINE [FLIGHT WEIGHTS ROBOT_TYPE"), "{message}");
}

#[test]
fn c_swarms_fly_bit_for_bit_as_in_the_simulator() {
    let mut measured = Vec::new();
    let rekey = Faults::parse("rekey=20-150 expel=3 peer-auth").unwrap();
    for flight in [
        Flight::new("wdgnn_flocking_exact", Profile::Exact, false),
        Flight::new("wdgnn_flocking_dot154_sealed", Profile::Dot154, true),
        Flight::new("wdgnn_flocking_p2p57", Profile::P2p57, false),
        Flight::new("wdgnn_flocking_p2p57_sealed", Profile::P2p57, true),
        Flight::with("wdgnn_flocking_dot154_key_rotation", Profile::Dot154, true, 6, &rekey),
    ] {
        for machine in Machine::ALL {
            let program = flight.build(machine);
            let output = machine.run(&program);
            let (kind, name) = (flight.kind, machine.name());
            let digest = output.lines().next().unwrap_or_default();
            assert_eq!(digest, format!("digest {}", flight.digest), "{kind} on {name}");
            if machine != Machine::Host && !flight.rekeyed {
                let flash = image::footprint(&program).flash();
                measured.push((format!("{name} {kind} flash"), flash));
                measured.push((format!("{name} {kind} robot"), number(&output, "robot_bytes ")));
                measured.push((format!("{name} {kind} stack"), number(&output, "stack ")));
            }
        }
    }
    let heading = "bytes of bindings/c/examples/swarm.c: flash of the whole program with its weight file (8 KB), RAM per robot, stack";
    golden::compare("c_library.txt", heading, &measured, 0.05);
}

#[test]
fn the_header_is_current() {
    let config = cbindgen::Config::from_file(Path::new(FOLDER).join("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    for file in ["error", "types", "robot_type", "api"] {
        builder = builder.with_src(Path::new(FOLDER).join("src").join(file).with_extension("rs"));
    }
    let mut made = Vec::new();
    builder.generate().unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap();
    let path = Path::new(FOLDER).join("include/wdgnn.h");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(there == made, "the header is not current: BLESS=1 updates bindings/c/include/wdgnn.h");
}

/// Kind and name of the symbols in the archive's own objects.
fn symbols(machine: Machine, library: &Path) -> Vec<(char, String)> {
    let text =
        said(Command::new(format!("{}nm", machine.tools())).args(["--format=posix", "-A"]).arg(library));
    let own = text.lines().filter(|line| line.contains("[wdgnn_c-"));
    own.filter_map(|line| {
        let mut words = line.split_once("]: ")?.1.split(' ');
        let name = words.next()?.to_owned();
        Some((words.next()?.chars().next()?, name))
    })
    .collect()
}

#[test]
fn the_library_defines_only_its_own_names_and_needs_no_heap_or_panic() {
    for machine in [Machine::F405, Machine::Rv32] {
        let symbols = symbols(machine, &machine.library());
        let global = |kind: char| kind.is_uppercase() && kind != 'U';
        let defined: Vec<&str> =
            symbols.iter().filter(|(kind, _)| global(*kind)).map(|(_, name)| &**name).collect();
        assert!(defined.len() > 25, "{defined:?}");
        assert!(defined.iter().all(|name| name.starts_with("wdgnn_")), "{defined:?}");
        // Arithmetic and memory functions of every C compiler: no allocation, file or panic.
        let brought = ["__aeabi_", "__", "mem", "fmin", "fmax"];
        for (_, needed) in symbols.iter().filter(|(kind, _)| *kind == 'U') {
            let alien = ["panic", "alloc", "unwind", "rust"].iter().any(|word| needed.contains(word));
            assert!(brought.iter().any(|start| needed.starts_with(start)) && !alien, "{needed}");
        }
    }
}

/// The example of a ground station.
fn listener(folder: &Path) -> PathBuf {
    let program = folder.join("listen");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wl,--gc-sections"]);
    compiler.args([format!("-I{FOLDER}/include"), format!("{FOLDER}/examples/listen.c")]);
    said(compiler.arg(Machine::Host.library()).arg("-o").arg(&program));
    program
}

/// A list of numbers in the listener's format: first index, then bits.
fn list(from: &Value, numbers: &Value) -> String {
    let bits = numbers.as_array().unwrap().iter().map(|x| (x.as_f64().unwrap() as f32).to_bits());
    bits.fold(format!(" | {}", from.as_u64().unwrap_or_default()), |text, bits| format!("{text} {bits:08x}"))
}

#[test]
fn c_decodes_or_rejects_every_golden_frame() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/interop/vectors.json");
    let golden: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let program = listener(folder.path());
    let vectors = golden["vectors"].as_array().unwrap();
    assert!(vectors.len() > 150);
    for vector in vectors {
        let mut listen = Command::new(&program);
        listen.arg(vector["profile"].as_str().unwrap());
        listen.arg(format!("{:08x}", golden["model"].as_u64().unwrap()));
        if vector["sealed"] == true {
            listen.arg(golden["key"].as_str().unwrap());
        }
        let before = vector.get("before").and_then(Value::as_array).into_iter().flatten();
        let lines = before.chain([vector]).map(|heard| {
            format!("{} {}\n", heard["now"].as_u64().unwrap_or(1000), heard["frame"].as_str().unwrap())
        });
        let lines: String = lines.collect();
        let mut child = listen.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        let answer = output.lines().last().unwrap_or_default();
        let name = &vector["name"];
        if let Some(reason) = vector.get("refused") {
            let code: Option<usize> =
                answer.strip_prefix("error ").and_then(|rest| rest.split(' ').next()?.parse().ok());
            let told = code.and_then(|code| Some(FrameError::ALL.get(code - 64)?.name()));
            assert_eq!(told, reason.as_str(), "{name}: {answer}");
        } else {
            let beacon = &vector["beacon"];
            let head =
                ["sender", "boot", "sequence", "degree"].map(|field| beacon[field].to_string()).join(" ");
            let lists = list(&Value::Null, &beacon["state"])
                + &list(&beacon["taps_from"], &beacon["taps"])
                + &list(&beacon["wide_from"], &beacon["wide"]);
            assert_eq!(answer, head + &lists, "{name}");
        }
    }
}

/// Builds and runs the Crazyflie app in a simulated world.
fn crazyflie(folder: &Path, sealed: bool) -> String {
    let app = Path::new(FOLDER).join("crazyflie");
    let program = folder.join(if sealed { "sealed" } else { "open" });
    let model = Flock::<2>::model(Profile::P2p57).unwrap();
    let (weights, key) = (folder.join("model.wdgnn"), folder.join("key.bin"));
    fs::write(&weights, model.as_bytes()).unwrap();
    fs::write(&key, key::read(Path::new(image::KEY)).unwrap()).unwrap();
    let mut compiler = Command::new("cc");
    compiler.current_dir(&app).args([
        "-std=gnu11",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Wdouble-promotion",
        "-Werror",
    ]);
    compiler.args(["-Istubs", "-I../include", "-Wl,--gc-sections", "-Wl,-z,noexecstack"]);
    compiler.arg(format!("-DWEIGHTS=\"{}\"", weights.display()));
    if sealed {
        compiler.arg("-DSEALED").arg(format!("-DKEY=\"{}\"", key.display()));
    }
    compiler.args(["src/wdgnn_app.c", "stubs/world.c", "data.S"]);
    said(compiler.arg(Machine::Host.library()).arg("-lm").arg("-o").arg(&program));
    said(&mut Command::new(program))
}

#[test]
fn the_crazyflie_app_takes_off_flocks_stops_at_its_fence_and_lands() {
    let folder = tempfile::tempdir().unwrap();
    for (sealed, bytes) in [(false, 49), (true, 57)] {
        let story = crazyflie(folder.path(), sealed);
        assert!(story.ends_with(&format!("packets of at most {bytes} bytes\n")), "{story}");
    }
}

#[test]
fn the_crazyflie_object_defines_only_the_library_the_weights_and_the_key() {
    let app = Path::new(FOLDER).join("crazyflie");
    let target = Machine::F405.library();
    // Cargo's target folder is three levels above the library.
    let target = target.ancestors().nth(3).unwrap();
    let mut make = Command::new("make");
    make.current_dir(&app).env("CARGO_TARGET_DIR", target);
    said(make.args(["src/wdgnn.o_shipped", "CRAZYFLIE_BASE=nowhere"]).arg(format!("KEY={}", image::KEY)));
    let object = app.join("src/wdgnn.o_shipped");
    let names = said(Command::new("arm-none-eabi-nm").args(["--format=posix", "--extern-only"]).arg(&object));
    fs::remove_file(&object).unwrap();
    let (needed, defined): (Vec<&str>, Vec<&str>) = names.lines().partition(|line| line.contains(" U"));
    let own = |line: &&str| ["wdgnn_", "weights", "swarm_key"].iter().any(|name| line.starts_with(name));
    assert!(defined.len() > 25 && defined.iter().all(own), "{defined:?}");
    assert!(needed.is_empty(), "what it needs it has: {needed:?}");
    // The app compiles for the Crazyflie's processor with the options of its firmware.
    let mut compiler = Command::new("arm-none-eabi-gcc");
    compiler.current_dir(&app).args([
        "-std=gnu11",
        "-Os",
        "-Wall",
        "-Wextra",
        "-Wdouble-promotion",
        "-Werror",
    ]);
    compiler.args(["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-ffreestanding"]);
    // Without a C library for Arm, only with declarations of the firmware's own.
    compiler.args([
        "-Istubs",
        "-Istubs/freestanding",
        "-I../include",
        "-c",
        "src/wdgnn_app.c",
        "-o",
        "/dev/null",
    ]);
    said(&mut compiler);
}
