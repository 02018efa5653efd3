//! Layout of line charts and bar charts.

use std::fmt::Write as _;

use serde::Serialize;

use super::{
    Bars, Chart, Series,
    scale::{Axis, Scale},
    svg::{Anchor, Drawing, TEXT, color_name},
};

/// Width and height of a line chart with its axes, in pixels.
const SIZE: [f32; 2] = [640.0, 300.0];
/// Margin around a chart in a file.
const MARGIN: f32 = 16.0;
/// Space for the axes.
const LEFT: f32 = 52.0;
const RIGHT: f32 = 14.0;
const TOP: f32 = 26.0;
const BOTTOM: f32 = 40.0;
/// Height of a line of text.
const ROW: f32 = 20.0;
/// Mean width of a letter, measured on Inter and Helvetica.
const LETTER: f32 = 0.56 * TEXT;
/// Length of a full bar.
const BAR: f32 = 420.0;
/// Ratio of the largest to the smallest value from which on bars have a logarithmic axis.
const WIDE: f64 = 20.0;
/// Largest number of points of a line that has a dot per point.
const MAX_DOTS: usize = 24;

/// A line chart with its axes, for a page: the drawing, and the axes for scripts that map values to pixels.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plot<'a> {
    x_label: &'a str,
    y_label: &'a str,
    x: Axis,
    y: Axis,
    series: &'a [Series],
    /// The drawing, without title and legend.
    #[serde(skip)]
    pub drawing: Drawing,
}

impl Chart {
    /// Returns the drawing with title and legend, for a file.
    pub fn drawing(&self) -> Drawing {
        let mut drawing = Drawing { width: SIZE[0] + 2.0 * MARGIN, height: MARGIN, ..Drawing::default() };
        if !self.title.is_empty() {
            drawing.height += ROW;
            drawing.heading([MARGIN, drawing.height - 5.0], &self.title);
        }
        if self.series.len() > 1 {
            legend(&mut drawing, &self.series);
        }
        let Drawing { height, body, .. } = self.plot().drawing;
        let top = drawing.height;
        drawing.push(format_args!("<g transform=\"translate({MARGIN} {top})\">\n{body}</g>"));
        drawing.height += height + MARGIN;
        drawing
    }

    /// Returns the chart with its axes, for a page.
    pub fn plot(&self) -> Plot<'_> {
        let [width, height] = SIZE;
        let mut drawing = Drawing { width, height, ..Drawing::default() };
        let (left, right, top, bottom) = (LEFT, width - RIGHT, TOP, height - BOTTOM);
        let (x, y) = self.scales([left, right], [bottom, top]);
        for tick in &y.ticks {
            let at = y.at(tick.value).round() + 0.5;
            drawing.line([left, at], [right, at], if tick.label.is_empty() { "faint" } else { "line" });
            drawing.text([left - 8.0, at + 4.0], &tick.label, Anchor::End, "soft");
        }
        for tick in &x.ticks {
            drawing.text([x.at(tick.value), bottom + 18.0], &tick.label, Anchor::Middle, "soft");
        }
        drawing.text([0.0, 12.0], &self.y_label, Anchor::Start, "soft");
        drawing.text([right, height - 4.0], &self.x_label, Anchor::End, "soft");
        // A nested SVG element clips the lines to the axes.
        let clip = [left - 6.0, top - 6.0, right - left + 12.0, bottom - top + 6.0];
        let [clip_x, clip_y, clip_width, clip_height] = clip;
        drawing.push(format_args!(
            "<svg x=\"{clip_x}\" y=\"{clip_y}\" width=\"{clip_width}\" height=\"{clip_height}\" \
             viewBox=\"{clip_x} {clip_y} {clip_width} {clip_height}\">"
        ));
        for (index, series) in self.series.iter().enumerate() {
            line(&mut drawing, series, index, &x, &y, self.log_y);
        }
        drawing.push("</svg>");
        let (x_label, y_label, series) = (&self.x_label, &self.y_label, &self.series);
        Plot { x_label, y_label, x: x.axis, y: y.axis, series, drawing }
    }

    /// Both axes.
    fn scales(&self, horizontal: [f32; 2], vertical: [f32; 2]) -> (Scale, Scale) {
        let range = |values: &mut dyn Iterator<Item = f64>| {
            let ends = |[low, high]: [f64; 2], value: f64| [low.min(value), high.max(value)];
            let finite = values.filter(|value| value.is_finite());
            let [low, high] = finite.fold([f64::INFINITY, f64::NEG_INFINITY], ends);
            if low.is_finite() { [low, high] } else { [0.1, 1.0] }
        };
        let points = || self.series.iter().flat_map(|series| &series.points);
        let across = ((horizontal[1] - horizontal[0]) / 90.0).round().max(3.0) as usize;
        let x = Scale::linear(range(&mut points().map(|point| point.0)), horizontal, across, false);
        let floor = self.y_floor.unwrap_or(0.0);
        let visible = |y: &f64| !self.log_y || (*y > 0.0 && *y >= floor);
        let bands = self.series.iter().flat_map(|series| series.band.iter().flatten());
        let bands = bands.flat_map(|(low, high)| [*low, *high]);
        let mut ys = range(&mut points().map(|point| point.1).chain(bands).filter(visible));
        if !self.log_y {
            let up = ((vertical[0] - vertical[1]) / 45.0).round().max(3.0) as usize;
            return (x, Scale::linear(ys, vertical, up, true));
        }
        if let Some(floor) = self.y_floor {
            ys[0] = floor.min(ys[1]);
        }
        (x, Scale::logarithmic(ys, vertical))
    }
}

