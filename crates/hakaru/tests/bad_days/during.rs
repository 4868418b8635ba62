//! Something goes wrong while the app is measured.

use crate::support::{COUNTING, HELLO, Project, wait_until};

/// Dies at the 200th request.
const MORTAL: &str = "run ->(env) { served(200); if $served > 200 then warn 'out of cheese'; exit!(7) end; [200, {}, []] }\n";

fn check_death(load: &str, requests_min: u64) {
    let project = Project::new(&format!("{COUNTING}{MORTAL}"));
    let command = project.puma("-t 2:2");
    project.configure(&format!("command = '{command}'"), load);
    let parts = [
        "the app died while it was measured (exit status: 7)",
        "out of cheese",
        "ended early",
        ".hakaru/app.log",
    ];
    project.run().check(6, &parts);
    let kept = project.report();
    assert!(kept["requests"].as_u64() >= Some(requests_min), "{kept:#}");
    assert_eq!(kept["ended_early"], "the app died (exit status: 7)");
}

#[test]
fn an_app_that_dies_is_quoted_and_what_was_measured_is_kept() {
    check_death(
        "[load]\nconnections = 2\nduration = '60s'\nwarmup = '0s'",
        200,
    );
}

#[test]
fn an_app_that_dies_in_warm_up_is_quoted_too() {
    check_death(
        "[load]\nconnections = 2\nduration = '60s'\nwarmup = '60s'",
        0,
    );
}

#[test]
fn answers_of_500_are_shown_with_one_example() {
    let project = Project::new("run ->(env) { [500, {\"x-why\" => \"42\"}, [\"no cheese\"]] }\n");
    let parts = ["server error", "no cheese", "Every request failed"];
    let run = project.end(&["run", "--full", "--keep-bodies"]);
    run.check(4, &parts);
    let kept = project.report();
    assert_eq!(kept["errors"], kept["requests"]);
    assert_eq!(kept["findings"][0]["id"], "errors");
}

#[test]
fn a_handler_that_raises_is_an_error_like_any_other() {
    let project = Project::new("run ->(env) { raise 'no cheese' }\n");
    project.run().check(4, &["server error", "500"]);
}

#[test]
fn a_killed_worker_costs_its_requests_only() {
    // At 25,000 requests a second a busy host would lose records for a reason of its own.
    let app = format!(
        "{COUNTING}run ->(env) {{ served(50); sleep 0.001; [200, {{}}, [Process.pid.to_s]] }}"
    );
    let project = Project::with_puma("-w 2 -t 2:2", &app);
    project.configure(
        &format!("command = '{}'", project.puma("-w 2 -t 2:2")),
        "[load]\nconnections = 4\nduration = '4s'\nwarmup = '0s'",
    );
    let going = project.start(&["run", "--full"]);
    project.wait_for("served");
    let worker = worker_of(&project);
    kill(worker);
    wait_until("another worker", || worker_of(&project) != worker);
    let said = going.end();
    said.check(4, &["disconnected", "a worker was killed"]);
    let kept = project.report();
    assert!(kept["ended_early"].is_null(), "the run goes on: {kept:#}");
    assert!(
        kept["errors"].as_u64() <= Some(4),
        "one a connection: {kept:#}"
    );
    assert_eq!(kept["agent"]["dropped"], 0, "{kept:#}");
}

/// The oldest worker of the project's Puma.
fn worker_of(project: &Project) -> i32 {
    let mut pids: Vec<i32> = project
        .survivors()
        .iter()
        .filter(|line| line.contains("cluster worker"))
        .filter_map(|line| line.split(':').next()?.parse().ok())
        .collect();
    pids.sort_unstable();
    pids.first().copied().unwrap_or(0)
}

fn kill(pid: i32) {
    let pid = rustix::process::Pid::from_raw(pid).expect("a worker");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("a kill");
}

#[test]
fn a_second_run_in_the_folder_is_refused() {
    let app = format!("{COUNTING}run ->(env) {{ served(1); [200, {{}}, []] }}");
    let project = Project::new(&app);
    project.configure(
        &format!("command = '{}'", project.puma("-t 2:2")),
        "[load]\nconnections = 2\nduration = '60s'\nwarmup = '0s'",
    );
    let first = project.start(&["run", "--full"]);
    project.wait_for("served");
    let second = project.start(&["run", "--full"]).end_with_others();
    let parts = [
        "another hakaru run",
        &format!("process {}", first.pid()),
        &format!("kill -INT {}", first.pid()),
    ];
    second.check(7, &parts);
    // The first second of the run is kept by and by.
    let mut beside = None;
    wait_until("the run is listed", || {
        let report = project.hakaru(&["report", "--json"]).output();
        let report = report.expect("hakaru runs");
        beside = serde_json::from_slice::<serde_json::Value>(&report.stdout).ok();
        beside.is_some()
    });
    let beside = beside.expect("it is listed");
    assert!(beside["ended_early"].is_null(), "{beside:#}");
    let told = format!("this run is still going on (process {})", first.pid());
    assert!(beside["troubles"].to_string().contains(&told), "{beside:#}");
    first.signal(rustix::process::Signal::INT);
    first.end().check(130, &["ended early: interrupted"]);
}

#[test]
fn an_attached_app_goes_on_and_the_page_says_what_is_missing() {
    let project = Project::new(HELLO);
    let words = project.puma("-t 2:2");
    let mut app = project
        .command(&words.split(' ').collect::<Vec<_>>())
        .spawn()
        .expect("an app");
    wait_until("the app", || crate::support::answers(project.port));
    let said = project.start(&["run", "--attach"]).end_with_others();
    said.check(
        0,
        &[
            "already running",
            "no view from inside",
            "let hakaru start it",
        ],
    );
    assert!(crate::support::answers(project.port), "it still runs");
    assert!(app.try_wait().expect("a status").is_none(), "it still runs");
    kill(app.id().cast_signed());
    app.wait().expect("its end");
    let kept = project.report();
    assert!(kept["requests"].as_u64() > Some(0));
    assert!(kept["target"]["command"].is_null());
    project
        .end(&["run", "--attach"])
        .check(5, &["refuses connections", "start the app first"]);
}

#[test]
fn an_app_that_ignores_its_end_is_killed() {
    let app = "%w[INT TERM].each { |name| trap(name, 'IGNORE') }\nfork { sleep }\nfork { Process.setsid; sleep }\n";
    let project = Project::new(&format!("{app}{HELLO}"));
    project.configure(
        &format!(
            "command = '{}'\nstop_timeout = '200ms'",
            project.puma("-t 2:2")
        ),
        "",
    );
    project.run().check(0, &[]);
}
