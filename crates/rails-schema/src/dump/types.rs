//! Types of SQL in ActiveRecord's words.

use crate::sql::Spelling;

/// A type's method name and options, or the type in SQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Such as `string` with `limit: 20`.
    Known {
        word: String,
        options: Vec<(&'static str, String)>,
    },
    /// For `t.column`.
    Sql(String),
}

/// PostgreSQL types with the same name in ActiveRecord, in the newest and in the oldest version.
const SAME: [&str; 33] = [
    "text",
    "integer",
    "bigint",
    "date",
    "boolean",
    "json",
    "jsonb",
    "uuid",
    "hstore",
    "inet",
    "cidr",
    "macaddr",
    "xml",
    "tsvector",
    "citext",
    "ltree",
    "point",
    "line",
    "lseg",
    "box",
    "path",
    "polygon",
    "circle",
    "money",
    "oid",
    "interval",
    "daterange",
    "numrange",
    "tsrange",
    "tstzrange",
    "int4range",
    "int8range",
    "timestamptz",
];

fn known(word: &str, options: Vec<(&'static str, String)>) -> Word {
    Word::Known {
        word: word.to_owned(),
        options,
    }
}

/// Finds the words for a type.
pub(super) fn word(data_type: &str, spelling: Spelling) -> Word {
    let (name, inside, behind) = parts(data_type);
    let found = match spelling {
        _ if spelling.is_mysql() => mysql(&name, &inside),
        _ if spelling.is_postgres() => postgres(&name, &inside, &behind),
        _ => sqlite(&name, &inside),
    };
    found.unwrap_or_else(|| Word::Sql(data_type.to_owned()))
}

/// Splits `timestamp(6) without time zone` into three parts.
fn parts(data_type: &str) -> (String, Vec<String>, String) {
    let Some((name, rest)) = data_type.split_once('(') else {
        return (data_type.trim().to_lowercase(), Vec::new(), String::new());
    };
    let (inside, behind) = rest.rsplit_once(')').unwrap_or((rest, ""));
    let inside = inside.split(',').map(|part| part.trim().to_owned());
    (
        name.trim().to_lowercase(),
        inside.collect(),
        behind.trim().to_lowercase(),
    )
}

fn limited(word: &str, inside: &[String]) -> Option<Word> {
    match inside {
        [] => Some(known(word, Vec::new())),
        [limit] => Some(known(word, vec![("limit", limit.clone())])),
        _ => None,
    }
}

fn decimal(inside: &[String]) -> Option<Word> {
    let mut options = Vec::new();
    options.extend(
        inside
            .first()
            .map(|precision| ("precision", precision.clone())),
    );
    options.extend(inside.get(1).map(|scale| ("scale", scale.clone())));
    Some(known("decimal", options))
}

/// A `datetime` with a precision, omitted for microseconds.
fn datetime(inside: &[String], nothing: &str) -> Word {
    match inside.first().map_or(nothing, String::as_str) {
        "6" => known("datetime", Vec::new()),
        precision => known("datetime", vec![("precision", precision.to_owned())]),
    }
}

fn precise(word: &str, inside: &[String]) -> Word {
    let precision = inside
        .first()
        .map(|precision| ("precision", precision.clone()));
    known(word, precision.into_iter().collect())
}

fn postgres(name: &str, inside: &[String], behind: &str) -> Option<Word> {
    match (name, behind) {
        ("character varying" | "varchar", "") => limited("string", inside),
        ("smallint", "") => Some(known("integer", vec![("limit", "2".to_owned())])),
        ("double precision" | "float8", "") => Some(known("float", Vec::new())),
        ("numeric" | "decimal", "") => decimal(inside),
        ("bytea", "") => Some(known("binary", Vec::new())),
        ("timestamp", "" | "without time zone") | ("timestamp without time zone", "") => {
            Some(datetime(inside, "nil"))
        }
        ("timestamp with time zone", "") => Some(known("timestamptz", Vec::new())),
        ("time", "" | "without time zone") | ("time without time zone", "") => {
            Some(precise("time", inside))
        }
        ("bit", "") => limited("bit", inside),
        ("bit varying", "") => limited("bit_varying", inside),
        (same, "") if inside.is_empty() && SAME.contains(&same) => Some(known(same, Vec::new())),
        _ => None,
    }
}

fn mysql(name: &str, inside: &[String]) -> Option<Word> {
    let sized = |word: &str, size: &str| Some(known(word, vec![("size", format!(":{size}"))]));
    let limit = |word: &str, limit: &str| Some(known(word, vec![("limit", limit.to_owned())]));
    match name {
        "varchar" => match inside {
            [length] if length == "255" => Some(known("string", Vec::new())),
            _ => limited("string", inside),
        },
        "text" | "json" | "date" => Some(known(name, Vec::new())),
        "tinytext" => sized("text", "tiny"),
        "mediumtext" => sized("text", "medium"),
        "longtext" => sized("text", "long"),
        "blob" => Some(known("binary", Vec::new())),
        "tinyblob" => sized("binary", "tiny"),
        "mediumblob" => sized("binary", "medium"),
        "longblob" => sized("binary", "long"),
        "varbinary" if inside.first().is_some_and(|length| length.len() < 4) => {
            limited("binary", inside)
        }
        "tinyint" if inside == ["1"] => Some(known("boolean", Vec::new())),
        "tinyint" => limit("integer", "1"),
        "smallint" => limit("integer", "2"),
        "mediumint" => limit("integer", "3"),
        "int" | "integer" => Some(known("integer", Vec::new())),
        "bigint" => Some(known("bigint", Vec::new())),
        "float" if inside.is_empty() => Some(known("float", Vec::new())),
        "double" if inside.is_empty() => limit("float", "53"),
        "decimal" | "numeric" => decimal(inside),
        "datetime" => Some(datetime(inside, "nil")),
        "timestamp" | "time" => Some(precise(name, inside)),
        _ => None,
    }
}

fn sqlite(name: &str, inside: &[String]) -> Option<Word> {
    match name {
        "varchar" => limited("string", inside),
        "blob" => limited("binary", inside),
        "decimal" => decimal(inside),
        "datetime" => Some(datetime(inside, "nil")),
        "time" => Some(precise("time", inside)),
        "text" | "integer" | "bigint" | "float" | "date" | "boolean" | "json" => {
            limited(name, inside)
        }
        _ => None,
    }
}
