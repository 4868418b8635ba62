//! Runs every case of `tests/cases` against a server, and compares the words of the grammar with
//! `docs/hurl.md` and with the cases.
//!
//! A case is a line `=== kind word: note`, a flow, and a line `--- passes`, `--- fails: part of the
//! message` or `--- refused line:column: begin of the message`. Kinds are those of the words, or
//! anything else for a case that stands for no word.

mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use load::Plan;
use scenario::{FlowSpec, FlowText, Scenario, Spec, WordKind, vocabulary};

/// Least number of cases; fewer are no proof of a grammar as large as Hurl's.
const CASES_MIN: usize = 150;
const FILE: &str = "case.hurl";

struct Case {
    title: String,
    flow: String,
    expected: Expected,
}

#[derive(Debug)]
enum Expected {
    Passes,
    /// A fault contains the given text.
    Fails(String),
    /// The error begins so, behind the name of the file.
    Refused(String),
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the folder of cases")
        .map(|entry| entry.expect("a file").path())
        .collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a file of cases");
        let found = text.split("=== ").skip(1).map(|text| case(text, &file));
        cases.extend(found);
    }
    cases
}

fn case(text: &str, file: &Path) -> Case {
    let (title, rest) = text.split_once('\n').expect("a title");
    let (flow, outcome) = rest.rsplit_once("--- ").expect("an outcome");
    let outcome = outcome.trim_end();
    let expected = match outcome.split_once(' ') {
        None if outcome == "passes" => Expected::Passes,
        Some(("fails:", why)) => Expected::Fails(why.to_owned()),
        Some(("refused", why)) => Expected::Refused(why.to_owned()),
        _ => panic!("{}: `{outcome}` is no outcome", file.display()),
    };
    Case {
        title: title.to_owned(),
        flow: flow.to_owned(),
        expected,
    }
}

