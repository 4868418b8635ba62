//! A headless Chromium for tests, over the browser's debugging protocol: JSON messages ended by a
//! NUL byte, on two pipes.
//!
//! What cannot be done fails the test that needs it. Start reading at [`Browser`]; [`Walk`] records
//! what a page asks for, as a `.har` file.
//!
//! Protocol: <https://chromedevtools.github.io/devtools-protocol/>.
#![expect(
    clippy::unwrap_used,
    reason = "what cannot be done here fails the test that needs it"
)]

mod walk;

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

pub use walk::Walk;

/// A browser with one tab.
pub struct Browser {
    child: Child,
    commands: File,
    messages: BufReader<File>,
    session: String,
    last_id: u64,
    complaints: Vec<String>,
    /// Events of the network since [`Browser::record`]; `None` when nothing records.
    recorded: Option<Vec<Value>>,
    _folder: TempDir,
}

/// Width in pixels, colour scheme and media of a page's view.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Pixels.
    pub width: u32,
    /// `light` or `dark`.
    pub scheme: &'static str,
    /// `screen` or `print`.
    pub media: &'static str,
}

impl Browser {
    /// Starts Chromium. The pipes are the file descriptors 3 and 4 of the child, which a shell
    /// gives it.
    pub fn start() -> Browser {
        let folder = TempDir::new().unwrap();
        let pipe = |name: &str| folder.path().join(name);
        let made = Command::new("mkfifo")
            .args([pipe("in"), pipe("out")])
            .status();
        assert!(made.unwrap().success());
        let child = Command::new("sh")
            .args(["-c", "exec chromium \"$@\" 3<in 4>out", "sh", "--headless"])
            .args(["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args([
                "--remote-debugging-pipe",
                "--user-data-dir=profile",
                "about:blank",
            ])
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Each open waits for the other side's, in the shell's order.
        let commands = OpenOptions::new().write(true).open(pipe("in")).unwrap();
        let messages = BufReader::new(File::open(pipe("out")).unwrap());
        let mut browser = Browser {
            child,
            commands,
            messages,
            session: String::new(),
            last_id: 0,
            complaints: Vec::new(),
            recorded: None,
            _folder: folder,
        };
        browser.attach();
        browser
    }

    fn attach(&mut self) {
        let made = self.call("Target.createTarget", json!({ "url": "about:blank" }));
        let target = json!({ "targetId": made["targetId"], "flatten": true });
        let attached = self.call("Target.attachToTarget", target);
        attached["sessionId"]
            .as_str()
            .unwrap()
            .clone_into(&mut self.session);
        for domain in ["Page", "Runtime", "Log"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
    }

    /// Loads a file and waits until page and scripts are done.
    pub fn open(&mut self, page: &Path, look: Look) {
        self.open_at(page, "", look);
    }

    /// Loads a file with a fragment, such as `#sql`.
    pub fn open_at(&mut self, page: &Path, place: &str, look: Look) {
        let screen =
            json!({ "width": look.width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", screen);
        let scheme = json!([{ "name": "prefers-color-scheme", "value": look.scheme }]);
        let media = json!({ "media": look.media, "features": scheme });
        self.call("Emulation.setEmulatedMedia", media);
        self.complaints.clear();
        let url = format!("file://{}{place}", page.display());
        self.visit(&url);
    }

    /// Loads a URL and waits until page and scripts are done.
    pub fn visit(&mut self, url: &str) {
        self.call("Page.navigate", json!({ "url": url }));
        self.loaded();
    }

    /// Evaluates an expression leading to another page, and waits until the new page is done.
    pub fn follow(&mut self, expression: &str) {
        self.ask(expression);
        self.loaded();
    }

    fn loaded(&mut self) {
        while self.read()["method"] != "Page.loadEventFired" {}
    }

    /// The value of an expression in the page.
    pub fn ask(&mut self, expression: &str) -> Value {
        let question =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", question);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {answer}"
        );
        answer["result"]["value"].clone()
    }

    /// Moves, presses or releases the left button of the mouse; `kind` as in
    /// `Input.dispatchMouseEvent`.
    pub fn pointer(&mut self, kind: &str, x: f64, y: f64) {
        let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Errors on the page's console, and requests refused by the page's policy, since the page was
    /// opened.
    pub fn complaints(&self) -> &[String] {
        &self.complaints
    }

    fn call(&mut self, method: &str, parameters: Value) -> Value {
        let answer = self.answer(method, parameters);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Sends a command and returns the answer, which may be an error.
    fn answer(&mut self, method: &str, parameters: Value) -> Value {
        self.last_id += 1;
        let mut message = json!({ "id": self.last_id, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.commands
            .write_all(format!("{message}\0").as_bytes())
            .unwrap();
        loop {
            let answer = self.read();
            if answer["id"] == self.last_id {
                return answer;
            }
        }
    }

    fn read(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.messages.read_until(0, &mut bytes).unwrap();
        assert_eq!(bytes.pop(), Some(0), "chromium has ended");
        let message: Value = serde_json::from_slice(&bytes).unwrap();
        let event = &message["params"];
        let is_complaint = match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Log.entryAdded") => event["entry"]["level"] == "error",
            Some("Runtime.consoleAPICalled") => {
                event["type"] == "error" || event["type"] == "warning"
            }
            _ => false,
        };
        if is_complaint {
            self.complaints.push(event.to_string());
        }
        let is_of_network = message["method"]
            .as_str()
            .is_some_and(|method| method.starts_with("Network."));
        if let Some(recorded) = &mut self.recorded
            && is_of_network
        {
            recorded.push(message.clone());
        }
        message
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
