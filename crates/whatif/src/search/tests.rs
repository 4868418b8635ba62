//! Searches with a known truth: the measurements are simulated, with noise.

use super::*;
use crate::goal::Metric;

/// Throughput and p95 of a made-up app with a knee at four threads a worker.
fn truth(cell: Cell) -> Figures {
    let (w, t) = (f64::from(cell.workers), f64::from(cell.threads));
    let rps = 100.0 * w.min(2.0) * t.min(4.0) * (1.0 - 0.01 * (t - 4.0).max(0.0));
    Figures {
        rps,
        p50: 10.0,
        p95: 20.0 + 10.0 * t,
        p99: 30.0 + 12.0 * t,
        mean: 12.0,
    }
}

/// Predictions with the right shape, but a tenth off, and more with many threads.
fn predicted(cell: Cell) -> Figures {
    let seen = truth(cell);
    Figures {
        rps: seen.rps * (0.9 + 0.01 * f64::from(cell.threads)),
        ..seen
    }
}

fn grid() -> Vec<Candidate> {
    let cells = (1..=2).flat_map(|workers| (1..=16).map(move |threads| Cell { workers, threads }));
    cells
        .map(|cell| Candidate {
            cell,
            predicted: predicted(cell),
            memory_bytes: 100 * u64::from(cell.workers),
            measured: Vec::new(),
            broken: false,
        })
        .collect()
}

const PRESENT: Cell = Cell {
    workers: 1,
    threads: 5,
};

/// Runs a search against a noisy truth; returns the search, the ending and the number of blocks.
fn run(aim: Aim, noise: f64, seed: u64, broken: &[Cell]) -> (Search, Ending, usize) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut search = Search::new(aim, PRESENT, grid());
    let mut blocks = 0;
    loop {
        match search.step() {
            Step::Done(ending) => return (search, ending, blocks),
            Step::Measure(cell) => {
                blocks += 1;
                assert!(blocks < 200, "it does not end");
                // Sum of uniform values: near enough to a bell.
                let bell = (0..6).map(|_| random.f64() - 0.5).sum::<f64>() * 2.0_f64.sqrt();
                let seen = truth(cell);
                let figures = Figures {
                    rps: seen.rps * (noise * bell).exp(),
                    p95: seen.p95 * (noise * bell).exp(),
                    ..seen
                };
                search.add((!broken.contains(&cell)).then_some(figures), 0);
            }
        }
    }
}

fn throughput(goal: Option<&str>) -> Aim {
    Aim {
        goal: goal.map(|text| text.parse().unwrap()),
        by: Better::Throughput,
    }
}

#[test]
fn the_loss_stays_small_and_the_search_short() {
    let (mut losses, mut blocks_of_all) = (Vec::new(), Vec::new());
    for seed in 0..200 {
        let (search, _, blocks) = run(throughput(None), 0.01, seed, &[]);
        let outcome = search.outcome().unwrap();
        losses.push(1.0 - truth(outcome.best.cell).rps / 800.0);
        blocks_of_all.push(blocks as f64);
    }
    let within = losses.iter().filter(|loss| **loss <= MARGIN).count();
    assert!(within >= 195, "{within} of 200 lose less than the margin");
    let blocks = stats::mean(&blocks_of_all).unwrap();
    assert!(blocks <= 16.0, "{blocks} blocks");
}

#[test]
fn a_goal_forbids_what_is_faster() {
    for seed in 0..50 {
        let (search, ending, _) = run(throughput(Some("p95 < 45ms")), 0.01, seed, &[]);
        let outcome = search.outcome().unwrap();
        assert_eq!(ending, Ending::Known);
        assert!(outcome.goal_met);
        assert_eq!(
            (outcome.best.cell.workers, outcome.best.cell.threads),
            (2, 2)
        );
    }
}

#[test]
fn the_least_memory_that_holds_the_goal_is_taken() {
    let aim = Aim {
        goal: Some("rps > 250".parse().unwrap()),
        by: Better::Memory,
    };
    for seed in 0..50 {
        let (search, ending, _) = run(aim, 0.01, seed, &[]);
        let outcome = search.outcome().unwrap();
        assert_eq!(ending, Ending::Known);
        assert_eq!(
            (outcome.best.cell.workers, outcome.best.cell.threads),
            (1, 3)
        );
    }
}

