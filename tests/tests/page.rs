//! Report pages in a browser: they open without errors, load nothing else, move, and fit a phone.

#![cfg(feature = "browser")]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use host_sim::page::{Chart, ChartPage, Series, charts};
use serde_json::Value;
use system_tests::{
    browser::{Browser, View},
    cargo_run,
};

const WIDE: View = View { width: 1280, dark: false, still: false };
const PHONE: View = View { width: 360, dark: false, still: false };

/// True where the page is wider than its window.
const SIDEWAYS: &str = "document.documentElement.scrollWidth > innerWidth";

/// Checks that the page fits its window and logged no error.
fn assert_fits(browser: &mut Browser) {
    assert_eq!(browser.evaluate(SIDEWAYS), false);
    assert_eq!(browser.complaints(), Vec::<Value>::new());
}

/// Addresses that the page requested, without embedded data.
fn requests(browser: &mut Browser) -> Vec<String> {
    browser.requests().into_iter().filter(|url| !url.starts_with("data:")).collect()
}

/// True once the first replay has drawn more than a few frames.
const RUNNING: &str = "Number(views[0].root.dataset.frame) > 20";

/// A checksum of every canvas and its number of painted pixels.
const PICTURES: &str = "[...document.querySelectorAll('canvas')].map((canvas) => {
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const pixels = copy.getImageData(0, 0, canvas.width, canvas.height).data;
    let [sum, painted] = [0, 0];
    for (let at = 0; at < pixels.length; at++) {
        sum = (sum * 31 + pixels[at]) % 1000003;
        if (at % 4 === 3 && pixels[at] > 200) painted += 1;
    }
    return { sum, painted };
})";

/// Path of a page that `host-sim` writes.
fn written(name: &str, arguments: &[&str]) -> PathBuf {
    let report = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let printed =
        cargo_run("host-sim", "host-sim", &[arguments, &["--report", report.to_str().unwrap()]].concat());
    assert!(printed.ends_with(&format!("page: {}\n", report.display())), "{printed}");
    report
}

/// The page that `host-sim eval` writes, made once for all tests.
fn flock() -> &'static Path {
    static PAGE: OnceLock<PathBuf> = OnceLock::new();
    PAGE.get_or_init(|| written("flock.html", &["eval", "--swarms", "4"]))
}

fn pictures(browser: &mut Browser) -> Vec<Value> {
    let pictures = browser.evaluate(PICTURES);
    pictures.as_array().unwrap().clone()
}

/// Whether fifty arrows of about twenty pixels are drawn.
fn shows_a_swarm(picture: &Value) -> bool {
    picture["painted"].as_u64().unwrap() > 1000
}

#[test]
fn the_replay_advances_and_every_canvas_shows_a_swarm() {
    let mut browser = Browser::start();
    browser.open(flock(), WIDE);
    let before = pictures(&mut browser);
    assert_eq!(before.len(), 2 + 6, "two flights with delayed actuators, six controllers");
    assert!(before.iter().all(shows_a_swarm), "{before:?}");
    // Only visible pictures are drawn.
    for canvas in 0..8 {
        browser.evaluate(&format!(
            "document.querySelectorAll('canvas')[{canvas}].scrollIntoView(); \
             window.drawn = () => views.reduce((sum, view) => sum + view.frames, 0); window.mark = drawn()"
        ));
        browser.until("drawn() > mark + 20");
    }
    let after = pictures(&mut browser);
    assert!(after.iter().all(shows_a_swarm), "{after:?}");
    for (index, (before, after)) in before.iter().zip(&after).enumerate() {
        assert_ne!(before["sum"], after["sum"], "canvas {index}");
    }
    assert_eq!(browser.complaints(), Vec::<Value>::new());
}

