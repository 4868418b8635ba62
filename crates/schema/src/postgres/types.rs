//! Types: one spelling for all synonyms.

use super::model::Type;
use super::name::{fold, quote};

/// Synonyms of built-in types, with the server's name.
#[rustfmt::skip]
const SYNONYMS: &[(&str, &str)] = &[
    ("bool", "boolean"), ("bpchar", "character"), ("char", "character"), ("dec", "numeric"), ("decimal", "numeric"),
    ("float", "double precision"), ("float4", "real"), ("float8", "double precision"), ("int", "integer"),
    ("int2", "smallint"), ("int4", "integer"), ("int8", "bigint"), ("national character", "character"),
    ("national char", "character"), ("nchar", "character"), ("timestamptz", "timestamp with time zone"),
    ("timetz", "time with time zone"), ("timestamp", "timestamp without time zone"),
    ("time", "time without time zone"), ("varbit", "bit varying"), ("varchar", "character varying"),
    ("char varying", "character varying"), ("nchar varying", "character varying"),
];

/// Serial types, with the integer type of each.
const SERIALS: &[(&str, &str)] = &[
    ("serial", "integer"),
    ("serial4", "integer"),
    ("bigserial", "bigint"),
    ("serial8", "bigint"),
    ("smallserial", "smallint"),
    ("serial2", "smallint"),
];

impl Type {
    /// Parses a type, such as `varchar (20) [ ]` or `"app".status`.
    pub(crate) fn parse(text: &str) -> Type {
        let mut words = Words::new(text);
        let mut parts: Vec<String> = Vec::new();
        let mut result = Type::default();
        let mut is_quoted = false;
        let mut after_dot = false;
        let mut fields = String::new();
        while let Some(word) = words.next() {
            match word {
                "(" => result.args = words.until_close(),
                "[" => {
                    result.is_array = true;
                    words.until(']');
                }
                "." => {
                    result.schema = Some(std::mem::take(&mut parts).join(" "));
                    after_dot = true;
                }
                word => {
                    is_quoted = word.starts_with('"');
                    let is_array =
                        word.eq_ignore_ascii_case("array") && !parts.is_empty() && !after_dot;
                    let is_interval = parts.first().is_some_and(|part| part == "interval");
                    if is_array {
                        result.is_array = true;
                    } else if is_interval {
                        fields.push(' ');
                        fields.push_str(&word.to_lowercase());
                    } else {
                        parts.push(fold(word));
                    }
                    after_dot = false;
                }
            }
        }
        result.finish(&parts.join(" "), is_quoted, fields.trim());
        result
    }

    fn finish(&mut self, name: &str, is_quoted: bool, fields: &str) {
        if self.schema.as_deref() == Some("pg_catalog") {
            self.schema = None;
        }
        name.clone_into(&mut self.name);
        if self.schema.is_none() && !is_quoted {
            self.take_synonym();
        }
        if !fields.is_empty() {
            self.name = format!("{} {fields}", self.name);
        }
        // The server keeps no length where it is the assumed one.
        let assumed = match self.name.as_str() {
            "character" | "bit" if self.args.is_empty() && !is_quoted => Some("1"),
            "numeric" if self.args.ends_with(",0") => {
                self.args.truncate(self.args.len() - 2);
                None
            }
            _ => None,
        };
        if let Some(assumed) = assumed {
            assumed.clone_into(&mut self.args);
        }
    }

    fn take_synonym(&mut self) {
        let serial = SERIALS.iter().find(|(serial, _)| *serial == self.name);
        if let Some((_, integer)) = serial {
            (*integer).clone_into(&mut self.name);
            self.is_serial = true;
            return;
        }
        if self.name == "float" && !self.args.is_empty() {
            let is_short = self.args.parse::<u32>().is_ok_and(|bits| bits <= 24);
            self.name = if is_short { "real" } else { "double precision" }.to_owned();
            self.args.clear();
            return;
        }
        if let Some((_, name)) = SYNONYMS.iter().find(|(synonym, _)| *synonym == self.name) {
            (*name).clone_into(&mut self.name);
        }
    }

