//! A statement's syntax tree, laid out flat in the order of the text.
//!
//! The grammar is squawk's; its events are kept in two vectors instead of its own tree, which costs
//! more to build than the parsing itself. Spaces and comments are left out of the tree; comments
//! are listed beside it.

use std::thread;

use squawk_parser::{EntryPoint, LexedStr, StrStep, SyntaxKind};

/// Limit on nesting while parsing. The grammar is recursive, and a stack is finite; PostgreSQL
/// itself refuses some thousands (`max_stack_depth`), and people and dumps stay below a hundred.
const NESTING_MAX: usize = 400;

/// Most operators in one row, each of which may be a level as well.
const OPERATORS_MAX: usize = 4_000;

/// Room for both, by experiment with many times as much to spare. Only what is touched becomes
/// memory.
const STACK_BYTES: usize = 256 << 20;

/// Levels fitting on any thread's stack; nearly every statement has fewer, and starting a thread
/// takes longer than parsing one.
const LEVELS_ANYWHERE: usize = 24;

/// Whether a node is a type.
pub(crate) fn is_type(kind: SyntaxKind) -> bool {
    matches!(
        kind,
        SyntaxKind::PATH_TYPE
            | SyntaxKind::ARRAY_TYPE
            | SyntaxKind::VARCHAR_TYPE
            | SyntaxKind::CHARACTER_TYPE
            | SyntaxKind::BIT_TYPE
            | SyntaxKind::BIT_VARYING_TYPE
            | SyntaxKind::DOUBLE_TYPE
            | SyntaxKind::TIME_TYPE
            | SyntaxKind::TIMESTAMP_TYPE
            | SyntaxKind::INTERVAL_TYPE
            | SyntaxKind::PERCENT_TYPE
    )
}

/// A parsed text.
pub(crate) struct Tree<'t> {
    text: &'t str,
    items: Vec<Item>,
    /// Byte ranges of the comments.
    pub(crate) comments: Vec<(usize, usize)>,
    /// Position and reason of the first error.
    pub(crate) error: Option<(usize, String)>,
}

struct Item {
    kind: SyntaxKind,
    start: u32,
    end: u32,
    /// Index after the last item inside.
    next: u32,
}

/// A node or token.
#[derive(Clone, Copy)]
pub(crate) struct Node<'t> {
    tree: &'t Tree<'t>,
    at: usize,
}

impl<'t> Tree<'t> {
    /// Parses a text of any number of statements.
    pub(crate) fn parse(text: &'t str) -> Tree<'t> {
        let lexed = LexedStr::new(text);
        let levels = match levels(text, &lexed) {
            Ok(levels) => levels,
            Err(offset) => {
                let mut empty = Tree::parse("");
                empty.error = Some((offset, "this is nested too deep".to_owned()));
                return empty;
            }
        };
        let input = lexed.to_input();
        let parse = || EntryPoint::SourceFile.parse(&input);
        let output = if levels <= LEVELS_ANYWHERE {
            parse()
        } else {
            with_room(parse)
        };
        let mut tree = Tree {
            text,
            items: Vec::with_capacity(text.len() / 3),
            comments: Vec::new(),
            error: None,
        };
        let mut open = Vec::new();
        let mut offset = 0;
        lexed.intersperse_trivia(&output, &mut |step| match step {
            StrStep::Token { kind, text } => {
                let start = offset;
                offset += text.len();
                match kind {
                    SyntaxKind::WHITESPACE => {}
                    SyntaxKind::COMMENT => tree.comments.push((start, offset)),
                    _ => tree.push(kind, start, offset),
                }
            }
            StrStep::Enter { kind } => {
                open.push(tree.items.len());
                tree.push(kind, offset, offset);
            }
            StrStep::Exit => tree.close(open.pop()),
            StrStep::Error { msg, pos } => {
                tree.error.get_or_insert_with(|| (pos, msg.to_owned()));
            }
        });
        if tree.error.is_none() {
            tree.error = lexed
                .errors()
                .next()
                .map(|(range, message)| (range.start as usize, message.to_owned()));
        }
        tree
    }

    fn push(&mut self, kind: SyntaxKind, start: usize, end: usize) {
        let next = self.items.len() as u32 + 1;
        self.items.push(Item {
            kind,
            start: start as u32,
            end: end as u32,
            next,
        });
    }

    /// Closes a node, spanning the first token to the last, without white space at the ends.
    fn close(&mut self, index: Option<usize>) {
        let Some(index) = index else { return };
        let next = self.items.len();
        if next > index + 1 {
            self.items[index].start = self.items[index + 1].start;
            self.items[index].end = self.items[next - 1].end;
        }
        self.items[index].next = next as u32;
    }

    /// The root node, with the statements as children.
    pub(crate) fn root(&'t self) -> Node<'t> {
        Node { tree: self, at: 0 }
    }
}

/// Calls `work` on a thread with a large stack, or on the current one when no thread can be
/// started.
fn with_room<T: Send>(work: impl Fn() -> T + Sync) -> T {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK_BYTES);
        match thread
            .spawn_scoped(scope, &work)
            .map(|thread| thread.join())
        {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => work(),
        }
    })
}