/// Appends the names and colors of lines, in as many rows as needed.
fn legend(drawing: &mut Drawing, series: &[Series]) {
    let mut x = MARGIN;
    drawing.height += ROW;
    for (index, series) in series.iter().enumerate() {
        let width = 26.0 + series.name.chars().count() as f32 * LETTER + 18.0;
        if x + width > MARGIN + SIZE[0] && x > MARGIN {
            (x, drawing.height) = (MARGIN, drawing.height + ROW);
        }
        let y = drawing.height - 5.0;
        drawing.push(format_args!(
            "<path d=\"M{x:.1} {0:.1}h20\" style=\"stroke:var(--{1})\" stroke-width=\"3\"{2}/>",
            y - 4.0,
            color_name(series.color, index),
            dashes(series)
        ));
        drawing.text([x + 26.0, y], &series.name, Anchor::Start, "ink");
        x += width;
    }
}

fn dashes(series: &Series) -> &'static str {
    if series.dashed { " stroke-dasharray=\"5 4\"" } else { "" }
}

/// Appends a line with its band and its dots, as one group that scripts can hide.
fn line(drawing: &mut Drawing, series: &Series, index: usize, x: &Scale, y: &Scale, log: bool) {
    let at = |px: f64, py: f64| format!("{:.1} {:.1}", x.at(px), y.at(py));
    let present = |value: f64| value.is_finite() && (!log || value > 0.0);
    let color = color_name(series.color, index);
    let class = if series.is_bold() { "series ours" } else { "series" };
    drawing.push(format_args!(
        "<g class=\"{class}\" data-index=\"{index}\" style=\"color:var(--{color})\" fill=\"none\">"
    ));
    if let Some(band) = &series.band {
        let points = series.points.iter().zip(band);
        let whole = points.filter(|(_, (low, high))| low.is_finite() && high.is_finite());
        let high = whole.clone().map(|((px, _), (_, high))| at(*px, *high));
        let low: Vec<String> = whole.map(|((px, _), (low, _))| at(*px, *low)).collect();
        let corners: Vec<String> = high.chain(low.into_iter().rev()).collect();
        let opacity = if series.is_bold() { 0.28 } else { 0.1 };
        if corners.len() > 2 {
            drawing.push(format_args!(
                "<path class=\"band\" d=\"M{}Z\" fill=\"currentColor\" fill-opacity=\"{opacity}\"/>",
                corners.join("L")
            ));
        }
    }
    let mut path = String::new();
    let mut pen = 'M';
    for &(px, py) in &series.points {
        if present(py) {
            let _ = write!(path, "{pen}{}", at(px, py));
        }
        pen = if present(py) { 'L' } else { 'M' };
    }
    let width = if series.is_bold() { 2.75 } else { 1.75 };
    drawing.push(format_args!(
        "<path d=\"{path}\" stroke=\"currentColor\" stroke-width=\"{width}\" stroke-linejoin=\"round\"{}/>",
        dashes(series)
    ));
    if series.points.len() <= MAX_DOTS {
        for &(px, py) in series.points.iter().filter(|point| present(point.1)) {
            let (cx, cy) = (x.at(px), y.at(py));
            drawing
                .push(format_args!("<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"4\" fill=\"currentColor\"/>"));
        }
    }
    drawing.push("</g>");
}

