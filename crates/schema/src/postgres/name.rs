//! Names: what case means, when quotes are needed, and the names that the server makes itself.

/// Longest name in bytes (`NAMEDATALEN` − 1); the server cuts longer ones.
pub(crate) const NAME_BYTES_MAX: usize = 63;

/// A name in a schema.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Name {
    pub(crate) schema: String,
    pub(crate) name: String,
}

impl Name {
    pub(crate) fn new(schema: impl Into<String>, name: impl Into<String>) -> Name {
        Name {
            schema: schema.into(),
            name: name.into(),
        }
    }

    /// Quoted where needed, schema first.
    pub(crate) fn quoted(&self) -> String {
        format!("{}.{}", quote(&self.schema), quote(&self.name))
    }

    /// As people write it; the default schema is left out.
    pub(crate) fn shown(&self, default_schema: &str) -> String {
        if self.schema == default_schema {
            self.name.clone()
        } else {
            format!("{}.{}", self.schema, self.name)
        }
    }
}

/// The name that a word of the source means: lower case unless quoted, and not longer than names
/// can be.
pub(crate) fn fold(word: &str) -> String {
    let mut name = match word.strip_prefix('"') {
        Some(quoted) => quoted
            .strip_suffix('"')
            .unwrap_or(quoted)
            .replace("\"\"", "\""),
        None => word.to_lowercase(),
    };
    name.truncate(name.floor_char_boundary(NAME_BYTES_MAX));
    name
}

/// The name as SQL, with quotes where it needs them.
pub(crate) fn quote(name: &str) -> String {
    let is_plain = name.bytes().enumerate().all(|(at, byte)| match byte {
        b'a'..=b'z' | b'_' => true,
        b'0'..=b'9' | b'$' => at > 0,
        _ => false,
    }) && !name.is_empty();
    if is_plain && !is_keyword(name) {
        name.to_owned()
    } else {
        always_quote(name)
    }
}

/// The name in quotes.
pub(crate) fn always_quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Whether a word cannot be any name without quotes: reserved, or fit for only some kinds of names.
pub(crate) fn is_keyword(name: &str) -> bool {
    KEYWORDS.binary_search(&name).is_ok()
}

