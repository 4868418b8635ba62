//! Names used by each statement, so dependents are held back together.

use std::collections::{HashMap, HashSet};

use super::Builder;
use super::units::{function_mentions, table_mentions};
use crate::postgres::kept;
use crate::postgres::model::{
    Column, Constraint, ConstraintKind, Function, Index, Kept, Table, View,
};
use crate::postgres::name::Name;
use crate::postgres::split;
use crate::ties::{self, Stake, Words};
use crate::{ObjectKind, Statement, Verb};

/// Marker for the table as a whole, distinct from all names of parts.
const OF_TABLE: &str = "ALTER TABLE";

/// Tables, views and functions by the name shown in plans.
struct Shown<'a> {
    relations: HashMap<String, &'a Name>,
    functions: HashMap<String, &'a Function>,
    /// Indexes with the relation of each.
    indexes: HashMap<&'a str, (&'a Name, &'a Index)>,
}

impl<'a> Builder<'a> {
    /// Declares the dependencies between statements.
    pub(super) fn link(&mut self) {
        let mut statements = self.statements.iter();
        if !statements.any(|statement| ties::may_wait(statement, self.options)) {
            return;
        }
        let shown = self.shown_names();
        let stakes: Vec<Stake> = self
            .statements
            .iter()
            .map(|statement| self.stake(statement, &shown))
            .collect();
        ties::tie(&mut self.statements, &stakes, self.options);
    }

