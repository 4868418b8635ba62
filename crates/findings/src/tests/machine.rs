//! Findings from doctor's snapshot of a run.

use doctor::Snapshot;
use doctor::snapshot::{App, Factor, Group, Ruby};

use super::healthy;

fn check(change: impl FnOnce(&mut Snapshot), expected: &[&str]) {
    let mut snapshot = Snapshot::default();
    change(&mut snapshot);
    healthy()
        .with(|recording| recording.machine = snapshot.json())
        .check(expected);
}

#[test]
fn nothing_is_said_of_a_healthy_machine_or_of_none() {
    check(|_| {}, &[]);
    healthy()
        .with(|recording| recording.machine = "{".to_owned())
        .check(&[]);
}

#[test]
fn what_distorts_the_numbers_is_a_doubt() {
    check(|s| s.process.nice = Some(10), &["cpu.nice"]);
    check(
        |s| s.process.env = [("COVERAGE".to_owned(), "1".to_owned())].into(),
        &["ruby.coverage"],
    );
}

#[test]
fn what_slows_computing_down_has_a_gain() {
    let mitigated = |s: &mut Snapshot| {
        s.process.pid = Some(1);
        s.process.store_bypass = Some("thread mitigated".to_owned());
        s.measures.ruby_mitigated = Some(Factor {
            median: 1.5,
            low: 1.4,
            high: 1.6,
            pairs: 12,
        });
    };
    check(mitigated, &["cpu.store-bypass-mitigated"]);
    let off = |s: &mut Snapshot| {
        s.app = Some(App::default());
        s.ruby = Some(Ruby {
            version: "3.4.1".to_owned(),
            yjit_built: true,
            ..Ruby::default()
        });
    };
    check(off, &["ruby.yjit-off"]);
}

#[test]
fn a_group_that_stood_still_in_this_run_has_a_gain() {
    let group = |throttled| {
        move |s: &mut Snapshot| {
            s.process.group = Some(Group {
                version: 2,
                quota_cores: Some(0.5),
                period_us: Some(100_000),
                periods: Some(100),
                throttled: Some(throttled),
                ..Group::default()
            });
        }
    };
    check(group(60), &["container.throttled"]);
    check(group(0), &[]);
}
