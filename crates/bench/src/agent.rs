//! What the agent costs: a Rack app with and without it, in ABBA blocks over several fresh boots.
//!
//! Both servers run at the same time on one core, and only one of them has requests at any moment. The
//! block is the unit; four blocks in the order A B B A make a pair, so that a drift of the host meets
//! both alike. Fresh boots matter: the layout of memory alone moves a boot by a percent or two.

use std::error::Error;

use crate::apps::{App, Block, stay_on_client_core};
use crate::pairs::{Estimate, Pair, estimate};

/// The app that does nothing, and the one that waits for 10 ms.
const HELLO: &str = "run ->(env) { [200, {}, ['hello']] }";
const WAITS: &str = "run ->(env) { sleep 0.01; [200, {}, ['hello']] }";

struct Case {
    name: &'static str,
    flags: &'static [&'static str],
    config: &'static str,
    connections: u32,
    /// Most added CPU a request, microseconds; `None` where only the ratio counts.
    cpu_us_max: Option<f64>,
    /// Least throughput, as a share of that without the agent.
    ratio_min: f64,
}

const CASES: [Case; 3] = [
    Case {
        name: "hello, puma -t 5:5",
        flags: &["-t", "5:5"],
        config: HELLO,
        connections: 4,
        cpu_us_max: Some(2.0),
        ratio_min: 0.98,
    },
    Case {
        name: "hello, puma -w 2 -t 5:5",
        flags: &["-w", "2", "-t", "5:5"],
        config: HELLO,
        connections: 8,
        cpu_us_max: Some(2.0),
        ratio_min: 0.98,
    },
    Case {
        name: "10 ms handler, puma -t 5:5",
        flags: &["-t", "5:5"],
        config: WAITS,
        connections: 4,
        cpu_us_max: None,
        ratio_min: 0.99,
    },
];

/// How long everything takes.
struct Size {
    boots: usize,
    pairs_a_boot: usize,
    block_s: f64,
}

/// Short blocks: on a shared host the speed of a core drifts by a tenth from one second to the next, and
/// only what lies next to each other in time can be compared. A tenth of a second is a thousand requests.
const FULL: Size = Size {
    boots: 6,
    pairs_a_boot: 50,
    block_s: 0.1,
};

/// For the test that keeps this from rotting.
const BRIEF: Size = Size {
    boots: 1,
    pairs_a_boot: 1,
    block_s: 0.1,
};

/// Caches, connections and the JIT-free interpreter settle within a second of load.
const WARMUP_S: f64 = 1.0;

/// Answers whether every bound held. `--brief` only shows that it runs.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let brief = arguments.iter().any(|argument| argument == "--brief");
    let size = if brief { BRIEF } else { FULL };
    stay_on_client_core()?;
    println!(
        "agent: {} boots × {} ABBA of {} s blocks; server on one core, generator on the other",
        size.boots, size.pairs_a_boot, size.block_s
    );
    let mut held = true;
    for case in &CASES {
        held &= report(case, &measure(case, &size)?) || brief;
    }
    Ok(held)
}

fn measure(case: &Case, size: &Size) -> Result<Vec<[Block; 4]>, Box<dyn Error>> {
    let mut all = Vec::new();
    for _ in 0..size.boots {
        let bare = App::boot(case.flags, case.config, false)?;
        let with = App::boot(case.flags, case.config, true)?;
        let block = |app: &App, seconds| app.block(case.connections, seconds);
        block(&bare, WARMUP_S)?;
        block(&with, WARMUP_S)?;
        for _ in 0..size.pairs_a_boot {
            all.push([
                block(&bare, size.block_s)?,
                block(&with, size.block_s)?,
                block(&with, size.block_s)?,
                block(&bare, size.block_s)?,
            ]);
        }
    }
    Ok(all)
}

fn report(case: &Case, blocks: &[[Block; 4]]) -> bool {
    let pairs = |of: fn(&Block) -> f64| -> Vec<Pair> {
        blocks
            .iter()
            .map(|[a1, b1, b2, a2]| Pair {
                a: f64::midpoint(of(a1), of(a2)),
                b: f64::midpoint(of(b1), of(b2)),
            })
            .collect()
    };
    let (cpu, rps) = (pairs(|block| block.cpu_us), pairs(|block| block.rps));
    let bare = estimate(&cpu, |pair| pair.a);
    let added = estimate(&cpu, |pair| pair.b - pair.a);
    let ratio = estimate(&rps, |pair| pair.b / pair.a);
    println!("{}", case.name);
    line("CPU a request without the agent, µs", bare, "");
    let cpu_held = case.cpu_us_max.is_none_or(|max| added.median <= max);
    let bound = case
        .cpu_us_max
        .map_or(String::new(), |max| verdict(&format!("≤ {max}"), cpu_held));
    line("added CPU a request, µs", added, &bound);
    let ratio_held = ratio.median >= case.ratio_min;
    line(
        "throughput with / without",
        ratio,
        &verdict(&format!("≥ {}", case.ratio_min), ratio_held),
    );
    cpu_held && ratio_held
}

fn verdict(bound: &str, held: bool) -> String {
    format!("  asked {bound}: {}", if held { "met" } else { "MISSED" })
}

fn line(name: &str, estimate: Estimate, bound: &str) {
    println!(
        "  {name:<38} {:>8.3}  95 % interval {:.3} – {:.3}{bound}",
        estimate.median, estimate.low, estimate.high
    );
}
