//! A headless Chromium with one page, controlled over a pipe: JSON messages of the `DevTools` protocol, each with a final
//! zero byte. The protocol is small enough to need no crate.

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

/// Timeout of an answer, also on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// View of a page.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Width of the window in CSS pixels.
    pub width: u32,
    /// Whether the system prefers dark colors.
    pub dark: bool,
    /// Whether the system prefers reduced motion.
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
    pub fn start() -> Self {
        let profile = tempfile::tempdir().expect("a folder for the profile");
        let program = std::env::var("CHROMIUM").unwrap_or_else(|_| "chromium".into());
        // The browser reads messages from descriptor 3 and writes them to 4: the shell redirects the pipes.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh", &program])
            .args(["--headless", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu"])
            // The sandbox does not start as root, as in a container; all pages are trusted.
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

    /// Sends a command and returns its answer.
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

    /// Sets the view, also of an open page.
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

    /// Value of an expression in the page; promises are awaited.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut answer = self.call("Runtime.evaluate", &parameters);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].take()
    }

    /// Waits until an expression is true in the page.
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

    /// Moves the mouse, presses, moves by a pixel, and releases.
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

    /// Exceptions, console messages and errors since the page was opened.
    pub fn complaints(&mut self) -> Vec<Value> {
        let bad = ["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"];
        self.named(&bad)
    }

    /// Addresses requested since the page was opened.
    pub fn requests(&mut self) -> Vec<String> {
        let sent = self.named(&["Network.requestWillBeSent"]);
        sent.iter()
            .filter_map(|event| event["params"]["request"]["url"].as_str())
            .map(str::to_owned)
            .collect()
    }

    fn named(&mut self, names: &[&str]) -> Vec<Value> {
        // A round trip delivers all earlier events.
        self.evaluate("0");
        let named = |event: &&Value| names.iter().any(|name| event["method"] == *name);
        self.events.iter().filter(named).cloned().collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser may have exited.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
