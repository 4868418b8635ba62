//! The requests from which the cost of a finding is taken.

use super::costs::{found, profile};
use super::works::of_rule;
use super::*;
use crate::rule_id::RuleId;

const SITE: &str = "app/web.rb:9";
const WEB: &str = "get /srv/app/web.rb 9";

/// Requests of 2 ms with the GVL and 13 ms of sleep, from two clients. Each tenth runs for 20 ms
/// more, and has what `marked` adds; the others have what `plain` adds.
fn heavy_tenth(marked: impl Fn(&mut Handled), plain: impl Fn(&mut Handled)) -> Run {
    let work = Work {
        running: 2.0,
        sleep: 13.0,
        ..Work::default()
    };
    let mut run = Run::new().requests("GET /list", 1_000, work);
    run.0.meta.load.connections = 2;
    for (at, handled) in run.0.handled.iter_mut().enumerate() {
        if at % 10 == 0 {
            handled.end = handled.end + nanos(20.0);
            handled.parts.running = nanos(22.0);
            handled.bursts[0].length = nanos(22.0);
            marked(handled);
        } else {
            plain(handled);
        }
    }
    run
}

/// Asserts a removal of half of the time with the GVL from the heavy requests, as short afterwards
/// as all others. Taken from all requests alike, it leaves them 9 ms longer.
#[track_caller]
fn check_taken_from_heavy(run: &Run, stack: &[&str], rule: RuleId) {
    let findings = found(run, &profile(run, &[(50, stack), (50, &[WEB])]));
    let gain = of_rule(findings, rule).gain.expect("a replay");
    assert!(gain.p95.ratio < 0.55, "{gain:?}");
}

fn act(run: &mut Run, what: &str) -> Act {
    Act {
        kind: ActKind::Work,
        what: run.text(what),
        site: run.text(SITE),
        count: 1,
        time: nanos(20.0),
    }
}

#[test]
fn json_is_taken_from_the_requests_that_make_it() {
    let mut texts = Run::new();
    let json = act(&mut texts, "JSON.generate");
    let mut run = heavy_tenth(|handled| handled.acts.push(json), |_| {});
    act(&mut run, "JSON.generate");
    let makes = ["Serialization#serializable_hash /gems/am.rb 7", WEB];
    check_taken_from_heavy(&run, &makes, RuleId::JsonShare);
}

#[test]
fn partials_are_taken_from_the_requests_that_render_many() {
    let mut texts = Run::new();
    let one = act(&mut texts, "template");
    let rendered = |count| Act { count, ..one };
    let mut run = heavy_tenth(
        |handled| handled.acts.push(rendered(400)),
        |handled| handled.acts.push(rendered(1)),
    );
    act(&mut run, "template");
    let around = [
        "lookup /gems/av.rb 5",
        "Helpers#render /gems/av.rb 9",
        "each /srv/app/views/list.erb 3",
        WEB,
    ];
    check_taken_from_heavy(&run, &around, RuleId::PartialsInLoop);
}

#[test]
fn rows_are_taken_from_the_requests_that_load_many() {
    let mut texts = Run::new();
    let digest = texts.text("SELECT * FROM orders WHERE customer_id = ?");
    let site = texts.text(SITE);
    let loads = |rows| SqlUse {
        digest,
        site,
        count: 1,
        rows,
        time: nanos(0.1),
        gvl_wait: Nanos::ZERO,
    };
    let mut run = heavy_tenth(
        |handled| handled.sql.push(loads(4_000)),
        |handled| handled.sql.push(loads(1)),
    );
    run.text("SELECT * FROM orders WHERE customer_id = ?");
    run.text(SITE);
    let run = run.with(|recording| {
        for exchange in &mut recording.exchanges {
            exchange.body_bytes = 200;
        }
    });
    let makes = ["instantiate /gems/active_record/result.rb 8", WEB];
    check_taken_from_heavy(&run, &makes, RuleId::RowsInRuby);
}

#[test]
fn collections_are_taken_from_the_requests_that_they_stop() {
    let run = heavy_tenth(
        |handled| {
            handled.parts.running = nanos(2.0);
            handled.parts.gc = nanos(20.0);
        },
        |_| {},
    );
    let finding = of_rule(run.findings(), RuleId::GcShare);
    // Half of it goes, which leaves 25 of 35 ms. Half of all time with the GVL in its place: 30.
    let gain = finding.gain.expect("a replay");
    assert!(gain.p95.ratio < 0.78, "{gain:?}");
}

/// Which requests run a method is recorded nowhere else.
#[test]
fn a_method_is_taken_from_the_requests_with_its_samples() {
    let run = heavy_tenth(|_| {}, |_| {}).set_to("app root", "/srv");
    let builds = "build /srv/app/lib/report.rb 12";
    let mut samples = profile(&run, &[(50, &[builds, WEB]), (50, &[WEB])]);
    let heavy = |request: u64| request % 10 == 1;
    let builds = samples.samples[0].stack;
    samples.samples.retain_mut(|sample| {
        let is_heavy = heavy(sample.request);
        sample.weight = if is_heavy { 2_200 } else { 200 };
        sample.count = if is_heavy { 220 } else { 20 };
        (sample.stack == builds) == is_heavy
    });
    let gain = of_rule(found(&run, &samples), RuleId::HotMethod)
        .gain
        .expect("a replay");
    assert!(gain.p95.ratio < 0.55, "{gain:?}");
}