#[test]
fn a_swarm_of_too_many_robots_shows_its_center_and_turns_dark() {
    let page = written("many.html", &["eval", "--robots", "20000", "--ticks", "40"]);
    let mut browser = Browser::start();
    let still = View { still: true, ..WIDE };
    browser.open(&page, still);
    let begin = pictures(&mut browser);
    assert_eq!(begin.len(), 2, "two controllers");
    browser.evaluate("views[0].seek(39); views[0].show(true)");
    let end = pictures(&mut browser);
    browser.set(View { dark: true, ..still });
    browser.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    let dark = pictures(&mut browser);
    for picture in [0, 1] {
        assert!(shows_a_swarm(&end[picture]), "{end:?}");
        assert_ne!(begin[picture]["sum"], end[picture]["sum"]);
        assert_ne!(end[picture]["sum"], dark[picture]["sum"]);
    }
    assert_fits(&mut browser);
    assert!(page.metadata().unwrap().len() < 2_000_000);
}

#[test]
fn the_page_loads_no_other_resource() {
    let mut browser = Browser::start();
    browser.open(flock(), WIDE);
    browser.until(RUNNING);
    let requests = requests(&mut browser);
    assert_eq!(requests, [format!("file://{}", flock().display())]);
    assert!(flock().metadata().unwrap().len() < 2_000_000);
}

#[test]
fn the_page_fits_a_phone_in_light_and_dark() {
    let mut browser = Browser::start();
    for (dark, paper) in [(false, "rgb(251, 251, 249)"), (true, "rgb(17, 21, 27)")] {
        browser.open(flock(), View { dark, ..PHONE });
        browser.until(RUNNING);
        assert_eq!(browser.evaluate("getComputedStyle(document.body).backgroundColor"), paper);
        assert_fits(&mut browser);
    }
}

#[test]
fn tables_wider_than_a_phone_show_a_scroll_hint() {
    let mut browser = Browser::start();
    let hint = "getComputedStyle(document.querySelector('.scroll-hint')).display";
    browser.open(flock(), WIDE);
    assert_eq!(browser.evaluate(hint), "none");
    browser.open(flock(), PHONE);
    browser.until("document.querySelector('.table').classList.contains('cut')");
    assert_eq!(browser.evaluate(hint), "block");
    browser.evaluate("document.querySelector('.table').scrollLeft = 1000");
    browser.until("!document.querySelector('.table').classList.contains('cut')");
}

#[test]
fn pictures_follow_the_color_scheme() {
    let mut browser = Browser::start();
    let still = View { still: true, ..WIDE };
    browser.open(flock(), still);
    let light = pictures(&mut browser);
    browser.set(View { dark: true, ..still });
    browser.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    let dark = pictures(&mut browser);
    assert!(dark.iter().all(shows_a_swarm), "{dark:?}");
    for (index, (light, dark)) in light.iter().zip(&dark).enumerate() {
        assert_ne!(light["sum"], dark["sum"], "canvas {index}");
    }
}

#[test]
fn reduced_motion_waits_for_the_space_bar() {
    let mut browser = Browser::start();
    browser.open(flock(), View { still: true, ..WIDE });
    let half_a_second = "new Promise((done) => setTimeout(() => done(views[0].clock.value), 500))";
    assert_eq!(browser.evaluate(half_a_second), "0.00 s");
    browser.press(" ", " ");
    browser.until("views[0].clock.value > '0.05 s'");
    assert_eq!(browser.evaluate("views[0].play.getAttribute('aria-label')"), "Pause");
    browser.press(" ", " ");
    assert_eq!(browser.evaluate("views[0].play.getAttribute('aria-label')"), "Play");
}

#[test]
fn the_slider_the_arrow_keys_and_the_chart_move_the_replay() {
    let mut browser = Browser::start();
    browser.open(flock(), WIDE);
    browser.evaluate(
        "const [view] = views; view.scrub.value = 49; view.scrub.dispatchEvent(new Event('input'))",
    );
    assert_eq!(browser.evaluate("view.clock.value"), "0.49 s");
    assert_eq!(browser.evaluate("view.scrub.getAttribute('aria-valuetext')"), "0.49 s");
    browser.press("ArrowRight", "");
    assert_eq!(browser.evaluate("view.clock.value"), "0.50 s");
    browser.press("ArrowLeft", "");
    assert_eq!(browser.evaluate("view.clock.value"), "0.49 s");
    browser.evaluate(
        "const { svg } = view.charts[0]; const box = svg.getBoundingClientRect(); \
         svg.dispatchEvent(new MouseEvent('click', {clientX: box.right, clientY: box.top + 50}))",
    );
    assert_eq!(browser.evaluate("view.clock.value"), "5.99 s");
}

