//! The Japanese of every template: one file per area in `japanese/`, each sentence a line of
//! English and, below, one of Japanese with the same names in braces. Lines that begin with `# `
//! are remarks.

use std::collections::HashMap;
use std::sync::LazyLock;

/// All areas: the name of a file, and the file's text.
const AREAS: [(&str, &str); 16] = [
    ("findings", include_str!("japanese/findings.txt")),
    ("run", include_str!("japanese/run.txt")),
    ("bench", include_str!("japanese/bench.txt")),
    ("compare", include_str!("japanese/compare.txt")),
    ("doctor", include_str!("japanese/doctor.txt")),
    ("generators", include_str!("japanese/generators.txt")),
    ("html", include_str!("japanese/html.txt")),
    ("journal", include_str!("japanese/journal.txt")),
    ("load", include_str!("japanese/load.txt")),
    ("tune", include_str!("japanese/tune.txt")),
    ("profile", include_str!("japanese/profile.txt")),
    ("logs", include_str!("japanese/logs.txt")),
    ("collect", include_str!("japanese/collect.txt")),
    ("flows", include_str!("japanese/flows.txt")),
    ("talk", include_str!("japanese/talk.txt")),
    ("names", include_str!("japanese/names.txt")),
];

/// A sentence in both languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Name of the sentence's file, without the ending.
    pub area: &'static str,
    /// The English, as in the sources.
    pub english: &'static str,
    /// The Japanese sentence; empty where the file lacks the line.
    pub japanese: &'static str,
}

static ALL: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let pairs = sentences().into_iter();
    pairs.map(|one| (one.english, one.japanese)).collect()
});

/// The Japanese of an English template, where there is one.
pub fn of(english: &str) -> Option<&'static str> {
    ALL.get(english).copied()
}

/// The file of what recordings hold in English; no template of the sources.
const NAMES: &str = "names";

static NAME_TEMPLATES: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let names = sentences().into_iter().filter(|one| one.area == NAMES);
    let pairs = names.map(|one| (one.english, one.japanese));
    pairs.filter(|(english, _)| english.contains('{')).collect()
});

/// Names with braces, and the Japanese of each, in the order of the file.
pub(crate) fn name_templates() -> impl Iterator<Item = (&'static str, &'static str)> {
    NAME_TEMPLATES.iter().copied()
}

/// All sentences, in the order of the files.
pub fn sentences() -> Vec<Sentence> {
    let of_area = |(area, text): (&'static str, &'static str)| {
        let blocks = text.split("\n\n");
        blocks.filter_map(move |block| {
            let mut lines = block.lines().filter(|line| !line.is_empty());
            let english = lines.next().filter(|line| !line.starts_with("# "))?;
            Some(Sentence {
                area,
                english,
                japanese: lines.next().unwrap_or_default(),
            })
        })
    };
    AREAS.into_iter().flat_map(of_area).collect()
}
