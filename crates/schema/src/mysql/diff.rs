//! Differences between two tables, before any statement is written.

mod cut;
mod partitions;
mod programs;
mod renamed;

use super::model::{Check, Column, ForeignKey, Index, Name, Partition, Partitioning, Table};

/// Where a column goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place<'a> {
    First,
    After(&'a Name),
}

/// What happens to a column.
#[derive(Clone, Copy, Debug)]
pub(super) enum ColumnStep<'a> {
    Add(&'a Column, Place<'a>),
    Change {
        from: &'a Column,
        to: &'a Column,
        place: Option<Place<'a>>,
    },
    /// Dropped and added, since servers cannot turn one into the other.
    Remake {
        from: &'a Column,
        to: &'a Column,
        place: Place<'a>,
    },
}

/// What happens to partitions.
#[derive(Clone, Debug)]
pub(super) enum PartitionStep<'a> {
    /// Recreated.
    By(&'a Partitioning),
    Remove,
    Drop(Vec<&'a Partition>),
    Add(Vec<&'a Partition>),
    /// The first partitions are reorganised into the second.
    Reorganize(Vec<&'a Partition>, Vec<&'a Partition>),
}

/// Differences between a table and the wanted one.
#[derive(Clone, Debug)]
pub(super) struct TableDiff<'a> {
    pub from: &'a Table,
    pub to: &'a Table,
    pub columns: Vec<ColumnStep<'a>>,
    pub dropped_columns: Vec<&'a Column>,
    /// The dropped primary key and the added one.
    pub primary: Option<(Option<&'a Index>, Option<&'a Index>)>,
    pub added_indexes: Vec<&'a Index>,
    pub replaced_indexes: Vec<(&'a Index, &'a Index)>,
    pub renamed_indexes: Vec<(&'a Index, &'a Index)>,
    /// Indexes whose visibility to the optimizer changes.
    pub hidden_indexes: Vec<&'a Index>,
    pub dropped_indexes: Vec<&'a Index>,
    pub added_keys: Vec<&'a ForeignKey>,
    pub dropped_keys: Vec<&'a ForeignKey>,
    pub added_checks: Vec<&'a Check>,
    pub dropped_checks: Vec<&'a Check>,
    pub is_other_options: bool,
    pub partitions: Vec<PartitionStep<'a>>,
    /// Whether a column change copying the table is a separate statement, so the others need not
    /// wait.
    pub parts_copies: bool,
    /// Columns of foreign keys recreated for a loss: what changes of the columns waits with the
    /// keys, and nothing else does.
    pub anchored: Vec<&'a Name>,
}

impl<'a> TableDiff<'a> {
    pub fn of(from: &'a Table, to: &'a Table) -> TableDiff<'a> {
        let mut diff = TableDiff {
            from,
            to,
            columns: Vec::new(),
            dropped_columns: Vec::new(),
            primary: None,
            added_indexes: Vec::new(),
            replaced_indexes: Vec::new(),
            renamed_indexes: Vec::new(),
            hidden_indexes: Vec::new(),
            dropped_indexes: Vec::new(),
            added_keys: Vec::new(),
            dropped_keys: Vec::new(),
            added_checks: Vec::new(),
            dropped_checks: Vec::new(),
            is_other_options: !from.norm.is_same(&to.norm),
            partitions: Vec::new(),
            parts_copies: false,
            anchored: Vec::new(),
        };
        diff.columns();
        diff.indexes();
        diff.foreign_keys();
        diff.checks();
        diff.partitions();
        diff
    }

    pub fn is_empty(&self) -> bool {
        self.from.was.is_none()
            && self.columns.is_empty()
            && self.dropped_columns.is_empty()
            && self.primary.is_none()
            && self.added_indexes.is_empty()
            && self.replaced_indexes.is_empty()
            && self.renamed_indexes.is_empty()
            && self.hidden_indexes.is_empty()
            && self.dropped_indexes.is_empty()
            && self.added_keys.is_empty()
            && self.dropped_keys.is_empty()
            && self.added_checks.is_empty()
            && self.dropped_checks.is_empty()
            && !self.is_other_options
            && self.partitions.is_empty()
    }

    fn columns(&mut self) {
        let (from, to) = (self.from, self.to);
        let stays = |column: &&Column| {
            to.column(&column.name)
                .is_some_and(|after| !is_remade(column, after))
        };
        let mut order: Vec<&Name> = from
            .columns
            .iter()
            .filter(stays)
            .map(|column| &column.name)
            .collect();
        for (at, column) in to.columns.iter().enumerate() {
            let place = match at.checked_sub(1) {
                None => Place::First,
                Some(before) => Place::After(&to.columns[before].name),
            };
            let step = match from.column(&column.name) {
                None => ColumnStep::Add(column, place),
                Some(before) if is_remade(before, column) => ColumnStep::Remake {
                    from: before,
                    to: column,
                    place,
                },
                Some(before) => {
                    let is_in_place = order.get(at).is_some_and(|name| name.is(&column.name));
                    if !is_in_place {
                        order.retain(|name| !name.is(&column.name));
                        order.insert(at.min(order.len()), &column.name);
                    }
                    if is_in_place && before.was.is_none() && before.norm.is_same(&column.norm) {
                        continue;
                    }
                    self.columns.push(ColumnStep::Change {
                        from: before,
                        to: column,
                        place: (!is_in_place).then_some(place),
                    });
                    continue;
                }
            };
            order.insert(at.min(order.len()), &column.name);
            self.columns.push(step);
        }
        self.dropped_columns = from
            .columns
            .iter()
            .filter(|column| to.column(&column.name).is_none())
            .collect();
    }

    fn indexes(&mut self) {
        let (from, to) = (self.from, self.to);
        for index in to.indexes.iter().filter(|index| !index.is_primary()) {
            match from.index(&index.name) {
                None => self.added_indexes.push(index),
                Some(before) if before.is_hidden_only(index) && !self.has_remade(before) => {
                    self.hidden_indexes.push(index);
                }
                Some(before) if !before.is_kept_for(index) => {
                    self.replaced_indexes.push((before, index))
                }
                // With a column that is dropped for a while an index would lose it.
                Some(before) if self.has_remade(before) => {
                    self.replaced_indexes.push((before, index))
                }
                Some(before) if before.was.is_some() => self.renamed_indexes.push((before, index)),
                Some(_) => {}
            }
        }
        let is_gone = |index: &&Index| !index.is_primary() && to.index(&index.name).is_none();
        self.dropped_indexes = from.indexes.iter().filter(is_gone).collect();
        let (before, after) = (from.primary(), to.primary());
        let is_kept = match (before, after) {
            (Some(before), Some(after)) => before.is_kept_for(after),
            _ => before.is_none() && after.is_none(),
        };
        if !is_kept {
            self.primary = Some((before, after));
        }
    }

    /// Whether a column of the index is dropped and added.
    pub fn has_remade(&self, index: &Index) -> bool {
        self.columns.iter().any(|step| match step {
            ColumnStep::Remake { from, .. } => {
                index.parts.iter().any(|part| part.is_of(&from.name))
            }
            ColumnStep::Add(..) | ColumnStep::Change { .. } => false,
        })
    }

    fn foreign_keys(&mut self) {
        let (from, to) = (self.from, self.to);
        let mut kept = vec![false; from.foreign_keys.len()];
        for key in &to.foreign_keys {
            let same = from
                .foreign_keys
                .iter()
                .enumerate()
                .position(|(at, before)| {
                    !kept[at] && has_same_name(&before.name, &key.name) && before.is_same(key)
                });
            match same {
                Some(at) => kept[at] = true,
                None => self.added_keys.push(key),
            }
        }
        let pairs = from.foreign_keys.iter().zip(&kept);
        self.dropped_keys = pairs
            .filter(|(_, kept)| !**kept)
            .map(|(key, _)| key)
            .collect();
    }

    fn checks(&mut self) {
        let (from, to) = (self.from, self.to);
        let mut kept = vec![false; from.checks.len()];
        for check in &to.checks {
            let same = from.checks.iter().enumerate().position(|(at, before)| {
                !kept[at]
                    && has_same_name(&before.name, &check.name)
                    && before.expr == check.expr
                    && before.is_enforced == check.is_enforced
            });
            match same {
                Some(at) => kept[at] = true,
                None => self.added_checks.push(check),
            }
        }
        let pairs = from.checks.iter().zip(&kept);
        self.dropped_checks = pairs
            .filter(|(_, kept)| !**kept)
            .map(|(check, _)| check)
            .collect();
    }
}

