//! Parts of all pages: document, templates, tables.

use serde::Serialize;

use crate::{controllers::ONLINE_TITLE, origin::Origin};

const STYLE: &str = concat!(include_str!("page.css"), include_str!("chart.css"));
const SCRIPT: &str = include_str!("chart.js");

/// Returns a document. `style` and `script` follow the shared ones; the script finds `data` by
/// name.
pub(super) fn document(title: &str, body: &str, style: &str, script: &str, data: &impl Serialize) -> String {
    // `<` could end the script element, so JSON escapes it.
    let data = serde_json::to_string(data).expect("plain numbers and strings").replace('<', "\\u003c");
    // The content security policy forbids all requests of the page.
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src \
         'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" \
         href=\"data:,\">\n<title>{}</title>\n<style>\n{STYLE}{style}</style>\n</head>\n<body>\n{body}<script>\n\"use \
         strict\";\nconst data = {data};\n{SCRIPT}{script}</script>\n</body>\n</html>\n",
        escaped(title)
    )
}

/// Fills the `{{name}}` fields of a template in one pass, so that inserted text is never a
/// template.
pub(super) fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("a template that closes its braces");
        let (_, value) = values.iter().find(|(other, _)| *other == name).expect("a value for every name");
        text += before;
        text += value;
        rest = after;
    }
    text + rest
}

pub(super) fn footer(origin: &Origin) -> String {
    let Origin { command, version, scenario, models, faults } = origin;
    let scenario = scenario.as_ref().map_or(String::new(), |file| format!(", from {}", escaped(file)));
    format!(
        "<footer>\n  <p>Made by <code>{}</code>{scenario}, version {version}.</p>\n  <p>Models: {}. Faults: <code>{}</code>. \
         All results are from simulation.</p>\n</footer>\n",
        escaped(command),
        escaped(models),
        escaped(faults)
    )
}

/// Escapes text for HTML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Returns an HTML table. The first row is the heading, the first column names the rows. Empty
/// without rows.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let Some((heading, rows)) = rows.split_first() else { return String::new() };
    // Numbers are aligned right, words left.
    let words = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.clone().next().is_some() && cells.clone().all(|cell| cell.starts_with(char::is_alphabetic))
    };
    // Columns of published figures start a separate group.
    let quoted = heading.iter().position(|text| text.starts_with("paper")).unwrap_or(usize::MAX);
    let cell = |tag: &str, scope: &str, column: usize, text: &String| {
        let class = match column {
            _ if column >= quoted => " class=\"quoted\"",
            _ if words(column) => " class=\"text\"",
            _ => "",
        };
        format!("<{tag}{scope}{class}>{}</{tag}>", escaped(text))
    };
    let heading: Vec<String> =
        (0..).zip(heading).map(|(column, text)| cell("th", " scope=\"col\"", column, text)).collect();
    let rows: Vec<String> = rows
        .iter()
        .map(|row| {
            let cells = (0..).zip(row).map(|(column, text)| match column {
                0 => cell("th", " scope=\"row\"", column, text),
                _ => cell("td", "", column, text),
            });
            // The page's subject.
            let class =
                if row.first().is_some_and(|name| name == ONLINE_TITLE) { " class=\"ours\"" } else { "" };
            format!("<tr{class}>{}</tr>", cells.collect::<String>())
        })
        .collect();
    format!(
        "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table>\n<thead><tr>{}</tr></thead>\n\
         <tbody>\n{}\n</tbody>\n</table></div>\n<p class=\"scroll-hint\">Scroll the table sideways for more columns →</p>\n",
        heading.concat(),
        rows.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserted_text_is_not_a_template() {
        assert_eq!(filled("a {{x}} b {{y}}", &[("x", "{{y}}"), ("y", "2")]), "a {{y}} b 2");
    }

    #[test]
    fn data_cannot_end_the_script() {
        let page = document("t", "", "", "", &"</script><b>");
        assert!(page.contains(r#"const data = "\u003c/script>\u003cb>";"#));
    }

    #[test]
    fn html_tables_have_row_names_escapes_and_alignment() {
        let rows =
            [["radius", "who", "total"], ["2", "a < b", "1"]].map(|row| row.map(str::to_owned).to_vec());
        let html = table(&rows);
        assert!(
            html.contains("<th scope=\"col\" class=\"text\">who</th><th scope=\"col\">total</th>"),
            "{html}"
        );
        assert!(
            html.contains("<th scope=\"row\">2</th><td class=\"text\">a &lt; b</td><td>1</td>"),
            "{html}"
        );
        assert_eq!(table(&[]), "");
    }
}
