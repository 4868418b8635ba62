//! Due times of requests in an open load: a rate, possibly changing with time, and a distribution
//! of requests around the rate. Every due time is computed from the load's start, so that no error
//! adds up.

use figures::duration::{self, Unit};
use std::fmt;

use recording::Nanos;

use crate::plan::Plan;

/// Requests per second over time, and the distribution of arrivals. A new kind of pace is a new
/// value here, not a new loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    stages: Vec<Stage>,
    arrivals: Arrivals,
}

/// A stretch of a schedule: the rate goes evenly from one value to another. Behind the last stage
/// the rate stays where it ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// Requests per second at the stage's begin.
    pub from: f64,
    /// Requests per second at the stage's end.
    pub to: f64,
    /// Length of the stage; zero for a jump.
    pub length: Nanos,
}

/// How requests are spread around the rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// At even distances.
    Even,
    /// Independent of each other, as many users' requests are: a Poisson process.
    Poisson,
    /// The given number at once, then a pause, with the rate as the mean.
    Bursts(u32),
    /// As in a record of traffic: at the times of the scenario, whose mean is the rate.
    Recorded,
}

/// Greatest rate per second: higher rates cannot be distinguished in whole nanoseconds.
const RATE_MAX: f64 = 1e9;

impl Schedule {
    /// Returns a schedule of consecutive stages. The error is a sentence about what is wrong.
    pub fn new(stages: Vec<Stage>, arrivals: Arrivals) -> Result<Schedule, String> {
        let sane = |rate: f64| (0.0..=RATE_MAX).contains(&rate);
        if let Some(stage) = (stages.iter()).find(|stage| !sane(stage.from) || !sane(stage.to)) {
            return Err(format!(
                "a rate of {stage} requests per second cannot be run"
            ));
        }
        if !stages
            .iter()
            .any(|stage| stage.from > 0.0 || stage.to > 0.0)
        {
            return Err("a rate of 0 requests per second sends nothing".to_owned());
        }
        if arrivals == Arrivals::Bursts(0) {
            return Err("a burst needs at least one request".to_owned());
        }
        Ok(Schedule { stages, arrivals })
    }

    /// So many requests a second, evenly, without end.
    pub fn constant(per_second: f64) -> Result<Schedule, String> {
        let stage = Stage {
            from: per_second,
            to: per_second,
            length: Nanos::ZERO,
        };
        Schedule::new(vec![stage], Arrivals::Even)
    }

    /// Reads `2000`, `100..2000/60s`, or several such stages with commas between. The error is a
    /// sentence.
    pub fn parse(text: &str, arrivals: Arrivals) -> Result<Schedule, String> {
        let stages = text.split(',').map(|stage| {
            parse_stage(stage.trim()).ok_or_else(|| {
                format!("`{stage}` is not a rate; write 2000, 2000/30s or 100..2000/60s, stages with commas between")
            })
        });
        Schedule::new(stages.collect::<Result<_, _>>()?, arrivals)
    }

    /// Returns the stages in order.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// How requests are spread around the rate.
    pub fn arrivals(&self) -> Arrivals {
        self.arrivals
    }

    /// Returns the total length of the stages; zero for a rate without a stated length.
    pub fn length(&self) -> Nanos {
        self.stages.iter().map(|stage| stage.length).sum()
    }

    /// Returns the rate of an endless schedule with the same rate all the time.
    pub fn constant_rate(&self) -> Option<f64> {
        let rate = self.stages.first()?.from;
        let same = |stage: &Stage| stage.from == rate && stage.to == rate;
        self.stages.iter().all(same).then_some(rate)
    }

