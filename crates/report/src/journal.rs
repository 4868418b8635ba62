//! The journal of runs: changes since the previous run, and the effect of each beside the noise.

use std::collections::BTreeMap;

use chrono::DateTime;
use figures::numbers;
use serde_json::{Value, json};
use words::{Language, Phrase, Text, phrase, text};

use crate::html;
use figures::text::{COLUMNS, Column, fold, one_line, table, width};

/// Verdict on a change indistinguishable from chance.
const NOISE_UNKNOWN: Phrase = phrase!("noise unknown: run again unchanged");
/// Verdict on a run after runs of another load.
const NOT_COMPARABLE: Phrase = phrase!("not comparable: another load");
/// Digits shown of a commit, as many as by git itself.
const COMMIT_DIGITS: usize = 7;

/// One run of the journal.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(
    missing_docs,
    reason = "the fields of `store::JournalEntry`, explained there"
)]
pub struct Line {
    pub number: i64,
    pub started_at_unix_ms: i64,
    pub complete: bool,
    pub part_of: String,
    pub commit: String,
    pub dirty: String,
    pub dirty_hash: String,
    pub settings: String,
    pub score: Option<f64>,
    pub rps: Option<f64>,
    pub latency_ms: [Option<f64>; 3],
    pub errors: u64,
    pub checks_failed: u64,
    pub notes: Vec<String>,
    /// Comparisons made between the run and the next one.
    pub trials: Vec<Tried>,
}

/// A comparison: the tried finding, the decision and the verdict.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the fields of `store::Trial`, explained there")]
pub struct Tried {
    pub number: i64,
    pub finding: String,
    pub remedy: String,
    pub decision: String,
    pub verdict: String,
    pub kept: bool,
}

/// Runs, the oldest first, each with what changed.
#[derive(Clone, Debug)]
pub struct Journal {
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
struct Row {
    line: Line,
    /// Differences to the compared run, else to the previous run.
    changes: Vec<Text>,
    /// Change of the score, or of the rate where a run has none, against the last run of the same
    /// load; `None` without one.
    change: Option<f64>,
    /// Number of the compared run.
    against: Option<i64>,
    /// Whether all earlier runs are of another load.
    is_alone: bool,
    /// Difference between the best and the worst of repeated runs, as a share of the worst.
    noise: Option<f64>,
}

impl Journal {
    /// Makes a journal of runs, the oldest first.
    pub fn of(lines: Vec<Line>) -> Journal {
        let loads: Vec<Option<Load<'_>>> = lines.iter().map(load).collect();
        let rows = lines.iter().enumerate().map(|(index, line)| {
            let earlier = &lines[..index];
            let is_like = |at: &usize| {
                let before = &lines[*at];
                // Of a run whose settings nobody knows, nobody knows the load.
                let same = loads[*at] == loads[index];
                before.complete && before.part_of == line.part_of && same
            };
            // What a cut-off run has kept may be its warm-up.
            let like = (0..index).rfind(is_like).filter(|_| line.complete);
            let like = like.map(|at| &lines[at]);
            let before = like.or_else(|| earlier.last());
            Row {
                changes: before.map_or_else(Vec::new, |before| changes(before, line)),
                change: like.and_then(|before| change(before, line)),
                noise: like.and_then(|before| noise(&lines, before, line)),
                against: like.map(|before| before.number),
                is_alone: line.complete && like.is_none() && before.is_some(),
                line: line.clone(),
            }
        });
        Journal {
            rows: rows.collect(),
        }
    }

    /// Only the last `count` runs, compared as if all were there.
    pub fn last(mut self, count: usize) -> Journal {
        let before = self.rows.len().saturating_sub(count);
        self.rows.drain(..before);
        self
    }

    /// Returns the journal as JSON, format `hakaru-log`, version 1, with a line feed at the end.
    pub fn json(&self) -> String {
        format!("{:#}\n", self.document(Language::English))
    }

