//! Benchmarks against which the project's claims are checked, one file each.

mod advice;
mod agent;
mod doctor;
mod load;
mod logs;
pub(crate) mod program;
mod schema;
mod solutions;
mod whatif;

use crate::run::Outcome;

/// Name, what it measures, and the function that takes the arguments after the name.
type Bench = (&'static str, &'static str, fn(&[String]) -> Outcome<()>);

/// A new file adds its line here.
const BENCHES: &[Bench] = &[
    (
        "advice",
        "what pages claim of planted causes, and what their fixes give; --app, --what claims|truth, --as, --hakaru, --for",
        advice::run_bench,
    ),
    (
        "agent",
        "what the agent costs: CPU a request and throughput, with and without",
        agent::run_bench,
    ),
    (
        "code",
        "what `hakaru bench` claims of equal code and of 2 % more, and commands beside hyperfine; --what equal|planted|commands, --for",
        |arguments| program::run_with("code", arguments, &[]),
    ),
    (
        "doctor",
        "what doctor says that planted faults cost, beside what compare measures; --on NAME, --blocks N; root plants more",
        doctor::run_bench,
    ),
    (
        "load",
        "the load generator beside wrk, ab, hey, oha on nginx, and against known servers; --brief",
        load::run_bench,
    ),
    (
        "logs",
        "`hakaru logs` beside alp and pt-query-digest: the same figures, and how much faster; --rounds N",
        logs::run_bench,
    ),
    (
        "whatif",
        "how far predictions of other workers and threads are from what is measured; --app NAME, --for SECONDS",
        whatif::run_bench,
    ),
    (
        "tune",
        "what tune loses against an exhaustive grid, and what it saves; --app NAME, --for SECONDS",
        |arguments| program::run_with("tune", arguments, &[]),
    ),
    (
        "honesty",
        "what compare claims of equals, and of 5 % more CPU; --for SECONDS does it in pieces",
        |arguments| program::run_with("honesty", arguments, &[]),
    ),
    (
        "try",
        "run and try on the unsolved chat with all data, to a verdict; --on DATABASE, --budget SECONDS",
        whatif::run_try,
    ),
    (
        "schema",
        "the schema engine: comparing, hostile texts, reading servers",
        |arguments| schema::run_bench("schema", arguments),
    ),
    (
        "online",
        "schema changes of a table in use: the longest wait of a reader and a writer; --rows N, --server NAME; 1 s is the bound",
        |arguments| schema::run_bench("online", arguments),
    ),
    (
        "jit",
        "the bundled workloads without and with YJIT and ZJIT; --ruby PATH, --budget 600s, --filter TEXT; writes its report",
        |arguments| program::run_with("jit", arguments, &[]),
    ),
    (
        "profile",
        "what profiling costs by mode and rate, beside stackprof, and how true its shares are; --brief",
        |arguments| program::run_with("profile", arguments, &[]),
    ),
    (
        "solutions",
        "scores of the chat with each patch, three runs each, on SQLite and MariaDB; writes its page",
        solutions::run_bench,
    ),
];

pub(crate) fn task(arguments: &[String]) -> Outcome<()> {
    let Some((name, rest)) = arguments.split_first() else {
        BENCHES
            .iter()
            .for_each(|(name, about, _)| println!("{name:12} {about}"));
        return Ok(());
    };
    match BENCHES.iter().find(|(known, _, _)| known == name) {
        Some((_, _, bench)) => bench(rest),
        None => Err(format!(
            "no benchmark is called {name:?}; `cargo xtask bench` lists them"
        )),
    }
}
