//! Objects excluded by flags and configuration, and objects allowed to be dropped.

use std::collections::BTreeMap;

use regex::Regex;
use schema::{Allowed, Object, ObjectKind, Plan, Statement};

use super::config::{Config, ManagedKind, Rule};
use super::flags::Flags;
use schema_commands::permission;

/// Which objects are looked at.
#[derive(Debug)]
pub(super) struct Scope {
    /// The schema of a name without one (PostgreSQL).
    default_schema: Option<String>,
    target_tables: Vec<Regex>,
    skip_tables: Vec<Regex>,
    skip_views: Vec<Regex>,
    target_schema: Vec<Regex>,
    skips_views: bool,
    skips_extensions: bool,
    skips_partitions: bool,
    enable_drop: bool,
    manage: BTreeMap<ManagedKind, Vec<(Regex, bool)>>,
}

impl Scope {
    /// `default_schema` is `None` where names have no schema.
    pub(super) fn new(
        flags: &Flags,
        config: &Config,
        default_schema: Option<String>,
    ) -> Result<Scope, String> {
        let mut manage = BTreeMap::new();
        for (kind, rules) in config.manage.iter().flatten() {
            manage.insert(*kind, rules.iter().map(rule).collect::<Result<_, _>>()?);
        }
        Ok(Scope {
            default_schema,
            target_tables: patterns(config.target_tables.as_deref())?,
            skip_tables: patterns(config.skip_tables.as_deref())?,
            skip_views: patterns(config.skip_views.as_deref())?,
            target_schema: patterns(config.target_schema.as_deref())?,
            skips_views: flags.skip_view,
            skips_extensions: flags.skip_extension,
            skips_partitions: flags.skip_partition,
            enable_drop: flags.enable_drop || config.enable_drop == Some(true),
            manage,
        })
    }

    /// Whether an object is looked at.
    pub(super) fn keeps(&self, object: &Object) -> bool {
        let is = |patterns: &[Regex]| self.is_named(patterns, &object.name);
        let by_kind = match object.kind {
            ObjectKind::Table => {
                (self.target_tables.is_empty() || is(&self.target_tables)) && !is(&self.skip_tables)
            }
            ObjectKind::View | ObjectKind::MaterializedView => {
                !self.skips_views && !is(&self.skip_views)
            }
            ObjectKind::Extension => !self.skips_extensions,
            ObjectKind::Partition => !self.skips_partitions,
            _ => true,
        };
        let is_managed = match managed_kind(object.kind).and_then(|kind| self.manage.get(&kind)) {
            Some(rules) => self.rule_for(rules, &object.name).is_some(),
            None => true,
        };
        by_kind && is_managed && self.is_in_schema(object)
    }

    /// Whether drops are allowed where no rule says otherwise.
    pub(super) fn drops(&self) -> bool {
        self.enable_drop
    }

    /// Holds back what may not be dropped.
    pub(super) fn hold_back(&self, plan: &mut Plan) {
        let destructive = plan.statements.iter().filter(|each| each.is_destructive());
        let named = destructive
            .filter(|each| self.may_drop(each))
            .map(permission);
        let allowed = Allowed {
            all: false,
            named: named.collect(),
        };
        plan.hold_back(&allowed);
    }

    fn may_drop(&self, statement: &Statement) -> bool {
        let Object { kind, name } = &statement.object;
        let rules = managed_kind(*kind).and_then(|kind| self.manage.get(&kind));
        let rule = rules.and_then(|rules| self.rule_for(rules, name));
        rule.unwrap_or(self.enable_drop)
    }

    fn rule_for(&self, rules: &[(Regex, bool)], name: &str) -> Option<bool> {
        let fits = |rule: &&(Regex, bool)| self.is_named(std::slice::from_ref(&rule.0), name);
        rules.iter().find(fits).map(|(_, drop)| *drop)
    }

    /// On PostgreSQL patterns are for `schema.name`; the name alone fits too.
    fn is_named(&self, patterns: &[Regex], name: &str) -> bool {
        let qualified = match &self.default_schema {
            Some(schema) if !name.contains('.') => Some(format!("{schema}.{name}")),
            _ => None,
        };
        let fits = |name: &str| patterns.iter().any(|pattern| pattern.is_match(name));
        fits(name) || qualified.is_some_and(|name| fits(&name))
    }

