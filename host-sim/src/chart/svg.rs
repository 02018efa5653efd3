//! SVG elements, in the colors of the pages' style sheet.

use std::fmt::{Display, Write as _};

/// Style sheet of the pages: light colors first, dark colors in a media query.
const STYLE: &str = include_str!("../page/page.css");

/// Height of text, in pixels.
pub const TEXT: f32 = 12.0;

/// Number of colors for lines that have no color by name.
const SERIES_COLORS: usize = 7;

/// Side of its position on which text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Text begins at its position.
    Start,
    /// Text is centered on its position.
    Middle,
    /// Text ends at its position.
    End,
}

/// A drawing: SVG elements and their size in pixels. Colors are names of the style sheet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    /// Width in pixels.
    pub width: f32,
    /// Height in pixels.
    pub height: f32,
    /// SVG elements, from the lowest to the topmost.
    pub body: String,
}

impl Drawing {
    /// Appends an element.
    pub fn push(&mut self, element: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "{element}");
    }

    /// Appends a thin straight line.
    pub fn line(&mut self, [x1, y1]: [f32; 2], [x2, y2]: [f32; 2], color: &str) {
        self.push(format_args!(
            "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" style=\"stroke:var(--{color})\"/>"
        ));
    }

    /// Appends text.
    pub fn text(&mut self, [x, y]: [f32; 2], text: &str, anchor: Anchor, color: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        self.push(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" style=\"fill:var(--{color})\"{anchor}>{}</text>",
            escaped(text)
        ));
    }

    /// Appends a heading.
    pub fn heading(&mut self, [x, y]: [f32; 2], text: &str) {
        self.push(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" style=\"fill:var(--ink)\" font-weight=\"bold\">{}</text>",
            escaped(text)
        ));
    }

    /// Stacks drawings from top to bottom.
    pub fn stacked(drawings: &[Self]) -> Self {
        let mut all = Self::default();
        for Self { width, height, body } in drawings {
            all.width = all.width.max(*width);
            let top = all.height;
            all.push(format_args!("<g transform=\"translate(0 {top})\">\n{body}</g>"));
            all.height += height;
        }
        all
    }

    /// Returns an SVG file in the light colors.
    pub fn file(&self) -> String {
        let Self { width, height, body } = self;
        with_colors(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"Inter, Helvetica, Arial, sans-serif\" font-size=\"{TEXT}\">\n\
             <rect width=\"100%\" height=\"100%\" style=\"fill:var(--paper)\"/>\n{body}</svg>\n"
        ))
    }

    /// Returns an element of a page, in the colors of the page.
    pub fn inline(&self, label: &str) -> String {
        let Self { width, height, body } = self;
        format!(
            "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{}\" \
             font-size=\"{TEXT}\">\n{body}</svg>\n",
            escaped(label)
        )
    }
}

/// Returns the name of a line's color: the controller's, or that of its index.
pub fn color_name(controller: Option<&str>, index: usize) -> String {
    let known = controller.filter(|name| definitions().any(|(key, _)| key == *name));
    known.map_or_else(|| format!("series-{}", index % SERIES_COLORS + 1), str::to_owned)
}

/// Light colors of the style sheet, by name.
fn definitions() -> impl Iterator<Item = (&'static str, &'static str)> {
    STYLE.lines().take_while(|line| !line.starts_with("@media")).filter_map(|line| {
        let (name, value) = line.trim().strip_prefix("--")?.split_once(": ")?;
        Some((name, value.trim_end_matches(';')))
    })
}

/// Replaces the names of colors by their light values.
fn with_colors(text: &str) -> String {
    let mut text = text.to_owned();
    // A color that is defined by another one takes two rounds.
    for _ in 0..2 {
        for (name, value) in definitions() {
            text = text.replace(&format!("var(--{name})"), value);
        }
    }
    text
}

/// Escapes text for XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawing() -> Drawing {
        let mut drawing = Drawing { width: 100.0, height: 50.0, ..Drawing::default() };
        drawing.line([0.0, 1.0], [2.0, 3.0], "gnn");
        drawing.text([4.0, 5.0], "a < b", Anchor::End, "series-1");
        drawing
    }

    #[test]
    fn files_have_color_values_and_pages_color_names() {
        let file = drawing().file();
        assert!(file.contains("M0.0 1.0L2.0 3.0") && file.contains("stroke:#00876a"), "{file}");
        assert!(file.contains("a &lt; b") && file.contains("fill:#d1480a"), "{file}");
        assert!(!file.contains("var("), "{file}");
        assert!(drawing().inline("it").contains("stroke:var(--gnn)"));
    }

    #[test]
    fn a_line_without_a_known_controller_is_colored_by_its_index() {
        assert_eq!(color_name(Some("gnn"), 0), "gnn");
        assert_eq!(color_name(Some("averaging-1-guarded"), 8), "series-2");
        assert_eq!(color_name(None, 6), "series-7");
    }

    #[test]
    fn stacked_drawings_keep_their_height() {
        let two = Drawing::stacked(&[drawing(), drawing()]);
        assert_eq!([two.width, two.height], [100.0, 100.0]);
        assert!(two.body.contains("translate(0 50)"));
    }
}
