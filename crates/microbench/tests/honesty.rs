//! Whole benches on simulated machines whose truth is known: how often equals are called different,
//! and how often a planted difference is found.

use std::time::Duration;

use microbench::bench::{self, Bench, Cell, How, Missing, Progress, Subject};
use microbench::model::{Contender, Job, Runner, Script, Work};
use microbench::plan::Shape;
use microbench::sample::{Clock, Sample, Trial};
use stats::comparison::Verdict;

/// A machine on which nothing but numbers is drawn; its clock goes on by what a process would take.
struct Machine {
    random: fastrand::Rng,
    now: f64,
    /// What one turn of the second contender takes more, as a share.
    planted: f64,
    /// How fast the host is at present; drifts.
    host: f64,
    /// Contenders whose processes hang.
    hanging: Option<usize>,
}

/// Spread of a process' speed by where it lies in memory, and of what disturbs a process; as seen
/// on a shared machine.
const LAYOUT: f64 = 0.008;
const NOISE: f64 = 0.015;
/// Spread of the host's speed from one process to the next, and how much of it stays.
const HOST: f64 = 0.02;
const HOST_STAYS: f64 = 0.8;
/// Processes that something else slows by a third.
const DISTURBED: f64 = 0.03;

impl Machine {
    fn new(seed: u64, planted: f64) -> Machine {
        Machine {
            random: fastrand::Rng::with_seed(seed),
            now: 0.0,
            planted,
            host: 0.0,
            hanging: None,
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
        let planted = if cell.contender == 1 {
            self.planted.ln_1p()
        } else {
            0.0
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
        margin: 0.01,
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

/// At most 5 % of benches of equals may claim any difference; 400 of them, of which 20 are 5 %, and
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

/// A contender compared with none gets its interval all the same.
#[test]
fn a_single_contender_has_a_figure() {
    let bench = run(&mut Machine::new(1, 0.0), 1, 1, 10);
    let (value, interval) = bench.rows[0].value(0, bench.how).expect("a figure");
    assert!((900_000.0..1_100_000.0).contains(&value), "{value}");
    assert!(interval.is_some_and(|interval| interval.contains(value)));
}
