//! Costs of source lines by the samples of the run, and the resulting findings.

use crate::rule_id::RuleId;
use stacks::{Frame, Location, Profile, Sample, State, ThreadOf};

use super::outside::answering;
use super::*;
use crate::costs::{Costs, Shares};

const LIST: &str = "app/views/list.erb:3 < app/views/list.erb:2";
const WEB: &str = "get /srv/app/web.rb 9";
const LINE: &str = "each /srv/app/views/list.erb 3";
const LOOP: &str = "list /srv/app/views/list.erb 2";

/// Samples of every request, innermost frame first: `name file line`.
pub(super) fn profile(run: &Run, samples: &[(u64, &[&str])]) -> Profile {
    in_state(run, State::Running, samples)
}

/// Samples of every request in one state.
pub(super) fn in_state(run: &Run, state: State, samples: &[(u64, &[&str])]) -> Profile {
    let mut profile = Profile::default();
    let thread = profile.thread_id(ThreadOf { pid: 1, tid: 1 });
    for (weight, stack) in samples {
        let stack: Vec<Location> = stack
            .iter()
            .map(|frame| location(&mut profile, frame))
            .collect();
        let stack = profile.stack_id(&stack);
        profile
            .samples
            .extend(run.0.handled.iter().map(|handled| Sample {
                stack,
                state,
                thread,
                weight: *weight,
                bytes: 0,
                count: 1,
                at: 0,
                request: handled.id.0,
            }));
    }
    profile
}

fn location(profile: &mut Profile, frame: &str) -> Location {
    let mut words = frame.split(' ');
    let mut next = || words.next().unwrap_or_default();
    let (name, file) = (next().to_owned(), next().to_owned());
    let line = next().parse().unwrap_or(0);
    let frame = profile.frame_id(Frame {
        name,
        file,
        line: 1,
    });
    Location { frame, line }
}

/// 1,000 requests taking 4 ms with the GVL and 1 ms in the database, for 40 statements of one line.
fn listing() -> Run {
    let work = Work {
        running: 4.0,
        sql: 1.0,
        ..Work::default()
    };
    let run = Run::new().requests("GET /list", 1_000, work);
    run.issuing("SELECT name FROM users WHERE id = ?", LIST, 40, 1.0)
}

#[test]
fn a_statement_costs_what_runs_below_its_line_but_the_making_of_rows() {
    let run = listing();
    let profile = profile(
        &run,
        &[
            (50, &["build /gems/ar/relation.rb 5", LINE, LOOP, WEB]),
            (
                20,
                &["new", "instantiate /gems/ar/result.rb 8", LINE, LOOP, WEB],
            ),
            // In a method that the line calls, and not in the statement.
            (10, &["price /srv/app/models/order.rb 4", LINE, LOOP, WEB]),
            (20, &["render /gems/erb.rb 1", WEB]),
        ],
    );
    let joined = breakdown::join(&run.0);
    let costs = Costs::of(&profile, &run.0, &joined, None);
    let below = |route, site: &str| costs.share_below(route, site, site);
    let shares = Shares {
        issuing: 0.5,
        rows: 0.2,
    };
    assert_eq!(below(0, LIST), Some(shares));
    assert_eq!(below(0, "app/web.rb:1"), None);
    assert_eq!(below(1, LIST), None);
}

#[test]
fn a_hot_method_is_the_apps_innermost_and_issues_no_statement() {
    let run = listing();
    let profile = profile(
        &run,
        &[
            (
                40,
                &["Array#include?", "find_all /srv/app/lib/roster.rb 15", WEB],
            ),
            (30, &["find_all /srv/app/lib/roster.rb 13", WEB]),
            (10, &["build /gems/ar.rb 5", LINE, LOOP, WEB]),
            (20, &["call /gems/rack.rb 1"]),
        ],
    );
    let joined = breakdown::join(&run.0);
    let costs = Costs::of(&profile, &run.0, &joined, None);
    let hot = costs.hot_methods();
    let [hot] = hot.as_slice() else {
        panic!("{hot:#?}");
    };
    assert_eq!(
        (&*hot.method, &*hot.line),
        ("find_all", "app/lib/roster.rb:15")
    );
    assert!((hot.share - 0.7).abs() < 1e-9);
    assert_eq!(hot.innermost.0, "Array#include?");
}

