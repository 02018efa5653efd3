//! The table of faults raises its alarms: robots that believe everybody do not stand liars, and the table, its JSON and the exit code say
//! so.

use crate::program::host_sim;

#[test]
fn a_table_with_rows_that_do_not_hold_says_which_and_ends_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let output = host_sim(folder.path(), &["faults", "--plain", "--robots", "10", "--swarms", "1", "--json"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let table: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = table["faults"].as_array().unwrap();
    let mut over = 0;
    for row in rows {
        let (name, holds) = (row["fault"].as_str().unwrap(), row["holds"].as_bool().unwrap());
        if let (Some(ratio), Some(limit)) = (row["ratio"].as_f64(), row["limit"].as_f64())
            && ratio > limit
        {
            assert!(!holds, "{name} costs {ratio} of {limit} and holds");
            over += 1;
        }
        assert_eq!(
            !holds,
            said.contains(&format!("{name} ({})", row["level"].as_str().unwrap())),
            "{name}: {said}"
        );
    }
    assert!(over > 0, "whoever believes everybody stands everything: {table}");
}
