//! Cost of the agent: a Rack app with and without the agent, in ABBA blocks over several fresh
//! boots.
//!
//! Both servers run at the same time on one core, and only one of them has requests at any
//! moment. Four blocks in
//! the order A B B A, or in every other boot B A A B, make a pair, so that a drift of the host
//! meets both alike. The
//! unit is two boots, one of each order: the layout of memory alone moves a boot by a percent or
//! two, which is all
//! that is to be measured; so there are many, and a case without the agent on either side shows
//! how much is noise.

use std::error::Error;
use std::ops::{RangeBounds, RangeFull};

use load::Numbered;

use crate::apps::{App, Block, Inside, stay_on_client_core};
use crate::pairs::{Estimate, Pair, both_orders, estimate};
use crate::{counted, options};

/// Ruby side of `crates/agent/examples/floor.rs`: the number of the request and the clock at both
/// ends, and the GVL events as well.
const FLOOR_FRONT: &str = "Puma::Configuration::ConfigMiddleware.prepend(HakaruFloor::Call)";
const FLOOR_ALL: &str =
    "Puma::Configuration::ConfigMiddleware.prepend(HakaruFloor::Call)\nHakaruFloor.watch";

/// App without work, and an app with a wait of 10 ms.
const HELLO: &str = "run ->(env) { [200, {}, ['hello']] }";
const WAITS: &str = "run ->(env) { sleep 0.01; [200, {}, ['hello']] }";

struct Case {
    name: &'static str,
    /// What the B side has; with nothing the case measures the noise.
    inside: Inside,
    flags: &'static [&'static str],
    config: &'static str,
    connections: u32,
    /// Whether all requests are recorded, or a part as in a run.
    all: bool,
    /// Greatest added CPU per request, microseconds; `None` for no bound.
    cpu_us_max: Option<f64>,
    /// Least throughput, as a share of the throughput without the agent; `None` for no bound.
    ratio_min: Option<f64>,
}

/// Hello world without bounds.
const BARE: Case = Case {
    name: "noise: no agent on either side, puma -t 5:5",
    inside: Inside::Nothing,
    flags: &["-t", "5:5"],
    config: HELLO,
    connections: 4,
    all: true,
    cpu_us_max: None,
    ratio_min: None,
};

const CASES: [Case; 7] = [
    BARE,
    Case {
        name: "floor: the least an agent does at both ends of a request",
        inside: Inside::Floor(FLOOR_FRONT),
        ..BARE
    },
    Case {
        name: "floor: that and events of the GVL",
        inside: Inside::Floor(FLOOR_ALL),
        ..BARE
    },
    Case {
        name: "hello, all requests noted down, puma -t 5:5",
        inside: Inside::Agent,
        ..BARE
    },
    Case {
        name: "hello, puma -t 5:5",
        inside: Inside::Agent,
        all: false,
        cpu_us_max: Some(2.0),
        ratio_min: Some(0.98),
        ..BARE
    },
    Case {
        name: "hello, puma -w 2 -t 5:5",
        inside: Inside::Agent,
        all: false,
        flags: &["-w", "2", "-t", "5:5"],
        connections: 8,
        cpu_us_max: Some(2.0),
        ratio_min: Some(0.98),
        ..BARE
    },
    Case {
        name: "10 ms handler, puma -t 5:5",
        inside: Inside::Agent,
        all: false,
        config: WAITS,
        ratio_min: Some(0.99),
        ..BARE
    },
];

/// How long everything takes.
struct Size {
    /// Even: every other one has the other order.
    boots: usize,
    pairs_a_boot: usize,
    block_s: f64,
}

/// Short blocks: on a shared host the speed of a core drifts by a tenth from one second to the
/// next, and
/// only what lies next to each other in time can be compared. A tenth of a second is a thousand
/// requests.
const FULL: Size = Size {
    boots: 64,
    pairs_a_boot: 4,
    block_s: 0.1,
};

/// Size for the test which keeps the benchmark running.
const BRIEF: Size = Size {
    boots: 2,
    pairs_a_boot: 1,
    block_s: 0.1,
};

/// Caches, connections and the JIT-free interpreter settle within half a second of load:
/// thousands of requests.
const WARMUP_S: f64 = 0.5;
/// Time for the load to settle, seconds: all requests are numbered at first, and four looks at the
/// rate later a part.
const SETTLING_S: f64 = 0.8;