#[test]
fn what_a_fiber_runs_belongs_to_the_line_that_resumed_it() {
    let run = listing().doing(ActKind::Work, "JSON.generate", "app/web.rb:9", 1, 0.1);
    let stations = "stations /srv/app/web.rb 13";
    let server = "spawn_thread /gems/puma.rb 3";
    let profile = profile(
        &run,
        &[
            (20, &["IO.open", stations, server]),
            (60, &["parse /gems/csv.rb 1010", "Enumerator#each"]),
            (20, &["call /gems/rack.rb 1", server]),
        ],
    );
    let joined = breakdown::join(&run.0);
    let costs = Costs::of(&profile, &run.0, &joined, None);
    let hot = costs.hot_methods();
    assert_eq!(hot[0].line, "app/web.rb:13");
    assert!((hot[0].share - 0.8).abs() < 1e-9, "{hot:#?}");
}

#[test]
fn a_fibers_resumer_calls_the_same_library() {
    let mut run = listing();
    run = run.doing(ActKind::Work, "JSON.generate", "app/web.rb:9", 1, 0.1);
    let server = "spawn_thread /gems/puma.rb 3";
    let mut profile = profile(
        &run,
        &[
            (
                20,
                &[
                    "CSV#each /gems/csv.rb 3",
                    "stations /srv/app/web.rb 13",
                    server,
                ],
            ),
            (10, &["show /srv/app/web.rb 20", server]),
            (60, &["parse /gems/csv.rb 1010", "Enumerator#each"]),
        ],
    );
    // Most requests have no sample in the app itself, and the others' samples may be later.
    let first = run.0.handled[0].id.0;
    let of_fiber = |sample: &Sample| sample.weight == 60;
    profile
        .samples
        .retain(|sample| of_fiber(sample) || sample.request == first);
    profile.samples.sort_by_key(|sample| sample.weight != 60);
    let joined = breakdown::join(&run.0);
    let costs = Costs::of(&profile, &run.0, &joined, None);
    let hot = costs.hot_methods();
    assert_eq!(hot[0].line, "app/web.rb:13");
    assert!(hot[0].share > 0.99, "{hot:#?}");
}

#[test]
fn a_methods_reading_goes_with_the_method() {
    let run = listing().doing(ActKind::Work, "JSON.generate", "app/web.rb:9", 1, 0.1);
    let stations = "stations /srv/app/web.rb 13";
    let server = "spawn_thread /gems/puma.rb 3";
    let mut profile = profile(
        &run,
        &[
            (30, &["File#initialize", stations, server]),
            (10, &["File.exist?", "static /gems/sinatra.rb 3", server]),
            (50, &["Integer#times", stations, server]),
            (40, &["Array#each", stations, server]),
        ],
    );
    for sample in &mut profile.samples {
        sample.state = match sample.weight {
            10 => State::Io,
            // The second is for the GVL that another thread took, whatever this one did.
            30 | 50 => State::GvlWait,
            _ => State::Running,
        };
    }
    let joined = breakdown::join(&run.0);
    let costs = Costs::of(&profile, &run.0, &joined, None);
    let hot = costs.hot_methods();
    assert!((hot[0].reading - 0.75).abs() < 1e-9, "{hot:#?}");
    assert!((hot[0].share - 1.0).abs() < 1e-9, "{hot:#?}");
}

/// Returns the findings of a run with the samples of `profile`.
pub(super) fn found(run: &Run, profile: &Profile) -> Vec<Finding> {
    all(Facts {
        recording: &run.0,
        breakdown: &breakdown::of(&run.0),
        profile: Some(profile),
    })
}

