//! What a PostgreSQL schema is made of.
//!
//! Expressions, queries and bodies are kept as they are written and brought into normal form only
//! when two that are not the same letter for letter have to be compared.

mod table;

use std::collections::BTreeMap;

use super::kept::{Key, Kind};
use super::listed::Listed;
use super::name::Name;
use crate::ObjectKind;

pub(crate) use table::{
    Column, Constraint, ConstraintKind, Exclude, Foreign, Generated, Identity, Index, IndexItem,
    Keys, Policy, Table, Trigger,
};

/// The schema of one database.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    pub(crate) default_schema: String,
    /// The connected role; `None` without a server.
    pub(crate) role: Option<String>,
    /// Whether `ALL` on a table includes `MAINTAIN`; `None` without a server.
    pub(crate) has_maintain: Option<bool>,
    pub(crate) schemas: Listed<String, Namespace>,
    pub(crate) extensions: Listed<String, Extension>,
    pub(crate) types: Listed<Name, UserType>,
    pub(crate) sequences: Listed<Name, Sequence>,
    pub(crate) tables: Listed<Name, Table>,
    pub(crate) views: Listed<Name, View>,
    /// By name and types of the arguments.
    pub(crate) functions: Listed<(Name, String), Function>,
    /// Objects compared by words, by kind and identity.
    pub(crate) kept: Listed<Key, Kept>,
    /// Triggers of foreign tables, which are themselves compared by words.
    pub(crate) foreign_triggers: Listed<Name, Listed<String, Trigger>>,
    /// Privileges by object, then by role; those of the object's owner under
    /// [`OWNER`](super::targets::OWNER).
    pub(crate) grants: Listed<(Target, String), Grant>,
    /// The schema as stored by a server, when one was asked.
    pub(crate) stored: Option<Box<Schema>>,
    /// Opaque statements.
    pub(crate) opaque: Vec<String>,
    /// Named roles of the server.
    pub(crate) roles: crate::roles::Roles,
    /// How many statements held or changed rows.
    pub(crate) data_statements: usize,
}

impl Schema {
    /// The triggers of a table, view or foreign table.
    pub(crate) fn triggers_of(&self, on: &Name) -> Option<&Listed<String, Trigger>> {
        let table = self.tables.get(on).map(|table| &table.triggers);
        let view = || self.views.get(on).map(|view| &view.triggers);
        table
            .or_else(view)
            .or_else(|| self.foreign_triggers.get(on))
    }

    /// The triggers to be changed; created empty for a foreign table without any.
    pub(crate) fn triggers_of_mut(&mut self, on: &Name) -> Option<&mut Listed<String, Trigger>> {
        if self.kept.contains(&(ObjectKind::ForeignTable, on.quoted())) {
            if !self.foreign_triggers.contains(on) {
                self.foreign_triggers.insert(on.clone(), Listed::default());
            }
            return self.foreign_triggers.get_mut(on);
        }
        let view = self.views.get_mut(on).map(|view| &mut view.triggers);
        let tables = &mut self.tables;
        view.or_else(|| tables.get_mut(on).map(|table| &mut table.triggers))
    }
}

/// What every object has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meta {
    /// The creating statement, if a separate one.
    pub(crate) source: Option<String>,
    pub(crate) comment: Option<String>,
    pub(crate) renamed_from: Option<String>,
    pub(crate) owner: Option<Box<Owner>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Owner {
    pub(crate) role: String,
    pub(crate) source: String,
}

/// SQL compared in normal form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sql(pub(crate) String);

