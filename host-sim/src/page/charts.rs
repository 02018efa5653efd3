//! Line charts, and a page of them with a table: what `sweep` and `theorem` show.

use serde::{Serialize, Serializer, ser::SerializeSeq as _};

use super::document::{document, escaped, filled, five_digits, table};
use crate::lineup::ONLINE;

/// A page of charts.
#[derive(Clone, Debug, Default)]
pub struct ChartPage {
    /// Heading.
    pub title: String,
    /// One or two sentences under the heading.
    pub intro: String,
    /// The charts, in order.
    pub charts: Vec<Chart>,
    /// A table under them; the first row is its heading. None for no rows.
    pub table: Vec<Vec<String>>,
    /// What is to be known about the numbers.
    pub note: String,
    /// The command that made the page.
    pub command: String,
}

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
            // What the page is about.
            strong: self.colour == Some(ONLINE),
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

/// The page as one HTML file.
#[must_use]
pub fn charts(page: &ChartPage) -> String {
    #[derive(Serialize)]
    struct Data<'a> {
        charts: &'a [Chart],
    }
    let body = filled(
        include_str!("charts.html"),
        &[
            ("title", &escaped(&page.title)),
            ("intro", &escaped(&page.intro)),
            ("table", &table(&page.table)),
            ("note", &escaped(&page.note)),
            ("command", &escaped(&page.command)),
        ],
    );
    document(&page.title, &body, "", include_str!("charts.js"), &Data { charts: &page.charts })
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

    #[test]
    fn a_page_holds_everything_it_needs() {
        let page = charts(&ChartPage {
            title: "Sweep <radius>".into(),
            charts: vec![Chart { title: "one".into(), ..Chart::default() }],
            ..ChartPage::default()
        });
        assert!(page.contains("<h1>Sweep &lt;radius&gt;</h1>"));
        assert!(page.contains(r#"{"charts":[{"title":"one","xLabel":"","#));
        for outside in ["src=", "http:", "url(h", "@import"] {
            assert!(!page.replace("http://www.w3.org/2000/svg", "").contains(outside), "{outside}");
        }
    }
}
