//! Prerequisites of a statement among the possibly held-back ones: the statement is held back
//! together with a prerequisite.

use std::collections::HashMap;

use crate::mysql::model::{ForeignKey, Name, Table};
use crate::{Object, ObjectKind, Statement, Verb};

/// Statements by the thing made or changed, so no statement needs a look through 10,000 tables.
#[derive(Debug, Default)]
pub(in crate::mysql) struct Needs {
    /// Creations and changes of tables and views, by name in lower case.
    tables: HashMap<String, Vec<usize>>,
    /// Changes of columns, by `table.column`.
    columns: HashMap<String, Vec<usize>>,
    /// Drops of views, by name.
    dropped_views: HashMap<String, usize>,
    /// How many statements are known.
    known: usize,
}

impl Needs {
    /// Takes in what was added to a plan since the last call.
    fn learn(&mut self, statements: &[Statement]) {
        for (at, statement) in statements.iter().enumerate().skip(self.known) {
            let Object { kind, name } = &statement.object;
            match (*kind, statement.verb) {
                (ObjectKind::Column, _) => self.columns.entry(name.clone()).or_default().push(at),
                (ObjectKind::Table | ObjectKind::View, Verb::Create | Verb::Alter) => {
                    let name = name.to_ascii_lowercase();
                    self.tables.entry(name).or_default().push(at);
                }
                (ObjectKind::View, Verb::Drop | Verb::Aside) => {
                    self.dropped_views.entry(name.clone()).or_insert(at);
                }
                _ => {}
            }
        }
        self.known = self.known.max(statements.len());
    }

    /// Leaves out the last statement, which no other one needs, such as the order of columns.
    pub(in crate::mysql) fn leave_out_last(&mut self, statements: &[Statement]) {
        self.learn(&statements[..statements.len().saturating_sub(1)]);
        self.known = statements.len();
    }

    /// Statements preparing the columns of a foreign key, on both sides.
    pub(in crate::mysql) fn of_key(
        &mut self,
        statements: &[Statement],
        table: &Table,
        key: &ForeignKey,
    ) -> Vec<usize> {
        self.learn(statements);
        let mut places = self.of_tables(statements, &[&table.name.text, &key.table.text]);
        for (owner, columns) in [(&table.name, &key.columns), (&key.table, &key.references)] {
            for column in columns {
                let name = part(owner, column);
                places.extend(held(statements, self.columns.get(&name)));
            }
        }
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Statements creating or changing any of the tables and views.
    pub(in crate::mysql) fn of_tables(
        &mut self,
        statements: &[Statement],
        names: &[&str],
    ) -> Vec<usize> {
        self.learn(statements);
        let names = names.iter().map(|name| name.to_ascii_lowercase());
        let mut places: Vec<usize> = names
            .flat_map(|name| held(statements, self.tables.get(&name)))
            .collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The statement for the drop of the view with the name.
    pub(in crate::mysql) fn dropped_view(
        &mut self,
        statements: &[Statement],
        name: &str,
    ) -> Option<usize> {
        self.learn(statements);
        self.dropped_views.get(name).copied()
    }
}

fn part(owner: &Name, column: &Name) -> String {
    format!("{}.{}", owner.text, column.text)
}

/// The places with statements fit for holding back.
fn held<'s>(
    statements: &'s [Statement],
    places: Option<&'s Vec<usize>>,
) -> impl Iterator<Item = usize> + 's {
    let can_be_held = |statement: &Statement| {
        // A column that changes by itself does so since it may have to wait.
        let is_alone = statement.verb == Verb::Alter && statement.object.kind == ObjectKind::Column;
        statement.is_destructive() || !statement.needs.is_empty() || is_alone
    };
    let places = places.into_iter().flatten().copied();
    places.filter(move |at| statements.get(*at).is_some_and(can_be_held))
}