    fn shown_names(&self) -> Shown<'a> {
        let mut shown = Shown {
            relations: HashMap::new(),
            functions: HashMap::new(),
            indexes: HashMap::new(),
        };
        let (from, to) = (self.from, self.to);
        for schema in [to, from] {
            let tables = schema.tables.keys().chain(schema.views.keys());
            let others = schema.types.keys().chain(schema.sequences.keys());
            for name in tables.chain(others) {
                shown.relations.insert(self.shown(name), name);
            }
        }
        let of_tables = from.tables.values();
        let of_tables = of_tables.map(|table| (&table.name, &table.indexes));
        let of_views = from.views.values().map(|view| (&view.name, &view.indexes));
        for (on, indexes) in of_tables.chain(of_views) {
            let named = indexes
                .iter()
                .map(|(name, index)| (name.as_str(), (on, index)));
            shown.indexes.extend(named);
        }
        for (key, function) in from.functions.iter() {
            let name = format!("{}({})", self.shown(&key.0), key.1);
            shown.functions.insert(name, function);
        }
        shown
    }

    fn stake(&self, statement: &Statement, shown: &Shown<'a>) -> Stake {
        let (kind, name) = (statement.object.kind, statement.object.name.as_str());
        let sql = &statement.sql;
        let shows_all = kind == ObjectKind::View && sql.contains('*');
        let mut stake = Stake {
            speaks_of: Words::new(split::names(sql), shows_all),
            ..Stake::default()
        };
        let whole = |name: &str| match shown.relations.get(name) {
            Some(found) => found.name.clone(),
            None => name.rsplit('.').next().unwrap_or(name).to_owned(),
        };
        match kind {
            ObjectKind::Column
            | ObjectKind::Constraint
            | ObjectKind::Policy
            | ObjectKind::Trigger
            | ObjectKind::EnumValue => {
                let (table, part) = parted(name, shown);
                stake.whole = table.map_or_else(String::new, |table| table.name.clone());
                // A type is made anew for a value.
                stake.parts = (kind != ObjectKind::EnumValue).then(|| vec![part.to_owned()]);
                if let Some(table) = table {
                    self.stake_in_part(&mut stake, statement, table, part);
                }
            }
            ObjectKind::Function => {
                let bare = name.split('(').next().unwrap_or(name);
                stake.whole = bare.rsplit('.').next().unwrap_or(bare).to_owned();
                let function = shown.functions.get(name);
                let spoke_of = function.map(|function| function_mentions(function));
                stake.spoke_of = Words::new(spoke_of.unwrap_or_default(), false);
            }
            kind if kept::is_kept(kind) => {
                let found = self.kept_of(kind, name);
                stake.whole = found.map_or_else(String::new, |kept| kept.base.clone());
                let is_setting = found.is_some_and(|kept| kept.undo.is_some());
                stake.parts = is_setting.then(|| vec![name.to_owned()]);
                let spoke_of = found.map(|kept| split::names(&kept.sql));
                stake.spoke_of = Words::new(spoke_of.unwrap_or_default(), false);
            }
            ObjectKind::Comment | ObjectKind::Owner | ObjectKind::Privilege => stake.is_side = true,
            ObjectKind::RowSecurity | ObjectKind::Partition => {
                (stake.whole, stake.parts) = (whole(name), Some(vec![OF_TABLE.to_owned()]));
            }
            ObjectKind::Table if statement.verb == Verb::Alter => {
                (stake.whole, stake.parts) = (whole(name), Some(vec![OF_TABLE.to_owned()]));
            }
            _ => {
                stake.whole = whole(name);
                match shown
                    .indexes
                    .get(name)
                    .filter(|_| kind == ObjectKind::Index)
                {
                    Some(index) => stake.spoke_of = Words::new(self.index_words(*index), false),
                    None => self.stake_in_whole(&mut stake, shown.relations.get(name).copied()),
                }
            }
        }
        stake.breaks |= matches!(statement.verb, Verb::Drop | Verb::Aside)
            && !matches!(
                kind,
                ObjectKind::RowSecurity
                    | ObjectKind::Trigger
                    | ObjectKind::Policy
                    | ObjectKind::Constraint
            );
        stake
    }

    /// Records names used by the existing table, view or type.
    fn stake_in_whole(&self, stake: &mut Stake, name: Option<&'a Name>) {
        let Some(name) = name else { return };
        stake.takes.push(name.name.clone());
        if let Some(table) = self.from.tables.get(name) {
            stake.spoke_of = Words::new(table_mentions(table), false);
            stake.spoke_of.extend([name.schema.clone()]);
            stake.stands_on = table.constraints.values().flat_map(referred).collect();
            stake.takes.extend(table.indexes.keys().cloned());
            stake.takes.extend(table.constraints.keys().cloned());
        } else if let Some(view) = self.from.views.get(name) {
            stake.spoke_of = Words::new(split::names(&view.query.0), view.query.0.contains('*'));
            stake.spoke_of.extend([name.schema.clone()]);
            stake.stands_on = grouped(view);
            stake.takes.extend(view.indexes.keys().cloned());
        } else if let Some(found) = self.from.types.get(name) {
            stake.spoke_of = Words::new(split::names(&self.printer.user_type(found)), false);
        }
    }

    fn kept_of(&self, kind: ObjectKind, name: &str) -> Option<&'a Kept> {
        let all = self.from.kept.values().chain(self.to.kept.values());
        let mut own = all.filter(|kept| kept.kind.kind == kind);
        own.find(|kept| self.shown_kept(kept) == name)
    }

    /// Names used by an existing index, including the table.
    fn index_words(&self, (on, index): (&Name, &Index)) -> Vec<String> {
        let mut names = split::names(&self.printer.index(index, on, false));
        names.push(on.name.clone());
        names
    }

    /// Records names used by an existing column, constraint, trigger or policy.
    fn stake_in_part(&self, stake: &mut Stake, statement: &Statement, on: &Name, part: &str) {
        let kind = statement.object.kind;
        let mut names = vec![on.name.clone()];
        if let Some(view) = self.from.views.get(on) {
            let trigger = view
                .triggers
                .get(part)
                .filter(|_| kind == ObjectKind::Trigger);
            names.extend(trigger.map(|trigger| trigger.function.name.clone()));
        }
        if let Some(table) = self.from.tables.get(on) {
            match kind {
                ObjectKind::Column => {
                    let column = table.columns.get(part);
                    names.extend(column.into_iter().flat_map(column_mentions));
                    names.push(part.to_owned());
                    stake.breaks = statement.verb == Verb::Alter && is_retyping(statement);
                }
                ObjectKind::Constraint => {
                    if let Some(constraint) = table.constraints.get(part) {
                        names.extend(split::names(&self.printer.constraint(constraint, false)));
                        stake.stands_on = referred(constraint).into_iter().collect();
                        stake.breaks_key =
                            statement.verb == Verb::Relax && constraint.keys().is_some();
                    }
                }
                ObjectKind::Trigger => names.extend(trigger_mentions(table, part)),
                ObjectKind::Policy => names.extend(policy_mentions(table, part)),
                _ => {}
            }
        }
        stake.spoke_of = Words::new(names, false);
    }
}

/// Which table a shown name such as `app.users.nick` is a part of, and the part.
fn parted<'a, 'n>(name: &'n str, shown: &Shown<'a>) -> (Option<&'a Name>, &'n str) {
    let places = name.match_indices('.').map(|(at, _)| at);
    let mut found =
        places.filter_map(|at| Some((*shown.relations.get(&name[..at])?, &name[at + 1..])));
    match found.next_back() {
        Some((table, part)) => (Some(table), part),
        None => (None, name),
    }
}

fn is_retyping(statement: &Statement) -> bool {
    let action = statement.sql.split_once(" ALTER COLUMN ");
    action.is_some_and(|(_, action)| action.contains(" TYPE "))
}

