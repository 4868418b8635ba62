//! The cases of the corpus: current → desired → current, on a server and in sqldef's spelling.

use schema::{Allowed, Plan, PlanOptions, Schema, Server, Style};
use serde_json::Value;

use crate::bench::{
    Bench, Scratch, ask, corpus, exported, load, other_corpus, reach, run_plan, spelled,
};

/// A failing case and the reason.
pub type Exception = (&'static str, &'static str);

/// Minimum share of texts spelled exactly like sqldef's, in percent.
const SPELLED_ALIKE_PERCENT_MIN: usize = 90;

struct Case {
    id: String,
    current: String,
    desired: String,
    up: Option<String>,
    down: Option<String>,
    is_drop_enabled: bool,
    keeps_quoting: bool,
    is_bulk: bool,
    is_error: bool,
    managed_roles: Vec<String>,
    index_concurrently: bool,
}

impl Case {
    /// Two texts, with what sqldef's commands have by default; drops are allowed.
    fn of_pair(current: &str, desired: &str) -> Case {
        Case {
            id: String::new(),
            current: current.to_owned(),
            desired: desired.to_owned(),
            up: None,
            down: None,
            is_drop_enabled: true,
            keeps_quoting: false,
            is_bulk: false,
            is_error: false,
            managed_roles: Vec::new(),
            index_concurrently: false,
        }
    }
}

fn cases(file: &str, applies: &dyn Fn(&Value) -> bool) -> Vec<Case> {
    let path = corpus().join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let values: Vec<Value> = serde_json::from_str(&text).unwrap();
    let word = |case: &Value, key: &str| case[key].as_str().map(str::to_owned);
    let kept = values.iter().filter(|case| applies(case));
    kept.map(|case| Case {
        id: word(case, "id").unwrap(),
        current: word(case, "current").unwrap_or_default(),
        desired: word(case, "desired").unwrap_or_default(),
        up: word(case, "up"),
        down: word(case, "down"),
        is_drop_enabled: case["enable_drop"].as_bool().unwrap_or(true),
        keeps_quoting: case["legacy_ignore_quotes"].as_bool() == Some(false),
        is_bulk: case["bulk_alter"].as_bool() == Some(true),
        is_error: !case["error"].is_null(),
        managed_roles: words(&case["managed_roles"]),
        index_concurrently: case["create_index_concurrently"].as_bool() == Some(true),
    })
    .collect()
}

fn words(list: &Value) -> Vec<String> {
    let words = list.as_array().into_iter().flatten();
    words
        .filter_map(|word| word.as_str().map(str::to_owned))
        .collect()
}

/// On a server: every migration ends in the same state as applying the text directly.
pub fn on_server(
    file: &str,
    bench: &dyn Bench,
    applies: &dyn Fn(&Value) -> bool,
    exceptions: &[Exception],
) {
    let way = |case: &Case| {
        let done = there_and_back(bench, &case.current, &case.desired);
        match case.up.as_deref() {
            Some("") => done.or_else(|_| stays_as_it_is(bench, case)),
            _ => done,
        }
    };
    judged(file, applies, exceptions, &way);
}

/// Where a case has two spellings of the same, a database of one is left as it is by the other.
fn stays_as_it_is(bench: &dyn Bench, case: &Case) -> Result<(), String> {
    for (first, second) in [
        (&case.current, &case.desired),
        (&case.desired, &case.current),
    ] {
        let mut scratch = bench.empty();
        reach(&mut *scratch, first)?;
        let before = scratch.catalogue();
        reach(&mut *scratch, second)?;
        let after = scratch.catalogue();
        if before != after {
            return Err(format!("{before:#?}\nhas become\n{after:#?}\nby {second}"));
        }
    }
    Ok(())
}

/// Judges each non-error case by the result of `way`.
fn judged(
    file: &str,
    applies: &dyn Fn(&Value) -> bool,
    exceptions: &[Exception],
    way: &dyn Fn(&Case) -> Result<(), String>,
) {
    let cases = cases(file, applies);
    let cases = cases.iter().filter(|case| !case.is_error);
    let results = cases.map(|case| (case.id.as_str(), way(case)));
    judge(file, &results.collect::<Vec<_>>(), exceptions);
}

/// From nothing to one text, to the other, and back.
pub fn there_and_back(bench: &dyn Bench, current: &str, desired: &str) -> Result<(), String> {
    let mut scratch = bench.empty();
    reach(&mut *scratch, current)?;
    // Nothing was there before, so this is what the text gives directly.
    let first = scratch.catalogue();
    reach(&mut *scratch, desired)?;
    let there = scratch.catalogue();
    reach(&mut *scratch, current)?;
    let back = scratch.catalogue();
    let mut direct = bench.empty();
    reach(&mut *direct, desired)?;
    for (ours, wanted) in [(there, direct.catalogue()), (back, first)] {
        if ours != wanted {
            return Err(format!(
                "the catalogue is\n  {ours:#?}\nand not\n  {wanted:#?}"
            ));
        }
    }
    Ok(())
}

/// On a server: sqldef's order and spelling, in both directions, are accepted, and nothing is left
/// to do afterwards.
pub fn on_server_as_sqldef(
    file: &str,
    bench: &dyn Bench,
    applies: &dyn Fn(&Value) -> bool,
    exceptions: &[Exception],
) {
    let way = |case: &Case| as_sqldef_there_and_back(bench, case);
    judged(file, applies, exceptions, &way);
}

