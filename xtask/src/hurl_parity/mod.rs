//! `cargo xtask hurl-parity`: small flows, generated from tables, run by real `hurl` and by `hakaru
//! check` against one server; where the verdicts or the requests differ, by cause.
//!
//! A difference that no row of [`known`] covers makes the task fail.

mod cases;
mod install;
mod known;
mod random;
mod server;
mod tls;
mod verdict;

use std::collections::BTreeMap;

use crate::run::{Outcome, cargo, run, target_folder};
use cases::Case;
use server::{BASE, Server, unhex};
use tls::Tls;
use verdict::{Place, Verdict};

/// Examples shown of each cause.
const EXAMPLES: usize = 2;

/// What is asked for on the command line.
struct Options {
    seed: u64,
    /// Text in the causes to run; `None`: all.
    only: Option<String>,
    examples: usize,
}

pub(crate) fn task(arguments: &[String]) -> Outcome<()> {
    let options = options(arguments)?;
    let hurl = install::hurl()?;
    run(&mut cargo(&["build", "--package", "hakaru"]))?;
    let server = Server::start()?;
    let place = Place {
        folder: target_folder().join("hurl-parity"),
        tls: Tls::start(server.port)?,
        server,
    };
    let mut cases = cases::all(options.seed);
    if let Some(only) = &options.only {
        cases.retain(|case| case.cause.contains(only.as_str()));
    }
    eprintln!(
        "hurl-parity: {} cases, seed {}, hurl {}",
        cases.len(),
        options.seed,
        install::VERSION
    );
    let hakaru = target_folder().join("debug/hakaru");
    let (theirs, ours) = place.run(&cases, &hurl, &hakaru)?;
    let differences: Vec<Difference<'_>> = cases
        .iter()
        .zip(theirs.iter().zip(&ours))
        .filter_map(|(case, (theirs, ours))| Difference::of(case, theirs, ours))
        .collect();
    report(&cases, &differences, &theirs, &ours, &options)
}

fn options(arguments: &[String]) -> Outcome<Options> {
    let mut options = Options {
        seed: 1,
        only: None,
        examples: EXAMPLES,
    };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        let number = |text: &String| {
            let number = text.parse::<u64>();
            number.map_err(|_| format!("{word} takes a number, not {text:?}"))
        };
        match word.as_str() {
            "--seed" => options.seed = number(value()?)?,
            "--only" => options.only = Some(value()?.clone()),
            "--examples" => options.examples = number(value()?)? as usize,
            _ => return Err(format!("hurl-parity has no option {word:?}")),
        }
    }
    Ok(options)
}

/// Two unequal verdicts.
struct Difference<'a> {
    case: &'a Case,
    kind: Kind,
    theirs: &'a Verdict,
    ours: &'a Verdict,
    /// The row covering the difference.
    known: Option<&'static known::Known>,
}

/// The worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// A check holds in Hakaru and fails in `hurl`.
    Passes,
    /// Both pass and sent other requests.
    Sends,
    /// Fails, where `hurl` passes.
    Fails,
    /// Is refused, where `hurl` passes.
    Refused,
}

impl Kind {
    fn words(self) -> &'static str {
        match self {
            Kind::Passes => "passes in hakaru, not in hurl",
            Kind::Sends => "sends something else",
            Kind::Fails => "fails in hakaru, passes in hurl",
            Kind::Refused => "refused by hakaru, passes in hurl",
        }
    }
}

impl Difference<'_> {
    fn of<'a>(case: &'a Case, theirs: &'a Verdict, ours: &'a Verdict) -> Option<Difference<'a>> {
        let kind = match (theirs, ours) {
            (Verdict::Passed(theirs), Verdict::Passed(ours)) if theirs == ours => return None,
            (Verdict::Passed(_), Verdict::Passed(_)) => Kind::Sends,
            (_, Verdict::Passed(_)) => Kind::Passes,
            (Verdict::Passed(_), Verdict::Refused(_)) => Kind::Refused,
            (Verdict::Passed(_), Verdict::Failed(_)) => Kind::Fails,
            _ => return None,
        };
        let known = known::of(case, kind, theirs, ours);
        Some(Difference {
            case,
            kind,
            theirs,
            ours,
            known,
        })
    }
}

