//! Predicting and tuning real servers: a handler of 2 ms of CPU and 6 ms of sleep, so about four
//! threads are best.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

use serde_json::Value;

/// One at a time: each measures, and there may be but two cores.
static ALONE: Mutex<()> = Mutex::new(());

const APP: &str = r#"
def cpu = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :float_millisecond)

run ->(_env) do
  stop = cpu + 2
  nil while cpu < stop
  sleep 0.006
  [200, { "content-type" => "text/plain", "content-length" => "2" }, ["ok"]]
end
"#;

struct Project {
    folder: tempfile::TempDir,
    config: String,
}

impl Project {
    /// A project with the command, in which `PORT` stands for a free one.
    fn new(command: &str) -> Project {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .expect("a free port")
            .port();
        let command = command.replace("PORT", &port.to_string());
        let config = format!(
            "[target]\ncommand = \"{command}\"\nurl = \"http://127.0.0.1:{port}/\"\n\
             env = {{ RACK_ENV = \"production\" }}\n[load]\nconnections = 12\nduration = \"3s\"\nwarmup = \"1s\"\n"
        );
        std::fs::write(folder.path().join("config.ru"), APP).expect("config.ru is written");
        std::fs::write(folder.path().join("hakaru.toml"), &config).expect("the configuration");
        let unicorn = format!("worker_processes 2\nlisten \"127.0.0.1:{port}\"\n");
        std::fs::write(folder.path().join("unicorn.rb"), unicorn).expect("unicorn.rb is written");
        Project { folder, config }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hakaru"));
        command
            .args(words)
            .current_dir(self.folder.path())
            .env_remove("DATABASE_URL");
        command
    }

    fn hakaru(&self, code: i32, words: &[&str]) -> Output {
        let output = self.command(words).output().expect("hakaru runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {stderr}");
        output
    }

    fn json(&self, code: i32, words: &[&str]) -> Value {
        json(&self.hakaru(code, words))
    }

    fn text(&self, words: &[&str]) -> String {
        String::from_utf8(self.hakaru(0, words).stdout).expect("text")
    }
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("JSON and nothing after it")
}

fn alone() -> std::sync::MutexGuard<'static, ()> {
    ALONE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

const PUMA: &str = "puma -t 5:5 -b tcp://127.0.0.1:PORT config.ru";

#[test]
fn a_recorded_run_predicts_others() {
    let _alone = alone();
    let project = Project::new(PUMA);
    project.hakaru(1, &["predict", "--threads", "1"]);
    let run = project.json(0, &["run", "--json"]);
    let one = project.json(0, &["predict", "--threads", "1", "--json"]);
    let five = project.json(0, &["predict", "--json"]);
    let rps = |prediction: &Value| number(&prediction["predicted"]["rps"]);
    assert!((number(&five["recorded"]["rps"]) / number(&run["rps"]) - 1.0).abs() < 0.01);
    // 8 ms at least a request, so one thread gives 125 at most.
    assert!(
        rps(&one) <= 125.0 && rps(&one) < 0.7 * rps(&five),
        "{one} {five}"
    );
    assert!(rps(&five) <= number(&five["bound_rps"]) * 1.02);
    let flood = [
        "predict",
        "--workers",
        "2",
        "--cores",
        "8",
        "--rate",
        "5000",
        "--json",
    ];
    let flood = project.json(0, &flood);
    assert_eq!(flood["predicted"]["overloaded"], true);
    let text = project.text(&[
        "predict",
        "--workers",
        "4",
        "--threads",
        "3",
        "--cores",
        "8",
        "--rate",
        "300",
    ]);
    assert!(
        text.contains("4 × 3") && text.contains("300/s due"),
        "{text}"
    );
    capacity(&project);
    advice(&project);
}

/// 2 ms of the GVL a request, so 900 a second need two workers at least.
fn capacity(project: &Project) {
    let words = ["predict", "--rate", "900", "--json", "--goal"];
    let held = project.json(0, &[&words[..], &["p95 < 5s"]].concat());
    assert_eq!(held["goal"]["met"], true);
    assert!(number(&held["predicted"]["workers"]) >= 2.0, "{held:#}");
    let missed = project.json(3, &[&words[..], &["p50 < 1ms"]].concat());
    assert_eq!(missed["goal"]["met"], false);
}

/// One line a thread, and the recommendation at the end.
fn advice(project: &Project) {
    let text = project.text(&["tune", "--advise"]);
    let last = text.lines().last().expect("a last line");
    let threads: u32 = (last.strip_prefix("Recommended config: puma -t 1:"))
        .unwrap_or_else(|| panic!("{text}"))
        .parse()
        .expect("a number of threads");
    assert!((2..=8).contains(&threads), "{text}");
    let line = line_of(&text, "puma srv tp 001: cpu ");
    assert!(
        line.contains("% io ") && line.contains("% gc ") && line.contains("% gvlwait "),
        "{line}"
    );
    let json = project.json(0, &["tune", "--advise", "--json"]);
    assert_eq!(json["recommended"]["threads"], threads);
}

fn line_of(text: &str, start: &str) -> String {
    let line = text.lines().find(|line| line.starts_with(start));
    line.unwrap_or_else(|| panic!("no line starts with {start}: {text}"))
        .to_owned()
}

const SHORT: [&str; 8] = [
    "tune",
    "--block",
    "1s",
    "--warmup",
    "500ms",
    "--threads-max",
    "6",
    "--json",
];