    /// Returns the journal as one HTML file, complete without a network.
    pub fn html(&self, language: Language) -> String {
        html::page(
            &self.document(language).to_string(),
            &self.text(COLUMNS, language),
            language,
        )
    }

    fn document(&self, language: Language) -> Value {
        let runs: Vec<Value> = (self.rows.iter()).map(|row| row.json(language)).collect();
        json!({ "format": "hakaru-log", "version": 1, "runs": runs })
    }

    /// Returns a table for a terminal, at most `columns` wide.
    pub fn text(&self, columns: usize, language: Language) -> String {
        let cells = |row: &Row| row.cells(language).to_vec();
        let rows: Vec<Vec<String>> = self.rows.iter().map(cells).collect();
        let names = HEADS.map(|(name, _)| name.written_in(language));
        let heads: Vec<Column<'_>> = (names.iter().zip(HEADS))
            .map(|(name, (_, drop))| Column::words(name, drop))
            .collect();
        let lines = table(&heads, &rows, usize::MAX);
        let has_room = lines.iter().all(|line| width(line) <= columns);
        let verdict = HEADS.len() - 1;
        // A verdict that has no room beside the figures stands below them.
        let lines = match has_room {
            true => lines,
            false => table(&heads[..verdict], &rows, columns),
        };
        let mut text = String::new();
        for (index, line) in lines.iter().enumerate() {
            text += &format!("{line}\n");
            let Some(row) = index.checked_sub(1).map(|index| &self.rows[index]) else {
                continue;
            };
            let below = (!has_room)
                .then(|| row.verdict())
                .filter(|words| !words.is_empty());
            let below =
                below.map(|verdict| text!("{verdict} against the last of this load", verdict));
            for said in below.into_iter().chain(row.said()) {
                text += &format!("     {}\n", said.written_in(language));
            }
        }
        fold(&text, columns)
    }

    /// Returns a Markdown table.
    pub fn markdown(&self, language: Language) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let heads: Vec<String> = HEADS
            .iter()
            .map(|(name, _)| *name)
            .chain([phrase!("changed, noted")])
            .map(|name| name.written_in(language))
            .collect();
        let mut text = line(&heads) + &line(&vec!["---".to_owned(); heads.len()]);
        for row in &self.rows {
            let mut cells = row.cells(language).to_vec();
            cells.push(Text::list(row.said(), text!("; ")).written_in(language));
            let escaped: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            text += &line(&escaped);
        }
        text
    }
}

/// The columns, and how soon each is left out.
const HEADS: [(Phrase, u8); 10] = [
    (phrase!("run"), 0),
    (phrase!("begun (UTC)"), 1),
    (phrase!("commit"), 5),
    (phrase!("score"), 4),
    (phrase!("rps"), 0),
    (phrase!("p50"), 2),
    (phrase!("p95"), 0),
    (phrase!("p99"), 3),
    (phrase!("failed"), 0),
    (phrase!("against the last of this load"), 0),
];

impl Row {
    fn cells(&self, language: Language) -> [String; 10] {
        let line = &self.line;
        let known =
            |value: Option<f64>| value.map_or_else(|| numbers::UNKNOWN.to_owned(), numbers::plain);
        let [p50, p95, p99] = line.latency_ms.map(numbers::duration_ms_or_unknown);
        let commit: String = line.commit.chars().take(COMMIT_DIGITS).collect();
        let mark = if line.dirty.is_empty() { "" } else { "+" };
        [
            line.number.to_string(),
            minute_of(line.started_at_unix_ms),
            format!("{commit}{mark}"),
            known(line.score),
            known(line.rps),
            p50,
            p95,
            p99,
            numbers::count(line.errors + line.checks_failed),
            self.verdict().written_in(language),
        ]
    }