impl Bars {
    /// Returns the drawing, for pages and files.
    pub fn drawing(&self) -> Drawing {
        let letters = self.rows.iter().map(|row| row.label.chars().count()).max().unwrap_or_default();
        let left = MARGIN + 8.0 + letters as f32 * LETTER;
        let right = left + BAR;
        let mut drawing = Drawing { width: right + 110.0, height: MARGIN, ..Drawing::default() };
        if !self.title.is_empty() {
            drawing.height += ROW;
            drawing.heading([MARGIN, drawing.height - 5.0], &self.title);
        }
        let top = drawing.height + 4.0;
        let bottom = top + ROW * self.rows.len() as f32;
        let x = self.scale([left, right]);
        for tick in &x.ticks {
            let at = x.at(tick.value).round() + 0.5;
            drawing.line([at, top], [at, bottom], if tick.label.is_empty() { "faint" } else { "line" });
            drawing.text([at, bottom + 16.0], &tick.label, Anchor::Middle, "soft");
        }
        for (index, row) in self.rows.iter().enumerate() {
            let middle = top + ROW * (index as f32 + 0.5);
            drawing.text([left - 8.0, middle + 4.0], &row.label, Anchor::End, "ink");
            let color = if row.failed { "trouble" } else { "wd-gnn" };
            if is_drawn(row.value) {
                let width = x.at(row.value).clamp(left, right) - left;
                drawing.push(format_args!(
                    "<rect class=\"bar\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"12\" \
                     style=\"fill:var(--{color})\" fill-opacity=\"0.85\"/>",
                    middle - 6.0
                ));
            }
            // Right of all bars, so that no mark of a limit crosses the text.
            drawing.text([right + 12.0, middle + 4.0], &row.text, Anchor::Start, "soft");
            if let Some(limit) = row.limit.filter(|limit| is_drawn(*limit)) {
                drawing.push(format_args!(
                    "<path class=\"limit\" d=\"M{:.1} {:.1}v18\" style=\"stroke:var(--ink)\" stroke-width=\"2\"/>",
                    x.at(limit),
                    middle - 9.0
                ));
            }
        }
        drawing.text([right, bottom + 34.0], &self.x_label, Anchor::End, "soft");
        drawing.height = bottom + 40.0 + MARGIN;
        drawing
    }

    /// The axis. It begins at zero unless the smallest bar would vanish.
    fn scale(&self, pixels: [f32; 2]) -> Scale {
        let values = self.rows.iter().flat_map(|row| [Some(row.value), row.limit].into_iter().flatten());
        let ends = |[low, high]: [f64; 2], value: f64| [low.min(value), high.max(value)];
        let [low, high] = values.filter(|value| is_drawn(*value)).fold([f64::INFINITY, 0.0], ends);
        if self.log && low.is_finite() && high > WIDE * low {
            Scale::logarithmic([low, high], pixels)
        } else {
            Scale::linear([0.0, high.max(1.0e-9)], pixels, 5, true)
        }
    }
}

fn is_drawn(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Bar;

    fn count(drawing: &Drawing, pattern: &str) -> usize {
        drawing.body.matches(pattern).count()
    }

    #[test]
    fn charts_have_lines_gaps_bands_and_a_legend() {
        let series = |name: &str, points: Vec<(f64, f64)>| Series {
            name: name.into(),
            band: Some(points.iter().map(|(_, y)| (0.9 * y, 1.1 * y)).collect()),
            points,
            ..Series::default()
        };
        let chart = Chart {
            title: "It".into(),
            y_label: "m".into(),
            series: vec![
                series("whole", vec![(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)]),
                series("gap", vec![(0.0, 1.0), (1.0, f64::NAN), (2.0, 3.0), (3.0, 4.0)]),
            ],
            ..Chart::default()
        };
        let drawing = chart.drawing();
        assert_eq!((count(&drawing, "class=\"series\""), count(&drawing, "class=\"band\"")), (2, 2));
        assert_eq!(count(&drawing, "<circle"), 3 + 3);
        assert_eq!((count(&drawing, ">It<"), count(&drawing, ">whole<")), (1, 1));
        assert!(!drawing.body.contains("NaN") && !drawing.body.contains("inf"), "{}", drawing.body);
        let plot = chart.plot();
        assert_eq!((count(&plot.drawing, ">It<"), count(&plot.drawing, ">whole<")), (0, 0));
        let json = serde_json::to_value(&plot).unwrap();
        assert_eq!((&json["yLabel"], &json["series"][1]["name"]), (&"m".into(), &"gap".into()));
    }

    #[test]
    fn charts_without_data_are_drawn() {
        assert!(Chart::default().drawing().file().contains("</svg>"));
        assert!(Bars::default().drawing().file().contains("</svg>"));
    }

    #[test]
    fn bars_show_limits_and_failures() {
        let row =
            |value, failed| Bar { label: "x".into(), value, limit: Some(1.5), text: "y".into(), failed };
        let rows = vec![row(1.0, false), row(30.0, true), row(f64::NAN, false)];
        let drawing = Bars { log: true, rows, ..Bars::default() }.drawing();
        assert_eq!((count(&drawing, "class=\"bar\""), count(&drawing, "class=\"limit\"")), (2, 3));
        assert_eq!(count(&drawing, "fill:var(--trouble)"), 1);
    }
}
