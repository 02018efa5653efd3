//! Line charts and bars as drawings.

use super::{
    chart::{Bars, Chart, Series},
    ink,
    scale::Scale,
    sketch::{Anchor, Mark, Sketch, TEXT},
};

/// Width of a plot, in pixels.
const WIDTH: f32 = 760.0;
/// Height of the part with lines in it, with axes.
const HEIGHT: f32 = 342.0;
/// Room around a plot in a file.
const EDGE: f32 = 16.0;
/// Room for the axes.
const LEFT: f32 = 52.0;
const RIGHT: f32 = 14.0;
const TOP: f32 = 26.0;
const BOTTOM: f32 = 40.0;
/// From a line of words to the next.
const ROW: f32 = 20.0;
/// Width of a letter, about.
const LETTER: f32 = 0.56 * TEXT;
/// From this ratio on, bars are on a logarithmic axis.
const WIDE: f64 = 20.0;
/// Lines with more points than this have no dots.
const DOTTED: usize = 24;

/// A line chart.
#[must_use]
pub fn chart(chart: &Chart) -> Sketch {
    let mut sketch = Sketch { width: WIDTH + 2.0 * EDGE, height: EDGE, marks: Vec::new() };
    if !chart.title.is_empty() {
        sketch.height += ROW;
        sketch.heading([EDGE, sketch.height - 5.0], &*chart.title);
    }
    if chart.series.len() > 1 {
        key(&mut sketch, &chart.series);
    }
    let (top, bottom) = (sketch.height + TOP, sketch.height + HEIGHT - BOTTOM);
    let (left, right) = (EDGE + LEFT, EDGE + WIDTH - RIGHT);
    let (x, y) = scales(chart, [left, right], [bottom, top]);
    for tick in &y.ticks {
        let at = y.at(tick.value).round() + 0.5;
        sketch.line([left, at], [right, at], if tick.label.is_empty() { "faint" } else { "line" });
        sketch.text([left - 8.0, at + 4.0], &*tick.label, Anchor::End, "soft");
    }
    for tick in &x.ticks {
        sketch.text([x.at(tick.value), bottom + 18.0], &*tick.label, Anchor::Middle, "soft");
    }
    sketch.text([EDGE, top - 14.0], &*chart.y_label, Anchor::Start, "soft");
    sketch.text([right, bottom + 36.0], &*chart.x_label, Anchor::End, "soft");
    for (place, series) in chart.series.iter().enumerate() {
        let limits = [top - 6.0, bottom];
        line(&mut sketch, series, place, &x, &y, limits, chart.log_y);
    }
    sketch.height += HEIGHT + EDGE;
    sketch
}

/// Both axes of a chart.
fn scales(chart: &Chart, horizontal: [f32; 2], vertical: [f32; 2]) -> (Scale, Scale) {
    let range = |values: &mut dyn Iterator<Item = f64>| {
        let ends = |[low, high]: [f64; 2], value: f64| [low.min(value), high.max(value)];
        let found = values.filter(|value| value.is_finite()).fold([f64::INFINITY, f64::NEG_INFINITY], ends);
        if found[0].is_finite() { found } else { [0.1, 1.0] }
    };
    let xs = range(&mut chart.series.iter().flat_map(|series| series.points.iter().map(|point| point.0)));
    let across = ((horizontal[1] - horizontal[0]) / 90.0).round().max(3.0) as usize;
    let x = Scale::linear(xs, horizontal, across, false);
    let floor = chart.y_floor.unwrap_or(0.0);
    let seen = |y: &f64| !chart.log_y || (*y > 0.0 && *y >= floor);
    let bands = chart.series.iter().flat_map(|series| series.band.iter().flatten());
    let bands = bands.flat_map(|(low, high)| [*low, *high]);
    let points = chart.series.iter().flat_map(|series| series.points.iter().map(|point| point.1));
    let mut ys = range(&mut points.chain(bands).filter(seen));
    if !chart.log_y {
        let up = ((vertical[0] - vertical[1]) / 45.0).round().max(3.0) as usize;
        return (x, Scale::linear(ys, vertical, up, true));
    }
    if let Some(floor) = chart.y_floor {
        ys[0] = floor.min(ys[1]);
    }
    (x, Scale::logarithmic(ys, vertical))
}

