//! `hakaru schema lint`: what is likely to hurt about a schema.

use figures::counted;
use schema_lint::{Lint, RULES, Subject, Usage};
use words::text;

use super::options::forever;
use super::place::{Access, Place};
use super::report::{Finding, Report, spot};
use super::{scope, sides, texts};
use crate::flags::{FailOn, LintArgs};
use ending::{Cause, Ended, Failure};

/// Whom nobody wants to hear of: one rule, everywhere or on some objects.
struct Ignored {
    rule: String,
    names: Option<scope::Pattern>,
}

pub(super) fn run(args: &LintArgs) -> Result<Ended, Failure> {
    let ignored = args
        .ignore
        .iter()
        .map(|text| ignored(text))
        .collect::<Result<Vec<_>, _>>()?;
    let place = Place::parse(args.place.as_deref().unwrap_or_default());
    let access = Access {
        prompt: args.password_prompt,
        create: false,
    };
    let mut database = place.connect(access)?;
    let server = sides::server(database.as_deref(), None, [&place, &place], args.dialect)?;
    let texts = texts::of(&place, &server)?;
    let scope = args.filter.scope();
    let settings = sides::plain(forever(sides::ready(&scope, &server)?));
    let (schema, _) = sides::read(database.as_deref_mut(), &texts, &server, &settings)?;
    let usage = match database.as_deref_mut() {
        Some(database) => used(database),
        None => Usage::default(),
    };
    let outline = schema.outline();
    let found = schema_lint::check(&Subject {
        outline: &outline,
        server: &server,
        usage: &usage,
    });
    let wanted = found
        .into_iter()
        .filter(|lint| !ignored.iter().any(|each| each.fits(lint)));
    let findings: Vec<Finding> = wanted
        .map(|lint| Finding {
            place: spot(&texts.sources, &lint.owner, &lint.name),
            ..finding(&lint)
        })
        .collect();
    let report = Report {
        format: "hakaru-schema-lint",
        version: 1,
        title: "Schema lint",
        place: place.shown(),
        wanted: None,
        findings,
        unseen: Vec::new(),
        rules: RULES
            .iter()
            .map(|rule| (rule.name.to_owned(), rule.about.to_owned()))
            .collect(),
    };
    console::data(&report.text(args.format));
    let (warnings, notes) = (report.count("warning"), report.count("note"));
    console::notice(text!(
        "{warnings}, {notes}",
        warnings = counted!(warnings as u64, "warning"),
        notes = counted!(notes as u64, "note")
    ));
    let is_bad = match args.fail_on {
        FailOn::Never => false,
        FailOn::Warning => warnings > 0,
        FailOn::Note => warnings + notes > 0,
    };
    Ok(if is_bad { Ended::Differs } else { Ended::Ok })
}

/// Returns the server's usage counters; prints the missing ones.
fn used(database: &mut dyn schema_db::Database) -> Usage {
    let (usage, refused) = schema_db::usage::usage(database);
    for error in refused {
        console::notice(text!(
            "sizes or uses are not known: {message}",
            message = error.message.trim_end()
        ));
    }
    usage
}

fn finding(lint: &Lint) -> Finding {
    Finding {
        rule: lint.rule.to_owned(),
        level: lint.severity.word(),
        kind: lint.kind.word().to_owned(),
        name: lint.name.clone(),
        message: lint.message.clone(),
        advice: Some(lint.advice.clone()),
        sql: None,
        place: None,
    }
}

fn ignored(text: &str) -> Result<Ignored, Failure> {
    let (rule, names) = match text.split_once(':') {
        Some((rule, names)) => (rule, Some(names)),
        None => (text, None),
    };
    if !RULES.iter().any(|known| known.name == rule) {
        let known: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
        let message = format!(
            "there is no rule {rule}; the rules are {}",
            known.join(", ")
        );
        return Err(Failure::new(Cause::Usage, message));
    }
    let names = names.map(scope::pattern).transpose()?;
    Ok(Ignored {
        rule: rule.to_owned(),
        names,
    })
}

impl Ignored {
    fn fits(&self, lint: &Lint) -> bool {
        let is_named =
            |names: &scope::Pattern| names.is_match(&lint.name) || names.is_match(&lint.owner);
        self.rule == lint.rule && self.names.as_ref().is_none_or(is_named)
    }
}