#[test]
fn tuning_names_what_it_measured_and_changes_nothing() {
    let _alone = alone();
    let project = Project::new("puma -t 1:1 -b tcp://127.0.0.1:PORT config.ru");
    let words = [&SHORT[..], &["--goal", "p50 < 2s", "--budget", "60s"]].concat();
    let tuned = project.json(0, &words);
    assert_eq!(tuned["format"], "hakaru-tune");
    assert_eq!(tuned["goal_met"], true);
    assert_eq!(tuned["recommended"]["goal_figure"]["metric"], "p50");
    let recommended = &tuned["recommended"];
    assert_eq!(recommended["measured"], true);
    assert!(
        number(&recommended["threads"]) * number(&recommended["workers"]) > 1.0,
        "{tuned:#}"
    );
    assert!(!tuned["predicted"].as_array().expect("a grid").is_empty());
    let measured = tuned["measured"].as_array().expect("what was measured");
    assert!(measured.len() >= 2, "{tuned:#}");
    for cell in measured {
        assert!(!cell["blocks"].as_array().expect("blocks").is_empty());
        assert!(number(&cell["memory_bytes"]) > 1e6);
    }
    assert!(number(&tuned["measuring_s"]) <= 70.0);
    let config = std::fs::read_to_string(project.folder.path().join("hakaru.toml"));
    assert_eq!(config.expect("the configuration"), project.config);
}

#[test]
fn a_goal_that_nothing_reaches_names_the_nearest() {
    let _alone = alone();
    let project = Project::new(PUMA);
    let more = [
        "--goal",
        "p50 < 1ms",
        "--budget",
        "60s",
        "--workers-max",
        "1",
    ];
    let tuned = project.json(3, &[&SHORT[..], &more].concat());
    assert_eq!(tuned["goal_met"], false);
    assert_eq!(tuned["ended"], "goal missed");
    assert!(number(&tuned["recommended"]["latency_ms"]["p50"]) > 1.0);
    // One worker each time, so a round needs one start.
    let measured = tuned["measured"].as_array().expect("what was measured");
    let blocks: usize = (measured.iter())
        .map(|cell| cell["blocks"].as_array().expect("blocks").len())
        .sum();
    assert!(number(&tuned["boots"]) < blocks as f64, "{tuned:#}");
}

#[test]
fn an_interrupted_race_reports_what_was_measured() {
    let _alone = alone();
    let project = Project::new(PUMA);
    let mut child = project
        .command(&SHORT)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("hakaru starts");
    let stderr = child.stderr.take().expect("its standard error");
    let mut lines = BufReader::new(stderr).lines();
    let first = lines.find(|line| line.as_ref().is_ok_and(|line| line.starts_with("round 1")));
    assert!(first.is_some(), "no block was measured");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal is sent");
    // Read on, or a full pipe would hold it up.
    lines.for_each(drop);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let tuned = json(&output);
    assert_eq!(tuned["ended"], "interrupted");
    assert_eq!(
        tuned["measured"]
            .as_array()
            .expect("what was measured")
            .len(),
        1
    );
}

#[test]
fn a_command_that_cannot_be_told_is_refused() {
    let _alone = alone();
    // A script of its own, deaf to flags and variables.
    let project = Project::new("sh start.sh");
    let port = port_of(&project.config);
    let script =
        format!("exec env -u WEB_CONCURRENCY puma -t 2:2 -b tcp://127.0.0.1:{port} config.ru\n");
    std::fs::write(project.folder.path().join("start.sh"), script).expect("a script");
    let output = project.hakaru(1, &SHORT);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the server runs 1 × 2"), "{said}");
}

fn port_of(config: &str) -> &str {
    let (_, rest) = config.split_once("127.0.0.1:").expect("an address");
    rest.split('/').next().expect("a port")
}

#[test]
fn unicorn_is_seen_from_inside_and_predicted() {
    let _alone = alone();
    let project = Project::new("unicorn -E production -c unicorn.rb config.ru");
    let run = project.json(0, &["run", "--json"]);
    assert!(
        run["target"]["server"]
            .as_str()
            .is_some_and(|name| name.starts_with("unicorn 6")),
        "{}",
        run["target"]
    );
    assert_eq!(run["target"]["workers"], 2);
    assert_eq!(run["target"]["threads"], 1);
    let route = &run["routes"][0];
    assert!(number(&route["balance_ms"]["sleep"]) >= 5.9, "{route:#}");
    assert!(is_empty_of(project.folder.path(), "unicorn"));
    project.hakaru(2, &["tune", "--advise"]);
    let predicted = project.json(0, &["predict", "--workers", "1", "--json"]);
    let (one, two) = (number(&predicted["predicted"]["rps"]), number(&run["rps"]));
    assert!(one <= 125.0 && one < 0.8 * two, "{one} {two}");
    unicorn_is_tuned(&project);
}

/// One worker reaches 125 requests per second at most, so the race tries others and finds a better
/// number.
fn unicorn_is_tuned(project: &Project) {
    let words = ["--run", "LAST", "--workers-max", "3", "--budget", "40s"];
    let tuned = project.json(0, &[&SHORT[..], &words].concat());
    let recommended = &tuned["recommended"];
    assert!(number(&recommended["workers"]) >= 2.0, "{tuned:#}");
    assert_eq!(recommended["threads"], 1);
    assert_eq!(recommended["flags"], Value::Null);
    assert_eq!(recommended["measured"], true);
    let measured = tuned["measured"].as_array().expect("what was measured");
    assert!(measured.len() >= 2, "{tuned:#}");
    assert_eq!(tuned["broken"], Value::Array(Vec::new()));
    assert!(is_empty_of(project.folder.path(), "unicorn"));
}

/// Whether no process of the name runs in the folder.
fn is_empty_of(folder: &Path, name: &str) -> bool {
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    let mut left = processes.filter(|process| {
        let path = process.path();
        let comm = std::fs::read_to_string(path.join("comm")).unwrap_or_default();
        comm.contains(name) && std::fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd == folder)
    });
    left.next().is_none()
}
