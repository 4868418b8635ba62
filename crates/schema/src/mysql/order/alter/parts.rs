//! Distribution of a table's changes over statements: permission for one loss must allow nothing
//! else.

use crate::Hazard;
use crate::mysql::conversion;
use crate::mysql::diff::{ColumnStep, Place, TableDiff, loses_values};
use crate::mysql::model::{Check, Column, Index, Name};

/// What stands in one statement.
#[derive(Default)]
pub(super) struct Clauses {
    pub(super) texts: Vec<String>,
    pub(super) hazards: Vec<Hazard>,
}

impl Clauses {
    pub(super) fn push(&mut self, text: String, hazards: Vec<Hazard>) {
        self.texts.push(text);
        self.hazards.extend(hazards);
    }
}

/// Clauses of a table's change: lossless ones share one statement; a lossy column has a separate
/// one, together with the dependent clauses.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) kept: Clauses,
    /// Lossy columns in the order of the change, then columns waiting for foreign keys.
    pub(super) lossy: Vec<(Name, Clauses)>,
    /// Checks, each by itself, where a server may only add one by copying the table.
    pub(super) checks: Vec<(Name, Clauses)>,
    /// Lossless columns in an index waiting for a lossy one, with the position in `lossy`.
    tied: Vec<(Name, usize)>,
}

impl Parts {
    pub(super) fn of(diff: &TableDiff<'_>) -> Parts {
        let lossy = diff.columns.iter().filter_map(|step| match step {
            ColumnStep::Add(..) => None,
            ColumnStep::Change { from, to, .. } => {
                (waits(diff, from, to) && !is_apart(diff, from, to)).then_some(&to.name)
            }
            ColumnStep::Remake { from, to, .. } => loses_values(from, to).then_some(&to.name),
        });
        let mut lossy: Vec<Name> = lossy.cloned().collect();
        if let Some((from, _)) = handed(diff)
            && let Some(at) = lossy.iter().position(|name| name.is(from))
        {
            // The other has no counter before.
            let from = lossy.remove(at);
            lossy.insert(0, from);
        }
        let anchored = diff.anchored.iter().filter(|name| !is_alone(diff, name));
        for name in anchored {
            if !lossy.iter().any(|known| known.is(name)) {
                lossy.push((*name).clone());
            }
        }
        let mut tied = tied(diff, &lossy);
        if let Some((from, to)) = handed(diff)
            && let Some(at) = lossy.iter().position(|name| name.is(from))
        {
            tied.push((to.clone(), at));
        }
        Parts {
            kept: Clauses::default(),
            checks: Vec::new(),
            lossy: lossy
                .into_iter()
                .map(|name| (name, Clauses::default()))
                .collect(),
            tied,
        }
    }

    /// Position of the lossy change containing a column's change.
    fn place(&self, name: &Name) -> Option<usize> {
        let mut lossy = self.lossy.iter();
        let own = lossy.position(|(column, _)| column.is(name));
        let tied = || self.tied.iter().find(|(column, _)| column.is(name));
        own.or_else(|| tied().map(|(_, at)| *at))
    }

    /// Whether a column of the index changes with a loss.
    pub(super) fn has(&self, index: &Index) -> bool {
        let mut lossy = self.lossy.iter();
        lossy.any(|(column, _)| is_on(&[index], column))
    }

    /// Whether a column's change stands with a loss.
    pub(super) fn is_lossy(&self, name: &Name) -> bool {
        self.place(name).is_some()
    }

    /// Where what a column does belongs.
    pub(super) fn of_column(&mut self, name: &Name) -> &mut Clauses {
        let place = self.place(name);
        match place.and_then(|at| self.lossy.get_mut(at)) {
            Some((_, clauses)) => clauses,
            None => &mut self.kept,
        }
    }

    /// Clauses where indexes are dropped: before the first drop of an indexed column.
    pub(super) fn before(&mut self, indexes: &[&Index]) -> &mut Clauses {
        let mut lossy = self.lossy.iter();
        let own = lossy.position(|(column, _)| is_on(indexes, column));
        let tied = self.tied.iter();
        let tied = tied.filter(|(column, _)| is_on(indexes, column));
        match own.or_else(|| tied.map(|(_, at)| *at).min()) {
            Some(at) => &mut self.lossy[at].1,
            None => &mut self.kept,
        }
    }

    /// Clauses where an index is added: behind the last of all indexed columns.
    pub(super) fn behind(&mut self, indexes: &[&Index]) -> &mut Clauses {
        let lossy = self.lossy.iter();
        let own = lossy.map(|(column, _)| column).enumerate();
        let tied = self.tied.iter().map(|(column, at)| (*at, column));
        let places = own.chain(tied);
        let last = places.filter(|(_, column)| is_on(indexes, column));
        match last.map(|(at, _)| at).max() {
            Some(at) => &mut self.lossy[at].1,
            None => &mut self.kept,
        }
    }