fn build(flow: &str, url: &str) -> Result<Scenario, String> {
    let variables = [
        ("id", "7"),
        ("index", "1"),
        ("name", "Ann"),
        ("no", "false"),
        ("quote", "say \"x\""),
        ("abc", "abc"),
        ("two", "2"),
        ("yes", "true"),
    ];
    let spec = Spec {
        base_url: url.to_owned(),
        flows: vec![FlowSpec {
            file: Some(FILE.into()),
            weight: 1,
            ..FlowSpec::default()
        }],
        variables: variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        run_token: "r".to_owned(),
        ..Spec::default()
    };
    let mut read = |path: &Path| match path.to_str() {
        Some(FILE) => Ok(flow.as_bytes().to_vec()),
        Some("hello.txt") => Ok(b"hello\n".to_vec()),
        Some("secrets.txt") => Ok(b"machine 127.0.0.1 login ann password secret".to_vec()),
        // Read only where there is TLS.
        Some("ca.pem" | "Ann.key") => Ok(b"no certificate".to_vec()),
        Some(path) if path.ends_with(".netrc") => Ok(b"default login home password any".to_vec()),
        Some("cat.bin") => Ok(b"\x00\xffcat".to_vec()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    };
    Scenario::build(&spec, &mut read).map_err(|error| error.to_string())
}

/// Returns all faults of a flow's exchanges.
fn faults(scenario: &Scenario) -> Vec<String> {
    let mut faults = Vec::new();
    let ran = load::check_once(&Plan::default(), scenario, &mut |checked| {
        if !checked.is_tried_again {
            faults.extend(checked.faults);
        }
    });
    ran.expect("a server that answers");
    faults
}

/// Returns the fault of a case; `None` when the case ends as expected.
fn wrong(case: &Case, url: &str) -> Option<String> {
    let built = build(&case.flow, url);
    let came = match (&built, &case.expected) {
        (Err(error), Expected::Refused(begin)) => {
            let rest = error.strip_prefix("case.hurl:").unwrap_or(error);
            let caret = error.ends_with('^');
            (!rest.starts_with(begin.as_str()) || !caret).then(|| error.clone())
        }
        (Err(error), _) => Some(error.clone()),
        (Ok(_), Expected::Refused(_)) => Some("is not refused".to_owned()),
        (Ok(scenario), Expected::Passes) => faults(scenario).pop(),
        (Ok(scenario), Expected::Fails(part)) => {
            let faults = faults(scenario);
            let found = faults.iter().any(|fault| fault.contains(part.as_str()));
            (!found).then(|| format!("{faults:?}"))
        }
    };
    came.map(|came| format!("{}: expected {:?}, came {came}", case.title, case.expected))
}

#[test]
fn every_case_ends_as_it_says() {
    let url = server::start();
    let cases = cases();
    assert!(cases.len() >= CASES_MIN, "only {} cases", cases.len());
    let wrong: Vec<String> = cases.iter().filter_map(|case| wrong(case, &url)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_case_is_printed_as_what_it_was_read_from() {
    for case in cases() {
        if let Ok(flow) = FlowText::parse(FILE, &case.flow) {
            let printed = flow.to_string();
            let again = FlowText::parse("printed", &printed);
            let again = again.unwrap_or_else(|error| panic!("{}: {error}", case.title));
            assert_eq!(again, flow, "{}\n{printed}", case.title);
            assert_eq!(again.to_string(), printed, "{}", case.title);
        }
    }
}

fn kind_name(kind: WordKind) -> &'static str {
    match kind {
        WordKind::Section => "section",
        WordKind::Option => "option",
        WordKind::Body => "body",
        WordKind::Query => "query",
        WordKind::Filter => "filter",
        WordKind::Predicate => "predicate",
        WordKind::Function => "function",
    }
}

/// Returns words with whether each runs, as `kind word`.
fn known() -> BTreeMap<String, bool> {
    let word = |word: scenario::Word| {
        let name = format!("{} {}", kind_name(word.kind), word.name);
        (name, word.refused.is_none())
    };
    vocabulary().map(word).collect()
}

#[test]
fn the_documentation_lists_the_words_of_the_parser() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/hurl.md");
    let text = fs::read_to_string(path).expect("docs/hurl.md");
    let headings = [
        ("Sections", "section"),
        ("Options", "option"),
        ("Bodies", "body"),
        ("Queries", "query"),
        ("Filters", "filter"),
        ("Predicates", "predicate"),
        ("Functions", "function"),
    ];
    let mut written = BTreeMap::new();
    for chapter in text.split("\n## ") {
        let title = chapter.lines().next().unwrap_or("");
        let Some((_, kind)) = headings.iter().find(|(heading, _)| *heading == title) else {
            continue;
        };
        for row in chapter.lines().filter(|line| line.starts_with("| ")) {
            let mut cells = row.trim_matches('|').split('|').map(str::trim);
            let word = cells.next().unwrap_or("").trim_matches('`');
            match cells.next() {
                Some("runs") => written.insert(format!("{kind} {word}"), true),
                Some("refused") => written.insert(format!("{kind} {word}"), false),
                _ => None,
            };
        }
    }
    assert_eq!(written, known());
}

/// Each word has a case running or refusing the word; each predicate also a failing one.
#[test]
fn every_word_has_its_cases() {
    let mut passes = BTreeSet::new();
    let mut fails = BTreeSet::new();
    let mut refused = BTreeSet::new();
    for case in cases() {
        let name = case.title.split(": ").next().unwrap_or("").to_owned();
        match case.expected {
            Expected::Passes => passes.insert(name),
            Expected::Fails(_) => fails.insert(name),
            Expected::Refused(_) => refused.insert(name),
        };
    }
    let mut missing = Vec::new();
    for (word, runs) in known() {
        let shown = if runs { &passes } else { &refused };
        let failing = !word.starts_with("predicate ") || fails.contains(&word);
        if !shown.contains(&word) || !failing {
            missing.push(word);
        }
    }
    assert!(missing.is_empty(), "without a case: {missing:?}");
}

/// Flows damaged at random, for a bounded time: reading never panics, and a readable flow is
/// printed unchanged.
#[test]
fn damaged_flows_are_read_or_refused() {
    const TIME: Duration = Duration::from_secs(3);
    let seed = fastrand::u64(..);
    let mut random = fastrand::Rng::with_seed(seed);
    let flows: Vec<Vec<char>> = cases()
        .iter()
        .map(|case| case.flow.chars().collect())
        .collect();
    let end = Instant::now() + TIME;
    let mut whole = 0_u64;
    while Instant::now() < end {
        let mut flow = flows[random.usize(..flows.len())].clone();
        for _ in 0..random.usize(1..4) {
            damage(&mut flow, &flows, &mut random);
        }
        let text: String = flow.iter().collect();
        let read = std::panic::catch_unwind(|| FlowText::parse(FILE, &text));
        let read = read.unwrap_or_else(|_| panic!("seed {seed}: reading panics\n{text}"));
        if let Ok(read) = read {
            whole += 1;
            let printed = read.to_string();
            let again = FlowText::parse("printed", &printed);
            assert_eq!(again.as_ref(), Ok(&read), "seed {seed}\n{text}\n{printed}");
        }
    }
    assert!(whole > 0, "seed {seed}: no damaged flow was read");
}

/// Removes a stretch, doubles one, or replaces one by a stretch of another flow.
fn damage(flow: &mut Vec<char>, others: &[Vec<char>], random: &mut fastrand::Rng) {
    const LENGTH_MAX: usize = 12;
    let stretch = |flow: &[char], random: &mut fastrand::Rng| {
        let start = random.usize(..=flow.len());
        start..(start + random.usize(..=LENGTH_MAX)).min(flow.len())
    };
    let range = stretch(flow, random);
    let with = match random.u8(..3) {
        0 => Vec::new(),
        1 => flow[range.clone()].repeat(2),
        _ => {
            let other = &others[random.usize(..others.len())];
            other[stretch(other, random)].to_vec()
        }
    };
    flow.splice(range, with);
}
