//! SQLite.

mod kinds;
mod pairs;

use schema::{Product, Server};
use schema_db::Database;
use schema_db::sqlite::{self, Sqlite};

use crate::bench::{Bench, Scratch};
use crate::cases::{self, Exception};
use crate::real;

const FILE: &str = "cases-sqlite.json";

/// Where sqldef's text is not what we want to write.
const SPELLED_OTHERWISE: [Exception; 1] = [(
    "tests/RenameTableAndMultipleColumnChanges",
    "sqldef adds a NOT NULL column without a default, which SQLite refuses for a table with rows, and leaves out \
     the default of is_active; we rename the column and rebuild the table",
)];

struct Files;

struct InFolder {
    database: Sqlite,
    _folder: tempfile::TempDir,
}

impl Bench for Files {
    fn empty(&self) -> Box<dyn Scratch> {
        let folder = tempfile::tempdir().unwrap();
        let mut database = sqlite::open(&folder.path().join("test.db")).unwrap();
        // Nobody needs the file after a power cut, and waiting for the disk is most of the time.
        database.execute("PRAGMA synchronous = OFF").unwrap();
        Box::new(InFolder {
            database,
            _folder: folder,
        })
    }
}

impl Scratch for InFolder {
    fn database(&mut self) -> &mut dyn Database {
        &mut self.database
    }

    fn catalogue(&mut self) -> Vec<String> {
        const QUERIES: [&str; 4] = [
            "SELECT 'table', lower(t.name), t.type, t.wr, t.strict, c.cid, lower(c.name), lower(c.type), c.\"notnull\", \
                 lower(c.dflt_value), c.pk, c.hidden \
             FROM pragma_table_list AS t, pragma_table_xinfo(t.name) AS c WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
            "SELECT 'index', lower(t.name), CASE i.origin WHEN 'c' THEN lower(i.name) END, i.\"unique\", i.origin, \
                 i.partial, c.seqno, lower(c.name), c.\"desc\", c.coll, c.key \
             FROM pragma_table_list AS t, pragma_index_list(t.name) AS i, pragma_index_xinfo(i.name) AS c \
             WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
            "SELECT 'key', lower(t.name), f.seq, lower(f.\"table\"), lower(f.\"from\"), lower(f.\"to\"), f.on_update, \
                 f.on_delete \
             FROM pragma_table_list AS t, pragma_foreign_key_list(t.name) AS f WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
            "SELECT type, lower(name), lower(tbl_name) FROM sqlite_schema WHERE type IN ('view', 'trigger')",
        ];
        let rows = QUERIES
            .iter()
            .flat_map(|query| self.database.query(query).unwrap());
        let mut lines: Vec<String> = rows
            .map(|row| {
                row.iter()
                    .map(|value| value.as_deref().unwrap_or("-"))
                    .collect::<Vec<_>>()
                    .join(" | ")
            })
            .collect();
        lines.sort();
        lines
    }
}

fn server() -> Server {
    Server::unknown(Product::Sqlite)
}

#[test]
fn every_case_ends_where_it_should_and_goes_back() {
    cases::on_server(FILE, &Files, &|_| true, &[]);
}

#[test]
fn every_case_in_sqldefs_order() {
    cases::on_server_as_sqldef(FILE, &Files, &|_| true, &[]);
}

#[test]
fn the_drop_in_spelling_is_sqldefs() {
    cases::spelled_as_sqldef(FILE, &server(), &|_| true, &SPELLED_OTHERWISE);
}

#[test]
fn real_schemas_are_read_whole_and_reached() {
    real::files("sqlite-", &server(), &Files);
}

#[test]
fn random_pairs_are_reached_and_rows_survive() {
    crate::pairs::run(&Files, "sqlite", (0, 1), &pairs::pair);
}
