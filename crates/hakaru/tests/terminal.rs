//! Widths of pages and messages on terminals, with the real program.

mod support;

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};

use support::{on_terminal, serve};

/// Usual widths of terminals.
const WIDTHS: [&str; 3] = ["60", "80", "120"];

fn hakaru(folder: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hakaru"));
    for name in [
        "NO_COLOR",
        "COLUMNS",
        "DATABASE_URL",
        "LC_ALL",
        "LC_CTYPE",
        "LANG",
    ] {
        command.env_remove(name);
    }
    command
        .args(arguments)
        .envs(variables.iter().copied())
        .current_dir(folder)
        .output()
        .expect("the program runs")
}

/// Output on both streams of a successful command.
fn told(folder: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let output = hakaru(folder, variables, arguments);
    let told = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    let told = told.concat();
    assert!(
        matches!(output.status.code(), Some(0 | 12)),
        "{arguments:?}: {told}"
    );
    told
}

/// Asserts no line wider than the terminal.
fn check(folder: &Path, arguments: &[&str]) {
    for columns in WIDTHS {
        let told = told(folder, &[("COLUMNS", columns)], arguments);
        let columns: usize = columns.parse().expect("a number");
        assert!(told.lines().count() > 3, "{arguments:?}: {told}");
        for line in told.lines() {
            let width = figures::text::width(line);
            assert!(
                width <= columns,
                "{width} columns, not {columns}: {line}\n{told}"
            );
        }
    }
}

#[test]
fn load_run_log_and_compare_fit_every_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let long = "a-path-that-is-longer-than-most/".repeat(4);
    let url = format!("http://{}/{long}", serve("200 OK"));
    let check = |arguments: &[&str]| check(folder.path(), arguments);
    let short = ["-c", "2", "--warmup", "100ms"];
    check(&[&["load", &url, "-d", "200ms"], &short[..]].concat());
    check(
        &[
            &["run", "--attach", "--url", &url, "-d", "300ms"],
            &short[..],
        ]
        .concat(),
    );
    check(&["report"]);
    check(&["report", "--full"]);
    check(&["log"]);
    let two = ["--url-a", &url, "--url-b", &url, "--segment", "100ms"];
    let blocks = ["--blocks", "6", "--budget", "5m"];
    // At a rate: the page is the same, and a closed load would take all cores for so many blocks.
    let rate = ["--rate", "200"];
    check(&[&["compare"], &two[..], &blocks, &short, &rate].concat());
}

/// Writes an app with the given `config.ru` on a free port, and a `hakaru.toml`.
fn write_app(folder: &Path, app: &str) {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = port.expect("a free port").port();
    let config = format!(
        "[target]\ncommand = \"puma -t 2:2 -b tcp://127.0.0.1:{port} config.ru\"\nurl = \"http://127.0.0.1:{port}\"\n"
    );
    std::fs::write(folder.join("hakaru.toml"), config).expect("it is written");
    std::fs::write(folder.join("config.ru"), app).expect("it is written");
}

#[test]
fn a_run_shows_what_it_does_while_it_does_it() {
    let folder = tempfile::tempdir().expect("a folder");
    // Boots slowly enough for a second to pass.
    write_app(
        folder.path(),
        "sleep 1.5\nrun ->(_env) { sleep 0.01; [200, {}, ['ok']] }\n",
    );
    let run = ["run", "-d", "2s", "--warmup", "1s", "--no-profile"];
    let drawn = on_terminal(folder.path(), 24, 60, &run);
    let (live, _) = drawn.split_once("HAKARU").expect("the page");
    for part in [
        "starting the app: 1 s passed",
        "warming up   0 s of 3 s   3 s left",
        "measuring   2 s of 3 s",
        "nothing was measured yet",
        " requests/s   p50 1",
        "   p95 ",
        " requests   0 failed",
    ] {
        assert!(live.contains(part), "{part:?} is missing in {live:?}");
    }
    let lines = live.split(['\n', '\r']);
    for line in lines.map(|line| line.trim_start_matches("\x1b[J")) {
        assert!(figures::text::width(line) <= 60, "{line:?}");
    }
    let run = ["run", "-d", "300ms", "--warmup", "0s", "--no-profile"];
    let piped = told(folder.path(), &[], &run);
    assert!(
        !piped.contains('\x1b') && !piped.contains("s left"),
        "{piped}"
    );
    assert!(piped.contains("starting the app: puma"), "{piped}");
}

