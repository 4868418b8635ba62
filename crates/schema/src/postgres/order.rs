//! From two schemas to statements in an order accepted by PostgreSQL.
//!
//! Phases: create schemas and extensions; rename; drop views blocking a column change; create and
//! alter types, sequences, functions and tables, each after its prerequisites; create views;
//! indexes; exclusion and foreign keys; policies and triggers; comments; privileges; then drop what
//! is left, users before the objects used. sqldef's order is the same where executable, so both
//! styles share it and differ in spelling only.

mod columns;
mod comments;
mod constraints;
mod drops;
mod enums;
mod grants;
mod identity;
mod indexes;
mod kept;
mod links;
mod locks;
mod owners;
mod parents;
mod parts;
mod programs;
mod published;
mod replace;
mod routines;
mod sequences;
mod tables;
mod typed;
mod types;
mod units;
mod views;
mod way;

use std::collections::HashSet;

use super::kept::{Key, Stage};
use super::model::{Index, Table};
use super::name::Name;
use super::normal::Same;
use super::print::Printer;
use super::{Schema, renames};
use crate::{Hazard, Object, Plan, PlanError, PlanOptions, Statement, Verb};

/// A plan in the making.
pub(super) struct Builder<'a> {
    pub(super) from: &'a Schema,
    pub(super) to: &'a Schema,
    /// Normal form of `to` as stored by a server, when one was asked.
    pub(super) stored: Option<&'a Schema>,
    pub(super) options: &'a PlanOptions,
    pub(super) printer: Printer<'a>,
    pub(super) same: Same<'a>,
    pub(super) statements: Vec<Statement>,
    /// Objects dropped for a rebuild, treated as absent.
    pub(super) gone: HashSet<Part>,
    /// Tables created by the plan so far.
    pub(super) created: HashSet<Name>,
    /// Tables dropped while tables or views take over the names, with the index of the drop.
    pub(super) remade: Vec<(Name, usize)>,
    /// Constraints created together with a column or table.
    pub(super) made: HashSet<Part>,
    /// Objects just created in the place of another of the same name, without comment and
    /// privileges.
    pub(super) fresh: HashSet<Part>,
    /// Foreign keys dropped for a change of the referenced key; sqldef uses different spaces there.
    pub(super) spaced: Vec<(Name, String)>,
    /// Whether a function has to be recreated, so every table may contain a user.
    pub(super) remakes_functions: bool,
    /// Renamed columns; views showing one are recreated.
    pub(super) renamed_columns: Vec<(Name, String)>,
}

/// An object without a schema-wide position, or a view or function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    View(Name),
    Constraint(Name, String),
    Index(Name, String),
    Trigger(Name, String),
    Policy(Name, String),
    Column(Name, String),
    Default(Name, String),
    Kept(Key),
}

/// See [`crate::plan()`].
pub(super) fn plan(from: &Schema, to: &Schema, options: &PlanOptions) -> Result<Plan, PlanError> {
    let printer = Printer::new(options, &to.default_schema);
    let same = Same {
        default_schema: &to.default_schema,
    };
    let renamed = renames::apply(from, to, printer)?;
    let from = renamed.schema.as_ref().unwrap_or(from);
    let changed = parents::changed(from, to);
    let sides = (!changed.is_empty()).then(|| {
        (
            parents::filled(from, &changed, None),
            parents::filled(to, &changed, Some(from)),
        )
    });
    let (from, to) = sides.as_ref().map_or((from, to), |(from, to)| (from, to));
    let mut builder = Builder {
        from,
        to,
        stored: to.stored.as_deref(),
        options,
        printer,
        same,
        statements: Vec::new(),
        gone: HashSet::new(),
        created: HashSet::new(),
        remade: Vec::new(),
        made: HashSet::new(),
        fresh: HashSet::new(),
        spaced: Vec::new(),
        remakes_functions: false,
        renamed_columns: renamed.columns,
    };
    builder.check_typed()?;
    builder.everything(renamed.statements);
    Ok(Plan {
        statements: builder.statements,
    })
}

impl<'a> Builder<'a> {
    fn everything(&mut self, renames: Vec<Statement>) {
        let mut functions = self.from.functions.iter();
        self.remakes_functions =
            functions.any(|(key, function)| self.is_function_remade(key, function));
        self.namespaces();
        self.kept(Stage::Early);
        self.clear_views_for_renames();
        self.statements.extend(renames);
        self.clear_other_kinds();
        self.clear_views_for_types();
        self.clear_typed();
        self.announce_types();
        for unit in self.units() {
            self.unit(&unit);
        }
        self.views();
        self.indexes();
        self.late_constraints();
        self.parts();
        self.unpublish();
        self.kept(Stage::Late);
        self.publish_after();
        self.comments();
        self.grants();
        self.drops();
        self.bind_typed();
        self.mark_new_values();
        self.state_locks();
        self.link();
    }

    /// Appends a statement without hazards and returns the index.
    pub(super) fn push(
        &mut self,
        sql: String,
        verb: Verb,
        kind: &'static str,
        name: String,
    ) -> usize {
        let object = Object { kind, name };
        self.statements
            .push(Statement::plain(sql, verb, object, Vec::new()));
        self.statements.len() - 1
    }

    pub(super) fn push_with(
        &mut self,
        sql: String,
        verb: Verb,
        kind: &'static str,
        name: String,
        hazards: Vec<Hazard>,
    ) -> usize {
        let at = self.push(sql, verb, kind, name);
        self.statements[at].hazards = hazards;
        at
    }

    /// Appends a drop, held back unless allowed.
    pub(super) fn push_drop(
        &mut self,
        sql: String,
        kind: &'static str,
        name: String,
        hazards: Vec<Hazard>,
    ) -> usize {
        self.push_with(sql, Verb::Drop, kind, name, hazards)
    }

    /// `ALTER TABLE t …`.
    pub(super) fn alter(&self, table: &Name, action: &str) -> String {
        format!("ALTER TABLE {} {action}", self.printer.name(table))
    }

    /// The name as written by people.
    pub(super) fn shown(&self, name: &Name) -> String {
        name.shown(&self.to.default_schema)
    }

    pub(super) fn shown_part(&self, table: &Name, part: &str) -> String {
        format!("{}.{part}", self.shown(table))
    }

    pub(super) fn stored_table(&self, name: &Name) -> Option<&'a Table> {
        self.stored?.tables.get(name)
    }

    pub(super) fn is_gone(&self, part: &Part) -> bool {
        self.gone.contains(part)
    }

    /// Whether an index says the same on both sides.
    pub(super) fn is_same_index(
        &self,
        from: &Index,
        to: &Index,
        stored: Option<&Index>,
        on: &Name,
    ) -> bool {
        let same = Same {
            default_schema: self.same.default_schema,
        };
        same.index(from, to, on) || stored.is_some_and(|stored| same.index(from, stored, on))
    }
}