    /// Clauses where a check is added: behind the last of the columns in its text.
    pub(super) fn of_check(
        &mut self,
        diff: &TableDiff<'_>,
        name: Name,
        check: &Check,
    ) -> &mut Clauses {
        let text = &check.expr.text;
        let is_named = |(column, _): &(Name, Clauses)| text.contains(column.text.as_str());
        if let Some(at) = self.lossy.iter().rposition(is_named) {
            return &mut self.lossy[at].1;
        }
        // A column gets its new name with the others, and not without its checks.
        if !diff.parts_copies || !check.is_enforced || diff.names_renamed(check) {
            return &mut self.kept;
        }
        let known = self.checks.iter().position(|(known, _)| known.is(&name));
        let at = known.unwrap_or_else(|| {
            self.checks.push((name, Clauses::default()));
            self.checks.len() - 1
        });
        &mut self.checks[at].1
    }
}

impl Parts {
    /// Clauses for the drop of a replaced check: those of the replacement, but not behind the drop
    /// of a column in the check.
    pub(super) fn of_replaced_check(
        &mut self,
        diff: &TableDiff<'_>,
        name: Name,
        (check, heir): (&Check, &Check),
    ) -> &mut Clauses {
        let text = &check.expr.text;
        let is_remade = |(column, _): &(Name, Clauses)| {
            text.contains(column.text.as_str())
                && diff.columns.iter().any(|step| match step {
                    ColumnStep::Remake { from, .. } => from.name.is(column),
                    ColumnStep::Add(..) | ColumnStep::Change { .. } => false,
                })
        };
        let text = &heir.expr.text;
        let is_named = |(column, _): &(Name, Clauses)| text.contains(column.text.as_str());
        let added = self.lossy.iter().rposition(is_named);
        match (self.lossy.iter().position(is_remade), added) {
            (Some(gone), Some(added)) if gone < added => &mut self.lossy[gone].1,
            _ => self.of_check(diff, name, heir),
        }
    }
}

/// The columns losing and getting the counter: a table never has two, so the second waits for the
/// first.
fn handed<'a>(diff: &TableDiff<'a>) -> Option<(&'a Name, &'a Name)> {
    let steps = || {
        diff.columns.iter().map(|step| match *step {
            ColumnStep::Add(to, _) => (&to.name, false, to.is_auto_increment),
            ColumnStep::Change { from, to, .. } | ColumnStep::Remake { from, to, .. } => {
                (&to.name, from.is_auto_increment, to.is_auto_increment)
            }
        })
    };
    let (from, ..) = steps().find(|(_, before, after)| *before && !after)?;
    let (to, ..) = steps().find(|(_, before, after)| !before && *after)?;
    Some((from, to))
}

/// Whether a new column gets the counter of another.
pub(super) fn is_handed(diff: &TableDiff<'_>, column: &Column) -> bool {
    handed(diff).is_some_and(|(_, to)| to.is(&column.name))
}

/// Columns sharing a recreated index with a lossy column.
fn tied(diff: &TableDiff<'_>, lossy: &[Name]) -> Vec<(Name, usize)> {
    let replaced = diff.replaced_indexes.iter();
    let replaced = replaced.map(|(before, after)| vec![*before, *after]);
    let dropped = diff.dropped_indexes.iter().map(|index| vec![*index]);
    let mut tied = Vec::new();
    for indexes in replaced.chain(dropped) {
        let Some(at) = lossy.iter().position(|column| is_on(&indexes, column)) else {
            continue;
        };
        let changed = diff.columns.iter().filter_map(|step| match step {
            ColumnStep::Change { from, to, .. } if is_on(&indexes, &to.name) => {
                (!is_apart(diff, from, to)).then_some(&to.name)
            }
            _ => None,
        });
        tied.extend(changed.map(|name| (name.clone(), at)));
    }
    tied
}

/// Whether a dropped or created index covers both columns.
pub(super) fn shares_index(diff: &TableDiff<'_>, one: &Name, other: &Name) -> bool {
    let replaced = diff.replaced_indexes.iter();
    let replaced = replaced.map(|(before, after)| vec![*before, *after]);
    let primary = diff.primary.into_iter();
    let primary = primary.map(|(before, after)| before.into_iter().chain(after).collect());
    let added = diff.added_indexes.iter().map(|index| vec![*index]);
    let dropped = diff.dropped_indexes.iter().map(|index| vec![*index]);
    let mut all = replaced.chain(primary).chain(added).chain(dropped);
    let is_handed = handed(diff).is_some_and(|(from, to)| from.is(one) && to.is(other));
    is_handed || all.any(|indexes| is_on(&indexes, one) && is_on(&indexes, other))
}

