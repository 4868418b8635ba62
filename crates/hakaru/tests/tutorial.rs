//! The tutorial: each command, in order, in a copy of the example app, with the short times named
//! in the tutorial.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const TUTORIAL: &str = include_str!("../../../docs/tutorial.md");

/// Comment after a command, followed by a part of the expected output.
const SHOWS: &str = "# shows: ";

/// The finding whose number the tutorial cannot know.
const INDEX: &str = "missing index on message (channel_id, id)";

/// A command of the tutorial, and the expected output.
#[derive(Debug, PartialEq, Eq)]
struct Step<'a> {
    command: &'a str,
    shows: Option<&'a str>,
}

/// Code between fences of `language`, in order.
fn fenced<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("\n```{language}\n");
    let blocks = text.split(fence.as_str()).skip(1);
    blocks
        .map(|block| block.split("\n```").next().unwrap_or(block))
        .collect()
}

fn steps(text: &str) -> Vec<Step<'_>> {
    let lines = fenced(text, "sh").into_iter().flat_map(str::lines);
    lines
        .map(|line| match line.split_once(SHOWS) {
            Some((command, shows)) => Step {
                command: command.trim_end(),
                shows: Some(shows),
            },
            None => Step {
                command: line,
                shows: None,
            },
        })
        .collect()
}

#[test]
fn steps_are_read_with_what_they_show() {
    let text = "a\n```sh\nls -s   # shows: total\npwd\n```\n```toml\nx = 1\n```\n";
    let expected = [("ls -s", Some("total")), ("pwd", None)];
    let expected = expected.map(|(command, shows)| Step { command, shows });
    assert_eq!(steps(text), expected);
    assert_eq!(fenced(text, "toml"), ["x = 1"]);
}

/// A clone of the repository, as far as the tutorial needs files.
struct Clone {
    chat: PathBuf,
}

impl Clone {
    fn new(folder: &Path) -> Clone {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let chat = folder.join("apps/chat");
        std::fs::create_dir_all(folder.join("apps")).expect("a folder");
        let copy = |from: PathBuf, to: &Path| {
            let copied = Command::new("cp").arg("-r").args([&from, to]).status();
            assert!(copied.expect("cp runs").success(), "{}", from.display());
        };
        copy(root.join(".gitignore"), &folder.join(".gitignore"));
        copy(root.join("apps/chat"), &chat);
        let _ = std::fs::remove_dir_all(chat.join(".hakaru"));
        let clone = Clone { chat };
        clone.shorten();
        let git = "git init -q ../.. && git add -A ../.. && git -c user.name=t -c user.email=t@t commit -qm all";
        let made = clone.sh(git);
        assert!(made.status.success(), "{made:?}");
        clone
    }

    /// Writes the tutorial's short times and a free port into the configuration.
    fn shorten(&self) {
        let file = self.chat.join("hakaru.toml");
        let mut config = std::fs::read_to_string(&file).expect("the chat's configuration");
        let short = fenced(TUTORIAL, "toml");
        let (load, compare) = short[0].split_once("[compare]").expect("both tables");
        for line in load.lines().filter(|line| line.contains(" = ")) {
            let (key, _) = line.split_once(" = ").expect("a key");
            let is = |old: &&str| old.starts_with(&format!("{key} = "));
            let old = config.lines().find(is).map(str::to_owned);
            config = config.replace(&old.expect("the key is in the file"), line);
        }
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .expect("a free port")
            .port();
        let config = config.replace("9292", &port.to_string());
        std::fs::write(&file, format!("{config}\n[compare]{compare}\n")).expect("it is written");
    }

    fn sh(&self, command: &str) -> Output {
        let program = Path::new(env!("CARGO_BIN_EXE_hakaru"));
        let folder = program.parent().expect("a folder").to_path_buf();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(folder).chain(std::env::split_paths(&path));
        Command::new("sh")
            .args(["-c", command])
            .current_dir(&self.chat)
            .env("PATH", std::env::join_paths(path).expect("a path"))
            .env("CHAT_SMALL", "1")
            .env("LC_ALL", "C.UTF-8")
            .env_remove("DATABASE_URL")
            .output()
            .expect("sh runs")
    }

    /// The number of the finding about the index on the last page.
    fn index(&self) -> u64 {
        let output = self.sh("hakaru report --json");
        let page: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let mut findings = page["findings"].as_array().expect("findings").iter();
        let found = findings.find(|one| one["title"].to_string().contains(INDEX));
        found.expect("the finding that the tutorial names")["number"]
            .as_u64()
            .expect("it is one to try")
    }

    fn take(&self, step: &Step<'_>) {
        let command = match step.command.starts_with("hakaru try 4") {
            true => step.command.replace('4', &self.index().to_string()),
            false => step.command.to_owned(),
        };
        let output = self.sh(&command);
        let said = [&output.stdout[..], &output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        // One block decides nothing, and the tutorial says so.
        let is_verdict = command.contains("hakaru try") || command.contains("hakaru compare");
        let codes: &[i32] = if is_verdict { &[0, 12] } else { &[0] };
        let code = output.status.code().expect("it ended by itself");
        assert!(codes.contains(&code), "{command}: {code}: {said}");
        let shows = step.shows.unwrap_or_default();
        assert!(said.contains(shows), "{command}, no {shows:?}: {said}");
    }
}

#[test]
fn each_command_of_the_tutorial_does_what_it_says() {
    let steps = steps(TUTORIAL);
    let takes = |program: &str| steps.iter().any(|step| step.command.starts_with(program));
    for program in [
        "hakaru run",
        "hakaru report",
        "hakaru try",
        "hakaru log",
        "hakaru compare",
        "git apply",
    ] {
        assert!(takes(program), "{program} is part of the loop: {steps:?}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let clone = Clone::new(folder.path());
    for step in &steps {
        clone.take(step);
    }
}
