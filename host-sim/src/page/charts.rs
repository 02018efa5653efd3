//! A page of charts and bars with a table.

use serde::Serialize;

use super::document::{document, escaped, filled, footer, table};
use crate::{
    chart::{Bars, Chart, Drawing, Plot},
    origin::Origin,
};

/// A page of charts.
#[derive(Clone, Debug, Default)]
pub struct ChartPage {
    pub title: String,
    /// One or two sentences under the heading.
    pub intro: String,
    /// The charts, in order.
    pub charts: Vec<Chart>,
    /// Bars under the charts.
    pub bars: Vec<Bars>,
    /// A table under the bars; the first row is its heading. Empty for no table.
    pub table: Vec<Vec<String>>,
    /// Remarks on the numbers.
    pub note: String,
    /// Command and models that made the page.
    pub origin: Origin,
}

impl ChartPage {
    /// Returns all charts and bars as drawings.
    pub fn plots(&self) -> Vec<Drawing> {
        self.charts.iter().map(Chart::drawing).chain(self.bars.iter().map(Bars::drawing)).collect()
    }
}

/// Returns the page as one HTML file.
pub fn charts(page: &ChartPage) -> String {
    #[derive(Serialize)]
    struct Data<'a> {
        charts: Vec<Plot<'a>>,
    }
    // Wide bar charts scroll in their own frame, like tables.
    let drawn = |bars: &Bars| {
        let svg = bars.drawing().inline(&bars.title);
        format!("<div class=\"bars\" tabindex=\"0\" role=\"region\" aria-label=\"Bars\">{svg}</div>\n")
    };
    let (figures, plots) = figures(&page.charts);
    let body = filled(
        include_str!("charts.html"),
        &[
            ("title", &escaped(&page.title)),
            ("intro", &escaped(&page.intro)),
            ("charts", &figures),
            ("table", &table(&page.table)),
            ("note", &escaped(&page.note)),
            ("bars", &page.bars.iter().map(drawn).collect::<String>()),
            ("footer", &footer(&page.origin)),
        ],
    );
    document(&page.title, &body, "", include_str!("charts.js"), &Data { charts: plots })
}

/// Returns charts as HTML, and their data for `chart.js`.
pub(super) fn figures(charts: &[Chart]) -> (String, Vec<Plot<'_>>) {
    let plots: Vec<Plot<'_>> = charts.iter().map(Chart::plot).collect();
    let figure = |(chart, plot): (&Chart, &Plot<'_>)| {
        let title = match &chart.title {
            title if title.is_empty() => String::new(),
            title => format!("<h3>{}</h3>", escaped(title)),
        };
        let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
        let label = format!(
            "{} over {} for {}. Arrow keys read values.",
            chart.y_label,
            chart.x_label,
            names.join(", ")
        );
        let svg = plot.drawing.inline(&label);
        format!("<figure class=\"chart\">{title}<div class=\"plot\">{svg}</div></figure>\n")
    };
    (charts.iter().zip(&plots).map(figure).collect(), plots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_self_contained() {
        let page = charts(&ChartPage {
            title: "Sweep <radius>".into(),
            charts: vec![Chart { title: "one".into(), ..Chart::default() }],
            ..ChartPage::default()
        });
        assert!(page.contains("<h1>Sweep &lt;radius&gt;</h1>"));
        assert!(page.contains("<h3>one</h3>") && page.contains(r#"{"charts":[{"xLabel":"","#));
        for outside in ["src=", "http:", "url(h", "@import"] {
            assert!(!page.replace("http://www.w3.org/2000/svg", "").contains(outside), "{outside}");
        }
    }
}