    /// Verdict on the change, always with the noise for comparison.
    fn verdict(&self) -> Text {
        match (self.change, self.noise) {
            (None, _) if self.is_alone => NOT_COMPARABLE.into(),
            (None, _) => Text::default(),
            (Some(change), None) => text!(
                "{change} ({noise})",
                change = signed(change),
                noise = NOISE_UNKNOWN
            ),
            (Some(change), Some(noise)) if change.abs() <= noise => {
                text!(
                    "{change}, within the noise of ±{noise}",
                    change = signed(change),
                    noise = numbers::share(noise)
                )
            }
            (Some(change), Some(noise)) => {
                text!(
                    "{change}, beyond the noise of ±{noise}",
                    change = signed(change),
                    noise = numbers::share(noise)
                )
            }
        }
    }

    fn said(&self) -> Vec<Text> {
        let notes = self
            .line
            .notes
            .iter()
            .map(|note| text!("note: {note}", note = one_line(note)));
        let part = match self.line.part_of.as_str() {
            "" => None,
            command => Some(text!("a step of {command}", command)),
        };
        let cut_off = (!self.line.complete).then(|| text!("cut off before its end"));
        self.changes
            .iter()
            .cloned()
            .chain(part)
            .chain(cut_off)
            .chain(self.line.trials.iter().map(Tried::said))
            .chain(notes)
            .collect()
    }

    fn json(&self, language: Language) -> Value {
        let line = &self.line;
        let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        json!({
            "number": line.number,
            "started_at_unix_ms": line.started_at_unix_ms,
            "complete": line.complete,
            "part_of": known(&line.part_of),
            "commit": known(&line.commit),
            "dirty": known(&line.dirty),
            "changes": self.changes.iter().map(|text| text.written_in(language)).collect::<Vec<_>>(),
            "score": line.score,
            "rps": line.rps,
            "latency_ms": {
                "p50": line.latency_ms[0], "p95": line.latency_ms[1], "p99": line.latency_ms[2],
            },
            "errors": line.errors,
            "checks_failed": line.checks_failed,
            "against": self.against,
            "change_share": self.change,
            "noise_share": self.noise,
            "notes": line.notes,
            "trials": line.trials.iter().map(Tried::json).collect::<Vec<_>>(),
        })
    }
}

impl Tried {
    /// Finding, remedy and gain in one line.
    fn said(&self) -> Text {
        let remedy = one_line(&self.remedy);
        let what = match self.finding.as_str() {
            "" => text!("compared: {remedy}", remedy),
            finding => text!(
                "tried finding {finding}: {remedy}",
                finding = one_line(finding),
                remedy
            ),
        };
        let kept = match self.kept {
            true => text!(", kept"),
            false => Text::default(),
        };
        let verdict = one_line(&self.verdict);
        text!("{what}{kept}: {verdict}", what, kept, verdict)
    }

    fn json(&self) -> Value {
        json!({
            "number": self.number,
            "finding": (!self.finding.is_empty()).then_some(&self.finding),
            "remedy": self.remedy,
            "decision": self.decision,
            "verdict": self.verdict,
            "kept": self.kept,
        })
    }
}

fn signed(share: f64) -> String {
    let sign = if share < 0.0 { "−" } else { "+" };
    format!("{sign}{}", numbers::share(share.abs()))
}

/// Settings of the load; only runs with the same values are compared.
const LOAD: [&str; 6] = ["agent", "connections", "flows", "level up", "rate", "url"];
/// Values of the settings in [`LOAD`].
type Load<'a> = [Option<&'a str>; LOAD.len()];

/// Returns the load of a run; `None` for a run recorded by an older program, without settings.
fn load(line: &Line) -> Option<Load<'_>> {
    let known = settings(&line.settings);
    (!line.settings.is_empty()).then(|| LOAD.map(|name| known.get(name).copied()))
}

/// Returns day and minute in UTC, such as `2026-11-25 01:40`; empty for 0, a line without a run.
pub fn minute_of(unix_ms: i64) -> String {
    let moment = DateTime::from_timestamp_millis(unix_ms).filter(|_| unix_ms != 0);
    moment.map_or_else(String::new, |at| at.format("%Y-%m-%d %H:%M").to_string())
}

