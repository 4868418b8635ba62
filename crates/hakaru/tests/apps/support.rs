//! Runs a copy of an example app, and looks at what was found.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{PoisonError, RwLock};

use serde_json::Value;

/// Held for writing by a run in need of cores, of which there may be but two, and for reading by
/// the others.
static CORES: RwLock<()> = RwLock::new(());

/// App and settings of a run.
pub(crate) struct Run<'a> {
    pub(crate) app: &'a str,
    /// The port in the app's configuration, replaced by a free one.
    pub(crate) port: &'a str,
    pub(crate) config: &'a str,
    /// Flags of `hakaru run`.
    pub(crate) flags: &'a [&'a str],
    /// URL of the database for the app.
    pub(crate) database: Option<&'a str>,
    /// A flow in place of the app's own.
    pub(crate) flow: Option<&'a str>,
    /// Texts in the app's configuration, each with a replacement.
    pub(crate) instead: &'a [(&'a str, &'a str)],
    /// Whether app and client do little but wait, so others may do the same meanwhile.
    pub(crate) only_waits: bool,
}

/// A copy of an app in a new folder, configured for a free port.
fn copy_of(run: &Run<'_>, folder: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../apps")
        .join(run.app);
    let copied = Command::new("cp")
        .arg("-r")
        .args([&source, &folder.join(run.app)])
        .status();
    assert!(copied.expect("cp runs").success());
    let project = folder.join(run.app);
    let _ = std::fs::remove_dir_all(project.join(".hakaru"));
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a free port")
        .port();
    let config = project.join(run.config);
    let text = std::fs::read_to_string(&config).expect("the app's configuration");
    let port = port.to_string();
    let changes = run
        .instead
        .iter()
        .copied()
        .chain([(run.port, port.as_str())]);
    let text = changes.fold(text, |text, (old, new)| {
        assert!(text.contains(old), "{old} is in {text}");
        text.replace(old, new)
    });
    std::fs::write(&config, text).expect("the configuration is written");
    project
}

impl Run<'_> {
    /// The JSON of a run in which requests may have failed.
    pub(crate) fn json(&self) -> Value {
        // One at a time, of those that need cores.
        let shared = || CORES.read().unwrap_or_else(PoisonError::into_inner);
        let alone = || CORES.write().unwrap_or_else(PoisonError::into_inner);
        let _shared = self.only_waits.then(shared);
        let _alone = (!self.only_waits).then(alone);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let project = copy_of(self, folder.path());
        let mut hakaru = Command::new(env!("CARGO_BIN_EXE_hakaru"));
        hakaru
            .args(["run", "--json", "--config", self.config])
            .args(self.flags)
            .current_dir(&project)
            .env_remove("DATABASE_URL");
        if let Some(url) = self.database {
            hakaru.env("DATABASE_URL", url);
        }
        if let Some(flow) = self.flow {
            std::fs::write(project.join("strict.hurl"), flow).expect("the flow is written");
            hakaru.args(["--flow", "strict.hurl"]);
        }
        let output = hakaru.output().expect("hakaru runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            [Some(0), Some(4)].contains(&output.status.code()),
            "{stderr}"
        );
        serde_json::from_slice(&output.stdout).expect("JSON and nothing after it")
    }

    /// The JSON of a run in which none failed.
    pub(crate) fn ok(&self) -> Value {
        let json = self.json();
        assert_eq!(json["errors"], 0, "{}", json["failures"]);
        assert_eq!(json["checks_failed"], 0, "{}", json["failures"]);
        json
    }
}

/// Findings to fix, without doubts about the numbers of a busy host.
pub(crate) fn to_fix(json: &Value) -> Vec<&Value> {
    const DOUBTS: [&str; 7] = [
        "host-busy",
        "generator-busy",
        "generator-late",
        "few-samples",
        "warming-up",
        "drifting",
        "agent-missing",
    ];
    let all = json["findings"].as_array().expect("findings");
    all.iter()
        .filter(|finding| !DOUBTS.contains(&finding["id"].as_str().expect("an id")))
        .collect()
}

/// Checks the findings: the first is planted, and so is every other above low confidence.
pub(crate) fn check_only(json: &Value, planted: &[&str]) {
    let found = to_fix(json);
    let first = found.first().unwrap_or_else(|| panic!("nothing is found"));
    assert!(
        planted.contains(&first["id"].as_str().expect("an id")),
        "{found:#?}"
    );
    for finding in &found {
        let id = finding["id"].as_str().expect("an id");
        assert!(
            planted.contains(&id) || finding["confidence"] == "low",
            "{finding:#}"
        );
    }
}
