//! A database to experiment on, and the schema of each side.
//!
//! In this order, the first that can be done:
//! 1. The app takes its database from `DATABASE_URL`, and that is a server: both sides get a
//!    scratch copy of the database there, by the same variable.
//! 2. The app keeps a SQLite file in its own folder: both sides run in a copy of the folder.
//! 3. The change is made in the app's own database and taken back; rows then are what `before`
//!    leaves.
//!
//! Everything is written down before it is made (`undo.rs`).

mod log;

use std::path::{Path, PathBuf};

use schema::Source;
use schema_db::scratch::{self, CopyEnding, Index};
use schema_db::{Database, runner, source};
use words::text;

use super::{Label, Side, Sides, learn};
use crate::app_database::{self, drop_index_of, reach};
use crate::failure;
use crate::observer::Context;
use crate::settings::set_variable;
use crate::undo::{Undo, Undoing};
use crate::workspace::copies::{self, Copied};
use ending::Failure;

/// The variable with the address of the app's database.
const VARIABLE: &str = "DATABASE_URL";

/// What each side finds in the database; without a difference there, nothing is done.
pub struct Schemas {
    changing: Option<Changing>,
}

struct Changing {
    what: What,
    /// Where the experiment is made.
    address: String,
    /// The app's own database.
    original: String,
    is_in_place: bool,
    /// Undone on drop, before the copy of the folder is removed.
    undo: Option<Undoing>,
    _copied: Option<Copied>,
}

enum What {
    Index {
        index: Index,
        create: String,
    },
    Schema {
        a: Vec<Source>,
        b: Vec<Source>,
    },
    /// SQLite's write-ahead log in place of a journal.
    Log {
        present: String,
    },
}

/// A database open to changes.
struct Place {
    address: String,
    original: String,
    is_in_place: bool,
    undo: Option<Undoing>,
    copied: Option<Copied>,
}

impl Schemas {
    /// Both sides find the same.
    pub fn none() -> Schemas {
        Schemas { changing: None }
    }

    /// B finds the schema of a file.
    pub fn of_file(sides: &mut Sides, file: &Path, context: &Context) -> Result<Schemas, Failure> {
        let b = vec![source::file(file).map_err(Failure::usage)?];
        let place = Place::find(sides, context)?;
        let mut database = open(&place.address)?;
        let text = database
            .export()
            .map_err(|error| Failure::failed(error.message))?;
        let a = Source {
            name: "the schema as it is".to_owned(),
            text: text.clone(),
        };
        if place.is_in_place {
            refuse_destructive(database.as_mut(), &b)?;
        }
        let made = b.iter().map(|source| source.text.as_str());
        let undo = Undo::Schema {
            before: text,
            made: made.collect::<Vec<_>>().join("\n"),
        };
        let what = What::Schema { a: vec![a], b };
        Schemas::new(sides, place, what, &undo, context)
    }

    /// B finds one index more.
    pub fn of_index(
        sides: &mut Sides,
        create: &str,
        context: &Context,
    ) -> Result<Schemas, Failure> {
        let index = Index::of_statement(create).ok_or_else(|| {
            Failure::usage(format!("`{create}` is no statement that creates an index"))
        })?;
        let place = Place::find(sides, context)?;
        let known = open(&place.original).and_then(|mut database| {
            index
                .is_there(database.as_mut())
                .map_err(|error| Failure::failed(error.message))
        })?;
        if known {
            return Err(Failure::usage(format!(
                "the index {} is there already; measure anew with `hakaru run`",
                index.name
            )));
        }
        let undo = Undo::Index(index.clone());
        let create = create.to_owned();
        Schemas::new(sides, place, What::Index { index, create }, &undo, context)
    }

    fn new(
        sides: &Sides,
        place: Place,
        what: What,
        taken_back: &Undo,
        context: &Context,
    ) -> Result<Schemas, Failure> {
        let mut undo = place.undo;
        if place.is_in_place {
            context.notice(text!(
                "the change is made in the app's own database and taken back afterwards; rows are what `before` leaves"
            ));
            let project = &sides.a.settings.project;
            let noted = Undoing::note(project, taken_back, Some(&place.address), context);
            undo = Some(noted.map_err(Failure::failed)?);
        }
        Ok(Schemas {
            changing: Some(Changing {
                what,
                address: place.address,
                original: place.original,
                is_in_place: place.is_in_place,
                undo,
                _copied: place.copied,
            }),
        })
    }

    /// Brings the database to the schema of one side. The app does not run.
    pub(crate) fn prepare(&mut self, label: Label, context: &Context) -> Result<(), Failure> {
        let Some(changing) = &self.changing else {
            return Ok(());
        };
        let (address, what) = (&changing.address, &changing.what);
        let reached = scratch::open(address).and_then(|mut database| {
            scratch::until_stopped(address, database.as_mut(), &context.stop, |database| {
                what.reach(database, label)
            })
        });
        let reached = reached.map_err(|error| error.message).flatten();
        // Whatever the server says of a statement that it had to end.
        if context.is_stopped() {
            return Err(failure::interrupted());
        }
        reached.map_err(|why| {
            let why = format!("the database cannot be brought to what {label} needs: {why}");
            Failure::failed(why)
        })
    }

