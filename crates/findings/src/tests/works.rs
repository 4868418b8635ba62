//! Named work by samples.

use stacks::{Profile, State};

use super::costs::{found, profile};
use super::*;
use crate::rule_id::RuleId;

const SITE: &str = "app/web.rb:9";
const WEB: &str = "get /srv/app/web.rb 9";
const LIST: &str = "each /srv/app/views/list.erb 3";
const SERVER: &str = "spawn_thread /gems/puma.rb 3";
const BUILDS: &str = "build /gems/active_record/relation.rb 4";

/// 1,000 requests with 4 ms of the GVL, and `sql` ms in the database; without clients for a replay,
/// so gains are shares of time.
pub(super) fn busy(sql: f64) -> Run {
    let work = Work {
        running: 4.0,
        sql,
        ..Work::default()
    };
    let run = Run::new().requests("GET /list", 1_000, work);
    run.with(|recording| recording.meta.load.connections = 0)
}

#[track_caller]
pub(super) fn of_rule(findings: Vec<Finding>, rule: RuleId) -> Finding {
    let found = findings.iter().find(|finding| finding.rule == rule);
    found.unwrap_or_else(|| panic!("{findings:#?}")).clone()
}

#[track_caller]
pub(super) fn near(have: f64, want: f64) {
    assert!((have - want).abs() < 0.02, "{have} is not near {want}");
}

/// Puts the samples of one weight in another state.
pub(super) fn waiting(mut profile: Profile, weight: u64, state: State) -> Profile {
    for sample in &mut profile.samples {
        if sample.weight == weight {
            sample.state = state;
        }
    }
    profile
}

#[test]
fn a_session_costs_its_store_and_what_runs_below() {
    let session = |loads: &str| {
        let run = busy(1.0).doing(ActKind::Work, "session load", SITE, 1, 0.8);
        let profile = profile(
            &run,
            &[
                (30, &[BUILDS, loads, SERVER]),
                (25, &["Mysql2::Client#query", BUILDS, loads, SERVER]),
                (70, &[WEB, SERVER]),
            ],
        );
        let finding = of_rule(
            found(&run, &waiting(profile, 25, State::Sql)),
            RuleId::SessionShare,
        );
        finding.gain_share
    };
    // 1.2 of the 4 ms with the GVL, and the statement; 0.8 ms by the times alone.
    near(
        session("Rack::Session::Abstract::Persisted#load_session /gems/rack.rb 9"),
        2.2 / 5.1,
    );
    near(
        session("ActionDispatch::Session::CookieStore#load_session /gems/ap.rb 9"),
        2.2 / 5.1,
    );
    near(session("Loader#load_session /gems/other.rb 9"), 0.8 / 5.1);
}

#[test]
fn marshal_costs_what_samples_say() {
    let run = busy(0.0).doing(ActKind::Work, "Marshal.load", SITE, 1, 0.5);
    let loads = ["Marshal.load <internal:marshal> 33", WEB];
    let findings = found(&run, &profile(&run, &[(30, &loads), (70, &[WEB])]));
    near(
        of_rule(findings, RuleId::MarshalShare).gain_share,
        1.2 / 4.1,
    );
}

#[test]
fn a_template_costs_what_runs_below_but_its_statements_and_json() {
    const RENDER: &str = "ActionView::Template#render /gems/av.rb 9";
    let run = busy(0.0).doing(ActKind::Work, "template", SITE, 1, 1.5);
    let findings = found(
        &run,
        &profile(
            &run,
            &[
                (50, &["escape /gems/erb.rb 5", LIST, RENDER, WEB]),
                (10, &[BUILDS, LIST, RENDER, WEB]),
                (10, &["JSON.generate /gems/json.rb 5", LIST, RENDER, WEB]),
                (30, &[WEB]),
            ],
        ),
    );
    let template = of_rule(findings, RuleId::TemplateShare);
    near(template.gain_share, 2.0 / 4.1);
    let timed = "template 1.50 s with the statements in it";
    let mut evidence = template.evidence.iter().map(ToString::to_string);
    assert!(
        evidence.any(|line| line.starts_with(timed)),
        "{template:#?}"
    );
}

/// Rails and Tilt take Erubi by themselves.
#[test]
fn of_engines_only_that_in_use_is_named() {
    let said = |file: &str| {
        let list = format!("each /srv/app/views/{file} 3");
        let run = busy(0.0).doing(ActKind::Work, "template", SITE, 1, 1.5);
        let run = run.set_to("app root", "/srv");
        let stack = [
            list.as_str(),
            "ActionView::Template#render /gems/av.rb 9",
            WEB,
        ];
        let findings = found(&run, &profile(&run, &[(80, &stack), (20, &[WEB])]));
        let remedy = of_rule(findings, RuleId::TemplateShare).remedy;
        remedy.text.to_string()
    };
    let haml = said("list.html.haml");
    assert!(haml.contains("Haml 6"), "{haml}");
    let erb = said("list.html.erb");
    assert!(!erb.contains("Haml") && !erb.contains("rubi"), "{erb}");
}