#[test]
fn what_a_statement_gives_counts_the_code_around_the_driver() {
    let run = listing();
    let below = profile(
        &run,
        &[
            (75, &["build /gems/ar.rb 5", LINE, LOOP, WEB]),
            (25, &[WEB]),
        ],
    );
    let gain = |findings: &[Finding]| {
        let found = findings
            .iter()
            .find(|finding| finding.rule == RuleId::NPlusOne);
        found.map_or(0.0, |finding| finding.gain_share)
    };
    let (with, without) = (gain(&found(&run, &below)), gain(&run.findings()));
    assert!(with > 2.0 * without, "{with} and {without}");
}

#[test]
fn one_loop_is_one_finding_on_all_its_routes() {
    let work = Work {
        running: 1.0,
        sql: 2.0,
        ..Work::default()
    };
    let run = Run::new()
        .requests("GET /list", 500, work)
        .requests("GET /", 500, work)
        .issuing("SELECT name FROM users WHERE id = ?", LIST, 40, 1.0)
        .issuing(
            "SELECT body FROM notes WHERE user_id = ?",
            "app/views/list.erb:4 < app/views/list.erb:2",
            40,
            0.5,
        )
        .issuing(
            "SELECT id FROM tags WHERE note_id = ?",
            "app/web.rb:7",
            40,
            0.5,
        );
    let findings = run.findings();
    let repeats: Vec<&Finding> = findings
        .iter()
        .filter(|finding| finding.rule == RuleId::NPlusOne)
        .collect();
    assert_eq!(repeats.len(), 2, "{repeats:#?}");
    assert!(
        repeats[0].title.to_string().contains("and 3 more"),
        "{}",
        repeats[0].title
    );
    assert!(
        repeats[0]
            .evidence
            .iter()
            .any(|line| line.to_string().contains("notes"))
    );
}

#[test]
fn statements_that_one_loop_repeats_in_several_files_are_one_finding() {
    let run = listing().issuing(
        "SELECT total FROM orders WHERE user_id = ?",
        "app/models/user.rb:8 < app/views/list.erb:4 < app/views/list.erb:2",
        40,
        0.5,
    );
    // Another loop of the same action.
    let run = run.issuing(
        "SELECT id FROM tags WHERE user_id = ?",
        "app/models/tag.rb:3 < app/views/list.erb:12 < app/views/list.erb:11",
        30,
        0.5,
    );
    let titles: Vec<String> = run
        .findings()
        .into_iter()
        .filter(|finding| finding.rule == RuleId::NPlusOne)
        .map(|finding| finding.title.to_string())
        .collect();
    assert_eq!(titles.len(), 2, "{titles:#?}");
    let both = titles
        .iter()
        .find(|title| title.to_string().contains("users"));
    assert!(
        both.is_some_and(|title| title.to_string().contains("and 1 more")),
        "{titles:#?}"
    );
}

/// A query cache knows most customers already, so one of two statements in the loop is repeated
/// less often. Two loops of the same method are two changes.
#[test]
fn statements_of_one_call_are_one_finding_however_often_each_is_executed() {
    let repeats = |customers: &str| {
        let run = Run::new().requests(
            "GET /orders",
            500,
            Work {
                running: 1.0,
                sql: 2.0,
                ..Work::default()
            },
        );
        let run = run
            .issuing(
                "SELECT COUNT(*) FROM boxes WHERE order_id = ?",
                "app/serializer.rb:9 in as_json < app/web.rb:4 in index",
                40,
                1.0,
            )
            .issuing("SELECT name FROM customers WHERE id = ?", customers, 8, 0.2);
        let findings = run.findings().into_iter();
        let repeats = findings.filter(|finding| finding.rule == RuleId::NPlusOne);
        let titles: Vec<String> = repeats.map(|it| it.title.to_string()).collect();
        titles
    };
    let same = repeats("app/serializer.rb:7 in as_json < app/web.rb:4 in index");
    assert_eq!(same.len(), 1, "{same:#?}");
    assert!(same[0].contains("and 1 more"), "{same:#?}");
    let other = repeats(
        "app/serializer.rb:7 in as_json < app/serializer.rb:6 in as_json < app/web.rb:4 in index",
    );
    assert_eq!(other.len(), 2, "{other:#?}");
}

