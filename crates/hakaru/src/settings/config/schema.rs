//! The section `[schema]`: what `hakaru schema` compares, in each environment.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Common keys, and the keys of environments.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Schema {
    pub(crate) place: Option<String>,
    pub(crate) to: Option<String>,
    pub(crate) dialect: Option<String>,
    pub(crate) include: Vec<String>,
    pub(crate) exclude: Vec<String>,
    pub(crate) allow: Vec<String>,
    pub(crate) allow_unseen: bool,
    pub(crate) online_command: Option<String>,
    pub(crate) managed_roles: Vec<String>,
    pub(crate) roles: Vec<String>,
    pub(crate) lint_ignore: Vec<String>,
    pub(crate) environments: BTreeMap<String, Environment>,
}

/// One environment: places override the common ones, lists are appended to the common lists.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Environment {
    pub(crate) place: Option<String>,
    pub(crate) to: Option<String>,
    pub(crate) dialect: Option<String>,
    pub(crate) include: Vec<String>,
    pub(crate) exclude: Vec<String>,
    pub(crate) allow: Vec<String>,
    pub(crate) allow_unseen: Option<bool>,
    pub(crate) online_command: Option<String>,
    pub(crate) managed_roles: Vec<String>,
    pub(crate) roles: Vec<String>,
    pub(crate) lint_ignore: Vec<String>,
}

impl Schema {
    /// Returns the keys of an environment; the names of all environments, when the name is unknown.
    pub(crate) fn of(mut self, environment: Option<&str>) -> Result<Schema, Vec<String>> {
        let Some(name) = environment else {
            return Ok(self);
        };
        let Some(own) = self.environments.remove(name) else {
            return Err(self.environments.into_keys().collect());
        };
        self.place = own.place.or(self.place);
        self.to = own.to.or(self.to);
        self.dialect = own.dialect.or(self.dialect);
        self.online_command = own.online_command.or(self.online_command);
        self.allow_unseen = own.allow_unseen.unwrap_or(self.allow_unseen);
        for (all, own) in [
            (&mut self.include, own.include),
            (&mut self.exclude, own.exclude),
            (&mut self.allow, own.allow),
            (&mut self.managed_roles, own.managed_roles),
            (&mut self.roles, own.roles),
            (&mut self.lint_ignore, own.lint_ignore),
        ] {
            all.extend(own);
        }
        Ok(self)
    }
}
