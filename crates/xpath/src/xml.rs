//! XML with namespaces, read as by libxml2 in recovery mode: an end tag ends the innermost
//! element, whatever its name, and what cannot be markup is text.

use crate::scan::{Scan, character, is_space};
use crate::tree::{Attribute, Builder, Document, Element, Name};

/// The namespace of the prefix `xml`.
const OF_XML: &str = "http://www.w3.org/XML/1998/namespace";
/// The entities defined by XML.
const ENTITIES: [(&str, &str); 5] = [
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
];

impl Document {
    /// Reads a text as XML. Entities that the document itself declares are left out.
    ///
    /// # Errors
    /// A sentence: it does not begin with an element.
    pub fn xml(text: &str) -> Result<Document, String> {
        let mut reader = Reader {
            scan: Scan::new(text),
            tree: Builder::new(false),
            scopes: vec![("xml".to_owned(), OF_XML.to_owned())],
            marks: Vec::new(),
        };
        reader.scan.take("\u{feff}");
        reader.prolog();
        if reader.scan.at("<") && reader.scan.second().is_some_and(is_name_start) {
            reader.start_tag();
            while !reader.scan.is_over() && reader.tree.depth() > 0 {
                reader.content();
            }
            reader.prolog();
        }
        reader.tree.finish()
    }
}

struct Reader<'a> {
    scan: Scan<'a>,
    tree: Builder,
    /// Declared prefixes and namespaces, the innermost last.
    scopes: Vec<(String, String)>,
    /// For each open element, the number of scopes outside of it.
    marks: Vec<usize>,
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == ':'
}

fn is_name(c: char) -> bool {
    is_name_start(c) || c.is_numeric() || c == '-' || c == '.' || c == '\u{b7}'
}

impl Reader<'_> {
    /// Takes what may stand around the outermost element.
    fn prolog(&mut self) {
        loop {
            self.scan.skip_space();
            if self.scan.at("<?") || self.scan.at("<!--") {
                self.markup();
            } else if self.scan.at("<!DOCTYPE") {
                self.document_type();
            } else {
                return;
            }
        }
    }

    fn document_type(&mut self) {
        let before = self.scan.take_while(|c| c != '[' && c != '>');
        debug_assert!(before.starts_with("<!DOCTYPE"));
        if self.scan.take("[") {
            self.scan.take_until("]");
        }
        self.scan.take_until(">");
    }

    /// Takes a comment or an instruction.
    fn markup(&mut self) {
        if self.scan.take("<!--") {
            let text = self.scan.take_until("-->");
            return self.tree.comment(text);
        }
        self.scan.take("<?");
        let whole = self.scan.take_until("?>");
        let (target, data) = whole.split_once(is_space).unwrap_or((whole, ""));
        if !target.eq_ignore_ascii_case("xml") {
            let data = data.trim_start_matches(is_space);
            self.tree.instruction(target, data);
        }
    }

    fn content(&mut self) {
        if self.scan.take("<![CDATA[") {
            let text = self.scan.take_until("]]>");
            return self.tree.section(text);
        }
        match (self.scan.peek(), self.scan.second()) {
            (Some('<'), Some('/')) => {
                self.scan.take_until(">");
                self.end();
            }
            (Some('<'), Some('?')) => self.markup(),
            (Some('<'), Some('!')) if self.scan.at("<!--") => self.markup(),
            (Some('<'), Some(first)) if is_name_start(first) => self.start_tag(),
            (Some('<'), _) => self.scan.skip(),
            (Some('&'), _) => {
                self.scan.skip();
                let text = reference(&mut self.scan);
                self.tree.text(&text);
            }
            _ => {
                let text = self.scan.take_while(|c| c != '<' && c != '&');
                self.tree.text(&lines(text));
            }
        }
    }

    fn end(&mut self) {
        self.tree.close();
        if let Some(mark) = self.marks.pop() {
            self.scopes.truncate(mark);
        }
    }

    fn start_tag(&mut self) {
        self.scan.skip();
        let name = self.scan.take_while(is_name).to_owned();
        let written = self.attributes();
        self.marks.push(self.scopes.len());
        for (name, value) in &written {
            let prefix = match name.as_str() {
                "xmlns" => "",
                name => match name.strip_prefix("xmlns:") {
                    Some(prefix) => prefix,
                    None => continue,
                },
            };
            self.tree.declare(prefix, value);
            self.scopes.push((prefix.to_owned(), value.clone()));
        }
        let is_declaration = |name: &str| name == "xmlns" || name.starts_with("xmlns:");
        let attributes = written
            .into_iter()
            .filter(|(name, _)| !is_declaration(name))
            .map(|(name, value)| Attribute {
                name: self.resolve(&name, false),
                value,
            })
            .collect();
        let name = self.resolve(&name, true);
        self.tree.open(Element { name, attributes });
        if self.scan.take("/>") {
            return self.end();
        }
        self.scan.take(">");
    }

    /// Finds a name's namespace; a default namespace is for elements only.
    fn resolve(&self, name: &str, is_element: bool) -> Name {
        let split = name
            .split_once(':')
            .filter(|(prefix, local)| !prefix.is_empty() && !local.is_empty());
        let (prefix, local) = split.unwrap_or(("", name));
        if prefix.is_empty() && !is_element {
            return Name::local(local);
        }
        let found = self.scopes.iter().rev().find(|(known, _)| known == prefix);
        match found {
            Some((_, namespace)) => Name {
                prefix: prefix.to_owned(),
                local: local.to_owned(),
                namespace: namespace.clone(),
            },
            // A prefix that nobody declared is a part of the name.
            None => Name::local(name),
        }
    }

    fn attributes(&mut self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = Vec::new();
        loop {
            self.scan.skip_space();
            if self.scan.is_over() || self.scan.at(">") || self.scan.at("/>") {
                return all;
            }
            let name = self.scan.take_while(is_name).to_owned();
            self.scan.skip_space();
            if name.is_empty() || !self.scan.take("=") {
                // The rest of the tag is of no use.
                self.scan.take_while(|c| c != '>' && c != '<');
                return all;
            }
            self.scan.skip_space();
            let quote = ["\"", "'"].into_iter().find(|quote| self.scan.take(quote));
            let Some(quote) = quote else {
                self.scan.take_while(|c| c != '>' && c != '<');
                return all;
            };
            let value = decode(self.scan.take_until(quote));
            all.push((name, value));
        }
    }
}

/// Returns text with line breaks as XML has them.
fn lines(text: &str) -> String {
    match text.contains('\r') {
        true => text.replace("\r\n", "\n").replace('\r', "\n"),
        false => text.to_owned(),
    }
}

/// Takes a reference behind its `&`; returns its meaning, which is nothing for an unknown one.
fn reference(scan: &mut Scan<'_>) -> String {
    if let Some(found) = character(scan) {
        return found.to_string();
    }
    let mut ahead = *scan;
    let name = ahead.take_while(is_name);
    if name.is_empty() || !ahead.take(";") {
        return String::new();
    }
    *scan = ahead;
    let known = ENTITIES.iter().find(|(known, _)| *known == name);
    known.map_or_else(String::new, |(_, meant)| (*meant).to_owned())
}

fn decode(raw: &str) -> String {
    let mut scan = Scan::new(raw);
    let mut value = String::new();
    while !scan.is_over() {
        let text = scan.take_while(|c| c != '&');
        // White space in a value is a space.
        value.extend(
            lines(text)
                .chars()
                .map(|c| if is_space(c) { ' ' } else { c }),
        );
        if scan.take("&") {
            value.push_str(&reference(&mut scan));
        }
    }
    value
}
