//! `hakaru schema apply`: takes the lock, plans (or reads a stored plan), executes, reads back.

use std::path::Path;

use figures::counted;
use schema::{Allowed, Plan, Schema, Source};
use schema_db::apply::{Options, Step};
use schema_db::journal::{self, Unfinished};
use schema_db::online::Run;
use schema_db::runner::{self, Prepared, Settings};
use schema_db::{Database, DbError, Unseen};
use words::text;

use super::document::{self, Document, OnlineTerms, Outcome};
use super::online::{self, Sizes};
use super::outside::Outside;
use super::page;
use super::place::{Access, Place};
use super::progress::Watch;
use super::scope::Scope;
use super::sides::{self, Compared};
use super::texts::{self, Texts};
use super::trouble::{of_run, of_server};
use super::unseen;
use crate::flags::ApplyArgs;
use ending::{Cause, Ended, Failure};

/// A locked database, and the wanted schema.
struct Work<'a> {
    args: &'a ApplyArgs,
    database: Box<dyn Database>,
    settings: Settings<'static>,
    wanted: Schema,
    /// Objects of either side outside the comparison.
    unseen: Vec<Unseen>,
    /// Objects outside the comparison on the server before the run.
    there: Vec<Unseen>,
    scope: Scope,
    /// Sizes of tables, with --online.
    sizes: Sizes,
    /// Takes what the server would copy.
    outside: Option<Outside>,
    /// Terms for tables in use.
    online: Option<OnlineTerms>,
}

pub(super) fn run(args: &ApplyArgs) -> Result<Ended, Failure> {
    let typed = args.place.as_deref().or(args.from.as_deref());
    let typed = typed.unwrap_or_default();
    match &args.to {
        Some(to) if args.place.is_some() && args.from.is_some() => Err(Failure::usage(format!(
            "two servers are named beside --to {to}; name the one to change"
        ))),
        Some(to) => directly(args, &Place::parse(typed), &Place::parse(to)),
        None if typed.ends_with(".json") => kept(args, Path::new(typed)),
        None => Err(Failure::usage(
            "what is wanted? say --to PLACE, or name a plan that was kept with `hakaru schema plan --out plan.json`",
        )),
    }
}

/// Plans now.
fn directly(args: &ApplyArgs, place: &Place, to: &Place) -> Result<Ended, Failure> {
    let database = open(args, place)?;
    let server = database.server().clone();
    sides::check_roles(&args.how.role, &server)?;
    let texts = texts::of(to, &server)?;
    let scope = sides::scope(&args.how, [&texts, &Texts::default()]);
    let ready = sides::ready(&scope, &server)?;
    let settings = args.how.settings(&server, sides::ready(&scope, &server)?);
    let mut there = to.connect(args.how.access())?;
    let (wanted, mut unseen) = sides::read(there.as_deref_mut(), &texts, &server, &settings)?;
    let mut database = database;
    let there = unseen::on(database.as_mut())?;
    unseen.extend(there.iter().cloned());
    let mut work = Work {
        args,
        sizes: Sizes::of_server(database.as_mut(), args.how.online),
        outside: Outside::of(&args.how, place)?,
        online: args.how.online_terms(),
        database,
        settings,
        wanted,
        unseen: sides::seen_by(&ready, sides::once(unseen)),
        there,
        scope,
    };
    let prepared = work.prepare()?;
    let document = work.args.json.then(|| work.document(place, &prepared));
    work.show(&prepared.plan);
    work.carry_out(&prepared.steps(), prepared.cut_off.is_some(), document)
}

/// Carries out what was planned before, unless the server has changed meanwhile.
fn kept(args: &ApplyArgs, path: &Path) -> Result<Ended, Failure> {
    let document = document::read(path)?;
    let named = args.from.as_deref().filter(|_| args.place.is_some());
    let place = Place::parse(named.unwrap_or(&document.place));
    if args.how.enable_drop || !args.how.allow.is_empty() {
        return Err(Failure::usage(
            "a plan that was kept says itself what may be destroyed; make it with --allow or --enable-drop",
        ));
    }
    if args.how.online && document.online.is_none() {
        return Err(Failure::usage(format!(
            "{} was not made for tables that are in use; make it anew with --online",
            path.display()
        )));
    }
    let mut database = open(args, &place)?;
    let server = database.server().clone();
    let scope = document.scope.clone();
    let ready = sides::ready(&scope, &server)?;
    let mut settings = args.how.settings(&server, sides::ready(&scope, &server)?);
    settings.allowed = Allowed {
        all: false,
        named: document.permissions(),
    };
    if let Some(terms) = &document.online {
        settings.options.online = true;
        settings.options.index_concurrently = true;
        settings.options.offline.clone_from(&terms.allow);
    }
    settings.options.roles.clone_from(&document.roles);
    let texts: Vec<Source> = document.wanted.iter().map(|sql| text(path, sql)).collect();
    let read = runner::read(&texts, &server, &settings);
    let (wanted, _) = read.map_err(|error| of_run(&error))?;
    let cut_off = journal::unfinished(database.as_mut()).map_err(|error| of_server(&error))?;
    let there = unseen::on(database.as_mut())?;
    let mut work = Work {
        args,
        sizes: Sizes::of_server(database.as_mut(), document.online.is_some()),
        outside: Outside::of(&args.how, &place)?,
        online: document.online.clone(),
        database,
        settings,
        wanted,
        unseen: sides::seen_by(&ready, there.clone()),
        there,
        scope,
    };
    let steps = document.steps();
    let id = runner::plan_id(steps.iter().map(|step| step.sql.as_str()));
    if cut_off.is_some_and(|unfinished| unfinished.plan_id == id) {
        let prepared = work.prepare()?;
        work.show(&prepared.plan);
        return work.carry_out(&prepared.steps(), true, Some(document));
    }
    let (from, _) =
        runner::current(work.database.as_mut(), &work.settings).map_err(|error| of_run(&error))?;
    if document::fingerprint(&from) != document.fingerprint {
        let message = format!(
            "{} is not as it was when {} was made; make a new plan",
            place.shown(),
            path.display()
        );
        return Err(Failure::new(Cause::Changed, message));
    }
    work.carry_out(&steps, false, Some(document))
}

