//! Tables with aligned columns that fit the terminal.

use std::{
    ffi::OsStr,
    io::{IsTerminal as _, stdout},
};

use crate::controllers::ONLINE_TITLE;

/// Emphasized row.
const OURS: &str = ONLINE_TITLE;
/// Colored words.
const VERDICTS: [(&str, &str); 2] = [("DOES NOT HOLD", "31"), ("holds", "32")];

/// Returns whether output may have colors: on a terminal, unless `NO_COLOR` is set
/// (<https://no-color.org>).
pub fn wants_colour() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    stdout().is_terminal() && set("NO_COLOR").is_none() && set("TERM").as_deref() != Some(OsStr::new("dumb"))
}

/// Emphasizes heading and main row, and colors verdicts.
fn emphasised(text: &str) -> String {
    let line = |(index, line): (usize, &str)| match index {
        0 => format!("\x1b[1m{line}\x1b[0m\n"),
        1 => format!("\x1b[2m{line}\x1b[0m\n"),
        _ if line.starts_with(OURS) => format!("\x1b[1m{line}\x1b[0m\n"),
        _ => {
            let verdict = VERDICTS.iter().find(|(words, _)| line.contains(&format!("  {words}")));
            verdict.map_or(format!("{line}\n"), |(words, colour)| {
                line.replacen(words, &format!("\x1b[{colour}m{words}\x1b[0m"), 1) + "\n"
            })
        }
    };
    text.lines().enumerate().map(line).collect()
}

/// Prints a table with the columns that fit the terminal.
pub fn print(rows: &[Vec<String>]) {
    let width = terminal_size::terminal_size().filter(|_| stdout().is_terminal());
    let (text, left_out) = fitted(rows, width.map(|(width, _)| width.0.into()));
    print!("{}", if wants_colour() { emphasised(&text) } else { text });
    if left_out > 0 {
        let columns = if left_out == 1 { "column" } else { "columns" };
        println!("({left_out} more {columns} in a wider terminal or in a pipe)");
    }
}

/// Returns the table with the columns that fit a width, and the number of omitted columns.
fn fitted(rows: &[Vec<String>], width: Option<usize>) -> (String, usize) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widest = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap_or_default();
    let kept = (2..=columns).rev().map(|kept| {
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().take(kept).cloned().collect()).collect();
        (aligned(&rows), columns - kept)
    });
    let mut last = None;
    for table in kept {
        let fits = width.is_none_or(|width| widest(&table.0) <= width);
        last = Some(table);
        if fits {
            break;
        }
    }
    last.unwrap_or_else(|| (aligned(rows), 0))
}

/// Aligns cells. The first row is the heading. Words are aligned left, numbers right.
pub fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let lefts: Vec<bool> = (0..columns).map(|column| column == 0 || has_words(rows, column)).collect();
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for (column, width) in widths.iter().enumerate() {
            let cell = row.get(column).map_or("", String::as_str);
            let padding = " ".repeat(width - cell.chars().count());
            line.push_str(if column == 0 { "" } else { "  " });
            line.extend(if lefts[column] { [cell, &padding] } else { [&padding, cell] });
        }
        text += line.trim_end();
        text.push('\n');
        if index == 0 {
            text += &"─".repeat(widths.iter().sum::<usize>() + 2 * (columns.saturating_sub(1)));
            text.push('\n');
        }
    }
    text
}

/// Returns whether a cell below the heading begins with two letters, unlike a unit.
fn has_words(rows: &[Vec<String>], column: usize) -> bool {
    let word = |cell: &String| cell.chars().take(2).filter(|c| c.is_alphabetic()).count() == 2;
    rows.iter().skip(1).filter_map(|row| row.get(column)).any(word)
}

/// Returns CSV text.
pub fn csv(rows: &[Vec<String>]) -> String {
    let quoted = |cell: &String| {
        if cell.contains([',', '"', '\n']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.clone()
        }
    };
    rows.iter().map(|row| row.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<String>> {
        [["a", "total"], ["long name", "1"], ["b, c", "23"]]
            .map(|row| row.map(str::to_owned).to_vec())
            .to_vec()
    }

    #[test]
    fn columns_line_up() {
        assert_eq!(
            aligned(&rows()),
            "a          total\n────────────────\nlong name      1\nb, c          23\n"
        );
    }

    #[test]
    fn narrow_terminals_show_fewer_columns() {
        let rows = [["who", "what", "when"], ["somebody", "something", "sometime"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        let (text, left_out) = fitted(&rows, Some(22));
        assert_eq!(left_out, 1);
        assert!(text.lines().all(|line| line.chars().count() <= 22), "{text}");
        assert_eq!(fitted(&rows, None), (aligned(&rows), 0));
        assert_eq!(fitted(&rows, Some(5)).1, 1, "two columns are the least that say something");
    }

    #[test]
    fn emphasis_does_not_change_the_text() {
        let text = "who   verdict\n─────\nWD-GNN, as trained  1\nWD-GNN, learning in flight  2\nx  holds\ny  DOES NOT HOLD\n";
        let shown = emphasised(text);
        assert!(
            shown.contains("\x1b[1mWD-GNN, learning in flight  2\x1b[0m") && shown.contains("\nWD-GNN, as"),
            "{shown:?}"
        );
        assert!(shown.contains("\x1b[32mholds\x1b[0m") && shown.contains("\x1b[31mDOES NOT HOLD\x1b[0m"));
        let plain = ["\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[0m"]
            .iter()
            .fold(shown.clone(), |text, code| text.replace(code, ""));
        assert_eq!(plain, text);
    }

    #[test]
    fn words_are_left_aligned_and_numbers_right_aligned() {
        let rows = [["a", "what", "n"], ["b", "good", "10"], ["c", "–", "9"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(aligned(&rows), "a  what   n\n───────────\nb  good  10\nc  –      9\n");
    }

    #[test]
    fn commas_are_quoted() {
        assert_eq!(csv(&rows()), "a,total\nlong name,1\n\"b, c\",23\n");
    }
}
