//! Checks for the Japanese of every template in the sources, with the same arguments, and for
//! entries without a source.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Templates with the file of each.
type Templates = BTreeMap<String, PathBuf>;

/// Area of names in recordings, which occur in no source as templates.
const NAMES: &str = "names";

#[test]
fn every_template_has_its_japanese() {
    let templates = templates();
    assert!(templates.len() > 300, "only {} were found", templates.len());
    let known: BTreeSet<&str> = words::japanese::sentences()
        .iter()
        .map(|one| one.english)
        .collect();
    let lacking: Vec<String> = templates
        .iter()
        .filter(|(template, _)| has_words(template) && !known.contains(template.as_str()))
        .map(|(template, file)| format!("{}: {template}", file.display()))
        .collect();
    assert!(
        lacking.is_empty(),
        "without Japanese in crates/words/src/japanese:\n{}",
        lacking.join("\n")
    );
}

#[test]
fn the_catalogue_holds_nothing_else() {
    let templates = templates();
    let web: String = web_sources()
        .into_iter()
        .map(|(_, source)| source)
        .collect();
    let unused: Vec<&str> = words::japanese::sentences()
        .iter()
        .filter(|one| one.area != NAMES && !templates.contains_key(one.english))
        .filter(|one| !web.contains(one.english))
        .map(|one| one.english)
        .collect();
    assert!(
        unused.is_empty(),
        "in no source any more:\n{}",
        unused.join("\n")
    );
}

/// Sentences of recordings are written by `format!`, possibly with empty braces: all text between
/// braces must occur in some source.
#[test]
fn sentences_of_recordings_are_in_the_sources() {
    const WORDS_MIN: usize = 3;
    let sources = joined_sources();
    let stale: Vec<&str> = words::japanese::sentences()
        .iter()
        .filter(|one| one.area == NAMES && one.english.split(' ').count() > WORDS_MIN)
        // The system's own.
        .filter(|one| !one.english.contains("(os error"))
        .filter(|one| {
            let mut parts = one.english.split(['{', '}']).step_by(2);
            parts.any(|part| {
                part.split(' ').count() > WORDS_MIN
                    && !sources.contains(part.trim_matches([' ', ':']))
            })
        })
        .map(|one| one.english)
        .collect();
    assert!(
        stale.is_empty(),
        "in no source any more:\n{}",
        stale.join("\n")
    );
}

#[test]
fn each_sentence_is_there_once_with_the_same_arguments() {
    let mut seen = BTreeSet::new();
    for one in words::japanese::sentences() {
        assert!(seen.insert(one.english), "twice: {}", one.english);
        assert!(!one.japanese.is_empty(), "no Japanese: {}", one.english);
        assert_eq!(
            arguments(one.english),
            arguments(one.japanese),
            "{}",
            one.english
        );
    }
}

#[test]
fn templates_are_found_in_sources() {
    let source = r#"
        text!("a {b}", b);
        let text = words::text!(
            "long \
             one", c = "not this"
        );
        phrase!("said \"so\"");
        counted!(numbers(1), "failed check");
        // text!("a remark")
        #[cfg(test)]
        fn for_tests() {}
        text!("behind it");
        #[cfg(test)]
        mod tests { text!("of a test"); }
    "#;
    let found: Vec<String> = of_source(source).collect();
    let expected = [
        "a {b}",
        "long one",
        "said \"so\"",
        "{count} failed check",
        "{count} failed checks",
        "behind it",
    ];
    assert_eq!(found, expected);
}

#[test]
fn counts_of_the_page_are_found() {
    let source = r#"counted(hit(1), "match", "matches"); counted(2, "row"); counted(3, noun)"#;
    let expected = [
        "{count} match",
        "{count} matches",
        "{count} row",
        "{count} rows",
    ];
    assert_eq!(web_counts(source), expected);
}

/// All templates of the workspace.
fn templates() -> Templates {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut templates = Templates::new();
    for krate in entries(&crates) {
        if krate.file_name().is_some_and(|name| name != "words") {
            collect(&krate.join("src"), &mut templates);
        }
    }
    for (path, source) in web_sources() {
        for (at, _) in source.match_indices("t(") {
            let is_call = !source[..at].ends_with(|c: char| c.is_alphanumeric() || c == '.');
            let found = literal(source[at + 2..].trim_start()).filter(|_| is_call);
            templates.extend(found.map(|template| (template, path.clone())));
        }
        for template in web_counts(&source) {
            templates.insert(template, path.clone());
        }
    }
    templates
}

