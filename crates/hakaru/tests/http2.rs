//! `hakaru check` and `hakaru run` over HTTP/2, on an app behind an nginx.

#[path = "support/nginx.rs"]
mod nginx;

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use nginx::{Nginx, free_port};
use serde_json::Value;

const APP: &str = "run ->(_env) { [200, { 'set-cookie' => 'a=b' }, ['hello']] }\n";
const FLOW: &str = "GET /first\nHTTP/2 200\n[Captures]\nword: body\n\n\
                    POST /second\nX-Word: {{word}}\n[Form]\nword: {{word}}\nHTTP/2 200\n";

/// A certificate valid for 127.0.0.1, the key, or the authority.
fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../load/tests/servers/tls");
    folder.join(name).canonicalize().expect("a file")
}

/// A puma, which ends with the value.
struct App(Child);

impl App {
    fn start(folder: &Path, port: u16) -> App {
        fs::write(folder.join("config.ru"), APP).expect("written");
        let bind = format!("tcp://127.0.0.1:{port}");
        let puma = Command::new("puma")
            .args(["-q", "-t", "2:2", "-b", &bind, "config.ru"])
            .current_dir(folder)
            .stdout(Stdio::null())
            .spawn()
            .expect("puma; run bin/test");
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::yield_now();
        }
        App(puma)
    }
}