/// Who is who, in as many rows as that takes.
fn key(sketch: &mut Sketch, series: &[Series]) {
    let mut x = EDGE;
    sketch.height += ROW;
    for (place, series) in series.iter().enumerate() {
        let width = 26.0 + series.name.chars().count() as f32 * LETTER + 18.0;
        if x + width > EDGE + WIDTH && x > EDGE {
            (x, sketch.height) = (EDGE, sketch.height + ROW);
        }
        let (y, ink) = (sketch.height - 5.0, ink::of_series(series.colour, place));
        let points = vec![[x, y - 4.0], [x + 20.0, y - 4.0]];
        sketch.marks.push(Mark::Line { points, ink, width: 3.0, dashed: series.dashed });
        sketch.text([x + 26.0, y], &*series.name, Anchor::Start, "ink");
        x += width;
    }
}

fn line(
    sketch: &mut Sketch,
    series: &Series,
    place: usize,
    x: &Scale,
    y: &Scale,
    limits: [f32; 2],
    log: bool,
) {
    let ink = ink::of_series(series.colour, place);
    let spot = |px: f64, py: f64| [x.at(px), y.at(py).clamp(limits[0], limits[1])];
    let told = |value: f64| value.is_finite() && (!log || value > 0.0);
    if let Some(band) = &series.band {
        let whole =
            series.points.iter().zip(band).filter(|(_, (low, high))| low.is_finite() && high.is_finite());
        let high = whole.clone().map(|((px, _), (_, high))| spot(*px, *high));
        let low: Vec<[f32; 2]> = whole.map(|((px, _), (low, _))| spot(*px, *low)).collect();
        let points: Vec<[f32; 2]> = high.chain(low.into_iter().rev()).collect();
        let opacity = if series.is_ours() { 0.28 } else { 0.1 };
        if points.len() > 2 {
            sketch.marks.push(Mark::Area { points, ink, opacity });
        }
    }
    let width = if series.is_ours() { 2.75 } else { 1.75 };
    for part in series.points.split(|point| !told(point.1)).filter(|part| part.len() > 1) {
        let points = part.iter().map(|&(px, py)| spot(px, py)).collect();
        sketch.marks.push(Mark::Line { points, ink, width, dashed: series.dashed });
    }
    if series.points.len() <= DOTTED {
        for &(px, py) in series.points.iter().filter(|point| told(point.1)) {
            sketch.marks.push(Mark::Dot { at: spot(px, py), radius: 4.0, ink });
        }
    }
}

