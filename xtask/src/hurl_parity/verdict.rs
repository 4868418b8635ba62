//! What each of the two programs says of each case.
//!
//! Many files go into one call. `hurl` stops at the first file that it cannot read, and `hakaru`
//! refuses all for one; the call is then repeated without that file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use super::cases::{Case, FILES, VARIABLES};
use super::server::{BASE, Server};
use super::tls::Tls;
use crate::run::{Outcome, write};

/// Files of one call.
const BATCH: usize = 40;

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// All checks passed, with the requests observed by the server.
    Passed(Vec<String>),
    Failed(String),
    /// Before anything was sent.
    Refused(String),
}

/// The folder of the cases and the server's address.
pub(super) struct Place {
    pub(super) folder: PathBuf,
    pub(super) server: Server,
    pub(super) tls: Tls,
}

/// One of the two programs.
#[derive(Clone, Copy)]
enum Who {
    Hurl,
    Hakaru,
}

impl Who {
    /// Returns the first segment of the program's paths.
    fn letter(self) -> char {
        match self {
            Who::Hurl => 'h',
            Who::Hakaru => 'k',
        }
    }
}

impl Place {
    /// Runs all cases in both programs.
    pub(super) fn run(
        &self,
        cases: &[Case],
        hurl: &Path,
        hakaru: &Path,
    ) -> Outcome<(Vec<Verdict>, Vec<Verdict>)> {
        let _ = fs::remove_dir_all(&self.folder);
        for who in [Who::Hurl, Who::Hakaru] {
            let folder = self.folder.join(who.letter().to_string());
            for (name, text) in FILES {
                let file = folder.join(name);
                let failed = |error| format!("cannot write {}: {error}", file.display());
                fs::create_dir_all(&folder).map_err(failed)?;
                fs::write(&file, text).map_err(failed)?;
            }
            for (index, case) in cases.iter().enumerate() {
                let base = format!("{}/{}/{index}", self.url(case.is_tls), who.letter());
                let text = case.text.replace(BASE, &base);
                write(&folder.join(format!("{index}.hurl")), &text)?;
            }
        }
        let all = |who, program: &Path| -> Outcome<Vec<Verdict>> {
            let mut verdicts = Vec::new();
            for is_tls in [false, true] {
                let of_kind = |number: &usize| cases[*number].is_tls == is_tls;
                let numbers: Vec<usize> = (0..cases.len()).filter(of_kind).collect();
                for batch in numbers.chunks(BATCH) {
                    let found = self.batch(who, program, &self.url(is_tls), batch)?;
                    verdicts.extend(batch.iter().copied().zip(found));
                }
            }
            verdicts.sort_by_key(|(number, _)| *number);
            Ok(verdicts.into_iter().map(|(_, verdict)| verdict).collect())
        };
        thread::scope(|scope| {
            let theirs = scope.spawn(|| all(Who::Hurl, hurl));
            let ours = all(Who::Hakaru, hakaru)?;
            let theirs = theirs.join().map_err(|_| "hurl's thread panicked")?;
            Ok((theirs?, ours))
        })
    }

    fn url(&self, is_tls: bool) -> String {
        match is_tls {
            true => format!("https://127.0.0.1:{}", self.tls.port),
            false => format!("http://127.0.0.1:{}", self.server.port),
        }
    }

    fn batch(&self, who: Who, program: &Path, url: &str, batch: &[usize]) -> Outcome<Vec<Verdict>> {
        let mut verdicts: Vec<Option<Verdict>> = vec![None; batch.len()];
        loop {
            let open: Vec<usize> = (0..batch.len())
                .filter(|i| verdicts[*i].is_none())
                .collect();
            if open.is_empty() {
                return Ok(verdicts.into_iter().flatten().collect());
            }
            let names: Vec<String> = open.iter().map(|i| format!("{}.hurl", batch[*i])).collect();
            let output = self.call(who, program, url, &names)?;
            let found = match who {
                Who::Hurl => hurl_verdicts(&output, &names),
                Who::Hakaru => hakaru_verdicts(&output, &names),
            };
            if found.iter().all(Option::is_none) {
                // A message that names no file is about one of them.
                for one in open {
                    verdicts[one] = self.batch(who, program, url, &batch[one..=one])?.pop();
                }
                continue;
            }
            for (i, verdict) in open.into_iter().zip(found) {
                let key = format!("{}/{}", who.letter(), batch[i]);
                verdicts[i] = match verdict {
                    Some(Verdict::Passed(_)) => Some(Verdict::Passed(self.server.take(&key))),
                    other => other,
                };
                if verdicts[i].is_none() {
                    self.server.take(&key);
                }
            }
        }
    }