/// Returns the finding of one rule on a run with samples.
#[track_caller]
fn one(run: &Run, samples: &[(u64, &[&str])], rule: &str) -> Finding {
    let findings = found(run, &profile(run, samples));
    let of_rule = findings.iter().find(|finding| finding.rule.name() == rule);
    of_rule.unwrap_or_else(|| panic!("{findings:#?}")).clone()
}

fn busy(route: &str) -> Run {
    let work = Work {
        running: 4.0,
        ..Work::default()
    };
    Run::new().requests(route, 1_000, work)
}

/// An app without a statement or a wait: no source line names the folder of the app's files.
fn computing_in(folder: Option<&str>) -> Run {
    let mut run = busy("GET /report");
    if let Some(folder) = folder {
        run.0.agents[0].settings.push(Setting {
            name: "app root".to_owned(),
            value: folder.to_owned(),
        });
    }
    run
}

const REPORT: &str = "build /srv/app/lib/report.rb 12";

#[test]
fn the_apps_folder_is_known_without_any_statement() {
    let samples: [(u64, &[&str]); 2] = [
        (80, &["+ <internal:string>", REPORT, WEB]),
        (20, &["render /gems/erb.rb 1", WEB]),
    ];
    let run = computing_in(Some("/srv/"));
    let hot = one(&run, &samples, "hot-method");
    assert!(
        hot.title.to_string().contains("app/lib/report.rb:12"),
        "{hot:?}"
    );
    let run = computing_in(None);
    let unknown = found(&run, &profile(&run, &samples));
    assert!(
        unknown
            .iter()
            .all(|finding| finding.rule != RuleId::HotMethod)
    );
}

#[test]
fn a_method_of_several_routes_is_one_finding() {
    let work = Work {
        running: 4.0,
        ..Work::default()
    };
    let run = computing_in(Some("/srv/")).requests("GET /again", 500, work);
    let profile = profile(&run, &[(80, &["+ <internal:string>", REPORT, WEB])]);
    let findings = found(&run, &profile);
    let hot: Vec<String> = (findings.iter())
        .filter(|finding| finding.rule == RuleId::HotMethod)
        .map(|finding| finding.title.to_string())
        .collect();
    assert_eq!(
        hot,
        ["GET /report runs 100% of its time in app/lib/report.rb:12 (and 1 other route)"]
    );
}

const TABLE: &str = "#<Class:1>#_app_views_orders_index_html_erb /srv/app/views/index.html.erb 4";

#[test]
fn a_busy_line_of_a_template_is_named_with_what_it_calls() {
    let currency = "ActionView::Helpers::NumberHelper#number_to_currency /gems/number.rb 9";
    let samples: [(u64, &[&str]); 3] = [
        (70, &["gsub <internal:string>", currency, TABLE, WEB]),
        (
            10,
            &[
                "concat <internal:string>",
                "other /srv/app/views/index.html.erb 5",
                WEB,
            ],
        ),
        (20, &["render /gems/erb.rb 1", WEB]),
    ];
    let hot = one(&computing_in(Some("/srv/")), &samples, "hot-method");
    assert_eq!(
        hot.title,
        "GET /report runs 70% of its time in app/views/index.html.erb:4"
    );
    assert_eq!(
        hot.confidence,
        Confidence::Low,
        "pages are what apps are for"
    );
    let evidence: Vec<String> = hot.evidence.iter().map(ToString::to_string).collect();
    assert!(
        evidence
            .iter()
            .any(|line| line.contains("number_to_currency")),
        "{evidence:?}"
    );
}

