//! The host had no core to spare, or others used the cores.

use crate::rule_id::RuleId;
use words::{Text, text};

use crate::context::Context;
use crate::doubt::Doubt;
use crate::host::{OTHERS_MAX, STEAL_MAX, Shares, shares};
use crate::text::percent;
use crate::types::{Confidence, Finding};

/// Share of the cores in use from which everyone waits for one.
const BUSY_MAX: f64 = 0.95;
/// Share of the cores the generator must use to be called a competitor of the app.
const GENERATOR_MIN: f64 = 0.1;
/// Share of the time allowed to slow cores, as for stolen time.
const LOST_MAX: f64 = 0.02;
/// Share above which the host has more cores than the run may use, and nothing is known of the
/// rest.
const CORES_MISCOUNTED: f64 = 1.05;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let Some(shares) = shares(context.recording) else {
        return Vec::new();
    };
    let Some((what, remedy)) = trouble(&shares) else {
        return Vec::new();
    };
    let doubt = Doubt {
        rule: RuleId::HostBusy,
        what,
        why: text!(
            "every number includes time spent waiting for a core, which is not the app's fault"
        ),
        evidence: evidence(&shares),
        remedy,
        confidence: Confidence::Medium,
    };
    vec![doubt.into()]
}

fn evidence(shares: &Shares) -> Vec<Text> {
    let used = text!(
        "cores in use: {busy} (app {app}, database {database}, generator {generator}, others {others}), \
         stolen {steal}",
        busy = percent(shares.busy),
        app = percent(shares.app),
        database = percent(shares.database),
        generator = percent(shares.generator),
        others = percent(shares.others),
        steal = percent(shares.steal)
    );
    let slow = shares.speed.filter(|speed| speed.slow_share > 0.0);
    let slow = slow.map(|speed| {
        text!("a fixed piece of work took {slower} times as long in {share} of the seconds as in the fastest ones", slower = format!("{:.2}", speed.slower), share = percent(speed.slow_share))
    });
    [used].into_iter().chain(slow).collect()
}

/// Returns the host's problem and the remedy.
fn trouble(shares: &Shares) -> Option<(Text, Text)> {
    let known = shares.busy <= CORES_MISCOUNTED;
    if shares.steal > STEAL_MAX {
        Some((
            text!(
                "the hypervisor took {share} of the cores' time",
                share = percent(shares.steal)
            ),
            text!("measure on a dedicated host, or compare in interleaved blocks"),
        ))
    } else if known && shares.others > OTHERS_MAX {
        Some((
            text!(
                "other processes used {share} of the cores",
                share = percent(shares.others)
            ),
            text!("stop what else runs on this host"),
        ))
    } else if known && shares.busy > BUSY_MAX && shares.generator > GENERATOR_MIN {
        Some((
            text!(
                "no core was free, and the generator used {share} of them",
                share = percent(shares.generator)
            ),
            text!("run the generator on another host, or take throughput here as a lower bound"),
        ))
    } else {
        let slow = shares.speed.filter(|speed| speed.lost() > LOST_MAX)?;
        Some((
            text!(
                "the cores were {slower}x slower for {share} of the time (a busy neighbour or a lower clock)",
                slower = format!("{:.2}", slow.slower),
                share = percent(slow.slow_share)
            ),
            text!(
                "don't trust differences between single runs on this machine; use `hakaru compare` or `try`, which alternate A and B and skip such moments"
            ),
        ))
    }
}