#[test]
fn a_goal_that_nothing_reaches_ends_with_the_nearest() {
    let (search, ending, blocks) = run(throughput(Some("p95 < 5ms")), 0.01, 1, &[]);
    let outcome = search.outcome().unwrap();
    assert_eq!(ending, Ending::GoalMissed);
    assert!(!outcome.goal_met);
    assert_eq!(outcome.best.cell.threads, 1);
    assert!(blocks <= 10, "{blocks}");
}

#[test]
fn what_does_not_work_is_left_out() {
    let broken: Vec<Cell> = (1..=16)
        .map(|threads| Cell {
            workers: 2,
            threads,
        })
        .collect();
    let (search, _, _) = run(throughput(None), 0.01, 3, &broken);
    let outcome = search.outcome().unwrap();
    assert_eq!(outcome.best.cell.workers, 1);
    assert!(truth(outcome.best.cell).rps >= 400.0 * (1.0 - MARGIN));
}

#[test]
fn the_effect_has_its_interval() {
    let mut held = 0;
    for seed in 0..100 {
        let (search, _, _) = run(throughput(None), 0.02, seed, &[]);
        let outcome = search.outcome().unwrap();
        let real = truth(outcome.best.cell).rps / truth(PRESENT).rps;
        let effect = outcome.effect.unwrap();
        held += u32::from(effect.low <= real && real <= effect.high);
    }
    assert!(held >= 85, "{held} of 100 intervals hold the truth");
}

#[test]
fn the_goals_figure_has_its_interval() {
    let mut held = 0;
    for seed in 0..100 {
        let (search, _, _) = run(throughput(Some("p95 < 45ms")), 0.02, seed, &[]);
        let outcome = search.outcome().unwrap();
        let real = truth(outcome.best.cell).p95;
        let spread = outcome.goal_figure.unwrap();
        held += u32::from(spread.low <= real && real <= spread.high);
    }
    assert!(held >= 85, "{held} of 100 intervals hold the truth");
}

#[test]
fn nothing_measured_gives_the_prediction() {
    let search = Search::new(throughput(None), PRESENT, grid());
    let outcome = search.outcome().unwrap();
    assert!(outcome.best.measured.is_empty());
    assert!(outcome.figures.get(Metric::Rps) > 0.0);
    assert_eq!(outcome.effect, None);
}

#[test]
fn of_equals_a_clearly_shorter_tail_goes_before_less_memory() {
    let check = |p95_of_many: f64, picked: u32| {
        let mut grid = grid();
        grid.retain(|known| known.cell.workers == 2 && [5, 10].contains(&known.cell.threads));
        for known in &mut grid {
            let many = known.cell.threads == 10;
            let p95 = if many { p95_of_many } else { 200.0 };
            known.predicted = Figures {
                rps: if many { 995.0 } else { 1_000.0 },
                p95,
                ..known.predicted
            };
            known.memory_bytes = if many { 110 } else { 100 };
        }
        let search = Search::new(throughput(None), PRESENT, grid);
        assert_eq!(search.outcome().unwrap().best.cell.threads, picked);
    };
    check(40.0, 10);
    check(150.0, 5);
    check(400.0, 5);
}

#[test]
fn what_noise_hides_does_not_cost_the_tail() {
    let check = |few: [f64; 2], picked: u32| {
        let mut grid = grid();
        grid.retain(|known| known.cell.workers == 2 && [2, 10].contains(&known.cell.threads));
        for known in &mut grid {
            let is_few = known.cell.threads == 2;
            let p95 = if is_few { 600.0 } else { 90.0 };
            let alike = Figures {
                rps: 1_000.0,
                p95,
                ..known.predicted
            };
            known.predicted = alike;
            let seen = if is_few { few } else { [950.0, 1_010.0] };
            known.measured = seen.map(|rps| Figures { rps, ..alike }).to_vec();
        }
        let search = Search::new(throughput(None), PRESENT, grid);
        assert_eq!(search.outcome().unwrap().best.cell.threads, picked);
    };
    check([990.0, 1_040.0], 10);
    check([1_490.0, 1_540.0], 2);
}