#[test]
fn garbage_is_named_by_the_line_that_sets_the_collector_off() {
    let mut run = computing_in(Some("/srv"));
    for handled in &mut run.0.handled {
        handled.parts.gc = nanos(1.5);
        handled.parts.running = nanos(2.5);
    }
    let mut profile = profile(
        &run,
        &[(40, &[REPORT, WEB]), (60, &["map <internal:array>", WEB])],
    );
    for sample in &mut profile.samples {
        if sample.weight == 40 {
            sample.state = State::Gc;
        }
    }
    let findings = found(&run, &profile);
    let gc = findings
        .iter()
        .find(|finding| finding.rule == RuleId::GcShare);
    let gc = gc.unwrap_or_else(|| panic!("{findings:#?}"));
    assert_eq!(
        gc.title,
        "garbage collection is 38% of the work, most of it set off at app/lib/report.rb:12"
    );
    assert!(
        gc.remedy
            .text
            .to_string()
            .contains("below app/lib/report.rb:12")
    );
    let same_line = |finding: &&Finding| {
        finding.rule == RuleId::HotMethod && finding.title.to_string().contains("report.rb")
    };
    assert!(
        !findings.iter().any(|finding| same_line(&finding)),
        "one cause, one finding"
    );
}

const TRANSACTION: &str =
    "ActiveRecord::ConnectionAdapters::DatabaseStatements#transaction /gems/ar.rb 9";
const CREATE: &str = "create /srv/app/controllers/orders.rb 12";
const SIGN: &str = "sign /srv/app/models/voucher.rb 6";

/// 1,000 requests sleeping for 20 ms in a library of the app's, with the frames of `stack` around.
fn sleeping(stack: &[&str]) -> Vec<Finding> {
    sleeping_beside(stack, |run| run)
}

/// As [`sleeping`], with other routes beside.
fn sleeping_beside(stack: &[&str], others: impl Fn(Run) -> Run) -> Vec<Finding> {
    let work = Work {
        running: 1.0,
        sql: 1.0,
        sleep: 20.0,
        ..Work::default()
    };
    let run = Run::new().requests("POST /orders", 1_000, work).issuing(
        "SELECT * FROM events WHERE id = ? FOR UPDATE",
        "app/controllers/orders.rb:13",
        1,
        1.0,
    );
    let run = others(run);
    let mut profile = profile(&run, &[(20, stack)]);
    for sample in &mut profile.samples {
        sample.state = State::Sleep;
    }
    found(&run, &profile)
}

/// The transaction of one page is worth a hint, however much time the others take.
#[test]
fn a_wait_inside_a_transaction_of_a_cheap_route_is_found() {
    let report = Work {
        running: 600.0,
        ..Work::default()
    };
    let stack = ["sleep", SIGN, CREATE, TRANSACTION, CREATE, WEB];
    let findings = sleeping_beside(&stack, |run| run.requests("GET /report", 1_000, report));
    let mut rules = findings.iter().map(|found| found.rule);
    assert!(
        rules.any(|rule| rule == RuleId::TransactionOpen),
        "{findings:#?}"
    );
}

#[test]
fn a_wait_inside_a_transaction_is_named_by_the_line_that_began_it() {
    let open = |stack: &[&str]| {
        let findings = sleeping(stack);
        findings
            .into_iter()
            .find(|found| found.rule == RuleId::TransactionOpen)
    };
    let inside = open(&["sleep", SIGN, CREATE, TRANSACTION, CREATE, WEB]).expect("it is open");
    assert_eq!(
        inside.title,
        "a transaction stays open during a sleep of 20.0 ms at app/controllers/orders.rb:12"
    );
    assert!(
        inside.evidence[0]
            .to_string()
            .contains("app/models/voucher.rb:6"),
        "{inside:?}"
    );
    // Nobody waits for its rows here.
    assert_eq!(inside.confidence, Confidence::Low);
    assert_eq!(open(&["sleep", SIGN, CREATE, WEB]), None);
    // After COMMIT the rows are free, unless a callback begins another transaction.
    let ended = "ActiveRecord::ConnectionAdapters::Transaction#commit_records /gems/ar.rb 7";
    assert_eq!(
        open(&["sleep", SIGN, ended, TRANSACTION, CREATE, WEB]),
        None
    );
    let again = [
        "sleep",
        SIGN,
        CREATE,
        TRANSACTION,
        SIGN,
        ended,
        TRANSACTION,
        CREATE,
        WEB,
    ];
    assert!(open(&again).is_some());
    // A statement that a transaction runs is no wait besides.
    assert_eq!(open(&["sleep", TRANSACTION, CREATE, WEB]), None);
}

