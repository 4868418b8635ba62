//! Objects compared by words: all kinds, the identity within a kind, and the stage of creation.
//!
//! What a separate statement adds to such an object, or to a table (a table of a publication, the
//! state of a rule), is an object too: a *setting*, with a statement that takes it back.

mod change;
mod foreign;
mod norm;
mod options;
mod published;
mod reader;
mod settings;
#[cfg(test)]
mod tests;
mod words;

use super::listed::Listed;
use super::model::{Kept, Meta};
use super::name::Name;
use crate::ObjectKind;
use norm::norm_of;
use reader::{Identity, Reader};

pub(crate) use change::{attributes_of, changes, moved};
pub(crate) use norm::{calls_publisher, has_copy};
pub(crate) use words::Words;

/// When objects of a kind are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Before types and tables.
    Early,
    /// Among types, functions and tables, each after all objects mentioned.
    Among,
    /// When tables and views are there.
    Late,
}

/// What an object's identity is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// A name unique in the whole database.
    Global,
    /// A name in a schema.
    InSchema,
    /// A base type: a name, then options.
    Base,
    /// A composite type: a name, then `AS (`.
    Composite,
    /// A range type: a name, then `AS RANGE`.
    Range,
    /// A name and argument types.
    Call,
    /// An operator and the types of both operands.
    Operator,
    /// A name in a schema, and an access method.
    OfMethod,
    /// Two types.
    Cast,
    /// A name on a table.
    Rule,
    /// A role and a server.
    Mapping,
    /// A type and a language.
    Transform,
    /// A setting, which no `CREATE` makes.
    Setting,
}

/// A kind of object.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Words in `CREATE`, `DROP` and `COMMENT ON`.
    pub(crate) words: &'static str,
    /// Kind as named in plans.
    pub(crate) kind: ObjectKind,
    pub(crate) stage: Stage,
    shape: Shape,
}

const fn kind(words: &'static str, kind: ObjectKind, stage: Stage, shape: Shape) -> Kind {
    Kind {
        words,
        kind,
        stage,
        shape,
    }
}

