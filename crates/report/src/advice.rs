//! Advice on threads from a recorded run: what the threads did, and the recommended number of
//! threads.

use breakdown::ThreadUse;
use figures::counted;
use serde_json::{Value, json};
use whatif::Model;
use whatif::advice::{Advice, Limit};
use words::{Language, Phrase, Text, phrase, text};

use figures::numbers;
use figures::text::right;

const HEADS: [Phrase; 4] = [
    phrase!("threads"),
    phrase!("requests/s"),
    phrase!("p95"),
    phrase!("GVL wait"),
];
/// Widths of the columns of the table of predictions.
const COLUMNS: [usize; 4] = [8, 15, 12, 12];

/// Input of the page of `hakaru tune --advise`.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// The run's number.
    pub run: i64,
    /// Start command of the app.
    pub command: &'a str,
    /// What each thread of the app did.
    pub threads: &'a [ThreadUse],
    /// Model of the app, which predicts other numbers of threads.
    pub model: &'a Model,
    /// The recommended number of threads.
    pub advice: &'a Advice,
    /// Error of the replay in throughput, as a share of the run's throughput.
    pub replay_error: f64,
}

impl Page<'_> {
    /// For people, at most `columns` wide. The last line is the recommendation.
    pub fn text(&self, columns: usize, language: Language) -> String {
        let mut texts = vec![
            text!(
                "run {run}: {command}",
                run = self.run,
                command = self.command
            ),
            self.origin(),
            Text::default(),
            text!("predicted with clients that never let a thread idle"),
        ];
        texts.extend(self.table(language).into_iter().map(Text::from));
        texts.extend(self.limit().map(|limit| text!("  {limit}", limit)));
        texts.push(Text::default());
        texts.extend(self.use_of_threads());
        texts.push(text!(
            "Recommended config: {config}",
            config = self.config()
        ));
        let lines = texts.iter().map(|text| text.written_in(language) + "\n");
        figures::text::fold(&lines.collect::<String>(), columns)
    }

    fn origin(&self) -> Text {
        let recorded = &self.model.recorded;
        text!(
            "{workers} × {threads}, {count} recorded requests; the replay of this run is {share} off its throughput",
            workers = recorded.workers,
            threads = counted!(u64::from(recorded.threads), "thread"),
            count = self.model.sampled.to_string(),
            share = numbers::share(self.replay_error)
        )
    }

    /// Lines of the table: one prediction for each number of threads shown.
    fn table(&self, language: Language) -> Vec<String> {
        let line = |cells: [String; 4], mark: Phrase| {
            let cells = cells.iter().zip(COLUMNS);
            let cells: String = cells.map(|(cell, columns)| right(cell, columns)).collect();
            format!("  {cells}  {}", mark.written_in(language))
                .trim_end()
                .to_owned()
        };
        let mut lines = vec![line(
            HEADS.map(|head| head.written_in(language)),
            phrase!(""),
        )];
        for threads in self.shown() {
            let seen = &self.advice.tried[threads as usize - 1];
            let mark = match threads {
                _ if threads == self.advice.threads => phrase!("recommended"),
                _ if threads == self.model.recorded.threads => phrase!("now"),
                _ => phrase!(""),
            };
            let cells = [
                threads.to_string(),
                numbers::plain(seen.rps),
                numbers::duration_ms(seen.latency_p95.as_millis_f64()),
                numbers::duration_ms(seen.gvl_wait_mean.as_millis_f64()),
            ];
            lines.push(line(cells, mark));
        }
        lines
    }

    /// The present number of threads, the recommended one, and the neighbours of both.
    fn shown(&self) -> Vec<u32> {
        let recommended = self.advice.threads;
        let mut shown = vec![
            1,
            recommended.saturating_sub(1),
            recommended,
            recommended + 1,
        ];
        shown.push(self.model.recorded.threads);
        shown.retain(|threads| (1..=self.advice.tried.len()).contains(&(*threads as usize)));
        shown.sort_unstable();
        shown.dedup();
        shown
    }

    fn limit(&self) -> Option<Text> {
        let limit = self.advice.limited_by?;
        Some(match limit {
            Limit::Clients(clients) => text!(
                "the run had {connections} only; record it with more to see whether more threads help",
                connections = counted!(u64::from(clients), "connection")
            ),
            Limit::DatabasePool(pool) => text!(
                "the database pool holds {connections} per worker; threads beyond it would wait for one",
                connections = counted!(u64::from(pool), "connection")
            ),
        })
    }

    /// One line per thread, under a line for the process where there are several.
    fn use_of_threads(&self) -> Vec<Text> {
        let mut texts = Vec::new();
        let several = self.threads.windows(2).any(|two| two[0].pid != two[1].pid);
        let mut pid = None;
        for thread in self.threads {
            if several && pid != Some(thread.pid) {
                pid = Some(thread.pid);
                texts.push(text!("process {pid}", pid = thread.pid));
            }
            let [cpu, io, gc] = thread.shares().map(|share| share * 100.0);
            // A thread's name and the terms that Puma's own tools use.
            let line = format!(
                "puma srv tp {:03}: cpu {cpu:.1}% io {io:.1}% gc {gc:.1}% gvlwait {:.1}%",
                thread.number,
                thread.gvl_wait_share() * 100.0
            );
            texts.push(line.into());
        }
        texts
    }

    fn config(&self) -> String {
        let threads = self.advice.threads;
        match self.model.recorded.workers {
            0 | 1 => format!("puma -t 1:{threads}"),
            workers => format!("puma -w {workers} -t 1:{threads}"),
        }
    }

    /// Returns the advice as JSON, with a line feed at the end.
    pub fn json(&self) -> String {
        let threads: Vec<Value> = (self.threads.iter())
            .map(|thread| {
                let [cpu, io, gc] = thread.shares();
                json!({
                    "pid": thread.pid,
                    "number": thread.number,
                    "requests": thread.requests,
                    "cpu_share": cpu,
                    "io_share": io,
                    "gc_share": gc,
                    "gvl_wait_share": thread.gvl_wait_share(),
                })
            })
            .collect();
        let predicted: Vec<Value> = (self.advice.tried.iter().zip(1u32..))
            .map(|(seen, threads)| {
                json!({
                    "workers": self.model.recorded.workers,
                    "threads": threads,
                    "rps": seen.rps,
                    "latency_ms": {
                        "p50": seen.latency_p50.as_millis_f64(),
                        "p95": seen.latency_p95.as_millis_f64(),
                        "p99": seen.latency_p99.as_millis_f64(),
                    },
                    "gvl_wait_ms": seen.gvl_wait_mean.as_millis_f64(),
                })
            })
            .collect();
        let document = json!({
            "format": "hakaru-advice",
            "version": 1,
            "run": self.run,
            "command": self.command,
            "threads": threads,
            "predicted": predicted,
            "replay_error": self.replay_error,
            "recommended": {
                "workers": self.model.recorded.workers,
                "threads": self.advice.threads,
                "config": self.config(),
            },
        });
        format!("{document:#}\n")
    }
}
