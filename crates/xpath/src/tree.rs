//! The tree of a document. Nodes are numbered in the document's order.

use std::collections::HashMap;

/// Depth beyond which elements are no longer nested: deeper ones become siblings.
const DEPTH_MAX: usize = 256;

/// A parsed text.
#[derive(Clone, Debug)]
pub struct Document {
    /// The first is the root, which stands for the document.
    pub(crate) nodes: Vec<Node>,
    /// Namespaces by prefix, for use in expressions; `_` is the first default namespace.
    pub(crate) namespaces: HashMap<String, String>,
    /// Whether an attribute `id` names the element with the attribute.
    pub(crate) is_html: bool,
}

/// A node other than an attribute.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) parent: usize,
    pub(crate) children: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Root,
    Element(Element),
    Text(String),
    Comment(String),
    Instruction { target: String, data: String },
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Element {
    pub(crate) name: Name,
    pub(crate) attributes: Vec<Attribute>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Attribute {
    pub(crate) name: Name,
    pub(crate) value: String,
}

/// A name with a namespace, which is empty for none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Name {
    pub(crate) prefix: String,
    pub(crate) local: String,
    pub(crate) namespace: String,
}

impl Name {
    pub(crate) fn local(name: &str) -> Name {
        Name {
            local: name.to_owned(),
            ..Name::default()
        }
    }

    /// Returns the name as written.
    pub(crate) fn written(&self) -> String {
        match self.prefix.as_str() {
            "" => self.local.clone(),
            prefix => format!("{prefix}:{}", self.local),
        }
    }
}

/// A node or an attribute; the order is the document's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    pub(crate) node: usize,
    /// Zero for the node; an attribute's place plus one.
    pub(crate) attribute: usize,
}

impl Place {
    pub(crate) const ROOT: Place = Place::of(0);

    pub(crate) const fn of(node: usize) -> Place {
        Place { node, attribute: 0 }
    }
}

/// Builds a tree from begins and ends.
#[derive(Debug)]
pub(crate) struct Builder {
    document: Document,
    /// The open elements.
    open: Vec<usize>,
    /// The last text kept as a separate node.
    section: Option<usize>,
    /// Whether something stands before the first element.
    has_beginning: bool,
}

impl Builder {
    pub(crate) fn new(is_html: bool) -> Builder {
        let root = Node {
            kind: Kind::Root,
            parent: 0,
            children: Vec::new(),
        };
        let document = Document {
            nodes: vec![root],
            namespaces: HashMap::new(),
            is_html,
        };
        Builder {
            document,
            open: Vec::new(),
            section: None,
            has_beginning: false,
        }
    }

    fn parent(&self) -> usize {
        let depth = self.open.len().min(DEPTH_MAX);
        depth.checked_sub(1).map_or(0, |last| self.open[last])
    }

    /// A declaration of the document's type stands before the first element.
    pub(crate) fn begin(&mut self) {
        self.has_beginning = true;
    }

    fn add(&mut self, kind: Kind) -> usize {
        self.has_beginning |= self.document.nodes.len() == 1 && !matches!(kind, Kind::Element(_));
        self.add_to(self.parent(), kind)
    }

    fn add_to(&mut self, parent: usize, kind: Kind) -> usize {
        let number = self.document.nodes.len();
        self.document.nodes.push(Node {
            kind,
            parent,
            children: Vec::new(),
        });
        self.document.nodes[parent].children.push(number);
        number
    }

    /// Opens an element. A second outermost one belongs to the first, where nothing else is there.
    pub(crate) fn open(&mut self, element: Element) {
        let kind = Kind::Element(element);
        let number = match self.document.nodes[0].children.as_slice() {
            [first] if self.open.is_empty() && !self.has_beginning => self.add_to(*first, kind),
            _ => self.add(kind),
        };
        self.open.push(number);
    }

    /// Closes the innermost open element.
    pub(crate) fn close(&mut self) {
        self.open.pop();
    }

