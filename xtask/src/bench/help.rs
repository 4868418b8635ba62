//! The flags of the benchmarks, which `--help` prints instead of starting what takes an hour.

use std::fmt::Write as _;

use crate::run::Outcome;

/// A flag as typed, with value and default where present, and a description.
pub(crate) type Flag = (&'static str, &'static str);

/// Flags of a benchmark measuring in steps.
pub(crate) const STEPS: [Flag; 2] = [
    (
        "--for SECONDS",
        "ends before a step that would take longer; the same command goes on",
    ),
    ("--fresh yes", "forgets the steps that were kept"),
];

pub(super) const ADVICE: &[Flag] = &[
    ("--app NAME", "one app alone"),
    (
        "--what claims|truth|again|all",
        "what is measured (all); again: claims from the recordings that are kept",
    ),
    ("--as LABEL", "under which the claims are kept (now)"),
    (
        "--hakaru PROGRAM",
        "whose claims they are, in place of this tree's",
    ),
    ("--seconds N", "of load (20)"),
    (
        "--into FOLDER",
        "of the page and the figures (benchmarks/advice)",
    ),
    STEPS[0],
    STEPS[1],
];
pub(super) const AGENT: &[Flag] = &[
    ("--brief", "a short look, which claims nothing"),
    ("--boots N", "boots of each case"),
    ("--case TEXT", "cases whose name holds it"),
    ("--count", "counts instructions instead"),
    ("--raw", "prints each boot's figures too"),
];
pub(super) const CODE: &[Flag] = &[
    ("--what equal|planted|commands|bisect|all", "one part (all)"),
    ("--equal N", "benches of equal code (200)"),
    ("--equal-budget SECONDS", "of each (6)"),
    ("--planted N", "benches of 2 % more (10)"),
    ("--planted-budget SECONDS", "of each (60)"),
    ("--commands N", "pairs of commands (20)"),
    ("--command-budget SECONDS", "of each by each tool (20)"),
    ("--bisects N", "made repositories that are searched (5)"),
    ("--bisect-commits N", "of each (64)"),
    ("--bisect-percent N", "planted in one of them (3)"),
    (
        "--bisect-budget 30s",
        "of a search's step (the program's own)",
    ),
    (
        "--ips FOLDER",
        "lib of benchmark-ips (Debian's ruby-benchmark-ips)",
    ),
    ("--driver FOLDER", "the gem benchmark_driver, unpacked"),
    STEPS[0],
    STEPS[1],
];
pub(super) const DOCTOR: &[Flag] = &[
    ("--only NAME[,NAME]", "rows"),
    (
        "--blocks N",
        "of each comparison (1), six of which are a row",
    ),
];
pub(super) const FLOWS: &[Flag] = &[
    ("--database sqlite|mariadb", "of the chat (sqlite)"),
    ("--seconds N", "of load (20)"),
];
pub(super) const LOAD: &[Flag] = &[
    ("--brief", "a short look, which claims nothing"),
    ("--part NAME", "one part alone"),
    ("--connections N", "one number of connections alone"),
    ("--rounds N", "in which the tools take turns (15)"),
];
pub(super) const LOGS: &[Flag] = &[("--rounds N", "in which the programs take turns")];
pub(super) const WHATIF: &[Flag] = &[
    (
        "--app NAME[,NAME]",
        "apps (io,cpu,mixed,lock,native,pauses,chat)",
    ),
    ("--threads N[,N]", "of each worker (1,2,3,5,8,16)"),
    ("--workers N[,N]", "workers (1,2)"),
    ("--seconds N", "of load (10)"),
    ("--warmup N", "seconds before (2)"),
    (
        "--again yes",
        "measures all twice, which tells the host's own error",
    ),
    STEPS[0],
    STEPS[1],
];
pub(super) const TUNE: &[Flag] = &[
    ("--app NAME[,NAME]", "apps (io,cpu,mixed)"),
    ("--threads-max N", "of the grid (16)"),
    ("--seconds N", "of load (20)"),
    ("--warmup N", "seconds before (3)"),
    ("--blocks N", "of each comparison"),
    STEPS[0],
    STEPS[1],
];
pub(super) const HONESTY: &[Flag] = &[
    ("--of-each N", "comparisons of each kind (10)"),
    ("--budget SECONDS", "of those with 5 % planted (300)"),
    ("--equal-budget SECONDS", "of those of equals (180)"),
    STEPS[0],
    STEPS[1],
];
pub(super) const TRY: &[Flag] = &[
    ("--on NAME[,NAME]", "databases (sqlite,mariadb)"),
    ("--budget SECONDS", "of each comparison (300)"),
    STEPS[0],
    STEPS[1],
];
pub(super) const SCHEMA: &[Flag] = &[("--one NAME", "one case alone")];
pub(super) const ONLINE: &[Flag] = &[
    ("--rows N", "of the table (1000000)"),
    ("--server NAME", "one server alone"),
];
pub(super) const JIT: &[Flag] = &[
    (
        "--ruby PATH[,PATH]",
        "Rubies (Debian's 3.3 and 3.4, built with YJIT, and those of the archives)",
    ),
    (
        "--archives FOLDER",
        "archives of further Rubies, as for `cargo xtask rubies`",
    ),
    ("--budget SECONDS", "of a workload on a Ruby (45)"),
    ("--filter TEXT", "of the workloads' names"),
    STEPS[0],
    STEPS[1],
];
pub(super) const PROFILE: &[Flag] = &[
    ("--brief", "a short look, which claims nothing"),
    ("--rounds N", "of each case"),
    ("--only TEXT", "cases whose name holds it"),
];
pub(super) const SOLUTIONS: &[Flag] = &[
    ("--databases NAME[,NAME]", "databases (sqlite,mariadb)"),
    ("--from N", "first patch; 0 is the app as it is (0)"),
    ("--to N", "last patch"),
    ("--runs N", "of each (3)"),
    ("--seconds N", "of load (6)"),
    ("--warmup N", "seconds before (2)"),
    (
        "--into FOLDER",
        "of the page and the scores (benchmarks/solutions)",
    ),
];
pub(crate) const BLOG: &[Flag] = &[("--seconds N", "of load (8)"), STEPS[0], STEPS[1]];
pub(crate) const JIT_OF_RAILS: &[Flag] = &[
    (
        "--flag WORD",
        "that switches the compiler on (the best there is)",
    ),
    ("--budget SECONDS", "of the comparison (300)"),
    STEPS[0],
    STEPS[1],
];
pub(crate) const THREE_SERVERS: &[Flag] = &[
    ("--kinds NAME[,NAME]", "of work (io,cpu,mixed)"),
    ("--connections N[,N]", "connections (1,10,20,50,100,200)"),
    ("--seconds N", "of load (4)"),
    ("--warmup N", "seconds before (1)"),
    ("--into FOLDER", "of the figures"),
];

