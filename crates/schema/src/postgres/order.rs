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
mod dependents;
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

use std::collections::{HashMap, HashSet};

use super::diff::{SchemaDiff, Sides};
use super::kept::{Key, Stage};
use super::name::Name;
use super::normal::Same;
use super::print::Printer;
use super::{Schema, renames};
use crate::plan::Steps;
use crate::{Plan, PlanError, PlanOptions, Statement};

/// A plan in the making.
pub(super) struct Builder<'a> {
    pub(super) from: &'a Schema,
    pub(super) to: &'a Schema,
    pub(super) sides: Sides<'a>,
    pub(super) diff: &'a SchemaDiff<'a>,
    pub(super) options: &'a PlanOptions,
    pub(super) printer: Printer<'a>,
    pub(super) statements: Vec<Statement>,
    /// Objects dropped for a rebuild, treated as absent.
    pub(super) gone: HashSet<Part>,
    /// Tables created by the plan so far.
    pub(super) created: HashSet<Name>,
    /// Tables dropped while tables or views take over the names, with the index of the drop.
    pub(super) remade: Vec<(Name, usize)>,
    /// Partitions detached for other bounds, with the index of the statement, by parent.
    pub(super) detached: HashMap<Name, HashMap<Name, usize>>,
    /// Constraints created together with a column or table.
    pub(super) made: HashSet<Part>,
    /// Objects just created in the place of another of the same name, without comment and
    /// privileges.
    pub(super) fresh: HashSet<Part>,
    /// Foreign keys dropped for a change of the referenced key; sqldef uses different spaces there.
    pub(super) spaced: Vec<(Name, String)>,
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
    let sides = Sides {
        from,
        to,
        stored: to.stored.as_deref(),
        same: Same {
            default_schema: &to.default_schema,
        },
    };
    let diff = SchemaDiff::of(&sides, &renamed.columns);
    let mut builder = Builder {
        from,
        to,
        sides,
        diff: &diff,
        options,
        printer,
        statements: Vec::new(),
        gone: HashSet::new(),
        created: HashSet::new(),
        remade: Vec::new(),
        detached: HashMap::new(),
        made: HashSet::new(),
        fresh: HashSet::new(),
        spaced: Vec::new(),
        renamed_columns: renamed.columns,
    };
    builder.check_typed()?;
    builder.everything(renamed.statements);
    Ok(Plan {
        statements: builder.statements,
    })
}

impl Steps for Builder<'_> {
    fn statements(&mut self) -> &mut Vec<Statement> {
        &mut self.statements
    }
}

impl<'a> Builder<'a> {
    fn everything(&mut self, renames: Vec<Statement>) {
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

    pub(super) fn is_gone(&self, part: &Part) -> bool {
        self.gone.contains(part)
    }
}