#[test]
fn every_click_on_the_chart_moves_the_replay() {
    let mut browser = Browser::start();
    browser.open(flock(), View { still: true, ..WIDE });
    browser.evaluate("views.at(-1).charts[0].svg.scrollIntoView({block: 'center'})");
    let place = |browser: &mut Browser, expression: &str| browser.evaluate(expression).as_f64().unwrap();
    let box_of = |side: &str| format!("views.at(-1).charts[0].svg.getBoundingClientRect().{side}");
    let [left, right, top, bottom] =
        ["left", "right", "top", "bottom"].map(|side| place(&mut browser, &box_of(side)));
    for step in 1..12 {
        let share = f64::from(step) / 12.0;
        browser.evaluate("views.at(-1).seek(0)");
        // At all heights: over lines, marks and empty space.
        browser
            .click(left + 60.0 + share * (right - left - 80.0), top + 30.0 + share * (bottom - top - 80.0));
        let clock = browser.evaluate("parseFloat(views.at(-1).clock.value)").as_f64().unwrap();
        assert!((clock - 2.0 * share).abs() < 0.15, "{share}: {clock} s");
    }
}

#[test]
fn the_chart_reads_every_controller_and_the_key_hides_one() {
    let mut browser = Browser::start();
    browser.open(flock(), View { still: true, ..WIDE });
    browser.evaluate("views.at(-1).charts[0].svg.focus()");
    browser.press("End", "");
    assert_eq!(browser.evaluate("views.at(-1).charts[0].readout.hidden"), false);
    assert_eq!(browser.evaluate("views.at(-1).charts[0].readout.querySelectorAll('div').length"), 6);
    let inside = "[views.at(-1).charts[0].readout, views.at(-1).charts[0].svg].map((part) => part.getBoundingClientRect()) \
                  .reduce((box, chart) => box.top >= chart.top && box.bottom <= chart.bottom)";
    assert_eq!(browser.evaluate(inside), true);
    browser.evaluate("[...document.querySelectorAll('.keys')].at(-1).querySelector('button').click()");
    assert_eq!(browser.evaluate("views.at(-1).charts[0].readout.querySelectorAll('div').length"), 5);
    assert_eq!(
        browser.evaluate("views.at(-1).charts[1].svg.querySelectorAll('.series:not(.hidden)').length"),
        5
    );
}

#[test]
fn pages_of_other_tasks_move_load_nothing_and_fit_a_phone() {
    let mut browser = Browser::start();
    for (task, controllers) in [("rendezvous", 4), ("flocking-3d", 5)] {
        let arguments = ["eval", "--task", task, "--robots", "12", "--ticks", "60", "--swarms", "2"];
        let file = written(&format!("{task}.html"), &arguments);
        browser.open(&file, WIDE);
        browser.evaluate("document.querySelector('canvas').scrollIntoView()");
        let before = pictures(&mut browser);
        assert!(before.len() >= controllers, "{task}: {before:?}");
        assert!(before.iter().all(|picture| picture["painted"].as_u64() > Some(200)), "{task}: {before:?}");
        browser.until(RUNNING);
        assert_ne!(before[0]["sum"], pictures(&mut browser)[0]["sum"], "{task} moves");
        let requests = requests(&mut browser);
        assert_eq!(requests.last(), Some(&format!("file://{}", file.display())));
        assert!(requests.iter().all(|url| url.starts_with("file://")), "{requests:?}");
        browser.open(&file, PHONE);
        browser.until(RUNNING);
        assert_fits(&mut browser);
    }
}

