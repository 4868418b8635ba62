//! The two schemas of a comparison, read and compared.

use figures::counted;
use rails_schema::Said;
use schema::{Allowed, Note, NoteKind, Object, Plan, PlanOptions, Product, Schema, Server};
use schema_db::runner::{self, Scratch, Settings};
use schema_db::{Database, Unseen};
use words::text;

use super::document::OnlineTerms;
use super::online::Sizes;
use super::place::Place;
use super::scope::{Ready, Scope};
use super::texts::{self, Texts};
use super::trouble::of_run;
use super::unseen;
use crate::flags::{CompareArgs, Dialect, How};
use ending::{Cause, Failure};

/// Opaque statements listed by name; more are counted.
const NAMED_MAX: usize = 5;

/// Letters shown of a statement, enough for a search.
const SHOWN_MAX: usize = 60;

/// Two schemas, and the way from one to the other.
pub(super) struct Compared {
    pub(super) place: Place,
    /// Server of the first schema, or dialect of the schemas' texts.
    pub(super) server: Server,
    pub(super) from: Schema,
    pub(super) wanted: Schema,
    pub(super) plan: Plan,
    /// Sizes of tables; only in a plan for tables in use.
    pub(super) sizes: Sizes,
    /// Objects of either side outside the comparison.
    pub(super) unseen: Vec<Unseen>,
    /// Scope of the comparison.
    pub(super) scope: Scope,
    /// Terms for tables in use.
    pub(super) online: Option<OnlineTerms>,
    /// Roles and users as parts of the schema themselves.
    pub(super) roles: Vec<String>,
}

/// Scope of a comparison of the texts.
pub(super) fn scope(how: &How, texts: [&Texts; 2]) -> Scope {
    let mut scope = how.filter.scope();
    let said = texts.into_iter().filter_map(|texts| texts.said.clone());
    if let Some(said) = said.reduce(|a, b| Said {
        views: a.views && b.views,
        programs: a.programs && b.programs,
        schemas: [a.schemas, b.schemas].concat(),
        is_unordered: a.is_unordered || b.is_unordered,
    }) {
        scope.narrow(&said);
    }
    scope
}

/// Returns the compiled scope.
pub(super) fn ready(scope: &Scope, server: &Server) -> Result<Ready, Failure> {
    scope.ready(server.default_schema.as_deref())
}

/// Nobody asked for what is left out.
pub(super) fn seen_by(ready: &Ready, unseen: Vec<Unseen>) -> Vec<Unseen> {
    let mut unseen = unseen;
    unseen.retain(|each| ready.asks_for(&each.kind, &each.name));
    unseen
}

/// Reads both places and plans.
pub(super) fn compare(args: &CompareArgs) -> Result<Compared, Failure> {
    let typed = args.place.as_deref().or(args.from.as_deref());
    let (place, to) = (
        Place::parse(typed.unwrap_or_default()),
        Place::parse(args.to.as_deref().unwrap_or_default()),
    );
    if place == Place::StandardInput && to == Place::StandardInput {
        let message =
            "standard input can be only one of the two schemas; name a file for the other";
        return Err(Failure::new(Cause::Usage, message));
    }
    let access = args.how.access();
    let (mut here, mut there) = (place.connect(access)?, to.connect(access)?);
    let server = server(
        here.as_deref(),
        there.as_deref(),
        [&place, &to],
        args.how.dialect,
    )?;
    check_roles(&args.how.role, &server)?;
    let texts = (texts::of(&place, &server)?, texts::of(&to, &server)?);
    let scope = scope(&args.how, [&texts.0, &texts.1]);
    let settings = args.how.settings(&server, ready(&scope, &server)?);
    let (from, mut wanted, unseen) = if here.is_none() && there.is_none() {
        let texts = (&texts.0.sources[..], &texts.1.sources[..]);
        let read = runner::read_both(texts, &server, &settings);
        let (from, wanted, notes) = read.map_err(|error| of_run(&error))?;
        say_notes(&notes);
        (from, wanted, unseen::in_notes(&notes))
    } else {
        let (from, mut unseen) = read(here.as_deref_mut(), &texts.0, &server, &settings)?;
        let (wanted, more) = read(there.as_deref_mut(), &texts.1, &server, &settings)?;
        unseen.extend(more);
        (from, wanted, unseen)
    };
    let plan = match &mut here {
        Some(database) => runner::plan(&from, &mut wanted, Some(database.as_mut()), &settings),
        None => runner::plan(&from, &mut wanted, None, &settings),
    };
    let plan = plan.map_err(|error| of_run(&error))?;
    let sizes = match &mut here {
        Some(database) => Sizes::of_server(database.as_mut(), args.how.online),
        None => Sizes::default(),
    };
    let ready = ready(&scope, &server)?;
    Ok(Compared {
        sizes,
        place,
        server,
        from,
        wanted,
        plan,
        unseen: seen_by(&ready, once(unseen)),
        scope,
        online: args.how.online_terms(),
        roles: args.how.role.clone(),
    })
}

