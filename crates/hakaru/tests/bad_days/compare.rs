//! Failures of a variant: no start, an error, a crash; Ctrl-C; `SIGKILL`.

use rustix::process::Signal;

use crate::support::{COUNTING, HELLO, Project};

const BRIEF: [&str; 6] = ["--blocks", "1", "--segment", "300ms", "--warmup", "0s"];

fn compare(project: &Project, arguments: &[&str]) -> crate::support::Ended {
    project.end(&[&["compare"], arguments, &BRIEF[..]].concat())
}

#[test]
fn what_makes_no_two_variants_is_refused() {
    let project = Project::new(HELLO);
    compare(&project, &[]).check(2, &["A and B are the same"]);
    compare(&project, &["--b", "main"]).check(2, &["write git:REF"]);
    compare(&project, &["--b", "git:nowhere"]).check(2, &["is in no git repository"]);
    compare(&project, &["--patch-b", "no.diff"]).check(2, &["there is no patch"]);
    project
        .end(&["compare", "--noise", "--blocks", "0"])
        .check(2, &["above zero"]);
}

#[test]
fn a_variant_that_does_not_start() {
    let project = Project::new("raise 'no luck' if ENV['BAD']\nrun ->(env) { [200, {}, []] }\n");
    compare(&project, &["--env-b", "BAD=1"])
        .check(5, &["no comparison: B (BAD=1) did not start", "no luck"]);
}

#[test]
fn a_variant_that_fails_its_checks() {
    let project = Project::new("run ->(env) { [ENV['BAD'] ? 500 : 200, {}, []] }\n");
    let ended = compare(&project, &["--env-b", "BAD=1", "--json"]);
    ended.check(4, &["no comparison: B (BAD=1) fails"]);
    assert_eq!(ended.json()["decision"], "failed", "{ended}");
    assert_eq!(ended.json()["ended"], "failed", "{ended}");
}

#[test]
fn a_variant_that_is_killed() {
    let project =
        Project::new("run ->(env) { Process.kill('KILL', $$) if ENV['BAD']; [200, {}, []] }\n");
    compare(&project, &["--env-b", "BAD=1"]).check(6, &["B (BAD=1) died under load"]);
}

/// A long comparison of an app; variant B writes a file after a number of requests.
fn long(project: &Project) -> crate::support::Going {
    project.start(&[
        "compare",
        "--b",
        "git:HEAD",
        "--env-b",
        "SIDE=B",
        "--blocks",
        "50",
        "--segment",
        "60s",
        "--warmup",
        "0s",
    ])
}

fn repository() -> Project {
    let project = Project::new(
        &format!("{COUNTING}run ->(env) {{ served(20) if ENV['SIDE']; [200, {{}}, []] }}\n")
            .replace("\"served\"", "ENV.fetch('FLAG')"),
    );
    let flag = project.path.join("served");
    let target = format!(
        "command = '{}'\nenv = {{ FLAG = '{}' }}",
        project.puma("-t 2:2"),
        flag.display()
    );
    project.configure(&target, "");
    for words in [
        &["git", "init", "-q"][..],
        &["git", "add", "config.ru"],
        &[
            "git",
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.org",
            "commit",
            "-q",
            "-m",
            "one",
        ],
    ] {
        assert!(project.command(words).status().expect("git").success());
    }
    project
}

fn worktrees(project: &Project) -> usize {
    let output = project
        .command(&["git", "worktree", "list"])
        .output()
        .expect("git");
    String::from_utf8_lossy(&output.stdout).lines().count()
}

#[test]
fn an_interrupted_one_reports_what_it_has_and_leaves_nothing() {
    let project = repository();
    let going = project.start(&[
        "compare",
        "--b",
        "git:HEAD",
        "--env-b",
        "SIDE=B",
        "--blocks",
        "50",
        "--segment",
        "400ms",
        "--warmup",
        "0s",
        "--json",
    ]);
    project.wait_for("served");
    going.signal(Signal::INT);
    let ended = going.end();
    ended.check(130, &[]);
    assert_eq!(ended.json()["ended"], "interrupted", "{ended}");
    assert_eq!(worktrees(&project), 1);
}

#[test]
fn what_a_killed_one_left_is_taken_back_at_the_next_start() {
    let project = repository();
    let going = long(&project);
    // The trial of A alone would take a minute: the signal comes while A is loaded, with B's
    // worktree made.
    crate::support::wait_until("the worktree", || worktrees(&project) == 2);
    crate::support::wait_until("the app", || crate::support::answers(project.port));
    going.signal(Signal::KILL);
    let killed = going.end_with_others();
    assert_eq!(killed.signal(), Some(9), "{killed}");
    crate::support::wait_until("the end of the app", || project.survivors().is_empty());
    let ended = compare(&project, &["--env-b", "SIDE=B", "--json"]);
    ended.check(
        12,
        &["taking back what an interrupted hakaru has left: worktree"],
    );
    assert_eq!(worktrees(&project), 1);
    assert_eq!(project.temporary(), Vec::<std::path::PathBuf>::new());
}
