//! An app of a few lines under a short load, and the run's findings.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// An app of a few lines, and the settings of the run.
pub(crate) struct Small<'a> {
    pub(crate) app: &'a str,
    pub(crate) environment: &'a str,
    /// Command of the app without the address.
    pub(crate) puma: &'a str,
    /// Lines under `[load]`, with durations.
    pub(crate) load: &'a str,
    pub(crate) paths: &'a [&'a str],
    /// A line of each request.
    pub(crate) header: &'a str,
    pub(crate) database: Option<&'a str>,
    /// Exit code of the run.
    pub(crate) code: i32,
}

impl<'a> Small<'a> {
    pub(crate) fn new(app: &'a str, paths: &'a [&'a str]) -> Small<'a> {
        Small {
            app,
            environment: "production",
            puma: "puma -q -t 2:2",
            load: "connections = 2\nduration = \"4s\"",
            paths,
            header: "",
            database: None,
            code: 0,
        }
    }

    /// One thread and one client, so that only the planted waits remain.
    pub(crate) fn alone(app: &'a str, paths: &'a [&'a str]) -> Small<'a> {
        Small {
            puma: "puma -q -t 1:1",
            load: "connections = 1\nduration = \"3s\"",
            ..Small::new(app, paths)
        }
    }

    pub(crate) fn json(&self) -> Value {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .expect("a free port")
            .port();
        let Small {
            puma,
            environment,
            load,
            header,
            ..
        } = self;
        let mut config = format!(
            "[target]\ncommand = \"{puma} -b tcp://127.0.0.1:{port} config.ru\"\n\
             url = \"http://127.0.0.1:{port}\"\nenv = {{ RACK_ENV = \"{environment}\" }}\n\
             [load]\n{load}\nwarmup = \"1s\"\n"
        );
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("it is written");
        };
        for (number, path) in self.paths.iter().enumerate() {
            write(
                &format!("{number}.hurl"),
                &format!("GET {{{{base_url}}}}{path}\n{header}\nHTTP 200\n"),
            );
            config += &format!("[[flow]]\nfile = \"{number}.hurl\"\nweight = 1\n");
        }
        write("hakaru.toml", &config);
        write("config.ru", self.app);
        self.run(folder.path())
    }

    fn run(&self, folder: &Path) -> Value {
        let mut hakaru = Command::new(env!("CARGO_BIN_EXE_hakaru"));
        hakaru
            .args(["run", "--json"])
            .current_dir(folder)
            .env_remove("DATABASE_URL");
        if let Some(url) = self.database {
            hakaru.env("DATABASE_URL", url);
        }
        let output = hakaru.output().expect("hakaru runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(self.code), "{stderr}");
        serde_json::from_slice(&output.stdout).expect("JSON and nothing after it")
    }
}

fn found(json: &Value) -> impl Iterator<Item = &Value> {
    json["findings"].as_array().expect("findings").iter()
}

fn titles(json: &Value) -> Vec<String> {
    found(json)
        .map(|finding| format!("{} {}", finding["id"], finding["title"]))
        .collect()
}

#[track_caller]
pub(crate) fn check(json: &Value, id: &str, part: &str) {
    let told = |finding: &Value| finding["id"] == id && finding.to_string().contains(part);
    assert!(
        found(json).any(told),
        "no {id} with {part}: {:#?}",
        titles(json)
    );
}

/// Nothing else is to be fixed, but for hints.
#[track_caller]
pub(crate) fn check_no_other(json: &Value, planted: &[&str]) {
    for finding in found(json) {
        let id = finding["id"].as_str().expect("an id");
        let doubt = finding["remedy"]["safety"] == "none";
        assert!(
            doubt || finding["confidence"] == "low" || planted.contains(&id),
            "{finding:#}"
        );
    }
}
