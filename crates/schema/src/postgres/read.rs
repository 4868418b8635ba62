//! From SQL texts to the model: each statement changes what the ones before have made.

mod alter;
mod columns;
mod comments;
mod constraints;
mod defaults;
mod finish;
mod functions;
mod grants;
mod indexes;
mod inherited;
mod kept;
mod kinds;
mod parts;
mod plain;
mod sequences;
mod spaces;
mod tables;
mod triggers;
mod typed;
mod types;
mod views;

use std::collections::{HashMap, HashSet};

use squawk_parser::SyntaxKind;

use kinds::{first_word, is_data, is_drop, is_ours, is_setting, is_setting_call};
use plain::Plain;

pub(crate) use finish::next_value_of;
pub(crate) use grants::{EVERYBODY, all_privileges, given, has_maintain};

use super::model::Schema;
use super::name::Name;
use super::parser::{Node, Tree};
use super::split::{self, Piece, PieceKind};
use crate::{Note, NoteKind, Server, Source, SyntaxError};

/// Fewer statements are parsed before a thread has started.
const WORTH_THREADS: usize = 100;

/// Number of statements parsed at once: enough for threads, few enough for the trees to fit in
/// memory.
const PIECES_AT_ONCE: usize = 512;

/// Reads all sources into one model; large ones are parsed on so many cores.
pub(crate) fn read(
    sources: &[Source],
    server: &Server,
    cores: usize,
) -> Result<(Schema, Vec<Note>), SyntaxError> {
    read_with(plain::read, sources, server, cores)
}

/// Reads a statement and tail without a tree, where possible.
type ShortWay = fn(&str, &str) -> Option<Plain>;

fn read_with(
    short_way: ShortWay,
    sources: &[Source],
    server: &Server,
    cores: usize,
) -> Result<(Schema, Vec<Note>), SyntaxError> {
    let default_schema = server
        .default_schema
        .clone()
        .unwrap_or_else(|| "public".to_owned());
    let mut reader = Reader {
        schema: Schema {
            default_schema: default_schema.clone(),
            has_maintain: has_maintain(server),
            role: server.role.clone(),
            ..Schema::default()
        },
        current_schema: default_schema,
        access_method: None,
        tablespace: None,
        notes: Vec::new(),
        typed: Vec::new(),
        grants: 0,
        index_tables: HashMap::new(),
        attached: HashSet::new(),
        source: None,
        line: 1,
        note_offset: 0,
        short_way,
        cores,
    };
    for source in sources {
        reader.read_source(source)?;
    }
    finish::leave_out_parts(&mut reader.schema, &reader.attached);
    finish::finish(&mut reader.schema);
    Ok((reader.schema, reader.notes))
}

/// What reading has made so far.
pub(crate) struct Reader<'a> {
    pub(crate) schema: Schema,
    /// Schema of unqualified names at present; changed by `SET search_path`.
    current_schema: String,
    /// How tables are stored that do not say so; `None` for the server's own way.
    access_method: Option<String>,
    /// Tablespace of tables and indexes without one in the statement; `None` for the usual one.
    tablespace: Option<String>,
    notes: Vec<Note>,
    /// Tables of composite types being read, with the types.
    typed: Vec<(Name, Name)>,
    /// Number of `GRANT` statements.
    grants: usize,
    /// Which relation an index is on.
    index_tables: HashMap<Name, Name>,
    /// Indexes attached to a partitioned table's, of yet unknown kind: indexes of constraints.
    attached: HashSet<Name>,
    source: Option<&'a Source>,
    /// Line of `note_offset`, so lines are counted once.
    line: usize,
    note_offset: usize,
    short_way: ShortWay,
    cores: usize,
}

/// A statement being read.
#[derive(Clone, Copy)]
pub(crate) struct Statement<'t> {
    pub(crate) node: Node<'t>,
    /// As written, without the semicolon.
    pub(crate) text: &'t str,
    pub(crate) tree: &'t Tree<'t>,
    /// Text behind the statement on the last line, where a comment may contain a former name.
    pub(crate) tail: &'t str,
}

/// What a statement could not be made into.
pub(crate) enum Trouble {
    /// Store the statement as written.
    Opaque,
}

type Read = Result<(), Trouble>;

