//! HTML, read as libxml2 does: a document has `html` and `body` even where not written, a table has
//! no `tbody` unless written, and no error ends the reading.

use crate::rules::{holds_text, is_boolean, is_empty, is_ended_by, is_of_head, strength};
use crate::scan::{Scan, character, is_space};
use crate::tree::{Attribute, Builder, Document, Element, Kind, Name};

/// Elements with plain text as content, even where the text looks like tags.
const RAW: [&str; 2] = ["script", "style"];

impl Document {
    /// Reads a text as HTML.
    ///
    /// # Errors
    /// A sentence: there is no element in it.
    pub fn html(text: &str) -> Result<Document, String> {
        let mut reader = Reader {
            scan: Scan::new(text),
            tree: Builder::new(true),
            had_head: false,
            had_body: false,
            passed_over: 0,
        };
        reader.begin();
        while !reader.scan.is_over() {
            reader.content();
        }
        reader.tree.finish()
    }
}

struct Reader<'a> {
    scan: Scan<'a>,
    tree: Builder,
    had_head: bool,
    had_body: bool,
    /// Begin tags of `html`, `head` and `body` passed over, for as many end tags to pass over.
    passed_over: usize,
}

impl Reader<'_> {
    /// What comes before the content.
    fn begin(&mut self) {
        self.scan.take("\u{feff}");
        loop {
            self.scan.skip_space();
            if self.scan.at("<!--") || self.scan.at("<?") || self.scan.at_ignoring_case("<!doctype")
            {
                self.markup();
            } else {
                return;
            }
        }
    }

    fn content(&mut self) {
        let raw = self.tree.current().map(|name| name.local.clone());
        if let Some(name) = raw.filter(|name| RAW.contains(&name.as_str())) {
            return self.raw_text(&name);
        }
        let next = self.scan.second();
        match self.scan.peek() {
            Some('<') => match next {
                Some('/') => self.end_tag(),
                Some('!' | '?') => self.markup(),
                Some(letter) if letter.is_ascii_alphabetic() => self.start_tag(),
                _ => {
                    self.scan.skip();
                    self.tree.text("<");
                }
            },
            Some('&') => self.reference(),
            _ => self.text(),
        }
    }

    /// A comment, an instruction or a declaration.
    fn markup(&mut self) {
        if self.scan.take("<!--") {
            let text = self.scan.take_until("-->");
            return self.tree.comment(text);
        }
        if self.scan.take("<?") {
            let whole = self.scan.take_until(">");
            let (target, data) = whole.split_once(is_space).unwrap_or((whole, ""));
            return self
                .tree
                .instruction(target, data.trim_start_matches(is_space));
        }
        if self.scan.at_ignoring_case("<!doctype") && self.tree.is_new() {
            self.tree.begin();
        }
        self.scan.take_until(">");
    }

    fn raw_text(&mut self, name: &str) {
        let end = format!("</{name}");
        let mut text = String::new();
        while !self.scan.is_over() && !self.scan.at_ignoring_case(&end) {
            text.push_str(self.scan.take_while(|c| c != '<'));
            if self.scan.at("<") && !self.scan.at_ignoring_case(&end) {
                self.scan.skip();
                text.push('<');
            }
        }
        if !text.is_empty() {
            self.tree.section(&text);
        }
        if !self.scan.is_over() {
            self.end_tag();
        }
    }

    fn text(&mut self) {
        let text = self.scan.take_while(|c| c != '<' && c != '&');
        let is_blank = text.chars().all(is_space);
        if !(is_blank && self.passes_blanks()) {
            self.need_paragraph();
        }
        self.tree.text(text);
    }

    /// Returns whether white space here is no content, and so gets no paragraph.
    fn passes_blanks(&self) -> bool {
        if self.scan.is_over() {
            return true;
        }
        if !self.scan.at("<") {
            return false;
        }
        let Some(current) = self.tree.current() else {
            return true;
        };
        match self.tree.last_child() {
            _ if ["html", "head"].contains(&current.local.as_str()) => true,
            None => !holds_text(&current.local),
            Some(Kind::Element(last)) => !holds_text(&last.name.local),
            Some(_) => false,
        }
    }

    fn reference(&mut self) {
        self.scan.skip();
        self.need_paragraph();
        let decoded = reference(&mut self.scan);
        self.tree.text(&decoded);
    }

    /// Makes a paragraph for text directly in `html` or `head`, where text has no place.
    fn need_paragraph(&mut self) {
        let current = self.tree.current().map(|name| name.local.as_str());
        if matches!(current, None | Some("html" | "head")) {
            self.end_by("p");
            self.imply("p");
            self.open(Element {
                name: Name::local("p"),
                attributes: Vec::new(),
            });
        }
    }

    /// Ends the open elements ended by the begin of another.
    fn end_by(&mut self, begin: &str) {
        while let Some(current) = self.tree.current()
            && is_ended_by(&current.local, begin)
        {
            self.tree.close();
        }
    }

    /// Opens what has to be around an element.
    fn imply(&mut self, name: &str) {
        let open = |name: &str| Element {
            name: Name::local(name),
            attributes: Vec::new(),
        };
        if name == "html" {
            return;
        }
        if self.tree.depth() == 0 {
            self.open(open("html"));
        }
        if ["body", "head"].contains(&name) {
            return;
        }
        if self.tree.depth() <= 1 && is_of_head(name) {
            if !self.had_head {
                self.open(open("head"));
            }
        } else if !["noframes", "frame", "frameset"].contains(&name)
            && !self.had_body
            && !self
                .tree
                .open_names()
                .any(|open| ["body", "head"].contains(&open))
        {
            self.open(open("body"));
        }
    }

    fn open(&mut self, element: Element) {
        let name = element.name.local.as_str();
        self.had_body |= name == "body";
        self.had_head |= self.had_body || name == "head";
        self.tree.open(element);
    }

    fn start_tag(&mut self) {
        self.scan.skip();
        let name = self.name();
        self.end_by(&name);
        self.imply(&name);
        let is_misplaced = match name.as_str() {
            "html" => self.tree.depth() > 0,
            "head" => self.tree.depth() != 1,
            "body" => self.tree.open_names().any(|open| open == "body"),
            _ => false,
        };
        let attributes = self.attributes();
        if is_misplaced {
            self.passed_over += 1;
        } else {
            self.open(Element {
                name: Name::local(&name),
                attributes,
            });
        }
        // Of one that is passed over, the end is taken for that of the element around it.
        if self.scan.take("/>") {
            return self.tree.close();
        }
        self.scan.take(">");
        if is_empty(&name) {
            self.tree.close();
        }
    }

    fn name(&mut self) -> String {
        let fits = |c: char| c.is_ascii_alphanumeric() || ":-_.".contains(c) || !c.is_ascii();
        self.scan.take_while(fits).to_ascii_lowercase()
    }

    fn attributes(&mut self) -> Vec<Attribute> {
        let mut all: Vec<Attribute> = Vec::new();
        loop {
            self.scan.skip_space();
            if self.scan.is_over() || self.scan.at(">") || self.scan.at("/>") {
                return all;
            }
            let first = self.scan.peek().unwrap_or(' ');
            if !(first.is_alphabetic() || ":_.".contains(first)) {
                self.scan.skip();
                let rest = self.scan.rest();
                let stops = |(at, c): &(usize, char)| {
                    is_space(*c) || *c == '>' || rest[*at..].starts_with("/>")
                };
                let end = rest.char_indices().find(stops);
                let wrong = end.map_or(rest.len(), |(at, _)| at);
                self.scan = Scan::new(&rest[wrong..]);
                continue;
            }
            let name = self.name();
            self.scan.skip_space();
            let value = match self.scan.take("=") {
                true => {
                    self.scan.skip_space();
                    self.value()
                }
                false if is_boolean(&name) => name.clone(),
                false => String::new(),
            };
            if all.iter().all(|known| known.name.local != name) {
                all.push(Attribute {
                    name: Name::local(&name),
                    value,
                });
            }
        }
    }

    fn value(&mut self) -> String {
        let quoted = ["\"", "'"].into_iter().find(|quote| self.scan.take(quote));
        let raw = match quoted {
            Some(quote) => self.scan.take_until(quote),
            None => self.scan.take_while(|c| !is_space(c) && c != '>'),
        };
        decode(raw)
    }

    fn end_tag(&mut self) {
        self.scan.take("</");
        let name = self.name();
        if name.is_empty() {
            // What is no name is passed over as a comment is.
            self.scan.take_until(">");
            return;
        }
        self.scan.take_until(">");
        if self.passed_over > 0 && ["html", "body", "head"].contains(&name.as_str()) {
            self.passed_over -= 1;
            return;
        }
        for _ in 0..self.reached_by(&name) {
            self.tree.close();
        }
    }

    /// Returns how many elements an end tag closes.
    fn reached_by(&self, name: &str) -> usize {
        let mut around = 0;
        for open in self.tree.open_names().rev() {
            around += 1;
            if open == name {
                return around;
            }
            if strength(open) > strength(name) {
                return 0;
            }
        }
        0
    }
}

/// Takes a reference behind the `&`; returns the meaning of the reference, or a plain `&`.
fn reference(scan: &mut Scan<'_>) -> String {
    if let Some(found) = character(scan) {
        return found.to_string();
    }
    let mut ahead = *scan;
    let name = ahead.take_while(|c| c.is_ascii_alphanumeric());
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if is_name && ahead.take(";") {
        let written = format!("&{name};");
        let meant = html_escape::decode_html_entities(&written);
        if meant != written.as_str() {
            *scan = ahead;
            return meant.into_owned();
        }
    }
    "&".to_owned()
}

/// Replaces the references in an attribute's value.
fn decode(raw: &str) -> String {
    let mut scan = Scan::new(raw);
    let mut value = String::new();
    while !scan.is_over() {
        value.push_str(scan.take_while(|c| c != '&'));
        if scan.take("&") {
            value.push_str(&reference(&mut scan));
        }
    }
    value
}