/// Settings for reading a schema without planning.
pub(super) fn plain(keep: &'static dyn Fn(&Object) -> bool) -> Settings<'static> {
    Settings {
        options: PlanOptions::default(),
        allowed: Allowed::default(),
        scratch: Scratch::Never,
        keep,
    }
}

/// Removes duplicates: the same object may be on both sides.
pub(super) fn once(mut unseen: Vec<Unseen>) -> Vec<Unseen> {
    unseen.sort();
    unseen.dedup();
    unseen
}

/// Reads one schema and the objects outside the comparison, and prints notes on unread statements.
pub(super) fn read(
    database: Option<&mut (dyn Database + 'static)>,
    texts: &Texts,
    server: &Server,
    settings: &Settings<'_>,
) -> Result<(Schema, Vec<Unseen>), Failure> {
    let (read, unseen) = match database {
        Some(database) => {
            let unseen = unseen::on(database)?;
            (runner::current(database, settings), unseen)
        }
        None => (runner::read(&texts.sources, server, settings), Vec::new()),
    };
    let (schema, notes) = read.map_err(|error| of_run(&error))?;
    say_notes(&notes);
    let mut unseen = unseen;
    unseen.extend(unseen::in_notes(&notes));
    Ok((schema, unseen))
}

/// The server for reading texts: a connected one, or a named one.
pub(super) fn server(
    here: Option<&dyn Database>,
    there: Option<&dyn Database>,
    places: [&Place; 2],
    dialect: Option<Dialect>,
) -> Result<Server, Failure> {
    if let Some(database) = here.or(there) {
        return Ok(database.server().clone());
    }
    let named = dialect.map(Dialect::server);
    named.ok_or_else(|| {
        let places: Vec<String> = places.iter().map(|place| place.shown()).collect();
        unknown_dialect(&places.join(" and "))
    })
}

/// Refuses roles where there are none.
pub(super) fn check_roles(roles: &[String], server: &Server) -> Result<(), Failure> {
    match roles.is_empty() || server.product != Product::Sqlite {
        true => Ok(()),
        false => Err(Failure::usage(
            "SQLite has no roles; leave --role and `roles` under [schema] out",
        )),
    }
}

pub(super) fn unknown_dialect(places: &str) -> Failure {
    let message = format!(
        "which SQL is in {places}? say --dialect mysql, --dialect mariadb, --dialect postgres or --dialect sqlite"
    );
    Failure::new(Cause::Failed, message)
}

/// Prints the statements stored without being parsed, and the ignored ones.
pub fn say_notes(notes: &[Note]) {
    let of = |kind| notes.iter().filter(move |note| note.kind == kind);
    for note in of(NoteKind::Opaque).take(NAMED_MAX) {
        let text: String = schema::without_secret(&note.text)
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(SHOWN_MAX)
            .collect();
        console::notice(text!(
            "{source}:{line}: kept as it is and not compared: {text}",
            source = note.source,
            line = note.line,
            text
        ));
    }
    let unnamed = of(NoteKind::Opaque).count().saturating_sub(NAMED_MAX);
    if unnamed > 0 {
        let statements = counted!(unnamed as u64, "more statement");
        console::notice(text!("and {statements}, not compared", statements));
    }
    for note in of(NoteKind::Deprecated) {
        console::notice(format!("{}:{}: {}", note.source, note.line, note.text));
    }
    let data = of(NoteKind::Data).count();
    if data > 0 {
        console::notice(text!(
            "{statements} with data passed over, since data is no part of a schema",
            statements = counted!(data as u64, "statement")
        ));
    }
}
