//! Objects compared by words: all kinds, the identity within a kind, and the stage of creation.

use super::listed::Listed;
use super::model::{Kept, Meta, Type};
use super::name::{Name, fold, quote};

/// When objects of a kind are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Before types and tables.
    Early,
    /// Among types, functions and tables, each after all objects mentioned.
    Among,
    /// When tables and views are there.
    Late,
}

/// What an object's identity is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// A name unique in the whole database.
    Global,
    /// A name in a schema.
    InSchema,
    /// A composite type: a name, then `AS (`.
    Composite,
    /// A range type: a name, then `AS RANGE`.
    Range,
    /// A name and argument types.
    Call,
    /// An operator and the types of both operands.
    Operator,
    /// Two types.
    Cast,
    /// A name on a table.
    Rule,
}

/// A kind of object.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Words in `CREATE`, `DROP` and `COMMENT ON`.
    pub(crate) words: &'static str,
    /// Kind as named in plans.
    pub(crate) kind: &'static str,
    pub(crate) stage: Stage,
    shape: Shape,
}

const fn kind(words: &'static str, kind: &'static str, stage: Stage, shape: Shape) -> Kind {
    Kind {
        words,
        kind,
        stage,
        shape,
    }
}

/// All kinds compared by words.
static KINDS: [Kind; 11] = [
    kind("COLLATION", "collation", Stage::Early, Shape::InSchema),
    kind(
        "FOREIGN DATA WRAPPER",
        "foreign-data-wrapper",
        Stage::Early,
        Shape::Global,
    ),
    kind("SERVER", "foreign-server", Stage::Early, Shape::Global),
    kind("TYPE", "composite-type", Stage::Among, Shape::Composite),
    kind("TYPE", "range-type", Stage::Among, Shape::Range),
    kind("AGGREGATE", "aggregate", Stage::Among, Shape::Call),
    kind("OPERATOR", "operator", Stage::Among, Shape::Operator),
    kind("CAST", "cast", Stage::Among, Shape::Cast),
    kind("RULE", "rule", Stage::Late, Shape::Rule),
    kind("STATISTICS", "statistics", Stage::Late, Shape::InSchema),
    kind("EVENT TRIGGER", "event-trigger", Stage::Late, Shape::Global),
];

/// Whether a plan's kind is compared by words.
pub(crate) fn is_kept(kind: &str) -> bool {
    KINDS.iter().any(|known| known.kind == kind)
}

