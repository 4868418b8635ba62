//! Ctrl-C in every phase, one after the other; each phase is recognised by files or output.

use std::net::TcpListener;

use rustix::process::Signal;

use crate::support::{COUNTING, Project, wait_until};

const LONG_LOAD: &str = "[load]\nconnections = 2\nduration = '60s'\nwarmup = '0s'";
const LONG_WARMUP: &str = "[load]\nconnections = 2\nduration = '60s'\nwarmup = '60s'";

fn counting(wanted: u32) -> Project {
    let answer = "[200, {}, []]";
    Project::new(&format!(
        "{COUNTING}run ->(env) {{ served({wanted}); {answer} }}\n"
    ))
}

#[test]
fn while_the_data_is_reset() {
    let project = counting(1);
    let target = format!(
        "command = '{}'\nbefore = 'touch resetting; sleep 1000'",
        project.puma("-t 2:2")
    );
    project.configure(&target, "");
    let going = project.start(&["run", "--full"]);
    project.wait_for("resetting");
    going.signal(Signal::INT);
    let said = going.end();
    said.check(
        130,
        &[
            "interrupted while the data was reset",
            "nothing was measured",
        ],
    );
    assert_eq!(said.stdout, "", "{said}");
}

#[test]
fn while_the_app_boots() {
    let project = Project::new("File.write('booting', ''); sleep\n");
    let going = project.start(&["run", "--full"]);
    project.wait_for("booting");
    going.signal(Signal::INT);
    let said = going.end();
    said.check(
        130,
        &[
            "interrupted while the app was starting",
            "nothing was measured",
        ],
    );
    assert_eq!(said.stdout, "", "{said}");
}

#[test]
fn while_a_first_flow_is_tried() {
    let asked = "File.write('asked', '') if env['PATH_INFO'] == '/slow'";
    let project = Project::new(&format!("run ->(env) {{ {asked}; sleep }}\n"));
    let untried = "# Not tried yet: the first `hakaru run` takes out what is answered with a redirect or a refusal.";
    let flow = format!("{untried}\n\nGET {{{{base_url}}}}/slow\n");
    project.write("first.hurl", &flow);
    let command = project.puma("-t 2:2");
    let target = format!("command = '{command}'\nstop_timeout = '500ms'");
    project.configure(&target, "[[flow]]\nfile = 'first.hurl'");
    let going = project.start(&["run", "--full"]);
    project.wait_for("asked");
    going.signal(Signal::INT);
    let said = going.end();
    said.check(130, &["interrupted while a first flow was tried"]);
    assert_eq!(said.stdout, "", "{said}");
    assert_eq!(project.read("first.hurl"), flow);
}

#[test]
fn in_warm_up() {
    let project = counting(50);
    let command = format!("command = '{}'", project.puma("-t 2:2"));
    project.configure(&command, "");
    let short = ["run", "-d", "500ms", "--warmup", "0s"];
    project.end(&short).check(0, &["HAKARU RUN 1"]);
    let _ = std::fs::remove_file(project.path.join("served"));
    project.configure(&command, LONG_WARMUP);
    let going = project.start(&["run", "--json"]);
    project.wait_for("served");
    going.signal(Signal::INT);
    let said = going.end();
    said.check(130, &[]);
    assert_eq!(said.json()["ended_early"], "interrupted", "{said}");
    assert_eq!(said.json()["requests"], 0, "{said}");
    // What measured nothing is kept, and is not what LAST means.
    assert_eq!(project.report()["number"], 1);
    let second = project.end(&["report", "2", "--json"]);
    assert_eq!(second.json()["ended_early"], "interrupted");
}