/// An object compared by words.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) kind: &'static Kind,
    /// Identity within the kind, as used by `DROP`.
    pub(crate) name: String,
    /// The bare name; empty for casts.
    pub(crate) base: String,
    /// `None` for what is in no schema.
    pub(crate) schema: Option<String>,
    pub(crate) sql: String,
    /// Equal where the words are.
    pub(crate) norm: String,
    /// What a setting is a setting of.
    pub(crate) of: Option<Key>,
    /// The table, view or index with the object.
    pub(crate) on: Option<Name>,
    /// The statement that takes a setting back; `None` for objects of their own.
    pub(crate) undo: Option<String>,
    pub(crate) meta: Meta,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Namespace {
    pub(crate) meta: Meta,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Extension {
    pub(crate) name: String,
    pub(crate) schema: Option<String>,
    pub(crate) meta: Meta,
}

/// The type of a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Type {
    /// Schema of the type, from the source or by lookup in the default schema; `None` for types of
    /// the server and of extensions.
    pub(crate) schema: Option<String>,
    /// The server's spelling, such as `character varying`.
    pub(crate) name: String,
    /// What stands in parentheses, `10,2`; fields of an interval too.
    pub(crate) args: String,
    pub(crate) is_array: bool,
    /// Whether the type is a `serial`: an integer with a sequence.
    pub(crate) is_serial: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct UserType {
    pub(crate) name: Name,
    pub(crate) kind: TypeKind,
    pub(crate) meta: Meta,
}

#[derive(Clone, Debug)]
pub(crate) enum TypeKind {
    Enum(Vec<EnumValue>),
    Domain(Domain),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EnumValue {
    pub(crate) label: String,
    pub(crate) renamed_from: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Domain {
    pub(crate) base: Type,
    pub(crate) default: Option<Sql>,
    pub(crate) not_null: bool,
    pub(crate) collation: Option<String>,
    pub(crate) checks: Vec<Constraint>,
}

/// What a sequence does; `None` is what the server assumes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SequenceOptions {
    pub(crate) data_type: Option<String>,
    pub(crate) start: Option<i64>,
    pub(crate) increment: Option<i64>,
    pub(crate) min: Option<i64>,
    pub(crate) max: Option<i64>,
    pub(crate) cache: Option<i64>,
    pub(crate) cycle: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Sequence {
    pub(crate) name: Name,
    pub(crate) options: SequenceOptions,
    pub(crate) owned_by: Option<(Name, String)>,
    pub(crate) unlogged: bool,
    pub(crate) meta: Meta,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    pub(crate) name: Name,
    pub(crate) materialized: bool,
    pub(crate) recursive: bool,
    pub(crate) columns: Vec<String>,
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) query: Sql,
    pub(crate) no_data: bool,
    pub(crate) indexes: Listed<String, Index>,
    pub(crate) triggers: Listed<String, Trigger>,
    pub(crate) column_comments: BTreeMap<String, String>,
    pub(crate) meta: Meta,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Function {
    pub(crate) name: Name,
    pub(crate) arguments: Vec<Argument>,
    /// Types of the input arguments, the identity among functions of one name.
    pub(crate) signature: String,
    pub(crate) returns: Option<Returns>,
    pub(crate) language: String,
    /// `IMMUTABLE`, `STABLE` or `VOLATILE`.
    pub(crate) volatility: &'static str,
    pub(crate) strict: bool,
    pub(crate) security_definer: bool,
    pub(crate) leakproof: bool,
    pub(crate) window: bool,
    pub(crate) is_procedure: bool,
    /// `UNSAFE`, `RESTRICTED` or `SAFE`.
    pub(crate) parallel: String,
    pub(crate) cost: Option<String>,
    pub(crate) rows: Option<String>,
    pub(crate) support: Option<String>,
    pub(crate) settings: BTreeMap<String, String>,
    pub(crate) body: Body,
    pub(crate) meta: Meta,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Argument {
    /// `IN`, `OUT`, `INOUT`, `VARIADIC`, `TABLE`.
    pub(crate) mode: &'static str,
    pub(crate) name: Option<String>,
    pub(crate) data_type: Type,
    pub(crate) default: Option<Sql>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Returns {
    pub(crate) set: bool,
    pub(crate) data_type: Type,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// What stands in the string.
    Text(String),
    /// A library and the symbol inside.
    Library(String, Option<String>),
    /// `RETURN …` or `BEGIN ATOMIC … END`.
    Sql(Sql),
}

impl Default for Body {
    fn default() -> Self {
        Body::Text(String::new())
    }
}

/// What privileges are on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Target {
    /// `TABLE`, `SEQUENCE`, `SCHEMA`, `FUNCTION`, `TYPE` …
    pub(crate) kind: &'static str,
    pub(crate) name: Name,
    /// Types of a function's arguments.
    pub(crate) signature: String,
}

/// One role's privileges on one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Grant {
    /// Privileges, one for each column where limited to some; the value is the grant option.
    pub(crate) privileges: BTreeMap<Privilege, bool>,
    /// Grantees by statement, for printers preserving the grouping.
    pub(crate) statements: Vec<GrantStatement>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Privilege {
    pub(crate) name: String,
    /// The only column; `None` for the whole object.
    pub(crate) column: Option<String>,
}

impl Privilege {
    /// The privilege on the whole object.
    pub(crate) fn whole(name: &str) -> Privilege {
        Privilege {
            name: name.to_owned(),
            column: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GrantStatement {
    /// Number of the statement in the schema.
    pub(crate) number: usize,
    /// As written.
    pub(crate) privileges: Vec<Privilege>,
    pub(crate) roles: Vec<String>,
    pub(crate) grantable: bool,
}
