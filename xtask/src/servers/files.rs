//! Files of a database server for a start elsewhere, such as in a namespace.

use std::fs;
use std::path::{Path, PathBuf};

use super::place::{Home, Place};
use super::{make_mariadb, mysql_arguments};
use crate::run::Outcome;
use crate::setup::roots;

/// Files of a MariaDB with an empty database `hakaru`, removed by a drop.
pub(crate) struct MariadbFiles {
    /// Words of the command for a start of the server.
    pub(crate) command: Vec<String>,
    home: Home,
}

impl MariadbFiles {
    /// Makes the files of a server for all addresses, with options after the usual ones; the user
    /// `hakaru` may come from any host.
    pub(crate) fn new(port: u16, options: &[&str]) -> Outcome<MariadbFiles> {
        let place = Place::machine_or(Place::Machine.has_mariadb(), &roots::BOOKWORM_MARIADB)?;
        let (home, daemon) = make_mariadb(&place)?;
        let mut arguments = mysql_arguments(&home, port)?;
        let first = home.folder.join("first.sql");
        let statements = fs::read_to_string(&first)
            .map_err(|error| format!("cannot read {}: {error}", first.display()))?;
        crate::run::write(&first, &statements.replace("@'127.0.0.1'", "@'%'"))?;
        arguments.push("--bind-address=0.0.0.0".to_owned());
        arguments.extend(options.iter().map(|option| (*option).to_owned()));
        let mut server = place.command(&daemon, &home);
        server.args(arguments);
        let words = std::iter::once(server.get_program()).chain(server.get_args());
        let words = words.map(|word| word.to_string_lossy().into_owned());
        Ok(MariadbFiles {
            command: words.collect(),
            home,
        })
    }

    /// Returns a path in the server's folder, as seen from outside and by the server.
    pub(crate) fn path(&self, name: &str) -> (PathBuf, PathBuf) {
        (self.home.folder.join(name), self.home.inside.join(name))
    }

    /// Returns the server's folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.home.folder
    }
}

impl Drop for MariadbFiles {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.home.folder);
    }
}
