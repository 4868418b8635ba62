//! Calls of stores without a client library known to the agent.

use stacks::State;

use super::costs::{found, profile};
use super::works::{busy, of_rule, waiting};
use super::*;
use crate::rule_id::RuleId;

#[test]
fn calls_of_an_unknown_store_name_the_method_called() {
    let mut run = busy(0.0).set_to("app root", "/srv");
    for handled in &mut run.0.handled {
        let stretch = |kind, ms| Burst {
            kind,
            length: nanos(ms),
        };
        handled.parts.other_io = nanos(2.4);
        let call = [
            stretch(BurstKind::Running, 4.0 / 24.0),
            stretch(BurstKind::OtherIo, 0.1),
        ];
        handled.bursts = call.repeat(24);
    }
    let web = "get /srv/app/web.rb 9";
    let reads = [
        "IO#wait_readable",
        "Bunny::Transport#read /gems/b.rb 5",
        web,
    ];
    let profile = profile(&run, &[(60, &reads), (40, &[web])]);
    let findings = found(&run, &waiting(profile, 60, State::Io));
    let finding = of_rule(findings, RuleId::StoreCalls);
    let named = "most of them in Bunny::Transport#read, which is not a client library known";
    let mut evidence = finding.evidence.iter().map(ToString::to_string);
    assert!(evidence.any(|line| line.starts_with(named)), "{finding:#?}");
}