#[test]
fn chart_pages_open_without_errors_and_fit_a_phone() {
    let xs = [1.0, 1.5, 2.0, 3.0];
    let series = |name: &str, scale: f64| Series {
        name: name.into(),
        color: (name == "WD-GNN, learning in flight").then_some("wd-gnn-online"),
        points: xs.map(|x| (x, scale * x)).to_vec(),
        band: Some(xs.map(|x| (0.9 * scale * x, 1.1 * scale * x)).to_vec()),
        dashed: scale > 1.0,
    };
    let mut gap = series("GNN", 0.7);
    gap.points[2].1 = f64::NAN;
    let chart = |log_y| Chart {
        title: "Total against radius".into(),
        x_label: "radius in m".into(),
        y_label: "total / expert".into(),
        log_y,
        series: vec![series("WD-GNN, learning in flight", 1.0), series("something else", 2.0), gap.clone()],
        ..Chart::default()
    };
    let page = ChartPage {
        title: "Sweep".into(),
        charts: vec![chart(false), chart(true), Chart::default()],
        table: vec![vec!["a wide cell".into(); 12]; 3],
        ..ChartPage::default()
    };
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("charts.html");
    fs::write(&file, charts(&page)).unwrap();
    let mut browser = Browser::start();
    for view in [WIDE, PHONE] {
        browser.open(&file, view);
        browser.until("document.querySelectorAll('.series path:not(.band)').length === 6");
        // Two charts; one of their twelve points is a gap.
        assert_eq!(browser.evaluate("document.querySelectorAll('.series circle').length"), 2 * 11);
        assert_eq!(
            browser.evaluate("/NaN|Infinity/.test(document.querySelector('.charts').innerHTML)"),
            false
        );
        assert_fits(&mut browser);
    }
}

#[test]
fn faults_are_drawn() {
    let arguments = [
        "run",
        "--robots",
        "12",
        "--ticks",
        "60",
        "--fault",
        "drop-chance=0.4",
        "--fault",
        "liars=STATE:0.2",
        "--fault",
        "kill=3@20",
    ];
    let file = written("troubles.html", &arguments);
    let mut browser = Browser::start();
    for view in [WIDE, PHONE] {
        browser.open(&file, view);
        browser.until(RUNNING);
        assert_eq!(
            browser.evaluate(
                "const [flight] = views[0].flights; \
                 [flight.liars.size, flight.gone(10).size, flight.gone(30).has(3)]"
            ),
            serde_json::json!([2, 0, true])
        );
        assert_eq!(browser.evaluate("flight.silent(30).length > 5"), true);
        assert_eq!(browser.evaluate(SIDEWAYS), false);
        let words = browser.evaluate("document.querySelector('.reading').innerText");
        for sentence in [
            "A ring marks a robot that lies",
            "A cross marks a robot that is off",
            "A dashed link lost its frame",
        ] {
            assert!(words.as_str().is_some_and(|words| words.contains(sentence)), "{words}");
        }
        // The pictures with and without faults differ.
        let drawn = |browser: &mut Browser| pictures(browser)[0]["sum"].clone();
        browser.evaluate("views[0].seek(30)");
        let with = drawn(&mut browser);
        browser.evaluate("views[0].flights[0].liars.clear(); views[0].seek(30)");
        assert_ne!(with, drawn(&mut browser), "rings");
        assert_eq!(browser.complaints(), Vec::<Value>::new());
    }
}

#[test]
fn pages_of_bars_open_without_a_complaint_and_fit_a_phone() {
    let air = written("air.html", &["airtime"]);
    let faults = written(
        "faults.html",
        &[
            "faults",
            "--only",
            "your",
            "--fault",
            "drop-chance=0.1",
            "--swarms",
            "1",
            "--robots",
            "8",
            "--ticks",
            "200",
        ],
    );
    let mut browser = Browser::start();
    for (file, least) in [(air, 5), (faults, 2)] {
        for view in [WIDE, PHONE, View { dark: true, ..PHONE }] {
            browser.open(&file, view);
            let bars = browser.evaluate("document.querySelectorAll('.bars svg').length");
            assert!(bars.as_u64() >= Some(least), "{bars}");
            assert_eq!(browser.evaluate(SIDEWAYS), false, "{}", file.display());
            assert_eq!(browser.complaints(), Vec::<Value>::new());
        }
    }
}
