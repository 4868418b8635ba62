//! The chat's solutions, applied in order: each patch's finding is gone after it, no check fails, and the score
//! grows severalfold.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// How much the score must grow. On SQLite on little data and a host that does other work too, found by trying;
/// `docs/experiments/chat.md` has what it grows on all of the data. On MariaDB it is the aim.
const SQLITE_GROWTH_MIN: f64 = 3.0;
const MARIADB_GROWTH_MIN: f64 = 10.0;

/// A patch, and the finding that it answers: id, and what its text holds.
struct Solution {
    patch: &'static str,
    on_sqlite: Option<(&'static str, &'static str)>,
    /// Findings that only a database server has.
    on_mariadb: &'static [(&'static str, &'static str)],
}

const fn solution(
    patch: &'static str,
    on_sqlite: Option<(&'static str, &'static str)>,
) -> Solution {
    Solution {
        patch,
        on_sqlite,
        on_mariadb: &[],
    }
}

const SOLUTIONS: [Solution; 11] = [
    solution(
        "01-message-n-plus-one",
        Some(("n-plus-one", "GET /message")),
    ),
    solution(
        "02-history-n-plus-one",
        Some(("n-plus-one", "GET /history/:id")),
    ),
    solution("03-fetch-n-plus-one", Some(("n-plus-one", "GET /fetch"))),
    solution("04-indexes", Some(("missing-index", ""))),
    solution(
        "05-fetch-pause",
        Some(("threads", "GET /fetch holds the threads")),
    ),
    solution(
        "06-one-picture",
        Some(("answers-equal", "GET /icons/:file")),
    ),
    Solution {
        patch: "07-one-connection",
        on_sqlite: None,
        on_mariadb: &[("connection-per-request", ""), ("prepared-statements", "")],
    },
    solution("08-needed-columns", Some(("wide-columns", "channel"))),
    solution("09-one-update", Some(("several-updates", "users"))),
    // Its finding needs an idle core, which a host that does other work too has not.
    solution("10-two-workers", None),
    solution(
        "11-paging-by-key",
        Some(("count-offset", "GET /history/:id")),
    ),
];

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
    let output = program(hakaru, &["run", "--json", "--duration", "8s"])
        .output()
        .expect("hakaru runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn apply(chat: &Path, solution: &Solution) {
    let file = source().join(format!("solutions/{}.patch", solution.patch));
    let file = file.canonicalize().expect("the patch");
    done(Command::new("git").arg("apply").arg(file).current_dir(chat));
}

fn has(json: &Value, id: &str, part: &str) -> bool {
    let all = json["findings"].as_array().expect("findings");
    all.iter()
        .any(|finding| finding["id"] == id && finding.to_string().contains(part))
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
    for solution in &SOLUTIONS {
        let patch = solution.patch;
        if let Some((id, part)) = solution.on_sqlite {
            assert!(
                has(&json, id, part),
                "not found before {patch}: {id} {part}"
            );
        }
        apply(&chat, solution);
        json = run(&chat, None);
        eprintln!("{patch}: score {}", score(&json));
        if let Some((id, part)) = solution.on_sqlite {
            let findings = &json["findings"];
            assert!(
                !has(&json, id, part),
                "{patch} leaves {id} {part}: {findings}"
            );
        }
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
    for solution in SOLUTIONS
        .iter()
        .take_while(|solution| solution.on_mariadb.is_empty())
    {
        apply(&chat, solution);
    }
    // With one request a second little of what each costs can be seen.
    let fast = run(&chat, Some(&url));
    for solution in SOLUTIONS
        .iter()
        .skip_while(|solution| solution.on_mariadb.is_empty())
    {
        for (id, part) in solution.on_mariadb {
            let patch = solution.patch;
            assert!(
                has(&fast, id, part),
                "not found before {patch}: {id} {part}"
            );
        }
        apply(&chat, solution);
    }
    let after = run(&chat, Some(&url));
    let answered = SOLUTIONS.iter().flat_map(|solution| {
        let everywhere = solution.on_sqlite.into_iter();
        everywhere.chain(solution.on_mariadb.iter().copied())
    });
    for (id, part) in answered.chain([("gvl-in-sql", "")]) {
        assert!(
            !has(&after, id, part),
            "{id} {part} is left: {}",
            after["findings"]
        );
    }
    check_grown(score(&before), &after, MARIADB_GROWTH_MIN);
}
