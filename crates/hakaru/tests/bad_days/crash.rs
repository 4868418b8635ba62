//! Hakaru itself is killed.

use rustix::process::Signal;

use crate::support::{COUNTING, Project, answers, wait_until};

fn check_killed(command: impl Fn(&Project) -> String) {
    let app = format!("{COUNTING}run ->(env) {{ served(50); [200, {{}}, []] }}\n");
    let project = Project::new(&app);
    let load = "[load]\nconnections = 2\nduration = '60s'\nwarmup = '0s'";
    project.configure(&format!("command = '{}'", command(&project)), load);
    let going = project.start(&["run"]);
    project.wait_for("served");
    wait_until("a first second on disk", || project.has_recording());
    going.signal(Signal::KILL);
    assert_eq!(going.end_with_others().signal(), Some(9));
    wait_until("the end of the app", || project.survivors().is_empty());
    assert!(!answers(project.port));
    assert_eq!(project.temporary(), Vec::<std::path::PathBuf>::new());

    project
        .end(&["report", "--full"])
        .check(0, &["cut off", "run it again", "GET /"]);
    let kept = project.report();
    assert!(kept["requests"].as_u64() >= Some(50), "{kept:#}");
    project
        .end(&["run", "--duration", "500ms"])
        .check(0, &["HAKARU RUN 2"]);
}

#[test]
fn its_app_goes_with_it() {
    check_killed(|project| project.puma("-t 2:2"));
}

#[test]
fn an_app_behind_a_shell_goes_too() {
    check_killed(|project| format!("RACK_ENV=production {} | cat", project.puma("-t 2:2")));
}

#[test]
fn a_cluster_goes_too() {
    check_killed(|project| project.puma("-w 2 -t 1:1"));
}
