//! `hakaru bench log`: the history of every contender, with the changes of level.

use std::fmt::Write;

use microbench::history::{self, BENCHES_MIN, Level, Point};
use microbench::past::{self, Kept};
use report::bench::{History, HistoryPoint};
use serde_json::{Value, json};
use stats::comparison::Verdict;
use store::StoredBench;
use words::{Text, text};

use super::kept::{benches, day, said};
use crate::flags::BenchArgs;
use console::language;
use console::{html, look};
use ending::{Cause, Ended, Failure};

/// A contender's benches in a row, the oldest first.
struct Seen {
    name: [String; 2],
    all: Vec<(StoredBench, Kept)>,
}

/// Shows every contender's figures, with the changes of level.
pub(super) fn log(args: &BenchArgs) -> Result<Ended, Failure> {
    let seen = seen(benches()?);
    if seen.is_empty() {
        return Err(Failure::new(
            Cause::Failed,
            "no bench was kept in this folder; `hakaru bench … --record` keeps one",
        ));
    }
    if let Some(path) = &args.html {
        let histories: Vec<History> = seen.iter().map(Seen::history).collect();
        html::write_html(
            path,
            &report::bench::history_html(&histories, language::chosen()),
        )?;
        if html::is_stdout(path) {
            return Ok(Ended::Ok);
        }
    }
    if args.json {
        let contenders: Vec<Value> = seen.iter().map(Seen::json).collect();
        let document =
            json!({"format": "hakaru-bench-log", "version": 1, "contenders": contenders});
        console::data(&format!("{document:#}\n"));
        return Ok(Ended::Ok);
    }
    let page: String = seen.iter().map(Seen::page).collect();
    console::page(&page);
    Ok(Ended::Ok)
}

fn seen(benches: Vec<StoredBench>) -> Vec<Seen> {
    let mut seen: Vec<Seen> = Vec::new();
    for bench in benches {
        for kept in past::read(&bench.document) {
            let is_it = |one: &&mut Seen| one.name == kept.name && one.all[0].1.unit == kept.unit;
            match seen.iter_mut().find(is_it) {
                Some(known) => known.all.push((bench.clone(), kept)),
                None => seen.push(Seen {
                    name: kept.name.clone(),
                    all: vec![(bench.clone(), kept)],
                }),
            }
        }
    }
    seen
}

impl Seen {
    fn title(&self) -> String {
        self.name.join(", ").trim_start_matches(", ").to_owned()
    }

    fn levels(&self) -> Vec<Level> {
        let points: Vec<Point<'_>> = self
            .all
            .iter()
            .map(|(bench, kept)| Point {
                machine: &bench.machine,
                kept,
            })
            .collect();
        history::levels(&points)
    }

    fn page(&self) -> String {
        let most = self
            .all
            .iter()
            .filter_map(|(_, kept)| kept.value)
            .fold(f64::MIN_POSITIVE, f64::max);
        let mut page = format!("{}\n", self.title());
        let room = look::page_columns().saturating_sub(60).max(10);
        let levels = self.levels();
        for (index, (bench, kept)) in self.all.iter().enumerate() {
            if let Some(change) = self.change_at(index, &levels) {
                let _ = writeln!(page, "  {}", change.written_in(language::chosen()));
            }
            let commit: String = bench.commit.chars().take(9).collect();
            let value = kept.value.map_or_else(
                || "–".to_owned(),
                |value| format!("{value:.4e} {}", kept.unit),
            );
            let bar = "▇".repeat((kept.value.unwrap_or(0.0) / most * room as f64) as usize);
            let _ = writeln!(page, "  {}  {commit:<9}  {value:>16}  {bar}", day(bench));
            if let Some(step) = self.step_at(index) {
                let _ = writeln!(page, "  {}", step.written_in(language::chosen()));
            }
        }
        page
    }

    /// Returns the change of level beginning with a bench.
    fn change_at(&self, index: usize, levels: &[Level]) -> Option<Text> {
        let level = levels.iter().find(|level| level.points[0] == index)?;
        Some(change(level.ratio?))
    }

    /// Returns the difference of a bench from the one before, for histories too short for change
    /// points.
    fn step_at(&self, index: usize) -> Option<Text> {
        let (bench, kept) = &self.all[index];
        let is_here = |(other, _): &&(StoredBench, Kept)| other.machine == bench.machine;
        if self.all.iter().filter(is_here).count() >= BENCHES_MIN {
            return None;
        }
        let (_, before) = self.all[..index].last().filter(is_here)?;
        let [against] =
            &past::against(std::slice::from_ref(before), std::slice::from_ref(kept))[..]
        else {
            return None;
        };
        matches!(against.verdict, Verdict::Higher | Verdict::Lower).then(|| said(against))
    }

    /// Name, unit, benches and levels of the contender for programs.
    fn json(&self) -> Value {
        let levels = self.levels();
        let bench = |(index, (bench, kept)): (usize, &(StoredBench, Kept))| {
            json!({
                "started_at_unix_ms": bench.started_at_unix_ms,
                "commit": bench.commit,
                "machine": bench.machine,
                "value": kept.value,
                "level": level_of(&levels, index),
            })
        };
        json!({
            "job": self.name[0],
            "contender": self.name[1],
            "unit": self.all[0].1.unit,
            "benches": self.all.iter().enumerate().map(bench).collect::<Vec<_>>(),
            "levels": levels.iter().map(|level| json!({"ratio": level.ratio})).collect::<Vec<_>>(),
        })
    }

    fn history(&self) -> History {
        let levels = self.levels();
        let point = |(index, (bench, kept)): (usize, &(StoredBench, Kept))| {
            Some(HistoryPoint {
                label: format!(
                    "{} {}",
                    day(bench),
                    bench.commit.get(..9).unwrap_or_default()
                ),
                value: kept.value?,
                level: level_of(&levels, index),
            })
        };
        History {
            title: self.title(),
            unit: self.all[0].1.unit.clone(),
            points: self.all.iter().enumerate().filter_map(point).collect(),
            changes: levels.iter().map(|level| level.ratio.map(change)).collect(),
        }
    }
}

/// Returns the index of the level with a bench; `None` for a bench left out.
fn level_of(levels: &[Level], bench: usize) -> Option<usize> {
    levels
        .iter()
        .position(|level| level.points.contains(&bench))
}

fn change(ratio: f64) -> Text {
    if ratio >= 1.0 {
        let ratio = format!("{ratio:.2}");
        return text!("▲ {ratio}x better from here on", ratio);
    }
    let ratio = format!("{:.2}", 1.0 / ratio);
    text!("▼ {ratio}x worse from here on", ratio)
}
