//! Command line of `faults` and errors of fault settings.

use serde_json::Value;

use crate::program::{host_sim, refused};

#[test]
fn failed_rows_are_named_and_exit_with_1() {
    let folder = tempfile::tempdir().expect("a folder");
    // The motors are too weak for any limit.
    let arguments = [
        "faults",
        "--only",
        "saturate",
        "--robots",
        "8",
        "--swarms",
        "2",
        "--ticks",
        "200",
        "--no-robustness",
    ];
    let output = host_sim(folder.path(), &arguments);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("motors saturate") && printed.contains("3 m/s²"), "{printed}");
    assert!(printed.contains("pairs") && printed.contains("nearest"), "{printed}");
    assert!(!printed.contains("loss, independent"), "{printed}");
    let holds = !printed.contains("DOES NOT HOLD");
    assert_eq!(output.status.code(), Some(i32::from(!holds)));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(complaint.contains("rows do not hold: motors saturate (3 m/s², 2 s)"), !holds, "{complaint}");
}

#[test]
fn json_has_every_seed_and_the_worst_of_them_with_both_lengths() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments =
        ["faults", "--only", "motors weak", "--robots", "6", "--swarms", "1", "--seeds", "2", "--json"];
    let output = host_sim(folder.path(), &arguments);
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let tables = json["tables"].as_array().expect("tables");
    assert_eq!(
        tables.iter().map(|table| table["seconds"].as_f64()).collect::<Vec<_>>(),
        [Some(2.0), Some(10.0)]
    );
    for table in tables {
        let worst = &table["faults"][0];
        assert_eq!(worst["options"], "motor=weak:0.2");
        let seeds = table["seeds"].as_array().expect("seeds");
        assert_eq!(seeds.iter().map(|rows| rows[0]["seed"].as_u64()).collect::<Vec<_>>(), [Some(7), Some(8)]);
        assert!(seeds.iter().any(|rows| rows[0] == *worst));
        for field in ["close_pairs", "most_close_pairs", "nearest"] {
            assert!(worst["nearness"][field].is_number(), "{field}: {worst}");
        }
        assert!(
            worst["command"].as_str().is_some_and(|command| command.ends_with("--fault motor=weak:0.2")),
            "{worst}"
        );
    }
}

#[test]
fn invalid_fault_settings_are_rejected_in_one_line() {
    for (arguments, complaint) in [
        (
            &["faults", "--only", "nothing of the kind"][..],
            "--only must match a fault or level, got nothing of the kind",
        ),
        (&["faults", "--ticks", "100"], "--ticks, in seconds, must be a number between 2 and 600, got 1"),
        (&["eval", "--fault", "gremlins=1"], "there is no fault gremlins: use drop-chance, burst, "),
        (&["faults", "--seeds", "0"], "--seeds must be a whole number between 1 and 100000, got 0"),
        (
            &["eval", "--fault", "motor=loose:0.1"],
            "--fault motor must be stuck:SHARE, dead:SHARE or weak:SHARE",
        ),
        (&["eval", "--fault", "sensor=frozen:0.1"], "frozen:0.1@50"),
        (&["eval", "--fault", "heading-error=30"], "30:0.2"),
        (
            &["eval", "--fault", "saturation=0"],
            "--fault saturation must be a number above 0 and at most 1000, got 0",
        ),
        (&["eval", "--fault", "collisions"], "--fault collisions needs a --profile with a radio"),
        (
            &["eval", "--profile", "esb32", "--robots", "50", "--fault", "sybil=250"],
            "need more addresses than --profile esb32 has",
        ),
        (
            &["eval", "--task", "rendezvous", "--fault", "mixed-models=0.5"],
            "no other model of --task rendezvous",
        ),
        (
            &["eval", "--task", "rendezvous", "--fault", "one-way=2"],
            "--fault one-way must be a number between 0 and 1, got 2",
        ),
        (&["run", "--target", "qemu", "--fault", "mixed-models=0.5"], "robots in QEMU run one image"),
        (&["run", "--fault", "join=0.2"], "SHARE@TICK"),
        (
            &["run", "--robots", "5", "--fault", "brown-out=5@10"],
            "--fault brown-out names robot 5: the robots are 0 to 4",
        ),
    ] {
        refused(arguments, complaint);
    }
}

#[test]
fn the_list_of_faults_has_every_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = host_sim(folder.path(), &["faults", "--list"]);
    let list = String::from_utf8(output.stdout).expect("text");
    for fault in host_sim::medium::options::FAULTS {
        assert!(list.contains(&format!("{}={}", fault.key, fault.form)), "{}: {list}", fault.key);
    }
}
