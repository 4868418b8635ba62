//! Hosts, and the program started on each.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use sha2::{Digest, Sha256};

/// A host to reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Name of the host on pages and in messages.
    pub name: String,
    /// Address of the host, as `ssh` takes one: a name of `~/.ssh/config`, `user@host`, or
    /// `ssh://user@host:port`.
    pub ssh: String,
    /// Config file in place of `~/.ssh/config`, such as the output of `vagrant ssh-config`.
    pub config: Option<PathBuf>,
    /// Whether the program runs there as root, through `sudo -n`.
    pub sudo: bool,
}

impl Host {
    /// Returns a host with a name for people and an address for `ssh`.
    pub fn new(name: &str, ssh: &str) -> Host {
        Host {
            name: name.to_owned(),
            ssh: ssh.to_owned(),
            config: None,
            sudo: false,
        }
    }
}

/// Program copied to hosts, read once for all.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) bytes: Arc<[u8]>,
    /// SHA-256, in hexadecimal.
    pub(crate) hash: String,
    /// Architecture of the program, as named by `uname -m`.
    pub(crate) architecture: String,
}

impl Program {
    /// Reads the running program.
    ///
    /// # Errors
    /// What the file says.
    pub fn own() -> io::Result<Program> {
        Program::read(Path::new("/proc/self/exe"))
    }

    /// Reads a program, such as Hakaru's build for another architecture.
    ///
    /// # Errors
    /// What the file says, and a file that is no program of Linux on a known architecture.
    pub fn read(path: &Path) -> io::Result<Program> {
        Program::of(fs::read(path)?, &path.display().to_string())
    }

    /// Returns a program of the given bytes, under a name for messages.
    ///
    /// # Errors
    /// The bytes are no program of Linux on a known architecture.
    pub fn of(bytes: Vec<u8>, name: &str) -> io::Result<Program> {
        let architecture = architecture(&bytes).ok_or_else(|| {
            let why = format!("{name} is no program for Linux on x86_64 or aarch64");
            io::Error::new(io::ErrorKind::InvalidData, why)
        })?;
        let hash = Sha256::digest(&bytes);
        Ok(Program {
            hash: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
            architecture: architecture.to_owned(),
            bytes: bytes.into(),
        })
    }

    /// Returns the architecture of the program, as named by `uname -m`.
    pub fn architecture(&self) -> &str {
        &self.architecture
    }
}

/// Returns the machine in a program's head (elf(5)); only little-endian ones.
fn architecture(program: &[u8]) -> Option<&'static str> {
    const LITTLE_ENDIAN_64: [u8; 6] = [0x7f, b'E', b'L', b'F', 2, 1];
    if !program.starts_with(&LITTLE_ENDIAN_64) {
        return None;
    }
    match program.get(18..20)? {
        [0x3e, 0] => Some("x86_64"),
        [0xb7, 0] => Some("aarch64"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_architecture_is_read_from_the_program_itself() {
        let own = Program::own().expect("this program");
        assert_eq!(own.architecture(), std::env::consts::ARCH);
        assert_eq!(own.hash.len(), 64);
        let mut head = own.bytes[..64].to_vec();
        head[18] = 0xb7;
        assert_eq!(architecture(&head), Some("aarch64"));
        head[18] = 0x28;
        assert_eq!(architecture(&head), None);
        assert_eq!(architecture(b"#!/bin/sh\n"), None);
    }
}
