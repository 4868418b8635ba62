//! `hakaru logs` beside alp and pt-query-digest: the same figures of the same logs, time and
//! memory.
//!
//! Logs are written here, always the same: an access log of a million lines in LTSV, and a slow log
//! as MySQL writes it. Programs run in turn, and the ratio of each round counts.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use crate::pairs::median;
use crate::{machine, options};

const ROUNDS: usize = 5;
const ACCESS_LINES: u64 = 1_000_000;
const SLOW_ENTRIES: u64 = 100_000;
/// alp keeps at most so many paths.
const PATHS: u64 = 4_000;
const SECONDS_MAX: f64 = 1.0;
const MIB_MAX: f64 = 64.0;
/// Precision of alp's output, which has milliseconds; no request takes 0 ms, since alp takes 0 for
/// "none" in searching the least.
const ALP_DIGITS: f64 = 0.000_5;

pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let rounds = options::value(arguments, "rounds", ROUNDS)?;
    let folder = tempfile::tempdir()?;
    let (access, slow) = (
        folder.path().join("access.log"),
        folder.path().join("slow.log"),
    );
    write_access(&access)?;
    write_slow(&slow)?;
    let program = PathBuf::from(std::env::var("HAKARU_BENCH_PROGRAM")?);
    let alp = std::env::var("HAKARU_BENCH_ALP")?;
    let digest = std::env::var("HAKARU_BENCH_PT_QUERY_DIGEST")?;
    println!("{} · {}", machine::date(), machine::line(&[]));
    let same_routes = compare_with_alp(&program, &alp, &access)?;
    let same_statements = compare_with_digest(&program, &digest, &slow)?;
    let alp_words = |command: &mut Command| {
        command.args(["ltsv", "--file"]).arg(&access).args([
            "--limit",
            "100000",
            "--percentiles",
            "50,90,95,99",
        ]);
    };
    let seconds = race(
        "1,000,000 lines of access log, alp",
        &program,
        &access,
        &alp,
        rounds,
        alp_words,
    )?;
    let digest_words = |command: &mut Command| {
        command.args(["--limit", "100%"]).arg(&slow);
    };
    race(
        "100,000 entries of slow log, pt-query-digest",
        &program,
        &slow,
        &digest,
        rounds,
        digest_words,
    )?;
    let mib = peak_mib(&program, &access)?;
    let is_in_bounds = seconds <= SECONDS_MAX && mib <= MIB_MAX;
    println!(
        "hakaru, 1,000,000 lines: {seconds:.2} s (at most {SECONDS_MAX}), {mib:.0} MiB (at most {MIB_MAX})"
    );
    Ok(same_routes && same_statements && is_in_bounds)
}

/// A small generator (xorshift), so the logs are always the same.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

fn write_access(path: &Path) -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::new(File::create(path)?);
    let mut random = Random(7);
    for line in 0..ACCESS_LINES {
        let (id, ms) = (random.below(PATHS), 1 + random.below(899));
        let status = [200, 200, 200, 304, 404, 500][random.below(6) as usize];
        writeln!(
            out,
            "time:2026-11-25T01:02:03+09:00\thost:127.0.0.1\tmethod:GET\turi:/api/chairs/{id}?page={line}\tstatus:{status}\t\
             size:{}\treqtime:0.{ms:03}\tapptime:-\tua:bench\tvhost:localhost",
            random.below(9_000)
        )?;
    }
    Ok(out.flush()?)
}

fn write_slow(path: &Path) -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::new(File::create(path)?);
    let mut random = Random(9);
    for _ in 0..SLOW_ENTRIES {
        // pt-query-digest takes digits out of names too.
        let table = char::from(b'a' + random.below(26) as u8);
        let id = random.below(1_000_000);
        writeln!(
            out,
            "# Time: 2026-11-25T01:02:03.456789Z\n# User@Host: app[app] @ localhost []  Id:     8\n\
             # Query_time: 0.{:06}  Lock_time: 0.000001 Rows_sent: {}  Rows_examined: {}\nSET timestamp=1732496523;\n\
             SELECT * FROM items_{table} WHERE id = {id};",
            random.below(900_000),
            random.below(10),
            random.below(10_000),
        )?;
    }
    Ok(out.flush()?)
}

