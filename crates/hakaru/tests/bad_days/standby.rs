//! An app started by somebody else, with the agent of `hakaru agent`.

use std::fs;
use std::path::PathBuf;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use crate::agent::check_seen_inside;
use crate::support::{Ended, HELLO, Project, answers, wait_until};

/// A Puma started with the variables of `hakaru agent`.
struct App<'a> {
    project: &'a Project,
    child: Child,
    rings: PathBuf,
}

impl App<'_> {
    fn start<'a>(project: &'a Project, options: &str) -> App<'a> {
        let beside = |name: &str| project.path.with_file_name(name);
        let rings = beside("rings");
        let (folder, named) = (beside("agent"), rings.display().to_string());
        let folder = folder.to_str().expect("a plain path");
        let placed = project.end(&["agent", folder, "--rings", &named]);
        placed.check(0, &["EnvironmentFile=-", "To take it out"]);
        assert_eq!(
            fs::read_to_string(beside("agent/env")).expect("its file"),
            placed.stdout
        );
        let variables = placed.stdout.lines().map(|line| {
            let (name, value) = line.split_once('=').expect("a variable");
            (name.to_owned(), value.to_owned())
        });
        let words = project.puma(options);
        let child = project
            .command(&words.split(' ').collect::<Vec<_>>())
            .envs(variables)
            .spawn()
            .expect("an app");
        wait_until("the app", || answers(project.port));
        App {
            project,
            child,
            rings,
        }
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        let words = [&["run", "--attach"], arguments].concat();
        self.project.start(&words).end_with_others()
    }

    fn ring_files(&self) -> usize {
        let entries = fs::read_dir(&self.rings).into_iter().flatten().flatten();
        entries
            .filter(|entry| entry.path().extension().is_some_and(|end| end == "ring"))
            .count()
    }
}

impl Drop for App<'_> {
    fn drop(&mut self) {
        let pid = Pid::from_child(&self.child);
        let _ = kill_process(pid, Signal::KILL);
        let _ = self.child.wait();
    }
}

#[test]
fn a_running_app_is_seen_inside_as_often_as_it_is_read() {
    let project = Project::new(HELLO);
    let app = App::start(&project, "-t 2:2");
    for _ in 0..2 {
        check_seen_inside(&app.run(&["--json"]));
        assert_eq!(app.ring_files(), 0);
    }
    let page = project.start(&["report", "--full"]).end_with_others();
    page.check_silent_on("no view from inside");
    assert!(answers(project.port), "it still runs");
}

#[test]
fn so_is_a_cluster() {
    let project = Project::new(HELLO);
    let app = App::start(&project, "-w 2 -t 1:1");
    check_seen_inside(&app.run(&["--json"]));
    check_seen_inside(&app.run(&["--json"]));
}

#[test]
fn a_reader_that_is_killed_leaves_an_app_that_stops_to_record() {
    let project = Project::new(HELLO);
    let app = App::start(&project, "-t 2:2");
    let toml = project.read("hakaru.toml");
    project.write("hakaru.toml", &toml.replace("'1s'", "'60s'"));
    let killed = project.start(&["run", "--attach"]);
    wait_until("rings", || app.ring_files() > 0);
    let beside = Project::empty();
    beside.write("hakaru.toml", &toml);
    let second = beside.start(&["run", "--attach"]).end_with_others();
    second.check(0, &["another hakaru reads them"]);
    killed.signal(Signal::KILL);
    killed.end_with_others();
    let url = format!("http://127.0.0.1:{}/", project.port);
    wait_until("no ring", || {
        let load = ["load", &url, "-c", "4", "-d", "200ms"];
        project.start(&load).end_with_others();
        app.ring_files() == 0
    });
    project.write("hakaru.toml", &toml);
    check_seen_inside(&app.run(&["--json"]));
}

#[test]
fn an_app_of_another_place_is_named_and_so_is_what_to_do() {
    let project = Project::new(HELLO);
    let app = App::start(&project, "-t 2:2");
    let toml = project.read("hakaru.toml");
    let missing = app.rings.with_file_name("missing").display().to_string();
    let target = format!("[target]\nrings = '{missing}'");
    project.write("hakaru.toml", &toml.replace("[target]", &target));
    let parts = [
        "no view from inside",
        &missing,
        "no agent has served a request there",
        "hakaru agent",
    ];
    app.run(&[]).check(0, &parts);
}

/// Of both agents, the run's own is loaded.
#[test]
fn an_app_that_hakaru_starts_with_these_variables_too_is_seen_once() {
    let project = Project::new(HELLO);
    let folder = project.path.with_file_name("agent");
    let folder = folder.to_str().expect("a plain path");
    let placed = project.end(&["agent", folder]);
    let mut command = project.hakaru(&["run", "--json"]);
    for line in placed.stdout.lines() {
        let (name, value) = line.split_once('=').expect("a variable");
        command.env(name, value);
    }
    check_seen_inside(&project.go(command).end());
}
