//! Rules on responses, and on the database server's facts.

use recording::{AnswerFacts, AskedAgain, ColumnFacts, Counter, DatabaseFacts, Nanos, Sameness};

use super::*;
use crate::rule_id::RuleId;

/// Heads of 40 responses, each compared between users.
pub(super) fn answering(
    run: Run,
    line: &str,
    kind: &str,
    bytes: u64,
    change: fn(&mut AnswerFacts),
) -> Run {
    run.with(|recording| {
        let line = recording.texts.keep(line);
        let mut facts = AnswerFacts {
            line,
            status: 200,
            seen: 40,
            content_type: recording.texts.keep(kind),
            // So that nothing is said of compression.
            content_encoding: recording.texts.keep("gzip"),
            repeated: 39,
            repeated_equal: 39,
            ..AnswerFacts::default()
        };
        change(&mut facts);
        recording.answers.push(facts);
        for exchange in &mut recording.exchanges {
            exchange.body_bytes = bytes;
        }
    })
}

fn asked(sameness: Sameness) -> Option<AskedAgain> {
    Some(AskedAgain {
        visitors: 2,
        sessions: 2,
        apart: Nanos(3_000_000_000),
        sameness,
    })
}

fn database(run: Run, counters: &[(&str, u64)], columns: &[(&str, &str, bool, u64)]) -> Run {
    run.with(|recording| {
        recording.database = Some(DatabaseFacts {
            start: recording.window.start,
            end: recording.window.end,
            counters: counters
                .iter()
                .map(|(name, after)| Counter {
                    name: (*name).to_owned(),
                    before: 0,
                    after: *after,
                })
                .collect(),
            columns: columns
                .iter()
                .map(|(table, column, binary, bytes_mean)| ColumnFacts {
                    table: (*table).to_owned(),
                    column: (*column).to_owned(),
                    binary: *binary,
                    bytes_mean: *bytes_mean,
                })
                .collect(),
            ..DatabaseFacts::default()
        });
    })
}

fn requests(line: &str) -> Run {
    let work = Work {
        running: 1.0,
        ..Work::default()
    };
    Run::new().requests(line, 1_000, work)
}

/// Pages of one kind get one advice.
#[test]
fn pages_with_the_same_advice_on_caching_are_one_finding() {
    let work = Work {
        running: 1.0,
        ..Work::default()
    };
    let mut run = requests("GET /news").requests("GET /about", 400, work);
    run = run.requests("GET /logo.svg.erb", 400, work);
    for (route, kind) in [
        ("GET /news", "text/html"),
        ("GET /about", "text/html"),
        ("GET /logo.svg.erb", "image/svg+xml"),
    ] {
        run = answering(run, route, kind, 2_000, |_| {});
    }
    let findings = run.check(&["answers-equal", "answers-equal"]);
    let pages = findings.iter().find(|it| it.route == "GET /news");
    let pages = pages.expect("a finding");
    assert_eq!(
        pages.title,
        "no Cache-Control on GET /news and 1 more: the same for all users of the run"
    );
    let lines = pages.evidence.iter().map(|line| line.to_string());
    assert!(
        lines
            .into_iter()
            .any(|line| line.starts_with("GET /about: ")),
        "{pages:#?}"
    );
}

/// A cache before the app saves what the loop costs only as long as nobody mends the loop.
#[test]
fn a_cause_in_the_app_comes_before_a_cache_for_it() {
    let order = |loop_ms: f64| {
        let work = Work {
            running: 1.0,
            sql: 3.0,
            ..Work::default()
        };
        let run = Run::new().requests("GET /news", 1_000, work).issuing(
            "SELECT name FROM users WHERE id = ?",
            "app.rb:3",
            40,
            loop_ms,
        );
        let run = answering(run, "GET /news", "text/html", 2_000, |facts| {
            facts.with_credentials = 40;
            facts.asked_again = asked(Sameness::Same);
        });
        let findings = run.findings();
        let rules: Vec<RuleId> = findings.iter().map(|finding| finding.rule).collect();
        rules[..2].to_vec()
    };
    assert_eq!(order(3.0), [RuleId::NPlusOne, RuleId::AnswersEqual]);
    assert_eq!(order(1.0), [RuleId::AnswersEqual, RuleId::NPlusOne]);
}

