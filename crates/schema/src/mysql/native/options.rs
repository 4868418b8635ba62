//! Options of a table.

use crate::mysql::diff::TableDiff;
use crate::mysql::lex::literal;
use crate::mysql::normal::is_alike;

/// Options that become other ones, one clause each.
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
        if known(word, &from.others) != known(word, &to.others) {
            texts.push(match value.is_empty() {
                true => format!("ADD {}", word.trim_start_matches("WITH ")),
                false => format!("{word}={value}"),
            });
        }
    }
    for (word, _) in &diff.from.options.others {
        if known(word, &to.others).is_none() {
            texts.extend(without(word));
        }
    }
    texts
}

/// What takes an option back.
fn without(word: &str) -> Option<String> {
    match word {
        "WITH SYSTEM VERSIONING" => Some("DROP SYSTEM VERSIONING".to_owned()),
        "STATS_PERSISTENT" | "STATS_AUTO_RECALC" | "STATS_SAMPLE_PAGES" | "PACK_KEYS" => {
            Some(format!("{word}=DEFAULT"))
        }
        "COMPRESSION" => Some("COMPRESSION=''".to_owned()),
        "ENCRYPTION" => Some("ENCRYPTION='N'".to_owned()),
        "TABLESPACE" | "UNION" | "CONNECTION" | "PASSWORD" | "STORAGE" | "INSERT_METHOD" => None,
        word => Some(format!("{word}=0")),
    }
}
