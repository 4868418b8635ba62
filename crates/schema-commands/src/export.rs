//! `hakaru schema export`: a schema as SQL, in one text or in a folder of files.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use figures::counted;
use schema::{Dialect, Object, ObjectKind, Schema, Server};
use schema_db::Unseen;
use words::text;

use super::options::forever;
use super::place::{Access, Place};
use super::{sides, texts, unseen};
use crate::flags::{ExportArgs, Format};
use ending::{Cause, Ended, Failure};

pub(super) fn run(args: &ExportArgs) -> Result<Ended, Failure> {
    let place = Place::parse(args.place.as_deref().unwrap_or_default());
    let access = Access {
        prompt: args.password_prompt,
        create: false,
    };
    let mut database = place.connect(access)?;
    let server = match (&database, args.dialect) {
        (Some(database), _) => database.server().clone(),
        (None, Some(dialect)) => dialect.server(),
        (None, None) => return Err(sides::unknown_dialect(&place.shown())),
    };
    sides::check_roles(&args.role, &server)?;
    if args.format == Format::Ruby && !args.role.is_empty() {
        return Err(Failure::usage("schema.rb has no roles; leave --role out"));
    }
    let texts = texts::of(&place, &server)?;
    let scope = args.filter.scope();
    let ready = sides::ready(&scope, &server)?;
    let mut settings = sides::plain(forever(sides::ready(&scope, &server)?));
    settings.options.roles.clone_from(&args.role);
    let read = sides::read(database.as_deref_mut(), &texts, &server, &settings)?;
    let (mut schema, mut unseen) = read;
    schema.forget_logins();
    unseen = sides::seen_by(&ready, unseen);
    if database.is_none() {
        // Statements that are not understood are written as they are.
        unseen.clear();
    }
    match &args.split {
        _ if args.format == Format::Ruby => {
            let dumped = rails_schema::dump(&schema.outline(), &server);
            console::data(&dumped.text);
            unseen.extend(dumped.lost.into_iter().map(|object| Unseen {
                kind: object.kind.to_owned(),
                name: object.name,
            }));
        }
        None => console::data(&script(&schema.statements(), &server)),
        Some(folder) => split(folder, &schema, &server)?,
    }
    unseen::say(&unseen, args.allow_unseen);
    Ok(unseen::exit(&unseen, args.allow_unseen))
}

/// Statements as a script for a client.
fn script(statements: &[String], server: &Server) -> String {
    statements
        .iter()
        .map(|sql| match server.dialect() {
            // The client cuts at every `;` otherwise, also in the body of a trigger.
            Dialect::Mysql if sql.contains(';') => {
                let text = format!("DELIMITER ;;\n{sql} ;;\nDELIMITER ;\n\n");
                match schema::mysql::needs_oracle_mode(sql) {
                    true => in_oracle_mode(&text),
                    false => text,
                }
            }
            _ => format!("{sql};\n\n"),
        })
        .collect()
}

fn in_oracle_mode(text: &str) -> String {
    let mode = schema::mysql::ORACLE_MODE;
    let text = text.trim_end();
    format!("SET SESSION sql_mode = '{mode}';\n{text}\nSET SESSION sql_mode = DEFAULT;\n\n")
}

/// Writes one file for each table with the table's parts, and one for each other object. Names
/// begin with a number by kind: read in order, the folder can be applied to an empty server,
/// foreign keys apart.
fn split(folder: &Path, schema: &Schema, server: &Server) -> Result<(), Failure> {
    let unwritable = |error: std::io::Error| {
        let message = format!("cannot write into {}: {error}", folder.display());
        Failure::new(Cause::Failed, message)
    };
    fs::create_dir_all(folder).map_err(unwritable)?;
    let mut entries = fs::read_dir(folder).map_err(unwritable)?;
    if entries
        .any(|entry| entry.is_ok_and(|entry| entry.path().extension().is_some_and(|e| e == "sql")))
    {
        let message = format!(
            "{} holds .sql files already, which would be part of the schema too; name an empty folder",
            folder.display()
        );
        return Err(Failure::new(Cause::Failed, message));
    }
    let files = files(schema, server);
    for (name, text) in &files {
        fs::write(folder.join(name), text).map_err(unwritable)?;
    }
    console::notice(text!(
        "wrote {files} into {folder}",
        files = counted!(files.len() as u64, "file"),
        folder = folder.display().to_string()
    ));
    Ok(())
}

/// Texts by file name. What a statement is about is found by leaving everything else out of the
/// schema.
fn files(schema: &Schema, server: &Server) -> BTreeMap<String, String> {
    let mut objects: Vec<Object> = Vec::new();
    let (seen, known) = (RefCell::new(&mut objects), RefCell::new(HashSet::new()));
    schema.clone().retain(&|object| {
        let mut seen = seen.borrow_mut();
        // The owner of an index is asked about again.
        if known.borrow_mut().insert(object.clone()) {
            seen.push(object.clone());
        }
        true
    });
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let mut rest = schema.statements();
    // A role may be a member of any other, so that all are in one file.
    let roles = schema.role_statements();
    if !roles.is_empty() {
        rest.retain(|sql| !roles.contains(sql));
        files.insert("09-roles.sql".to_owned(), script(&roles, server));
    }
    for object in &objects {
        let mut alone = schema.clone();
        let is_owned = |other: &Object| other == object || !stands_alone(other.kind);
        if !stands_alone(object.kind) {
            continue;
        }
        alone.retain(&is_owned);
        let own = alone.compared();
        rest.retain(|sql| !own.contains(sql));
        let name = format!("{}-{}.sql", place_of(object.kind), file_name(&object.name));
        files
            .entry(name)
            .or_default()
            .push_str(&script(&own, server));
    }
    if !rest.is_empty() {
        files.insert("90-rest.sql".to_owned(), script(&rest, server));
    }
    files
}

/// Whether an object has a separate file, rather than a place in the table's file.
fn stands_alone(kind: ObjectKind) -> bool {
    !matches!(
        kind,
        ObjectKind::Index
            | ObjectKind::Constraint
            | ObjectKind::Trigger
            | ObjectKind::Column
            | ObjectKind::Policy
            | ObjectKind::Comment
    )
}

/// Two digits for the order of files, in which an empty server accepts the statements.
fn place_of(kind: ObjectKind) -> String {
    let number = match kind {
        ObjectKind::Schema => 10,
        ObjectKind::Extension => 11,
        ObjectKind::Type | ObjectKind::Domain => 12,
        ObjectKind::Sequence => 13,
        ObjectKind::Function | ObjectKind::Procedure => 14,
        ObjectKind::Table => 20,
        ObjectKind::View | ObjectKind::MaterializedView => 30,
        _ => 40,
    };
    format!("{number}-{kind}").replace(' ', "-")
}

/// A file name valid in every file system, without a path.
fn file_name(name: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || ['_', '-', '.'].contains(&letter);
    let name: String = name
        .chars()
        .map(|letter| if plain(letter) { letter } else { '_' })
        .collect();
    name.trim_start_matches('.').to_owned()
}
