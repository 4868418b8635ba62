//! Privileges on the database and its contents.

use std::collections::BTreeSet;

use crate::ObjectKind;

/// Object of privileges.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Granted {
    /// A table (also for views and sequences), procedure, function, package or package's body;
    /// `None` for the database itself.
    pub kind: Option<ObjectKind>,
    /// Name of the object; empty for the database.
    pub name: String,
}

/// One user's or role's privileges on one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// What the privileges are on.
    pub on: Granted,
    /// `` `user`@`host` ``, or `` `role` ``.
    pub grantee: String,
    /// In upper case, one for each column where limited to some.
    pub privileges: BTreeSet<String>,
    /// Whether the grantee has the grant option.
    pub is_grantable: bool,
}

impl Grant {
    /// Whether the grantee is called so: `user` or `user@host`.
    pub fn is_of(&self, role: &str) -> bool {
        let plain = self.grantee.replace('`', "");
        plain == role || plain.split('@').next() == Some(role)
    }
}