fn as_sqldef_there_and_back(bench: &dyn Bench, case: &Case) -> Result<(), String> {
    let mut scratch = bench.empty();
    reach(&mut *scratch, &case.current)?;
    reach_as_sqldef(&mut *scratch, &case.desired, case)?;
    reach_as_sqldef(&mut *scratch, &case.current, case)
}

fn reach_as_sqldef(scratch: &mut dyn Scratch, text: &str, case: &Case) -> Result<(), String> {
    let server = scratch.database().server().clone();
    let mut desired = load(text, &server)?;
    let plan = sqldef_plan(&exported(scratch)?, &desired, case)?;
    run_plan(scratch, &plan).map_err(|error| format!("{error}\nof\n{}", spelled(&plan)))?;
    let mut rest = sqldef_plan(&exported(scratch)?, &desired, case)?;
    if rest.applied().next().is_some() && scratch.can_be_asked() {
        ask(scratch, &mut desired)?;
        rest = sqldef_plan(&exported(scratch)?, &desired, case)?;
    }
    match rest.applied().next() {
        None => Ok(()),
        Some(_) => Err(format!(
            "this is left to do\n{}\nafter\n{}",
            spelled(&rest),
            spelled(&plan)
        )),
    }
}

/// Pairs beside the corpus' cases: each is reached there and back.
pub fn features<'a>(bench: &dyn Bench, pairs: impl Iterator<Item = (&'a str, &'a str)>) {
    all_hold(pairs, &|from, to| there_and_back(bench, from, to));
}

/// The same in sqldef's order and spelling, everything allowed.
pub fn features_as_sqldef<'a>(bench: &dyn Bench, pairs: impl Iterator<Item = (&'a str, &'a str)>) {
    all_hold(pairs, &|from, to| {
        as_sqldef_there_and_back(bench, &Case::of_pair(from, to))
    });
}

fn all_hold<'a>(
    pairs: impl Iterator<Item = (&'a str, &'a str)>,
    way: &dyn Fn(&str, &str) -> Result<(), String>,
) {
    let mut wrong = Vec::new();
    for (from, to) in pairs {
        if let Err(message) = way(from, to) {
            wrong.push(format!("{from}\nto {to}\n{message}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What passed must be no exception, what failed must be one.
fn judge(file: &str, results: &[(&str, Result<(), String>)], exceptions: &[Exception]) {
    let listed = |id: &str| exceptions.iter().any(|(listed, _)| *listed == id);
    let mut wrong: Vec<String> = Vec::new();
    for (id, result) in results {
        match result {
            Ok(()) if listed(id) => wrong.push(format!("{id}: passes; take it off the list")),
            Err(message) if !listed(id) => wrong.push(format!("{id}: {message}")),
            _ => {}
        }
    }
    // Exceptions are those of the public cases, which our own corpus does not hold.
    for (id, _) in exceptions.iter().filter(|_| other_corpus().is_some()) {
        if !results.iter().any(|(known, _)| known == id) {
            wrong.push(format!("{id}: is on the list, but no case"));
        }
    }
    println!(
        "{file}: {} cases, {} exceptions",
        results.len(),
        exceptions.len()
    );
    for (id, reason) in exceptions {
        println!("  {id}: {reason}");
    }
    assert!(!results.is_empty(), "{file} has no case");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Offline: `up` and `down` letter for letter.
pub fn spelled_as_sqldef(
    file: &str,
    server: &Server,
    applies: &dyn Fn(&Value) -> bool,
    exceptions: &[Exception],
) {
    let cases = cases(file, applies);
    let mut results = Vec::new();
    for case in cases
        .iter()
        .filter(|case| !case.is_error && case.up.is_some())
    {
        results.push((case.id.as_str(), spelled_alike(case, server)));
    }
    let same = results.iter().filter(|(_, result)| result.is_ok()).count();
    println!("{file}: {same} of {} spelled as sqldef does", results.len());
    judge(file, &results, exceptions);
    assert!(same * 100 >= results.len() * SPELLED_ALIKE_PERCENT_MIN);
}

fn spelled_alike(case: &Case, server: &Server) -> Result<(), String> {
    let current = load(&case.current, server)?;
    let desired = load(&case.desired, server)?;
    let up = sqldef_plan(&current, &desired, case)?;
    is_text(&up, case.up.as_deref())?;
    // Where all of it was held back, the way back begins where it stands.
    let is_unmoved = !up.statements.is_empty() && up.applied().next().is_none();
    let reached = if is_unmoved { &current } else { &desired };
    let down = sqldef_plan(reached, &current, case)?;
    is_text(&down, case.down.as_deref())
}

fn is_text(plan: &Plan, expected: Option<&str>) -> Result<(), String> {
    let (ours, expected) = (spelled(plan), expected.unwrap_or_default().trim());
    if ours.trim() == expected {
        return Ok(());
    }
    Err(format!("\n{ours}\ninstead of\n{expected}"))
}

fn sqldef_plan(from: &Schema, to: &Schema, case: &Case) -> Result<Plan, String> {
    let options = PlanOptions {
        style: Style::Sqldef,
        keep_quoting: case.keeps_quoting,
        bulk_alter: case.is_bulk,
        managed_roles: case.managed_roles.clone(),
        index_concurrently: case.index_concurrently,
        holds_drops: !case.is_drop_enabled,
        ..PlanOptions::default()
    };
    let mut plan = schema::plan(from, to, &options).map_err(|error| error.to_string())?;
    plan.hold_back(&Allowed {
        all: case.is_drop_enabled,
        named: Vec::new(),
    });
    Ok(plan)
}