    /// Spells the type like the server; user types with the schema.
    pub(crate) fn sql(&self) -> String {
        let mut sql = match &self.schema {
            Some(schema) => format!("{}.{}", quote(schema), quote(&self.name)),
            None if self.is_builtin() => self.name.clone(),
            None => quote(&self.name),
        };
        let is_assumed = self.name == "bit" && self.args == "1";
        if !self.args.is_empty() && !is_assumed {
            // `timestamp(3) with time zone`, `interval day to second(3)`.
            let at = ["timestamp ", "time "]
                .iter()
                .find(|kind| sql.starts_with(**kind))
                .map_or(sql.len(), |kind| kind.len() - 1);
            sql.insert_str(at, &format!("({})", self.args));
        }
        if self.is_array {
            sql.push_str("[]");
        }
        sql
    }

    /// Whether the name is a built-in one, never quoted.
    pub(crate) fn is_builtin(&self) -> bool {
        self.schema.is_none()
            && (self.name.contains(' ')
                || SYNONYMS.iter().any(|(_, name)| *name == self.name)
                || matches!(self.name.as_str(), "bit" | "interval" | "bigint"))
    }

    /// Whether the server would call both the same type. A schema named by only one side is no
    /// difference: the other found its type by the search path.
    pub(crate) fn is_same(&self, other: &Type) -> bool {
        let schemas = match (&self.schema, &other.schema) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        schemas
            && self.name == other.name
            && self.args == other.args
            && self.is_array == other.is_array
    }

    /// Whether values are text.
    pub(crate) fn is_text(&self) -> bool {
        if self.name == "citext" {
            return !self.is_array;
        }
        !self.is_array
            && self.schema.is_none()
            && matches!(
                self.name.as_str(),
                "text" | "character varying" | "character" | "name" | "citext"
            )
    }
}

/// Cuts a type into words and signs.
struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    fn new(text: &'a str) -> Words<'a> {
        Words { rest: text }
    }

    fn next(&mut self) -> Option<&'a str> {
        self.rest = self.rest.trim_start();
        let first = self.rest.chars().next()?;
        let length = match first {
            '"' => self.rest[1..]
                .find('"')
                .map_or(self.rest.len(), |end| end + 2),
            first if first.is_alphanumeric() || first == '_' => self
                .rest
                .find(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == '$'))
                .unwrap_or(self.rest.len()),
            first => first.len_utf8(),
        };
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        Some(word)
    }

    fn until(&mut self, close: char) -> &'a str {
        let end = self.rest.find(close).unwrap_or(self.rest.len());
        let inside = &self.rest[..end];
        self.rest = self.rest[end..].strip_prefix(close).unwrap_or("");
        inside
    }

    /// What stands before `)`, without spaces.
    fn until_close(&mut self) -> String {
        self.until(')')
            .chars()
            .filter(|letter| !letter.is_whitespace())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(Type::parse(text).sql(), expected, "{text}");
    }

    #[test]
    fn one_spelling() {
        check("INT4", "integer");
        check("varchar ( 20 )", "character varying(20)");
        check("character varying(20)[]", "character varying(20)[]");
        check("int [][]", "integer[]");
        check("int ARRAY[3]", "integer[]");
        check("timestamptz(3)", "timestamp(3) with time zone");
        check(
            "timestamp (3) WITH TIME ZONE",
            "timestamp(3) with time zone",
        );
        check("timestamp", "timestamp without time zone");
        check("numeric(10, 2)", "numeric(10,2)");
        check("decimal(10,0)", "numeric(10)");
        check("float(10)", "real");
        check("char", "character(1)");
        check("bit(1)", "bit");
        check("interval day to second", "interval day to second");
        check("\"App\".\"Status\"[]", "\"App\".\"Status\"[]");
        check("pg_catalog.int8", "bigint");
        check("public.citext", "public.citext");
        check("\"char\"", "\"char\"");
    }
}
