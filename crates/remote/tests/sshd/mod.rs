//! A real OpenSSH server for tests: hosts in one folder, each with own keys; `ssh` starts the
//! server for each connection. No port is taken and no server stays.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Hosts named by one config file of `ssh`.
pub struct Hosts {
    folder: TempDir,
    config: String,
    sshd: PathBuf,
    user: String,
}

impl Hosts {
    /// Makes keys for a user and for all hosts.
    pub fn new() -> Hosts {
        let folder = tempfile::Builder::new()
            .prefix("hakaru-sshd-")
            .tempdir()
            .expect("a folder");
        let hosts = Hosts {
            config: String::new(),
            sshd: found("sshd"),
            user: said(Command::new("id").arg("-un")),
            folder,
        };
        hosts.key("user");
        hosts.key("host");
        fs::copy(hosts.path("user.pub"), hosts.path("authorized_keys")).expect("a copy");
        hosts
    }

    /// Adds a host with variables such as `A=b` for programs and lines for the server's config. Its
    /// programs have `tmp/NAME` as their `TMPDIR`.
    pub fn add(&mut self, name: &str, env: &str, lines: &str) {
        let tmp = self.tmp(name);
        fs::create_dir_all(&tmp).expect("a folder");
        let server = format!(
            "HostKey {host}\nAuthorizedKeysFile {keys}\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n\
             KbdInteractiveAuthentication no\nPermitRootLogin yes\nPidFile none\nLogLevel ERROR\nPrintMotd no\n\
             SetEnv TMPDIR={tmp} {env}\n{lines}\n",
            host = self.path("host").display(),
            keys = self.path("authorized_keys").display(),
            tmp = tmp.display()
        );
        let path = self.path(&format!("{name}.sshd"));
        fs::write(&path, server).expect("a config");
        let key = fs::read_to_string(self.path("host.pub")).expect("a key");
        self.know(name, &key);
        let proxy = format!(
            "ProxyCommand {} -i -f {}",
            self.sshd.display(),
            path.display()
        );
        self.add_client(name, &proxy);
    }

    /// Adds a host with lines for the client's config.
    pub fn add_client(&mut self, name: &str, lines: &str) {
        self.config.push_str(&format!(
            "Host {name}\n  HostKeyAlias {name}\n  User {user}\n  UserKnownHostsFile {known}\n  IdentityFile {key}\n  \
             IdentitiesOnly yes\n  IdentityAgent none\n  StrictHostKeyChecking yes\n  {lines}\n",
            user = self.user,
            known = self.path("known").display(),
            key = self.path("user").display()
        ));
        fs::write(self.config(), &self.config).expect("a config");
    }

    /// Sets the one known key of a host.
    pub fn know(&self, name: &str, key: &str) {
        let path = self.path("known");
        let known = fs::read_to_string(&path).unwrap_or_default();
        let others = known
            .lines()
            .filter(|line| !line.starts_with(&format!("{name} ")));
        let others: String = others.map(|line| format!("{line}\n")).collect();
        let line = match key.is_empty() {
            true => String::new(),
            false => format!("{name} {}\n", key.trim()),
        };
        fs::write(path, others + &line).expect("known hosts");
    }

    /// Makes a pair of keys with the given name.
    pub fn key(&self, name: &str) {
        let mut keygen = Command::new(found("ssh-keygen"));
        keygen
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(self.path(name));
        said(&mut keygen);
    }

    /// Returns the config file for `ssh -F`.
    pub fn config(&self) -> PathBuf {
        self.path("config")
    }

    /// Returns the folder into which a host's temporary files go.
    pub fn tmp(&self, name: &str) -> PathBuf {
        self.path("tmp").join(name)
    }

    /// Returns a path in the folder of all hosts.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a program in place of one of a host's system, and returns the `PATH` by which a host
    /// finds the written one first.
    pub fn shim(&self, host: &str, name: &str, script: &str) -> String {
        use std::os::unix::fs::PermissionsExt;
        let folder = self.path("shims").join(host);
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(name), script).expect("a script");
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755))
            .expect("a program");
        format!("PATH={}:/usr/bin:/bin", folder.display())
    }
}

fn said(command: &mut Command) -> String {
    let output = command.output().expect("the program runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A program of `PATH`, or of where servers are.
fn found(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    let mut candidates = folders.map(|folder| folder.join(name));
    candidates
        .find(|path| Path::is_file(path))
        .unwrap_or_else(|| panic!("no {name} in PATH; `cargo xtask setup --for test` unpacks one"))
}
