//! The tables `[[host]]`: where the app's parts run.

use std::path::{Path, PathBuf};

use remote::Program;
use serde::Deserialize;

use crate::exit::{Exit, Failure};

/// A host, as typed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Host {
    pub(crate) name: String,
    pub(crate) ssh: Option<String>,
    #[serde(default, deserialize_with = "super::one_or_many")]
    pub(crate) roles: Vec<String>,
    #[serde(default, deserialize_with = "super::one_or_many")]
    pub(crate) logs: Vec<String>,
    pub(crate) log_format: Option<String>,
    #[serde(default, deserialize_with = "super::one_or_many")]
    pub(crate) units: Vec<String>,
    pub(crate) database: Option<collect::message::Address>,
    pub(crate) rings: Option<String>,
    #[serde(default)]
    pub(crate) sudo: bool,
    pub(crate) ssh_config: Option<PathBuf>,
    pub(crate) program: Option<PathBuf>,
}

impl Host {
    /// Returns a host resolved by `ssh`.
    pub(crate) fn new(name: &str) -> Host {
        Host {
            name: name.to_owned(),
            ..Host::default()
        }
    }

    /// Returns the host for connections; paths are relative to the config file's folder.
    pub(crate) fn remote(&self, folder: &Path) -> remote::Host {
        let ssh = self.ssh.as_deref().unwrap_or(&self.name);
        remote::Host {
            config: self.ssh_config.as_ref().map(|path| folder.join(path)),
            sudo: self.sudo,
            ..remote::Host::new(&self.name, ssh)
        }
    }

    /// Returns what to collect of the host.
    pub(crate) fn wanted(&self) -> collect::message::Begin {
        collect::message::Begin {
            logs: self.logs.clone(),
            units: self.units.clone(),
            database: self.database.clone(),
            rings: self.rings.clone(),
        }
    }

    /// Returns the program to copy to the host: the configured one, or `own`.
    ///
    /// # Errors
    /// [`Exit::Usage`] when the file cannot be read or is no program.
    pub(crate) fn program(&self, folder: &Path, own: &Program) -> Result<Program, Failure> {
        let Some(path) = &self.program else {
            return Ok(own.clone());
        };
        let path = folder.join(path);
        Program::read(&path).map_err(|error| {
            let name = &self.name;
            Failure::new(
                Exit::Usage,
                format!("host {name}: program {}: {error}", path.display()),
            )
        })
    }
}