/// Whether any of the indexes covers a column.
fn is_on(indexes: &[&Index], column: &Name) -> bool {
    let mut indexes = indexes.iter();
    indexes.any(|index| index.parts.iter().any(|part| part.is_of(column)))
}

/// Columns out of place after all clauses, each with the wanted predecessor: a column dropped and
/// added later changes the neighbours of others.
pub(super) fn misplaced<'a>(diff: &TableDiff<'a>, parts: &Parts) -> Vec<(&'a Column, Place<'a>)> {
    if parts.lossy.is_empty() {
        return Vec::new();
    }
    let mut order: Vec<&Name> = diff
        .from
        .columns
        .iter()
        .map(|column| &column.name)
        .collect();
    let moves = diff.columns.iter().filter_map(|step| match step {
        // A new column is there first, although its foreign key may wait for a loss.
        ColumnStep::Add(column, place) => {
            let statement = is_handed(diff, column).then(|| parts.place(&column.name));
            Some((statement.flatten(), &column.name, *place))
        }
        // The others wait for this.
        ColumnStep::Change { to, place, .. } if parts.is_lossy(&to.name) => {
            Some((parts.place(&to.name), &to.name, (*place)?))
        }
        ColumnStep::Change { .. } => None,
        ColumnStep::Remake { to, place, .. } => Some((parts.place(&to.name), &to.name, *place)),
    });
    let mut moves: Vec<(Option<usize>, &Name, Place<'_>)> = moves.collect();
    // As the statements are executed: those without a loss first.
    moves.sort_by_key(|(statement, _, _)| *statement);
    for (_, name, place) in moves {
        put(&mut order, name, place);
    }
    let wanted = &diff.to.columns;
    order.retain(|name| wanted.iter().any(|column| column.name.is(name)));
    let mut found = Vec::new();
    for (at, column) in wanted.iter().enumerate() {
        if order.get(at).is_some_and(|name| name.is(&column.name)) {
            continue;
        }
        let place = match at.checked_sub(1) {
            None => Place::First,
            Some(before) => Place::After(&wanted[before].name),
        };
        put(&mut order, &column.name, place);
        found.push((column, place));
    }
    found
}

fn put<'a>(order: &mut Vec<&'a Name>, name: &'a Name, place: Place<'_>) {
    order.retain(|other| !other.is(name));
    let at = match place {
        Place::First => 0,
        Place::After(before) => {
            let before = order.iter().position(|other| other.is(before));
            before.map_or(order.len(), |before| before + 1)
        }
    };
    order.insert(at, name);
}

/// Whether a column's change is a separate statement: possibly held back, and without a new index
/// waiting for the change.
pub(super) fn is_apart(diff: &TableDiff<'_>, from: &Column, to: &Column) -> bool {
    let replaced = diff.replaced_indexes.iter().map(|(_, after)| *after);
    let primary = diff.primary.and_then(|(_, after)| after);
    let mut new = diff
        .added_indexes
        .iter()
        .copied()
        .chain(replaced)
        .chain(primary);
    let hands = handed(diff).is_some_and(|(one, other)| to.name.is(one) || to.name.is(other));
    waits(diff, from, to)
        && !hands
        && !new.any(|index| index.parts.iter().any(|part| part.is_of(&to.name)))
}

/// Whether a column of the name changes in a statement of its own.
fn is_alone(diff: &TableDiff<'_>, name: &Name) -> bool {
    diff.columns.iter().any(|step| match step {
        ColumnStep::Change { from, to, .. } => to.name.is(name) && is_apart(diff, from, to),
        ColumnStep::Add(..) | ColumnStep::Remake { .. } => false,
    })
}

/// Whether a change of one of the columns may be held back.
pub(in crate::mysql::order) fn may_wait(diff: &TableDiff<'_>, columns: &[Name]) -> bool {
    let is_named = |name: &Name| columns.iter().any(|column| column.is(name));
    diff.columns.iter().any(|step| match step {
        ColumnStep::Add(..) => false,
        ColumnStep::Change { from, to, .. } => is_named(&to.name) && waits(diff, from, to),
        ColumnStep::Remake { from, to, .. } => is_named(&to.name) && loses_values(from, to),
    })
}

/// Whether a column's change may be held back, for losses or for blocking others.
fn waits(diff: &TableDiff<'_>, from: &Column, to: &Column) -> bool {
    let is_copied = || conversion::is_copied(&from.norm, &to.norm);
    is_lossy(from, to) || (diff.parts_copies && is_copied())
}

fn is_lossy(from: &Column, to: &Column) -> bool {
    from.norm.generated.is_none()
        && !from.norm.is_same_type(&to.norm)
        && conversion::loss(&from.norm, &to.norm).is_some()
}
