//! Hazards of a change for existing rows, with queries finding the rows.

use super::diff::{PartitionStep, TableDiff};
use super::expr::Expr;
use super::lex::backticked;
use super::model::{
    Check, Column, ColumnNorm, ForeignKey, Index, IndexKind, Key, Name, Partition, Partitioning,
    Table,
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
        hazards.extend(rewrite(&table.name));
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

/// Whether no server changes a stored value's type from one to the other but by copying the table.
pub(super) fn is_copied(from: &ColumnNorm, to: &ColumnNorm) -> bool {
    let is_stored = |norm: &ColumnNorm| norm.generated.as_ref().is_none_or(|(_, stored)| *stored);
    if !is_stored(from) || !is_stored(to) || from.data_type == to.data_type {
        return false;
    }
    let name = |data_type: &'_ str| data_type.split(['(', ' ']).next().map(str::to_owned);
    let shapes = (Shape::of(&from.data_type), Shape::of(&to.data_type));
    match shapes {
        // Longer ones and further labels are only another word in the table's definition; where
        // not, the server says so.
        (Shape::Text(old), Shape::Text(new)) | (Shape::Bytes(old), Shape::Bytes(new)) => {
            let (from, to) = (name(&from.data_type), name(&to.data_type));
            from != to || new < old || !from.is_some_and(|name| name.starts_with("var"))
        }
        (Shape::Values(_), Shape::Values(_)) => false,
        _ => true,
    }
}

/// Reason for a possible loss of values, if any.
pub(super) fn loss(from: &ColumnNorm, to: &ColumnNorm) -> Option<String> {
    let (old, new) = (Shape::of(&from.data_type), Shape::of(&to.data_type));
    let is_lossy = match (&old, &new) {
        (Shape::Integer(old), Shape::Integer(new)) => new.0 > old.0 || new.1 < old.1,
        (Shape::Decimal(old), Shape::Decimal(new)) => new.0 < old.0 || new.1 < old.1,
        (Shape::Integer((_, high)), Shape::Decimal((whole, _))) => digits(*high) > *whole,
        (Shape::Float(old), Shape::Float(new)) => new < old,
        (Shape::Decimal((whole, behind)), Shape::Text(room)) => {
            u64::from(whole + behind + 2) > *room
        }
        (Shape::Float(_), Shape::Text(room)) => *room < FLOAT_LETTERS,
        (Shape::Text(old) | Shape::Bytes(old), Shape::Text(new) | Shape::Bytes(new)) => {
            new < old || matches!((&old, &new), _ if is_other_charset(from, to))
        }
        (Shape::Integer((low, high)), Shape::Text(room)) => {
            u64::from(digits(*high).max(digits(*low) + 1)) > *room
        }
        // Several of a set's values are written in the order of its type.
        (Shape::Values(old), Shape::Values(new)) if from.data_type.starts_with("set") => {
            let places = old
                .iter()
                .map(|value| new.iter().position(|other| other == value));
            let places: Option<Vec<usize>> = places.collect();
            places.is_none_or(|places| !places.is_sorted())
        }
        (Shape::Values(old), Shape::Values(new)) => !old.iter().all(|value| new.contains(value)),
        (Shape::Other(old), Shape::Other(new)) => !is_wider_moment(old, new),
        _ => true,
    };
    is_lossy.then(|| format!("from {} to {}", from.data_type, to.data_type))
}

/// Everything can be written in the character sets for all of Unicode.
fn is_other_charset(from: &ColumnNorm, to: &ColumnNorm) -> bool {
    !super::normal::is_alike(&from.charset, &to.charset) && to.charset.as_deref() != Some("utf8mb4")
}

/// The same with more digits behind the second.
fn is_wider_moment(old: &str, new: &str) -> bool {
    let parts = |text: &str| {
        let (name, rest) = text.split_once('(').unwrap_or((text, "0)"));
        let digits: u32 = rest.trim_end_matches(')').parse().unwrap_or(0);
        (name.to_owned(), digits)
    };
    let (old, new) = (parts(old), parts(new));
    (old.0 == new.0 && new.1 >= old.1) || (old.0 == "date" && new.0 == "datetime")
}

fn digits(number: i128) -> u32 {
    number.unsigned_abs().checked_ilog10().unwrap_or(0) + 1
}

/// Letters of the longest number in eight bytes, `-1.7976931348623157e308`.
const FLOAT_LETTERS: u64 = 23;

/// What values a data type has room for.
#[derive(Debug)]
enum Shape {
    /// From and to.
    Integer((i128, i128)),
    /// Digits before and behind the point.
    Decimal((u32, u32)),
    /// Bytes.
    Float(u8),
    /// Letters.
    Text(u64),
    Bytes(u64),
    Values(Vec<String>),
    Other(String),
}

impl Shape {
    fn of(data_type: &str) -> Shape {
        let name_end = data_type.find(['(', ' ']).unwrap_or(data_type.len());
        let (name, rest) = data_type.split_at(name_end);
        let inside = rest
            .strip_prefix('(')
            .and_then(|rest| rest.rsplit_once(')'))
            .map_or("", |(inside, _)| inside);
        let mut numbers = inside
            .split(',')
            .map(|number| number.trim().parse::<u32>().unwrap_or(0));
        let mut number = || numbers.next().unwrap_or(0);
        let integer = |bits: u32| match rest.contains("unsigned") {
            true => Shape::Integer((0, (1_i128 << bits) - 1)),
            false => Shape::Integer((-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)),
        };
        match name {
            "tinyint" => integer(8),
            "smallint" => integer(16),
            "mediumint" => integer(24),
            "int" => integer(32),
            "bigint" => integer(64),
            "bit" => Shape::Integer((0, (1_i128 << number().min(64)) - 1)),
            "decimal" => {
                let (all, behind) = (number(), number());
                Shape::Decimal((all.saturating_sub(behind), behind))
            }
            "float" => Shape::Float(4),
            "double" => Shape::Float(8),
            "char" | "varchar" => Shape::Text(number().into()),
            "binary" | "varbinary" => Shape::Bytes(number().into()),
            "tinytext" => Shape::Text(255),
            "text" => Shape::Text(65_535),
            "mediumtext" => Shape::Text(16_777_215),
            "longtext" => Shape::Text(u32::MAX.into()),
            "tinyblob" => Shape::Bytes(255),
            "blob" => Shape::Bytes(65_535),
            "mediumblob" => Shape::Bytes(16_777_215),
            "longblob" => Shape::Bytes(u32::MAX.into()),
            "enum" | "set" => Shape::Values(
                inside
                    .split("','")
                    .map(|value| value.trim_matches('\'').to_owned())
                    .collect(),
            ),
            _ => Shape::Other(data_type.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(from: &str, to: &str, expected: bool) {
        let norm = |data_type: &str| ColumnNorm {
            data_type: data_type.to_owned(),
            ..ColumnNorm::default()
        };
        assert_eq!(
            loss(&norm(from), &norm(to)).is_some(),
            expected,
            "{from} to {to}"
        );
    }

    #[test]
    fn narrowing_is_told() {
        check("int", "bigint", false);
        check("bigint", "int", true);
        check("int", "int unsigned", true);
        check("tinyint unsigned", "smallint", false);
        check("varchar(5)", "varchar(10)", false);
        check("varchar(10)", "varchar(5)", true);
        check("varchar(10)", "text", false);
        check("int", "varchar(11)", false);
        check("int", "varchar(5)", true);
        check("varchar(10)", "int", true);
        check("decimal(10,2)", "decimal(12,4)", false);
        check("decimal(10,2)", "decimal(10,4)", true);
        check("enum('a','b')", "enum('b','a','c')", false);
        check("enum('a','b')", "enum('a')", true);
        check("set('a','b')", "set('c','a','b')", false);
        check("set('a','b')", "set('b','a')", true);
        check("set('a','b')", "set('b')", true);
        check("datetime", "datetime(3)", false);
        check("datetime(3)", "datetime", true);
        check("json", "text", true);
    }
}
