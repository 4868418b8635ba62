//! Hazards of a change for existing rows, with queries finding the rows.

use super::conversion::{is_in_place, loss};
use super::diff::{PartitionStep, TableDiff};
use super::expr::Expr;
use super::lexer::backticked;
use super::model::{
    Check, Column, ForeignKey, Index, IndexKind, Key, Name, Partition, Partitioning, Table,
};
use crate::Hazard;

/// Others read meanwhile, but do not write.
const SHARED: Hazard = Hazard::Lock("SHARED");

/// The name on the server now.
fn now(name: &Name, was: &Option<Name>) -> String {
    backticked(&was.as_ref().unwrap_or(name).text)
}

/// Hazards of adding a column to a table with rows.
pub(super) fn of_added(table: &Table, column: &Column) -> Vec<Hazard> {
    let is_stored = column
        .norm
        .generated
        .as_ref()
        .is_some_and(|(_, is_stored)| *is_stored);
    match is_stored || column.is_auto_increment {
        true => rewrite(&table.name),
        false => Vec::new(),
    }
}

fn rewrite(table: &Name) -> Vec<Hazard> {
    vec![
        Hazard::Rewrite(format!("table {} is written anew", table.text)),
        SHARED,
    ]
}

/// Hazards of changing a column.
pub(super) fn of_changed(table: &Table, from: &Column, to: &Column) -> Vec<Hazard> {
    let mut hazards = Vec::new();
    let name = &to.name.text;
    if !from.norm.is_same_type(&to.norm) {
        if !is_in_place(&from.norm, &to.norm) {
            hazards.extend(rewrite(&table.name));
        }
        if let Some(why) = loss(&from.norm, &to.norm) {
            hazards.push(Hazard::LossyCast(format!(
                "values of {}.{name} may not fit: {why}",
                table.name.text
            )));
        }
    }
    if from.norm.is_nullable && !to.norm.is_nullable {
        hazards.push(Hazard::MayFail {
            reason: format!("{name} must not be NULL"),
            query: Some(format!(
                "SELECT * FROM {} WHERE {} IS NULL",
                now(&table.name, &table.was),
                now(&from.name, &from.was)
            )),
        });
    }
    hazards
}

/// Hazards of creating an index on a table with rows.
pub(super) fn of_index(table: &Table, index: &Index) -> Vec<Hazard> {
    match index.kind {
        IndexKind::Primary => {
            let mut hazards = rewrite(&table.name);
            hazards.push(duplicates(table, index));
            hazards
        }
        IndexKind::Unique => vec![duplicates(table, index)],
        IndexKind::Plain => Vec::new(),
        IndexKind::Fulltext | IndexKind::Spatial | IndexKind::Vector => vec![SHARED],
    }
}

fn duplicates(table: &Table, index: &Index) -> Hazard {
    let columns: Vec<String> = index
        .parts
        .iter()
        .filter_map(|part| match &part.key {
            Key::Column(name) => Some(backticked(&name.text)),
            Key::Expr(_) => None,
        })
        .collect();
    let is_whole =
        columns.len() == index.parts.len() && index.parts.iter().all(|part| part.length.is_none());
    let list = columns.join(", ");
    Hazard::MayFail {
        reason: format!("no two rows may be alike in {}", index.name.text),
        query: is_whole.then(|| {
            format!(
                "SELECT {list}, COUNT(*) FROM {} GROUP BY {list} HAVING COUNT(*) > 1",
                now(&table.name, &table.was)
            )
        }),
    }
}

/// Hazards of adding a foreign key to a table with rows.
pub(super) fn of_key(table: &Table, key: &ForeignKey) -> Vec<Hazard> {
    let pairs = || key.columns.iter().zip(&key.references);
    let joined: Vec<String> = pairs()
        .map(|(own, theirs)| {
            format!(
                "parent.{} = child.{}",
                backticked(&theirs.text),
                backticked(&own.text)
            )
        })
        .collect();
    let given: Vec<String> = key
        .columns
        .iter()
        .map(|own| format!("child.{} IS NOT NULL", backticked(&own.text)))
        .collect();
    let lacks = key
        .references
        .first()
        .map(|first| format!("parent.{} IS NULL", backticked(&first.text)));
    let query = lacks.map(|lacks| {
        format!(
            "SELECT child.* FROM {} AS child LEFT JOIN {} AS parent ON {} WHERE {} AND {lacks}",
            now(&table.name, &table.was),
            backticked(&key.table.text),
            joined.join(" AND "),
            given.join(" AND ")
        )
    });
    let mut hazards = rewrite(&table.name);
    hazards.push(Hazard::MayFail {
        reason: format!(
            "each row of {} needs its row of {}",
            table.name.text, key.table.text
        ),
        query,
    });
    hazards
}

