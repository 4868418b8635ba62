//! `hakaru load --kubernetes` against a stand-in for `kubectl`, whose pods are local processes.

#[path = "support/server.rs"]
mod server;

use std::fs;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use server::serve;
use tempfile::TempDir;

/// A cluster in a folder.
struct Cluster {
    folder: TempDir,
}

impl Cluster {
    fn new() -> Cluster {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("cluster")).expect("a folder");
        let script = include_str!("support/kubectl.sh");
        let kubectl = folder.path().join("kubectl");
        fs::write(&kubectl, script).expect("a script");
        fs::set_permissions(&kubectl, fs::Permissions::from_mode(0o755)).expect("a program");
        Cluster { folder }
    }

    fn cluster(&self) -> std::path::PathBuf {
        self.folder.path().join("cluster")
    }

    fn load(&self, arguments: &[&str]) -> Command {
        let path = format!("{}:/usr/bin:/bin", self.folder.path().display());
        let mut command = Command::new(env!("CARGO_BIN_EXE_hakaru"));
        command
            .arg("load")
            .args(arguments)
            .args(["--kubernetes", "--image", "registry/hakaru:1"])
            .current_dir(self.folder.path())
            .env("PATH", path)
            .env("CLUSTER", self.cluster())
            .env("HAKARU", env!("CARGO_BIN_EXE_hakaru"))
            .env("LC_ALL", "C.UTF-8")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn calls(&self) -> String {
        fs::read_to_string(self.cluster().join("calls")).unwrap_or_default()
    }

    fn assert_nothing_is_left(&self) {
        let names = fs::read_dir(self.cluster()).expect("a folder").flatten();
        let names: Vec<_> = names.map(|entry| entry.file_name()).collect();
        assert_eq!(names, ["calls"]);
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn pods_send_one_plan_and_nothing_is_left() {
    let cluster = Cluster::new();
    fs::write(
        cluster.folder.path().join("a.hurl"),
        "GET /{{user_name}}\nHTTP 200\n",
    )
    .expect("written");
    fs::write(
        cluster.folder.path().join("users.csv"),
        "name\na\nb\nc\nd\ne\nf\n",
    )
    .expect("written");
    let url = format!("http://{}", serve("200 OK"));
    let output = cluster
        .load(&[
            &url,
            "--flow",
            "a.hurl",
            "--csv",
            "user=users.csv",
            "-c",
            "6",
            "--rate",
            "50..250/2s",
            "--expect",
            "requests = 300",
            "--parallelism",
            "3",
            "--json",
        ])
        .output()
        .expect("hakaru runs");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["requests"], 300);
    let lines = document["generators"].as_array().expect("a list");
    let names: Vec<&Value> = lines.iter().map(|line| &line["name"]).collect();
    assert_eq!(names, ["pod-0", "pod-1", "pod-2"]);
    assert!(
        lines.iter().all(|line| line["requests"] == 100),
        "{lines:?}"
    );
    cluster.assert_nothing_is_left();
}

#[test]
fn a_pod_that_is_killed_fails_the_run_by_name_and_nothing_is_left() {
    let cluster = Cluster::new();
    let url = format!("http://{}/", serve("200 OK"));
    let output = cluster
        .load(&[&url, "--rate", "100", "-d", "10m", "--parallelism", "3"])
        .env("LOSE", "1")
        .output()
        .expect("hakaru runs");
    let said = said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("generator 1 was lost"), "{said}");
    assert!(
        said.contains("pod-1 is Failed: Error, exit code 137"),
        "{said}"
    );
    assert!(output.stdout.is_empty());
    cluster.assert_nothing_is_left();
}

