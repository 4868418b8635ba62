//! Invalid command lines.

use crate::support::{HELLO, Project};

fn check_config(text: &str, parts: &[&str]) {
    let project = Project::empty();
    project.write("hakaru.toml", text);
    let said = project.run();
    said.check(
        2,
        &[parts, &["hakaru.toml", "`hakaru help config`"]].concat(),
    );
    assert_eq!(said.stdout, "", "{said}");
    assert!(
        !project.has(".hakaru"),
        "nothing is made before the config is read"
    );
}

#[test]
fn a_config_that_cannot_be_used_is_shown_with_its_line() {
    check_config(
        "[target]\ncomand = 'puma'\n",
        &[
            "line 2",
            "unknown field `comand`",
            "did you mean `command`?",
        ],
    );
    check_config("[laod]\nrate = 5\n", &["line 1", "did you mean `load`?"]);
    check_config("[flow]\nfile = 'a.hurl'\n", &["write [[flow]]"]);
    check_config(
        "[load]\nduration = 20\n",
        &["line 2", "write \"20s\", with the unit"],
    );
    check_config(
        "[target]\nenv = { PORT = [1] }\n",
        &["line 2", "expected a text, a number, true or false"],
    );
    check_config("[target]\ncommand = 'puma\n", &["line 2", "invalid"]);
    check_config(
        "[load]\n\nduration = '3 days'\n",
        &["line 3", "`3 days` is not a duration", "20s"],
    );
    check_config("[load]\nduration = 20\n", &["line 2", "duration"]);
    check_config("[load]\nconnections = -1\n", &["line 2", "connections"]);
    check_config("[[flow]]\nweight = 2\n", &["line 1", "a flow needs `file`"]);
}

fn check_flow(flow: &str, parts: &[&str]) {
    let project = Project::new(HELLO);
    project.write("shop.hurl", flow);
    project.configure(
        &format!("command = '{}'", project.puma("")),
        "[[flow]]\nfile = 'shop.hurl'",
    );
    let said = project.run();
    said.check(2, parts);
    said.check_silent_on("starting the app");
    assert_eq!(said.stdout, "", "{said}");
}

#[test]
fn a_flow_that_cannot_be_read_is_shown_with_file_line_column_and_caret() {
    check_flow("GET /\nHTTP 2OO\n", &["shop.hurl:2:6", "HTTP 2OO", "^"]);
    check_flow(
        "GET /\nHTTP 200\n[Asserts]\ncertificate \"Subject\" exists\n",
        &["shop.hurl:4:1", "certificate", "^"],
    );
    check_flow(
        "GET /\nHTTP 200\n[Assert]\nstatus == 200\n",
        &["shop.hurl:3:1", "did you mean `[Asserts]`?"],
    );
    check_flow("", &["shop.hurl", "no request"]);
}

#[test]
fn a_flow_that_does_not_exist_is_named() {
    let project = Project::new(HELLO);
    project.configure(
        &format!("command = '{}'", project.puma("")),
        "[[flow]]\nfile = 'missing.hurl'",
    );
    project.run().check(2, &["missing.hurl", "No such file"]);
}

#[test]
fn arguments_that_cannot_be_used_are_explained() {
    let project = Project::new(HELLO);
    let check = |arguments: &[&str], parts: &[&str]| project.end(arguments).check(2, parts);
    check(
        &["run", "--duration", "soon"],
        &["--duration", "`soon` is not a duration", "20s"],
    );
    check(
        &["run", "--connections", "0"],
        &["--connections", "at least 1"],
    );
    check(
        &["run", "-c", "abc"],
        &["--connections", "not a whole number; use for example 10"],
    );
    check(&["run", "--rate=-3"], &["a rate of -3"]);
    check(&["run", "--rate", "-5"], &["a rate of -5"]);
    check(&["run", "--rate", "fast"], &["--rate", "200 or 0.5"]);
    check(&["load", "--rate", "-5", "http://127.0.0.1:1/"], &["-5"]);
    let time = project.end(&["run", "--time", "3s"]);
    time.check(2, &["unexpected argument '--time'"]);
    time.check_silent_on("-- --time");
    check(&["run", "puma"], &["`hakaru run -- puma …`"]);
    check(&["run", "--durration", "3s"], &["--duration"]);
    check(
        &["run", "--url", "localhost:3000"],
        &["write it as http://localhost:3000"],
    );
    check(
        &["run", "--config", "other.toml"],
        &["other.toml", "No such file"],
    );
    check(&["report", "yesterday"], &["yesterday", "LAST"]);
    check(&["sprint"], &["unrecognized subcommand", "Usage"]);
}

#[test]
fn numbers_are_values_of_variables_of_the_environment() {
    let app = "run ->(_) { [ENV['ANSWER'] == '42' ? 200 : 500, {}, ['ok']] }\n";
    let project = Project::new(app);
    project.configure(
        &format!("command = '{}'\nenv = {{ ANSWER = 42 }}", project.puma("")),
        "",
    );
    project.end(&["run", "--duration", "200ms"]).check(0, &[]);
}

#[test]
fn the_version_is_told_to_everybody_who_asks() {
    let project = Project::empty();
    for word in ["version", "-v", "-V", "--version"] {
        let said = project.end(&[word]);
        said.check(0, &[]);
        assert!(said.stdout.starts_with("hakaru 0"), "{said}");
    }
}

#[test]
fn a_run_that_was_never_made_is_named() {
    let project = Project::new(HELLO);
    project.end(&["run", "--duration", "200ms"]).check(0, &[]);
    project.end(&["report", "7"]).check(1, &["no run 7"]);
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let project = Project::new(HELLO);
    let mut going = project.start(&["run"]);
    going.close_stdout();
    let said = going.end();
    said.check(0, &["loading"]);
    said.check_silent_on("pipe");
    project.report();
    let mut report = project.start(&["report"]);
    report.close_stdout();
    report.end().check(0, &[]);
}

#[test]
fn json_is_alone_on_standard_output() {
    let project = Project::new(HELLO);
    let said = project.end(&["run", "--json", "--duration", "500ms"]);
    said.check(0, &["starting the app"]);
    let json = said.json();
    assert_eq!(
        (&json["format"], &json["version"]),
        (&"hakaru-run".into(), &1.into())
    );
    assert_eq!(project.report(), json, "what is kept is what was said");
}