/// Hazards of adding a check to a table with rows.
pub(super) fn of_check(table: &Table, check: &Check) -> Vec<Hazard> {
    if !check.is_enforced {
        return Vec::new();
    }
    let text = &check.expr.text;
    vec![Hazard::MayFail {
        reason: format!("rows must satisfy CHECK ({text})"),
        query: Some(format!(
            "SELECT * FROM {} WHERE NOT ({text})",
            now(&table.name, &table.was)
        )),
    }]
}

/// Engines able to store the rows of any other. The rest is unknown, or stores nothing
/// (`BLACKHOLE`), or nothing across a restart (`MEMORY`).
const KEEPING: [&str; 3] = ["aria", "innodb", "myisam"];

/// Of another engine.
pub(super) fn of_engine(to: &Table) -> Vec<Hazard> {
    let mut hazards = rewrite(&to.name);
    let engine = &to.norm.engine;
    if !KEEPING.contains(&engine.to_ascii_lowercase().as_str()) {
        let name = &to.name.text;
        let lost = format!("rows of {name}, unless the engine {engine} keeps them");
        hazards.push(Hazard::DataLoss(lost));
    }
    hazards
}

/// Of other options.
pub(super) fn of_options(from: &Table, to: &Table) -> Vec<Hazard> {
    let is_rewritten = from.norm.engine != to.norm.engine
        || from.norm.row_format != to.norm.row_format
        || from.norm.others != to.norm.others;
    if is_rewritten {
        rewrite(&to.name)
    } else {
        Vec::new()
    }
}

/// Hazards of moving rows between partitions.
pub(super) fn of_partitions(diff: &TableDiff<'_>, step: &PartitionStep<'_>) -> Vec<Hazard> {
    let name = &diff.to.name.text;
    let mut hazards = vec![Hazard::Rewrite(format!("table {name} is written anew"))];
    let is_short = match step {
        PartitionStep::By(_) => true,
        PartitionStep::Reorganize(from, to) => {
            // Most servers say nothing of such rows, and they are gone.
            let lost = homeless(name, from, to);
            let is_short = lost.is_some();
            hazards.extend(lost);
            is_short
        }
        PartitionStep::Remove | PartitionStep::Drop(_) | PartitionStep::Add(_) => false,
    };
    let outside = diff.to.partitioning.as_ref().and_then(outside);
    if let Some(outside) = outside.filter(|_| is_short) {
        hazards.push(Hazard::MayFail {
            reason: format!("each row of {name} needs a partition"),
            query: Some(format!(
                "SELECT * FROM {} WHERE {outside}",
                now(&diff.from.name, &diff.from.was)
            )),
        });
    }
    hazards
}

/// Rows with a listed value missing in all new lists.
fn homeless(table: &str, from: &[&Partition], to: &[&Partition]) -> Option<Hazard> {
    let taken = |value: &&Expr| to.iter().any(|new| new.values.contains(value));
    let values = from.iter().flat_map(|old| &old.values);
    let lost: Vec<&str> = values
        .filter(|value| !taken(value))
        .map(|value| value.text.as_str())
        .collect();
    let rows = format!("rows of {table} whose partition took {}", lost.join(", "));
    (!lost.is_empty()).then_some(Hazard::DataLoss(rows))
}

/// Condition of rows outside all partitions; `None` where there are none, or where the bounds
/// cannot be compared.
fn outside(partitioning: &Partitioning) -> Option<String> {
    let (key, last) = (&partitioning.key, partitioning.partitions.last()?);
    if partitioning.is_range {
        let bound = last.bound.as_ref()?;
        return Some(format!("({key}) >= ({bound})"));
    }
    let is_listed = partitioning
        .partitions
        .iter()
        .all(|one| !one.values.is_empty());
    let values = partitioning.partitions.iter().flat_map(|one| &one.values);
    let values: Vec<String> = values
        .map(|value| format!("({key}) <=> {}", value.text))
        .collect();
    is_listed.then(|| format!("NOT ({})", values.join(" OR ")))
}