fn report(
    cases: &[Case],
    differences: &[Difference<'_>],
    theirs: &[Verdict],
    ours: &[Verdict],
    options: &Options,
) -> Outcome<()> {
    let mut causes: BTreeMap<(bool, Kind, &str), Vec<&Difference<'_>>> = BTreeMap::new();
    for one in differences {
        let cause = one
            .known
            .map_or(one.case.cause.as_str(), |known| known.title);
        causes
            .entry((one.known.is_some(), one.kind, cause))
            .or_default()
            .push(one);
    }
    for ((is_known, kind, cause), found) in &causes {
        let mark = if *is_known { "known" } else { "NEW" };
        println!("{mark:5} {:4}  {}: {cause}", found.len(), kind.words());
        if !is_known {
            found
                .iter()
                .take(options.examples)
                .for_each(|one| show(one));
        }
    }
    let new = differences.iter().filter(|one| one.known.is_none()).count();
    let share = |count: usize| 100.0 * count as f64 / cases.len().max(1) as f64;
    let passed = theirs
        .iter()
        .filter(|one| matches!(one, Verdict::Passed(_)));
    let early = theirs.iter().zip(ours);
    let early = early.filter(|pair| matches!(pair, (Verdict::Failed(_), Verdict::Refused(_))));
    println!(
        "{} cases, of which {} pass in hurl; {} differ ({:.2} %), {new} of them not known; {} that fail in hurl \
         are refused before the run",
        cases.len(),
        passed.count(),
        differences.len(),
        share(differences.len()),
        early.count(),
    );
    match new {
        0 => Ok(()),
        _ => Err(format!(
            "{new} differences are not known: mend them, or give each its reason in docs/hurl.md and its row in \
             xtask/src/hurl_parity/known.rs"
        )),
    }
}

fn show(one: &Difference<'_>) {
    for line in readable(&one.case.text).lines() {
        println!("          | {line}");
    }
    for (name, verdict) in [("hurl", one.theirs), ("hakaru", one.ours)] {
        let text = match verdict {
            Verdict::Passed(requests) => {
                format!("passes {:?}", requests.last().map_or("", String::as_str))
            }
            Verdict::Failed(why) => format!("fails: {why}"),
            Verdict::Refused(why) => format!("refuses: {why}"),
        };
        println!("          {name} {text}");
    }
}

/// Returns the text of a case with the responses readable instead of in hexadecimal digits.
fn readable(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mark = format!("{BASE}/a/");
        match line.split_once(&mark) {
            Some((before, asked)) => {
                let mut parts = asked.splitn(3, '/');
                let status = parts.next().unwrap_or("");
                let letters = |text: Option<&str>| {
                    String::from_utf8_lossy(&unhex(text.unwrap_or("")))
                        .chars()
                        .take(160)
                        .collect::<String>()
                };
                let (headers, body) = (letters(parts.next()), letters(parts.next()));
                out.push_str(&format!("{before}§ # {status} {headers:?} {body:?}\n"));
            }
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_enough_cases_and_a_seed_gives_the_same() {
        let cases = cases::all(7);
        assert!(cases.len() >= 5_000, "{}", cases.len());
        let again = cases::all(7);
        assert!(cases.iter().zip(&again).all(|(a, b)| a.text == b.text));
        let other = cases::all(8);
        assert!(cases.iter().zip(&other).any(|(a, b)| a.text != b.text));
    }

    #[test]
    fn each_known_difference_stands_in_the_documentation() {
        let text = std::fs::read_to_string(crate::run::root().join("docs/hurl.md")).unwrap();
        let missing: Vec<&str> = known::titles()
            .filter(|title| !text.contains(title))
            .collect();
        assert_eq!(missing, Vec::<&str>::new());
    }
}
