//! Changes that the server makes to an object compared by words, without making it again.

use std::collections::BTreeMap;

use super::foreign;
use super::norm::{is_secret, last_list, listed, norm, with_options, without_password};
use super::options::{Change, options_changed, options_of};
use super::reader::{Reader, find_word};
use crate::postgres::locks::ACCESS_EXCLUSIVE;
use crate::postgres::model::Kept;
use crate::postgres::name::quote;
use crate::{Hazard, ObjectKind, Verb};

/// Hazards of a move of a table, view or index to another tablespace.
pub(crate) fn moved(kept: &Kept, shown: &str) -> Vec<Hazard> {
    let is_index = kept.sql.starts_with("ALTER INDEX ");
    let what = if is_index { "the index" } else { "the table" };
    vec![Hazard::Rewrite(format!("{what} {shown}")), ACCESS_EXCLUSIVE]
}

/// The statements that make `from` what `to` is; `shown` is the name written by people. `None`
/// where the object has to go and come again.
pub(crate) fn changes(from: &Kept, to: &Kept, shown: &str) -> Option<Vec<Change>> {
    match to.kind.kind {
        ObjectKind::CompositeType => attributes(from, to, shown),
        ObjectKind::ForeignDataWrapper | ObjectKind::ForeignServer | ObjectKind::UserMapping => {
            foreign_options(from, to)
        }
        ObjectKind::ForeignTable => foreign::changes(from, to, shown),
        ObjectKind::ForeignColumnOptions => foreign::column_options_changed(from, to),
        ObjectKind::TextSearchDictionary => dictionary(from, to),
        ObjectKind::TextSearchMapping => {
            let sql = to.sql.replacen(" ADD MAPPING ", " ALTER MAPPING ", 1);
            Some(vec![Change::plain(sql)])
        }
        ObjectKind::Publication => publication(from, to),
        ObjectKind::Subscription => subscription(from, to, shown),
        ObjectKind::Language => Some(vec![Change::plain(or_replace(&to.sql))]),
        ObjectKind::Aggregate => aggregate(from, to),
        ObjectKind::Operator => estimators(from, to),
        ObjectKind::SecurityLabel => Some(vec![Change {
            sql: to.sql.clone(),
            hazards: vec![Hazard::Opens(format!("what the label protects: {shown}"))],
            attribute: None,
        }]),
        ObjectKind::Tablespace => Some(vec![Change {
            sql: to.sql.clone(),
            hazards: moved(to, shown),
            attribute: None,
        }]),
        ObjectKind::ColumnOption => {
            let unset = from.undo.clone().map(Change::plain);
            Some(
                unset
                    .into_iter()
                    .chain([Change::plain(to.sql.clone())])
                    .collect(),
            )
        }
        _ if to.kind.is_state() => Some(vec![Change::plain(to.sql.clone())]),
        _ => None,
    }
}

fn or_replace(sql: &str) -> String {
    let rest = sql["CREATE".len()..].trim_start();
    match norm(sql).starts_with("create or ") {
        true => sql.to_owned(),
        false => format!("CREATE OR REPLACE {rest}"),
    }
}

/// Attributes of a composite type, as written: name, and type with collation.
pub(crate) fn attributes_of(kept: &Kept) -> Option<Vec<(String, String)>> {
    let at = find_word(&kept.sql, "AS")?;
    let inside = Reader::new(&kept.sql[at + 2..], "").parens()?;
    let one = |item: &str| {
        let mut reader = Reader::new(item, "");
        let name = reader.name()?.pop()?;
        Some((name, reader.rest().to_owned()))
    };
    let items = listed(inside).into_iter().filter(|item| !item.is_empty());
    items.map(one).collect()
}