impl Drop for App {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn proxy(folder: &Path, port: u16, app: u16) -> Nginx {
    let http = format!(
        "log_format protocol '$server_protocol $request_uri'; access_log {folder}/access.log protocol;\n\
         server {{ listen 127.0.0.1:{port}; http2 on; keepalive_requests 7;\n\
         location / {{ proxy_pass http://127.0.0.1:{app}; }} }}",
        folder = folder.display(),
    );
    Nginx::start(folder, port, &http)
}

fn hakaru(folder: &Path, arguments: &[&str]) -> Output {
    let http2 = ["--http2", "--json"];
    hakaru_as_told(folder, &[arguments, &http2].concat())
}

fn hakaru_as_told(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hakaru"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("DATABASE_URL")
        .output()
        .expect("hakaru runs")
}

#[test]
fn flows_run_over_http2_behind_a_proxy() {
    let folder = tempfile::tempdir().expect("a folder");
    let (port, app) = (free_port(), free_port());
    let _proxy = proxy(folder.path(), port, app);
    fs::write(folder.path().join("a.hurl"), FLOW).expect("written");
    let _app = App::start(folder.path(), app);
    let url = format!("http://127.0.0.1:{port}");
    let attach = ["run", "--attach", "--url", &url, "--flow", "a.hurl"];
    let load = ["-c", "4", "-d", "2s", "--warmup", "500ms"];
    let ran = hakaru(folder.path(), &[&attach[..], &load[..]].concat());
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{stderr}");
    let json: Value = serde_json::from_slice(&ran.stdout).expect("JSON and nothing after it");
    let routes = json.to_string();
    assert!(
        routes.contains("GET /first") && routes.contains("POST /second"),
        "{json:#}"
    );
    let log = fs::read_to_string(folder.path().join("access.log")).expect("a log");
    // What asks whether the app is up speaks HTTP/1.1, and asks for the URL's own path.
    let of_flow = || log.lines().filter(|line| !line.ends_with(" /"));
    assert!(of_flow().count() > 20, "{log}");
    let spoken = of_flow()
        .filter(|line| line.starts_with("HTTP/2.0 "))
        .count();
    assert_eq!(spoken, of_flow().count(), "{log}");
}

#[test]
fn a_single_pass_over_http2() {
    let folder = tempfile::tempdir().expect("a folder");
    let port = free_port();
    let http = format!(
        "access_log off; server {{ listen 127.0.0.1:{port} ssl; http2 on; keepalive_requests 3;\n\
         ssl_certificate {cert}; ssl_certificate_key {key};\n\
         location / {{ return 200 hello; }} }}",
        cert = file("cert.pem").display(),
        key = file("key.pem").display(),
    );
    let _proxy = Nginx::start(folder.path(), port, &http);
    let url = format!("https://127.0.0.1:{port}");
    // The server says goodbye on every third request.
    let flow = "GET /a\n[Options]\nrepeat: 8\nHTTP/2 200\n[Asserts]\nversion == \"2\"\nbody == \"hello\"\n";
    fs::write(folder.path().join("a.hurl"), flow).expect("written");
    let checked = {
        let authority = file("ca.pem").display().to_string();
        hakaru(
            folder.path(),
            &["check", "a.hurl", "--url", &url, "--ca", &authority],
        )
    };
    let out = String::from_utf8_lossy(&checked.stdout);
    assert_eq!(checked.status.code(), Some(0), "{out}");
    let json: Value = serde_json::from_slice(&checked.stdout).expect("JSON");
    assert_eq!(
        (&json["requests"], &json["failed"]),
        (&8.into(), &0.into()),
        "{json:#}"
    );
    // By an option of the entry alone, the next one goes by HTTP/1.1.
    let authority = file("ca.pem");
    let flow = "GET /a\n[Options]\nhttp2: true\nHTTP/2 200\n\nGET /b\nHTTP/1.1 200\n";
    fs::write(folder.path().join("a.hurl"), flow).expect("written");
    let checked = Command::new(env!("CARGO_BIN_EXE_hakaru"))
        .args(["check", "a.hurl", "--url", &url, "--ca"])
        .arg(&authority)
        .current_dir(folder.path())
        .output()
        .expect("hakaru runs");
    let out = String::from_utf8_lossy(&checked.stdout);
    assert_eq!(checked.status.code(), Some(0), "{out}");
}

/// Runs a load over TLS and returns the JSON of the run.
fn run_over_tls(folder: &Path, url: &str, arguments: &[&str]) -> Value {
    let authority = file("ca.pem").display().to_string();
    let load = ["-c", "2", "-d", "1s", "--warmup", "200ms", "--json"];
    let trusted = ["run", "--url", url, "--ca", &authority];
    let ran = hakaru_as_told(folder, &[&trusted[..], &load, arguments].concat());
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{stderr}");
    serde_json::from_slice(&ran.stdout).expect("JSON and nothing after it")
}

#[test]
fn a_proxy_with_tls_chooses_the_protocol() {
    let folder = tempfile::tempdir().expect("a folder");
    let (port, app) = (free_port(), free_port());
    let http = format!(
        "log_format protocol '$server_protocol $request_uri'; access_log {folder}/access.log protocol;\n\
         server {{ listen 127.0.0.1:{port} ssl; http2 on;\n\
         ssl_certificate {cert}; ssl_certificate_key {key};\n\
         location / {{ proxy_pass http://127.0.0.1:{app}; }} }}",
        folder = folder.path().display(),
        cert = file("cert.pem").display(),
        key = file("key.pem").display(),
    );
    let _proxy = Nginx::start(folder.path(), port, &http);
    let _app = App::start(folder.path(), app);
    let url = format!("https://127.0.0.1:{port}/page");
    let log = || fs::read_to_string(folder.path().join("access.log")).expect("a log");
    let spoken = |log: &str, protocol: &str| {
        let asked = format!("{protocol} /page");
        log.lines().filter(|line| **line == asked).count()
    };
    run_over_tls(folder.path(), &url, &["--attach"]);
    let first = log();
    assert!(spoken(&first, "HTTP/1.1") > 10, "{first}");
    assert_eq!(spoken(&first, "HTTP/2.0"), 0, "{first}");
    run_over_tls(folder.path(), &url, &["--attach", "--http2"]);
    let second = log();
    assert!(spoken(&second, "HTTP/2.0") > 10, "{second}");
}

#[test]
fn an_app_with_tls_is_started_and_seen_from_inside() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("config.ru"), APP).expect("written");
    let port = free_port();
    let bind = format!(
        "ssl://127.0.0.1:{port}?cert={}&key={}",
        file("cert.pem").display(),
        file("key.pem").display()
    );
    let url = format!("https://127.0.0.1:{port}/inside");
    let start = ["--", "puma", "-q", "-t", "2:2", "-b", &bind, "config.ru"];
    let json = run_over_tls(folder.path(), &url, &start);
    let text = json.to_string();
    assert!(text.contains("GET /inside"), "{json:#}");
    assert!(json["balance_ms"]["cpu"].as_f64() > Some(0.0), "{json:#}");
}

#[test]
fn a_certificate_that_nobody_vouches_for_fails_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let port = free_port();
    let http = format!(
        "access_log off; server {{ listen 127.0.0.1:{port} ssl;\n\
         ssl_certificate {cert}; ssl_certificate_key {key}; location / {{ return 200 hello; }} }}",
        cert = file("cert.pem").display(),
        key = file("key.pem").display(),
    );
    let _proxy = Nginx::start(folder.path(), port, &http);
    let url = format!("https://127.0.0.1:{port}/");
    let load = ["-c", "1", "-d", "500ms", "--warmup", "0s", "--json"];
    let attach = ["run", "--attach", "--url", &url];
    let refused = hakaru_as_told(folder.path(), &[&attach[..], &load].concat());
    assert_eq!(refused.status.code(), Some(4), "{refused:?}");
    let out = String::from_utf8_lossy(&refused.stdout);
    assert!(out.contains("UnknownIssuer"), "{out}");
    let insecure = hakaru_as_told(
        folder.path(),
        &[&attach[..], &load, &["--insecure"]].concat(),
    );
    assert_eq!(insecure.status.code(), Some(0), "{insecure:?}");
}