/// Kind and identity.
pub(crate) type Key = (&'static str, String);

/// An object as named in statements, possibly ambiguous in kind: composite types and ranges are
/// both types.
pub(crate) struct Named(&'static str, String);

impl Named {
    /// Key of the object among the existing ones.
    pub(crate) fn key(self, all: &Listed<Key, Kept>) -> Option<Key> {
        let kinds = KINDS.iter().filter(|kind| kind.words == self.0);
        let mut keys = kinds.map(|kind| (kind.kind, self.1.clone()));
        keys.find(|key| all.contains(key))
    }
}

/// Effect of an otherwise opaque statement on a word-compared object.
pub(crate) enum Step {
    Made(Kept),
    Commented(Named, Option<String>),
    Owned(Named, String),
    Dropped(Named),
}

/// Reads such a statement; `schema` is what names without one mean.
pub(crate) fn read(text: &str, schema: &str) -> Option<Step> {
    let mut reader = Reader {
        text,
        at: 0,
        schema,
    };
    if reader.word("CREATE") {
        let _ = reader.word("OR") && reader.word("REPLACE");
        let (kind, identity) = reader.of_kind(true)?;
        return Some(Step::Made(Kept {
            kind,
            base: identity.base,
            schema: identity.schema,
            name: identity.text,
            sql: text.to_owned(),
            norm: norm_of(kind, text),
            meta: Meta::default(),
        }));
    }
    if reader.word("COMMENT") && reader.word("ON") {
        let (kind, identity) = reader.of_kind(false)?;
        let comment = reader.word("IS").then(|| reader.rest())?;
        let is_null = comment.eq_ignore_ascii_case("null");
        let comment = (!is_null).then(|| super::read::string(comment));
        return Some(Step::Commented(Named(kind.words, identity.text), comment));
    }
    if reader.word("ALTER") {
        let (kind, identity) = reader.of_kind(false)?;
        let is_owner = reader.word("OWNER") && reader.word("TO");
        let role = is_owner.then(|| fold(reader.rest()))?;
        return Some(Step::Owned(Named(kind.words, identity.text), role));
    }
    if reader.word("DROP") {
        let (kind, identity) = reader.of_kind(false)?;
        return Some(Step::Dropped(Named(kind.words, identity.text)));
    }
    None
}

/// Identity of an object within a kind.
struct Identity {
    /// Text as used by `DROP`.
    text: String,
    /// The bare name; empty for casts.
    base: String,
    schema: Option<String>,
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    schema: &'t str,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text[self.at..].trim()
    }

    fn skip(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Consumes the given word; returns `false` when another is next.
    fn word(&mut self, word: &str) -> bool {
        self.skip();
        let rest = &self.text[self.at..];
        let is_it = rest
            .get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word));
        let ends = !rest[word.len().min(rest.len())..]
            .starts_with(|next: char| next.is_alphanumeric() || next == '_');
        if is_it && ends {
            self.at += word.len();
        }
        is_it && ends
    }

    fn words(&mut self, words: &str) -> bool {
        let start = self.at;
        let all = words.split(' ').all(|word| self.word(word));
        if !all {
            self.at = start;
        }
        all
    }

    /// Reads kind and identity, in the form used by `CREATE` or by `DROP`.
    fn of_kind(&mut self, is_made: bool) -> Option<(&'static Kind, Identity)> {
        let start = self.at;
        for kind in &KINDS {
            self.at = start;
            if !self.words(kind.words) {
                continue;
            }
            if !self.words("IF NOT EXISTS") {
                self.words("IF EXISTS");
            }
            if let Some(identity) = self.identity(kind.shape, is_made) {
                return Some((kind, identity));
            }
        }
        None
    }

    fn identity(&mut self, shape: Shape, is_made: bool) -> Option<Identity> {
        match shape {
            Shape::Global => {
                let name = self.name()?.pop()?;
                Some(Identity {
                    text: quote(&name),
                    base: name,
                    schema: None,
                })
            }
            Shape::InSchema => self.in_schema(),
            Shape::Composite | Shape::Range => {
                let identity = self.in_schema()?;
                let is_it = !is_made || {
                    self.word("AS") && (shape == Shape::Range) == self.word("RANGE")
                };
                (is_it && (!is_made || self.rest().starts_with('('))).then_some(identity)
            }
            Shape::Call => {
                let mut identity = self.in_schema()?;
                let arguments = types(self.parens()?);
                identity.text.push_str(&format!("({arguments})"));
                Some(identity)
            }
            Shape::Operator => self.operator(is_made),
            Shape::Cast => {
                let types = self.parens()?;
                let lower = types.to_lowercase();
                let at = lower.find(" as ")?;
                let one = |text: &str| Type::parse(text.trim()).sql();
                Some(Identity {
                    text: format!("({} AS {})", one(&types[..at]), one(&types[at + 4..])),
                    base: String::new(),
                    schema: None,
                })
            }
            Shape::Rule => {
                let base = self.name()?.pop()?;
                if is_made {
                    let rest = self.rest().to_lowercase();
                    let at = rest.find(" to ")?;
                    self.skip();
                    self.at += at + 4;
                } else if !self.word("ON") {
                    return None;
                }
                let table = self.in_schema()?;
                Some(Identity {
                    text: format!("{} ON {}", quote(&base), table.text),
                    ..table
                })
            }
        }
    }

    fn in_schema(&mut self) -> Option<Identity> {
        let mut parts = self.name()?;
        let base = parts.pop()?;
        let schema = parts.pop().unwrap_or_else(|| self.schema.to_owned());
        Some(Identity {
            text: Name::new(schema.clone(), base.clone()).quoted(),
            base,
            schema: Some(schema),
        })
    }

    /// Reads a name with qualifiers.
    fn name(&mut self) -> Option<Vec<String>> {
        let mut parts = Vec::new();
        loop {
            self.skip();
            let rest = &self.text[self.at..];
            let length = match rest.strip_prefix('"') {
                Some(inner) => inner.find('"')? + 2,
                None => rest
                    .find(|next: char| !next.is_alphanumeric() && next != '_' && next != '$')
                    .unwrap_or(rest.len()),
            };
            if length == 0 {
                return None;
            }
            parts.push(fold(&rest[..length]));
            self.at += length;
            if !self.text[self.at..].starts_with('.') {
                return Some(parts);
            }
            self.at += 1;
        }
    }

    /// Reads a pair of parentheses and returns the text inside.
    fn parens(&mut self) -> Option<&'t str> {
        self.skip();
        let rest = &self.text[self.at..];
        if !rest.starts_with('(') {
            return None;
        }
        let mut depth = 0_usize;
        for (at, letter) in rest.char_indices() {
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.at += at + 1;
                return Some(&rest[1..at]);
            }
        }
        None
    }

    fn operator(&mut self, is_made: bool) -> Option<Identity> {
        self.skip();
        // A class or family of operators is another kind.
        if self.word("CLASS") || self.word("FAMILY") {
            return None;
        }
        let rest = &self.text[self.at..];
        let end = rest.find([' ', '(', '\n'])?;
        let (schema, symbol) = match rest[..end].rsplit_once('.') {
            Some((schema, symbol)) => (fold(schema), symbol),
            None => (self.schema.to_owned(), &rest[..end]),
        };
        self.at += end;
        let inside = self.parens()?;
        let side = |word: &str| {
            let lower = inside.to_lowercase();
            let Some(at) = lower.find(&word.to_lowercase()) else {
                return "NONE".to_owned();
            };
            let value = inside[at + word.len()..]
                .trim_start()
                .trim_start_matches('=');
            Type::parse(value.split(',').next().unwrap_or_default().trim()).sql()
        };
        let sides = match is_made {
            true => format!("{}, {}", side("LEFTARG"), side("RIGHTARG")),
            false => types(inside),
        };
        Some(Identity {
            text: format!("{}.{symbol} ({sides})", quote(&schema)),
            base: symbol.to_owned(),
            schema: Some(schema),
        })
    }
}

