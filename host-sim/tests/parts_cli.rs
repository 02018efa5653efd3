//! Work in parts: as many machines as one likes, and the bytes of one.

use std::{fs, path::Path};

use crate::program::{host_sim, refused};

const SWEEP: [&str; 10] =
    ["sweep", "speed", "--values", "2,3", "--swarms", "2", "--json", "--report", "page.html", "--threads=1"];

fn printed(folder: &Path, more: &[&str]) -> Vec<u8> {
    let output = host_sim(folder, &[&SWEEP, more].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn parts_show_together_what_one_machine_shows() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = printed(folder.path(), &[]);
    let page = fs::read(folder.path().join("page.html")).expect("a page");
    for part in ["1/3=a.part", "2/3=b.part", "3/3=c.part"] {
        assert!(printed(folder.path(), &["--part", part]).is_empty(), "a part alone shows nothing");
    }
    assert_eq!(printed(folder.path(), &["--parts", "c.part,a.part,b.part"]), whole);
    assert_eq!(printed(folder.path(), &["--parts", "."]), whole, "or all of a folder");
    assert_eq!(fs::read(folder.path().join("page.html")).expect("a page"), page);
    let output = host_sim(folder.path(), &[&SWEEP[..], &["--parts", "a.part,b.part"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("part 3 of 3 is missing"), "{said}");
}

#[test]
fn parts_that_cannot_be_are_told() {
    refused(&["sweep", "speed", "--part", "3/2=x"], "the second of eight");
    refused(&["sweep", "speed", "--part", "0/2=x"], "the second of eight");
    refused(&["tasks", "--part", "1/2=x"], "leave them out");
    refused(&["flock", "--realisations", "2", "--part", "1/2=x"], "leave --part and --parts out");
    refused(&["sweep", "speed", "--part", "1/2=x", "--parts", "y"], "cannot be used with");
}
