//! SSH servers of hosts, and a client's config for all servers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::host::Host;
use crate::run::{Outcome, capture, find_program, write};

/// Port of each server.
pub(super) const PORT: u16 = 22;
/// Name of the client's config in the folder.
pub(super) const CONFIG: &str = "ssh_config";

/// Makes keys and configs of all hosts in a folder; returns the path of `sshd`.
pub(super) fn configure(folder: &Path, hosts: &[Host]) -> Outcome<PathBuf> {
    let sshd = program("sshd")?;
    for name in ["user", "host"] {
        let mut keygen = Command::new(program("ssh-keygen")?);
        keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]);
        capture(keygen.arg(folder.join(name)))?;
    }
    let read = |name: &str| {
        let path = folder.join(name);
        let text = fs::read_to_string(&path);
        text.map_err(|error| format!("cannot read {}: {error}", path.display()))
    };
    write(&folder.join("authorized_keys"), &read("user.pub")?)?;
    let (mut known, mut client) = (String::new(), String::new());
    let shown = folder.display();
    for host in hosts {
        known += &format!("{} {}", host.address, read("host.pub")?);
        client += &format!(
            "Host {}\n  HostName {}\n  User root\n  UserKnownHostsFile {shown}/known\n  IdentityFile {shown}/user\n  \
             IdentitiesOnly yes\n  IdentityAgent none\n  StrictHostKeyChecking yes\n",
            host.name, host.address
        );
        let tmp = tmp(folder, &host.name);
        fs::create_dir_all(&tmp)
            .map_err(|error| format!("cannot make {}: {error}", tmp.display()))?;
        let server = format!(
            "ListenAddress {}\nHostKey {shown}/host\nAuthorizedKeysFile {shown}/authorized_keys\nStrictModes no\n\
             UsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n\
             PidFile none\nPrintMotd no\nLogLevel ERROR\nSetEnv TMPDIR={}\n",
            host.address,
            tmp.display()
        );
        write(&config_of(folder, host), &server)?;
    }
    write(&folder.join("known"), &known)?;
    write(&folder.join(CONFIG), &client)?;
    Ok(sshd)
}

/// Returns the command of a host's server.
pub(super) fn words(sshd: &Path, folder: &Path, host: &Host) -> [String; 4] {
    let config = config_of(folder, host);
    [
        sshd.display().to_string(),
        "-D".to_owned(),
        "-f".to_owned(),
        config.display().to_string(),
    ]
}

/// The folder of a host's temporary files.
pub(super) fn tmp(folder: &Path, name: &str) -> PathBuf {
    folder.join("tmp").join(name)
}

fn config_of(folder: &Path, host: &Host) -> PathBuf {
    folder.join(format!("{}.sshd", host.name))
}

fn program(name: &str) -> Outcome<PathBuf> {
    find_program(name)
        .ok_or_else(|| format!("there is no {name}; `cargo xtask setup --for test` unpacks one"))
}
