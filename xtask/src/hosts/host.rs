//! A host: namespaces for networks, processes and mounts, with a first process at the end of a pipe
//! of this program. When the pipe ends, the host and all that runs on it end.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::run::Outcome;

/// Namespaces of a host; ended by a drop.
pub(super) struct Host {
    pub(super) name: String,
    pub(super) address: String,
    pub(super) roles: &'static str,
    /// Process id of the host's first process.
    pub(super) first: u32,
    keeper: Child,
    open: Option<ChildStdin>,
}

impl Host {
    /// Makes the namespaces.
    pub(super) fn new(name: &str, address: String, roles: &'static str) -> Outcome<Host> {
        let mut unshare = Command::new("unshare");
        unshare
            .args(["--net", "--pid", "--fork", "--mount", "--mount-proc"])
            .args(["--kill-child", "sh", "-c"])
            .arg("ip link set lo up && echo up && exec cat >/dev/null")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut keeper = unshare
            .spawn()
            .map_err(|error| format!("cannot start `unshare`: {error}"))?;
        let mut line = String::new();
        let said = keeper.stdout.take().map(BufReader::new);
        let read = said.map(|mut said| said.read_line(&mut line));
        if !matches!(read, Some(Ok(_))) || line != "up\n" {
            return Err(format!("the namespaces of {name} cannot be made"));
        }
        let id = keeper.id();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        let first = children
            .ok()
            .and_then(|text| text.split_whitespace().next()?.parse().ok())
            .ok_or(format!("the first process of {name} is not known"))?;
        Ok(Host {
            name: name.to_owned(),
            address,
            roles,
            first,
            open: keeper.stdin.take(),
            keeper,
        })
    }

    /// Returns the words before a command to be run on the host.
    pub(super) fn words(&self) -> [String; 7] {
        let first = self.first.to_string();
        ["nsenter", "-t", &first, "-n", "-p", "-m", "--"].map(str::to_owned)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.open = None;
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
    }
}