fn hakaru_json(program: &Path, log: &Path) -> Result<Value, Box<dyn Error>> {
    let output = Command::new(program)
        .arg("logs")
        .arg(log)
        .args(["--paths", "--json"])
        .output()?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Whether both say the same of each path.
fn compare_with_alp(program: &Path, alp: &str, log: &Path) -> Result<bool, Box<dyn Error>> {
    let columns = "count,uri,min,max,sum,avg,p50,p90,p95,p99,stddev";
    let mut command = Command::new(alp);
    command.args([
        "ltsv",
        "--format",
        "tsv",
        "--limit",
        "100000",
        "--percentiles",
        "50,90,95,99",
        "-o",
        columns,
    ]);
    let output = command.arg("--file").arg(log).output()?;
    let text = String::from_utf8(output.stdout)?;
    let theirs: BTreeMap<&str, Vec<f64>> = text.lines().skip(1).filter_map(alp_row).collect();
    let ours = hakaru_json(program, log)?;
    let routes = ours["routes"].as_array().ok_or("no routes")?;
    let keys = [
        "min_s", "max_s", "sum_s", "mean_s", "p50_s", "p90_s", "p95_s", "p99_s", "stddev_s",
    ];
    let is_same = |row: &Value| {
        let path = row["route"]
            .as_str()
            .and_then(|route| route.strip_prefix("GET "));
        let Some([count, figures @ ..]) = path.and_then(|path| theirs.get(path)).map(Vec::as_slice)
        else {
            return false;
        };
        let figures = keys.iter().zip(figures).all(|(key, theirs)| {
            row["time"][key]
                .as_f64()
                .is_some_and(|ours| (ours - theirs).abs() <= ALP_DIGITS + 1e-9)
        });
        figures && row["requests"].as_f64() == Some(*count)
    };
    let same = routes.iter().filter(|row| is_same(row)).count();
    println!(
        "alp: {same} of {} paths have the same count, min, max, sum, mean, p50, p90, p95, p99, deviation",
        theirs.len()
    );
    Ok(same == theirs.len() && same == routes.len() && same > 0)
}

/// Path, and the figures in the order of the columns.
fn alp_row(line: &str) -> Option<(&str, Vec<f64>)> {
    let mut cells = line.split('\t');
    let (count, path) = (cells.next()?, cells.next()?);
    let figures = std::iter::once(count)
        .chain(cells)
        .map(str::parse)
        .collect::<Result<_, _>>();
    Some((path, figures.ok()?))
}

/// Whether both count the same executions with the same time in all.
fn compare_with_digest(program: &Path, digest: &str, log: &Path) -> Result<bool, Box<dyn Error>> {
    let output = Command::new(digest)
        .args(["--output", "json", "--limit", "100%"])
        .arg(log)
        .output()?;
    let theirs: Value = serde_json::from_slice(&output.stdout)?;
    let classes = theirs["classes"].as_array().ok_or("no classes")?;
    let mut theirs: Vec<(u64, f64)> = classes.iter().filter_map(class).collect();
    let ours = hakaru_json(program, log)?;
    let statements = ours["statements"].as_array().ok_or("no statements")?;
    let mut ours: Vec<(u64, f64)> = statements
        .iter()
        .filter_map(|row| {
            Some((
                row["time"]["count"].as_u64()?,
                row["time"]["sum_s"].as_f64()?,
            ))
        })
        .collect();
    for classes in [&mut theirs, &mut ours] {
        classes.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    }
    let is_same = |(ours, theirs): &(&(u64, f64), &(u64, f64))| {
        ours.0 == theirs.0 && (ours.1 - theirs.1).abs() < 1e-4
    };
    let same = ours.iter().zip(&theirs).filter(is_same).count();
    println!(
        "pt-query-digest: {same} of {} statements have the same count and time",
        theirs.len()
    );
    Ok(same == theirs.len() && same == ours.len() && same > 0)
}

fn class(class: &Value) -> Option<(u64, f64)> {
    let sum: f64 = class["metrics"]["Query_time"]["sum"]
        .as_str()?
        .parse()
        .ok()?;
    Some((class["query_count"].as_u64()?, sum))
}

/// Prints the speed ratio, by the median of the rounds; returns the program's median seconds.
fn race(
    name: &str,
    program: &Path,
    log: &Path,
    peer: &str,
    rounds: usize,
    words: impl Fn(&mut Command),
) -> Result<f64, Box<dyn Error>> {
    let (mut ours, mut ratios) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let seconds = timed(Command::new(program).arg("logs").arg(log))?;
        let mut command = Command::new(peer);
        words(&mut command);
        ratios.push(timed(&mut command)? / seconds);
        ours.push(seconds);
    }
    let ratio = median(&ratios).ok_or("no round")?;
    println!("{name}: {ratio:.1} × its speed, the median of {rounds} rounds");
    median(&ours).ok_or_else(|| "no round".into())
}

fn timed(command: &mut Command) -> Result<f64, Box<dyn Error>> {
    let begin = Instant::now();
    let status = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    match status.success() {
        true => Ok(begin.elapsed().as_secs_f64()),
        false => Err(format!("{command:?} ended with {status}").into()),
    }
}

/// Peak resident memory of a run.
fn peak_mib(program: &Path, log: &Path) -> Result<f64, Box<dyn Error>> {
    let script = "\"$0\" logs \"$1\" > /dev/null & wait4=$!; peak=0; \
        while kill -0 $wait4 2> /dev/null; do now=$(awk '/VmHWM/ { print $2 }' /proc/$wait4/status 2> /dev/null); \
        [ \"${now:-0}\" -gt \"$peak\" ] && peak=$now; done; echo $peak";
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(program)
        .arg(log)
        .output()?;
    let kib: f64 = String::from_utf8(output.stdout)?.trim().parse()?;
    Ok(kib / 1024.0)
}
