//! MySQL and MariaDB: a hand-written lexer and parser, a model with the server's normal form, and
//! plans.
//!
//! Flow: [`read()`] cuts texts into statements like servers and their client (`lexer`, `split`),
//! parses those that define a schema (`parser`), folds each into a [`Schema`] (`read`) and derives
//! the form stored by a server (`normal`); [`plan()`] applies former names from comments
//! (`renames`), compares (`diff`) and arranges statements (`order`; `order::drop_in` in sqldef's
//! order), which `print` spells.
//!
//! Expressions and the queries of plain views are compared in a canonical form (`expr`), other
//! queries and bodies token by token: only the server knows how those are stored
//! ([`Schema::adopt`]). Routines are compared by all but their definers, sequences by their names.

mod conversion;
mod cursor;
mod diff;
mod dormant;
mod expr;
mod hazards;
mod lexer;
mod model;
mod normal;
mod oracle;
mod order;
mod outline;
mod parser;
mod print;
mod read;
mod renames;
mod roles;
mod split;
mod trigger_order;
mod unsaid;

use std::collections::HashMap;

use crate::{Note, Object, ObjectKind, Plan, PlanError, PlanOptions, Server, Source, SyntaxError};
use model::{Event, Grant, Name, Opaque, Table, Trigger, View};

pub(crate) use roles::role_changes;

pub use dormant::dormant;
pub use lexer::{backticked, literal};
pub use oracle::{ORACLE_MODE, needs_oracle_mode};

/// The schema of one database.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    tables: Vec<Table>,
    /// Places in `tables`, by name.
    places: HashMap<String, usize>,
    views: Vec<View>,
    triggers: Vec<Trigger>,
    events: Vec<Event>,
    /// Routines and sequences.
    opaques: Vec<Opaque>,
    grants: Vec<Grant>,
    /// Statements as written, not compared.
    unread: Vec<String>,
    /// Named roles and users of the server.
    pub(crate) roles: crate::roles::Roles,
    is_mariadb: bool,
    /// Whether names of tables are compared without regard to case.
    has_lower_names: bool,
}

/// Reads SQL texts.
///
/// # Errors
/// See [`crate::read()`].
pub fn read(sources: &[Source], server: &Server) -> Result<(Schema, Vec<Note>), SyntaxError> {
    read::read(sources, server)
}

/// See [`crate::plan()`].
///
/// # Errors
/// When a rename cannot be what was meant.
pub fn plan(from: &Schema, to: &Schema, options: &PlanOptions) -> Result<Plan, PlanError> {
    order::plan(from, to, options)
}

impl Schema {
    fn key(&self, name: &str) -> String {
        match self.has_lower_names {
            true => name.to_lowercase(),
            false => name.to_owned(),
        }
    }

    fn table(&self, name: &str) -> Option<&Table> {
        self.places
            .get(&self.key(name))
            .map(|place| &self.tables[*place])
    }

    fn table_mut(&mut self, name: &str) -> Option<&mut Table> {
        let place = *self.places.get(&self.key(name))?;
        Some(&mut self.tables[place])
    }

    fn view(&self, name: &str) -> Option<&View> {
        let key = self.key(name);
        self.views
            .iter()
            .find(|view| self.key(&view.name.text) == key)
    }

    /// Adds a table, replacing one of the same name: the last definition counts.
    fn add_table(&mut self, table: Table) {
        let key = self.key(&table.name.text);
        match self.places.get(&key) {
            Some(place) => self.tables[*place] = table,
            None => {
                self.views.retain(|view| view.name.text != table.name.text);
                self.places.insert(key, self.tables.len());
                self.tables.push(table);
            }
        }
    }

    /// Adds a view, replacing a table of the same name. A dump creates a stand-in table for each
    /// view first and drops it later.
    fn add_view(&mut self, view: View) {
        self.remove(ObjectKind::Table, &view.name.text.clone());
        self.views.retain(|known| known.name.text != view.name.text);
        self.views.push(view);
    }

    /// Removes a table, and returns the table and the position for [`Schema::put_table`].
    fn take_table(&mut self, name: &str) -> Option<(usize, Table)> {
        let place = self.places.remove(&self.key(name))?;
        Some((place, std::mem::take(&mut self.tables[place])))
    }

    fn put_table(&mut self, place: usize, table: Table) {
        self.places.insert(self.key(&table.name.text), place);
        self.tables[place] = table;
    }

    fn index_places(&mut self) {
        let keys = self.tables.iter().map(|table| self.key(&table.name.text));
        self.places = keys.enumerate().map(|(place, key)| (key, place)).collect();
    }

