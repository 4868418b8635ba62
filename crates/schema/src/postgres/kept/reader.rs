//! Kind and identity of an object, as statements name it.

use super::norm::last_list;
use super::{KINDS, Kind, Shape};
use crate::postgres::model::{Kept, Type};
use crate::postgres::name::{Name, fold, quote};

/// Identity of an object within a kind.
pub(super) struct Identity {
    /// Text as used by `DROP`.
    pub(super) text: String,
    /// The bare name; empty for casts.
    pub(super) base: String,
    pub(super) schema: Option<String>,
    /// The table or view the object is on.
    pub(super) on: Option<Name>,
}

impl Identity {
    fn without_schema(text: String, base: String) -> Identity {
        Identity {
            text,
            base,
            schema: None,
            on: None,
        }
    }
}

/// The table named.
pub(super) fn relation(found: &Identity) -> Name {
    Name::new(found.schema.clone().unwrap_or_default(), found.base.clone())
}

pub(super) struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// What names without a schema mean.
    pub(super) schema: &'t str,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, schema: &'t str) -> Reader<'t> {
        Reader {
            text,
            at: 0,
            schema,
        }
    }

    /// The whole text.
    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    /// Offset of what follows.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Continues at the offset.
    pub(super) fn go(&mut self, at: usize) {
        self.at = at;
    }

    /// Whether the statement only announces a type: `CREATE TYPE n`.
    pub(super) fn is_shell(&mut self) -> bool {
        let start = self.at;
        let is_it = self.word("TYPE") && self.name().is_some() && self.rest().is_empty();
        self.at = start;
        is_it
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text[self.at..].trim()
    }

    fn skip(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Consumes the given word; returns `false` when another is next.
    pub(super) fn word(&mut self, word: &str) -> bool {
        self.skip();
        let rest = &self.text[self.at..];
        let is_it = rest
            .get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word));
        let ends = !rest
            .get(word.len()..)
            .unwrap_or_default()
            .starts_with(|next: char| next.is_alphanumeric() || next == '_');
        if is_it && ends {
            self.at += word.len();
        }
        is_it && ends
    }

    /// Consumes a comma.
    pub(super) fn comma(&mut self) -> bool {
        self.skip();
        let is_it = self.text[self.at..].starts_with(',');
        self.at += usize::from(is_it);
        is_it
    }

    pub(super) fn words(&mut self, words: &str) -> bool {
        let start = self.at;
        let all = words.split(' ').all(|word| self.word(word));
        if !all {
            self.at = start;
        }
        all
    }

    /// Reads kind and identity, in the form used by `CREATE` or by `DROP`.
    pub(super) fn of_kind(&mut self, is_made: bool) -> Option<(&'static Kind, Identity)> {
        // A conversion's default, and how far a language is trusted.
        for word in ["DEFAULT", "TRUSTED", "PROCEDURAL"] {
            let _ = self.word(word);
        }
        let start = self.at;
        for kind in KINDS.iter().filter(|kind| kind.shape != Shape::Setting) {
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
                Some(Identity::without_schema(quote(&name), name))
            }
            Shape::InSchema => self.in_schema(),
            Shape::Composite | Shape::Range => {
                let identity = self.in_schema()?;
                let is_it = !is_made || {
                    self.word("AS") && (shape == Shape::Range) == self.word("RANGE")
                };
                (is_it && (!is_made || self.rest().starts_with('('))).then_some(identity)
            }
            Shape::Base => {
                let identity = self.in_schema()?;
                (!is_made || self.rest().starts_with('(')).then_some(identity)
            }
            Shape::OfMethod => self.of_method(is_made),
            Shape::Mapping => self.mapping(),
            Shape::Transform => self.transform(),
            Shape::Setting => None,
            Shape::Call => {
                let mut identity = self.in_schema()?;
                let arguments = types(self.parens()?);
                identity.text.push_str(&format!("({arguments})"));
                Some(identity)
            }
            Shape::Operator => self.operator(is_made),
            Shape::Cast => self.cast(),
            Shape::Rule => self.rule(is_made),
        }
    }

    fn of_method(&mut self, is_made: bool) -> Option<Identity> {
        let mut identity = self.in_schema()?;
        if is_made {
            let at = find_word(self.rest(), "USING")?;
            self.skip();
            self.at += at;
        }
        let method = self.word("USING").then(|| self.name()?.pop())??;
        identity
            .text
            .push_str(&format!(" USING {}", quote(&method)));
        Some(identity)
    }

    fn mapping(&mut self) -> Option<Identity> {
        let role = self.word("FOR").then(|| self.name()?.pop())??;
        let server = self.word("SERVER").then(|| self.name()?.pop())??;
        let role = match role.as_str() {
            "public" => "PUBLIC".to_owned(),
            role => quote(role),
        };
        let text = format!("FOR {role} SERVER {}", quote(&server));
        Some(Identity::without_schema(text, server))
    }

    fn transform(&mut self) -> Option<Identity> {
        let start = self.word("FOR").then_some(self.at)?;
        let end = start + find_word(&self.text[start..], "LANGUAGE")?;
        self.at = end;
        let language = self.word("LANGUAGE").then(|| self.name()?.pop())??;
        let data_type = Type::parse(self.text[start..end].trim()).sql();
        let text = format!("FOR {data_type} LANGUAGE {}", quote(&language));
        Some(Identity::without_schema(text, String::new()))
    }

    fn cast(&mut self) -> Option<Identity> {
        let types = self.parens()?;
        let at = find_word(types, "AS")?;
        let one = |text: &str| Type::parse(text.trim()).sql();
        let text = format!("({} AS {})", one(&types[..at]), one(&types[at + 2..]));
        Some(Identity::without_schema(text, String::new()))
    }

    fn rule(&mut self, is_made: bool) -> Option<Identity> {
        let base = self.name()?.pop()?;
        if is_made {
            let at = find_word(self.rest(), "TO")?;
            self.skip();
            self.at += at + "TO".len();
        } else if !self.word("ON") {
            return None;
        }
        let table = self.in_schema()?;
        Some(Identity {
            text: format!("{} ON {}", quote(&base), table.text),
            on: Some(Name::new(table.schema.clone()?, table.base.clone())),
            ..table
        })
    }

    pub(super) fn in_schema(&mut self) -> Option<Identity> {
        let mut parts = self.name()?;
        let base = parts.pop()?;
        let schema = parts.pop().unwrap_or_else(|| self.schema.to_owned());
        Some(Identity {
            text: Name::new(schema.clone(), base.clone()).quoted(),
            base,
            schema: Some(schema),
            on: None,
        })
    }

    /// Reads a name with qualifiers.
    pub(super) fn name(&mut self) -> Option<Vec<String>> {
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

    /// Reads the provider of a label: a name, or a string.
    pub(super) fn label_provider(&mut self) -> Option<String> {
        self.skip();
        let rest = &self.text[self.at..];
        let end = rest.find(char::is_whitespace)?;
        self.at += end;
        Some(rest[..end].to_owned())
    }

    /// Reads a pair of parentheses and returns the text inside.
    pub(super) fn parens(&mut self) -> Option<&'t str> {
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
        let rest = &self.text[self.at..];
        let end = rest.find([' ', '(', '\n'])?;
        let (schema, symbol) = match rest[..end].rsplit_once('.') {
            Some((schema, symbol)) => (fold(schema), symbol),
            None => (self.schema.to_owned(), &rest[..end]),
        };
        self.at += end;
        let inside = self.parens()?;
        let side = |word: &str| {
            let Some(at) = find_word(inside, word) else {
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
            on: None,
        })
    }
}

