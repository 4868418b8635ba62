//! Names used by each statement, so dependents are held back together.

use std::collections::HashMap;

use super::Builder;
use crate::mysql::lexer::{Executes, Kind, Lexer, backticked, unquoted};
use crate::mysql::model::{ForeignKey, Name, Table};
use crate::ties::{self, Stake, Words};
use crate::{Object, ObjectKind, Server, Statement, Verb};

/// Foreign keys by referenced table, in lower case.
type Referring<'a> = HashMap<String, Vec<&'a ForeignKey>>;

/// Marker for the table as a whole, distinct from all names of parts.
const OF_TABLE: &str = "ALTER TABLE";

/// A dropped or added foreign key.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyStep<'a> {
    /// Place of the statement.
    pub(super) at: usize,
    pub(super) table: &'a Table,
    pub(super) key: &'a ForeignKey,
}

impl<'a> Builder<'a> {
    /// Declares the dependencies between statements.
    pub(super) fn link(&mut self, dropped: &[KeyStep<'a>], added: &[KeyStep<'a>]) {
        let mut statements = self.statements.iter();
        if !statements.any(|statement| ties::may_wait(statement, self.options)) {
            return;
        }
        for (gone, comes) in pairs(dropped, added) {
            self.link_key(gone, comes);
        }
        self.link_columns(added);
        let mut referring: Referring<'a> = HashMap::new();
        for key in self
            .from
            .tables
            .iter()
            .flat_map(|table| &table.foreign_keys)
        {
            let table = key.table.text.to_lowercase();
            referring.entry(table).or_default().push(key);
        }
        let stakes: Vec<Stake> = self
            .statements
            .iter()
            .map(|statement| self.stake(statement, &referring))
            .collect();
        ties::tie(&mut self.statements, &stakes, self.options);
    }

    /// Declares the dependencies between statements in another order than ours.
    pub(in crate::mysql) fn tied(mut self) -> Vec<Statement> {
        self.link(&[], &[]);
        self.statements
    }

    /// Ties the drop and the creation of a key: both are executed, with everything between, or
    /// neither.
    fn link_key(&mut self, gone: KeyStep<'a>, comes: KeyStep<'a>) {
        self.statements[gone.at].needs.push(comes.at);
        self.statements[comes.at].needs.push(gone.at);
        for at in gone.at + 1..comes.at {
            let moves = [gone, comes]
                .iter()
                .any(|step| self.moves(&self.statements[at], step));
            if moves {
                self.statements[at].needs.push(gone.at);
                self.statements[comes.at].needs.push(at);
            }
        }
    }

    /// Ties each added key to the changes of its columns, on both sides: types that are held back
    /// do not match.
    fn link_columns(&mut self, added: &[KeyStep<'a>]) {
        let mut changes: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, statement) in self.statements.iter().enumerate() {
            if statement.verb == Verb::Alter {
                let (table, _) = self.parted(&statement.object.name);
                changes.entry(table.to_lowercase()).or_default().push(at);
            }
        }
        for step in added {
            let tables = [&step.table.name, &step.key.table];
            let near = tables
                .iter()
                .filter_map(|table| changes.get(&table.text.to_lowercase()));
            let moved = near.flatten().copied();
            let moved = moved.filter(|at| *at < step.at);
            let moved = moved.filter(|at| self.moves(&self.statements[*at], step));
            let moved: Vec<usize> = moved.collect();
            self.statements[step.at].needs.extend(moved);
        }
    }

    /// Whether a statement changes the columns of a foreign key, or a required index.
    fn moves(&self, statement: &Statement, step: &KeyStep<'_>) -> bool {
        let key = step.key;
        self.moves_columns(statement, &step.table.name, &key.columns)
            || self.moves_columns(statement, &key.table, &key.references)
    }

    fn moves_columns(&self, statement: &Statement, table: &Name, columns: &[Name]) -> bool {
        let start = format!("ALTER TABLE {} ", self.printer.name(table));
        let Some(clauses) = statement.sql.strip_prefix(&start) else {
            return false;
        };
        let mut names = columns.iter().map(|column| backticked(&column.text));
        let is_column = names.any(|column| {
            let words = ["MODIFY", "CHANGE", "DROP"];
            let mut changes = words.iter().map(|word| format!("{word} COLUMN {column}"));
            changes.any(|change| clauses.contains(&change))
        });
        let had = self.from.table(&table.text);
        let mut indexes = had.into_iter().flat_map(|table| &table.indexes);
        let loses_index = indexes.any(|index| {
            let name = index.was.as_ref().unwrap_or(&index.name);
            let drop = format!("DROP INDEX {}", backticked(&name.text));
            index.covers(columns) && clauses.contains(&drop)
        });
        is_column || loses_index || clauses.contains("DROP PRIMARY KEY")
    }