/// Returns whether every bound held. `--brief` only shows that it runs; `--case TEXT` takes the
/// cases with that text in their names, `--boots N` changes how many boots there are (even),
/// `--raw` prints every block, `--count` counts instructions instead ([`counted`]).
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let brief = arguments.iter().any(|argument| argument == "--brief");
    let mut size = if brief { BRIEF } else { FULL };
    size.boots = options::value(arguments, "boots", size.boots)?;
    let wanted: String = options::value(arguments, "case", String::new())?;
    stay_on_client_core()?;
    println!(
        "agent: {} boots × {} ABBA of {} s blocks; server on one core, generator on the other",
        size.boots, size.pairs_a_boot, size.block_s
    );
    if arguments.iter().any(|argument| argument == "--count") {
        counted::run(&[
            ("without", Inside::Nothing),
            ("without, once more", Inside::Nothing),
            ("floor: both ends of a request", Inside::Floor(FLOOR_FRONT)),
            (
                "floor: that and events of the GVL",
                Inside::Floor(FLOOR_ALL),
            ),
            ("agent", Inside::Agent),
        ])?;
        return Ok(true);
    }
    let mut held = true;
    for case in CASES.iter().filter(|case| case.name.contains(&wanted)) {
        let boots = measure(case, &size)?;
        if arguments.iter().any(|argument| argument == "--raw") {
            print_raw(&boots);
        }
        held &= report(case, &boots) || brief;
    }
    Ok(held)
}

/// Every block: boot, pair, then CPU a request in µs and requests a second of A, B, B, A.
fn print_raw(boots: &[Vec<[Block; 4]>]) {
    for (boot, pairs) in boots.iter().enumerate() {
        for (number, blocks) in pairs.iter().enumerate() {
            let figures = blocks.map(|block| format!("{:.1} {:.0}", block.cpu_us, block.rps));
            println!("{boot} {number} {}", figures.join(" "));
        }
    }
}

fn measure(case: &Case, size: &Size) -> Result<Vec<Vec<[Block; 4]>>, Box<dyn Error>> {
    (0..size.boots)
        .map(|boot| {
            // What comes first would otherwise always be A: the first process to boot, the first
            // to be loaded.
            let a_first = boot.is_multiple_of(2);
            let inside = |is_b: bool| if is_b { case.inside } else { Inside::Nothing };
            let mut first = App::boot(case.flags, case.config, inside(!a_first))?;
            let mut second = App::boot(case.flags, case.config, inside(a_first))?;
            if !case.all {
                let settled = |app: &App| app.halvings(case.connections, SETTLING_S);
                let halvings = settled(&first)?.min(settled(&second)?);
                first.numbered = Numbered::Halved(halvings);
                second.numbered = Numbered::Halved(halvings);
            }
            let block = |app: &App, seconds| app.block(case.connections, seconds);
            block(&first, WARMUP_S)?;
            block(&second, WARMUP_S)?;
            (0..size.pairs_a_boot)
                .map(|_| {
                    let [f1, s1, s2, f2] = [
                        block(&first, size.block_s)?,
                        block(&second, size.block_s)?,
                        block(&second, size.block_s)?,
                        block(&first, size.block_s)?,
                    ];
                    Ok(if a_first {
                        [f1, s1, s2, f2]
                    } else {
                        [s1, f1, f2, s2]
                    })
                })
                .collect()
        })
        .collect()
}

/// Returns the blocks as pairs of one measured figure, the two orders of booting together.
fn pairs(boots: &[Vec<[Block; 4]>], of: fn(&Block) -> f64) -> Vec<Vec<Pair>> {
    let pair = |[a1, b1, b2, a2]: &[Block; 4]| Pair {
        a: f64::midpoint(of(a1), of(a2)),
        b: f64::midpoint(of(b1), of(b2)),
    };
    let boots: Vec<Vec<Pair>> = boots
        .iter()
        .map(|blocks| blocks.iter().map(pair).collect())
        .collect();
    both_orders(&boots)
}

fn report(case: &Case, boots: &[Vec<[Block; 4]>]) -> bool {
    let (cpu, rps) = (
        pairs(boots, |block| block.cpu_us),
        pairs(boots, |block| block.rps),
    );
    println!("{}", case.name);
    let busy = pairs(boots, |block| block.busy);
    line::<RangeFull>(
        "server's share of its core, side A",
        &busy,
        |pair| pair.a,
        None,
    );
    line::<RangeFull>(
        "server's share of its core, side B",
        &busy,
        |pair| pair.b,
        None,
    );
    line::<RangeFull>("CPU a request on side A, µs", &cpu, |pair| pair.a, None);
    let added = line(
        "added CPU a request on side B, µs",
        &cpu,
        |pair| pair.b - pair.a,
        case.cpu_us_max.map(|max| (format!("≤ {max}"), ..=max)),
    );
    let ratio = line(
        "throughput B / A",
        &rps,
        |pair| pair.b / pair.a,
        case.ratio_min.map(|min| (format!("≥ {min}"), min..)),
    );
    added && ratio
}

/// Prints one figure with an interval; returns whether the figure lies within the bound.
fn line<R: RangeBounds<f64>>(
    name: &str,
    boots: &[Vec<Pair>],
    of: impl Fn(&Pair) -> f64,
    bound: Option<(String, R)>,
) -> bool {
    let Some(Estimate { median, low, high }) = estimate(boots, of) else {
        return false;
    };
    let held = bound
        .as_ref()
        .is_none_or(|(_, range)| range.contains(&median));
    let verdict = bound.map_or(String::new(), |(text, _)| {
        format!("  asked {text}: {}", if held { "met" } else { "MISSED" })
    });
    println!("  {name:<38} {median:>8.3}  95 % interval {low:.3} – {high:.3}{verdict}");
    held
}
