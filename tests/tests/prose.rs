//! Documents and comments follow the language rules, and name only files that exist.

use std::{fs, path::Path};

use system_tests::prose::{CHECKED, ROOT, check, dead_references};

/// Findings per 1,000 words that established projects of this field stay below.
const MAX_PER_THOUSAND: f64 = 0.5;

#[test]
fn checked_files_are_written_in_plain_english() {
    let (mut words, mut findings) = (0, Vec::new());
    for path in CHECKED {
        let (counted, found) = check(&Path::new(ROOT).join(path));
        assert!(counted > 0, "{path} has no prose");
        words += counted;
        findings.extend(found);
    }
    let list: Vec<String> =
        findings.iter().map(|f| format!("{}:{}: {}", f.file.display(), f.line, f.phrase)).collect();
    assert!(
        1e3 * findings.len() as f64 <= MAX_PER_THOUSAND * words as f64,
        "{list:#?}\n{} findings in {words} words",
        findings.len()
    );
}

#[test]
fn links_and_paths_in_documents_exist() {
    let root = Path::new(ROOT);
    let documents = CHECKED
        .iter()
        .map(|path| root.join(path))
        .filter(|path| path.extension().is_some_and(|end| end == "md"));
    let dead: Vec<String> = documents
        .flat_map(|file| {
            dead_references(&file).into_iter().map(move |dead| format!("{}: {dead}", file.display()))
        })
        .collect();
    assert!(dead.is_empty(), "{dead:#?}");
}

#[test]
fn the_readme_is_short() {
    let readme = fs::read_to_string(Path::new(ROOT).join("README.md")).unwrap();
    let (lines, words) = (readme.lines().count(), readme.split_whitespace().count());
    assert!(lines <= 150 && words <= 1_200, "{lines} lines, {words} words");
}
