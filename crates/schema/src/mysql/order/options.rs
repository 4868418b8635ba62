//! Options of a table.

use crate::mysql::diff::TableDiff;
use crate::mysql::hazards;
use crate::mysql::lexer::{literal, unquoted};
use crate::mysql::model::{Name, Table};
use crate::mysql::normal::{is_alike, period_norm};
use crate::mysql::parser::VERSIONING;
use crate::mysql::print;
use crate::{Hazard, ObjectKind, Verb};

/// Clause dropping a table's history.
const UNVERSIONED: &str = "DROP SYSTEM VERSIONING";

/// Changed options, one clause each.
pub(in crate::mysql) fn options(diff: &TableDiff<'_>) -> Vec<String> {
    let (from, to) = (&diff.from.norm, &diff.to.norm);
    let mut texts = Vec::new();
    if from.engine != to.engine {
        texts.push(format!("ENGINE={}", to.engine));
    }
    if !is_alike(&from.charset, &to.charset) || !is_alike(&from.collation, &to.collation) {
        let charset = to
            .charset
            .as_ref()
            .map(|charset| format!(" CHARACTER SET={charset}"));
        let collation = to
            .collation
            .as_ref()
            .map(|collation| format!(" COLLATE={collation}"));
        texts.push(format!(
            "DEFAULT{}{}",
            charset.unwrap_or_default(),
            collation.unwrap_or_default()
        ));
    }
    if from.row_format != to.row_format {
        texts.push(format!(
            "ROW_FORMAT={}",
            to.row_format.as_deref().unwrap_or("DEFAULT")
        ));
    }
    if from.comment != to.comment {
        texts.push(format!("COMMENT={}", literal(&to.comment)));
    }
    let known = |word: &str, list: &[String]| {
        list.iter()
            .find(|option| option.split('=').next() == Some(word))
            .cloned()
    };
    for (word, value) in &diff.to.options.others {
        let wanted = known(word, &to.others);
        if wanted.is_some() && wanted != known(word, &from.others) {
            texts.push(match value.is_empty() {
                true => format!("ADD {}", word.trim_start_matches("WITH ")),
                false => print::option(word, value),
            });
        }
    }
    let gone = diff.from.options.others.iter();
    let gone = gone.filter(|(word, _)| {
        known(word, &from.others).is_some() && known(word, &to.others).is_none()
    });
    texts.extend(gone.map(|(word, _)| without(word)));
    texts.extend(periods(diff));
    texts
}

/// What taking such an option does: only what loses no row stands in one statement with others.
pub(in crate::mysql) fn of_option(
    diff: &TableDiff<'_>,
    text: &str,
) -> (Verb, ObjectKind, Vec<Hazard>) {
    let name = &diff.to.name.text;
    if text == UNVERSIONED {
        let lost = Hazard::DataLoss(format!("former versions of the rows of {name}"));
        return (Verb::Drop, ObjectKind::SystemVersioning, vec![lost]);
    }
    if text.starts_with("ENGINE") && diff.from.norm.engine != diff.to.norm.engine {
        let hazards = hazards::of_engine(diff.to);
        let is_lossy = hazards
            .iter()
            .any(|hazard| matches!(hazard, Hazard::DataLoss(_)));
        let kind = if is_lossy {
            ObjectKind::Engine
        } else {
            ObjectKind::Table
        };
        return (Verb::Alter, kind, hazards);
    }
    let hazards = hazards::of_options(diff.from, diff.to);
    (Verb::Alter, ObjectKind::Table, hazards)
}

/// Dropped and added application-time periods.
fn periods(diff: &TableDiff<'_>) -> Vec<String> {
    let only = |here: &Table, there: &Table| -> Vec<String> {
        let is_there = |period: &&String| {
            period_norm(period).is_none_or(|norm| there.norm.periods.contains(&norm))
        };
        let periods = here.periods.iter();
        periods
            .filter(|period| !is_there(period))
            .cloned()
            .collect()
    };
    let gone = only(diff.from, diff.to).into_iter().map(|period| {
        let name = period.split('(').next().unwrap_or_default();
        format!("DROP {}", name.trim_end())
    });
    let come = only(diff.to, diff.from).into_iter();
    gone.chain(come.map(|period| format!("ADD {period}")))
        .collect()
}

/// Whether the option gives a table a history without some of the columns.
pub(in crate::mysql) fn adds_history(diff: &TableDiff<'_>, text: &str) -> bool {
    let mut others = diff.to.columns.iter().flat_map(|column| &column.others);
    text == "ADD SYSTEM VERSIONING" && others.any(|other| other == "WITHOUT SYSTEM VERSIONING")
}

/// Whether the option drops a period with an index on it.
pub(in crate::mysql) fn drops_used_period(diff: &TableDiff<'_>, text: &str) -> bool {
    let name = period_of(text);
    let mut parts = diff.from.indexes.iter().flat_map(|index| &index.parts);
    // What stands on a period takes another of that name.
    let mut after = diff.to.periods.iter();
    let is_replaced = after.any(|period| {
        let head = period.split('(').next().unwrap_or_default();
        period_of(head).is(&name)
    });
    text.starts_with("DROP PERIOD")
        && !is_replaced
        && parts.any(|part| part.is_period && part.is_of(&name))
}

/// Name of the period at the end of `PERIOD FOR name`.
pub(in crate::mysql) fn period_of(text: &str) -> Name {
    let name = text.split_whitespace().next_back().unwrap_or_default();
    Name::quoted(unquoted(name))
}

/// What takes an option back.
fn without(word: &str) -> String {
    match word {
        VERSIONING => UNVERSIONED.to_owned(),
        "UNION" => "UNION=()".to_owned(),
        "INSERT_METHOD" => "INSERT_METHOD=NO".to_owned(),
        "TABLESPACE" => "TABLESPACE=innodb_file_per_table".to_owned(),
        "STORAGE" => "STORAGE MEMORY".to_owned(),
        "ENCRYPTION" => "ENCRYPTION='N'".to_owned(),
        "SECONDARY_ENGINE" => "SECONDARY_ENGINE=NULL".to_owned(),
        "COMPRESSION" | "CONNECTION" | "ENGINE_ATTRIBUTE" | "SECONDARY_ENGINE_ATTRIBUTE" => {
            format!("{word}=''")
        }
        "ENCRYPTED"
        | "ENCRYPTION_KEY_ID"
        | "IETF_QUOTES"
        | "PACK_KEYS"
        | "PAGE_CHECKSUM"
        | "PAGE_COMPRESSED"
        | "PAGE_COMPRESSION_LEVEL"
        | "STATS_AUTO_RECALC"
        | "STATS_PERSISTENT"
        | "STATS_SAMPLE_PAGES"
        | "TRANSACTIONAL" => format!("{word}=DEFAULT"),
        word => format!("{word}=0"),
    }
}