    fn is_in_schema(&self, object: &Object) -> bool {
        let Some(default) = &self.default_schema else {
            return true;
        };
        if self.target_schema.is_empty()
            || matches!(
                object.kind,
                ObjectKind::Extension
                    | ObjectKind::Privilege
                    | ObjectKind::Index
                    | ObjectKind::Trigger
                    | ObjectKind::Policy
            )
        {
            return true;
        }
        let schema = match (object.kind, object.name.split_once('.')) {
            (ObjectKind::Schema, _) => &object.name,
            (_, Some((schema, _))) => schema,
            (_, None) => default,
        };
        self.target_schema
            .iter()
            .any(|pattern| pattern.is_match(schema))
    }
}

/// One pattern a line.
fn patterns(lines: Option<&str>) -> Result<Vec<Regex>, String> {
    let lines = lines.unwrap_or_default().lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).map(whole).collect()
}

fn rule(rule: &Rule) -> Result<(Regex, bool), String> {
    let target = rule.target.as_deref().unwrap_or(".*");
    Ok((whole(target)?, rule.drop))
}

/// For the whole name.
fn whole(pattern: &str) -> Result<Regex, String> {
    Regex::new(&format!("^(?:{pattern})$"))
        .map_err(|error| format!("`{pattern}` in the configuration is no pattern: {error}"))
}

fn managed_kind(kind: ObjectKind) -> Option<ManagedKind> {
    Some(match kind {
        ObjectKind::Schema => ManagedKind::Schema,
        ObjectKind::Table | ObjectKind::Column => ManagedKind::Table,
        ObjectKind::View => ManagedKind::View,
        ObjectKind::MaterializedView => ManagedKind::MaterializedView,
        ObjectKind::Index => ManagedKind::Index,
        ObjectKind::Function => ManagedKind::Function,
        ObjectKind::Procedure => ManagedKind::Procedure,
        ObjectKind::Trigger => ManagedKind::Trigger,
        ObjectKind::Sequence => ManagedKind::Sequence,
        ObjectKind::Type | ObjectKind::EnumValue => ManagedKind::Type,
        ObjectKind::Domain => ManagedKind::Domain,
        ObjectKind::Policy => ManagedKind::Policy,
        ObjectKind::Extension => ManagedKind::Extension,
        ObjectKind::Privilege => ManagedKind::Privilege,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(yaml: &str, default_schema: Option<&str>) -> Scope {
        let config: Config = serde_yaml_ng::from_str(yaml).unwrap();
        Scope::new(
            &Flags::default(),
            &config,
            default_schema.map(str::to_owned),
        )
        .unwrap()
    }

    fn keeps(scope: &Scope, kind: ObjectKind, name: &str) -> bool {
        let name = name.to_owned();
        scope.keeps(&Object { kind, name })
    }

    #[test]
    fn patterns_are_for_whole_names() {
        let scope = scope(
            "target_tables: |\n  users\n  log_\\d+\nskip_tables: log_9",
            None,
        );
        assert!(keeps(&scope, ObjectKind::Table, "users"));
        assert!(keeps(&scope, ObjectKind::Table, "log_12"));
        assert!(!keeps(&scope, ObjectKind::Table, "log_9"));
        assert!(!keeps(&scope, ObjectKind::Table, "old_users"));
        assert!(keeps(&scope, ObjectKind::View, "anything"));
    }

    #[test]
    fn with_schemas_patterns_are_for_qualified_names() {
        let scope = scope(
            "target_tables: public\\.users\ntarget_schema: public",
            Some("public"),
        );
        assert!(keeps(&scope, ObjectKind::Table, "users"));
        assert!(keeps(&scope, ObjectKind::Table, "public.users"));
        assert!(!keeps(&scope, ObjectKind::Table, "app.users"));
        assert!(!keeps(&scope, ObjectKind::View, "app.v"));
        assert!(keeps(&scope, ObjectKind::Extension, "citext"));
    }

    #[test]
    fn the_first_fitting_rule_says_what_may_be_dropped() {
        let scope = scope(
            "enable_drop: true\nmanage: {function: [{target: keep_.*}, {target: f_.*, drop: true}]}",
            Some("public"),
        );
        assert!(keeps(&scope, ObjectKind::Function, "keep_a"));
        assert!(!keeps(&scope, ObjectKind::Function, "other"));
        let may_drop = |kind: ObjectKind, name: &str| {
            scope.may_drop(&Statement {
                sql: String::new(),
                object: Object {
                    kind,
                    name: name.to_owned(),
                },
                hazards: Vec::new(),
                verb: schema::Verb::Drop,
                unasked: false,
                needs: Vec::new(),
                held_back: None,
                online: schema::plan::Online::default(),
            })
        };
        assert!(!may_drop(ObjectKind::Function, "keep_a"));
        assert!(may_drop(ObjectKind::Function, "f_a"));
        assert!(may_drop(ObjectKind::Table, "t"));
    }
}
