//! A headless Chromium with one page open, spoken to over its own pipe: JSON messages of the `DevTools` protocol, each ended by
//! a zero byte. That is all the protocol there is, so that it takes no crate.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Longer than any answer takes, even on a machine that is busy building.
const PATIENCE: Duration = Duration::from_mins(1);

/// How a page is to be seen.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Width of the window in CSS pixels.
    pub width: u32,
    /// Whether the system is set to dark.
    pub dark: bool,
    /// Whether the system is set to less motion.
    pub still: bool,
}

/// A browser with one page.
#[derive(Debug)]
pub struct Browser {
    process: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: Option<String>,
    calls: u64,
    events: Vec<Value>,
    _profile: TempDir,
}

impl Browser {
    /// Starts Debian's `chromium`, or what the environment variable `CHROMIUM` names.
    ///
    /// # Panics
    /// When it does not start.
    pub fn start() -> Self {
        let profile = tempfile::tempdir().expect("a folder for the profile");
        let program = std::env::var("CHROMIUM").unwrap_or_else(|_| "chromium".into());
        // The browser reads messages from descriptor 3 and writes them to 4: the shell puts our pipes there.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh", &program])
            .args(["--headless", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu"])
            // Its sandbox refuses to run as root, as in a container; the only pages here are our own.
            .args(["--no-sandbox", "--disable-dev-shm-usage"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let to = process.stdin.take().expect("its end of the pipe");
        let mut lines = BufReader::new(process.stdout.take().expect("its end of the pipe"));
        let (tell, from) = channel();
        thread::spawn(move || {
            let mut message = Vec::new();
            while lines.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else { break };
                if tell.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let mut browser =
            Self { process, to, from, session: None, calls: 0, events: Vec::new(), _profile: profile };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let target = json!({"targetId": target["targetId"], "flatten": true});
        browser.session =
            browser.call("Target.attachToTarget", &target)["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// One command, and its answer.
    ///
    /// # Panics
    /// When the browser refuses, or says nothing for a minute.
    pub fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.calls += 1;
        let mut message = json!({"id": self.calls, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to
            .write_all(format!("{message}\0").as_bytes())
            .expect("a browser that listens; is Chromium installed?");
        let id = self.calls;
        let mut answer = self.wait(|message| message["id"] == id);
        assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
        answer["result"].take()
    }

    fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.from.recv_timeout(PATIENCE).expect("an answer; is Chromium installed?");
            if message["method"].is_string() {
                self.events.push(message.clone());
            }
            if wanted(&message) {
                return message;
            }
        }
    }

    /// Sets how pages are seen, also one that is already open.
    pub fn set(&mut self, view: View) {
        let metrics =
            json!({"width": view.width, "height": 800, "deviceScaleFactor": 1, "mobile": view.width < 500});
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
        let scheme = if view.dark { "dark" } else { "light" };
        let motion = if view.still { "reduce" } else { "no-preference" };
        let features = json!([
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": motion},
        ]);
        self.call("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// Opens a file and waits until it has loaded.
    pub fn open(&mut self, file: &Path, view: View) {
        self.set(view);
        self.events.clear();
        self.call("Page.navigate", &json!({"url": format!("file://{}", file.display())}));
        let loaded = |event: &Value| event["method"] == "Page.loadEventFired";
        if !self.events.iter().any(loaded) {
            self.wait(loaded);
        }
    }

    /// What an expression gives in the page; promises are awaited.
    ///
    /// # Panics
    /// When it throws.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut answer = self.call("Runtime.evaluate", &parameters);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].take()
    }

    /// Waits until an expression is true in the page.
    ///
    /// # Panics
    /// When it is not within a minute.
    pub fn until(&mut self, expression: &str) {
        let begin = Instant::now();
        while self.evaluate(expression) != true {
            assert!(begin.elapsed() < PATIENCE, "never came true: {expression}");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Presses and releases a key.
    pub fn press(&mut self, key: &str, text: &str) {
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            self.call("Input.dispatchKeyEvent", &json!({"type": kind, "key": key, "text": text}));
        }
    }

    /// Moves the mouse to a place, presses, moves by a pixel as hands do, and releases.
    pub fn click(&mut self, x: f64, y: f64) {
        for (kind, x, button, clicks) in [
            ("mouseMoved", x - 5.0, "none", 0),
            ("mouseMoved", x, "none", 0),
            ("mousePressed", x, "left", 1),
            ("mouseMoved", x + 1.0, "left", 0),
            ("mouseReleased", x + 1.0, "left", 1),
        ] {
            let event = json!({"type": kind, "x": x, "y": y, "button": button, "clickCount": clicks});
            self.call("Input.dispatchMouseEvent", &event);
        }
    }

    /// Everything that went wrong since the page was opened: exceptions, console messages, the browser's own complaints.
    pub fn complaints(&mut self) -> Vec<Value> {
        let bad = ["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"];
        self.named(&bad)
    }

    /// The addresses that were asked for since the page was opened.
    pub fn requests(&mut self) -> Vec<String> {
        let sent = self.named(&["Network.requestWillBeSent"]);
        sent.iter()
            .filter_map(|event| event["params"]["request"]["url"].as_str())
            .map(str::to_owned)
            .collect()
    }

    fn named(&mut self, names: &[&str]) -> Vec<Value> {
        // A round trip, so that what has happened has also arrived.
        self.evaluate("0");
        let named = |event: &&Value| names.iter().any(|name| event["method"] == *name);
        self.events.iter().filter(named).cloned().collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // A browser that is gone already needs no ending.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
