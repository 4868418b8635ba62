//! Advice on threads from a recorded run: what its threads did, and how many there should be.

use breakdown::ThreadUse;
use serde_json::{Value, json};
use whatif::Model;
use whatif::advice::{Advice, Limit};

use crate::numbers;

/// What `hakaru tune --advise` says.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// The run's number.
    pub run: i64,
    /// Its command.
    pub command: &'a str,
    /// Its threads.
    pub threads: &'a [ThreadUse],
    /// What it says of others.
    pub model: &'a Model,
    /// What is recommended.
    pub advice: &'a Advice,
    /// How far the replay of the run is from the run, in throughput.
    pub replay_error: f64,
}

impl Page<'_> {
    /// For people, at most `columns` wide. The last line is the recommendation.
    pub fn text(&self, columns: usize) -> String {
        let recorded = &self.model.recorded;
        let mut text = format!(
            "run {}: {}\n{} × {}, {} recorded requests; the replay of this run is {:.0}% off its throughput\n\n",
            self.run,
            self.command,
            recorded.workers,
            numbers::counted(u64::from(recorded.threads), "thread"),
            self.model.sampled,
            self.replay_error * 100.0
        );
        text.push_str("predicted with clients that never let a thread idle\n  threads   requests/s         p95    GVL wait\n");
        for threads in self.shown() {
            let seen = &self.advice.tried[threads as usize - 1];
            let mark = match threads {
                _ if threads == self.advice.threads => "  recommended",
                _ if threads == recorded.threads => "  now",
                _ => "",
            };
            text.push_str(&format!(
                "  {threads:>7}{:>13}{:>12}{:>12}{mark}\n",
                numbers::plain(seen.rps),
                numbers::duration_ms(seen.latency_p95.as_millis_f64()),
                numbers::duration_ms(seen.gvl_wait_mean.as_millis_f64()),
            ));
        }
        if let Some(limit) = self.limit() {
            text.push_str(&format!("  {limit}\n"));
        }
        text.push('\n');
        text.push_str(&self.use_of_threads());
        text.push_str(&format!("Recommended config: {}\n", self.config()));
        crate::text::fold(&text, columns)
    }

    /// The present number, the recommended one, and its neighbours.
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

    fn limit(&self) -> Option<String> {
        let limit = self.advice.limited_by?;
        Some(match limit {
            Limit::Clients(clients) => format!(
                "the run had {} only; record it with more to see whether more threads help",
                numbers::counted(u64::from(clients), "connection")
            ),
            Limit::DatabasePool(pool) => format!(
                "the database pool holds {} per worker; threads beyond it would wait for one",
                numbers::counted(u64::from(pool), "connection")
            ),
        })
    }

    /// One line a thread, under a line for its process where there are several.
    fn use_of_threads(&self) -> String {
        let mut text = String::new();
        let several = self.threads.windows(2).any(|two| two[0].pid != two[1].pid);
        let mut pid = None;
        for thread in self.threads {
            if several && pid != Some(thread.pid) {
                pid = Some(thread.pid);
                text.push_str(&format!("process {}\n", thread.pid));
            }
            let [cpu, io, gc] = thread.shares().map(|share| share * 100.0);
            text.push_str(&format!(
                "puma srv tp {:03}: cpu {cpu:.1}% io {io:.1}% gc {gc:.1}% gvlwait {:.1}%\n",
                thread.number,
                thread.gvl_wait_share() * 100.0
            ));
        }
        text
    }

    fn config(&self) -> String {
        let threads = self.advice.threads;
        match self.model.recorded.workers {
            0 | 1 => format!("puma -t 1:{threads}"),
            workers => format!("puma -w {workers} -t 1:{threads}"),
        }
    }

    /// As JSON, with a line feed at its end.
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