/// Offset of a word outside quotes and parentheses, in any case.
pub(super) fn find_word(text: &str, word: &str) -> Option<usize> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let (mut quote, mut depth) = (None, 0_usize);
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(end), letter) if letter == end => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, _) if depth == 0 => {
                let start = text.get(at..at + word.len());
                let is_it = start.is_some_and(|start| start.eq_ignore_ascii_case(word));
                if is_it
                    && !text[at + word.len()..].starts_with(is_word)
                    && !text[..at].ends_with(is_word)
                {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

impl Kept {
    /// The identity with each type changed by `change`; `None` for kinds identified without types.
    pub(crate) fn name_with_types(&self, change: impl Fn(&mut Type)) -> Option<String> {
        let separator = match self.kind.shape {
            Shape::Cast => " AS ",
            Shape::Operator | Shape::Call => ", ",
            _ => return None,
        };
        let start = last_list(&self.name)? + 1;
        let one = |text: &str| match text {
            "" | "*" | "NONE" => text.to_owned(),
            text => {
                let mut data_type = Type::parse(text);
                change(&mut data_type);
                data_type.sql()
            }
        };
        let types = self.name[start..self.name.len() - 1].split(separator);
        let types: Vec<String> = types.map(one).collect();
        Some(format!("{}{})", &self.name[..start], types.join(separator)))
    }
}

/// Spells types like the server.
pub(super) fn types(list: &str) -> String {
    let one = |text: &str| match text.trim() {
        "*" => "*".to_owned(),
        text if text.eq_ignore_ascii_case("none") => "NONE".to_owned(),
        text => Type::parse(text).sql(),
    };
    let all: Vec<String> = list.split(',').map(one).collect();
    all.join(", ")
}
