//! Findings of `lint` and `drift`, in the formats of people, pages and code hosts.

mod markdown;
mod sarif;

use schema::Source;
use serde::Serialize;

use crate::flags::ReportFormat;

/// Lines after the start of a table searched for the table's parts.
const TABLE_LINES_MAX: usize = 500;

/// Findings with the compared places.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    /// Name of the format, such as `hakaru-schema-lint`.
    pub(super) format: &'static str,
    pub(super) version: u32,
    /// Heading for people.
    #[serde(skip)]
    pub(super) title: &'static str,
    /// The checked place, without a password.
    pub(super) place: String,
    /// Place of the wanted schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) wanted: Option<String>,
    pub(super) findings: Vec<Finding>,
    /// Objects outside the check: kind and name.
    pub(super) unseen: Vec<String>,
    /// Names and meanings of all rules.
    #[serde(skip)]
    pub(super) rules: Vec<(String, String)>,
}

/// One finding.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Finding {
    pub(super) rule: String,
    /// `note`, `warning` or `error`.
    pub(super) level: &'static str,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) advice: Option<String>,
    /// Statement to mend the finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sql: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) place: Option<Spot>,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Spot {
    pub(super) file: String,
    /// Line number, from 1.
    pub(super) line: usize,
}

impl Report {
    /// The whole text.
    pub(super) fn text(&self, format: ReportFormat) -> String {
        match format {
            ReportFormat::Human => self.human(),
            ReportFormat::Json => self.json(),
            ReportFormat::Markdown => markdown::text(self),
            ReportFormat::Sarif => sarif::text(self),
        }
    }

    fn json(&self) -> String {
        // Strings, numbers and lists cannot fail to become JSON.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    fn human(&self) -> String {
        let mut text = String::new();
        for finding in &self.findings {
            let spot = finding.place.as_ref();
            let spot = spot.map_or(String::new(), |spot| {
                format!("{}:{}: ", spot.file, spot.line)
            });
            text.push_str(&format!(
                "{spot}{} [{}] {}\n",
                finding.level, finding.rule, finding.message
            ));
            text.extend(
                finding
                    .advice
                    .as_ref()
                    .map(|advice| format!("    {advice}\n")),
            );
            text.extend(
                finding
                    .sql
                    .as_ref()
                    .map(|sql| format!("    {};\n", sql.replace('\n', "\n    "))),
            );
        }
        text
    }

    /// Number of findings of a level.
    pub(super) fn count(&self, level: &str) -> usize {
        self.findings
            .iter()
            .filter(|finding| finding.level == level)
            .count()
    }
}

/// Finds the definition of an object's part in texts: the owner's line, or the part's line below.
pub(super) fn spot(texts: &[Source], owner: &str, part: &str) -> Option<Spot> {
    let bare = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let (owner, part) = (bare(owner), bare(part));
    texts.iter().find_map(|source| {
        let mut lines = source.text.lines().enumerate();
        let (start, _) = lines.find(|(_, line)| begins(line, &owner))?;
        let inside = source
            .text
            .lines()
            .enumerate()
            .skip(start + 1)
            .take(TABLE_LINES_MAX);
        let mut inside =
            inside.take_while(|(_, line)| !line.to_uppercase().contains("CREATE TABLE"));
        let found = inside.find(|(_, line)| part != owner && has_word(line, &part));
        Some(Spot {
            file: source.name.clone(),
            line: found.map_or(start, |(number, _)| number) + 1,
        })
    })
}

fn begins(line: &str, owner: &str) -> bool {
    let upper = line.to_uppercase();
    [
        "CREATE TABLE",
        "CREATE TYPE",
        "CREATE VIEW",
        "CREATE UNLOGGED TABLE",
        "CREATE TABLE IF NOT EXISTS",
    ]
    .iter()
    .any(|start| upper.contains(start))
        && has_word(line, owner)
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(word).any(|(start, _)| {
        !line[..start].ends_with(is_part) && !line[start + word.len()..].starts_with(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_in_their_own_table() {
        let source = Source {
            name: "a.sql".to_owned(),
            text: "CREATE TABLE user_names (\n  id int\n);\nCREATE TABLE \"users\" (\n  id int,\n  full_name text,\n  name text\n);\nCREATE TABLE t (\n  nick text\n);\n".to_owned(),
        };
        let line = |owner: &str, part: &str| {
            spot(std::slice::from_ref(&source), owner, part).map(|spot| spot.line)
        };
        assert_eq!(line("users", "users"), Some(4));
        assert_eq!(line("app.users", "app.users.name"), Some(7));
        assert_eq!(line("users", "users.nick"), Some(4));
        assert_eq!(line("missing", "missing"), None);
    }
}
