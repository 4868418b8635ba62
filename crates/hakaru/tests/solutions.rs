//! The chat's solutions, applied in order: each patch removes the patch's finding, no check fails,
//! and the score grows severalfold.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Least growth of the score. On SQLite on little data and a host that does other work too, found
/// by trying; `docs/experiments/chat.md` has what it grows on all of the data. On MariaDB it is the
/// aim.
const SQLITE_GROWTH_MIN: f64 = 3.0;
const MARIADB_GROWTH_MIN: f64 = 10.0;

/// The patch with a finding only on a host with an idle core; `cargo xtask bench solutions` checks
/// the finding.
const NEEDS_AN_IDLE_CORE: &str = "workers";

/// A finding resolved by a patch: id, and a part of the text.
struct Answered {
    patch: String,
    id: String,
    about: String,
    /// Whether the finding exists only with a database server.
    server: bool,
}

/// The findings of `apps/chat/solutions/findings.json`, in the order of the patches.
fn answered() -> Vec<Answered> {
    let text = std::fs::read_to_string(source().join("solutions/findings.json"));
    let rows: Value = serde_json::from_str(&text.expect("the list of findings")).expect("JSON");
    let rows = rows.as_array().expect("rows").iter();
    let text = |row: &Value, key: &str| row[key].as_str().expect("a text").to_owned();
    let answered = rows.map(|row| Answered {
        patch: text(row, "patch"),
        id: text(row, "finding"),
        about: text(row, "about"),
        server: row.get("databases").is_some(),
    });
    answered
        .filter(|answered| answered.id != NEEDS_AN_IDLE_CORE)
        .collect()
}

/// Names of the patches, in order.
fn patches() -> Vec<String> {
    let entries = std::fs::read_dir(source().join("solutions")).expect("solutions");
    let names = entries.map(|entry| entry.expect("a file").file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    let mut patches: Vec<String> = names
        .filter_map(|name| name.strip_suffix(".patch").map(str::to_owned))
        .collect();
    patches.sort();
    patches
}

fn done(command: &mut Command) {
    let output = command.output().expect("it runs");
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/chat")
}

fn copy_of_chat(folder: &Path) -> PathBuf {
    let chat = folder.join("chat");
    done(Command::new("cp").arg("-r").args([&source(), &chat]));
    let _ = std::fs::remove_dir_all(chat.join(".hakaru"));
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a free port")
        .port();
    let config = chat.join("hakaru.toml");
    let text = std::fs::read_to_string(&config).expect("the chat's configuration");
    std::fs::write(&config, text.replace("9292", &port.to_string())).expect("it is written");
    chat
}

/// Fills the database by the copy's own schema, then measures.
fn run(chat: &Path, database: Option<&str>) -> Value {
    let program = |name: &str, arguments: &[&str]| {
        let mut command = Command::new(name);
        command
            .args(arguments)
            .current_dir(chat)
            .env_remove("DATABASE_URL");
        // On a server all of the data: on a little of it some causes do not show.
        match database {
            Some(url) => command.env("DATABASE_URL", url),
            None => command.env("CHAT_SMALL", "1"),
        };
        command
    };
    done(&mut program("ruby", &["seed.rb"]));
    let hakaru = env!("CARGO_BIN_EXE_hakaru");
    let mut run = program(hakaru, &["run", "--json", "--duration", "8s"]);
    if database.is_none() {
        // A little of the data is warm at once.
        run.args(["--warmup", "1s"]);
    }
    let output = run.output().expect("hakaru runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn apply(chat: &Path, patch: &str) {
    let file = source().join(format!("solutions/{patch}.patch"));
    let file = file.canonicalize().expect("the patch");
    done(Command::new("git").arg("apply").arg(file).current_dir(chat));
}

fn has(json: &Value, answered: &Answered) -> bool {
    let mut all = json["findings"].as_array().expect("findings").iter();
    all.any(|finding| {
        finding["id"] == answered.id.as_str() && finding.to_string().contains(&answered.about)
    })
}

/// Asserts the presence of each finding before the patch, or the absence after.
#[track_caller]
fn check(json: &Value, answered: &[&Answered], there: bool) {
    for answered in answered {
        let Answered {
            patch, id, about, ..
        } = answered;
        let findings = &json["findings"];
        let wrong = if there { "not found before" } else { "left by" };
        assert_eq!(
            has(json, answered),
            there,
            "{id} {about} {wrong} {patch}: {findings}"
        );
    }
}

fn score(json: &Value) -> f64 {
    json["score"].as_f64().expect("a score: no check failed")
}

#[track_caller]
fn check_grown(first: f64, json: &Value, least: f64) {
    let last = score(json);
    #[expect(
        clippy::print_stderr,
        reason = "the scores are what a reader of the experiment wants"
    )]
    {
        eprintln!("score {first} → {last}: {:.1} ×", last / first);
    }
    assert!(last >= least * first, "{first} → {last}");
}

#[test]
fn each_solution_removes_its_finding_and_the_score_grows_on_sqlite() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let chat = copy_of_chat(folder.path());
    let mut json = run(&chat, None);
    let first = score(&json);
    let answered = answered();
    for patch in patches() {
        let own = answered.iter().filter(|row| row.patch == patch);
        let own: Vec<&Answered> = own.filter(|row| !row.server).collect();
        check(&json, &own, true);
        apply(&chat, &patch);
        json = run(&chat, None);
        eprintln!("{patch}: score {}", score(&json));
        check(&json, &own, false);
    }
    check_grown(first, &json, SQLITE_GROWTH_MIN);
}

#[test]
fn solutions_for_a_server_remove_their_findings_and_the_score_grows_on_mariadb() {
    let url = std::env::var("HAKARU_TEST_MARIADB_URL")
        .expect("HAKARU_TEST_MARIADB_URL is set; bin/test starts the servers that tests need");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let chat = copy_of_chat(folder.path());
    let before = run(&chat, Some(&url));
    let answered = answered();
    let server: Vec<&Answered> = answered.iter().filter(|row| row.server).collect();
    let first = &server.first().expect("a server has its own").patch;
    let (slow, rest): (Vec<String>, Vec<String>) =
        patches().into_iter().partition(|patch| patch < first);
    slow.iter().for_each(|patch| apply(&chat, patch));
    // With one request a second little of what each costs can be seen.
    check(&run(&chat, Some(&url)), &server, true);
    rest.iter().for_each(|patch| apply(&chat, patch));
    let after = run(&chat, Some(&url));
    check(&after, &answered.iter().collect::<Vec<_>>(), false);
    // Its statements read fewer rows with the indexes, and fetch fewer with the rest.
    let found = after["findings"].as_array().expect("findings").iter();
    let mut held = found.filter(|finding| finding["id"] == "gvl-in-sql");
    assert_eq!(held.next(), None);
    check_grown(score(&before), &after, MARIADB_GROWTH_MIN);
}