    /// When the point is reached at which `count` requests are due, after the start. `None`: never.
    fn reaches(&self, count: f64) -> Option<Nanos> {
        let (mut left, mut passed) = (count, 0.0);
        for stage in &self.stages {
            let length = stage.length.as_secs_f64();
            let holds = (stage.from + stage.to) / 2.0 * length;
            if left < holds {
                return Some(nanos(passed + stage.time_of(left)));
            }
            left -= holds;
            passed += length;
        }
        let rate = self.stages.last()?.to;
        (rate > 0.0).then(|| nanos(passed + left / rate))
    }
}

impl Stage {
    /// Returns the seconds from the begin of the stage until `count` requests are due: where the
    /// area under a line from `from` with the slope `(to - from) / length` is `count`, in a form
    /// without cancellation.
    fn time_of(&self, count: f64) -> f64 {
        if count <= 0.0 {
            return 0.0;
        }
        let slope = (self.to - self.from) / self.length.as_secs_f64();
        let root = (self.from * self.from + 2.0 * slope * count)
            .max(0.0)
            .sqrt();
        2.0 * count / (self.from + root)
    }
}

fn nanos(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9) as u64)
}

fn parse_stage(text: &str) -> Option<Stage> {
    let (rates, length) = match text.split_once('/') {
        Some((rates, length)) => (rates, parse_length(length)?),
        None => (text, Nanos::ZERO),
    };
    let (from, to) = rates.split_once("..").unwrap_or((rates, rates));
    // A change of the rate needs a time to happen in.
    if from != to && length == Nanos::ZERO {
        return None;
    }
    Some(Stage {
        from: from.trim().parse().ok()?,
        to: to.trim().parse().ok()?,
        length,
    })
}

fn parse_length(text: &str) -> Option<Nanos> {
    let length = Nanos(duration::nanos(text, Unit::Milliseconds..=Unit::Hours, None)? as u64);
    Some(length).filter(|length| *length > Nanos::ZERO)
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.from)?;
        if self.from != self.to {
            write!(f, "..{}", self.to)?;
        }
        match self.length {
            Nanos::ZERO => Ok(()),
            length => write!(f, "/{}s", length.as_secs_f64()),
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, stage) in self.stages.iter().enumerate() {
            let comma = if position > 0 { "," } else { "" };
            write!(f, "{comma}{stage}")?;
        }
        match self.arrivals {
            Arrivals::Even => Ok(()),
            Arrivals::Poisson => f.write_str(" (Poisson)"),
            Arrivals::Bursts(size) => write!(f, " (in bursts of {size})"),
            Arrivals::Recorded => f.write_str(" (as recorded)"),
        }
    }
}

/// Due times of one thread: every `lanes`th tick of a schedule.
#[derive(Debug)]
pub(crate) struct Pacer<'a> {
    schedule: &'a Schedule,
    /// Due times of [`Arrivals::Recorded`], nanoseconds.
    recorded: &'a [u64],
    lanes: u64,
    tick: u64,
    /// The sum of all distances so far, in requests at the mean rate; for Poisson arrivals only.
    distance: f64,
    random: fastrand::Rng,
    due: Option<Nanos>,
}