/// New attributes come last; any other order of the same attributes takes a new type.
fn attributes(from: &Kept, to: &Kept, shown: &str) -> Option<Vec<Change>> {
    let (had, wanted) = (attributes_of(from)?, attributes_of(to)?);
    let stays = |name: &String| wanted.iter().any(|(other, _)| other == name);
    let stays: Vec<&String> = had
        .iter()
        .map(|(name, _)| name)
        .filter(|name| stays(name))
        .collect();
    let first: Vec<&String> = wanted
        .iter()
        .map(|(name, _)| name)
        .take(stays.len())
        .collect();
    if first != stays {
        return None;
    }
    let mut changes = Vec::new();
    let mut push = |verb, name: &str, action: String, mut hazards: Vec<Hazard>| {
        let sql = format!("ALTER TYPE {} {action}", to.name);
        hazards.push(ACCESS_EXCLUSIVE);
        changes.push(Change {
            sql,
            hazards,
            attribute: Some((verb, name.to_owned())),
        });
    };
    for (name, _) in had.iter().filter(|(name, _)| !stays.contains(&name)) {
        let hazard = Hazard::DataLoss(format!("the values of {shown}.{name}"));
        push(
            Verb::Drop,
            name,
            format!("DROP ATTRIBUTE {}", quote(name)),
            vec![hazard],
        );
    }
    for (name, data_type) in &wanted {
        let quoted = quote(name);
        match had.iter().find(|(other, _)| other == name) {
            None => push(
                Verb::Add,
                name,
                format!("ADD ATTRIBUTE {quoted} {data_type}"),
                Vec::new(),
            ),
            Some((_, before)) if norm(before) != norm(data_type) => {
                let hazard = Hazard::MayFail {
                    reason: format!("no column may have the type {shown}"),
                    query: None,
                };
                let cast = Hazard::LossyCast(format!("{shown}.{name}"));
                push(
                    Verb::Alter,
                    name,
                    format!("ALTER ATTRIBUTE {quoted} TYPE {data_type}"),
                    vec![cast, hazard],
                );
            }
            Some(_) => {}
        }
    }
    Some(changes)
}

fn foreign_options(from: &Kept, to: &Kept) -> Option<Vec<Change>> {
    let ((head, mut had), (other, mut wanted)) = (options_of(&from.sql)?, options_of(&to.sql)?);
    if to.kind.kind == ObjectKind::UserMapping {
        // Whether the server has one, and which, no export tells.
        had.retain(|name, _| !is_secret(name));
        wanted.retain(|name, _| !is_secret(name));
    }
    let (head, other) = (norm(head), norm(other));
    let mut action = String::new();
    if head != other {
        let version = |text: &str| {
            let at = find_word(text, "version")?;
            let rest = &text[at + "version".len()..];
            let end = rest.get(1..)?.find('\'')? + 2;
            Some((
                text.replacen(&text[at..at + "version".len() + end], "", 1),
                rest[..end].to_owned(),
            ))
        };
        let (rest, _) = version(&head).unwrap_or((head.clone(), String::new()));
        let (other_rest, wanted) = version(&other)?;
        let is_one = rest.replace(' ', "") == other_rest.replace(' ', "");
        (to.kind.kind == ObjectKind::ForeignServer && is_one).then_some(())?;
        action = format!(" VERSION {wanted}");
    }
    let list = options_changed(&had, &wanted);
    if !list.is_empty() {
        action.push_str(&format!(" OPTIONS ({list})"));
    }
    let sql = format!("ALTER {} {}{action}", to.kind.words, to.name);
    Some(vec![Change::plain(sql)])
}

/// Name and value of each option of a list at the end, and the text before.
fn list_of(sql: &str) -> Option<(&str, BTreeMap<String, String>)> {
    let start = last_list(sql.trim_end())?;
    let inside = Reader::new(&sql[start..], "").parens()?;
    let one = |item: &str| {
        let (name, value) = item.split_once('=').unwrap_or((item, ""));
        (name.trim().to_lowercase(), value.trim().to_owned())
    };
    let items = listed(inside).into_iter().filter(|item| !item.is_empty());
    Some((sql[..start].trim(), items.map(one).collect()))
}

fn dictionary(from: &Kept, to: &Kept) -> Option<Vec<Change>> {
    let ((_, mut had), (_, mut wanted)) = (list_of(&from.sql)?, list_of(&to.sql)?);
    let template = |options: &mut BTreeMap<String, String>| {
        let template = options.remove("template");
        template.map(|name| norm(&name))
    };
    if template(&mut had) != template(&mut wanted) {
        return None;
    }
    let gone = had
        .keys()
        .filter(|name| !wanted.contains_key(*name))
        .cloned();
    let changed = wanted
        .iter()
        .filter(|(name, value)| had.get(*name) != Some(*value))
        .map(|(name, value)| format!("{} = {value}", quote(name)));
    let list: Vec<String> = gone.map(|name| quote(&name)).chain(changed).collect();
    let sql = format!(
        "ALTER TEXT SEARCH DICTIONARY {} ({})",
        to.name,
        list.join(", ")
    );
    Some(vec![Change::plain(sql)])
}

/// Aggregates are replaced as long as the type of the result stays.
fn aggregate(from: &Kept, to: &Kept) -> Option<Vec<Change>> {
    let ((_, had), (_, wanted)) = (list_of(&from.sql)?, list_of(&to.sql)?);
    let same = |name: &str| {
        let value = |options: &BTreeMap<String, String>| options.get(name).map(|text| norm(text));
        value(&had) == value(&wanted)
    };
    let is_same = ["stype", "finalfunc", "hypothetical"].into_iter().all(same);
    is_same.then(|| vec![Change::plain(or_replace(&to.sql))])
}

