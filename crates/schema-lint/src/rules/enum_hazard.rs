//! Enums whose labels are taken for something else.

use std::collections::HashMap;

use schema::ObjectKind;

use super::Rule;
use crate::{Lint, Severity, Subject};

pub(super) const RULE: Rule = Rule {
    name: "enum-hazard",
    about: "labels of an enum look like numbers, or differ only by case or blanks",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<Lint> {
    let types = subject.outline.enums.iter();
    let types =
        types.map(|(name, labels)| (ObjectKind::Type, name.clone(), name.clone(), labels.clone()));
    let columns = subject.columns().filter_map(|(table, column)| {
        let labels = labels(&column.data_type)?;
        let name = format!("{}.{}", table.name, column.name);
        Some((ObjectKind::Column, table.name.clone(), name, labels))
    });
    let all = types.chain(columns);
    all.flat_map(|(kind, owner, name, labels)| {
        troubles(subject, &labels)
            .into_iter()
            .map(move |(message, advice)| Lint {
                rule: RULE.name,
                severity: Severity::Warning,
                kind,
                owner: owner.clone(),
                name: name.clone(),
                message: format!("the enum {name} {message}"),
                advice: advice.to_owned(),
            })
    })
    .collect()
}

/// The labels of MySQL's `enum('a','b')`.
fn labels(data_type: &str) -> Option<Vec<String>> {
    let inside = data_type.strip_prefix("enum(")?.strip_suffix(')')?;
    let inside = inside.trim().strip_prefix('\'')?.strip_suffix('\'')?;
    Some(
        inside
            .split("','")
            .map(|label| label.replace("''", "'"))
            .collect(),
    )
}

fn troubles(subject: &Subject<'_>, labels: &[String]) -> Vec<(String, &'static str)> {
    let mut troubles = Vec::new();
    let is_number = |label: &&String| label.trim().parse::<i64>().is_ok();
    if let Some(label) = labels.iter().find(is_number).filter(|_| subject.is_mysql()) {
        let message = format!(
            "has the label '{label}': where a number is compared, MySQL takes it for the label's place, not for its text"
        );
        troubles.push((message, "use labels that are words, or an integer"));
    }
    if labels.iter().any(String::is_empty) {
        let message =
            "has an empty label, as which MySQL also stores what it refuses outside of strict mode";
        troubles.push((message.to_owned(), "use NULL for what is not known"));
    }
    let mut known: HashMap<String, &String> = HashMap::new();
    for label in labels {
        if let Some(other) = known.insert(label.trim().to_lowercase(), label) {
            let message = format!(
                "has the labels '{other}' and '{label}', which differ only by case or blanks"
            );
            troubles.push((message, "keep one of them"));
        }
    }
    troubles
}
