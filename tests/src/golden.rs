//! Goldens: measured numbers as text, one `name value` per line. `BLESS=1` updates them.

use std::{env, fs, path::PathBuf};

/// Compares measured numbers with a golden in `tests/goldens`, each within `tolerance` (relative).
pub fn compare(name: &str, heading: &str, measured: &[(String, u64)], tolerance: f64) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("goldens").join(name);
    let text = written(heading, measured);
    if env::var_os("BLESS").is_some() {
        fs::write(&path, text).expect("a golden to write");
        return;
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    let wrong = differences(&read(&golden), measured, tolerance);
    assert!(wrong.is_empty(), "{}\nright so? BLESS=1 writes tests/goldens/{name} anew", wrong.join("\n"));
}

/// Messages for new, missing and different numbers.
fn differences(expected: &[(String, u64)], measured: &[(String, u64)], tolerance: f64) -> Vec<String> {
    let far = |(name, value): &(String, u64)| match expected.iter().find(|(known, _)| known == name) {
        None => Some(format!("{name} is new: {value}")),
        Some((_, known)) if (*value as f64 - *known as f64).abs() > tolerance * *known as f64 => {
            Some(format!("{name}: {value}, expected {known} within {:.0} %", 100.0 * tolerance))
        }
        Some(_) => None,
    };
    let gone = expected.iter().filter(|(known, _)| measured.iter().all(|(name, _)| name != known));
    let gone = gone.map(|(name, _)| format!("{name} is gone"));
    measured.iter().filter_map(far).chain(gone).collect()
}

fn written(heading: &str, numbers: &[(String, u64)]) -> String {
    let width = numbers.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let comments = heading.lines().map(|line| format!("# {line}"));
    let lines = comments.chain(numbers.iter().map(|(name, value)| format!("{name:width$} {value:>8}")));
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

fn read(text: &str) -> Vec<(String, u64)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| {
            let (name, value) = line.trim().rsplit_once(' ')?;
            Some((name.trim().to_owned(), value.parse().ok()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goldens_are_read_as_written() {
        let numbers = [("infer".to_owned(), 4013), ("a whole tick".to_owned(), 35_425)];
        assert_eq!(read(&written("instructions\nof things", &numbers)), numbers);
    }

    #[test]
    fn new_missing_and_different_numbers_are_named() {
        let numbers = |list: &[(&str, u64)]| -> Vec<(String, u64)> {
            list.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        let expected = numbers(&[("infer", 100), ("learn", 100), ("agree", 100)]);
        let measured = numbers(&[("infer", 105), ("learn", 94), ("hear", 1)]);
        let wrong = ["learn: 94, expected 100 within 5 %", "hear is new: 1", "agree is gone"];
        assert_eq!(differences(&expected, &measured, 0.05), wrong);
        assert!(differences(&expected, &expected, 0.0).is_empty());
    }
}