/// Servers name what has no name.
fn has_same_name(one: &Option<Name>, other: &Option<Name>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.is(other),
        _ => true,
    }
}

/// Whether a column can only be dropped and added, not redefined.
fn is_remade(from: &Column, to: &Column) -> bool {
    match (&from.norm.generated, &to.norm.generated) {
        (Some((_, one)), Some((_, other))) => one != other,
        (None, None) => false,
        _ => true,
    }
}

/// Whether a column dropped and added has other values then: only what is computed before and after
/// is computed again.
pub(super) fn loses_values(from: &Column, to: &Column) -> bool {
    from.generated.is_none() || to.generated.is_none()
}

impl Table {
    pub(super) fn column(&self, name: &Name) -> Option<&Column> {
        self.columns.iter().find(|column| column.name.is(name))
    }

    pub(super) fn index(&self, name: &Name) -> Option<&Index> {
        self.indexes.iter().find(|index| index.name.is(name))
    }

    pub(super) fn primary(&self) -> Option<&Index> {
        self.indexes.iter().find(|index| index.is_primary())
    }

    /// Name of a foreign key, generated like the server's when none was written.
    pub(super) fn key_name(&self, key: &ForeignKey) -> Name {
        if let Some(name) = &key.name {
            return name.clone();
        }
        let unnamed = self.foreign_keys.iter().filter(|key| key.name.is_none());
        let place = unnamed
            .take_while(|other| !std::ptr::eq(*other, key))
            .count();
        Name::quoted(format!("{}_ibfk_{}", self.name.text, place + 1))
    }

