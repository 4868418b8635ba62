//! The hello-world Rack app under Puma: without anything, and under each sampler, in ABBA blocks
//! over fresh boots.
//!
//! As in the benchmark of the agent both servers run at once on one core and only one has requests
//! at any moment. Each sampler is measured against a bare server booted beside it; all of them come
//! in turns within a round, so that ours and stackprof meet the same host.

use std::error::Error;

use super::verdict;
use crate::apps::{App, Inside, stay_on_client_core};
use crate::pairs::{Pair, both_orders, estimate};

const HELLO: &str = "run ->(env) { [200, {}, ['hello']] }";
const UNDER_STACKPROF: &str = "require 'stackprof'\nStackProf.start(mode: :wall, interval: 1000)\n";
const FLAGS: [&str; 2] = ["-t", "5:5"];
const CONNECTIONS: u32 = 4;

struct Case {
    name: &'static str,
    inside: Inside,
    stackprof: bool,
    /// Least throughput, as a share of the bare server's.
    ratio_min: Option<f64>,
}

const fn ours(mode: &'static str, rate: u32, name: &'static str, ratio_min: Option<f64>) -> Case {
    Case {
        name,
        inside: Inside::Sampler(mode, rate),
        stackprof: false,
        ratio_min,
    }
}

const CASES: [Case; 6] = [
    Case {
        name: "bare again (noise)",
        inside: Inside::Nothing,
        stackprof: false,
        ratio_min: None,
    },
    ours("wall", 100, "wall at 100 Hz", Some(0.98)),
    ours("wall", 1000, "wall at 1000 Hz", Some(0.97)),
    ours("cpu", 1000, "cpu at 1000 Hz", Some(0.97)),
    ours("alloc", 1000, "alloc", None),
    Case {
        name: "stackprof 1000 Hz",
        inside: Inside::Nothing,
        stackprof: true,
        ratio_min: None,
    },
];

/// ABBA blocks after each boot, and the length of one.
struct Size {
    pairs_a_boot: usize,
    block_s: f64,
}

/// Short blocks for the reason given in the benchmark of the agent.
const FULL: Size = Size {
    pairs_a_boot: 5,
    block_s: 0.1,
};
const BRIEF: Size = Size {
    pairs_a_boot: 1,
    block_s: 0.1,
};
const WARMUP_S: f64 = 0.6;

/// Runs the case; returns whether every bound held.
pub(super) fn run(brief: bool, rounds: usize, has_stackprof: bool) -> Result<bool, Box<dyn Error>> {
    let size = if brief { BRIEF } else { FULL };
    stay_on_client_core()?;
    println!(
        "\nhello, puma -t 5:5: throughput as a ratio to the bare server, median over boots and 95 % interval"
    );
    let cases: Vec<&Case> = CASES
        .iter()
        .filter(|case| has_stackprof || !case.stackprof)
        .collect();
    let mut boots: Vec<Vec<Vec<Pair>>> = cases.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds {
        for (case, boots) in cases.iter().zip(&mut boots) {
            boots.push(measure(case, &size, round.is_multiple_of(2))?);
        }
    }
    let mut held = true;
    let mut ratios = Vec::new();
    for (case, boots) in cases.iter().zip(&boots) {
        let Some(found) = estimate(&both_orders(boots), |pair| pair.b / pair.a) else {
            continue;
        };
        held &= case.ratio_min.is_none_or(|least| found.median >= least);
        println!(
            "  {:18} {:.3} ({:.3}–{:.3}){}",
            case.name,
            found.median,
            found.low,
            found.high,
            verdict(found.median, case.ratio_min)
        );
        ratios.push((case.name, found.median));
    }
    let of = |name: &str| ratios.iter().find(|(known, _)| *known == name);
    if let (Some((_, ours)), Some((_, theirs))) = (of("wall at 1000 Hz"), of("stackprof 1000 Hz")) {
        println!(
            "  wall at 1000 Hz over stackprof {:.3}{}",
            ours / theirs,
            verdict(ours / theirs, Some(1.0))
        );
        held &= ours >= theirs;
    }
    Ok(held)
}

/// Pairs of one round: requests a second bare, and under the sampler.
fn measure(case: &Case, size: &Size, bare_first: bool) -> Result<Vec<Pair>, Box<dyn Error>> {
    let config = match case.stackprof {
        true => format!("{UNDER_STACKPROF}{HELLO}"),
        false => HELLO.to_owned(),
    };
    let bare = || App::boot(&FLAGS, HELLO, Inside::Nothing);
    let under = || App::boot(&FLAGS, &config, case.inside);
    let (bare, under) = if bare_first {
        (bare()?, under()?)
    } else {
        let under = under()?;
        (bare()?, under)
    };
    let rps = |app: &App| Ok::<f64, Box<dyn Error>>(app.block(CONNECTIONS, size.block_s)?.rps);
    bare.block(CONNECTIONS, WARMUP_S)?;
    under.block(CONNECTIONS, WARMUP_S)?;
    (0..size.pairs_a_boot)
        .map(|_| {
            let [first, second] = if bare_first {
                [&bare, &under]
            } else {
                [&under, &bare]
            };
            let [f1, s1, s2, f2] = [rps(first)?, rps(second)?, rps(second)?, rps(first)?];
            let [outer, inner] = [f64::midpoint(f1, f2), f64::midpoint(s1, s2)];
            let [a, b] = if bare_first {
                [outer, inner]
            } else {
                [inner, outer]
            };
            Ok(Pair { a, b })
        })
        .collect()
}
