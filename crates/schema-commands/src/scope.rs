//! Which objects are looked at: what flags and `hakaru.toml` include and exclude, and what a file
//! of Rails cannot speak of.

use rails_schema::Said;
use regex::Regex;
use schema::{Object, ObjectKind};
use serde::{Deserialize, Serialize};

use ending::{Cause, Failure};

/// Kinds with an owning table, included with the table unless named themselves.
const PARTS: [ObjectKind; 6] = [
    ObjectKind::Index,
    ObjectKind::Constraint,
    ObjectKind::Trigger,
    ObjectKind::Column,
    ObjectKind::Policy,
    ObjectKind::Partition,
];

/// Kinds in a `schema.rb`.
const RAILS: [ObjectKind; 7] = [
    ObjectKind::Table,
    ObjectKind::Partition,
    ObjectKind::Index,
    ObjectKind::Constraint,
    ObjectKind::Type,
    ObjectKind::Extension,
    ObjectKind::Schema,
];

/// Scope as typed; also stored in a plan.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(default)]
pub(super) struct Scope {
    /// `[KIND:]GLOB`; nothing for everything.
    pub(super) include: Vec<String>,
    pub(super) exclude: Vec<String>,
    /// The only compared kinds; empty for all.
    pub(super) kinds: Vec<String>,
    /// The only schemas beside the default one; nothing for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) schemas: Option<Vec<String>>,
    /// The order of columns is not looked at.
    pub(super) any_column_order: bool,
}

/// A compiled pattern.
pub(super) struct Pattern {
    kind: Option<String>,
    glob: Regex,
    has_schema: bool,
}

/// A compiled scope.
pub(super) struct Ready {
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
    kinds: Vec<String>,
    schemas: Option<Vec<String>>,
    pub(super) any_column_order: bool,
    default_schema: String,
}

impl Ready {
    /// Whether one side is a file of Rails.
    pub(super) fn is_outline(&self) -> bool {
        !self.kinds.is_empty()
    }
}

impl Scope {
    /// Whether nothing is left out.
    pub(super) fn is_all(&self) -> bool {
        *self == Scope::default()
    }

    /// Excludes everything a file of Rails does not describe, and ActiveRecord's own tables.
    pub(super) fn narrow(&mut self, said: &Said) {
        let mut kinds = RAILS.to_vec();
        if said.views {
            kinds.extend([ObjectKind::View, ObjectKind::MaterializedView]);
        }
        if said.programs {
            kinds.extend([
                ObjectKind::Function,
                ObjectKind::Procedure,
                ObjectKind::Trigger,
                ObjectKind::Event,
                ObjectKind::Sequence,
            ]);
        }
        let words = kinds.into_iter().map(|kind| kind.word().to_owned());
        self.kinds = words.collect();
        self.schemas = Some(said.schemas.clone());
        self.any_column_order = said.is_unordered;
        let internal = rails_schema::INTERNAL_TABLES.iter();
        self.exclude
            .extend(internal.map(|name| format!("table:{name}")));
    }

    /// Reads the patterns; `default_schema` is where names without a schema are (PostgreSQL).
    pub(super) fn ready(&self, default_schema: Option<&str>) -> Result<Ready, Failure> {
        let patterns = |texts: &[String]| {
            texts
                .iter()
                .map(|text| pattern(text))
                .collect::<Result<_, _>>()
        };
        Ok(Ready {
            include: patterns(&self.include)?,
            exclude: patterns(&self.exclude)?,
            kinds: self.kinds.clone(),
            schemas: self.schemas.clone(),
            any_column_order: self.any_column_order,
            default_schema: default_schema.unwrap_or("public").to_owned(),
        })
    }
}

/// Reads `[KIND:]GLOB`.
pub(super) fn pattern(text: &str) -> Result<Pattern, Failure> {
    let (kind, glob) = match text.split_once(':') {
        Some((kind, glob)) => (Some(kind.replace('-', " ")), glob),
        None => (None, text),
    };
    let has_schema = glob.contains('.');
    let regex = Regex::new(&as_regex(glob))
        .map_err(|error| Failure::new(Cause::Usage, format!("{text} is not a pattern: {error}")))?;
    Ok(Pattern {
        kind,
        glob: regex,
        has_schema,
    })
}