/// A server announcing the first request.
fn serve_telling() -> (SocketAddr, Receiver<()>) {
    let inner = serve("200 OK");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("the port");
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let tell = tell.clone();
            let there = TcpStream::connect(inner).expect("a server");
            let (mut back, mut here) = (
                there.try_clone().expect("a second handle"),
                stream.try_clone().expect("a second handle"),
            );
            thread::spawn(move || io::copy(&mut back, &mut here));
            thread::spawn(move || {
                let (mut stream, mut there) = (stream, there);
                let mut buffer = [0; 4096];
                while let Ok(bytes @ 1..) = stream.read(&mut buffer) {
                    let _ = tell.send(());
                    if there.write_all(&buffer[..bytes]).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (address, told)
}

#[test]
fn a_pod_that_is_deleted_fails_the_run_by_name_and_at_once() {
    let cluster = Cluster::new();
    let (address, requested) = serve_telling();
    let url = format!("http://{address}/");
    let child = cluster
        .load(&[&url, "--rate", "100", "-d", "10m", "--parallelism", "3"])
        .env("GONE", "1")
        .spawn()
        .expect("hakaru runs");
    requested.recv().expect("a request");
    // A cluster asks first, as it does when a node is drained.
    let pid = fs::read_to_string(cluster.cluster().join("pid.1")).expect("a pod");
    let pid = Pid::from_raw(pid.trim().parse().expect("a number")).expect("a process");
    kill_process(pid, Signal::TERM).expect("asked to end");
    let output = child.wait_with_output().expect("ended");
    let said = said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("generator 1 was lost"), "{said}");
    assert!(
        said.contains("pod-1 is gone: somebody deleted it"),
        "{said}"
    );
    cluster.assert_nothing_is_left();
}

#[test]
fn an_interrupted_load_shows_what_was_measured_and_leaves_nothing() {
    let cluster = Cluster::new();
    let (address, requested) = serve_telling();
    let url = format!("http://{address}/");
    let flags = ["--rate", "100", "-d", "10m", "--parallelism", "2", "--json"];
    let child = cluster
        .load(&[&[url.as_str()], flags.as_slice()].concat())
        .spawn()
        .expect("hakaru runs");
    requested.recv().expect("a request");
    kill_process(Pid::from_child(&child), Signal::INT).expect("interrupted");
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["stopped"], true);
    assert_eq!(document["generators"].as_array().map(Vec::len), Some(2));
    assert!(document["requests"].as_u64() > Some(0), "{document}");
    cluster.assert_nothing_is_left();
}

#[test]
fn a_dry_run_prints_manifests_and_asks_for_nothing() {
    let cluster = Cluster::new();
    let output = cluster
        .load(&[
            "http://app/",
            "--host-ok",
            "app",
            "--parallelism",
            "20",
            "-n",
            "perf",
            "--dry-run",
            "-H",
            "X-Token: secret",
        ])
        .output()
        .expect("hakaru runs");
    let yaml = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    for part in [
        "backoffLimitPerIndex: 0",
        "kind: \"Job\"",
        "image: \"registry/hakaru:1\"",
        "namespace: \"perf\"",
    ] {
        assert!(yaml.contains(part), "{part}: {yaml}");
    }
    assert!(!yaml.contains("secret\""), "{yaml}");
    assert_eq!(cluster.calls(), "");
}

#[test]
fn wrong_usage_is_named() {
    let cluster = Cluster::new();
    let check = |flags: &[&str], code: i32, part: &str| {
        let output = cluster
            .load(&[&["http://127.0.0.1:1/"], flags].concat())
            .output()
            .expect("hakaru runs");
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        assert!(said(&output).contains(part), "{part:?}: {}", said(&output));
    };
    check(&[], 2, "--parallelism");
    check(
        &["--parallelism", "3", "-c", "2"],
        2,
        "too few for 3 generators",
    );
    check(
        &["--parallelism", "3", "--on", "a"],
        2,
        "cannot be used with",
    );
    let mut without = cluster.load(&["http://127.0.0.1:1/", "--parallelism", "3"]);
    let output = without
        .env("PATH", cluster.cluster())
        .output()
        .expect("hakaru runs");
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(
        said(&output).contains("kubectl cannot be run"),
        "{}",
        said(&output)
    );
}