#[test]
fn a_sweep_fits_every_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    write_app(
        folder.path(),
        "run ->(_env) { sleep 0.01; [200, {}, ['ok']] }\n",
    );
    check(
        folder.path(),
        &["sweep", "-c", "1,2,4", "-d", "300ms", "--warmup", "100ms"],
    );
    check(folder.path(), &["report", "1"]);
    check(folder.path(), &["log"]);
}

#[test]
fn colours_come_where_they_are_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("http://{}/", serve("200 OK"));
    let run = [
        "run", "--attach", "--url", &url, "-d", "200ms", "--warmup", "0s",
    ];
    told(folder.path(), &[], &run);
    let check = |variables: &[(&str, &str)], flags: &[&str], expected: bool| {
        let arguments = [&["report"], flags].concat();
        let told = told(folder.path(), variables, &arguments);
        assert_eq!(told.contains('\u{1b}'), expected, "{flags:?}: {told}");
    };
    check(&[], &[], false);
    check(&[], &["--color", "always"], true);
    check(
        &[("NO_COLOR", "1"), ("TERM", "dumb")],
        &["--color=always"],
        true,
    );
    check(&[], &["--color", "never"], false);
    let plain = told(folder.path(), &[("LC_ALL", "C")], &["report"]);
    assert!(plain.is_ascii(), "{plain}");
    assert!(plain.contains("due -> answered"), "{plain}");
    let plain = told(folder.path(), &[("LC_ALL", "C")], &["log"]);
    assert!(plain.is_ascii(), "{plain}");
    let signs = told(folder.path(), &[("LC_ALL", "C.UTF-8")], &["report"]);
    assert!(signs.contains("due → answered"), "{signs}");
}

#[test]
fn redirects_are_doubted_by_load_and_compare() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("http://{}/", serve("301 Moved"));
    let load = told(folder.path(), &[], &["load", &url, "-d", "200ms"]);
    assert!(load.contains("100% of the pages are redirects"), "{load}");
    let two = ["compare", "--url-a", &url, "--url-b", &url, "-c", "2"];
    let short = ["--segment", "100ms", "--blocks", "1", "--warmup", "0s"];
    let compared = told(folder.path(), &[], &[&two[..], &short].concat());
    assert!(
        compared.contains("100% of the pages are redirects"),
        "{compared}"
    );
    let url = format!("http://{}/", serve("200 OK"));
    let load = told(folder.path(), &[], &["load", &url, "-d", "200ms"]);
    assert!(!load.contains("redirects"), "{load}");
}

#[test]
fn a_page_for_a_browser_goes_to_standard_output_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("http://{}/", serve("200 OK"));
    let output = hakaru(
        folder.path(),
        &[],
        &["load", &url, "-d", "200ms", "--html", "-"],
    );
    let page = String::from_utf8_lossy(&output.stdout);
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert!(!folder.path().join("-").exists());
    let both = ["load", &url, "--html", "-", "--json"];
    assert_eq!(hakaru(folder.path(), &[], &both).status.code(), Some(2));
}

#[test]
fn pages_of_recordings_fit_every_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    write_app(
        folder,
        "def a_method_whose_name_is_much_longer_than_most = 20_000.times { |n| n.to_s }\n\
         run ->(_env) { a_method_whose_name_is_much_longer_than_most; sleep 0.005; [200, {}, ['ok']] }\n",
    );
    let run = ["run", "-d", "2s", "--warmup", "500ms"];
    told(folder, &[], &run);
    let check = |arguments: &[&str]| check(folder, arguments);
    check(&["predict", "--threads", "4"]);
    check(&["tune", "--advise"]);
    check(&["profile", "show", "1"]);
    check(&["profile", "show", "1", "--around", "a_method_whose_name"]);
}
