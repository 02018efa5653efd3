//! Tables that line up.

/// Rows of cells; the first row is the heading. The first column and columns of words are aligned to the left, numbers to the
/// right.
#[must_use]
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

/// Whether a cell below the heading begins with two letters: a word, and no unit.
fn has_words(rows: &[Vec<String>], column: usize) -> bool {
    let word = |cell: &String| cell.chars().take(2).filter(|c| c.is_alphabetic()).count() == 2;
    rows.iter().skip(1).filter_map(|row| row.get(column)).any(word)
}

/// Rows of cells as comma-separated values.
#[must_use]
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
    fn words_begin_at_the_left_and_numbers_end_at_the_right() {
        let rows = [["a", "what", "n"], ["b", "good", "10"], ["c", "–", "9"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(aligned(&rows), "a  what   n\n───────────\nb  good  10\nc  –      9\n");
    }

    #[test]
    fn commas_are_quoted() {
        assert_eq!(csv(&rows()), "a,total\nlong name,1\n\"b, c\",23\n");
    }
}
