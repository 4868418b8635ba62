//! Whole benches on simulated machines whose truth is known: how often equals are called different,
//! and how often a planted difference is found.

use std::time::Duration;

use microbench::bench::{self, Bench, Cell, How, Missing, Progress, Subject};
use microbench::bisect::{End, Search, Step};
use microbench::model::{Contender, Job, Runner, Script, Work};
use microbench::plan::Shape;
use microbench::sample::{Clock, Sample, Trial};
use stats::comparison::Verdict;

/// A simulated machine drawing random numbers; the clock advances by the duration of each process.
struct Machine {
    random: fastrand::Rng,
    now: f64,
    /// What one turn of the second contender takes more, as a share.
    planted: f64,
    /// How fast the host is at present; drifts.
    host: f64,
    /// Contenders whose processes hang.
    hanging: Option<usize>,
    /// What one turn of each contender takes more, instead of `planted`.
    levels: Vec<f64>,
}

/// Spread of a process' speed by memory layout, and by disturbances; as observed on a shared
/// machine.
const LAYOUT: f64 = 0.008;
const NOISE: f64 = 0.015;
/// Spread of the host's speed from one process to the next, and the share retained.
const HOST: f64 = 0.02;
const HOST_STAYS: f64 = 0.8;
/// Share of processes slowed by a third.
const DISTURBED: f64 = 0.03;

impl Machine {
    fn new(seed: u64, planted: f64) -> Machine {
        Machine {
            random: fastrand::Rng::with_seed(seed),
            now: 0.0,
            planted,
            host: 0.0,
            hanging: None,
            levels: Vec::new(),
        }
    }

    fn normal(&mut self) -> f64 {
        let (a, b) = (1.0 - self.random.f64(), self.random.f64());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    /// Seconds per turn of one process, and the cores' pace meanwhile.
    fn turn(&mut self, cell: Cell) -> (f64, f64) {
        let fresh = (1.0 - HOST_STAYS * HOST_STAYS).sqrt() * HOST;
        self.host = HOST_STAYS * self.host + fresh * self.normal();
        let noise = (LAYOUT * LAYOUT + NOISE * NOISE).sqrt() * self.normal();
        let slow = if self.random.f64() < DISTURBED {
            1.3_f64.ln()
        } else {
            0.0
        };
        let planted = match (self.levels.get(cell.contender), cell.contender) {
            (Some(level), _) => *level,
            (None, 1) => self.planted.ln_1p(),
            (None, _) => 0.0,
        };
        let pace = (self.host + slow + 0.01 * self.normal()).exp();
        (1e-6 * (self.host + noise + slow + planted).exp(), pace)
    }
}

impl Subject for Machine {
    fn first(&mut self, cell: Cell) -> Result<Trial, Missing> {
        self.now += 0.3;
        if self.hanging == Some(cell.contender) {
            return Err(Missing::Hung(Duration::from_secs(1)));
        }
        Ok(Trial {
            startup: 0.07,
            turn: self.turn(cell).0,
            turns: 1_000,
            computes: true,
            ..Trial::default()
        })
    }

    fn measure(&mut self, cell: Cell, shape: Shape) -> Result<Sample, Missing> {
        let (turn, pace) = self.turn(cell);
        self.now += 0.07 + turn * (shape.turns * (shape.warm + shape.batches)) as f64;
        Ok(Sample {
            wall: turn * 1.1,
            cpu: turn,
            pace: Some(pace),
            turns: shape.turns * shape.batches,
            ..Sample::default()
        })
    }

    fn elapsed(&self) -> Duration {
        Duration::from_secs_f64(self.now)
    }

