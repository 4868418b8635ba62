//! The app does not come up.

use std::net::TcpListener;

use crate::support::{HELLO, Project};

#[test]
fn a_taken_port_names_its_holder() {
    let mut project = Project::new(HELLO);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    project.port = listener.local_addr().expect("an address").port();
    project.configure(&format!("command = '{}'", project.puma("")), "");
    let said = project.run();
    let pid = std::process::id();
    said.check(5, &["is taken", &format!("pid {pid}"), "kill", "--attach"]);
    assert_eq!(said.stdout, "", "{said}");
}

#[test]
fn a_command_that_does_not_exist_is_named() {
    let project = Project::empty();
    project.configure("command = 'pumma config.ru'", "");
    let parts = ["cannot run \"pumma\"", "not found", "check its spelling"];
    project.run().check(5, &parts);
    let argv = project.end(&["run", "--", "pumma", "config.ru"]);
    argv.check(5, &["cannot run \"pumma\"", "no such program in PATH"]);
}

#[test]
fn a_secret_in_the_command_is_not_shown_when_the_app_dies() {
    let project = Project::new("raise 'no database'\n");
    let command = format!("API_KEY=sesame {}", project.puma(""));
    project.configure(&format!("command = '{command}'"), "");
    let said = project.run();
    said.check(5, &["`API_KEY=… puma", "to repeat it: API_KEY=… puma"]);
    assert!(!said.stderr.contains("sesame"), "{said}");
}

#[test]
fn an_app_that_dies_at_boot_is_quoted() {
    let project = Project::new("raise 'no database at 10.0.0.7'\n");
    let parts = [
        "the app died before it was ready",
        "its error:\n  no database at 10.0.0.7 (RuntimeError)\n  config.ru:",
        ".hakaru/app.log",
        "to repeat it: puma",
    ];
    project.run().check(5, &parts);
    assert!(
        project
            .read(".hakaru/app.log")
            .contains("no database at 10.0.0.7")
    );
}

#[test]
fn an_app_that_never_gets_ready_is_described() {
    let project = Project::empty();
    project.configure(
        "command = 'echo waiting for the moon >&2; sleep 1000'\nready_timeout = '1s'",
        "",
    );
    let parts = [
        "was not ready at http://127.0.0.1:",
        "within 1.0 s",
        "the port is closed",
        "waiting for the moon",
        "ready_timeout",
    ];
    project.run().check(5, &parts);
}

#[test]
fn an_app_on_another_port_is_told_so() {
    let project = Project::new(HELLO);
    let command = format!(
        "puma -q -b tcp://127.0.0.1:{} config.ru",
        crate::support::free_port()
    );
    project.configure(&format!("command = '{command}'"), "");
    project.run().check(
        5,
        &[
            "it listens on 127.0.0.1:",
            "set the url to where the app listens",
        ],
    );
}

#[test]
fn a_reset_of_the_data_that_fails_is_quoted() {
    let project = Project::new(HELLO);
    let command = project.puma("");
    project.configure(
        &format!("command = '{command}'\nbefore = 'echo no such table >&2; exit 3'"),
        "",
    );
    project.run().check(
        5,
        &["`before` command failed", "exit status: 3", "no such table"],
    );
}

#[test]
fn an_exception_is_shown_with_its_message_its_place_and_how_to_repeat_it() {
    let project = Project::new(HELLO);
    // As deep as a framework's: the last lines of the output hold neither the message nor the app.
    let framework = "module Framework\n  def self.call(depth, &work) = depth.zero? ? work.call : call(depth - 1, &work)\nend\n";
    let elsewhere = tempfile::tempdir().expect("a folder");
    let library = elsewhere.path().join("framework.rb");
    std::fs::write(&library, framework).expect("the framework");
    let seed = format!(
        "require {:?}\nFramework.call(60) do\n  raise KeyError, \"STRIPE_API_KEY is missing: see the vault\"\nend\n",
        library.display().to_string()
    );
    project.write("seed.rb", &seed);
    let command = project.puma("");
    project.configure(
        &format!(
            "command = '{command}'\nbefore = 'ruby seed.rb'\nenv = {{ RACK_ENV = 'production', API_TOKEN = 'sesame' }}"
        ),
        "",
    );
    let said = project.run();
    said.check(
        5,
        &[
            "its error:\n  STRIPE_API_KEY is missing: see the vault (KeyError)\n  seed.rb:3:",
            ".hakaru/before.log",
            "to repeat it: API_TOKEN=… RACK_ENV=production ruby seed.rb",
        ],
    );
    assert!(
        !said.stderr.contains("framework.rb") && !said.stderr.contains("sesame"),
        "{said}"
    );
    let log = project.read(".hakaru/before.log");
    assert!(
        log.contains("STRIPE_API_KEY") && log.lines().count() > 60,
        "{log}"
    );
}

#[test]
fn a_run_that_did_not_start_leaves_the_folder_free_and_no_recording() {
    let project = Project::new("raise 'broken'\n");
    project.run().check(5, &["broken"]);
    project
        .end(&["report", "--full"])
        .check(1, &["no run is kept", "hakaru run"]);
    project.write("config.ru", HELLO);
    project.run().check(0, &["HAKARU RUN 1"]);
}

#[test]
fn nothing_to_start_and_nothing_to_report_point_the_way() {
    let project = Project::empty();
    project.run().check(
        2,
        &["there is no hakaru.toml", "hakaru run -- puma", "--attach"],
    );
    project
        .end(&["report", "--full"])
        .check(1, &["no run is kept in", "hakaru run"]);
    assert!(
        !project.has(".hakaru"),
        "nothing is made where nothing is run"
    );
}