#[test]
fn a_pooled_connection_held_during_a_wait_is_found() {
    let pool = "ConnectionPool#with /gems/connection_pool.rb 3";
    let findings = sleeping(&["sleep", SIGN, CREATE, pool, CREATE, WEB]);
    assert!(
        findings
            .iter()
            .any(|found| found.rule == RuleId::ConnectionHeld),
        "{findings:#?}"
    );
}

const MODEL: &str = "spent /srv/app/models/customer.rb 7";
const LOAD: &str = "instantiate /gems/ar/result.rb 8";

/// 1,000 requests loading 400 rows each, with responses of `body_bytes`.
fn adding_up(body_bytes: u64) -> Run {
    let run = busy("GET /customers/:id").issuing(
        "SELECT * FROM orders WHERE customer_id = ?",
        "app/models/customer.rb:7 < app/web.rb:9",
        1,
        1.0,
    );
    run.with(|recording| {
        for handled in &mut recording.handled {
            handled.sql[0].rows = 400;
        }
        for exchange in &mut recording.exchanges {
            exchange.body_bytes = body_bytes;
        }
    })
}

#[test]
fn rows_that_no_response_can_show_are_added_up_in_ruby() {
    let samples: &[(u64, &[&str])] = &[(80, &[LOAD, MODEL, WEB]), (20, &[WEB])];
    let finding = one(&adding_up(300), samples, "rows-in-ruby");
    assert_eq!(
        finding.title,
        "400 rows are loaded per request at app/models/customer.rb:7, and none is shown"
    );
    // Nearly all of what runs below the line, which is four fifths of 4 ms; the rest is 0.1 ms of
    // the server's.
    assert!((finding.gain_share - 0.78).abs() < 0.03, "{finding:#?}");
    let is_found = |run: &Run| {
        let findings = found(run, &profile(run, samples));
        findings.iter().any(|it| it.rule == RuleId::RowsInRuby)
    };
    assert!(!is_found(&adding_up(40_000)));
    assert!(!is_found(&adding_up(0)), "a redirect shows nothing");
    let page = |change: fn(&mut recording::AnswerFacts)| {
        answering(
            adding_up(300),
            "GET /customers/:id",
            "text/html",
            300,
            change,
        )
    };
    assert!(is_found(&page(
        |facts| facts.content_encoding = TextId::NONE
    )));
    assert!(!is_found(&page(|_| {})), "compressed rows take as little");
    // Its rows are in the pages of those who have none yet.
    let unchanged = adding_up(3_000).with(|recording| {
        for exchange in recording.exchanges.iter_mut().skip(1).step_by(2) {
            (exchange.status, exchange.body_bytes) = (304, 0);
        }
    });
    assert!(!is_found(&unchanged));
    let mut changing = adding_up(300);
    let line = changing.text("POST /customers/1/orders");
    for exchange in &mut changing.0.exchanges {
        exchange.line = line;
    }
    assert!(!is_found(&changing));
}

#[test]
fn partials_cost_what_goes_on_around_them() {
    let samples: &[(u64, &[&str])] = &[
        (
            40,
            &[
                "lookup /gems/av.rb 5",
                "Helpers#render /gems/av.rb 9",
                LOOP,
                WEB,
            ],
        ),
        (
            30,
            &[
                "row /srv/app/views/row.erb 1",
                "render /gems/av.rb 9",
                LOOP,
                WEB,
            ],
        ),
        (30, &["render /gems/av.rb 1", WEB]),
    ];
    let run = busy("GET /list").doing(ActKind::Work, "template", "app/web.rb:9", 1, 3.0);
    let finding = one(&run, samples, "partials-in-loop");
    let at_once: &[(u64, &[&str])] = &[(
        100,
        &[
            "lookup /gems/av.rb 5",
            "CollectionRenderer#render_collection /gems/av.rb 7",
            "Helpers#render /gems/av.rb 9",
            LOOP,
            WEB,
        ],
    )];
    let findings = found(&run, &profile(&run, at_once));
    assert!(
        findings
            .iter()
            .all(|finding| finding.rule != RuleId::PartialsInLoop)
    );
    assert_eq!(
        finding.title,
        "40% of GET /list is spent on calling the partials that app/views/list.erb:2 renders"
    );
    let said = |finding: &Finding| finding.remedy.text.to_string();
    let of_rails = one(
        &run.set_to("framework", "Rails"),
        samples,
        "partials-in-loop",
    );
    assert!(said(&of_rails).contains("collection:"), "{of_rails:?}");
    assert!(!said(&finding).contains("collection:"), "{finding:?}");
}