impl<'a> Pacer<'a> {
    /// Returns the pacer for one thread of the plan's part: request k belongs to generator k mod N,
    /// and requests of a generator go round among the threads.
    pub(crate) fn of_plan(
        schedule: &'a Schedule,
        recorded: &'a [u64],
        plan: &Plan,
        thread: u32,
    ) -> Pacer<'a> {
        let lane = plan.part.in_whole(u64::from(thread));
        let lanes = u64::from(plan.part.of()) * u64::from(plan.threads);
        Pacer::new((schedule, recorded), lane, lanes, plan.seed)
    }

    /// `lane` counts from zero. All lanes of one seed draw the same random numbers.
    fn new(
        (schedule, recorded): (&'a Schedule, &'a [u64]),
        lane: u64,
        lanes: u64,
        seed: u64,
    ) -> Pacer<'a> {
        let mut pacer = Pacer {
            schedule,
            recorded,
            lanes,
            tick: 0,
            distance: 0.0,
            random: fastrand::Rng::with_seed(seed),
            due: None,
        };
        pacer.step(lane);
        pacer
    }

    /// Returns the due time of the thread's next request, from the start; `None` after the last.
    pub(crate) fn due(&self) -> Option<Nanos> {
        self.due
    }

    /// Goes on to the next request.
    pub(crate) fn advance(&mut self) {
        self.step(self.lanes);
    }

    fn step(&mut self, ticks: u64) {
        let first = self.tick == 0 && self.due.is_none();
        self.tick += ticks;
        let position = match self.schedule.arrivals {
            Arrivals::Even => self.tick as f64,
            Arrivals::Bursts(size) => (self.tick / u64::from(size) * u64::from(size)) as f64,
            Arrivals::Poisson => {
                // The first request has a distance from the start, as any other has from its
                // forerunner.
                for _ in 0..ticks + u64::from(first) {
                    self.distance += -(1.0 - self.random.f64()).ln();
                }
                self.distance
            }
            Arrivals::Recorded => {
                self.due = self.recorded.get(self.tick as usize).copied().map(Nanos);
                return;
            }
        };
        self.due = self.schedule.reaches(position);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use scenario::Part;

    use super::*;

    fn parse(text: &str, arrivals: Arrivals) -> Schedule {
        Schedule::parse(text, arrivals).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Due times of the first `count` requests, in ms, over one thread.
    fn due_ms(schedule: &Schedule, count: usize) -> Vec<f64> {
        let mut pacer = Pacer::new((schedule, &[]), 0, 1, 7);
        let mut due = Vec::new();
        while due.len() < count
            && let Some(next) = pacer.due()
        {
            due.push(next.as_millis_f64());
            pacer.advance();
        }
        due
    }

    #[test]
    fn ticks_do_not_drift() {
        let schedule = Schedule::constant(3.0).expect("a schedule");
        assert_eq!(schedule.reaches(0.0), Some(Nanos(0)));
        assert_eq!(schedule.reaches(1.0), Some(Nanos(333_333_333)));
        let million = Nanos(1_000_000 * 1_000_000_000);
        assert_eq!(schedule.reaches(3_000_000.0), Some(million));
    }

    #[test]
    fn rates_are_read_and_written() {
        let check = |text: &str, length_s: Option<f64>| {
            let schedule = Schedule::parse(text, Arrivals::Even).ok();
            let length = schedule.as_ref().map(|s| s.length().as_secs_f64());
            assert_eq!(length, length_s, "{text}");
            if let Some(schedule) = schedule {
                assert_eq!(schedule.to_string(), text);
            }
        };
        check("2000", Some(0.0));
        check("0.5", Some(0.0));
        check("2000/30s", Some(30.0));
        check("100..2000/60s", Some(60.0));
        check("10/5s,10..100/30s,0/5s", Some(40.0));
        for wrong in [
            "", "x", "0", "-1", "1..2", "1..2/0s", "1/60", "nan", "inf", "1,,2", "1e12",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn a_ramp_sends_what_lies_under_its_line() {
        let schedule = parse("0..100/10s,0..50/1s", Arrivals::Even);
        let due = due_ms(&schedule, 600);
        let before = |ms: f64| due.iter().filter(|due| **due < ms).count();
        // 10 s at a mean of 50, then 1 s at a mean of 25, then 50 a second.
        assert_eq!(before(10_000.0), 500);
        assert_eq!(before(11_000.0), 525);
        assert_eq!(before(12_000.0), 575);
        // A quarter of a ramp's area lies before its middle.
        assert_eq!(before(5_000.0), 125);
        assert!(due.is_sorted());
    }

    #[test]
    fn bursts_come_together_and_keep_the_mean() {
        let due = due_ms(&parse("100", Arrivals::Bursts(5)), 11);
        assert_eq!(due, [0., 0., 0., 0., 0., 50., 50., 50., 50., 50., 100.]);
    }

    #[test]
    fn poisson_arrivals_have_the_mean_and_the_spread_of_their_process() {
        let due = due_ms(&parse("1000", Arrivals::Poisson), 20_000);
        let gaps: Vec<f64> = due.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        // Exponential distances: mean and deviation are both 1 ms; 20,000 of them tell within 3 %.
        assert!((mean - 1.0).abs() < 0.03, "mean {mean}");
        assert!(
            (variance.sqrt() - 1.0).abs() < 0.03,
            "deviation {}",
            variance.sqrt()
        );
    }

    /// What a plan's first requests are due at, `each` of every thread of every generator.
    fn shared(plan: &Plan, schedule: &Schedule, generators: u32, each: usize) -> Vec<(u64, Nanos)> {
        let mut shared = Vec::new();
        for number in 0..generators {
            let plan = Plan {
                part: Part::new(number, generators).expect("a part"),
                ..plan.clone()
            };
            for thread in 0..plan.threads {
                let mut pacer = Pacer::of_plan(schedule, &RECORDED, &plan, thread);
                for _ in 0..each {
                    shared.extend(pacer.due().map(|due| (pacer.tick, due)));
                    pacer.advance();
                }
            }
        }
        shared.sort_unstable();
        shared
    }

    /// Due times of a record, fewer than a plan of the tests may ask for.
    static RECORDED: [u64; 100] = {
        let mut due = [0; 100];
        let mut index = 0;
        while index < due.len() {
            due[index] = (index * index) as u64;
            index += 1;
        }
        due
    };

    fn any_schedule() -> impl Strategy<Value = Schedule> {
        let stage = (0_u32..2_000, 0_u32..2_000, 1_u64..5_000).prop_map(|(from, to, ms)| Stage {
            from: f64::from(from),
            to: f64::from(to),
            length: Nanos(ms * 1_000_000),
        });
        let arrivals = prop_oneof![
            Just(Arrivals::Even),
            Just(Arrivals::Poisson),
            Just(Arrivals::Recorded),
            (1_u32..50).prop_map(Arrivals::Bursts),
        ];
        (proptest::collection::vec(stage, 1..5), arrivals)
            .prop_filter_map("a rate of zero", |(stages, arrivals)| {
                Schedule::new(stages, arrivals).ok()
            })
    }

    proptest! {
        /// Request k of the plan is request k of the parts' union, due at the same nanosecond,
        /// whatever the kind of schedule; and where the schedule ends, all parts end.
        #[test]
        fn parts_and_threads_together_are_the_whole_plan(
            schedule in any_schedule(),
            generators in 1_u32..12,
            threads in 1_u32..4,
            seed in any::<u64>(),
            each in 1_usize..40,
        ) {
            let plan = Plan { seed, threads, ..Plan::default() };
            let lanes = generators as usize * threads as usize;
            let alone = Plan { threads: 1, ..plan.clone() };
            let whole = shared(&alone, &schedule, 1, lanes * each);
            prop_assert_eq!(shared(&plan, &schedule, generators, each), whole);
        }
    }

    #[test]
    fn a_record_is_due_as_it_came_and_ends() {
        let schedule = parse("100", Arrivals::Recorded);
        let mut pacer = Pacer::new((&schedule, &[0, 7, 7, 9]), 1, 2, 7);
        assert_eq!(pacer.due(), Some(Nanos(7)));
        pacer.advance();
        assert_eq!(pacer.due(), Some(Nanos(9)));
        pacer.advance();
        assert_eq!(pacer.due(), None);
        assert_eq!(schedule.to_string(), "100 (as recorded)");
    }

    #[test]
    fn a_schedule_that_falls_to_zero_ends() {
        let schedule = parse("10/1s,0/1s", Arrivals::Even);
        assert_eq!(due_ms(&schedule, 100).len(), 10);
    }
}