    /// Leaves B's schema in the app's own database. Fails where it is not there now.
    pub fn keep(mut self) -> Result<(), String> {
        let Some(changing) = self.changing.take() else {
            return Ok(());
        };
        let mut database = scratch::open(&changing.original).map_err(|error| error.message)?;
        changing.what.reach(database.as_mut(), Label::B)?;
        if let (true, Some(undo)) = (changing.is_in_place, changing.undo) {
            undo.keep().map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Whether the app's own database is changed meanwhile.
    pub fn is_in_place(&self) -> bool {
        self.changing
            .as_ref()
            .is_some_and(|changing| changing.is_in_place)
    }
}

impl What {
    fn reach(&self, database: &mut dyn Database, label: Label) -> Result<(), String> {
        match (self, label) {
            (What::Schema { a, .. }, Label::A) => reach(database, a),
            (What::Schema { b, .. }, Label::B) => reach(database, b),
            (What::Index { index, create }, Label::B) => {
                let is_there = index.is_there(database).map_err(|error| error.message)?;
                match is_there {
                    true => Ok(()),
                    false => database.execute(create).map_err(|error| error.message),
                }
            }
            (What::Index { index, .. }, Label::A) => drop_index_of(database, index),
            (What::Log { present }, _) => log::reach(database, present, label),
        }
    }
}

/// In the app's own database nothing may be lost.
fn refuse_destructive(database: &mut dyn Database, texts: &[Source]) -> Result<(), Failure> {
    let settings = app_database::settings();
    let server = database.server().clone();
    let planned = runner::read(texts, &server, &settings)
        .and_then(|(mut wanted, _)| runner::prepare(database, &mut wanted, &settings))
        .map_err(Failure::failed)?;
    let destructive = planned
        .plan
        .statements
        .iter()
        .find(|statement| statement.is_destructive());
    match destructive {
        None => Ok(()),
        Some(statement) => Err(Failure::usage(format!(
            "no scratch copy of this database can be made, and `{}` would destroy data in the app's own; \
             let the app take its database from {VARIABLE}",
            statement.sql
        ))),
    }
}

fn open(address: &str) -> Result<Box<dyn Database>, Failure> {
    scratch::open(address)
        .map_err(|error| Failure::failed(format!("the database cannot be used: {}", error.message)))
}

impl Place {
    fn find(sides: &mut Sides, context: &Context) -> Result<Place, Failure> {
        if sides.a.settings.start.is_none() {
            return Err(Failure::usage(
                "a change of the database needs a command that starts the app",
            ));
        }
        if let Some(place) = Place::on_server(sides, context)? {
            return Ok(place);
        }
        let address = match Place::in_folder(sides, context)? {
            Ok(place) => return Ok(place),
            Err(learned) => learned,
        };
        let address = address
            .or_else(|| sides.a.settings.database_url())
            .ok_or_else(|| {
                Failure::usage("where the app's database is, is not known; set `database` under [target] in hakaru.toml")
            })?;
        Ok(Place {
            original: address.clone(),
            address,
            is_in_place: true,
            undo: None,
            copied: None,
        })
    }

    /// Creates a scratch database beside the app's own, where the app reads the address from the
    /// environment.
    fn on_server(sides: &mut Sides, context: &Context) -> Result<Option<Place>, Failure> {
        let (original, of_b) = (variable(&sides.a), variable(&sides.b));
        one_database([original.as_deref(), of_b.as_deref()])?;
        let Some(original) = original else {
            return Ok(None);
        };
        let name = format!("{}{}_{:x}", scratch::PREFIX, std::process::id(), now());
        let Some(address) = scratch::url_of(&original, &name) else {
            return Ok(None);
        };
        let project = &sides.a.settings.project;
        let undo = Undoing::note(
            project,
            &Undo::ScratchDatabase(name.clone()),
            Some(&original),
            context,
        )
        .map_err(Failure::failed)?;
        context.notice(text!("copying the database"));
        match scratch::copy(&original, &name, &context.stop) {
            Ok(CopyEnding::Whole) => {}
            // What there is of it goes with `undo`.
            Ok(CopyEnding::Stopped) => return Err(failure::interrupted()),
            Err(error) => {
                context.notice(text!(
                    "no scratch copy of the database can be made: {why}",
                    why = error.message
                ));
                return Ok(None);
            }
        }
        for side in [&mut sides.a, &mut sides.b] {
            if let Some(start) = &mut side.settings.start {
                set_variable(&mut start.env, VARIABLE, &address);
            }
        }
        Ok(Some(Place {
            address,
            original,
            is_in_place: false,
            undo: Some(undo),
            copied: None,
        }))
    }

    /// A copy of the app's folder, when the app's SQLite file lies inside. Otherwise where its
    /// database is, as far as the app reports.
    fn in_folder(
        sides: &mut Sides,
        context: &Context,
    ) -> Result<Result<Place, Option<String>>, Failure> {
        // A side that has a folder of its own has a database of its own too, which only it can be
        // told to use.
        if sides.a.copied.is_some() || sides.b.copied.is_some() {
            let a = learn::address(&sides.a, context)?;
            let b = learn::address(&sides.b, context)?;
            one_database([a.as_deref(), b.as_deref()])?;
            return Ok(Err(a));
        }
        let original = directory(sides);
        context.notice(text!("copying the app's folder with its database"));
        let copied = copies::folder(&mut sides.a.settings, context)?;
        let copy = directory(sides);
        let address = learn::address(&sides.a, context)?;
        let path = address
            .as_deref()
            .and_then(scratch::sqlite_path)
            .map(PathBuf::from);
        let below = path.and_then(|path| {
            Some(
                path.canonicalize()
                    .ok()?
                    .strip_prefix(&copy)
                    .ok()?
                    .to_owned(),
            )
        });
        let Some(below) = below else {
            move_to(&mut sides.a, &original);
            return Ok(Err(address));
        };
        move_to(&mut sides.b, &copy);
        Ok(Ok(Place {
            address: format!("sqlite:{}", copy.join(&below).display()),
            original: format!("sqlite:{}", original.join(&below).display()),
            is_in_place: false,
            undo: None,
            copied: Some(copied),
        }))
    }
}

fn directory(sides: &Sides) -> PathBuf {
    let start = sides.a.settings.start.as_ref();
    let directory = start
        .map(|start| start.directory.clone())
        .unwrap_or_default();
    directory.canonicalize().unwrap_or(directory)
}

fn move_to(side: &mut Side, directory: &Path) {
    if let Some(start) = &mut side.settings.start {
        start.directory = directory.to_owned();
    }
}

/// Refuses sides with two databases: a change in one database is not there for the other side, and
/// the rows are others.
fn one_database(addresses: [Option<&str>; 2]) -> Result<(), Failure> {
    let [a, b] = addresses.map(|address| {
        let place = address.map(|address| scratch::place_of(address).ok());
        place.map(|place| place.unwrap_or_else(|| "an address that cannot be read".to_owned()))
    });
    if a == b {
        return Ok(());
    }
    let shown = |place: Option<String>| place.unwrap_or_else(|| "no known database".to_owned());
    Err(Failure::usage(format!(
        "A uses {} and B uses {}, and a schema or an index is tried where both use one; \
         leave out the revision, patch or variable that gives a side its own, or let both take it from {VARIABLE}",
        shown(a),
        shown(b)
    )))
}

/// `DATABASE_URL` as visible to the app.
fn variable(side: &Side) -> Option<String> {
    let start = side.settings.start.as_ref()?;
    let own = start.env.iter().find(|(name, _)| name == VARIABLE);
    own.map(|(_, value)| value.clone())
        .or_else(|| std::env::var(VARIABLE).ok())
}

fn now() -> u128 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn ctrl_c_while_an_index_is_built_is_no_failure() {
        struct Silent;
        impl crate::Observer for Silent {
            fn notice(&self, _line: words::Text) {}
        }
        let folder = tempfile::tempdir().expect("a folder");
        let address = format!("sqlite:{}", folder.path().join("a.db").display());
        let mut schemas = Schemas {
            changing: Some(Changing {
                what: What::Index {
                    index: Index::of_statement("CREATE INDEX i ON t (a)").expect("an index"),
                    create: "CREATE INDEX i ON t (a)".to_owned(),
                },
                original: address.clone(),
                address,
                is_in_place: false,
                undo: None,
                _copied: None,
            }),
        };
        for (is_stopped, cause) in [
            (false, ending::Cause::Failed),
            (true, ending::Cause::Interrupted),
        ] {
            let context = Context {
                observer: Arc::new(Silent),
                stop: Arc::new(AtomicBool::new(is_stopped)),
            };
            // There is no such table.
            let failure = schemas.prepare(Label::B, &context).expect_err("no table");
            assert_eq!(failure.cause, cause, "{}", failure.message);
        }
    }

    #[test]
    fn sides_with_two_databases_are_refused() {
        let own = "mysql2://root:abc@127.0.0.1/shop";
        assert!(one_database([Some(own), Some("mysql2://root@127.0.0.1:3306/shop")]).is_ok());
        assert!(one_database([None, None]).is_ok());
        for other in [None, Some("mysql2://root@127.0.0.1/other")] {
            let failure = one_database([Some(own), other]).expect_err("two");
            assert_eq!(failure.cause, ending::Cause::Usage);
            let said = failure.message;
            assert!(said.contains("mysql:127.0.0.1:3306/shop"), "{said}");
            assert!(!said.contains("abc"), "{said}");
        }
        let copies = ["sqlite:/tmp/a/shop.db", "sqlite:/tmp/b/shop.db"];
        assert!(one_database(copies.map(Some)).is_err());
    }
}