    fn call(&self, who: Who, program: &Path, url: &str, names: &[String]) -> Outcome<Output> {
        let mut command = Command::new(program);
        match who {
            Who::Hurl => command.args(["--test", "--jobs", "1", "--no-color", "--max-time", "5"]),
            Who::Hakaru => command.args(["check", "--json", "--timeout", "5s", "--url", url]),
        };
        for variable in VARIABLES {
            command.args(["--variable", variable]);
        }
        let output = command
            .args(names)
            .current_dir(self.folder.join(who.letter().to_string()))
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("cannot run {}: {error}", program.display()))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Output {
            out: text(&output.stdout),
            err: text(&output.stderr),
            code: output.status.code(),
        })
    }
}

struct Output {
    out: String,
    err: String,
    code: Option<i32>,
}

/// `Success 12.hurl (1 request(s) in 3 ms)` follows what is said of a file; where a file cannot be
/// read, nothing does, and all ends with 2.
fn hurl_verdicts(output: &Output, names: &[String]) -> Vec<Option<Verdict>> {
    const READING: i32 = 2;
    let mut verdicts = Vec::new();
    let mut rest = output.err.as_str();
    for name in names {
        let [well, badly] = ["Success", "Failure"].map(|word| format!("{word} {name} ("));
        if let Some(at) = rest.find(&well) {
            verdicts.push(Some(Verdict::Passed(Vec::new())));
            rest = &rest[at + well.len()..];
        } else if let Some(at) = rest.find(&badly) {
            verdicts.push(Some(Verdict::Failed(said(&rest[..at]))));
            rest = &rest[at + badly.len()..];
        } else {
            break;
        }
    }
    let is_alone = names.len() == 1 && verdicts.is_empty();
    if is_alone || verdicts.len() < names.len() && output.code == Some(READING) {
        verdicts.push(Some(Verdict::Refused(said(rest))));
    }
    verdicts.resize(names.len(), None);
    verdicts
}

/// The words of the last message of `hurl`.
fn said(text: &str) -> String {
    let from = text.find("error: ").unwrap_or(0);
    let lines: Vec<&str> = text[from..].lines().take(12).map(str::trim).collect();
    lines.join(" ").replace("  ", " ")
}

/// Returns verdicts by the file names in the JSON; a refused file is named behind `hakaru: `.
fn hakaru_verdicts(output: &Output, names: &[String]) -> Vec<Option<Verdict>> {
    if let Some(refused) = output.err.strip_prefix("hakaru: ") {
        let mut verdicts = vec![None; names.len()];
        let is_its = |name: &String| refused.starts_with(&format!("{name}:"));
        let only = (names.len() == 1).then_some(0);
        if let Some(at) = names.iter().position(is_its).or(only) {
            let words = refused.lines().next().unwrap_or("");
            verdicts[at] = Some(Verdict::Refused(words.to_owned()));
        }
        return verdicts;
    }
    let mut verdicts = vec![Some(Verdict::Passed(Vec::new())); names.len()];
    let value = |line: &str, key: &str| {
        let rest = line.trim().strip_prefix(&format!("\"{key}\": \""))?;
        Some(rest.trim_end_matches([',', '"']).to_owned())
    };
    let (mut place, mut at, mut is_fault) = (None, None, false);
    for line in output.out.lines() {
        if let Some(found) = value(line, "place") {
            place = names
                .iter()
                .position(|name| found.starts_with(&format!("{name}:")));
        } else if let Some(outcome) = value(line, "outcome") {
            at = place.filter(|_| outcome != "ok");
            if let Some(at) = at {
                verdicts[at] = Some(Verdict::Failed(outcome));
            }
        } else if let (Some(at), "\"tried_again\": true,") = (at, line.trim()) {
            // Only the last try counts.
            verdicts[at] = Some(Verdict::Passed(Vec::new()));
        } else if line.trim() == "\"faults\": [" {
            is_fault = true;
        } else if is_fault && line.trim().starts_with(']') {
            is_fault = false;
        } else if let (true, Some(Some(Verdict::Failed(why)))) =
            (is_fault, at.map(|at| &mut verdicts[at]))
        {
            why.push_str(&format!("; {}", line.trim()));
        }
    }
    verdicts
}