/// The templates of `counted(value, "noun")` and `counted(value, "noun", "plural")` on the page.
fn web_counts(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in source.match_indices('(') {
        let (called, inside) = (&source[..at], &source[at + 1..]);
        if !called.ends_with("counted") && !called.ends_with("many") {
            continue;
        }
        let arguments = &inside[..end_of_call(inside).unwrap_or(0)];
        let mut literals = arguments.split('"').skip(1).step_by(2);
        let Some(noun) = literals.next() else {
            continue;
        };
        let plural = literals.next();
        let plural = plural.map_or_else(|| format!("{noun}s"), str::to_owned);
        found.extend([noun, &plural].map(|noun| format!("{{count}} {noun}")));
    }
    found
}

/// Index in `inside`, the text after an opening parenthesis, of the closing one.
fn end_of_call(inside: &str) -> Option<usize> {
    let mut depth = 1;
    inside.find(|c| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth == 0
    })
}

/// The sources of the HTML page, whose own sentences go through `t("…")`.
fn web_sources() -> Vec<(PathBuf, String)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src");
    let folders = [top.clone(), top.join("lib"), top.join("views")];
    let files = folders.iter().flat_map(|folder| entries(folder));
    let sources = files.filter(|path| {
        let ending = path.extension().unwrap_or_default();
        (ending == "ts" || ending == "svelte") && !path.ends_with("words.ts")
    });
    let read = |path: PathBuf| {
        let source = fs::read_to_string(&path).expect("a source file");
        (path, source)
    };
    sources.map(read).collect()
}

/// All Rust sources except the crate's own, with strings over several lines in one.
fn joined_sources() -> String {
    fn read(folder: &Path, to: &mut String) {
        for path in entries(folder) {
            if path.is_dir() {
                read(&path, to);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let source = fs::read_to_string(&path).expect("a source file");
                let lines = source.split("\\\n").map(str::trim_start);
                to.extend(lines);
            }
        }
    }
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut all = String::new();
    for krate in entries(&crates) {
        if krate.file_name().is_some_and(|name| name != "words") {
            read(&krate.join("src"), &mut all);
        }
    }
    all
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

fn collect(folder: &Path, templates: &mut Templates) {
    for path in entries(folder) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if path.is_dir() && stem != "tests" {
            collect(&path, templates);
        } else if path.extension().is_some_and(|ending| ending == "rs")
            && !stem.ends_with("tests")
            && stem != "samples"
        {
            let source = fs::read_to_string(&path).expect("a source file");
            for template in of_source(&source) {
                templates.insert(template, path.clone());
            }
        }
    }
}

/// The part of a source before the module of tests. A single item for tests ends nothing.
fn before_tests(source: &str) -> &str {
    let mark = "#[cfg(test)]\n";
    let is_module = |at: &usize| {
        let item = source[at + mark.len()..].trim_start();
        let head = item.lines().next().unwrap_or_default();
        head.starts_with("mod ") && head.contains('{')
    };
    let found = source.match_indices(mark).map(|(at, _)| at).find(is_module);
    found.map_or(source, |at| &source[..at])
}

/// The templates of one file, tests excluded.
fn of_source(source: &str) -> impl Iterator<Item = String> {
    let source = before_tests(source)
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n");
    let mut found = Vec::new();
    for (at, _) in source.match_indices("!(") {
        let name: String = source[..at]
            .chars()
            .rev()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        let name: String = name.chars().rev().collect();
        let inside = &source[at + 2..];
        match name.as_str() {
            "text" | "phrase" => found.extend(literal(inside.trim_start())),
            "counted" => {
                let noun = noun(inside);
                found.extend(noun.iter().map(|noun| format!("{{count}} {noun}")));
                found.extend(noun.iter().map(|noun| format!("{{count}} {noun}s")));
            }
            _ => {}
        }
    }
    found.into_iter()
}

/// The string literal with which `source` begins.
fn literal(source: &str) -> Option<String> {
    let mut chars = source.strip_prefix('"')?.chars();
    let mut text = String::new();
    while let Some(character) = chars.next() {
        match character {
            '"' => return Some(text),
            '\\' => match chars.next()? {
                '\n' => {
                    let rest = chars.as_str().trim_start();
                    chars = rest.chars();
                }
                'n' => text.push('\n'),
                escaped => text.push(escaped),
            },
            _ => text.push(character),
        }
    }
    None
}

/// The last argument of `counted!`.
fn noun(inside: &str) -> Option<String> {
    let end = end_of_call(inside)?;
    let arguments = inside[..end].trim_end().trim_end_matches(',');
    let (before, _) = arguments.strip_suffix('"')?.rsplit_once('"')?;
    literal(&arguments[before.len()..])
}

fn has_words(template: &str) -> bool {
    let mut depth = 0;
    template.chars().any(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        depth == 0 && c.is_alphabetic()
    })
}

/// The names in braces.
fn arguments(template: &str) -> BTreeSet<&str> {
    let parts = template.split('{').skip(1);
    parts.filter_map(|part| part.split('}').next()).collect()
}