/// Sinatra renders by a method named after the engine.
#[test]
fn partials_of_sinatra_are_rendered_too() {
    let around = |called: &str| {
        let (around, within) = (
            ["render /gems/tilt.rb 5", called, LOOP, WEB],
            ["row /srv/app/views/row.erb 1", called, LOOP, WEB],
        );
        let samples: [(u64, &[&str]); 3] = [
            (40, &around),
            (30, &within),
            (30, &["call /gems/rack.rb 1"]),
        ];
        let run = busy("GET /list").doing(ActKind::Work, "template", "app/web.rb:9", 1, 3.0);
        let findings = found(&run, &profile(&run, &samples));
        findings
            .iter()
            .find(|finding| finding.rule == RuleId::PartialsInLoop)
            .map(|finding| finding.title.to_string())
    };
    assert_eq!(
        around("Sinatra::Templates#erb /gems/sinatra/base.rb 9").as_deref(),
        Some("40% of GET /list is spent on calling the partials that app/views/list.erb:2 renders")
    );
    // A helper that renders something else than a template of the app's.
    assert_eq!(around("Markup#html /gems/markup.rb 9"), None);
}

#[test]
fn starting_a_program_is_part_of_waiting_for_it() {
    let waits = |samples: &[(u64, &[&str])]| {
        let run = busy("GET /list").with(|recording| {
            for handled in &mut recording.handled {
                handled.parts.other_io = nanos(1.0);
            }
        });
        let run = run.doing(ActKind::OtherIo, "a subprocess", "app/web.rb:9", 1, 1.0);
        one(&run, samples, "subprocess")
    };
    let starts = waits(&[(75, &["Kernel#`", WEB]), (25, &["render /gems/av.rb 1"])]);
    let only_waits = waits(&[(100, &["render /gems/av.rb 1", WEB])]);
    assert!(
        starts.gain_share > 2.0 * only_waits.gain_share,
        "{starts:#?}"
    );
}

#[test]
fn json_costs_what_is_made_ready_for_it_but_the_statements() {
    let json = |share: u64| {
        let run = busy("GET /list").doing(ActKind::Work, "JSON.generate", "app/web.rb:9", 1, 0.8);
        let made = [
            "attributes /gems/am.rb 4",
            "Serialization#serializable_hash /gems/am.rb 7",
            WEB,
        ];
        let asked = [
            "build /gems/active_record/relation.rb 4",
            "Bug#as_json /srv/app/models/bug.rb 4",
            WEB,
        ];
        let samples: [(u64, &[&str]); 3] = [(share, &made), (20, &asked), (80 - share, &[WEB])];
        let findings = found(&run, &profile(&run, &samples));
        let twice = findings
            .iter()
            .any(|it| it.rule == RuleId::HotMethod && share > 50);
        assert!(!twice, "{findings:#?}");
        one(&run, &samples, "json-share").gain_share
    };
    // Its time, which holds the statements, is 20%.
    assert!((json(15) - 0.15).abs() < 0.02, "{}", json(15));
    assert!((json(60) - 0.58).abs() < 0.03, "{}", json(60));
}