/// Estimators of an operator change; everything else takes a new one.
fn estimators(from: &Kept, to: &Kept) -> Option<Vec<Change>> {
    let ((_, mut had), (_, mut wanted)) = (list_of(&from.sql)?, list_of(&to.sql)?);
    let mut list = Vec::new();
    for name in ["restrict", "join"] {
        let (before, after) = (had.remove(name), wanted.remove(name));
        if before.as_deref().map(norm) != after.as_deref().map(norm) {
            let value = after.unwrap_or_else(|| "NONE".to_owned());
            list.push(format!("{} = {value}", name.to_uppercase()));
        }
    }
    let rest = |options: BTreeMap<String, String>| -> Vec<(String, String)> {
        let options = options.into_iter();
        options.map(|(name, value)| (name, norm(&value))).collect()
    };
    if list.is_empty() || rest(had) != rest(wanted) {
        return None;
    }
    let sql = format!("ALTER OPERATOR {} SET ({})", to.name, list.join(", "));
    Some(vec![Change::plain(sql)])
}

/// Whether all tables are published does not change.
fn publication(from: &Kept, to: &Kept) -> Option<Vec<Change>> {
    let ((had_head, had), (head, wanted)) = (with_options(&from.sql), with_options(&to.sql));
    (norm(had_head) == norm(head)).then_some(())?;
    let usual = [
        "publish='insert,update,delete,truncate'",
        "publish_via_partition_root='false'",
        "publish_generated_columns='none'",
    ];
    let back = |option: &String| {
        let name = option.split('=').next().unwrap_or(option);
        let is_gone = !wanted
            .iter()
            .any(|other| other.starts_with(&format!("{name}=")));
        let usual = usual
            .iter()
            .find(|usual| usual.starts_with(&format!("{name}=")));
        usual.filter(|_| is_gone).map(|usual| (*usual).to_owned())
    };
    let mut list: Vec<String> = had.iter().filter_map(back).collect();
    list.extend(wanted.iter().cloned());
    let list = list.join(", ").replace("='", " = '");
    let sql = format!("ALTER PUBLICATION {} SET ({list})", to.name);
    Some(vec![Change::plain(sql)])
}

/// How the publisher is reached, and which publications are taken.
fn subscription(from: &Kept, to: &Kept, shown: &str) -> Option<Vec<Change>> {
    let parts = |sql: &str| -> Option<(String, String, Vec<String>)> {
        let (head, options) = with_options(sql);
        let start = find_word(head, "CONNECTION")? + "CONNECTION".len();
        let end = find_word(head, "PUBLICATION")?;
        let own = |option: &String| {
            let made = ["connect=", "create_slot=", "copy_data=", "enabled="];
            !made.iter().any(|name| option.starts_with(name))
        };
        let options = options.into_iter().filter(own).collect();
        let publications = head[end + "PUBLICATION".len()..].trim().to_owned();
        Some((head[start..end].trim().to_owned(), publications, options))
    };
    let (had, wanted) = (parts(&from.sql)?, parts(&to.sql)?);
    let mut changes = Vec::new();
    let head = format!("ALTER SUBSCRIPTION {}", to.name);
    if without_password(&had.0) != without_password(&wanted.0) {
        // The catalogue's password is in no export, so that a connection without one drops it.
        let has_password = without_password(&wanted.0) != wanted.0;
        let hazard = Hazard::DataLoss(format!("a password in the connection of {shown}"));
        changes.push(Change {
            sql: format!("{head} CONNECTION {}", wanted.0),
            hazards: if has_password {
                Vec::new()
            } else {
                vec![hazard]
            },
            attribute: None,
        });
    }
    if norm(&had.1) != norm(&wanted.1) {
        let sql = format!("{head} SET PUBLICATION {} WITH (refresh = false)", wanted.1);
        changes.push(Change::plain(sql));
    }
    if had.2 != wanted.2 {
        let is_told = |option: &String| {
            let name = option.split('=').next().unwrap_or(option);
            wanted
                .2
                .iter()
                .any(|other| other.starts_with(&format!("{name}=")))
        };
        // An option that is not told any more has a value of the server's, which its release knows.
        had.2.iter().all(is_told).then_some(())?;
        let list = wanted.2.join(", ").replace("='", " = '");
        changes.push(Change::plain(format!("{head} SET ({list})")));
    }
    Some(changes)
}
