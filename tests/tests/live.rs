//! The live page in a browser: it is current, opens without errors, loads nothing else, and reacts to its controls.

#![cfg(feature = "browser")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use system_tests::{
    ROOT,
    browser::{Browser, View},
    cargo_run,
};

const WIDE: View = View { width: 1366, dark: false, still: false };
/// No motion except by explicit steps.
const STILL: View = View { still: true, ..WIDE };
const PHONE: View = View { width: 360, dark: true, still: false };

fn page() -> PathBuf {
    Path::new(ROOT).join("docs/live.html")
}

/// Opens the page without motion from a link.
fn open(browser: &mut Browser, view: View, link: &str) {
    browser.open(&page(), view);
    browser.until("globalThis.live !== undefined");
    browser.evaluate(&format!("location.hash = '{link}'"));
    browser.until(&format!("live.state.scene === new URLSearchParams('{link}'.slice(1)).get('scene')"));
}

/// Figures of one swarm after more ticks.
fn figures(browser: &mut Browser, side: u32, ticks: u32) -> Value {
    browser.evaluate(&format!("live.engine.core.step({ticks}), live.engine.figures({side})"))
}

#[test]
fn the_live_page_is_current() {
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join("live.html");
    cargo_run("wdgnn-live", "page", &[made.to_str().unwrap()]);
    let same = fs::read(&made).unwrap() == fs::read(page()).unwrap();
    assert!(same, "docs/live.html is out of date: run `cargo run -p wdgnn-live`");
    let size = fs::metadata(&made).unwrap().len();
    assert!(size < 300_000, "{size} bytes");
}

#[test]
fn the_page_flies_what_the_program_flies_and_complains_about_nothing() {
    let swarm: Value = serde_json::from_str(&cargo_run("host-sim", "host-sim", &["run", "--json"])).unwrap();
    let mut browser = Browser::start();
    browser.open(&page(), WIDE);
    browser.until("Number(document.documentElement.dataset.frame) > 20");
    browser.until("document.getElementById('digest').textContent.length === 16");
    assert_eq!(browser.evaluate("document.getElementById('digest').textContent"), swarm["digest"]);
    let verdict = browser.evaluate("document.getElementById('verdict').textContent");
    assert_eq!(verdict, "identical to the native program");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
    let asked = browser.requests();
    assert!(asked.iter().all(|url| url.starts_with("file:") || url.starts_with("data:")), "{asked:?}");
}

