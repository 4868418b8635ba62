//! Changes of a column's type: which lose values, and which write all rows.

use super::model::ColumnNorm;

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

/// Whether MySQL gives the indexes of the column a prefix when the type changes.
pub(super) fn cuts_indexes(from: &ColumnNorm, to: &ColumnNorm) -> bool {
    let (old, new) = (Shape::of(&from.data_type), Shape::of(&to.data_type));
    matches!(old, Shape::Values(_)) && matches!(new, Shape::Text(_) | Shape::Bytes(_))
}

/// Reason for a possible loss of values, if any.
pub(super) fn loss(from: &ColumnNorm, to: &ColumnNorm) -> Option<String> {
    let (old, new) = (Shape::of(&from.data_type), Shape::of(&to.data_type));
    let end = match (&old, &new) {
        (Shape::Text(_) | Shape::Bytes(_), Shape::Text(_) | Shape::Bytes(_)) => other_end(from, to),
        _ => None,
    };
    let is_lossy = match (&old, &new) {
        _ if end.is_some() => true,
        (Shape::Integer(old), Shape::Integer(new)) => new.0 > old.0 || new.1 < old.1,
        (Shape::Decimal(old), Shape::Decimal(new)) => new.0 < old.0 || new.1 < old.1,
        (Shape::Integer((_, high)), Shape::Decimal((whole, _))) => digits(*high) > *whole,
        (Shape::Float(old), Shape::Float(new)) => new < old,
        (Shape::Decimal((whole, behind)), Shape::Text(room)) => {
            u64::from(whole + behind + 2) > *room
        }
        // Servers write six digits of a FLOAT.
        (Shape::Float(bytes), Shape::Text(room)) => *bytes < 8 || *room < FLOAT_LETTERS,
        (Shape::Text(old) | Shape::Bytes(old), Shape::Text(new) | Shape::Bytes(new)) => {
            new < old || matches!((&old, &new), _ if is_other_charset(from, to))
        }
        // The bits become the bytes of a text.
        (Shape::Integer(_), Shape::Text(_)) if from.data_type.starts_with("bit") => true,
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
    let end = end.unwrap_or_default();
    is_lossy.then(|| format!("from {} to {}{end}", from.data_type, to.data_type))
}

/// What becomes of the ends of texts, if anything: servers take spaces off a `CHAR`, and fill a
/// `BINARY` up.
fn other_end(from: &ColumnNorm, to: &ColumnNorm) -> Option<&'static str> {
    let name = |norm: &ColumnNorm| norm.data_type.split('(').next().map(str::to_owned);
    match name(to).as_deref() {
        Some("char") if name(from) != name(to) => Some(", without spaces at the end"),
        Some("binary") if from.data_type != to.data_type => Some(", filled up with zeros"),
        _ => None,
    }
}

/// Whether InnoDB changes the type without writing the rows: a longer `VARCHAR` whose length takes
/// as many bytes as before, and more values behind those of an enumeration.
/// <https://dev.mysql.com/doc/refman/8.4/en/innodb-online-ddl-operations.html>
pub(super) fn is_in_place(from: &ColumnNorm, to: &ColumnNorm) -> bool {
    /// Bytes whose count fits into one byte.
    const SHORT: u64 = 255;
    let is_same_text = from.charset == to.charset && from.collation == to.collation;
    let is_variable = |norm: &ColumnNorm| norm.data_type.starts_with("var");
    let (old, new) = (Shape::of(&from.data_type), Shape::of(&to.data_type));
    match (&old, &new) {
        (Shape::Text(old), Shape::Text(new)) | (Shape::Bytes(old), Shape::Bytes(new)) => {
            let Some(each) = letter_bytes(from) else {
                return false;
            };
            let is_length_alike = new * each <= SHORT || old * each > SHORT;
            is_same_text && is_variable(from) && is_variable(to) && new >= old && is_length_alike
        }
        (Shape::Values(old), Shape::Values(new)) => {
            let is_number_alike = new.len() as u64 <= SHORT || old.len() as u64 > SHORT;
            let is_enum = from.data_type.starts_with("enum") && to.data_type.starts_with("enum");
            is_same_text && is_enum && new.starts_with(old) && is_number_alike
        }
        _ => false,
    }
}

/// Bytes of the longest letter; `None` for an unknown character set.
fn letter_bytes(norm: &ColumnNorm) -> Option<u64> {
    if norm.data_type.starts_with("varbinary") {
        return Some(1);
    }
    match norm.charset.as_deref()? {
        "utf8mb4" | "utf16" | "utf16le" | "utf32" | "gb18030" => Some(4),
        "utf8" | "utf8mb3" | "eucjpms" | "ujis" => Some(3),
        "latin1" | "ascii" | "binary" | "latin2" | "cp1252" => Some(1),
        _ => None,
    }
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
    fn a_longer_text_of_the_same_length_byte_needs_no_copy() {
        let check = |charset: Option<&str>, from: &str, to: &str, expected: bool| {
            let norm = |data_type: &str| ColumnNorm {
                data_type: data_type.to_owned(),
                charset: charset.map(str::to_owned),
                ..ColumnNorm::default()
            };
            assert_eq!(
                is_in_place(&norm(from), &norm(to)),
                expected,
                "{from} to {to}"
            );
        };
        check(Some("utf8mb4"), "varchar(20)", "varchar(63)", true);
        check(Some("utf8mb4"), "varchar(20)", "varchar(64)", false);
        check(Some("utf8mb4"), "varchar(64)", "varchar(500)", true);
        check(Some("utf8mb4"), "varchar(500)", "varchar(64)", false);
        check(Some("latin1"), "varchar(20)", "varchar(255)", true);
        check(Some("latin1"), "varchar(20)", "text", false);
        check(Some("latin1"), "char(20)", "char(30)", false);
        check(None, "varchar(20)", "varchar(30)", false);
        check(None, "varbinary(20)", "varbinary(255)", true);
        check(None, "enum('a','b')", "enum('a','b','c')", true);
        check(None, "enum('a','b')", "enum('c','a','b')", false);
        check(None, "set('a')", "set('a','b')", false);
        check(None, "int", "bigint", false);
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
        check("varchar(10)", "char(20)", true);
        check("char(10)", "char(20)", false);
        check("char(10)", "varchar(10)", false);
        check("varbinary(5)", "binary(5)", true);
        check("binary(5)", "binary(10)", true);
        check("binary(5)", "varbinary(5)", false);
        check("int", "varchar(11)", false);
        check("int", "char(11)", false);
        check("int", "varchar(5)", true);
        check("bit(8)", "varchar(20)", true);
        check("bit(8)", "smallint", false);
        check("float", "varchar(30)", true);
        check("double", "varchar(30)", false);
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
