//! A drawing: a handful of marks, for a page or an SVG file.

use std::fmt::Write as _;

use super::ink;

/// Height of text, in pixels.
pub const TEXT: f32 = 12.0;

/// Where text is in respect to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// To the right of it.
    Start,
    /// Around it.
    Middle,
    /// To the left of it.
    End,
}

/// A mark. Its ink is the name of a colour of the style sheet.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// Lines through points.
    Line {
        /// The points, in pixels from the upper left corner.
        points: Vec<[f32; 2]>,
        /// Its colour.
        ink: &'static str,
        /// In pixels.
        width: f32,
        /// Whether it has gaps.
        dashed: bool,
    },
    /// An area.
    Area {
        /// Its corners.
        points: Vec<[f32; 2]>,
        /// Its colour.
        ink: &'static str,
        /// How much of what lies under it is hidden, 0 to 1.
        opacity: f32,
    },
    /// A disc.
    Dot {
        /// Its middle.
        at: [f32; 2],
        /// In pixels.
        radius: f32,
        /// Its colour.
        ink: &'static str,
    },
    /// Words.
    Text {
        /// Their place on the line they stand on.
        at: [f32; 2],
        /// What they say.
        text: String,
        /// Where they are in respect to it.
        anchor: Anchor,
        /// Their colour.
        ink: &'static str,
        /// Whether they are a heading.
        strong: bool,
    },
}

/// A drawing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sketch {
    /// In pixels.
    pub width: f32,
    /// In pixels.
    pub height: f32,
    /// From the undermost up.
    pub marks: Vec<Mark>,
}

impl Sketch {
    /// A straight line.
    pub fn line(&mut self, from: [f32; 2], to: [f32; 2], ink: &'static str) {
        self.marks.push(Mark::Line { points: vec![from, to], ink, width: 1.0, dashed: false });
    }

    /// Words.
    pub fn text(&mut self, at: [f32; 2], text: impl Into<String>, anchor: Anchor, ink: &'static str) {
        self.marks.push(Mark::Text { at, text: text.into(), anchor, ink, strong: false });
    }

    /// A heading.
    pub fn heading(&mut self, at: [f32; 2], text: impl Into<String>) {
        let (text, anchor, ink, strong) = (text.into(), Anchor::Start, "ink", true);
        self.marks.push(Mark::Text { at, text, anchor, ink, strong });
    }

    /// Several drawings under each other.
    #[must_use]
    pub fn stacked(sketches: Vec<Self>) -> Self {
        let mut all = Self::default();
        for sketch in sketches {
            let down = all.height;
            all.width = all.width.max(sketch.width);
            all.height += sketch.height;
            all.marks.extend(sketch.marks.into_iter().map(|mark| moved(mark, down)));
        }
        all
    }

    /// As an SVG file, in the light, on paper.
    #[must_use]
    pub fn svg(&self) -> String {
        let Self { width, height, .. } = self;
        let colour = |name: &str| {
            let [red, green, blue] = ink::light(name);
            format!("#{red:02x}{green:02x}{blue:02x}")
        };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"Inter, Helvetica, Arial, sans-serif\" font-size=\"{TEXT}\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n{}</svg>\n",
            colour("paper"),
            self.elements(&colour)
        )
    }

    /// As a part of a page, in the colours of the page.
    #[must_use]
    pub fn inline(&self, label: &str) -> String {
        let Self { width, height, .. } = self;
        format!(
            "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{}\" \
             font-size=\"{TEXT}\">\n{}</svg>\n",
            escaped(label),
            self.elements(&|name| format!("var(--{name})"))
        )
    }

    fn elements(&self, colour: &dyn Fn(&str) -> String) -> String {
        let mut text = String::new();
        for mark in &self.marks {
            let _ = match mark {
                Mark::Line { points, ink, width, dashed } => {
                    let gaps = if *dashed { " stroke-dasharray=\"5 4\"" } else { "" };
                    writeln!(
                        text,
                        "<path d=\"{}\" fill=\"none\" style=\"stroke:{}\" stroke-width=\"{width}\" \
                         stroke-linejoin=\"round\"{gaps}/>",
                        path(points),
                        colour(ink)
                    )
                }
                Mark::Area { points, ink, opacity } => writeln!(
                    text,
                    "<path d=\"{}Z\" style=\"fill:{}\" opacity=\"{opacity}\"/>",
                    path(points),
                    colour(ink)
                ),
                Mark::Dot { at: [x, y], radius, ink } => writeln!(
                    text,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" style=\"fill:{}\"/>",
                    colour(ink)
                ),
                Mark::Text { at: [x, y], text: words, anchor, ink, strong } => {
                    let anchor = match anchor {
                        Anchor::Start => "",
                        Anchor::Middle => " text-anchor=\"middle\"",
                        Anchor::End => " text-anchor=\"end\"",
                    };
                    let weight = if *strong { " font-weight=\"600\" font-size=\"14\"" } else { "" };
                    writeln!(
                        text,
                        "<text x=\"{x:.1}\" y=\"{y:.1}\" style=\"fill:{}\"{anchor}{weight}>{}</text>",
                        colour(ink),
                        escaped(words)
                    )
                }
            };
        }
        text
    }
}

fn path(points: &[[f32; 2]]) -> String {
    let mut path = String::new();
    for (index, [x, y]) in points.iter().enumerate() {
        let _ = write!(path, "{}{x:.1} {y:.1}", if index == 0 { "M" } else { "L" });
    }
    path
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

fn moved(mut mark: Mark, down: f32) -> Mark {
    match &mut mark {
        Mark::Line { points, .. } | Mark::Area { points, .. } => {
            for point in points {
                point[1] += down;
            }
        }
        Mark::Dot { at, .. } | Mark::Text { at, .. } => at[1] += down,
    }
    mark
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketch() -> Sketch {
        let mut sketch = Sketch { width: 100.0, height: 50.0, marks: Vec::new() };
        sketch.line([0.0, 1.0], [2.0, 3.0], "gnn");
        sketch.text([4.0, 5.0], "a < b", Anchor::End, "soft");
        sketch
    }

    #[test]
    fn a_file_has_colours_of_its_own_and_a_page_its_names() {
        let file = sketch().svg();
        assert!(file.contains("M0.0 1.0L2.0 3.0") && file.contains("stroke:#b0478f"), "{file}");
        assert!(file.contains("a &lt; b") && !file.contains("var("), "{file}");
        assert!(sketch().inline("it").contains("stroke:var(--gnn)"));
    }

    #[test]
    fn drawings_are_stacked() {
        let two = Sketch::stacked(vec![sketch(), sketch()]);
        assert_eq!([two.width, two.height], [100.0, 100.0]);
        assert!(matches!(&two.marks[3], Mark::Text { at: [4.0, 55.0], .. }));
    }
}