/// A string literal.
pub(crate) fn literal(text: &str) -> String {
    if text.contains('\\') {
        format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

/// What the server calls an object that nobody named: `first_second_label`, the longer part cut
/// until it fits. `is_taken` answers for names that exist; then a number follows the label.
pub(crate) fn made(
    first: &str,
    second: Option<&str>,
    label: &str,
    is_taken: impl Fn(&str) -> bool,
) -> String {
    let mut tail = label.to_owned();
    for pass in 1_usize.. {
        let name = joined(first, second, &tail);
        if !is_taken(&name) {
            return name;
        }
        tail = format!("{label}{pass}");
    }
    joined(first, second, label)
}

fn joined(first: &str, second: Option<&str>, label: &str) -> String {
    let overhead = label.len() + 1 + usize::from(second.is_some());
    let room = NAME_BYTES_MAX.saturating_sub(overhead);
    let mut lengths = (first.len(), second.map_or(0, str::len));
    while lengths.0 + lengths.1 > room {
        if lengths.0 > lengths.1 {
            lengths.0 -= 1;
        } else {
            lengths.1 -= 1;
        }
    }
    let first = &first[..first.floor_char_boundary(lengths.0)];
    match second {
        Some(second) => format!(
            "{first}_{}_{label}",
            &second[..second.floor_char_boundary(lengths.1)]
        ),
        None => format!("{first}_{label}"),
    }
}

/// As `pg_get_keywords` of version 18 tells them, sorted; all but the unreserved ones.
#[rustfmt::skip]
pub(crate) const KEYWORDS: &[&str] = &[
    "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric", "authorization", "between",
    "bigint", "binary", "bit", "boolean", "both", "case", "cast", "char", "character", "check", "coalesce",
    "collate", "collation", "column", "concurrently", "constraint", "create", "cross", "current_catalog",
    "current_date", "current_role", "current_schema", "current_time", "current_timestamp", "current_user",
    "dec", "decimal", "default", "deferrable", "desc", "distinct", "do", "else", "end", "except", "exists",
    "extract", "false", "fetch", "float", "for", "foreign", "freeze", "from", "full", "grant", "greatest",
    "group", "grouping", "having", "ilike", "in", "initially", "inner", "inout", "int", "integer",
    "intersect", "interval", "into", "is", "isnull", "join", "json", "json_array", "json_arrayagg",
    "json_exists", "json_object", "json_objectagg", "json_query", "json_scalar", "json_serialize",
    "json_table", "json_value", "lateral", "leading", "least", "left", "like", "limit", "localtime",
    "localtimestamp", "merge_action", "national", "natural", "nchar", "none", "normalize", "not", "notnull",
    "null", "nullif", "numeric", "offset", "on", "only", "or", "order", "out", "outer", "overlaps", "overlay",
    "placing", "position", "precision", "primary", "real", "references", "returning", "right", "row",
    "select", "session_user", "setof", "similar", "smallint", "some", "substring", "symmetric", "system_user",
    "table", "tablesample", "then", "time", "timestamp", "to", "trailing", "treat", "trim", "true", "union",
    "unique", "user", "using", "values", "varchar", "variadic", "verbose", "when", "where", "window", "with",
    "xmlattributes", "xmlconcat", "xmlelement", "xmlexists", "xmlforest", "xmlnamespaces", "xmlparse",
    "xmlpi", "xmlroot", "xmlserialize", "xmltable",
];

/// Whether a word without quotes is never a name, whatever it stands for.
pub(crate) fn is_reserved(word: &str) -> bool {
    RESERVED.binary_search(&word).is_ok()
}

/// Those of [`KEYWORDS`] that `pg_get_keywords` calls reserved, and that may not stand for
/// functions or types either.
#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric", "both", "case", "cast", "check",
    "collate", "column", "constraint", "create", "current_catalog", "current_date", "current_role", "current_time",
    "current_timestamp", "current_user", "default", "deferrable", "desc", "distinct", "do", "else", "end", "except",
    "false", "fetch", "for", "foreign", "from", "grant", "group", "having", "in", "initially", "intersect", "into",
    "lateral", "leading", "limit", "localtime", "localtimestamp", "not", "null", "offset", "on", "only", "or", "order",
    "placing", "primary", "references", "returning", "select", "session_user", "some", "symmetric", "system_user",
    "table", "then", "to", "trailing", "true", "union", "unique", "user", "using", "variadic", "when", "where",
    "window", "with",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_only_where_needed() {
        for (name, quoted) in [
            ("users", "users"),
            ("Users", "\"Users\""),
            ("order", "\"order\""),
            ("1st", "\"1st\""),
            ("a\"b", "\"a\"\"b\""),
            ("text", "text"),
            ("int", "\"int\""),
            ("", "\"\""),
        ] {
            assert_eq!(quote(name), quoted);
        }
    }

    #[test]
    fn keywords_can_be_searched() {
        assert!(KEYWORDS.is_sorted());
        assert!(RESERVED.is_sorted());
        assert!(RESERVED.iter().all(|word| is_keyword(word)));
    }

    #[test]
    fn names_are_made_as_the_server_makes_them() {
        assert_eq!(made("t", Some("a"), "key", |_| false), "t_a_key");
        assert_eq!(made("t", None, "pkey", |name| name == "t_pkey"), "t_pkey1");
        let long = "x".repeat(60);
        let name = made(&long, Some("abcdef"), "check", |_| false);
        assert_eq!(name.len(), NAME_BYTES_MAX);
        assert!(name.ends_with("_abcdef_check"), "{name}");
    }
}
