//! Benches over time: `--save`, `--record`, `--against` and `hakaru bench log`.

use microbench::past::{self, Against, Kept};
use report::bench::BenchView;
use stats::comparison::Verdict;
use store::{Store, StoredBench};
use words::{Text, text};

use super::resolve::usage;
use crate::cli::BenchArgs;
use crate::exit::{Exit, Failure};
use crate::output::{self, look};
use crate::{context, language, revision};

/// Keeps a bench where `--save` or `--record` asks for it.
pub(super) fn keep(args: &BenchArgs, view: &BenchView) -> Result<(), Failure> {
    if args.over_time.save.is_none() && !args.over_time.record {
        return Ok(());
    }
    let folder = context::current_folder()?;
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
        .map_err(|error| Failure::new(Exit::NotKept, error))?;
    output::notice(match bench.name.as_str() {
        "" => text!("kept; `hakaru bench log` lists it"),
        name => text!("kept as {name}; --against {name} compares with it", name),
    });
    Ok(())
}

/// The bench that `--against` names; the newest of that name.
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

/// Says how each contender does beside the bench that was kept.
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
    output::page(&written);
}

fn said(against: &Against) -> Text {
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

/// A contender's benches in a row, the oldest first.
struct History {
    name: [String; 2],
    all: Vec<(StoredBench, Kept)>,
}

/// The history of every contender: its figures, and where they changed.
pub(super) fn log() -> Result<Exit, Failure> {
    let mut seen: Vec<History> = Vec::new();
    for bench in benches()? {
        for kept in past::read(&bench.document) {
            match seen.iter_mut().find(|one| one.name == kept.name) {
                Some(known) => known.all.push((bench.clone(), kept)),
                None => seen.push(History {
                    name: kept.name.clone(),
                    all: vec![(bench.clone(), kept)],
                }),
            }
        }
    }
    if seen.is_empty() {
        return Err(Failure::new(
            Exit::Failed,
            "no bench was kept in this folder; `hakaru bench … --record` keeps one",
        ));
    }
    let mut page = String::new();
    for one in &seen {
        page += &one.page();
    }
    output::page(&page);
    Ok(Exit::Ok)
}

impl History {
    fn page(&self) -> String {
        let History { name, all } = self;
        let most = all
            .iter()
            .filter_map(|(_, kept)| kept.value)
            .fold(f64::MIN_POSITIVE, f64::max);
        let mut page = format!("{}\n", name.join(", ").trim_start_matches(", "));
        let room = look::page_columns().saturating_sub(60).max(10);
        for (index, (bench, kept)) in all.iter().enumerate() {
            let commit: String = bench.commit.chars().take(9).collect();
            let value = kept.value.map_or_else(
                || "–".to_owned(),
                |value| format!("{value:.4e} {}", kept.unit),
            );
            let bar = "▇".repeat((kept.value.unwrap_or(0.0) / most * room as f64) as usize);
            page += &format!("  {}  {commit:<9}  {value:>16}  {bar}\n", day(bench));
            let before = index
                .checked_sub(1)
                .map(|before| &all[before])
                .filter(|(before, _)| before.machine == bench.machine);
            if let Some((_, before)) = before
                && let [against] =
                    &past::against(std::slice::from_ref(before), std::slice::from_ref(kept))[..]
                && matches!(against.verdict, Verdict::Higher | Verdict::Lower)
            {
                page += &format!("  {}\n", said(against).written_in(language::chosen()));
            }
        }
        page
    }
}

fn benches() -> Result<Vec<StoredBench>, Failure> {
    let folder = context::current_folder()?;
    if !Store::path_in(&folder).exists() {
        return Ok(Vec::new());
    }
    let read = Store::open(&folder).and_then(|store| store.benches());
    read.map_err(|error| Failure::new(Exit::Failed, error))
}

fn day(bench: &StoredBench) -> String {
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