#[test]
fn every_scene_flies_and_shows_its_effect() {
    let mut browser = Browser::start();
    browser.open(&page(), STILL);
    browser.until("globalThis.live !== undefined");
    let scenes = browser
        .evaluate("[...document.querySelectorAll('#scenes button')].map((button) => button.dataset.scene)");
    for scene in scenes.as_array().unwrap() {
        let scene = scene.as_str().unwrap();
        browser.evaluate(&format!("document.querySelector('[data-scene={scene}]').click()"));
        let [left, right] = [0, 1].map(|side| figures(&mut browser, side, if side == 0 { 500 } else { 0 }));
        let score = |figures: &Value| figures["score"].as_f64().unwrap();
        assert!(score(&left).is_finite() && score(&right).is_finite(), "{scene}: {left} {right}");
        match scene {
            // The figures next to the swarms show the effect.
            "late" | "payload" | "space" => {
                assert!(score(&right) < 0.01 * score(&left), "{scene}: {left} {right}");
            }
            "noise" | "liars" => assert!(score(&right) < 0.5 * score(&left), "{scene}: {left} {right}"),
            "trained" => assert!(score(&left).max(score(&right)) < 1.0e-3, "{scene}: {left} {right}"),
            _ => {}
        }
    }
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn sliders_buttons_and_pointers_act_on_both_swarms() {
    let mut browser = Browser::start();
    open(&mut browser, STILL, "#scene=trained");
    let slide = |name: &str, value: &str| {
        format!(
            "(() => {{ const slider = document.getElementById('slider-{name}'); slider.value = {value}; \
             slider.dispatchEvent(new Event('input')); }})()"
        )
    };
    browser.evaluate(&slide("robots", "Math.sqrt(30)"));
    assert_eq!(figures(&mut browser, 1, 1)["robots"], 30.0);
    browser.evaluate(&slide("delay", "8"));
    assert!(figures(&mut browser, 0, 300)["score"].as_f64().unwrap() > 0.1, "late motors swing");
    browser.evaluate("document.getElementById('cut').click()");
    assert!(figures(&mut browser, 1, 0)["groups"].as_f64().unwrap() >= 2.0);
    // A click on a robot of the left swarm removes it from both.
    browser.evaluate("live.redraw(), document.querySelector('[value=kill]').click()");
    browser.until("!live.stale");
    browser.evaluate(
        "(() => { const { canvas, xs, ys } = live.pictures[0]; const box = canvas.getBoundingClientRect(); \
         canvas.dispatchEvent(new PointerEvent('pointerdown', { \
         clientX: box.left + canvas.clientLeft + xs[7], clientY: box.top + canvas.clientTop + ys[7] })); })()",
    );
    for side in [0, 1] {
        assert_eq!(figures(&mut browser, side, 0)["robots"], 29.0);
    }
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_link_carries_the_whole_scene() {
    let link =
        "#scene=noise&left=averaging&robots=23&range=1.5&loss=0.2&seed=7&rate=0.5&cut=1&liars=1.2&dead=4";
    let mut browser = Browser::start();
    open(&mut browser, STILL, link);
    assert_eq!(browser.evaluate("live.link()"), link);
    assert_eq!(figures(&mut browser, 0, 1)["robots"], 22.0);
    // Invalid values are ignored.
    browser.evaluate("location.hash = '#scene=trained&robots=9999&delay=x&left=nobody&nonsense=1'");
    browser.until("live.state.scene === 'trained'");
    assert_eq!(browser.evaluate("live.link()"), "#scene=trained&robots=1000");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn reduced_motion_waits_for_a_step() {
    let mut browser = Browser::start();
    browser.open(&page(), STILL);
    browser.until("globalThis.live !== undefined && live.stale === false");
    assert_eq!(browser.evaluate("live.playing"), false);
    browser.press(".", ".");
    assert_eq!(figures(&mut browser, 0, 0)["seconds"], f64::from(0.01_f32));
    let told = browser.evaluate("document.getElementById('words').textContent");
    assert!(
        told.as_str().unwrap().contains("velocity variation in m²/s²: left (WD-GNN, as trained)"),
        "{told}"
    );
}

#[test]
fn a_restart_clears_the_description_of_the_last_flight() {
    let mut browser = Browser::start();
    open(&mut browser, STILL, "#scene=late");
    let told = "document.getElementById('words').textContent";
    for button in ["again", "reset"] {
        browser.evaluate("live.engine.core.step(300), live.stepOnce(), live.draw(), live.speak()");
        assert!(browser.evaluate(told).as_str().unwrap().starts_with("At 3.0 s"));
        browser.evaluate(&format!("document.getElementById('{button}').click()"));
        assert_eq!(browser.evaluate(told), "", "{button}");
    }
}

#[test]
fn the_heading_claims_learning_only_where_a_swarm_learns() {
    let mut browser = Browser::start();
    open(&mut browser, STILL, "#scene=late");
    let heading = "document.getElementById('title').textContent";
    assert!(browser.evaluate(heading).as_str().unwrap().contains("learning in flight"));
    // A scene without learning, and one with other controllers.
    for link in ["#scene=coverage", "#scene=late&right=offline"] {
        browser.evaluate(&format!("location.hash = '{link}'"));
        browser.until(&format!("live.link() === '{link}'"));
        let heading = browser.evaluate(heading);
        assert!(!heading.as_str().unwrap().to_lowercase().contains("learn"), "{link}: {heading}");
    }
}

#[test]
fn robots_outside_the_picture_are_marked() {
    let mut browser = Browser::start();
    open(&mut browser, STILL, "#scene=trained&range=1&speed=6");
    browser.evaluate("live.engine.core.step(100), live.redraw(), live.draw()");
    // Collects the texts of a new drawing.
    let drawn = browser.evaluate(
        "(() => { const texts = []; const { fillText } = CanvasRenderingContext2D.prototype; \
         CanvasRenderingContext2D.prototype.fillText = function (text, ...at) { texts.push(text); fillText.call(this, text, ...at); }; \
         live.redraw(), live.draw(); CanvasRenderingContext2D.prototype.fillText = fillText; return texts; })()",
    );
    let texts: Vec<&str> = drawn.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(texts.iter().any(|text| text.ends_with("robots outside")), "{texts:?}");
    assert_eq!(texts.iter().filter(|text| **text == "time in s").count(), 4, "{texts:?}");
}

#[test]
fn the_live_page_fits_a_phone() {
    let mut browser = Browser::start();
    browser.open(&page(), PHONE);
    browser.until("Number(document.documentElement.dataset.frame) > 5");
    assert_eq!(browser.evaluate("document.documentElement.scrollWidth > innerWidth"), false);
    // Next to each other, both visible.
    let boxes = browser.evaluate(
        "[0, 1].map((side) => document.getElementById(`swarm-${side}`).getBoundingClientRect()).map(({ top, bottom, right }) => [top, bottom, right])",
    );
    assert_eq!(boxes[0][0], boxes[1][0]);
    assert!(boxes[1][1].as_f64().unwrap() < 800.0 && boxes[1][2].as_f64().unwrap() <= 360.0, "{boxes}");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
