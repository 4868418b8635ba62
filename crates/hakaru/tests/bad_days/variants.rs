//! `hakaru compare` without failures: each kind of variant is measured, and nothing is left behind.

use serde_json::Value;

use crate::support::{Project, answers, wait_until};

/// Flags of the shortest comparison.
const BRIEF: [&str; 7] = [
    "--json",
    "--blocks",
    "1",
    "--segment",
    "300ms",
    "--warmup",
    "100ms",
];

/// An app with a configurable wait.
const PAUSES: &str =
    "run ->(env) { sleep ENV.fetch('PAUSE', '0.002').to_f; [200, {}, ['hello']] }\n";

/// Ratio of B's median latency to A's.
fn p50_ratio(json: &Value) -> f64 {
    let rows = json["rows"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["metric"] == "p50");
    row.expect("a p50")["ratio"].as_f64().expect("a ratio")
}

/// Compares briefly, and returns the JSON. Too few blocks for a claim end with the code of
/// "undecided".
fn compare(project: &Project, arguments: &[&str]) -> Value {
    let ended = project.end(&[&["compare"], arguments, &BRIEF[..]].concat());
    ended.check(12, &[]);
    let json = ended.json();
    assert_eq!(json["format"], "hakaru-compare", "{ended}");
    assert_eq!(
        (&json["blocks"], &json["decision"]),
        (&1.into(), &"unclear".into()),
        "{ended}"
    );
    json
}

fn git(project: &Project, arguments: &[&str]) -> String {
    let name = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
    let output = project
        .command(&[&["git"], &name[..], arguments].concat())
        .output()
        .expect("git");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A repository with two revisions, `slow` and then `fast`.
fn repository() -> Project {
    let project = Project::new(&PAUSES.replace("0.002", "0.020"));
    git(&project, &["init", "-q"]);
    git(&project, &["add", "-A"]);
    git(&project, &["commit", "-q", "-m", "slow"]);
    git(&project, &["tag", "slow"]);
    project.write("config.ru", PAUSES);
    git(&project, &["commit", "-q", "-a", "-m", "fast"]);
    project
}

#[test]
fn commands_and_a_variable() {
    let project = Project::new(PAUSES);
    let pauses = format!("PAUSE=0.03 {}", project.puma("-t 1:1"));
    let json = compare(&project, &[&project.puma("-t 2:2"), &pauses]);
    assert!(p50_ratio(&json) > 3.0, "{json:#}");
    assert_eq!(json["b"]["name"], pauses.as_str());
    assert_eq!(json["measured"][0]["order"], "ABBA");
    let json = compare(&project, &["--env-b", "PAUSE=0.03"]);
    assert!(p50_ratio(&json) > 3.0, "{json:#}");
    assert_eq!(json["b"]["name"], "PAUSE=0.03");
    assert_eq!(json["a"]["name"], "as it is");
}

/// Enough blocks support a claim on a plain difference, which is stored in the journal.
#[test]
fn a_plain_difference_is_claimed() {
    let project = Project::new(PAUSES);
    let page = project.path.join("page.html");
    let ended = project.end(&[
        "compare",
        "--env-b",
        "PAUSE=0.03",
        "--blocks",
        "6",
        "--segment",
        "300ms",
        "--warmup",
        "100ms",
        "--html",
        &page.to_string_lossy(),
    ]);
    ended.check(
        0,
        &["B is slower at", "6 blocks", "noise floor of this host"],
    );
    assert!(project.read("page.html").contains("hakaru-compare"));
    let log = project.end(&["log"]);
    log.check(0, &["PAUSE=0.03", "B is slower at"]);
}

#[test]
fn revisions_each_in_a_worktree() {
    let project = repository();
    let json = compare(
        &project,
        &[
            "--a",
            "git:slow",
            "--b",
            "git:HEAD",
            "--build",
            "touch built",
        ],
    );
    assert!(p50_ratio(&json) < 0.5, "{json:#}");
    assert!(!project.has("built"), "it was built in the worktree");
    assert_eq!(git(&project, &["worktree", "list"]).lines().count(), 1);
    assert_eq!(
        git(&project, &["status", "--short", "--untracked-files=no"]),
        ""
    );
}

#[test]
fn a_patch_on_a_copy() {
    let project = repository();
    project.write("slower.diff", &git(&project, &["diff", "HEAD", "slow"]));
    let json = compare(&project, &["--patch-b", "slower.diff"]);
    assert!(p50_ratio(&json) > 3.0, "{json:#}");
    assert_eq!(json["b"]["name"], "with slower.diff");
    assert_eq!(project.read("config.ru"), PAUSES);
}

#[test]
fn apps_that_run_already() {
    let project = Project::new(PAUSES);
    let words = project.puma("-t 2:2");
    let words: Vec<&str> = words.split(' ').collect();
    let mut app = project.command(&words).spawn().expect("puma");
    wait_until("the app", || answers(project.port));
    let url = format!("http://127.0.0.1:{}/", project.port);
    let started =
        project.start(&[&["compare", "--url-a", &url, "--url-b", &url], &BRIEF[..]].concat());
    let ended = started.end_with_others();
    app.kill().expect("it is killed");
    app.wait().expect("its end");
    ended.check(12, &[]);
    let ratio = p50_ratio(&ended.json());
    assert!((0.3..3.0).contains(&ratio), "{ended}");
    assert_eq!(ended.json()["a"]["start_s"], Value::Null);
}

#[test]
fn noise_is_a_with_itself() {
    let project = Project::new(PAUSES);
    let ended = project.end(&[&["compare", "--noise"], &BRIEF[..]].concat());
    ended.check(0, &[]);
    assert_eq!(ended.json()["is_noise"], true, "{ended}");
}