    fn show(&mut self, _: Progress) {}
}

fn run(machine: &mut Machine, jobs: usize, contenders: usize, budget: u64) -> Bench {
    run_within(machine, jobs, contenders, budget, 0.01)
}

fn run_within(
    machine: &mut Machine,
    jobs: usize,
    contenders: usize,
    budget: u64,
    margin: f64,
) -> Bench {
    let job = |number: usize| Job {
        name: format!("job {number}"),
        work: Work::Script(Script::default()),
        ruby_min: None,
    };
    let jobs: Vec<Job> = (0..jobs).map(job).collect();
    let contenders: Vec<Contender> = (0..contenders)
        .map(|number| Contender::ruby(&number.to_string(), &["ruby"]))
        .collect();
    let how = How {
        runner: Runner::Ips,
        plan: Duration::from_secs(budget),
        budget: Duration::from_secs(budget),
        margin,
        clock: Clock::Auto,
        seed: 1,
        compares_jobs: true,
        blocks_max: None,
    };
    bench::run(&jobs, &contenders, how, machine)
}

fn claims(bench: &Bench) -> bool {
    let mut pairs = bench.rows.iter().flat_map(|row| &row.pairs);
    pairs.any(|pair| matches!(pair.verdict, Verdict::Lower | Verdict::Higher))
}

/// Checks a false-claim rate of at most 5 % in benches of equals; of 400 benches, 20 are 5 %, and
/// 29 would be beyond chance.
fn check_honest(jobs: usize, contenders: usize, budget: u64) {
    let claimed = (0..400).filter(|seed| {
        claims(&run(
            &mut Machine::new(*seed, 0.0),
            jobs,
            contenders,
            budget,
        ))
    });
    let claimed = claimed.count();
    assert!(
        claimed <= 20,
        "{claimed} of 400 benches of {jobs} jobs by {contenders}"
    );
}

#[test]
fn equals_are_seldom_called_different() {
    check_honest(1, 2, 20);
}

#[test]
fn many_pairs_make_no_more_false_claims() {
    check_honest(1, 4, 40);
}

#[test]
fn many_jobs_make_no_more_false_claims() {
    check_honest(6, 2, 120);
}

#[test]
fn two_percent_are_found_within_a_minute() {
    let benches: Vec<Bench> = (0..100)
        .map(|seed| run(&mut Machine::new(seed, 0.02), 1, 2, 60))
        .collect();
    let found = benches
        .iter()
        .filter(|bench| bench.rows[0].pairs[0].verdict == Verdict::Higher)
        .count();
    let wrong = benches
        .iter()
        .filter(|bench| {
            matches!(
                bench.rows[0].pairs[0].verdict,
                Verdict::Lower | Verdict::Same
            )
        })
        .count();
    assert!(found >= 90 && wrong <= 2, "{found} found, {wrong} wrong");
    assert!(benches.iter().all(|bench| bench.seconds < 62.0));
}

#[test]
fn large_differences_end_the_bench_early() {
    let bench = run(&mut Machine::new(1, 1.0), 1, 2, 60);
    assert_eq!(bench.ending, bench::Ending::Decided);
    assert!(bench.seconds < 40.0, "{}", bench.seconds);
}

#[test]
fn who_hangs_is_one_row_and_the_others_are_compared() {
    let mut machine = Machine::new(1, 0.5);
    machine.hanging = Some(2);
    let bench = run(&mut machine, 1, 3, 30);
    assert!(matches!(
        bench.rows[0].cells[2].missing,
        Some(Missing::Hung(_))
    ));
    assert_eq!(bench.rows[0].pairs[0].verdict, Verdict::Higher);
    assert!(bench.has_failed() && !bench.is_undecided());
}

/// A contender without a rival gets an interval all the same.
#[test]
fn a_single_contender_has_a_figure() {
    let bench = run(&mut Machine::new(1, 0.0), 1, 1, 10);
    let (value, interval) = bench.rows[0].value(0, bench.how).expect("a figure");
    assert!((900_000.0..1_100_000.0).contains(&value), "{value}");
    assert!(interval.is_some_and(|interval| interval.contains(value)));
}

/// Difference from one commit to the next beside the planted change: the location of the code.
const COMMIT: f64 = 0.001;

/// Searches 64 commits for one slower by a given share; returns the end, the truth, and the seconds
/// taken.
fn search(seed: u64, planted: f64) -> (End, usize, f64) {
    let mut random = fastrand::Rng::with_seed(seed ^ 0x5eed);
    let first = random.usize(1..64);
    let levels: Vec<f64> = (0..64)
        .map(|commit| {
            let own = COMMIT * (random.f64() + random.f64() + random.f64() - 1.5) * 2.0;
            let planted = if commit < first { 0.0 } else { planted.ln_1p() };
            own + planted
        })
        .collect();
    let mut search = Search::new(64);
    let mut machine = Machine::new(seed, 0.0);
    let mut seconds = 0.0;
    while let Some(step) = search.next() {
        let commits = search.commits(step);
        machine.levels = commits.iter().map(|commit| levels[*commit]).collect();
        // The budgets of `hakaru bench --git` by default.
        let budget = 10 * commits.len() as u64;
        let times = match step {
            Step::Ends(times) => u64::from(times),
            _ => 1,
        };
        machine.now = 0.0;
        let margin = search.margin().unwrap_or(0.01);
        let bench = run_within(&mut machine, 1, commits.len(), budget * times, margin);
        search
            .take(step, &bench.rows[0].pairs)
            .expect("all have figures");
        seconds += machine.now;
    }
    (search.end(), first, seconds)
}

/// 3 % in one of 64 commits: the right commit in 95 of 100 searches, a wrong one in at most 2, all
/// within 10 minutes.
#[test]
fn the_commit_that_takes_three_percent_more_is_found() {
    let ends: Vec<(End, usize, f64)> = (0..100).map(|seed| search(seed, 0.03)).collect();
    let right = |(end, first, _): &&(End, usize, f64)| matches!(end, End::Found(found, _) if found == first);
    let named = |(end, ..): &&(End, usize, f64)| matches!(end, End::Found(..));
    let found = ends.iter().filter(right).count();
    let wrong = ends.iter().filter(named).count() - found;
    let longest = ends
        .iter()
        .map(|(.., seconds)| *seconds)
        .fold(0.0, f64::max);
    assert!(
        found >= 95 && wrong <= 2 && longest < 600.0,
        "{found} right, {wrong} wrong, {longest} s at most"
    );
}

/// A search over equal commits: naming one means being led astray by noise.
#[test]
fn no_commit_is_blamed_where_none_differs() {
    let named = (0..100).filter(|seed| matches!(search(*seed, 0.0).0, End::Found(..)));
    let named = named.count();
    assert!(named <= 2, "{named} of 100 searches");
}
