//! Line charts and bar charts as SVG: the one chart library of files and pages.

mod plot;
mod scale;
mod svg;

use serde::{Serialize, Serializer, ser::SerializeSeq as _};

pub use self::{
    plot::Plot,
    svg::{Drawing, color_name},
};
use crate::controllers::ONLINE;

/// A line chart.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// Heading; may be empty.
    pub title: String,
    /// Name and unit of the horizontal axis.
    pub x_label: String,
    /// Name and unit of the vertical axis.
    pub y_label: String,
    /// Logarithmic vertical axis. Values that are not positive leave a gap.
    pub log_y: bool,
    /// Lowest value of a logarithmic axis. Without it, the smallest value of the data.
    pub y_floor: Option<f64>,
    pub series: Vec<Series>,
}

/// One line of a chart.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Name of the controller, which has one color on every page. Other lines are colored by their index.
    pub color: Option<&'static str>,
    /// Points by ascending x. A value that is not finite leaves a gap.
    pub points: Vec<(f64, f64)>,
    /// Low and high end of the spread, one pair per point.
    pub band: Option<Vec<(f64, f64)>>,
    /// Dashed, for references and bounds.
    pub dashed: bool,
}

impl Series {
    /// Returns whether the line is bold: the network with online learning.
    pub fn is_bold(&self) -> bool {
        self.color == Some(ONLINE)
    }
}

impl Serialize for Series {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Json<'a> {
            name: &'a str,
            color: Option<&'static str>,
            bold: bool,
            points: Pairs<'a>,
            dashed: bool,
        }
        Json {
            name: &self.name,
            color: self.color,
            bold: self.is_bold(),
            points: Pairs(&self.points),
            dashed: self.dashed,
        }
        .serialize(serializer)
    }
}

/// Points as arrays of two numbers with five digits each.
struct Pairs<'a>(&'a [(f64, f64)]);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for &(x, y) in self.0 {
            list.serialize_element(&[five_digits(x), five_digits(y)])?;
        }
        list.end()
    }
}

/// Horizontal bars, each with an optional limit.
#[derive(Clone, Debug, Default)]
pub struct Bars {
    /// Heading; may be empty.
    pub title: String,
    /// Name and unit of the axis.
    pub x_label: String,
    /// Logarithmic axis, where the values differ by more than a factor of 20.
    pub log: bool,
    /// The bars, from top to bottom.
    pub rows: Vec<Bar>,
}

/// One bar.
#[derive(Clone, Debug, Default)]
pub struct Bar {
    /// Name, left of the bar.
    pub label: String,
    /// Length; no bar for a value that is not finite.
    pub value: f64,
    /// Position of the mark of the limit.
    pub limit: Option<f64>,
    /// Text right of the bar.
    pub text: String,
    /// Whether the bar misses its limit.
    pub failed: bool,
}

/// Rounds to five digits: finer than a chart shows, and a third of the bytes.
pub(crate) fn five_digits(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_null_in_json() {
        let series = Series {
            name: "WD-GNN, learning in flight".into(),
            color: Some("wd-gnn-online"),
            points: vec![(0.5, 1.234_567_8), (1.0, f64::NAN)],
            ..Series::default()
        };
        assert_eq!(
            serde_json::to_string(&series).unwrap(),
            r#"{"name":"WD-GNN, learning in flight","color":"wd-gnn-online","bold":true,"points":[[0.5,1.2346],[1.0,null]],"dashed":false}"#
        );
    }
}