/// All kinds compared by words. Where one's words begin with another's, the longer ones come first.
static KINDS: [Kind; 44] = [
    kind(
        "COLLATION",
        ObjectKind::Collation,
        Stage::Early,
        Shape::InSchema,
    ),
    kind(
        "FOREIGN DATA WRAPPER",
        ObjectKind::ForeignDataWrapper,
        Stage::Among,
        Shape::Global,
    ),
    kind(
        "FOREIGN TABLE",
        ObjectKind::ForeignTable,
        Stage::Among,
        Shape::InSchema,
    ),
    kind(
        "",
        ObjectKind::ForeignColumnOptions,
        Stage::Late,
        Shape::Setting,
    ),
    kind(
        "",
        ObjectKind::ForeignPartition,
        Stage::Late,
        Shape::Setting,
    ),
    kind(
        "SERVER",
        ObjectKind::ForeignServer,
        Stage::Among,
        Shape::Global,
    ),
    kind(
        "USER MAPPING",
        ObjectKind::UserMapping,
        Stage::Among,
        Shape::Mapping,
    ),
    kind(
        "LANGUAGE",
        ObjectKind::Language,
        Stage::Among,
        Shape::Global,
    ),
    kind(
        "ACCESS METHOD",
        ObjectKind::AccessMethod,
        Stage::Among,
        Shape::Global,
    ),
    kind(
        "TEXT SEARCH PARSER",
        ObjectKind::TextSearchParser,
        Stage::Among,
        Shape::InSchema,
    ),
    kind(
        "TEXT SEARCH TEMPLATE",
        ObjectKind::TextSearchTemplate,
        Stage::Among,
        Shape::InSchema,
    ),
    kind(
        "TEXT SEARCH DICTIONARY",
        ObjectKind::TextSearchDictionary,
        Stage::Among,
        Shape::InSchema,
    ),
    kind(
        "TEXT SEARCH CONFIGURATION",
        ObjectKind::TextSearchConfiguration,
        Stage::Among,
        Shape::InSchema,
    ),
    kind(
        "",
        ObjectKind::TextSearchMapping,
        Stage::Among,
        Shape::Setting,
    ),
    kind("TYPE", ObjectKind::BaseType, Stage::Among, Shape::Base),
    kind(
        "TYPE",
        ObjectKind::CompositeType,
        Stage::Among,
        Shape::Composite,
    ),
    kind("TYPE", ObjectKind::RangeType, Stage::Among, Shape::Range),
    kind(
        "AGGREGATE",
        ObjectKind::Aggregate,
        Stage::Among,
        Shape::Call,
    ),
    kind(
        "OPERATOR FAMILY",
        ObjectKind::OperatorFamily,
        Stage::Among,
        Shape::OfMethod,
    ),
    kind(
        "OPERATOR CLASS",
        ObjectKind::OperatorClass,
        Stage::Among,
        Shape::OfMethod,
    ),
    kind(
        "",
        ObjectKind::OperatorFamilyMember,
        Stage::Among,
        Shape::Setting,
    ),
    kind(
        "OPERATOR",
        ObjectKind::Operator,
        Stage::Among,
        Shape::Operator,
    ),
    kind("CAST", ObjectKind::Cast, Stage::Among, Shape::Cast),
    kind(
        "CONVERSION",
        ObjectKind::Conversion,
        Stage::Among,
        Shape::InSchema,
    ),
    kind(
        "TRANSFORM",
        ObjectKind::Transform,
        Stage::Among,
        Shape::Transform,
    ),
    kind("RULE", ObjectKind::Rule, Stage::Late, Shape::Rule),
    kind("", ObjectKind::RuleState, Stage::Late, Shape::Setting),
    kind(
        "STATISTICS",
        ObjectKind::Statistics,
        Stage::Late,
        Shape::InSchema,
    ),
    kind(
        "",
        ObjectKind::StatisticsTarget,
        Stage::Late,
        Shape::Setting,
    ),
    kind("", ObjectKind::ColumnOption, Stage::Late, Shape::Setting),
    kind("", ObjectKind::Cluster, Stage::Late, Shape::Setting),
    kind(
        "",
        ObjectKind::AttributeComment,
        Stage::Late,
        Shape::Setting,
    ),
    kind(
        "PUBLICATION",
        ObjectKind::Publication,
        Stage::Late,
        Shape::Global,
    ),
    kind(
        "",
        ObjectKind::PublicationTable,
        Stage::Late,
        Shape::Setting,
    ),
    kind(
        "",
        ObjectKind::PublicationSchema,
        Stage::Late,
        Shape::Setting,
    ),
    kind(
        "SUBSCRIPTION",
        ObjectKind::Subscription,
        Stage::Late,
        Shape::Global,
    ),
    kind(
        "EVENT TRIGGER",
        ObjectKind::EventTrigger,
        Stage::Late,
        Shape::Global,
    ),
    kind(
        "",
        ObjectKind::EventTriggerState,
        Stage::Late,
        Shape::Setting,
    ),
    kind("", ObjectKind::SecurityLabel, Stage::Late, Shape::Setting),
    kind("", ObjectKind::ColumnDefault, Stage::Late, Shape::Setting),
    kind("", ObjectKind::TypedTable, Stage::Late, Shape::Setting),
    kind("", ObjectKind::ColumnStorage, Stage::Late, Shape::Setting),
    kind(
        "",
        ObjectKind::ColumnCompression,
        Stage::Late,
        Shape::Setting,
    ),
    kind("", ObjectKind::Tablespace, Stage::Late, Shape::Setting),
];

fn named(kind: ObjectKind) -> Option<&'static Kind> {
    KINDS.iter().find(|known| known.kind == kind)
}

/// Whether a plan's kind is compared by words.
pub(crate) fn is_kept(kind: ObjectKind) -> bool {
    named(kind).is_some()
}

/// Whether objects of the kind are made after tables and views.
pub(crate) fn is_late(kind: ObjectKind) -> bool {
    named(kind).is_some_and(|kind| kind.stage == Stage::Late)
}

impl Kind {
    /// Whether an object of the kind may go and come again without harm to others.
    pub(crate) fn is_free(&self) -> bool {
        matches!(
            self.kind,
            ObjectKind::Rule | ObjectKind::Statistics | ObjectKind::EventTrigger
        )
    }

    /// Whether a statement of its own takes an object of the kind back, and nothing is lost by it:
    /// states and settings of storage.
    pub(crate) fn is_state(&self) -> bool {
        self.shape == Shape::Setting
            && !matches!(
                self.kind,
                ObjectKind::TextSearchMapping
                    | ObjectKind::OperatorFamilyMember
                    | ObjectKind::ForeignPartition
                    | ObjectKind::PublicationTable
                    | ObjectKind::PublicationSchema
                    | ObjectKind::SecurityLabel
                    | ObjectKind::Tablespace
            )
    }
}

/// Kind and identity.
pub(crate) type Key = (ObjectKind, String);

