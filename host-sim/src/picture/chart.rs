//! What plots show: line charts and bars, whoever draws them.

use serde::{Serialize, Serializer, ser::SerializeSeq as _};

use crate::lineup::ONLINE;

/// One chart.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Chart {
    /// Heading; may be empty.
    pub title: String,
    /// Name and unit of the horizontal axis.
    pub x_label: String,
    /// Name and unit of the vertical axis.
    pub y_label: String,
    /// Logarithmic vertical axis. What is not above zero then leaves a gap.
    pub log_y: bool,
    /// Lowest value of a logarithmic axis, where the smallest of the data would be too low.
    pub y_floor: Option<f64>,
    /// The lines.
    pub series: Vec<Series>,
}

/// One line of a chart.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Name in the key.
    pub name: String,
    /// The controller's name, whose colour it has on every page; none for any other line.
    pub colour: Option<&'static str>,
    /// Points by ascending x. One that is not finite leaves a gap.
    pub points: Vec<(f64, f64)>,
    /// Low and high end of the spread, one per point.
    pub band: Option<Vec<(f64, f64)>>,
    /// Dashed, for references and bounds.
    pub dashed: bool,
}

impl Series {
    /// Whether this is what the page is about.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.colour == Some(ONLINE)
    }
}

impl Serialize for Series {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Json<'a> {
            name: &'a str,
            colour: Option<&'static str>,
            strong: bool,
            points: Pairs<'a>,
            band: Option<Pairs<'a>>,
            dashed: bool,
        }
        Json {
            name: &self.name,
            colour: self.colour,
            strong: self.is_ours(),
            points: Pairs(&self.points),
            band: self.band.as_deref().map(Pairs),
            dashed: self.dashed,
        }
        .serialize(serializer)
    }
}

/// Points as a chart needs them.
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

/// Bars, one under the other, each with a limit.
#[derive(Clone, Debug, Default)]
pub struct Bars {
    /// Heading; may be empty.
    pub title: String,
    /// Name and unit of the axis.
    pub x_label: String,
    /// Logarithmic axis.
    pub log: bool,
    /// The bars.
    pub rows: Vec<Bar>,
}

/// One bar.
#[derive(Clone, Debug, Default)]
pub struct Bar {
    /// Its name.
    pub label: String,
    /// How long it is; not finite for none.
    pub value: f64,
    /// Where its limit is marked.
    pub limit: Option<f64>,
    /// What is told beside it.
    pub told: String,
    /// Whether it is past its limit, or fails otherwise.
    pub falls: bool,
}

/// Numbers of five digits: finer than a picture can show, and a third of the size.
pub(crate) fn five_digits(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_coloured_by_its_controller_and_gaps_are_null() {
        let series = Series {
            name: "WD-GNN online".into(),
            colour: Some("wd-gnn-online"),
            points: vec![(0.5, 1.234_567_8), (1.0, f64::NAN)],
            ..Series::default()
        };
        assert_eq!(
            serde_json::to_string(&series).unwrap(),
            r#"{"name":"WD-GNN online","colour":"wd-gnn-online","strong":true,"points":[[0.5,1.2346],[1.0,null]],"band":null,"dashed":false}"#
        );
    }
}
