//! A cluster on the local machine: built from Go modules, started on loopback, ended with the task.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::run::{Outcome, capture, find_program, root, run, target_folder};

/// The namespace of all loads.
pub(super) const NAMESPACE: &str = "perf";
/// A user with only the rights needed by a load from Kubernetes, and the user's namespace.
const USER: &str = include_str!("../../kubernetes/user.yaml");

/// A running cluster, ended by a drop.
pub(super) struct Cluster {
    keeper: Child,
    /// Folder of the cluster's files.
    pub(super) folder: PathBuf,
    /// A server for pods to load.
    pub(super) url: String,
}

/// Returns the folder of everything built for the task.
pub(super) fn home() -> PathBuf {
    target_folder().join("kubernetes")
}

fn program() -> PathBuf {
    home().join("kubernetes")
}

/// Builds the program with all parts of a cluster. The first time takes minutes.
pub(super) fn build() -> Outcome<()> {
    let go = find_program("go").ok_or(
        "there is no `go` in PATH; the control plane is built from Go modules: install Go 1.24 or later",
    )?;
    if !program().is_file() {
        eprintln!(
            "kubernetes: building etcd, API server, controllers, scheduler, kubectl and a node into {}; the first time takes minutes",
            home().display()
        );
    }
    let mut command = Command::new(go);
    command
        .args(["build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w"])
        .arg("-o")
        .args([program().as_path(), Path::new(".")])
        .current_dir(root().join("xtask/kubernetes"));
    run(&mut command)?;
    let kubectl = home().join("bin/kubectl");
    if !kubectl.is_file() {
        let _ = fs::create_dir_all(home().join("bin"));
        symlink(program(), &kubectl)
            .map_err(|error| format!("cannot make {}: {error}", kubectl.display()))?;
    }
    Ok(())
}

/// Makes the folder used as the image: the program alone.
pub(super) fn image(hakaru: &Path) -> Outcome<PathBuf> {
    let folder = home().join("image");
    let copy = folder.join("hakaru");
    let _ = fs::create_dir_all(&folder);
    let _ = fs::remove_file(&copy);
    fs::hard_link(hakaru, &copy)
        .or_else(|_| fs::copy(hakaru, &copy).map(drop))
        .map_err(|error| {
            format!(
                "cannot copy {} to {}: {error}",
                hakaru.display(),
                copy.display()
            )
        })?;
    Ok(folder)
}

impl Cluster {
    /// Starts a cluster with pods holding the programs of `image`, and makes the user.
    pub(super) fn start(nodes: u32, image: &Path) -> Outcome<Cluster> {
        let mut command = Command::new(program());
        command
            .args(["up", "-nodes", &nodes.to_string(), "-image"])
            .arg(image)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C is for us; the cluster ends when its input does, however we end.
            .process_group(0);
        let mut keeper = command
            .spawn()
            .map_err(|error| format!("cannot run {}: {error}", program().display()))?;
        let mut line = String::new();
        if let Some(output) = keeper.stdout.take() {
            let _ = BufReader::new(output).read_line(&mut line);
        }
        let mut words = line.split_whitespace();
        let (Some("ready"), Some(folder), Some(url)) = (words.next(), words.next(), words.next())
        else {
            let _ = keeper.wait();
            return Err("the cluster did not start; what it said stands above".to_owned());
        };
        let cluster = Cluster {
            keeper,
            folder: folder.into(),
            url: url.to_owned(),
        };
        cluster.apply(USER)?;
        Ok(cluster)
    }

    /// Returns a command with `kubectl` on the path, logged in as `user`: `admin`, who may do all,
    /// or `user`.
    pub(super) fn command(&self, program: impl AsRef<std::ffi::OsStr>, user: &str) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(program);
        command
            .env("PATH", format!("{}:{path}", home().join("bin").display()))
            .env("KUBECONFIG", self.folder.join(format!("{user}.config")))
            .env("LC_ALL", "C.UTF-8");
        command
    }

    /// What `kubectl` prints to the admin.
    pub(super) fn kubectl(&self, words: &[&str]) -> Outcome<String> {
        let kubectl = home().join("bin/kubectl");
        let mut command = self.command(kubectl, "admin");
        capture(command.args(words)).map(|text| text.trim().to_owned())
    }

    fn apply(&self, yaml: &str) -> Outcome<()> {
        let kubectl = home().join("bin/kubectl");
        let mut command = self.command(kubectl, "admin");
        let mut child = command
            .args(["apply", "-f", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot run kubectl: {error}"))?;
        if let Some(mut input) = child.stdin.take() {
            let _ = input.write_all(yaml.as_bytes());
        }
        match child.wait() {
            Ok(status) if status.success() => Ok(()),
            _ => Err("kubectl does not apply xtask/kubernetes/user.yaml".to_owned()),
        }
    }

    /// Returns the number of requests answered by the server.
    pub(super) fn served(&self) -> Outcome<u64> {
        let failed = |error: std::io::Error| format!("cannot ask {}: {error}", self.url);
        let address = self.url.trim_start_matches("http://").trim_end_matches('/');
        let mut stream = TcpStream::connect(address).map_err(failed)?;
        stream
            .write_all(b"GET /count HTTP/1.1\r\n\r\n")
            .map_err(failed)?;
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut text = String::new();
        stream.read_to_string(&mut text).map_err(failed)?;
        let number = text.trim().rsplit('\n').next().unwrap_or_default();
        number.parse().map_err(|_| format!("no count in {text:?}"))
    }

    /// Adds up the results in files by HdrHistogram's own code: lines of a word and a number.
    pub(super) fn merge(&self, files: &[PathBuf]) -> Outcome<String> {
        capture(Command::new(program()).arg("merge").args(files))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}
