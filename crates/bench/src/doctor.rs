//! Costs of faults by `hakaru doctor`, beside `hakaru compare` measurements of the same faults,
//! planted for real.
//!
//! Side A of each comparison has the fault, side B has not; a request of the app (`doctor/app.rb`)
//! does one kind of work so many times. What doctor says of one event, times the events of a
//! request, is what compare should find. `cargo xtask bench doctor` starts the servers; what
//! changes the machine (control groups, loop devices, swap) needs root and is taken back.

mod app;
mod machine;
mod plants;
mod tuner;

use std::error::Error;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::options::{list, value};
use app::App;
use plants::{Events, Plant, Side};

/// How far doctor's figure may be from compare's.
const NEAR: f64 = 0.2;
/// Share of a request without its pauses which comparisons of so few blocks do not show.
const UNSEEN: f64 = 0.03;
/// Rounds of a row: the machine's pace differs from minute to minute, so doctor and compare take
/// turns, and the median of the rounds counts. Six are the fewest with an interval of 95 %.
const ROUNDS_MIN: usize = 6;
/// No more rounds, however wide the interval.
const ROUNDS_MAX: usize = 18;
/// Rounds end where the interval of the median is so narrow, upper end by lower end.
const NARROW: f64 = 1.3;

/// A measurement of a comparison: with requests of 20 ms, one more or less is 1 %.
const SEGMENT: &str = "2s";

/// Longest wait for the end of an app's sessions on a server.
const SESSIONS_END: Duration = Duration::from_secs(20);

/// Name of the row of MySQLTuner.
const TUNER: &str = "mysqltuner";

/// Where everything is.
pub(crate) struct Bench {
    hakaru: PathBuf,
    folder: tempfile::TempDir,
    /// Blocks of four measurements in each round.
    blocks: u32,
}

/// One line of the result.
struct Row {
    name: &'static str,
    finding: &'static str,
    rounds: Vec<Round>,
    note: String,
}

/// What one round says, in milliseconds a request or as a factor.
struct Round {
    stated: f64,
    measured: f64,
    /// What of a request without the fault is not the app's pauses, in the unit of both.
    whole: f64,
    /// Milliseconds of a request on both sides.
    request: (f64, f64),
}

/// Runs the benchmark; returns whether each fault was found and each stated cost is near the
/// measured one.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let hakaru = std::env::var_os("HAKARU_BENCH_PROGRAM")
        .ok_or("HAKARU_BENCH_PROGRAM is not set; run it as `cargo xtask bench doctor`")?;
    let bench = Bench {
        hakaru: hakaru.into(),
        folder: tempfile::tempdir()?,
        blocks: value(arguments, "blocks", 1)?,
    };
    let wanted = wanted(arguments)?;
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|one| one == name);
    let mut held = true;
    for (name, plant) in plants::ALL.into_iter().filter(|(name, _)| is_wanted(name)) {
        let plant = match plant(&bench) {
            Ok(plant) => plant,
            Err(why) => {
                println!("{name:16} could not be made here: {why}");
                continue;
            }
        };
        // A fault that stands and is not found, or not measured, is no row that held.
        held &= bench.row(name, &plant).map_or_else(
            |why| {
                println!("{name:16} failed: {why}");
                false
            },
            |row| row.say(),
        );
    }
    if is_wanted(TUNER) {
        held &= bench.tuner()?;
    }
    println!();
    for (name, why) in machine::impossible() {
        println!("{name:16} could not be made here: {why}");
    }
    Ok(held)
}

/// Returns the rows named by `--only`, all without the option.
fn wanted(arguments: &[String]) -> Result<Vec<String>, Box<dyn Error>> {
    let mut wanted: Vec<String> = list(arguments, "only", "")?;
    wanted.retain(|name| !name.is_empty());
    let names: Vec<&str> = plants::ALL.iter().map(|(name, _)| *name).collect();
    let is_known = |name: &str| name == TUNER || names.contains(&name);
    match wanted.iter().find(|name| !is_known(name)) {
        Some(name) => Err(format!(
            "--only {name}: no such row; there are {}, {TUNER}",
            names.join(", ")
        )
        .into()),
        None => Ok(wanted),
    }
}

impl Round {
    /// How many times the measured cost is stated.
    fn ratio(&self) -> f64 {
        self.stated / self.measured
    }

    /// By how much more is stated, as a share of a request without the fault and the pauses. The
    /// sign is kept: what differs by noise alone is nothing in the median.
    fn apart(&self) -> f64 {
        (self.stated - self.measured) / self.whole
    }
}