    /// Adds text, to the text just before if there is some; none has a place outside of the
    /// elements.
    pub(crate) fn text(&mut self, text: &str) {
        if text.is_empty() || self.open.is_empty() {
            return;
        }
        let last = self.document.nodes[self.parent()].children.last().copied();
        let last = last.filter(|last| self.section != Some(*last));
        match last.map(|last| &mut self.document.nodes[last].kind) {
            Some(Kind::Text(before)) => before.push_str(text),
            _ => {
                self.add(Kind::Text(text.to_owned()));
            }
        }
    }

    /// Adds text as a separate node.
    pub(crate) fn section(&mut self, text: &str) {
        self.section = Some(self.add(Kind::Text(text.to_owned())));
    }

    pub(crate) fn comment(&mut self, text: &str) {
        self.add(Kind::Comment(text.to_owned()));
    }

    pub(crate) fn instruction(&mut self, target: &str, data: &str) {
        let (target, data) = (target.to_owned(), data.to_owned());
        self.add(Kind::Instruction { target, data });
    }

    /// Declares a namespace for expressions; the first of a prefix stays.
    pub(crate) fn declare(&mut self, prefix: &str, namespace: &str) {
        let prefix = if prefix.is_empty() { "_" } else { prefix };
        let known = self.document.namespaces.entry(prefix.to_owned());
        known.or_insert_with(|| namespace.to_owned());
    }

    /// Returns the name of the innermost open element.
    pub(crate) fn current(&self) -> Option<&Name> {
        self.name_of(*self.open.last()?)
    }

    fn name_of(&self, number: usize) -> Option<&Name> {
        match &self.document.nodes[number].kind {
            Kind::Element(element) => Some(&element.name),
            _ => None,
        }
    }

    /// Returns the names of the open elements, the innermost last.
    pub(crate) fn open_names(&self) -> impl DoubleEndedIterator<Item = &str> {
        let names = self.open.iter().filter_map(|number| self.name_of(*number));
        names.map(|name| name.local.as_str())
    }

    /// Returns whether there is no node yet.
    pub(crate) fn is_new(&self) -> bool {
        self.document.nodes.len() == 1
    }

    /// Returns the number of open elements.
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Returns the last child of the innermost open element, comments left out.
    pub(crate) fn last_child(&self) -> Option<&Kind> {
        let children = &self.document.nodes[self.parent()].children;
        let kinds = children
            .iter()
            .map(|child| &self.document.nodes[*child].kind);
        kinds.rev().find(|kind| !matches!(kind, Kind::Comment(_)))
    }

    /// Returns the document; the error is a sentence for one without an element.
    pub(crate) fn finish(self) -> Result<Document, String> {
        let root = self.document.nodes[0].children.iter();
        let mut kinds = root.map(|child| &self.document.nodes[*child].kind);
        match kinds.any(|kind| matches!(kind, Kind::Element(_))) {
            true => Ok(self.document),
            false => Err("there is no element in it".to_owned()),
        }
    }
}

impl Document {
    pub(crate) fn element(&self, node: usize) -> Option<&Element> {
        match &self.nodes[node].kind {
            Kind::Element(element) => Some(element),
            _ => None,
        }
    }

    pub(crate) fn attribute(&self, place: Place) -> Option<&Attribute> {
        let at = place.attribute.checked_sub(1)?;
        self.element(place.node)?.attributes.get(at)
    }

    /// Returns the name of an element or an attribute.
    pub(crate) fn name(&self, place: Place) -> Option<&Name> {
        match place.attribute {
            0 => self.element(place.node).map(|element| &element.name),
            _ => self.attribute(place).map(|attribute| &attribute.name),
        }
    }

    /// Returns the text of a node with all inside.
    pub(crate) fn text(&self, place: Place) -> String {
        if let Some(attribute) = self.attribute(place) {
            return attribute.value.clone();
        }
        match &self.nodes[place.node].kind {
            Kind::Text(text) | Kind::Comment(text) => text.clone(),
            Kind::Instruction { data, .. } => data.clone(),
            Kind::Root | Kind::Element(_) => {
                let mut all = String::new();
                self.add_text(place.node, &mut all);
                all
            }
        }
    }

    fn add_text(&self, node: usize, all: &mut String) {
        for child in &self.nodes[node].children {
            match &self.nodes[*child].kind {
                Kind::Text(text) => all.push_str(text),
                Kind::Element(_) => self.add_text(*child, all),
                _ => {}
            }
        }
    }
}
