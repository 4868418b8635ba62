//! Pages and messages fit the terminal that they are shown on, with the real program.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Output};

/// Widths that terminals have.
const WIDTHS: [&str; 3] = ["60", "80", "120"];

/// A server that answers `status` to everything, with `hello`.
fn serve(status: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("the port");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut writer = stream.try_clone().expect("a second handle");
                let lines = BufReader::new(stream).lines().map_while(Result::ok);
                for _ in lines.filter(String::is_empty) {
                    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 5\r\n\r\nhello");
                    if writer.write_all(answer.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

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

/// What it printed and said, where it ended well.
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

/// Asserts that no line is wider than the terminal.
fn check(folder: &Path, arguments: &[&str]) {
    for columns in WIDTHS {
        let told = told(folder, &[("COLUMNS", columns)], arguments);
        let columns: usize = columns.parse().expect("a number");
        assert!(told.lines().count() > 3, "{arguments:?}: {told}");
        for line in told.lines() {
            let width = report::text::width(line);
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
    check(&[&["compare"], &two[..], &blocks, &short].concat());
}

#[test]
fn a_sweep_fits_every_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = port.expect("a free port").port();
    let config = format!(
        "[target]\ncommand = \"puma -t 2:2 -b tcp://127.0.0.1:{port} config.ru\"\nurl = \"http://127.0.0.1:{port}\"\n"
    );
    std::fs::write(folder.path().join("hakaru.toml"), config).expect("it is written");
    let app = "run ->(_env) { sleep 0.01; [200, {}, ['ok']] }\n";
    std::fs::write(folder.path().join("config.ru"), app).expect("it is written");
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