#[test]
fn equal_answers_without_a_word_on_keeping_them() {
    let check = |change: fn(&mut AnswerFacts), expected: &[&str]| {
        let run = requests("GET /news");
        answering(run, "GET /news", "text/html", 2_000, change).check(expected);
    };
    check(|_| {}, &["answers-equal"]);
    let told = |kind: &str, change: fn(&mut AnswerFacts)| {
        let found = answering(requests("GET /news"), "GET /news", kind, 2_000, change)
            .check(&["answers-equal"]);
        (found[0].confidence, found[0].remedy.exact.is_some())
    };
    assert_eq!(told("text/html", |_| {}), (Confidence::Low, false));
    assert_eq!(
        told("text/html", |facts| facts.with_credentials = 40),
        (Confidence::Medium, false)
    );
    assert_eq!(told("image/png", |_| {}), (Confidence::Medium, true));
    // Small bodies of users with sessions are equal by chance.
    let private = |kind: &str, bytes: u64| {
        let run = answering(requests("GET /news"), "GET /news", kind, bytes, |facts| {
            facts.with_credentials = 40;
        });
        let found = run.check(&["answers-equal"]).remove(0);
        (found.confidence, found.remedy.exact_text())
    };
    let (confidence, exact) = private("image/png", 2_000);
    assert_eq!(confidence, Confidence::Medium);
    assert_eq!(
        exact.as_deref(),
        Some("Cache-Control: private, max-age=86400")
    );
    assert_eq!(private("application/json", 40), (Confidence::Low, None));
    check(|facts| facts.with_etag = 1, &[]);
    check(|facts| facts.with_cache_control = 40, &[]);
    check(|facts| facts.repeated_equal = 38, &[]);
    check(|facts| (facts.repeated, facts.repeated_equal) = (9, 9), &[]);
}

/// Without the proof nothing is for a shared cache, however equal the load's responses were.
#[test]
fn a_public_cache_is_advised_with_proof_only() {
    let check = |kind: &str, change: fn(&mut AnswerFacts), is_public: bool, evidence: &str| {
        let run = answering(requests("GET /news"), "GET /news", kind, 2_000, change);
        let found = run.check(&["answers-equal"]).remove(0);
        let remedy = format!(
            "{} {}",
            found.remedy.text,
            found.remedy.exact_text().unwrap_or_default()
        );
        assert_eq!(remedy.contains("public, max-age="), is_public, "{remedy}");
        assert_eq!(found.gain_share > 0.0, is_public, "{found:#?}");
        let lines: Vec<String> = found.evidence.iter().map(ToString::to_string).collect();
        assert!(
            lines.iter().any(|line| line.contains(evidence)),
            "{lines:?}"
        );
    };
    for kind in ["text/html", "image/png"] {
        check(kind, |_| {}, false, "was not asked after the load");
        let same: fn(&mut AnswerFacts) = |facts| facts.asked_again = asked(Sameness::Same);
        check(
            kind,
            same,
            true,
            "by 2 visitors without a session and 2 users with theirs, twice within 3.00 s",
        );
        let with_cookie: fn(&mut AnswerFacts) = |facts| {
            facts.asked_again = asked(Sameness::Same);
            facts.with_set_cookie = 1;
        };
        check(
            kind,
            with_cookie,
            false,
            "1 answers of the load set a cookie",
        );
    }
    let refuse: fn(&mut AnswerFacts) = |facts| facts.asked_again = asked(Sameness::Refused);
    check("image/png", refuse, false, "not all got the page");
    let change: fn(&mut AnswerFacts) = |facts| facts.asked_again = asked(Sameness::BodiesChange);
    check(
        "text/html",
        change,
        false,
        "within 3.00 s, the body had changed",
    );
}

#[test]
fn files_that_the_app_serves() {
    let run = requests("GET /app.css");
    let found = answering(run, "GET /app.css", "text/css", 2_000, |_| {}).check(&["static-files"]);
    assert!(
        found[0].title.to_string().contains("1 static files: 100%"),
        "{}",
        found[0].title
    );
    // What takes a statement is made, not read.
    requests("GET /app.css")
        .issuing("SELECT css FROM theme", "app.rb:1", 1, 0.1)
        .with(|recording| {
            recording
                .handled
                .iter_mut()
                .for_each(|one| one.statements = 1)
        })
        .check(&[]);
}

#[test]
fn pictures_out_of_the_database() {
    let run = |bytes| {
        let run =
            requests("GET /icon").issuing("SELECT * FROM image WHERE name = ?", "app.rb:9", 1, 0.5);
        answering(run, "GET /icon", "image/png", bytes, |facts| {
            facts.with_etag = 40
        })
    };
    let columns = [("image", "data", true, 30_000)];
    database(run(30_000), &[], &columns).check(&["large-bodies"]);
    database(run(1_000), &[], &[("image", "data", true, 1_000)]).check(&[]);
    database(run(30_000), &[], &[("image", "data", true, 10)]).check(&[]);
}

#[test]
fn columns_that_no_answer_can_hold() {
    let reading = |statement: &str, bytes, rows: u64, change: fn(&mut AnswerFacts)| {
        let run = requests("GET /page").issuing(statement, "app.rb:9", 1, 0.5);
        let run = run.with(|recording| {
            let used = recording.handled.iter_mut().flat_map(|one| &mut one.sql);
            used.for_each(|used| used.rows = rows);
        });
        // So that nothing is said of compression.
        let run = answering(run, "GET /page", "application/pdf", bytes, change);
        database(run, &[], &[("channel", "description", false, 600)])
    };
    let plain: fn(&mut AnswerFacts) = |facts| {
        facts.with_etag = 40;
        facts.content_encoding = TextId::NONE;
    };
    let all = "SELECT * FROM channel ORDER BY id";
    reading(all, 10_000, 100, plain).check(&["wide-columns"]);
    reading(all, 50_000, 100, plain).check(&[]);
    reading(all, 1_000, 3, plain).check(&[]);
    reading(all, 10_000, 100, |facts| facts.with_etag = 40).check(&[]);
    // Half of the clients have the page already.
    let unchanged = |bytes| {
        reading(all, bytes, 100, plain).with(|recording| {
            for exchange in recording.exchanges.iter_mut().skip(1).step_by(2) {
                (exchange.status, exchange.body_bytes) = (304, 0);
            }
        })
    };
    unchanged(10_000).check(&["wide-columns"]);
    unchanged(50_000).check(&[]);
    let models = r#"SELECT "channel".* FROM "channel" ORDER BY "channel"."id" ASC"#;
    let found = reading(models, 10_000, 100, plain).check(&["wide-columns"]);
    let remedy = found[0].remedy.text.to_string();
    assert!(remedy.contains("`select`"), "{remedy}");
    let some = r#"SELECT "channel"."id" FROM "channel" ORDER BY "channel"."id" ASC"#;
    reading(some, 10_000, 100, plain).check(&[]);
}

