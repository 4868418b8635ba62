//! Normal forms of definitions, equal for equivalent statements of a kind.

use super::reader::find_word;
use super::{Kind, Shape};
use crate::ObjectKind;
use crate::postgres::model::Kept;

/// What a publication publishes by default.
const PUBLISHED: &str = "publish='delete,insert,truncate,update'";

/// Normal form of a definition. Lists of options have no order.
pub(super) fn norm_of(kind: &Kind, text: &str) -> String {
    match kind.kind {
        ObjectKind::Publication => return norm_of_publication(text),
        ObjectKind::Subscription => return norm_of_subscription(text),
        ObjectKind::PublicationTable => {
            return norm(text).replacen("add table only ", "add table ", 1);
        }
        ObjectKind::OperatorClass => return norm_of_class(kind, text),
        ObjectKind::TextSearchMapping => {
            return norm(text).replacen(" alter mapping ", " add mapping ", 1);
        }
        _ => {}
    }
    let mut norm = norm(text);
    if kind.kind == ObjectKind::Language {
        norm = norm.replacen("procedural language ", "language ", 1);
    }
    let is_in_schema = matches!(
        kind.shape,
        Shape::InSchema | Shape::Base | Shape::Composite | Shape::Range | Shape::OfMethod
    );
    if is_in_schema {
        norm = without_schema(kind, &norm);
    }
    if kind.shape == Shape::Setting {
        norm = norm.replacen("alter table only ", "alter table ", 1);
    }
    let has_options = match kind.shape {
        Shape::Base | Shape::Range | Shape::Call | Shape::Operator => true,
        Shape::Mapping | Shape::Transform => true,
        Shape::InSchema if kind.words == "FOREIGN TABLE" => norm.contains("options("),
        Shape::InSchema => kind.words == "COLLATION" || kind.words.starts_with("TEXT SEARCH"),
        Shape::Global => norm.contains("options("),
        Shape::Composite | Shape::Cast | Shape::Rule | Shape::OfMethod => false,
        Shape::Setting => matches!(
            kind.kind,
            ObjectKind::ColumnOption | ObjectKind::ForeignColumnOptions
        ),
    };
    let Some(start) = last_list(&norm).filter(|_| has_options) else {
        return norm;
    };
    let mut options = listed(&norm[start + 1..norm.len() - 1]);
    if kind.shape == Shape::Mapping {
        options.retain(|option| !is_secret(option.split('\'').next().unwrap_or_default()));
        if options.is_empty() {
            return norm[..start]
                .trim_end_matches("options")
                .trim_end()
                .to_owned();
        }
    }
    options.sort_unstable();
    format!("{}({})", &norm[..start], options.join(","))
}

/// A definition whose name has no schema: which one is known from the identity.
fn without_schema(kind: &Kind, norm: &str) -> String {
    let words = format!("{} ", kind.words.to_lowercase());
    let Some(start) = norm.find(&words).map(|at| at + words.len()) else {
        return norm.to_owned();
    };
    let rest = &norm[start..];
    let end = rest.find([' ', '(']).unwrap_or(rest.len());
    let base = rest[..end].rsplit('.').next().unwrap_or_default();
    format!("{}{base}{}", &norm[..start], &rest[end..])
}

/// Whether a configuration is a copy of another one, whose mappings only the server knows.
pub(crate) fn has_copy(norm: &str) -> bool {
    norm.starts_with("create text search configuration ")
        && (norm.contains("(copy=") || norm.contains(",copy="))
}

/// Whether making the object makes something on another server: the slot of a subscription.
pub(crate) fn calls_publisher(kept: &Kept) -> bool {
    let (_, options) = with_options(&kept.sql);
    let is_quiet = |option: &String| {
        let option = option.replace(' ', "");
        option == "connect='false'" || option == "create_slot='false'"
    };
    kept.kind.kind == ObjectKind::Subscription && !options.iter().any(is_quiet)
}

/// Whether an option of a user mapping is missing in exports.
pub(super) fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    ["passw", "secret", "token"]
        .iter()
        .any(|part| name.contains(part))
}

/// Options of a `WITH (…)` at the end, in normal form, and the text before.
pub(super) fn with_options(text: &str) -> (&str, Vec<String>) {
    let Some(at) = find_word(text, "WITH") else {
        return (text, Vec::new());
    };
    let list = text[at + "WITH".len()..].trim();
    let list = list.trim_start_matches('(').trim_end_matches(')');
    let one = |option: &str| {
        let (name, value) = option.split_once('=').unwrap_or((option, "true"));
        let name = name.trim().to_lowercase();
        let value = value.trim().trim_matches('\'').to_lowercase();
        match name.as_str() {
            "publish" => {
                let mut kinds: Vec<&str> = value.split(',').map(str::trim).collect();
                kinds.sort_unstable();
                format!("publish='{}'", kinds.join(","))
            }
            name => {
                let value = match value.as_str() {
                    "on" => "true",
                    "off" => "false",
                    value => value,
                };
                format!("{name}='{value}'")
            }
        }
    };
    let mut options: Vec<String> = listed(list).into_iter().map(one).collect();
    options.sort_unstable();
    (text[..at].trim(), options)
}