/// Returns the help page of one benchmark, where requested in the arguments.
///
/// # Errors
/// A sentence when a flag is none of its own: a misspelt one would measure something else for an
/// hour.
pub(crate) fn asked(
    (task, name, about): (&str, &str, &str),
    flags: &[Flag],
    arguments: &[String],
) -> Outcome<Option<String>> {
    if arguments
        .iter()
        .any(|word| word == "--help" || word == "-h")
    {
        return Ok(Some(page((task, name, about), flags)));
    }
    let unknown = arguments.iter().find(|word| {
        let is_known = || flags.iter().any(|(flag, _)| first(flag) == word.as_str());
        word.starts_with("--") && !is_known()
    });
    unknown.map_or(Ok(None), |word| {
        Err(format!(
            "{name} has no flag {word}; `cargo xtask {task} {name} --help` lists them"
        ))
    })
}

fn first(flag: &str) -> &str {
    flag.split(' ').next().unwrap_or(flag)
}

fn page((task, name, about): (&str, &str, &str), flags: &[Flag]) -> String {
    let mut page = format!("cargo xtask {task} {name}: {about}\n\n");
    let width = flags.iter().map(|(flag, _)| flag.len()).max().unwrap_or(0);
    for (flag, what) in flags {
        let _ = writeln!(page, "  {flag:width$}  {what}");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAGS: &[Flag] = &[("--rounds N", "how often"), ("--brief", "short")];

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn help_is_printed_and_nothing_started() {
        let name = ("bench", "x", "measures x");
        for line in ["--help", "-h", "--rounds 3 --help", "--wrong --help"] {
            let page = asked(name, FLAGS, &words(line)).expect("help");
            let page = page.expect("a page");
            assert!(
                page.starts_with("cargo xtask bench x: measures x\n"),
                "{page}"
            );
            assert!(page.contains("  --brief     short\n"), "{page}");
        }
        assert_eq!(asked(name, FLAGS, &words("--rounds 3 --brief")), Ok(None));
        let error = asked(name, FLAGS, &words("--round 3")).expect_err("unknown");
        assert!(error.contains("no flag --round;"), "{error}");
    }
}