impl Row {
    /// The median's interval of 95 %, of how many times the measured cost is stated.
    fn interval(&self) -> (f64, f64) {
        let mut ratios: Vec<f64> = self.rounds.iter().map(Round::ratio).collect();
        ratios.sort_by(f64::total_cmp);
        stats::quantile_interval(&ratios, 0.5, 0.95).unwrap_or((0.0, f64::INFINITY))
    }

    fn needs_more(&self) -> bool {
        let (low, high) = self.interval();
        let is_wide = low <= 0.0 || high > NARROW * low;
        self.rounds.len() < ROUNDS_MIN || is_wide && self.rounds.len() < ROUNDS_MAX
    }

    /// Prints the row; returns whether what is stated is near what is measured.
    fn say(&self) -> bool {
        let Row {
            name,
            finding,
            rounds,
            note,
        } = self;
        if rounds.is_empty() {
            println!("{name:16} {finding:28} found; no cost is stated: {note}");
            return true;
        }
        let median = |of: &dyn Fn(&Round) -> f64| middle(rounds.iter().map(of).collect());
        let ratio = median(&Round::ratio);
        let apart = median(&Round::apart).abs();
        let (low, high) = self.interval();
        let is_small = apart <= UNSEEN;
        let near = match is_small {
            true => format!(
                ", apart by {:.1} % of a request, which is not to be told from nothing",
                apart * 100.0
            ),
            false => String::new(),
        };
        println!(
            "{name:16} {finding:28} doctor {:.3}, compare {:.3}: {ratio:.2} times ({low:.2} to {high:.2}, {} rounds){near}; A {:.3} ms, B {:.3} ms a request{note}",
            median(&|round| round.stated),
            median(&|round| round.measured),
            rounds.len(),
            median(&|round| round.request.0),
            median(&|round| round.request.1),
        );
        is_small || (ratio - 1.0).abs() <= NEAR
    }
}

impl Bench {
    fn row(&self, name: &'static str, plant: &Plant) -> Result<Row, Box<dyn Error>> {
        let found = self.doctor(&plant.a)?;
        finding(&found, plant.finding)
            .ok_or_else(|| format!("{} was not found: {}", plant.finding, found["findings"]))?;
        let mut row = Row {
            name,
            finding: plant.finding,
            rounds: Vec::new(),
            note: plant.note.to_owned(),
        };
        if matches!(plant.events, Events::FoundOnly) {
            return Ok(row);
        }
        let mut before = self.stated(plant, &found)?;
        while row.needs_more() {
            let request = self.compare(plant)?;
            let after = self.stated(plant, &self.doctor(&plant.a)?)?;
            let Some((first, last)) = before.zip(after) else {
                return Err("no cost is stated".into());
            };
            let (measured, whole) = match plant.events {
                Events::Factor | Events::FactorOfBoth => (request.0 / request.1, 1.0),
                _ => (request.0 - request.1, request.1 - plant.pauses_ms()),
            };
            row.rounds.push(Round {
                stated: (first * last).sqrt(),
                measured,
                whole,
                request,
            });
            before = after;
        }
        Ok(row)
    }

    /// MySQLTuner and doctor on the planted MariaDB.
    fn tuner(&self) -> Result<bool, Box<dyn Error>> {
        let side = plants::planted_mariadb()?;
        println!("mysqltuner on the planted MariaDB:");
        tuner::beside(&plants::server("MARIADB_PLANTED")?, &self.doctor(&side)?)
    }

    /// What a document predicts for the plant: milliseconds a request, or a factor.
    fn stated(&self, plant: &Plant, document: &Value) -> Result<Option<f64>, Box<dyn Error>> {
        let Some(found) = finding(document, plant.finding) else {
            return Ok(None);
        };
        let each = found["cost"]["each_ns"].as_f64();
        Ok(match &plant.events {
            Events::FoundOnly => None,
            Events::Each(events) => each.map(|ns| events * ns / 1e6),
            Events::Counter(counter) => {
                let events = self.growth(plant, counter)?;
                each.map(|ns| events * ns / 1e6)
            }
            // Where others use the cores, side B does not have them either.
            Events::Factor => {
                let free = 1.0 - self.lost(&Side::default())?;
                factor(found).map(|factor| (factor * free).max(1.0))
            }
            Events::FactorOfBoth => {
                let a = document["snapshot"]["measures"]["noise"]["lost_share"].as_f64();
                let b = self.lost(&plant.b)?;
                a.map(|a| (1.0 - b) / (1.0 - a))
            }
        })
    }

    /// Returns the share of a busy loop's time lost to other programs on a side.
    fn lost(&self, side: &Side) -> Result<f64, Box<dyn Error>> {
        let mut side = side.clone();
        side.doctor = vec!["--only".to_owned(), "cpu".to_owned()];
        let document = self.doctor(&side)?;
        let lost = document["snapshot"]["measures"]["noise"]["lost_share"].as_f64();
        lost.ok_or_else(|| "no noise was measured".into())
    }