impl<'a> Reader<'a> {
    fn read_source(&mut self, source: &'a Source) -> Result<(), SyntaxError> {
        self.source = Some(source);
        self.line = 1;
        self.note_offset = 0;
        let at_once = if self.cores > 1 { PIECES_AT_ONCE } else { 1 };
        for pieces in split::pieces(&source.text).chunks(at_once) {
            let parsed = parsed(&source.text, pieces, self.cores, self.short_way);
            for (piece, parsed) in pieces.iter().zip(parsed) {
                match piece.kind {
                    PieceKind::Client => self.note(*piece, NoteKind::Setting),
                    PieceKind::Data => {}
                    PieceKind::Statement => self.read_piece(source, *piece, parsed)?,
                }
            }
        }
        Ok(())
    }

    fn read_piece(
        &mut self,
        source: &'a Source,
        piece: Piece,
        parsed: Parsed<'_>,
    ) -> Result<(), SyntaxError> {
        let text = &source.text[piece.start..piece.end];
        let parsed = match parsed {
            Parsed::Plain(plain) => {
                if let Err(Trouble::Opaque) = self.read_plain(plain, text) {
                    self.keep_opaque(piece, text);
                }
                return Ok(());
            }
            Parsed::Tree(tree) => Some(tree),
            Parsed::Nothing => None,
        };
        let word = first_word(text);
        if word == "set" || word == "select" {
            self.take_search_path(text);
            self.take_access_method(text);
            self.take_tablespace(text);
        }
        if is_data(&word) {
            self.schema.data_statements += 1;
            let kind = if is_setting_call(text) {
                NoteKind::Setting
            } else {
                NoteKind::Data
            };
            self.note(piece, kind);
            return Ok(());
        }
        if is_setting(&word) {
            self.note(piece, NoteKind::Setting);
            return Ok(());
        }
        let Some(tree) = parsed else { return Ok(()) };
        let node = tree.root().children().next();
        if let Some((at, message)) = &tree.error {
            // The grammar lacks some statements about objects compared by words.
            let is_unknown = node.is_none_or(|node| node.kind() == SyntaxKind::ERROR);
            if is_unknown && self.read_kept(text) {
                return Ok(());
            }
            // Without a node it is too deep to be parsed, whatever it is.
            if node.is_none_or(|node| is_ours(node.kind())) {
                let mut error = SyntaxError::at(source, piece.start + at, message.clone());
                error.statement = text.to_owned();
                return Err(error);
            }
            self.keep_opaque(piece, text);
            return Ok(());
        }
        let Some(node) = node else { return Ok(()) };
        let statement = Statement {
            node,
            text,
            tree: &tree,
            tail: tail(&source.text, piece),
        };
        match self.read_statement(statement) {
            Ok(()) => Ok(()),
            Err(Trouble::Opaque) => {
                self.keep_opaque(piece, text);
                Ok(())
            }
        }
    }

    fn read_statement(&mut self, statement: Statement<'_>) -> Read {
        use SyntaxKind as K;
        match statement.node.kind() {
            K::CREATE_TABLE => self.create_table(statement),
            K::ALTER_TABLE => self.alter_table(statement),
            K::ALTER_FOREIGN_TABLE => self.alter_foreign_table(statement),
            K::CREATE_INDEX => self.create_index(statement),
            K::ALTER_INDEX => self.alter_index(statement),
            K::CREATE_VIEW | K::CREATE_MATERIALIZED_VIEW => self.create_view(statement),
            K::CREATE_TYPE => self.create_type(statement),
            K::ALTER_TYPE => self.alter_type(statement),
            K::CREATE_DOMAIN => self.create_domain(statement),
            K::ALTER_DOMAIN => self.alter_domain(statement),
            K::CREATE_SEQUENCE => self.create_sequence(statement),
            K::ALTER_SEQUENCE => self.alter_sequence(statement),
            K::CREATE_FUNCTION | K::CREATE_PROCEDURE => self.create_function(statement),
            K::CREATE_TRIGGER => self.create_trigger(statement),
            K::CREATE_POLICY => self.create_policy(statement),
            K::CREATE_EXTENSION => self.create_extension(statement),
            K::CREATE_SCHEMA => self.create_schema(statement),
            K::COMMENT_ON => self.comment_on(statement),
            K::GRANT => self.grant(statement, true),
            K::REVOKE => self.grant(statement, false),
            K::ALTER_VIEW
            | K::ALTER_MATERIALIZED_VIEW
            | K::ALTER_FUNCTION
            | K::ALTER_PROCEDURE
            | K::ALTER_SCHEMA => self.change_owner(statement),
            kind if is_drop(kind) => self.drop_objects(statement),
            _ => Err(Trouble::Opaque),
        }
    }