    fn remove(&mut self, kind: ObjectKind, name: &str) {
        match kind {
            ObjectKind::Table if self.places.contains_key(&self.key(name)) => {
                let key = self.key(name);
                let is_it = |known: &str| known == name || known.to_lowercase() == key;
                self.tables.retain(|table| !is_it(&table.name.text));
                self.triggers.retain(|trigger| trigger.table.text != name);
                self.index_places();
            }
            ObjectKind::View => self.views.retain(|view| view.name.text != name),
            ObjectKind::Trigger => self.triggers.retain(|trigger| trigger.name.text != name),
            ObjectKind::Event => self.events.retain(|event| event.name.text != name),
            kind => self
                .opaques
                .retain(|opaque| opaque.kind != kind || opaque.name != name),
        }
    }

    /// See [`crate::Schema::statements`].
    pub fn statements(&self) -> Vec<String> {
        // Roles, tablespaces and what is in other databases are used; others change what is there.
        let is_made = |text: &&String| {
            text.get(..6)
                .is_some_and(|start| start.eq_ignore_ascii_case("create"))
        };
        let (before, after): (Vec<&String>, Vec<&String>) = self.unread.iter().partition(is_made);
        let mut all: Vec<String> = before.into_iter().cloned().collect();
        all.extend(self.compared());
        all.extend(after.into_iter().cloned());
        all
    }

    /// See [`crate::Schema::compared`].
    pub fn compared(&self) -> Vec<String> {
        order::creation(self)
    }

    /// See [`crate::Schema::adopt`].
    pub fn adopt(&mut self, stored: &Schema) {
        for table in &mut self.tables {
            if let Some(stored) = stored.table(&table.name.text) {
                table.adopt(stored, self.is_mariadb);
            }
        }
        for view in &mut self.views {
            if let Some(stored) = stored.view(&view.name.text) {
                view.body.norm.clone_from(&stored.body.norm);
            }
        }
        for trigger in &mut self.triggers {
            let mut known = stored.triggers.iter();
            if let Some(stored) = known.find(|known| known.name.text == trigger.name.text) {
                trigger.body.norm.clone_from(&stored.body.norm);
            }
        }
        for event in &mut self.events {
            let mut known = stored.events.iter();
            if let Some(stored) = known.find(|known| known.name.text == event.name.text) {
                event.body.norm.clone_from(&stored.body.norm);
                event.schedule.norm.clone_from(&stored.schedule.norm);
            }
        }
        for opaque in &mut self.opaques {
            let mut known = stored.opaques.iter();
            if let Some(stored) =
                known.find(|known| (known.kind, &known.name) == (opaque.kind, &opaque.name))
            {
                opaque.norm.clone_from(&stored.norm);
            }
        }
    }

    /// See [`crate::Schema::retain`].
    pub fn retain(&mut self, keep: &dyn Fn(&Object) -> bool) {
        let kept = |kind: ObjectKind, name: &str| {
            keep(&Object {
                kind,
                name: name.to_owned(),
            })
        };
        self.tables
            .retain(|table| kept(ObjectKind::Table, &table.name.text));
        self.views
            .retain(|view| kept(ObjectKind::View, &view.name.text));
        self.triggers.retain(|trigger| {
            kept(ObjectKind::Table, &trigger.table.text)
                && kept(ObjectKind::Trigger, &trigger.name.text)
        });
        self.events
            .retain(|event| kept(ObjectKind::Event, &event.name.text));
        self.opaques
            .retain(|opaque| kept(opaque.kind, &opaque.name));
        self.grants.retain(|grant| match grant.on.kind {
            None => true,
            Some(kind) => kept(kind, &grant.on.name),
        });
        self.index_places();
    }
}

impl Table {
    /// Takes over the normal forms of a stored table. Parts without a partner there keep their own.
    fn adopt(&mut self, stored: &Table, is_mariadb: bool) {
        self.norm.clone_from(&stored.norm);
        for column in &mut self.columns {
            if let Some(known) = stored
                .columns
                .iter()
                .find(|known| known.name.is(&column.name))
            {
                column.norm.clone_from(&known.norm);
            }
        }
        for index in &mut self.indexes {
            if let Some(known) = stored
                .indexes
                .iter()
                .find(|known| known.name.is(&index.name))
            {
                index.norm.clone_from(&known.norm);
            }
        }
        let names: Vec<Name> = self
            .checks
            .iter()
            .map(|check| self.check_name(check, is_mariadb))
            .collect();
        for (check, name) in self.checks.iter_mut().zip(names) {
            let mut stored = stored.checks.iter();
            if let Some(known) =
                stored.find(|known| known.name.as_ref().is_some_and(|known| known.is(&name)))
            {
                check.expr.norm.clone_from(&known.expr.norm);
            }
        }
        if let (Some(partitioning), Some(known)) = (&mut self.partitioning, &stored.partitioning) {
            partitioning.norm.clone_from(&known.norm);
            let is_paired = partitioning.partitions.len() == known.partitions.len();
            for (partition, known) in partitioning
                .partitions
                .iter_mut()
                .zip(&known.partitions)
                .filter(|_| is_paired)
            {
                partition.norm.clone_from(&known.norm);
                partition.values.clone_from(&known.values);
            }
        }
    }
}

#[cfg(test)]
mod tests;
