//! `hakaru schema drift`: differences of a database from the schema file, for a daily job.

use figures::counted;
use schema::{Effect, Plan, Source, Statement};
use words::text;

use super::place::Place;
use super::report::{Finding, Report, spot};
use super::{page, sides, texts, unseen};
use crate::flags::{DriftArgs, ReportFormat};
use ending::{Ended, Failure};

const RULE: &str = "schema-drift";

pub(super) fn run(args: &DriftArgs) -> Result<Ended, Failure> {
    let compared = sides::compare(&args.compare)?;
    let to = Place::parse(args.compare.to.as_deref().unwrap_or_default());
    let texts = match to {
        // It has been read to its end.
        Place::StandardInput => Vec::new(),
        _ => texts::of(&to, &compared.server)?.sources,
    };
    let report = Report {
        format: "hakaru-schema-drift",
        version: 1,
        title: "Schema drift",
        place: compared.place.shown(),
        wanted: Some(to.shown()),
        findings: findings(&compared.plan, &texts),
        unseen: compared
            .unseen
            .iter()
            .map(|each| format!("{} {}", each.kind, each.name))
            .collect(),
        rules: vec![(
            RULE.to_owned(),
            "the database is not as its schema file says".to_owned(),
        )],
    };
    let format = match args.compare.json {
        true => ReportFormat::Json,
        false => args.format,
    };
    console::data(&report.text(format));
    let allow = args.compare.how.allow_unseen;
    unseen::say(&compared.unseen, allow);
    match compared.plan.statements.len() {
        0 => {
            console::notice(text!("no drift: the database is as its schema says"));
            Ok(unseen::exit(&compared.unseen, allow))
        }
        count => {
            console::notice(text!(
                "drift: {statements} would bring the database back",
                statements = counted!(count as u64, "statement")
            ));
            Ok(Ended::Differs)
        }
    }
}

fn findings(plan: &Plan, texts: &[Source]) -> Vec<Finding> {
    plan.statements
        .iter()
        .map(|statement| finding(statement, texts))
        .collect()
}

fn finding(statement: &Statement, texts: &[Source]) -> Finding {
    let object = &statement.object;
    let owner = object
        .name
        .rsplit_once('.')
        .map_or(object.name.as_str(), |(owner, _)| owner);
    let found =
        spot(texts, &object.name, &object.name).or_else(|| spot(texts, owner, &object.name));
    Finding {
        rule: RULE.to_owned(),
        level: match statement.effect() {
            Effect::Keeps => "warning",
            _ => "error",
        },
        kind: object.kind.word().to_owned(),
        name: object.name.clone(),
        message: format!("the database differs: it takes `{}`", page::what(statement)),
        advice: None,
        sql: Some(statement.sql.clone()),
        place: found,
    }
}
