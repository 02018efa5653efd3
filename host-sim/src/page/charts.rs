//! A page of charts and bars with a table: what everything shows that has no replay.

use serde::Serialize;

use super::document::{document, escaped, filled, footer, table};
use crate::{
    origin::Origin,
    picture::{
        chart::{Bars, Chart},
        plot,
        sketch::Sketch,
    },
};

/// A page of charts.
#[derive(Clone, Debug, Default)]
pub struct ChartPage {
    /// Heading.
    pub title: String,
    /// One or two sentences under the heading.
    pub intro: String,
    /// The charts, in order.
    pub charts: Vec<Chart>,
    /// Bars under them.
    pub bars: Vec<Bars>,
    /// A table under them; the first row is its heading. None for no rows.
    pub table: Vec<Vec<String>>,
    /// What is to be known about the numbers.
    pub note: String,
    /// What made the page.
    pub origin: Origin,
}

impl ChartPage {
    /// Everything that is drawn, as drawings.
    pub fn plots(&self) -> Vec<Sketch> {
        self.charts.iter().map(plot::chart).chain(self.bars.iter().map(plot::bars)).collect()
    }
}

/// The page as one HTML file.
pub fn charts(page: &ChartPage) -> String {
    #[derive(Serialize)]
    struct Data<'a> {
        charts: &'a [Chart],
    }
    // Bars are as wide as they are: where that is too much, they scroll in a frame of their own, as tables do.
    let drawn = |bars: &Bars| {
        let sketch = plot::bars(bars).inline(&bars.title);
        format!("<div class=\"bars\" tabindex=\"0\" role=\"region\" aria-label=\"Bars\">{sketch}</div>\n")
    };
    let body = filled(
        include_str!("charts.html"),
        &[
            ("title", &escaped(&page.title)),
            ("intro", &escaped(&page.intro)),
            ("table", &table(&page.table)),
            ("note", &escaped(&page.note)),
            ("bars", &page.bars.iter().map(drawn).collect::<String>()),
            ("footer", &footer(&page.origin)),
        ],
    );
    document(&page.title, &body, "", include_str!("charts.js"), &Data { charts: &page.charts })
}

#[cfg(test)]
mod tests {
    use super::*;

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