fn norm_of_publication(text: &str) -> String {
    let (head, mut options) = with_options(text);
    let usual = [
        PUBLISHED,
        "publish_via_partition_root='false'",
        "publish_generated_columns='none'",
    ];
    options.retain(|option| !usual.contains(&option.as_str()));
    format!("{} with({})", norm(head), options.join(","))
}

/// How the publisher is reached is compared without a password, which no export has.
fn norm_of_subscription(text: &str) -> String {
    let (head, mut options) = with_options(text);
    // How it is made, and what the servers assume.
    options.retain(|option| {
        !option.starts_with("connect=")
            && !option.starts_with("copy_data=")
            && !option.starts_with("create_slot=")
            && !option.starts_with("enabled=")
            && !matches!(
                option.as_str(),
                "binary='false'"
                    | "streaming='false'"
                    | "two_phase='false'"
                    | "disable_on_error='false'"
                    | "synchronous_commit='off'"
                    | "synchronous_commit='false'"
                    | "password_required='true'"
                    | "run_as_owner='false'"
                    | "origin='any'"
                    | "failover='false'"
            )
    });
    let head = without_password(head);
    format!("{} with({})", norm(&head), options.join(","))
}

/// A connection string without the password.
pub(super) fn without_password(text: &str) -> String {
    if let Some((scheme, rest)) = text.split_once("://")
        && let Some((user, host)) = rest.split_once('@')
    {
        let user = user.split(':').next().unwrap_or_default();
        return format!("{scheme}://{user}@{host}");
    }
    let Some(at) = text.find("password=") else {
        return text.to_owned();
    };
    let value = &text[at + "password=".len()..];
    let length = match value.strip_prefix("''") {
        Some(quoted) => quoted.find("''").map_or(value.len(), |end| end + 4),
        None => value.find([' ', '\'', '&']).unwrap_or(value.len()),
    };
    let rest = &value[length..];
    let before = &text[..at];
    match before.ends_with([' ', '&']) {
        true => format!("{}{rest}", &before[..before.len() - 1]),
        false => format!("{before}{}", rest.trim_start_matches([' ', '&'])),
    }
}

/// The items of a class of operators have no order.
fn norm_of_class(kind: &Kind, text: &str) -> String {
    let Some(at) = find_word(text, "AS") else {
        return norm(text);
    };
    let head = without_schema(kind, &norm(&text[..at]));
    let mut items: Vec<String> = listed(&text[at + 2..]).into_iter().map(norm).collect();
    items.sort_unstable();
    format!("{head} as {}", items.join(","))
}

/// Start of the parentheses at the end of a text.
pub(super) fn last_list(text: &str) -> Option<usize> {
    if !text.ends_with(')') {
        return None;
    }
    let mut depth = 0_usize;
    text.char_indices().rev().find_map(|(at, letter)| {
        match letter {
            ')' => depth += 1,
            '(' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth == 0).then_some(at)
    })
}

/// Splits a text at commas outside parentheses and quotes.
pub(super) fn listed(text: &str) -> Vec<&str> {
    let (mut items, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(end), letter) if letter == end => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                items.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(text[start..].trim());
    items
}

/// The words of a statement, case and spaces apart, without `OR REPLACE`.
pub(super) fn norm(text: &str) -> String {
    let mut norm = String::with_capacity(text.len());
    let mut letters = text.char_indices().peekable();
    let mut is_gap = false;
    while let Some((at, letter)) = letters.next() {
        if letter.is_whitespace() {
            is_gap = true;
            continue;
        }
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        if is_gap && norm.ends_with(is_word) && is_word(letter) {
            norm.push(' ');
        }
        is_gap = false;
        if letter == '\'' || letter == '"' {
            let end = text[at + 1..]
                .find(letter)
                .map_or(text.len(), |end| at + end + 2);
            norm.push_str(&text[at..end]);
            while letters.next_if(|(at, _)| *at < end).is_some() {}
        } else {
            norm.extend(letter.to_lowercase());
        }
    }
    let norm = norm.replacen("create or replace ", "create ", 1);
    // What a name without a schema means on every server.
    norm.replace("pg_catalog.", "")
}
