//! The YAML of `--config` and `--config-inline`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::flags::ConfigText;

/// All keys of the configuration; an unknown key is an error.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Config {
    pub(super) enable_drop: Option<bool>,
    pub(super) target_tables: Option<String>,
    pub(super) skip_tables: Option<String>,
    pub(super) skip_views: Option<String>,
    pub(super) target_schema: Option<String>,
    /// Behind every `ALTER TABLE` (MySQL).
    pub(super) algorithm: Option<String>,
    /// Behind every `ALTER TABLE` (MySQL).
    pub(super) lock: Option<String>,
    /// Connections for reading at the same time; 0: any number.
    pub(super) dump_concurrency: Option<usize>,
    pub(super) bulk_alter: Option<bool>,
    pub(super) managed_roles: Option<Vec<String>>,
    pub(super) create_index_concurrently: Option<bool>,
    pub(super) disable_ddl_transaction: Option<bool>,
    pub(super) legacy_ignore_quotes: Option<bool>,
    /// Rules by kind of object; the first match wins.
    pub(super) manage: Option<BTreeMap<ManagedKind, Vec<Rule>>>,
}

/// Kinds allowed in `manage`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub(super) enum ManagedKind {
    Schema,
    Table,
    View,
    MaterializedView,
    Index,
    Function,
    Procedure,
    Trigger,
    Sequence,
    Type,
    Domain,
    Policy,
    Extension,
    Privilege,
}

/// Managed objects of a kind, with the permission to drop.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Rule {
    /// A regular expression for the whole name; without one every object fits.
    pub(super) target: Option<String>,
    pub(super) drop: bool,
}

/// Reads all parts; later ones win, key by key.
pub(super) fn read(parts: &[ConfigText]) -> Result<Config, String> {
    parts.iter().try_fold(Config::default(), |config, part| {
        let (name, text) = match part {
            ConfigText::Inline(text) => ("--config-inline", text.clone()),
            ConfigText::File(path) => {
                let text = std::fs::read_to_string(path);
                let text = text.map_err(|error| format!("cannot read {path}: {error}"))?;
                (path.as_str(), text)
            }
        };
        if text.trim().is_empty() {
            return Ok(config);
        }
        let part: Config = serde_yaml_ng::from_str(&text)
            .map_err(|error| format!("cannot use {name}: {error}"))?;
        Ok(config.overridden_by(part))
    })
}

impl Config {
    fn overridden_by(self, later: Config) -> Config {
        Config {
            enable_drop: later.enable_drop.or(self.enable_drop),
            target_tables: later.target_tables.or(self.target_tables),
            skip_tables: later.skip_tables.or(self.skip_tables),
            skip_views: later.skip_views.or(self.skip_views),
            target_schema: later.target_schema.or(self.target_schema),
            algorithm: later.algorithm.or(self.algorithm),
            lock: later.lock.or(self.lock),
            dump_concurrency: later.dump_concurrency.or(self.dump_concurrency),
            bulk_alter: later.bulk_alter.or(self.bulk_alter),
            managed_roles: later.managed_roles.or(self.managed_roles),
            create_index_concurrently: later
                .create_index_concurrently
                .or(self.create_index_concurrently),
            disable_ddl_transaction: later
                .disable_ddl_transaction
                .or(self.disable_ddl_transaction),
            legacy_ignore_quotes: later.legacy_ignore_quotes.or(self.legacy_ignore_quotes),
            manage: later.manage.or(self.manage),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inline(texts: &[&str]) -> Result<Config, String> {
        let parts: Vec<ConfigText> = texts
            .iter()
            .map(|text| ConfigText::Inline((*text).to_owned()))
            .collect();
        read(&parts)
    }

    #[test]
    fn later_parts_win_key_by_key() {
        let config = inline(&["lock: NONE\nenable_drop: true", "", "lock: SHARED"]).unwrap();
        assert_eq!(config.lock.as_deref(), Some("SHARED"));
        assert_eq!(config.enable_drop, Some(true));
    }

    #[test]
    fn every_key_is_known_and_no_other() {
        let all = "target_tables: |\n  users\n  posts_\\d+\nskip_tables: a\nskip_views: b\ntarget_schema: app\n\
             algorithm: INPLACE\ndump_concurrency: 4\nbulk_alter: true\nmanaged_roles: [reader]\n\
             create_index_concurrently: true\ndisable_ddl_transaction: true\nlegacy_ignore_quotes: false\n\
             manage:\n  function:\n    - target: f_.*\n      drop: true\n  materialized_view: [{drop: false}]\n";
        let config = inline(&[all]).unwrap();
        assert_eq!(config.target_tables.as_deref(), Some("users\nposts_\\d+\n"));
        assert!(config.manage.unwrap()[&ManagedKind::Function][0].drop);
        for wrong in [
            "skip_table: a",
            "manage: {nonsense: []}",
            "manage: {type: [{regex: a}]}",
            "lock: [",
        ] {
            assert!(inline(&[wrong]).is_err(), "{wrong}");
        }
    }
}
