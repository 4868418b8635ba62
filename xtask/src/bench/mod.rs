//! Benchmarks against which the project's claims are checked, one file each.

mod advice;
mod agent;
mod code;
mod doctor;
mod flows;
pub(crate) mod help;
mod jit;
mod load;
mod logs;
pub(crate) mod program;
mod schema;
mod solutions;
mod whatif;

use crate::run::Outcome;

/// Name, description, flags, and the function for the arguments after the name.
type Bench = (
    &'static str,
    &'static str,
    &'static [help::Flag],
    fn(&[String]) -> Outcome<()>,
);

/// All benchmarks; a new file adds a line here.
const BENCHES: &[Bench] = &[
    (
        "advice",
        "what pages claim of planted causes, and what their fixes give; --app, --what claims|truth|again, --as, --hakaru, --for",
        help::ADVICE,
        advice::run_bench,
    ),
    (
        "agent",
        "what the agent costs: CPU a request and throughput, with and without",
        help::AGENT,
        agent::run_bench,
    ),
    (
        "code",
        "what `hakaru bench` claims of equal code and of 2 % more, commands beside hyperfine, commits with 3 % planted; --what, --for",
        help::CODE,
        code::run_bench,
    ),
    (
        "doctor",
        "what doctor says that planted faults cost, beside what compare measures; --only NAME, --blocks N; root plants more",
        help::DOCTOR,
        doctor::run_bench,
    ),
    (
        "flows",
        "the chat's own load behind nginx, and the load that flows from its log: mix, rate, requests under way, findings; --database NAME, --seconds N",
        help::FLOWS,
        flows::run_bench,
    ),
    (
        "load",
        "the load generator beside wrk, ab, hey, oha, h2load and k6 on nginx, and against known servers; --brief",
        help::LOAD,
        load::run_bench,
    ),
    (
        "logs",
        "`hakaru logs` beside alp and pt-query-digest: the same figures, and how much faster; --rounds N",
        help::LOGS,
        logs::run_bench,
    ),
    (
        "whatif",
        "how far predictions of other workers and threads are from what is measured; --app NAME, --for SECONDS",
        help::WHATIF,
        whatif::run_bench,
    ),
    (
        "tune",
        "what tune loses against an exhaustive grid, and what it saves; --app NAME, --for SECONDS",
        help::TUNE,
        |arguments| program::run_with("tune", arguments, &[]),
    ),
    (
        "honesty",
        "what compare claims of equals, and of 5 % more CPU; --for SECONDS does it in pieces",
        help::HONESTY,
        |arguments| program::run_with("honesty", arguments, &[]),
    ),
    (
        "try",
        "run and try on the unsolved chat with all data, to a verdict; --on DATABASE, --budget SECONDS",
        help::TRY,
        whatif::run_try,
    ),
    (
        "schema",
        "the schema engine: comparing, hostile texts, reading servers",
        help::SCHEMA,
        |arguments| schema::run_bench("schema", arguments),
    ),
    (
        "online",
        "schema changes of a table in use: the longest wait of a reader and a writer; --rows N, --server NAME; 1 s is the bound",
        help::ONLINE,
        |arguments| schema::run_bench("online", arguments),
    ),
    (
        "jit",
        "the bundled workloads without and with YJIT and ZJIT; --ruby PATH, --for SECONDS, --filter TEXT; writes its report",
        help::JIT,
        jit::run_bench,
    ),
    (
        "profile",
        "what profiling costs by mode and rate, beside stackprof, and how true its shares are; --brief",
        help::PROFILE,
        |arguments| program::run_with("profile", arguments, &[]),
    ),
    (
        "solutions",
        "scores of the chat with each patch, three runs each, on SQLite and MariaDB; writes its page",
        help::SOLUTIONS,
        solutions::run_bench,
    ),
];

pub(crate) fn task(arguments: &[String]) -> Outcome<()> {
    let Some((name, rest)) = arguments.split_first() else {
        BENCHES
            .iter()
            .for_each(|(name, about, ..)| println!("{name:12} {about}"));
        println!("\n`cargo xtask bench NAME --help` lists the flags of one");
        return Ok(());
    };
    let Some((_, about, flags, bench)) = BENCHES.iter().find(|(known, ..)| known == name) else {
        return Err(format!(
            "no benchmark is called {name:?}; `cargo xtask bench` lists them"
        ));
    };
    match help::asked(("bench", name, about), flags, rest)? {
        Some(page) => print!("{page}"),
        None => bench(rest)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::run::root;

    /// Collects every flag read by name in the benchmarks: `value(arguments, "for", …)` and
    /// `list(…)`.
    fn read(folder: &Path, flags: &mut Vec<String>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                read(&path, flags);
                continue;
            }
            let text = fs::read_to_string(&path).expect("a text");
            for before in ["value(arguments, \"", "list(arguments, \""] {
                let names = text.split(before).skip(1);
                let names = names.filter_map(|rest| rest.split_once('"'));
                flags.extend(names.map(|(name, _)| format!("--{name}")));
            }
        }
    }

    #[test]
    fn every_flag_that_is_read_is_in_some_help() {
        let mut flags = Vec::new();
        read(&root().join("crates/bench/src"), &mut flags);
        assert!(flags.len() > 50, "{flags:?}");
        let of_experiments = [help::BLOG, help::JIT_OF_RAILS, help::THREE_SERVERS];
        let lists = BENCHES.iter().map(|(_, _, flags, _)| *flags);
        let known: Vec<&str> = lists
            .chain(of_experiments)
            .flatten()
            .filter_map(|(flag, _)| flag.split(' ').next())
            .collect();
        let lacking: Vec<&String> = flags
            .iter()
            .filter(|flag| !known.contains(&flag.as_str()))
            .collect();
        assert!(lacking.is_empty(), "{lacking:?}");
    }
}