    /// Stores a statement without a model: compared by words where possible, else opaque.
    fn keep_opaque(&mut self, piece: Piece, text: &str) {
        if self.read_kept(text) {
            return;
        }
        self.schema.opaque.push(text.to_owned());
        self.note(piece, NoteKind::Opaque);
    }

    fn note(&mut self, piece: Piece, kind: NoteKind) {
        let Some(source) = self.source else { return };
        self.line += source.text[self.note_offset..piece.start]
            .matches('\n')
            .count();
        self.note_offset = piece.start;
        let text = &source.text[piece.start..piece.end];
        self.notes.push(Note {
            source: source.name.clone(),
            line: self.line,
            kind,
            text: text.lines().next().unwrap_or_default().to_owned(),
        });
    }

    /// `SET search_path = app, public`, and pg_dump's `set_config('search_path', '', false)`. An
    /// empty path means that all names are qualified, so nothing changes.
    fn take_search_path(&mut self, text: &str) {
        let lower = text.to_lowercase();
        let Some((_, after)) = lower.split_once("search_path") else {
            return;
        };
        let is_call = lower.contains("set_config");
        let after = if is_call {
            after.split(',').nth(1).unwrap_or_default()
        } else {
            after
                .trim_start()
                .trim_start_matches('=')
                .trim_start()
                .trim_start_matches("to ")
        };
        let first = after.split(',').next().unwrap_or_default().trim();
        let name = first
            .trim_matches(|letter| letter == '\'' || letter == '"')
            .trim();
        if !name.is_empty() && name != "default" && name != "$user" {
            name.clone_into(&mut self.current_schema);
        }
    }

    /// `SET default_table_access_method = heap`, as dumps say before a table.
    fn take_access_method(&mut self, text: &str) {
        let Some((_, value)) = text.split_once("default_table_access_method") else {
            return;
        };
        let value = value.trim().trim_start_matches('=').trim();
        let name = super::name::fold(value.trim_matches('\''));
        let is_usual = matches!(name.as_str(), "heap" | "default" | "");
        self.access_method = (!is_usual).then_some(name);
    }

    /// The object meant by a name in the source.
    pub(crate) fn resolve(&self, parts: &[String]) -> Name {
        match parts {
            [] => Name::default(),
            [name] => Name::new(self.current_schema.clone(), name.clone()),
            [.., schema, name] => Name::new(schema.clone(), name.clone()),
        }
    }
}

/// Result of parsing a piece, before reading.
enum Parsed<'t> {
    Plain(Plain),
    Tree(Tree<'t>),
    /// What is no schema.
    Nothing,
}

/// Parses all pieces as far as possible without context. Parsing is most of the work of reading, so
/// large texts are parsed on several cores.
fn parsed<'t>(
    text: &'t str,
    pieces: &[Piece],
    cores: usize,
    short_way: ShortWay,
) -> Vec<Parsed<'t>> {
    let parse = |piece: &Piece| {
        let statement = &text[piece.start..piece.end];
        if piece.kind != PieceKind::Statement {
            return Parsed::Nothing;
        }
        if let Some(plain) = short_way(statement, tail(text, *piece)) {
            return Parsed::Plain(plain);
        }
        let word = first_word(statement);
        if is_data(&word) || is_setting(&word) {
            return Parsed::Nothing;
        }
        Parsed::Tree(Tree::parse(statement))
    };
    if pieces.len() < WORTH_THREADS || cores == 1 {
        return pieces.iter().map(parse).collect();
    }
    std::thread::scope(|scope| {
        let chunks = pieces.chunks(pieces.len().div_ceil(cores));
        let workers: Vec<_> = chunks
            .map(|chunk| scope.spawn(move || chunk.iter().map(parse).collect::<Vec<_>>()))
            .collect();
        let parsed = workers.into_iter().flat_map(|worker| {
            worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        parsed.collect()
    })
}

/// Text behind a statement on the last line.
fn tail(text: &str, piece: Piece) -> &str {
    text[piece.end..].lines().next().unwrap_or_default()
}