    /// What doctor finds on a side.
    fn doctor(&self, side: &Side) -> Result<Value, Box<dyn Error>> {
        let _load = side
            .busy
            .then(|| machine::Busy::start(machine::BUSY))
            .transpose()?;
        let mut command = Command::new("sh");
        let line = format!("{} exec {} \"$0\" \"$@\"", side.before, side.through);
        command
            .args(["-c", &line])
            .arg(&self.hakaru)
            .args(["doctor", "--json"]);
        command
            .args(&side.doctor)
            .current_dir(self.folder.path())
            .env_remove("DATABASE_URL");
        let output = command.output()?;
        serde_json::from_slice(&output.stdout).map_err(|error| {
            format!(
                "doctor: {error}: {}",
                String::from_utf8_lossy(&output.stderr)
            )
            .into()
        })
    }

    /// Milliseconds of a request on both sides, by compare.
    fn compare(&self, plant: &Plant) -> Result<(f64, f64), Box<dyn Error>> {
        let app = App::new(plant)?;
        let mut command = Command::new(&self.hakaru);
        command.args([
            "compare",
            "--json",
            "-c",
            "1",
            "--url",
            &app.url(),
            "--segment",
            SEGMENT,
            "--warmup",
            "300ms",
        ]);
        command.args(["--blocks", &self.blocks.to_string()]);
        command
            .args([app.command(&plant.a), app.command(&plant.b)])
            .current_dir(self.folder.path());
        let output = command.output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        let document: Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("compare: {error}: {said}"))?;
        let rows = document["rows"]
            .as_array()
            .ok_or_else(|| format!("no rows: {said}"))?;
        let rate = rows
            .iter()
            .find(|row| row["metric"] == "rps")
            .ok_or_else(|| format!("no rps: {rows:?}"))?;
        let ms = |side: &str| {
            rate[side]
                .as_f64()
                .map(|rate| 1000.0 / rate)
                .ok_or("no rate")
        };
        Ok((ms("a")?, ms("b")?))
    }

    /// How much a counter of the server grows with a request.
    fn growth(&self, plant: &Plant, counter: &str) -> Result<f64, Box<dyn Error>> {
        const REQUESTS: u32 = 300;
        let before = self.count(plant, counter)?;
        let app = App::new(plant)?;
        let running = app.start(&plant.a)?;
        running.requests(REQUESTS)?;
        drop(running);
        Ok((self.count(plant, counter)? - before) / f64::from(REQUESTS))
    }

    /// Reads a counter of the server. A session of PostgreSQL hands over what it counted each
    /// second or later, and the rest at its end: doctor's own has to be the only one.
    fn count(&self, plant: &Plant, counter: &str) -> Result<f64, Box<dyn Error>> {
        let mut side = plant.a.clone();
        // Lookups that doctor measures with would be counted too.
        side.doctor.extend(["--measure", "no"].map(str::to_owned));
        let deadline = Instant::now() + SESSIONS_END;
        loop {
            let document = self.doctor(&side)?;
            let values = &document["snapshot"]["databases"][0]["values"];
            let number = |name: &str| values[name].as_str()?.parse::<f64>().ok();
            if number("(connections)").is_none_or(|sessions| sessions <= 1.0) {
                return number(counter).ok_or_else(|| format!("no counter {counter}").into());
            }
            if Instant::now() > deadline {
                return Err("a session on the server does not end".into());
            }
        }
    }
}

/// The median; of an even number the mean of both in the middle, since the lower one alone would
/// state each cost too low.
fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let count = values.len();
    (values[(count - 1) / 2] + values[count / 2]) / 2.0
}

fn finding<'a>(document: &'a Value, id: &str) -> Option<&'a Value> {
    document["findings"]
        .as_array()?
        .iter()
        .find(|finding| finding["id"] == id)
}

/// How many times as long something takes by what a finding says.
fn factor(finding: &Value) -> Option<f64> {
    let share = finding["cost"]["share"]
        .as_f64()
        .map(|share| 1.0 / (1.0 - share));
    finding["cost"]["factor"]["median"].as_f64().or(share)
}

#[cfg(test)]
mod tests {
    use super::wanted;

    #[test]
    fn rows_are_chosen_by_name_and_an_unknown_one_is_refused() {
        let of = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            wanted(&words).map_err(|why| why.to_string())
        };
        assert_eq!(of("--blocks 3"), Ok(vec![]));
        assert_eq!(
            of("--only pool,mysqltuner"),
            Ok(vec!["pool".to_owned(), "mysqltuner".to_owned()])
        );
        let refused = of("--only poll").expect_err("no such row");
        assert!(
            refused.contains("poll") && refused.contains("journal"),
            "{refused}"
        );
    }
}
