//! Files of the corpus: read whole, equal to themselves, and unchanged on a server with the
//! prerequisites.

use schema::Server;

use super::Databases;
use crate::bench::{Bench, corpus, reach};
use crate::real::offline;

/// A schema in one file or several.
struct Real {
    files: &'static [&'static str],
    /// Prerequisites of opaque kinds.
    prelude: &'static str,
    /// Prerequisites of understood kinds, missing in the file.
    head: &'static str,
    /// Schema of unqualified names.
    schema: Option<&'static str>,
    /// Reason for being refused by all servers here.
    lacks: Option<&'static str>,
}

/// First words of statements of opaque kinds, and on objects present in every database.
const KEPT: [&str; 7] = [
    "ALTER AGGREGATE",
    "ALTER PROCEDURAL LANGUAGE",
    "COMMENT ON SCHEMA public",
    "CREATE AGGREGATE",
    "CREATE OPERATOR",
    "CREATE OR REPLACE PROCEDURAL LANGUAGE",
    "CREATE RULE",
];

const MUSICBRAINZ: [&str; 9] = [
    "musicbrainz-CreateTypes",
    "musicbrainz-CreateTables",
    "musicbrainz-CreatePrimaryKeys",
    "musicbrainz-CreateFunctions",
    "musicbrainz-CreateIndexes",
    "musicbrainz-CreateViews",
    "musicbrainz-CreateConstraints",
    "musicbrainz-CreateFKConstraints",
    "musicbrainz-CreateTriggers",
];

const MUSICBRAINZ_HEAD: &str = "
    CREATE EXTENSION cube; CREATE EXTENSION earthdistance;
    CREATE COLLATION musicbrainz (provider = icu, locale = '@colCaseFirst=upper');
    CREATE FUNCTION musicbrainz_unaccent(text) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT $1';";

/// Our own.
const SHOP: Real = Real {
    files: &["shop"],
    prelude: "",
    head: "",
    schema: None,
    lacks: None,
};

const FILES: [Real; 6] = [
    Real {
        files: &["danbooru"],
        prelude: "
            CREATE FUNCTION public.reverse_textregexeq(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
                AS 'SELECT textregexeq($2, $1)';
            CREATE OPERATOR public.~<< (FUNCTION = public.reverse_textregexeq, LEFTARG = text, RIGHTARG = text)",
        head: "",
        schema: None,
        lacks: None,
    },
    Real {
        files: &["icingadb"],
        prelude: "",
        head: "",
        schema: None,
        lacks: None,
    },
    Real {
        files: &["pagila"],
        prelude: "",
        head: "",
        schema: None,
        lacks: Some("the extension vector"),
    },
    Real {
        files: &["sakila"],
        prelude: "
            CREATE FUNCTION public._group_concat(text, text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1';
            CREATE AGGREGATE public.group_concat(text) (SFUNC = public._group_concat, STYPE = text)",
        head: "",
        schema: None,
        lacks: None,
    },
    Real {
        files: &["synapse"],
        prelude: "",
        head: "",
        schema: None,
        lacks: None,
    },
    Real {
        files: &MUSICBRAINZ,
        prelude: "",
        head: MUSICBRAINZ_HEAD,
        schema: Some("musicbrainz"),
        lacks: None,
    },
];

/// Reads all, and applies what the server can take.
pub(super) fn files(server: &Server, variable: &str) {
    let mut wrong = Vec::new();
    let mut read = 0;
    let folder = corpus().join("real");
    let known = FILES.into_iter().chain([SHOP]);
    for real in known.filter(|real| {
        folder
            .join(format!("postgres-{}.sql", real.files[0]))
            .exists()
    }) {
        let paths = real
            .files
            .iter()
            .map(|name| folder.join(format!("postgres-{name}.sql")));
        let texts = paths.map(|path| std::fs::read_to_string(path).unwrap());
        let text = texts.collect::<Vec<_>>().join("\n");
        let text = format!("{}\n{text}", real.head);
        read += real.files.len();
        offline(real.files[0], &text, server, &KEPT);
        if let Some(lacks) = real.lacks {
            println!("{}: not applied, no server here has {lacks}", real.files[0]);
            continue;
        }
        let bench = Databases::new(variable, real.schema);
        let mut scratch = bench.empty();
        for statement in real
            .prelude
            .split(";\n")
            .filter(|sql| !sql.trim().is_empty())
        {
            scratch.database().execute(statement).unwrap();
        }
        if let Err(message) = reach(&mut *scratch, &text) {
            wrong.push(format!("{}: {message}", real.files[0]));
        }
    }
    println!("postgres: {read} files read and compared");
    assert!(read > 0, "{} has none of them", folder.display());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