fn check_load_interrupted_by(signal: Signal) {
    let project = counting(200);
    project.configure(
        &format!("command = '{}'", project.puma("-t 2:2")),
        LONG_LOAD,
    );
    let going = project.start(&["run", "--full"]);
    project.wait_for("served");
    going.signal(signal);
    going
        .end()
        .check(130, &["ended early: interrupted", "GET /", "HOW SURE"]);
    let kept = project.report();
    assert!(kept["requests"].as_u64() >= Some(199), "{kept:#}");
    assert_eq!(kept["errors"], 0, "{kept:#}");
    assert_eq!(kept["ended_early"], "interrupted");
}

#[test]
fn under_load() {
    check_load_interrupted_by(Signal::INT);
}

#[test]
fn a_polite_kill_or_a_closed_terminal_is_a_ctrl_c() {
    check_load_interrupted_by(Signal::TERM);
    check_load_interrupted_by(Signal::HUP);
}

#[test]
fn under_load_of_an_app_that_hangs() {
    let project = Project::new(&format!("{COUNTING}run ->(env) {{ served(2); sleep }}\n"));
    let target = format!(
        "command = '{}'\nstop_timeout = '500ms'",
        project.puma("-t 2:2")
    );
    project.configure(&target, LONG_LOAD);
    let going = project.start(&["run", "--full"]);
    project.wait_for("served");
    going.signal(Signal::INT);
    going.end().check(130, &["ended early: interrupted"]);
    project.report();
}

/// Rows enough for a statement worth asking about.
const WITH_SQLITE: &str = r#"
require "sqlite3"
$database = SQLite3::Database.new("app.db")
$database.execute("CREATE TABLE IF NOT EXISTS cheese (id INTEGER PRIMARY KEY, name TEXT)")
run ->(env) { $mutex.synchronize { $database.execute("SELECT * FROM cheese WHERE name = 'brie'") }; [200, {}, []] }
"#;

#[test]
fn while_the_database_is_asked_for_its_plans() {
    let project = Project::new(&format!("$mutex = Mutex.new\n{WITH_SQLITE}"));
    // It takes connections and never says a word.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    silent
        .set_nonblocking(true)
        .expect("a socket that does not block");
    let port = silent.local_addr().expect("an address").port();
    let target = format!(
        "command = '{}'\ndatabase = 'mysql://app:secret@127.0.0.1:{port}/app'",
        project.puma("-t 2:2")
    );
    project.configure(&target, "");
    let going = project.start(&["run", "--full"]);
    let mut connections = Vec::new();
    // Under load one is for watching the server and one for the look at its settings; the third is
    // for the plans after it.
    wait_until("a third connection", || {
        connections.extend(silent.accept().ok());
        connections.len() == 3
    });
    going.signal(Signal::INT);
    let said = going.end();
    said.check(
        130,
        &["could not be asked for its plans", "`database`", "GET /"],
    );
    said.check_silent_on("secret");
    let kept = project.report();
    assert!(kept["requests"].as_u64() > Some(0));
    assert!(kept["ended_early"].is_null(), "all was measured: {kept:#}");
}

#[test]
fn while_the_app_stops() {
    let app = "at_exit { File.write('stopping', ''); sleep }\n\
               run ->(env) { [200, {}, []] }\n";
    let project = Project::new(app);
    let target = format!(
        "command = '{}'\nstop_timeout = '10s'",
        project.puma("-t 2:2")
    );
    project.configure(&target, "");
    let going = project.start(&["run", "--full"]);
    project.wait_for("stopping");
    going.signal(Signal::INT);
    going.end().check(130, &["HAKARU RUN 1"]);
    let kept = project.report();
    assert!(kept["requests"].as_u64() > Some(0));
    assert!(kept["ended_early"].is_null(), "all was measured: {kept:#}");
}

#[test]
fn again_and_again() {
    let project = counting(50);
    project.configure(
        &format!("command = '{}'", project.puma("-t 2:2")),
        LONG_LOAD,
    );
    let going = project.start(&["run", "--full"]);
    project.wait_for("served");
    (0..20).for_each(|_| going.signal(Signal::INT));
    going.end().check(130, &["ended early: interrupted"]);
    project.report();
}