fn column_mentions(column: &Column) -> Vec<String> {
    let mut names = vec![column.data_type.name.clone()];
    let generated = column.generated.as_ref();
    let generated = generated.map(|generated| &generated.expression);
    for expression in column.default.iter().chain(generated) {
        names.extend(split::names(&expression.0));
    }
    names
}

fn trigger_mentions(table: &Table, name: &str) -> Vec<String> {
    let Some(trigger) = table.triggers.get(name) else {
        return Vec::new();
    };
    let mut names = vec![trigger.function.name.clone()];
    let when = trigger.when.iter();
    names.extend(when.flat_map(|when| split::names(&when.0)));
    let columns = trigger.events.iter().flat_map(|(_, columns)| columns);
    names.extend(columns.cloned());
    names
}

fn policy_mentions(table: &Table, name: &str) -> Vec<String> {
    let policy = table.policies.get(name).into_iter();
    let expressions = policy.flat_map(|policy| policy.using.iter().chain(&policy.check));
    expressions
        .flat_map(|expression| split::names(&expression.0))
        .collect()
}

/// Name of the table referenced by a foreign key.
fn referred(constraint: &Constraint) -> Option<String> {
    match &constraint.kind {
        ConstraintKind::Foreign(foreign) => Some(foreign.table.name.clone()),
        _ => None,
    }
}

/// Tables whose primary key a view may depend on by grouping.
fn grouped(view: &View) -> HashSet<String> {
    match view.query.0.to_lowercase().contains("group") {
        true => split::names(&view.query.0).into_iter().collect(),
        false => HashSet::new(),
    }
}

#[cfg(test)]
mod tests {
    use crate::postgres::tests::read;
    use crate::{Allowed, PlanOptions};

    fn applied(from: &str, to: &str, allowed: &[&str]) -> Vec<String> {
        let mut plan = super::super::plan(&read(from), &read(to), &PlanOptions::default()).unwrap();
        plan.hold_back(&Allowed {
            all: false,
            named: allowed.iter().map(|name| (*name).to_owned()).collect(),
        });
        plan.applied()
            .map(|statement| statement.sql.clone())
            .collect()
    }

    #[test]
    fn what_speaks_of_a_column_waits_for_its_type() {
        let from = "CREATE TABLE t (a text DEFAULT 'x', b int, CONSTRAINT c CHECK (a <> ''), \
             g text GENERATED ALWAYS AS (a) STORED, CONSTRAINT d CHECK (b > 0)); \
             CREATE INDEX i ON t (b) WHERE a <> ''; CREATE POLICY p ON t USING (a <> ''); \
             CREATE VIEW v AS SELECT a FROM t; CREATE VIEW w AS SELECT b FROM t;";
        let to = "CREATE TABLE t (a int DEFAULT 5, b int, CONSTRAINT c CHECK (a <> 0), \
             g int GENERATED ALWAYS AS (a) STORED, CONSTRAINT d CHECK (b > 1)); \
             CREATE INDEX i ON t (b) WHERE a <> 0; CREATE POLICY p ON t USING (a <> 0); \
             CREATE VIEW v AS SELECT a FROM t; CREATE VIEW w AS SELECT b FROM t; \
             CREATE INDEX j ON t (a); COMMENT ON INDEX j IS 'new';";
        let others = [
            "ALTER TABLE public.t DROP CONSTRAINT d",
            "ALTER TABLE public.t ADD CONSTRAINT d CHECK (b > 1)",
        ];
        assert_eq!(applied(from, to, &[]), others);
        assert!(applied(from, to, &["alter-column:t.a"]).len() > 10);
    }

    #[test]
    fn what_needs_a_new_value_waits_for_the_loss_of_the_old_one() {
        let from = "CREATE TYPE k AS ENUM ('a', 'b'); CREATE TABLE t (x k DEFAULT 'b');";
        let to = "CREATE TYPE k AS ENUM ('a', 'c'); CREATE TABLE t (x k DEFAULT 'c', y int);";
        let added = ["ALTER TABLE public.t ADD COLUMN y integer"];
        assert_eq!(applied(from, to, &[]), added);
    }

    #[test]
    fn a_view_that_is_not_dropped_keeps_the_type() {
        let from = "CREATE TABLE t (a int); CREATE VIEW v AS SELECT a FROM t;";
        let to = "CREATE TABLE t (a text);";
        assert_eq!(applied(from, to, &["alter-column"]), [] as [String; 0]);
        assert_eq!(applied(from, to, &["drop-view:v"]).len(), 2);
    }
}