/// Bars, one under the other.
#[must_use]
pub fn bars(bars: &Bars) -> Sketch {
    let letters = bars.rows.iter().map(|row| row.label.chars().count()).max().unwrap_or_default();
    let left = EDGE + 8.0 + letters as f32 * LETTER;
    let right = left + 420.0;
    let mut sketch = Sketch { width: right + 110.0, height: EDGE, marks: Vec::new() };
    if !bars.title.is_empty() {
        sketch.height += ROW;
        sketch.heading([EDGE, sketch.height - 5.0], &*bars.title);
    }
    let (top, bottom) = (sketch.height + 4.0, sketch.height + 4.0 + ROW * bars.rows.len() as f32);
    let seen = |value: f64| value.is_finite() && value > 0.0;
    let values = bars.rows.iter().flat_map(|row| [Some(row.value), row.limit].into_iter().flatten());
    let ends = values.filter(|value| seen(*value));
    let [low, high] =
        ends.fold([f64::INFINITY, 0.0_f64], |[low, high], value| [low.min(value), high.max(value)]);
    // Bars begin at zero where everybody is still seen then.
    let x = if bars.log && low.is_finite() && high > WIDE * low {
        Scale::logarithmic([low, high], [left, right])
    } else {
        Scale::linear([0.0, high.max(1.0e-9)], [left, right], 5, true)
    };
    for tick in &x.ticks {
        let at = x.at(tick.value).round() + 0.5;
        sketch.line([at, top], [at, bottom], if tick.label.is_empty() { "faint" } else { "line" });
        sketch.text([at, bottom + 16.0], &*tick.label, Anchor::Middle, "soft");
    }
    for (place, row) in bars.rows.iter().enumerate() {
        let middle = top + ROW * (place as f32 + 0.5);
        sketch.text([left - 8.0, middle + 4.0], &*row.label, Anchor::End, "ink");
        let ink = if row.falls { "graph-filter" } else { "wd-gnn-online" };
        if seen(row.value) {
            let (from, to) = (left, x.at(row.value).clamp(left, right));
            let (upper, lower) = (middle - 6.0, middle + 6.0);
            let points = vec![[from, upper], [to, upper], [to, lower], [from, lower]];
            sketch.marks.push(Mark::Area { points, ink, opacity: 0.85 });
        }
        // Beside all bars, where no mark is in the way.
        sketch.text([right + 12.0, middle + 4.0], &*row.told, Anchor::Start, "soft");
        if let Some(limit) = row.limit.filter(|limit| seen(*limit)) {
            let at = x.at(limit);
            let points = vec![[at, middle - 9.0], [at, middle + 9.0]];
            sketch.marks.push(Mark::Line { points, ink: "ink", width: 2.0, dashed: false });
        }
    }
    sketch.text([right, bottom + 34.0], &*bars.x_label, Anchor::End, "soft");
    sketch.height = bottom + 40.0 + EDGE;
    sketch
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::chart::Bar;

    #[test]
    fn a_chart_has_its_lines_gaps_bands_and_key() {
        let series = |name: &str, points: Vec<(f64, f64)>| Series {
            name: name.into(),
            band: Some(points.iter().map(|(_, y)| (0.9 * y, 1.1 * y)).collect()),
            points,
            ..Series::default()
        };
        let sketch = chart(&Chart {
            title: "It".into(),
            y_label: "m".into(),
            series: vec![
                series("whole", vec![(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)]),
                series("torn", vec![(0.0, 1.0), (1.0, f64::NAN), (2.0, 3.0), (3.0, 4.0)]),
            ],
            ..Chart::default()
        });
        let lines = |ink: &str| {
            let of = |mark: &&Mark| matches!(mark, Mark::Line { ink: other, width, .. } if *other == ink && *width < 3.0);
            sketch.marks.iter().filter(of).count()
        };
        assert_eq!((lines("series-1"), lines("series-2")), (1, 1), "what stands alone is a dot");
        let count = |of: fn(&Mark) -> bool| sketch.marks.iter().filter(|mark| of(mark)).count();
        assert_eq!(count(|mark| matches!(mark, Mark::Dot { .. })), 3 + 3);
        assert_eq!(count(|mark| matches!(mark, Mark::Area { .. })), 2);
        assert_eq!(count(|mark| matches!(mark, Mark::Text { strong: true, .. })), 1);
        let [width, height] = [sketch.width, sketch.height];
        for mark in &sketch.marks {
            if let Mark::Line { points, .. } | Mark::Area { points, .. } = mark {
                assert!(points.iter().all(|[x, y]| (0.0..=width).contains(x) && (0.0..=height).contains(y)));
            }
        }
    }

    #[test]
    fn a_chart_of_nothing_is_a_chart() {
        assert!(chart(&Chart::default()).svg().contains("</svg>"));
        assert!(bars(&Bars::default()).svg().contains("</svg>"));
    }

    #[test]
    fn bars_have_their_limits_and_tell_who_falls() {
        let row = |value, falls| Bar { label: "x".into(), value, limit: Some(1.5), told: "y".into(), falls };
        let rows = vec![row(1.0, false), row(30.0, true), row(f64::NAN, false)];
        let sketch = bars(&Bars { log: true, rows, ..Bars::default() });
        let areas = |ink: &str| {
            sketch
                .marks
                .iter()
                .filter(|mark| matches!(mark, Mark::Area { ink: other, .. } if *other == ink))
                .count()
        };
        assert_eq!((areas("wd-gnn-online"), areas("graph-filter")), (1, 1));
        assert_eq!(
            sketch.marks.iter().filter(|mark| matches!(mark, Mark::Line { width: 2.0, .. })).count(),
            3
        );
    }
}