#[test]
fn one_row_updated_twice_by_sequel() {
    let sequel = |column: &str| format!(r#"UPDATE "users" SET "{column}" = ? WHERE ("id" = ?)"#);
    requests("POST /profile")
        .issuing(&sequel("icon"), "app.rb:1", 1, 0.2)
        .issuing(&sequel("name"), "app.rb:2", 1, 0.2)
        .check(&["several-updates"]);
}

#[test]
fn one_row_updated_twice() {
    let run = |second: &str| {
        requests("POST /profile")
            .issuing("UPDATE users SET icon = ? WHERE id = ?", "app.rb:1", 1, 0.2)
            .issuing(second, "app.rb:2", 1, 0.2)
    };
    run("UPDATE users SET name = ? WHERE id = ?").check(&["several-updates"]);
    run("UPDATE teams SET name = ? WHERE id = ?").check(&[]);
    // Two rows, of which each has the column set once.
    run("UPDATE users SET icon = LOWER(?) WHERE id = ?").check(&[]);
    run("SELECT name FROM users WHERE id = ?").check(&[]);
    let work = Work {
        running: 400.0,
        ..Work::default()
    };
    let beside = run("UPDATE users SET name = ? WHERE id = ?").requests("GET /report", 400, work);
    let findings = beside.findings();
    let mut found = findings
        .iter()
        .filter(|it| it.rule == RuleId::SeveralUpdates);
    let confidence = found.next().map(|finding| finding.confidence);
    assert_eq!(confidence, Some(Confidence::Low), "little of the run");
    // Two in each request, four in all requests.
    let pairs = |count: u64, each_ms: f64| {
        let work = Work {
            running: 1.0,
            ..Work::default()
        };
        let mut run = Run::new().requests("POST /profile", count, work);
        let columns = [["icon", "name"], ["mail", "phone"]];
        let digest = |column: &str| format!("UPDATE users SET {column} = ? WHERE id = ?");
        let pairs = columns.map(|pair| pair.map(|column| run.text(&digest(column))));
        let site = run.text("app.rb:1");
        for (at, handled) in run.0.handled.iter_mut().enumerate() {
            for digest in pairs[at % 2] {
                handled.sql.push(SqlUse {
                    digest,
                    site,
                    count: 1,
                    rows: 0,
                    time: nanos(each_ms),
                    gvl_wait: Nanos::ZERO,
                });
            }
        }
        let findings = run.findings().into_iter();
        let mut found = findings.filter(|it| it.rule == RuleId::SeveralUpdates);
        let found = found.next();
        found.map(|finding| (finding.title.to_string(), finding.confidence))
    };
    let said = |confidence| {
        Some((
            "2 × UPDATE users in one POST /profile".to_owned(),
            confidence,
        ))
    };
    assert_eq!(pairs(1_000, 0.2), said(Confidence::Medium));
    assert_eq!(pairs(18, 0.2), said(Confidence::Low), "few requests");
    assert_eq!(
        pairs(1_000, 0.005),
        said(Confidence::Low),
        "half a per cent"
    );
    assert_eq!(pairs(1, 0.2), None);
}

#[test]
fn connections_and_statements_made_anew() {
    let run = |counters: &[(&str, u64)]| {
        let run = requests("GET /a").issuing("SELECT a FROM t WHERE id = ?", "app.rb:1", 1, 0.2);
        let run = run.with(|recording| {
            recording
                .handled
                .iter_mut()
                .for_each(|one| one.statements = 1)
        });
        database(run, counters, &[])
    };
    run(&[("Connections", 1_000)]).check(&["connection-per-request"]);
    run(&[("Connections", 20)]).check(&[]);
    let statements = |prepared, closed, executed| {
        [
            ("Com_stmt_prepare", prepared),
            ("Com_stmt_close", closed),
            ("Com_stmt_execute", executed),
        ]
    };
    let forgotten = statements(1_000, 0, 1_000);
    run(&forgotten).check(&["prepared-statements"]);
    let closed = statements(1_000, 990, 1_000);
    run(&closed).check(&[]);
    let used = statements(200, 0, 9_000);
    run(&used).check(&[]);
}