/// Differences between two runs, one sentence each.
fn changes(before: &Line, line: &Line) -> Vec<Text> {
    let mut changes = Vec::new();
    let short = |commit: &str| commit.chars().take(COMMIT_DIGITS).collect::<String>();
    if before.commit != line.commit {
        changes.push(text!(
            "commit {before} → {after}",
            before = short(&before.commit),
            after = short(&line.commit)
        ));
    }
    if before.dirty_hash != line.dirty_hash {
        changes.push(match line.dirty.as_str() {
            "" => text!("no uncommitted change any more"),
            dirty => text!("uncommitted: {dirty}", dirty),
        });
    }
    // Nothing is known of the settings of a run that an older program has kept.
    if before.settings.is_empty() || line.settings.is_empty() {
        return changes;
    }
    let (old, new) = (settings(&before.settings), settings(&line.settings));
    let names: std::collections::BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
    for name in names {
        let value = |of: &BTreeMap<&str, &str>| of.get(name).copied().unwrap_or("none").to_owned();
        let (old, new) = (value(&old), value(&new));
        if old != new {
            changes.push(text!(
                "{name}: {old} → {new}",
                name,
                old = one_line(&old),
                new = one_line(&new)
            ));
        }
    }
    changes
}

fn settings(lines: &str) -> BTreeMap<&str, &str> {
    lines
        .lines()
        .filter_map(|line| line.split_once(" = "))
        .collect()
}

fn change(before: &Line, line: &Line) -> Option<f64> {
    let (old, new) = match (before.score, line.score) {
        (Some(old), Some(new)) => (old, new),
        _ => (before.rps?, line.rps?),
    };
    (old > 0.0).then(|| new / old - 1.0)
}

/// The noise around a change: the greater noise of both sides, as far as runs were repeated.
fn noise(lines: &[Line], before: &Line, line: &Line) -> Option<f64> {
    let sides = [before, line].map(|side| spread(lines, side));
    sides.into_iter().flatten().reduce(f64::max)
}

