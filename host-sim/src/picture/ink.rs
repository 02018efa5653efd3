//! Colours by name: those of the pages' style sheet, which says each of them once.

/// Where colours are.
const STYLE: &str = include_str!("../page/page.css");

/// The colour of a line by its place, where it has no name of its own.
const SERIES: [&str; 7] =
    ["series-1", "series-2", "series-3", "series-4", "series-5", "series-6", "series-7"];

/// The name of a line's colour: a controller's, or that of its place.
#[must_use]
pub fn of_series(name: Option<&'static str>, place: usize) -> &'static str {
    name.filter(|name| value(name).is_some()).unwrap_or(SERIES[place % SERIES.len()])
}

/// A colour by its name, in the light. Nobody's name is black.
#[must_use]
pub fn light(name: &str) -> [u8; 3] {
    let Some(value) = value(name) else { return [0; 3] };
    if let Some(other) = value.strip_prefix("var(--").and_then(|rest| rest.strip_suffix(')')) {
        return light(other);
    }
    let part = |at: usize| value.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
    [1, 3, 5].map(|at| part(at).unwrap_or_default())
}

/// What the style sheet says first: light comes before dark.
fn value(name: &str) -> Option<&'static str> {
    STYLE.lines().find_map(|line| {
        let (key, value) = line.trim().strip_prefix("--")?.split_once(": ")?;
        (key == name).then(|| value.trim_end_matches(';'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_the_pages() {
        assert_eq!(light("paper"), [0xfb, 0xfb, 0xf9]);
        assert_eq!(light("series-1"), light("wd-gnn-online"));
        assert_eq!(light("nobody"), [0; 3]);
        assert_eq!(of_series(Some("gnn"), 0), "gnn");
        assert_eq!(of_series(Some("averaging-1-guarded"), 8), "series-2");
        for name in SERIES.iter().chain(&["ink", "soft", "line", "faint", "panel"]) {
            assert_ne!(light(name), [0; 3], "{name}");
        }
    }
}