/// An object as named in statements, possibly ambiguous in kind: composite types and ranges are
/// both types.
pub(crate) struct Named(&'static str, String);

impl Named {
    /// Key of the object among the existing ones.
    pub(crate) fn key(self, all: &Listed<Key, Kept>) -> Option<Key> {
        let kinds = KINDS.iter().filter(|kind| kind.words == self.0);
        let mut keys = kinds.map(|kind| (kind.kind, self.1.clone()));
        keys.find(|key| all.contains(key))
    }

    pub(crate) fn is_language(&self, name: &str) -> bool {
        self.0 == "LANGUAGE" && self.1 == name
    }
}

impl Kept {
    /// Whether the object is the bond between a table and a type.
    pub(crate) fn is_binding(&self) -> bool {
        self.kind.kind == ObjectKind::TypedTable
    }

    /// Whether the definition is short for `CREATE EXTENSION`: a language without a handler.
    pub(crate) fn is_extension(&self) -> bool {
        self.kind.kind == ObjectKind::Language && !self.norm.contains(" handler ")
    }
}

/// Effect of an otherwise opaque statement on a word-compared object.
pub(crate) enum Step {
    Made(Box<Kept>),
    Commented(Named, Option<String>),
    Owned(Named, String),
    Dropped(Named),
    /// A setting is taken back.
    Unset(Key),
    /// The name of a type is announced, as other statements need it before its definition.
    Announced,
}

impl Step {
    fn made(kept: Kept) -> Step {
        Step::Made(Box::new(kept))
    }
}

/// Reads such a statement; `schema` is what names without one mean. `None` for any other
/// statement.
pub(crate) fn read(text: &str, schema: &str) -> Option<Vec<Step>> {
    let mut reader = Reader::new(text, schema);
    if reader.word("CREATE") {
        let _ = reader.word("OR") && reader.word("REPLACE");
        if reader.is_shell() {
            return Some(vec![Step::Announced]);
        }
        let (kind, identity) = reader.of_kind(true)?;
        return Some(settings::of_create(kind, identity, &mut reader));
    }
    if reader.words("COMMENT ON COLUMN") {
        return settings::of_attribute_comment(&mut reader).map(|step| vec![step]);
    }
    if reader.words("COMMENT ON") {
        let (kind, identity) = reader.of_kind(false)?;
        let comment = reader.word("IS").then(|| reader.rest())?;
        let is_null = comment.eq_ignore_ascii_case("null");
        let comment = (!is_null).then(|| super::name::string(comment));
        return Some(vec![Step::Commented(
            Named(kind.words, identity.text),
            comment,
        )]);
    }
    if reader.words("SECURITY LABEL") {
        return settings::of_label(&mut reader).map(|step| vec![step]);
    }
    if reader.word("ALTER") {
        if reader.words("FOREIGN TABLE") {
            return foreign::of_foreign_table(&mut reader);
        }
        if reader.word("TABLE") {
            return settings::of_table(&mut reader);
        }
        if reader.word("INDEX") {
            return settings::of_index(&mut reader).map(|step| vec![step]);
        }
        if reader.words("MATERIALIZED VIEW") {
            let view = reader.in_schema()?;
            return settings::placed("MATERIALIZED VIEW", &view, &mut reader)
                .map(|step| vec![step]);
        }
        let (kind, identity) = reader.of_kind(false)?;
        if reader.words("OWNER TO") {
            let role = super::name::fold(reader.rest());
            return Some(vec![Step::Owned(Named(kind.words, identity.text), role)]);
        }
        return settings::of_alter(kind, &identity, &mut reader);
    }
    if reader.word("DROP") {
        let (kind, identity) = reader.of_kind(false)?;
        return Some(vec![Step::Dropped(Named(kind.words, identity.text))]);
    }
    None
}

/// An object with its CREATE statement.
fn object(kind: &'static Kind, identity: Identity, sql: String) -> Kept {
    Kept {
        kind,
        base: identity.base,
        schema: identity.schema,
        name: identity.text,
        norm: norm_of(kind, &sql),
        sql,
        of: None,
        on: identity.on,
        undo: None,
        meta: Meta::default(),
    }
}

/// A setting: its kind, what it is a setting of, the statement that makes it and the one that takes
/// it back.
struct Setting<'s> {
    kind: ObjectKind,
    of: Option<Key>,
    on: Option<Name>,
    name: String,
    /// The bare name of the object with the setting.
    base: &'s str,
    schema: Option<String>,
    sql: String,
    undo: String,
}

impl Setting<'_> {
    fn kept(self) -> Option<Kept> {
        let kind = named(self.kind)?;
        Some(Kept {
            kind,
            base: self.base.to_owned(),
            schema: self.schema,
            name: self.name,
            norm: norm_of(kind, &self.sql),
            sql: self.sql,
            of: self.of,
            on: self.on,
            undo: Some(self.undo),
            meta: Meta::default(),
        })
    }
}