/// Difference between the best and the worst of equal runs, as a share of the worst.
fn spread(lines: &[Line], wanted: &Line) -> Option<f64> {
    let same = |line: &&Line| {
        line.complete
            && !line.settings.is_empty()
            && line.commit == wanted.commit
            && line.dirty_hash == wanted.dirty_hash
            && line.settings == wanted.settings
    };
    let of_score = wanted.score.is_some();
    let value = |line: &Line| if of_score { line.score } else { line.rps };
    let values: Vec<f64> = lines.iter().filter(same).filter_map(value).collect();
    let greatest = values.iter().copied().fold(f64::MIN, f64::max);
    let least = values.iter().copied().fold(f64::MAX, f64::min);
    (values.len() > 1 && least > 0.0).then(|| greatest / least - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_leap_years_are_counted() {
        let check = |unix_s: i64, expected| assert_eq!(minute_of(unix_s * 1000), expected);
        check(1, "1970-01-01 00:00");
        check(951_782_399, "2000-02-28 23:59");
        check(951_782_400, "2000-02-29 00:00");
        check(1_709_251_200, "2024-03-01 00:00");
        check(1_735_689_599, "2024-12-31 23:59");
        check(0, "");
    }

    fn line(number: i64, commit: &str, settings: &str, score: f64) -> Line {
        Line {
            number,
            complete: true,
            commit: commit.to_owned(),
            settings: settings.to_owned(),
            score: Some(score),
            rps: Some(score / 10.0),
            latency_ms: [Some(5.0), None, None],
            ..Line::default()
        }
    }

    #[test]
    fn the_journal_speaks_japanese() {
        let journal = Journal::of(vec![
            line(1, "aaaaaaaaaa", "connections = 10", 1000.0),
            line(2, "bbbbbbbbbb", "connections = 10", 1500.0),
            line(3, "bbbbbbbbbb", "connections = 20", 3060.0),
        ]);
        let page = journal.text(COLUMNS, Language::Japanese);
        for said in [
            "ノイズは不明",
            "比較不可: 負荷が異なる",
            "コミット aaaaaaa → bbbbbbb",
        ] {
            assert!(page.contains(said), "{said} is not in\n{page}");
        }
        for word in ["run", "commit", "failed", "noise", "against"] {
            assert!(!page.contains(word), "{word} in\n{page}");
        }
        crate::samples::check_widths(|columns| journal.text(columns, Language::Japanese));
    }

    #[test]
    fn a_change_never_stands_without_its_noise() {
        let journal = Journal::of(vec![
            line(1, "aaaaaaaaaa", "connections = 10", 1000.0),
            line(2, "bbbbbbbbbb", "connections = 10", 1500.0),
            line(3, "bbbbbbbbbb", "connections = 10", 1530.0),
            line(4, "bbbbbbbbbb", "connections = 20", 3060.0),
        ]);
        let last = journal.clone().last(1);
        assert_eq!(last.rows.len(), 1);
        assert_eq!(last.rows[0].verdict(), journal.rows[3].verdict());
        let verdicts = journal.rows.iter().map(|row| row.verdict().to_string());
        let verdicts: Vec<String> = verdicts.collect();
        assert_eq!(
            verdicts,
            [
                "",
                "+50%, beyond the noise of ±2%",
                "+2%, within the noise of ±2%",
                "not comparable: another load",
            ]
        );
        let first = Journal::of(vec![
            line(1, "a", "x = 1", 9.0),
            line(2, "b", "x = 1", 18.0),
        ]);
        assert_eq!(
            first.rows[1].verdict(),
            "+100% (noise unknown: run again unchanged)"
        );
        let changes: Vec<_> = journal
            .rows
            .iter()
            .map(|row| Text::list(row.changes.clone(), text!("; ")).to_string())
            .collect();
        assert_eq!(
            changes,
            ["", "commit aaaaaaa → bbbbbbb", "", "connections: 10 → 20"]
        );
    }

    #[test]
    fn only_whole_runs_of_one_load_are_compared() {
        let mut cut_off = line(2, "b", "", 30.0);
        cut_off.complete = false;
        let unknown = line(3, "b", "", 90.0);
        let journal = Journal::of(vec![
            line(1, "a", "connections = 10", 9.0),
            cut_off,
            unknown.clone(),
            line(4, "b", "connections = 10", 18.0),
            Line {
                number: 5,
                ..unknown
            },
        ]);
        let against: Vec<Option<i64>> = journal.rows.iter().map(|row| row.against).collect();
        assert_eq!(against, [None, None, None, Some(1), Some(3)]);
        assert_eq!(journal.rows[1].verdict(), "");
        let verdict = journal.rows[2].verdict();
        assert_eq!(verdict, "not comparable: another load");
    }

    #[test]
    fn every_form_holds_every_run() {
        let mut noted = line(2, "b", "x = 1", 18.0);
        noted.notes = vec!["index | on\nmessage".to_owned()];
        noted.complete = false;
        noted.trials = vec![Tried {
            finding: "3: missing index".to_owned(),
            remedy: "CREATE INDEX a".to_owned(),
            verdict: "B is faster".to_owned(),
            kept: true,
            ..Tried::default()
        }];
        let journal = Journal::of(vec![line(1, "a", "x = 1", 9.0), noted]);
        let text = journal.text(COLUMNS, Language::English);
        assert!(text.contains("note: index | on message"), "{text}");
        assert!(text.contains("cut off before its end"), "{text}");
        let tried = "tried finding 3: missing index: CREATE INDEX a, kept: B is faster";
        assert!(text.contains(tried), "{text}");
        crate::samples::check_widths(|columns| journal.text(columns, Language::English));
        let markdown = journal.markdown(Language::English);
        assert_eq!(markdown.lines().count(), 4, "{markdown}");
        assert!(markdown.contains("index \\| on message"), "{markdown}");
        let value: Value = serde_json::from_str(&journal.json()).unwrap();
        assert_eq!(value["runs"][1]["change_share"], Value::Null);
        assert_eq!(value["runs"][1]["noise_share"], Value::Null);
    }
}