    fn stake(&self, statement: &Statement, referring: &Referring<'_>) -> Stake {
        let Object { kind, name } = &statement.object;
        let mut stake = Stake {
            speaks_of: Words::new(names(&statement.sql), statement.sql.contains('*')),
            ..Stake::default()
        };
        let changes = statement.verb == Verb::Alter;
        match *kind {
            ObjectKind::Table if changes => {
                stake.whole = name.to_lowercase();
                // What partitions were in the way of waits until they are gone.
                let frees = statement.sql.ends_with("REMOVE PARTITIONING");
                let parts = changed_parts(&statement.sql);
                let parts = parts.filter(|name| *name != stake.whole);
                stake.parts = (!frees).then(|| parts.collect());
            }
            ObjectKind::Column | ObjectKind::Constraint | ObjectKind::Index => {
                let (table, part) = self.parted(name);
                (stake.whole, stake.parts) =
                    (table.to_lowercase(), Some(vec![part.to_lowercase()]));
            }
            ObjectKind::Partition | ObjectKind::SystemVersioning | ObjectKind::Engine => {
                let (table, _) = self.parted(name);
                (stake.whole, stake.parts) =
                    (table.to_lowercase(), Some(vec![OF_TABLE.to_owned()]));
            }
            _ => {
                stake.whole = name.to_lowercase();
                stake.takes.push(stake.whole.clone());
            }
        }
        let goes = matches!(statement.verb, Verb::Drop | Verb::Aside);
        stake.breaks = goes
            && matches!(
                *kind,
                ObjectKind::Table | ObjectKind::View | ObjectKind::Column
            );
        self.stake_of_keys(&mut stake, statement, referring);
        if *kind == ObjectKind::Trigger
            && let Some(trigger) = self.from.trigger(name)
        {
            let body = names(&trigger.source);
            stake.spoke_of = Words::new(body, false);
        }
        stake
    }

    /// Records foreign keys kept while the statement is held back, or blocking the statement.
    fn stake_of_keys(&self, stake: &mut Stake, statement: &Statement, referring: &Referring<'_>) {
        let (name, _) = self.parted(&statement.object.name);
        let Some(table) = self.from.table(name) else {
            return;
        };
        let goes = statement.verb == Verb::Drop && statement.object.kind == ObjectKind::Table;
        let is_key = |key: &&ForeignKey| {
            let name = table.key_name(key).text.to_lowercase();
            let is_it = stake
                .parts
                .as_ref()
                .is_some_and(|parts| parts.contains(&name));
            goes || (statement.object.kind == ObjectKind::Constraint && is_it)
        };
        let keys = table.foreign_keys.iter().filter(is_key);
        let keys: Vec<&ForeignKey> = keys.collect();
        stake.stands_on = keys
            .iter()
            .map(|key| key.table.text.to_lowercase())
            .collect();
        if goes {
            stake.spoke_of = Words::new(stake.stands_on.clone(), true);
        }
        let mut referring = referring.get(&stake.whole).into_iter().flatten();
        stake.breaks_key =
            referring.any(|key| self.moves_columns(statement, &table.name, &key.references));
    }

    /// The table and the part in a name such as `users.nick`.
    fn parted<'n>(&self, name: &'n str) -> (&'n str, &'n str) {
        let places = name.match_indices('.').map(|(at, _)| at);
        let is_table =
            |name: &str| self.to.table(name).is_some() || self.from.table(name).is_some();
        let found = places.rev().find(|at| is_table(&name[..*at]));
        found.map_or((name, ""), |at| (&name[..at], &name[at + 1..]))
    }
}

/// Pairs each dropped key with the replacement.
fn pairs<'a>(dropped: &[KeyStep<'a>], added: &[KeyStep<'a>]) -> Vec<(KeyStep<'a>, KeyStep<'a>)> {
    let mut by_table: HashMap<&str, Vec<&KeyStep<'a>>> = HashMap::new();
    for step in added {
        let table = step.table.name.text.as_str();
        by_table.entry(table).or_default().push(step);
    }
    let mut found = Vec::new();
    for gone in dropped {
        let comes = by_table.get(gone.table.name.text.as_str());
        for comes in comes.into_iter().flatten() {
            let has_name = gone
                .table
                .key_name(gone.key)
                .is(&comes.table.key_name(comes.key));
            let mut columns = gone.key.columns.iter();
            let shares = columns.any(|one| comes.key.columns.iter().any(|other| one.is(other)));
            if has_name || shares {
                found.push((*gone, **comes));
            }
        }
    }
    found
}

/// Names in a statement, in lower case.
fn names(sql: &str) -> impl Iterator<Item = String> {
    words(sql).map(|(_, name)| name)
}

/// Names of the parts changed by an `ALTER TABLE`, except in column positions.
fn changed_parts(sql: &str) -> impl Iterator<Item = String> {
    let mut is_place = false;
    let quoted = words(sql).filter(move |(kind, name)| {
        let counts = *kind == Kind::Quoted && !is_place;
        is_place = *kind == Kind::Word && name == "after";
        counts
    });
    quoted.map(|(_, name)| name)
}

fn words(sql: &str) -> impl Iterator<Item = (Kind, String)> {
    let server = Server::unknown(crate::Product::Mysql);
    let mut lexer = Lexer::new(sql, Executes::of(&server));
    let mut tokens = std::iter::from_fn(move || lexer.next().ok().flatten());
    std::iter::from_fn(move || {
        tokens.by_ref().find_map(|token| match token.kind {
            Kind::Word => Some((token.kind, token.text.to_lowercase())),
            Kind::Quoted => Some((token.kind, unquoted(token.text).to_lowercase())),
            _ => None,
        })
    })
}
