//! Benches over time: `--save`, `--record`, `--against` and `hakaru bench log`.

use microbench::past::{self, Against};
use report::bench::BenchView;
use stats::comparison::Verdict;
use store::{Store, StoredBench};
use words::{Text, text};

use super::resolve::usage;
use crate::flags::BenchArgs;
use console::{language, process};
use ending::{Cause, Failure};
use store::revision;

/// Stores a bench, where demanded by `--save` or `--record`.
pub(super) fn keep(args: &BenchArgs, view: &BenchView) -> Result<(), Failure> {
    if args.over_time.save.is_none() && !args.over_time.record {
        return Ok(());
    }
    let folder = process::current_folder()?;
    let revision = revision::of(&folder);
    let bench = StoredBench {
        started_at_unix_ms: view.started_at_unix_ms,
        name: args.over_time.save.clone().unwrap_or_default(),
        commit: revision.commit,
        dirty: revision.dirty,
        machine: machine(),
        document: report::bench::json(view),
    };
    Store::open(&folder)
        .and_then(|store| store.put_bench(&bench))
        .map_err(|error| Failure::new(Cause::NotKept, error))?;
    console::notice(match bench.name.as_str() {
        "" => text!("kept; `hakaru bench log` lists it"),
        name => text!("kept as {name}; --against {name} compares with it", name),
    });
    Ok(())
}

/// Returns the bench named by `--against`; the newest of the name.
pub(super) fn named(args: &BenchArgs) -> Result<Option<StoredBench>, Failure> {
    let Some(name) = &args.over_time.against else {
        return Ok(None);
    };
    let all = benches()?;
    let known: Vec<&str> = all
        .iter()
        .map(|one| one.name.as_str())
        .filter(|name| !name.is_empty())
        .collect();
    let known = known.join(", ");
    let found = all.iter().rfind(|one| one.name == *name).cloned();
    found.map(Some).ok_or_else(|| {
        usage(format!(
            "no bench was kept as {name} in this folder ({}); --save {name} keeps one",
            if known.is_empty() { "none was" } else { &known }
        ))
    })
}

/// Compares each contender with the stored bench.
pub(super) fn compare(then: &StoredBench, view: &BenchView) {
    let head = text!(
        "beside {name} of {day}:",
        name = then.name.clone(),
        day = day(then)
    );
    let mut lines = vec![head];
    if then.machine == machine() {
        let now = past::read(&report::bench::json(view));
        let all = past::against(&past::read(&then.document), &now);
        lines.extend(all.iter().map(said));
    } else {
        lines.push(text!(
            "  it was made on another machine: {machine}; nothing is claimed",
            machine = then.machine.clone()
        ));
    }
    let written: String = lines
        .iter()
        .map(|line| line.written_in(language::chosen()) + "\n")
        .collect();
    console::page(&written);
}

pub(super) fn said(against: &Against) -> Text {
    let [row, contender] = &against.name;
    let name = if row.is_empty() {
        contender.clone()
    } else {
        format!("{row}, {contender}")
    };
    let ratio = if against.ratio >= 1.0 {
        against.ratio
    } else {
        1.0 / against.ratio
    };
    let ratio = format!("{ratio:.2}");
    if let Some(pace) = against.pace {
        let pace = format!("{pace:.2}");
        return text!(
            "  {name}: nothing is claimed: the same work takes {pace} times as long on the cores as then",
            name,
            pace
        );
    }
    match against.verdict {
        Verdict::Higher => text!("  {name}: {ratio}x better", name, ratio),
        Verdict::Lower => text!("  {name}: {ratio}x worse", name, ratio),
        Verdict::Same => text!(
            "  {name}: the same within 3 %, which machines drift by",
            name
        ),
        Verdict::Unclear => text!("  {name}: undecided ({ratio}x)", name, ratio),
    }
}

pub(super) fn benches() -> Result<Vec<StoredBench>, Failure> {
    let folder = process::current_folder()?;
    if !Store::path_in(&folder).exists() {
        return Ok(Vec::new());
    }
    let read = Store::open(&folder).and_then(|store| store.benches());
    read.map_err(|error| Failure::new(Cause::Failed, error))
}

pub(super) fn day(bench: &StoredBench) -> String {
    report::journal::minute_of(bench.started_at_unix_ms)
}

/// The processor's model and the host's name.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown processor", |(_, model)| model.trim());
    format!("{model}, {}", read("/proc/sys/kernel/hostname").trim())
}