/// A route with few requests has few samples, and says nothing of the others' statements.
#[test]
fn json_of_sampled_routes_leaves_their_statements_out_beside_a_rare_route() {
    let rare = Work {
        running: 4.0,
        ..Work::default()
    };
    let json = |run: Run| run.doing(ActKind::Work, "JSON.generate", "app/web.rb:9", 1, 3.0);
    let run = json(busy("GET /list").requests("GET /rare", 9, rare));
    let made = ["Serialization#serializable_hash /gems/am.rb 7", WEB];
    let asked = [
        "build /gems/active_record/relation.rb 4",
        "Bug#as_json /srv/app/models/bug.rb 4",
        WEB,
    ];
    let samples: [(u64, &[&str]); 3] = [(15, &made), (60, &asked), (25, &[WEB])];
    let json = one(&run, &samples, "json-share");
    assert!((json.gain_share - 0.15).abs() < 0.02, "{json:#?}");
    let timed = "JSON.generate 3.03 s with the statements in it";
    let lines: Vec<String> = json.evidence.iter().map(|it| it.to_string()).collect();
    assert!(
        lines.iter().any(|line| line.starts_with(timed)),
        "{lines:#?}"
    );
}

/// `render json: relation` loads the rows, with all included associations, on the way to JSON: less
/// in the JSON needs no associations, but the rows.
#[test]
fn json_costs_the_associations_in_it_but_not_the_lists_own_rows() {
    let json = |loader: &str| {
        let run = busy("GET /list").doing(ActKind::Work, "JSON.generate", "app/web.rb:9", 1, 0.8);
        let made = ["as_json /gems/am.rb 7", WEB];
        let loaded = [
            "instantiate /gems/active_record/result.rb 4",
            loader,
            "as_json /gems/active_record/relation.rb 7",
            WEB,
        ];
        let samples: [(u64, &[&str]); 3] = [(20, &made), (40, &loaded), (40, &[WEB])];
        one(&run, &samples, "json-share").gain_share
    };
    let associations =
        json("ActiveRecord::Associations::Preloader#call /gems/active_record/p.rb 5");
    assert!((associations - 0.58).abs() < 0.05, "{associations}");
    let rows = json("exec_queries /gems/active_record/relation.rb 5");
    assert!((rows - 0.2).abs() < 0.03, "{rows}");
}

#[test]
fn what_a_line_does_besides_its_statement_is_not_the_statements() {
    let run = listing();
    let rows = ["find /gems/active_record/relation.rb 5", LINE, LOOP, WEB];
    let profile = profile(
        &run,
        &[
            (30, &rows),
            (50, &["Array#map", LINE, LOOP, WEB]),
            (20, &["render /gems/erb.rb 1", WEB]),
        ],
    );
    let joined = breakdown::join(&run.0);
    let costs = Costs::of(&profile, &run.0, &joined, None);
    let shares = costs.share_below(0, LIST, LIST).expect("shares");
    assert!((shares.issuing - 0.3).abs() < 1e-9, "{shares:?}");
    let hot = costs.hot_methods();
    assert!((hot[0].share - 0.5).abs() < 1e-9, "{hot:#?}");
}

#[test]
fn a_client_of_the_apps_own_is_called_from_where_its_file_ends() {
    let gets = [
        "IO#gets",
        "read /srv/app/lib/store.rb 25",
        "call /srv/app/lib/store.rb 20",
        "get /srv/app/lib/store.rb 10",
        WEB,
    ];
    let run = busy("GET /list");
    let mut profile = profile(&run, &[(60, &gets), (40, &[WEB])]);
    let waits = profile.samples.iter().take(40).cloned();
    let waits: Vec<Sample> = waits
        .map(|sample| Sample {
            state: State::GvlWait,
            ..sample
        })
        .collect();
    profile.samples.extend(waits);
    let joined = breakdown::join(&run.0);
    let costs = Costs::of(&profile, &run.0, &joined, Some("/srv"));
    let io = costs.io(0).expect("a line that reads");
    assert_eq!((io.line, io.waiting), ("app/web.rb:9", 1.0));
    assert!((io.held - 0.6).abs() < 1e-9, "{io:?}");
}