/// How deep the parser would go at most: inside brackets and CASE, in rows of operators, and in
/// joins whose conditions come later. `Err` is the place where that is deeper than it may.
fn levels(text: &str, lexed: &LexedStr<'_>) -> Result<usize, usize> {
    let (mut depth, mut operators, mut joins) = (0_usize, 0_usize, 0_usize);
    let (mut depth_most, mut operators_most, mut others) = (0, 0, 0);
    let (mut index, mut end) = (0, 0);
    while end < text.len() {
        let range = lexed.text_range(index);
        (index, end) = (index + 1, range.end);
        let token = &text[range.clone()];
        match token.as_bytes() {
            [b'(' | b'[', ..] => depth += 1,
            [b')' | b']', ..] => depth = depth.saturating_sub(1),
            [b';', ..] => (depth, joins) = (0, 0),
            [b'-', b'-', ..] | [b'/', b'*', ..] => continue,
            [
                b'=' | b'<' | b'>' | b'|' | b'&' | b'!' | b'@' | b'#' | b'~' | b'+' | b'-' | b'*'
                | b'/' | b'%' | b'^' | b'?',
                ..,
            ] => operators += 1,
            [first, _, ..] if first.is_ascii_alphabetic() => match Word::of(token) {
                Some(Word::Join) => joins += 1,
                Some(Word::On) => joins = joins.saturating_sub(1),
                Some(Word::Case) => depth += 1,
                Some(Word::End) => depth = depth.saturating_sub(1),
                Some(Word::Not) => operators += 1,
                Some(Word::And) => operators = 0,
                Some(Word::Again) => others += 1,
                None => {}
            },
            _ => {}
        }
        if matches!(token, "," | ";" | "(" | ")") {
            operators = 0;
        }
        depth_most = depth_most.max(depth + joins);
        operators_most = operators_most.max(operators);
        if depth.max(joins) > NESTING_MAX || operators > OPERATORS_MAX {
            return Err(range.start);
        }
    }
    Ok(depth_most + operators_most + others)
}

/// Words opening or closing a level.
#[derive(Clone, Copy)]
enum Word {
    Join,
    /// Also `USING`.
    On,
    Case,
    End,
    Not,
    /// Also `OR`.
    And,
    /// What another statement or query may follow in the same one: `UNION`, `WITH`, `EXPLAIN` and
    /// the like.
    Again,
}

impl Word {
    fn of(token: &str) -> Option<Word> {
        let is = |word: &str| token.eq_ignore_ascii_case(word);
        match token.len() {
            2 if is("ON") => Some(Word::On),
            2 if is("OR") => Some(Word::And),
            3 if is("END") => Some(Word::End),
            3 if is("NOT") => Some(Word::Not),
            3 if is("AND") => Some(Word::And),
            4 if is("JOIN") => Some(Word::Join),
            4 if is("CASE") => Some(Word::Case),
            5 if is("USING") => Some(Word::On),
            4 if is("WITH") => Some(Word::Again),
            5 if is("UNION") => Some(Word::Again),
            6 if is("EXCEPT") || is("CREATE") => Some(Word::Again),
            7 if is("EXPLAIN") || is("PREPARE") => Some(Word::Again),
            9 if is("INTERSECT") => Some(Word::Again),
            _ => None,
        }
    }
}

impl<'t> Node<'t> {
    fn item(self) -> &'t Item {
        &self.tree.items[self.at]
    }

    pub(crate) fn kind(self) -> SyntaxKind {
        self.item().kind
    }

    pub(crate) fn start(self) -> usize {
        self.item().start as usize
    }

    pub(crate) fn end(self) -> usize {
        self.item().end as usize
    }

    /// The source, comments inside included.
    pub(crate) fn text(self) -> &'t str {
        &self.tree.text[self.start()..self.end()]
    }

    /// The source from the start of the node to the end of `last`.
    pub(crate) fn text_to(self, last: Node<'t>) -> &'t str {
        &self.tree.text[self.start()..last.end()]
    }

    pub(crate) fn children(self) -> impl Iterator<Item = Node<'t>> {
        let end = self.item().next as usize;
        let mut at = self.at + 1;
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let node = Node {
                    tree: self.tree,
                    at,
                };
                at = node.item().next as usize;
                node
            })
        })
    }

    /// Whether nothing is inside: a token, or an empty node.
    pub(crate) fn is_leaf(self) -> bool {
        self.item().next as usize == self.at + 1
    }

    /// The first child of a kind.
    pub(crate) fn child(self, kind: SyntaxKind) -> Option<Node<'t>> {
        self.children().find(|child| child.kind() == kind)
    }

    pub(crate) fn has(self, kind: SyntaxKind) -> bool {
        self.child(kind).is_some()
    }

    /// All children of a kind.
    pub(crate) fn all(self, kind: SyntaxKind) -> impl Iterator<Item = Node<'t>> {
        self.children().filter(move |child| child.kind() == kind)
    }

    /// Everything inside, at any depth, in the order of the text.
    pub(crate) fn inside(self) -> impl Iterator<Item = Node<'t>> {
        let tree = self.tree;
        (self.at + 1..self.item().next as usize).map(move |at| Node { tree, at })
    }

    /// The first of a kind at any depth.
    pub(crate) fn find(self, kind: SyntaxKind) -> Option<Node<'t>> {
        self.inside().find(|node| node.kind() == kind)
    }

    /// Tokens inside, or the node itself when a token.
    pub(crate) fn tokens(self) -> impl Iterator<Item = Node<'t>> {
        let tree = self.tree;
        let first = if self.is_leaf() { self.at } else { self.at + 1 };
        (first..self.item().next as usize)
            .map(move |at| Node { tree, at })
            .filter(|node| node.is_leaf() && node.start() < node.end())
    }

    /// The source with one space between tokens and without comments.
    pub(crate) fn words(self) -> String {
        let mut words = String::with_capacity(self.end() - self.start());
        let mut end = None;
        for token in self.tokens() {
            if end.is_some_and(|end| end < token.start()) {
                words.push(' ');
            }
            words.push_str(token.text());
            end = Some(token.end());
        }
        words
    }
}
