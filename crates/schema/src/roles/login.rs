//! How a role logs in: compared nowhere, and used only where the role is created.

use super::Flavour;

/// How a role logs in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Login {
    /// Such as `IDENTIFIED BY 'x'` or `PASSWORD 'x'`, on one line; empty where nothing is stated.
    pub(crate) way: String,
    /// Rules for passwords, and comments, on one line (MySQL and MariaDB).
    pub(crate) rules: String,
    /// Whether the way holds a password or its hash.
    pub(crate) is_secret: bool,
    /// Whether anybody could log in: without a password, or with an empty one.
    pub(crate) is_open: bool,
}

impl Login {
    /// Takes over what a later statement states.
    pub(super) fn take(&mut self, later: Login) {
        let rules = [self.rules.as_str(), later.rules.as_str()].join(" ");
        let rules = rules.trim().to_owned();
        if !later.way.is_empty() {
            *self = later;
        }
        self.rules = rules;
    }

    /// Replaces a password by a random one, for users created from an export.
    pub(super) fn forget(&mut self, flavour: Flavour, is_user: bool) {
        if !self.is_secret && !self.is_open {
            return;
        }
        let chance = match flavour {
            Flavour::Mysql if is_user => "IDENTIFIED BY RANDOM PASSWORD",
            Flavour::MariaDb if is_user => "IDENTIFIED VIA mysql_native_password USING 'invalid'",
            _ => "",
        };
        chance.clone_into(&mut self.way);
        self.is_secret = false;
        self.is_open = false;
    }
}