/// Spells types like the server.
fn types(list: &str) -> String {
    let one = |text: &str| match text.trim() {
        "*" => "*".to_owned(),
        text if text.eq_ignore_ascii_case("none") => "NONE".to_owned(),
        text => Type::parse(text).sql(),
    };
    let all: Vec<String> = list.split(',').map(one).collect();
    all.join(", ")
}

/// Normal form of a definition, equal for equivalent statements of a kind. Lists of options have no
/// order.
fn norm_of(kind: &Kind, text: &str) -> String {
    let norm = norm(text);
    let has_options = match kind.shape {
        Shape::Range | Shape::Call | Shape::Operator => true,
        Shape::InSchema => kind.words == "COLLATION",
        Shape::Global | Shape::Composite | Shape::Cast | Shape::Rule => false,
    };
    let Some(start) = last_list(&norm).filter(|_| has_options) else {
        return norm;
    };
    let mut options = listed(&norm[start + 1..norm.len() - 1]);
    options.sort_unstable();
    format!("{}({})", &norm[..start], options.join(","))
}

/// Start of the parentheses at the end of a text.
fn last_list(text: &str) -> Option<usize> {
    if !text.ends_with(')') {
        return None;
    }
    let mut depth = 0_usize;
    text.char_indices().rev().find_map(|(at, letter)| {
        match letter {
            ')' => depth += 1,
            '(' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth == 0).then_some(at)
    })
}

/// Splits a text at commas outside parentheses.
fn listed(text: &str) -> Vec<&str> {
    let (mut items, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                items.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(text[start..].trim());
    items
}

/// The words of a statement, case and spaces apart, without `OR REPLACE`.
fn norm(text: &str) -> String {
    let mut norm = String::with_capacity(text.len());
    let mut letters = text.char_indices().peekable();
    let mut is_gap = false;
    while let Some((at, letter)) = letters.next() {
        if letter.is_whitespace() {
            is_gap = true;
            continue;
        }
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        if is_gap && norm.ends_with(is_word) && is_word(letter) {
            norm.push(' ');
        }
        is_gap = false;
        if letter == '\'' || letter == '"' {
            let end = text[at + 1..]
                .find(letter)
                .map_or(text.len(), |end| at + end + 2);
            norm.push_str(&text[at..end]);
            while letters.next_if(|(at, _)| *at < end).is_some() {}
        } else {
            norm.extend(letter.to_lowercase());
        }
    }
    norm.replacen("create or replace ", "create ", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_told_apart() {
        for (text, kind, name) in [
            (
                "CREATE TYPE addr AS (street text)",
                "composite-type",
                "public.addr",
            ),
            (
                "create type app.fr as range (subtype = float8)",
                "range-type",
                "app.fr",
            ),
            (
                "CREATE AGGREGATE total(int) (SFUNC = int4pl, STYPE = int)",
                "aggregate",
                "public.total(integer)",
            ),
            (
                "CREATE CAST (int AS text) WITH INOUT",
                "cast",
                "(integer AS text)",
            ),
            (
                "CREATE OR REPLACE RULE r AS ON DELETE TO app.t DO INSTEAD NOTHING",
                "rule",
                "r ON app.t",
            ),
            (
                "CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = int4eq)",
                "operator",
                "public.=== (integer, integer)",
            ),
            (
                "CREATE STATISTICS IF NOT EXISTS s ON a, b FROM t",
                "statistics",
                "public.s",
            ),
            (
                "CREATE EVENT TRIGGER et ON ddl_command_end EXECUTE FUNCTION f()",
                "event-trigger",
                "et",
            ),
        ] {
            let Some(Step::Made(kept)) = read(text, "public") else {
                panic!("{text}");
            };
            assert_eq!((kept.kind.kind, kept.name.as_str()), (kind, name));
        }
        assert!(read("CREATE TYPE mood AS ENUM ('a')", "public").is_none());
        assert!(
            read(
                "CREATE OPERATOR CLASS c FOR TYPE int USING btree AS STORAGE int",
                "public"
            )
            .is_none()
        );
    }

    #[test]
    fn spaces_and_case_are_no_difference() {
        assert_eq!(
            norm("CREATE  RULE r AS\n ON x ( 'A  b' )"),
            norm("create rule R as on X('A  b')")
        );
        assert_ne!(
            norm("CREATE RULE r AS ON 'a'"),
            norm("CREATE RULE r AS ON 'A'")
        );
    }
}