fn text(path: &Path, sql: &str) -> Source {
    Source {
        name: path.display().to_string(),
        text: format!("{sql};\n"),
    }
}

/// Connects to the server and takes the lock on schema changes.
fn open(args: &ApplyArgs, place: &Place) -> Result<Box<dyn Database>, Failure> {
    let access = Access {
        create: true,
        ..args.how.access()
    };
    let Some(mut database) = place.connect(access)? else {
        return Err(Failure::usage(format!(
            "{} is not a server, and only a server can be changed; name one, such as sqlite:app.db",
            place.shown()
        )));
    };
    runner::begin(database.as_mut(), args.lock_timeout).map_err(|error| of_server(&error))?;
    Ok(database)
}

impl Work<'_> {
    fn prepare(&mut self) -> Result<Prepared, Failure> {
        let database = self.database.as_mut();
        let prepared = runner::prepare(database, &mut self.wanted, &self.settings);
        let prepared = prepared.map_err(|error| of_run(&error))?;
        if let Some(Unfinished { done, steps, .. }) = &prepared.cut_off {
            console::notice(text!(
                "an earlier run was cut off after {done} of {statements}; this one goes on from there",
                done,
                statements = counted!(steps.len() as u64, "statement")
            ));
        }
        for step in &prepared.restored {
            console::notice(text!(
                "to be made again: {kind} {name}",
                kind = step.kind,
                name = step.name
            ));
        }
        Ok(prepared)
    }

    fn document(&self, place: &Place, prepared: &Prepared) -> Document {
        document::of(&Compared {
            place: place.clone(),
            server: self.database.server().clone(),
            from: prepared.from.clone(),
            wanted: self.wanted.clone(),
            plan: prepared.plan.clone(),
            sizes: self.sizes.clone(),
            unseen: self.unseen.clone(),
            scope: self.scope.clone(),
            online: self.online.clone(),
            roles: self.settings.options.roles.clone(),
        })
    }

    fn show(&self, plan: &Plan) {
        if !self.args.json {
            console::data(&page::plan(plan, &self.sizes, console::colour()));
            console::notice(page::summary(plan));
        }
    }

    /// Strikes what the run has taken away, such as an invalid index, from what is not compared.
    fn look_again(&mut self) -> Result<(), Failure> {
        if !self.unseen.is_empty() {
            let now = unseen::on(self.database.as_mut())?;
            let there = &self.there;
            let is_gone = |each: &Unseen| there.contains(each) && !now.contains(each);
            self.unseen.retain(|each| !is_gone(each));
        }
        Ok(())
    }

    fn carry_out(
        mut self,
        steps: &[Step],
        had_journal: bool,
        mut document: Option<Document>,
    ) -> Result<Ended, Failure> {
        let options = Options {
            transaction: !self.args.no_transaction,
            plan_id: runner::plan_id(steps.iter().map(|step| step.sql.as_str())),
        };
        let mut watch = Watch::new(steps.len());
        let database = self.database.as_mut();
        let refused = match self.online {
            Some(_) => {
                let run = Run {
                    waits: online::waits(self.args),
                    plan_id: options.plan_id,
                    had_journal,
                    outside: None,
                };
                online::carry_out(database, steps, run, &self.outside, &mut watch)
            }
            None => runner::carry_out(database, steps, options, had_journal, &mut |event| {
                watch.see(event);
            })
            .map(|()| Vec::new()),
        };
        let refused = refused.map_err(|error| failed(&error, &watch))?;
        self.look_again()?;
        let rest = runner::rest(self.database.as_mut(), &mut self.wanted, &self.settings);
        let rest = rest.map_err(|error| of_run(&error))?;
        let left = rest.applied().filter(|left| !online::is_of(&refused, left));
        let missing: Vec<String> = left.map(|left| left.sql.clone()).collect();
        let held_back = rest.statements.len() - missing.len();
        let is_reached = missing.is_empty();
        let outcome = Outcome {
            executed: steps.len(),
            held_back,
            missing,
            seconds: watch.seconds(),
        };
        if let Some(document) = &mut document {
            document.outcome = Some(outcome);
            document.unseen = self.unseen.iter().map(document::hidden).collect();
        }
        if let (true, Some(document)) = (self.args.json, &document) {
            console::data(&document::text(document));
        }
        if !is_reached {
            console::data(&page::plan(&rest, &self.sizes, console::colour()));
            let message =
                "all was executed, and yet the server is not as wanted: see what is still missing";
            return Err(Failure::new(Cause::NotReached, message));
        }
        let allow = self.args.how.allow_unseen;
        unseen::say(&self.unseen, allow);
        Ok(match held_back {
            0 => unseen::exit(&self.unseen, allow),
            _ => Ended::HeldBack,
        })
    }
}

fn failed(error: &DbError, watch: &Watch) -> Failure {
    let failure = of_server(error);
    Failure::new(
        failure.cause,
        format!("{}\n{}", failure.message, watch.state()),
    )
}