/// Translates a glob: `*` any letters, `?` one, `[…]` one of the listed.
fn as_regex(glob: &str) -> String {
    let mut regex = String::from("^(?s:");
    let mut is_inside = false;
    for letter in glob.chars() {
        match letter {
            '[' | ']' => {
                is_inside = letter == '[';
                regex.push(letter);
            }
            '-' if is_inside => regex.push(letter),
            '*' if !is_inside => regex.push_str(".*"),
            '?' if !is_inside => regex.push('.'),
            other => regex.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    regex + ")$"
}

impl Pattern {
    fn is_of(&self, kind: &str) -> bool {
        let is = |own: &String| own == kind || (own == "view" && kind == "materialized view");
        self.kind.as_ref().is_none_or(is)
    }

    /// Whether a name matches without changes.
    pub(super) fn is_match(&self, name: &str) -> bool {
        self.glob.is_match(name)
    }

    /// Whether a name matches. A name without its schema is in the default one; a pattern without a
    /// schema is for all schemas.
    fn fits(&self, name: &str, default_schema: &str) -> bool {
        match (self.has_schema, name.split_once('.')) {
            (true, None) => {
                self.glob.is_match(name) || self.glob.is_match(&format!("{default_schema}.{name}"))
            }
            (false, Some((_, bare))) => self.glob.is_match(bare) || self.glob.is_match(name),
            _ => self.glob.is_match(name),
        }
    }
}

impl Ready {
    /// Whether an object is looked at.
    pub(super) fn keeps(&self, object: &Object) -> bool {
        self.keeps_named(object.kind, &object.name)
    }

    /// Whether an object outside the comparison is worth a notice: neither excluded nor outside of
    /// `include`.
    pub(super) fn asks_for(&self, kind: &str, name: &str) -> bool {
        let fits = |pattern: &Pattern| {
            pattern.is_of(&kind.replace('-', " ")) && pattern.fits(name, &self.default_schema)
        };
        (self.include.is_empty() || self.include.iter().any(fits)) && !self.exclude.iter().any(fits)
    }

    fn is_schema_known(&self, kind: ObjectKind, name: &str) -> bool {
        match (&self.schemas, name.split_once('.')) {
            (Some(schemas), Some((schema, _))) if !PARTS.contains(&kind) => {
                schemas.iter().any(|known| known == schema)
            }
            _ => true,
        }
    }

    /// Whether an object is compared, by kind and name.
    fn keeps_named(&self, kind: ObjectKind, name: &str) -> bool {
        let is_part = PARTS.contains(&kind);
        let is_schema_known = self.is_schema_known(kind, name);
        let kind = kind.word().replace('-', " ");
        let fits =
            |pattern: &&Pattern| pattern.is_of(&kind) && pattern.fits(name, &self.default_schema);
        let is_named = |pattern: &Pattern| pattern.kind.as_deref() == Some(&kind);
        let is_free = self.include.is_empty() || (is_part && !self.include.iter().any(is_named));
        let is_known = self.kinds.is_empty() || self.kinds.contains(&kind);
        is_known
            && is_schema_known
            && (is_free || self.include.iter().any(|pattern| fits(&pattern)))
            && !self.exclude.iter().any(|pattern| fits(&pattern))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(include: &[&str], exclude: &[&str], kind: ObjectKind, name: &str, expected: bool) {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let scope = Scope {
            include: texts(include),
            exclude: texts(exclude),
            ..Scope::default()
        };
        let object = Object {
            kind,
            name: name.to_owned(),
        };
        let ready = scope.ready(None).unwrap();
        assert_eq!(
            ready.keeps(&object),
            expected,
            "{include:?} {exclude:?} {kind} {name}"
        );
    }

    #[test]
    fn patterns_are_by_kind_schema_and_name() {
        check(&[], &[], ObjectKind::Table, "a", true);
        check(
            &[],
            &["schema_migrations"],
            ObjectKind::Table,
            "schema_migrations",
            false,
        );
        check(
            &[],
            &["schema_migrations"],
            ObjectKind::Table,
            "app.schema_migrations",
            false,
        );
        check(&[], &["table:a*"], ObjectKind::View, "abc", true);
        check(&[], &["table:a*"], ObjectKind::Table, "abc", false);
        check(
            &[],
            &["partman.*"],
            ObjectKind::Table,
            "partman.part_config",
            false,
        );
        check(&[], &["partman.*"], ObjectKind::Table, "partman", true);
        check(&[], &["public.a"], ObjectKind::Table, "a", false);
        check(
            &[],
            &["table:events_p[0-9]*"],
            ObjectKind::Table,
            "events_p2024",
            false,
        );
        check(
            &[],
            &["table:events_p[0-9]*"],
            ObjectKind::Table,
            "events_pending",
            true,
        );
        check(&["app_*"], &[], ObjectKind::Table, "app_users", true);
        check(&["app_*"], &[], ObjectKind::Table, "users", false);
        check(&["app_*"], &[], ObjectKind::Index, "by_name", true);
        check(&["index:app_*"], &[], ObjectKind::Index, "by_name", false);
        check(
            &["app_*"],
            &["app_tmp"],
            ObjectKind::Table,
            "app_tmp",
            false,
        );
        check(
            &[],
            &["materialized-view:m"],
            ObjectKind::MaterializedView,
            "m",
            false,
        );
        check(&[], &["view:m"], ObjectKind::MaterializedView, "m", false);
        check(&[], &["a.b"], ObjectKind::Table, "aXb", true);
    }

    #[test]
    fn a_file_of_rails_speaks_of_tables_only() {
        let mut scope = Scope::default();
        scope.narrow(&Said::default());
        let ready = scope.ready(None).unwrap();
        assert!(
            ready.keeps_named(ObjectKind::Table, "users")
                && ready.keeps_named(ObjectKind::Index, "i")
        );
        assert!(
            !ready.keeps_named(ObjectKind::View, "v")
                && !ready.keeps_named(ObjectKind::Trigger, "t")
        );
        assert!(!ready.keeps_named(ObjectKind::Table, "schema_migrations"));
    }
}