    /// The same of a check.
    pub(super) fn check_name(&self, check: &Check, is_mariadb: bool) -> Name {
        if let Some(name) = &check.name {
            return name.clone();
        }
        let unnamed = self.checks.iter().filter(|check| check.name.is_none());
        let place = unnamed
            .take_while(|other| !std::ptr::eq(*other, check))
            .count()
            + 1;
        Name::quoted(match is_mariadb {
            true => format!("CONSTRAINT_{place}"),
            false => format!("{}_chk_{place}", self.name.text),
        })
    }
}

impl ForeignKey {
    /// Whether both demand the same, names apart.
    pub(super) fn is_same(&self, other: &ForeignKey) -> bool {
        let action = |action: &Option<String>| match action.as_deref() {
            None | Some("RESTRICT" | "NO ACTION") => None,
            Some(action) => Some(action.to_owned()),
        };
        let is_same = |one: &[Name], other: &[Name]| {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.is(other))
        };
        is_same(&self.columns, &other.columns)
            && self.table.is(&other.table)
            && self.database == other.database
            && (is_same(&self.references, &other.references)
                || self.references.is_empty()
                || other.references.is_empty())
            && action(&self.on_delete) == action(&other.on_delete)
            && action(&self.on_update) == action(&other.on_update)
    }
}

impl Index {
    /// Whether the indexes differ only in visibility to the optimizer.
    fn is_hidden_only(&self, other: &Index) -> bool {
        let plain = |index: &Index| index.norm.trim_end_matches(" invisible").len();
        self.was.is_none()
            && self.is_invisible != other.is_invisible
            && self.norm[..plain(self)] == other.norm[..plain(other)]
    }
}
