//! Rules on waits, locks, named work, connections and garbage, from the agent's records.

use recording::RuntimeSample;

use super::*;

const SITE: &str = "app.rb:145 in fetch < app.rb:150";

/// Returns requests of 10 ms, with 2 ms of running time.
fn requests() -> Run {
    let work = Work {
        running: 2.0,
        sql: 8.0,
        ..Work::default()
    };
    Run::new().requests("GET /fetch", 500, work)
}

#[test]
fn sleeping_is_told_with_its_line() {
    let findings = requests()
        .doing(ActKind::Sleep, "sleep", SITE, 1, 5.0)
        .check(&["sleep"]);
    let finding = &findings[0];
    assert_eq!(
        finding.title,
        "GET /fetch sleeps 5.00 ms per request at app.rb:145"
    );
    assert_eq!(finding.confidence, Confidence::High);
    // 5 of 10.1 ms.
    assert!(
        (finding.gain_share - 5.0 / 10.1).abs() < 0.01,
        "{finding:?}"
    );
    let site = format!("called from {SITE}");
    assert!(finding.evidence.iter().any(|line| *line == site.as_str()));
    requests()
        .doing(ActKind::Sleep, "sleep", SITE, 1, 0.4)
        .check(&[]);
}

/// The cause of one slow page is worth a fix, however much time the others take.
#[test]
fn a_sleep_that_makes_up_a_cheap_route_is_found() {
    let heavy = Work {
        running: 400.0,
        ..Work::default()
    };
    let light = Work {
        running: 6.0,
        sleep: 4.0,
        ..Work::default()
    };
    let run = |sleep_ms: f64| {
        Run::new()
            .requests("GET /people", 500, light)
            .doing(ActKind::Sleep, "sleep", SITE, 1, sleep_ms)
            .requests("GET /report", 500, heavy)
    };
    let findings = run(4.0).check(&["sleep"]);
    assert_eq!(
        findings[0].title,
        "GET /people sleeps 4.00 ms per request at app.rb:145"
    );
    run(1.0).check(&[]);
}

#[test]
fn other_waits_are_less_certain() {
    let check = |what: &str, rule, title: &str, confidence| {
        let findings = requests()
            .doing(ActKind::OtherIo, what, SITE, 1, 2.0)
            .check(&[rule]);
        assert_eq!(findings[0].title, title);
        assert_eq!(findings[0].confidence, confidence);
    };
    check(
        "a name server",
        "wait",
        "GET /fetch waits 2.00 ms per request for a name server at app.rb:145",
        Confidence::Medium,
    );
    check(
        "a subprocess",
        "subprocess",
        "GET /fetch waits 2.00 ms per request for a subprocess at app.rb:145",
        Confidence::High,
    );
    requests()
        .doing(ActKind::OtherIo, "", SITE, 1, 0.9)
        .check(&[]);
}

/// Also of an app with connections and no models.
#[test]
fn the_pool_has_the_name_of_the_mappers_option() {
    let exact = |name: &str, value: &str| {
        let run = requests().doing(ActKind::Lock, "connection pool", SITE, 1, 4.0);
        let findings = run.set_to(name, value).check(&["pool-wait"]);
        findings[0].remedy.exact_text()
    };
    let models = exact(
        "association Sequel Order.notes",
        "many orders notes order_id",
    );
    assert_eq!(models.as_deref(), Some("max_connections: 5"));
    let bare = exact("mapper", "Sequel");
    assert_eq!(bare.as_deref(), Some("max_connections: 5"));
    let both = exact("mapper", "ActiveRecord, Sequel");
    assert_eq!(both.as_deref(), Some("pool: 5"));
}

#[test]
fn locks_and_pools_are_told_apart() {
    let check = |what: &str, rule: &'static str, title: &str, exact: Option<&str>| {
        let findings = requests()
            .doing(ActKind::Lock, what, SITE, 1, 4.0)
            .check(&[rule]);
        let finding = &findings[0];
        assert!(
            finding.title.to_string().contains(title),
            "{}",
            finding.title
        );
        assert_eq!(finding.remedy.exact_text().as_deref(), exact);
    };
    check(
        "Mutex",
        "lock-wait",
        "requests wait 4.00 ms for a Mutex at app.rb:145",
        None,
    );
    check(
        "Thread#join",
        "lock-wait",
        "threads that they started",
        None,
    );
    check(
        "Queue#pop",
        "pool-wait",
        "Queue#pop at app.rb:145, for something that another thread hands over",
        None,
    );
    check(
        "connection pool",
        "pool-wait",
        "for a database connection",
        Some("pool: 5"),
    );
    requests()
        .doing(ActKind::Lock, "Mutex", SITE, 1, 0.4)
        .check(&[]);
    // The database has a connection for each of the five threads: another pool is too small.
    let other = requests()
        .doing(ActKind::Lock, "connection pool", SITE, 1, 4.0)
        .with(|recording| recording.meta.target.database_pool = Some(5))
        .check(&["pool-wait"]);
    assert_eq!(
        other[0].title,
        "requests wait 4.00 ms for a connection of a pool at app.rb:145"
    );
    assert_eq!(other[0].remedy.exact, None);
    assert_eq!(other[0].confidence, Confidence::Medium);
    // One lock, whoever calls the line that takes it.
    requests()
        .doing(ActKind::Lock, "Mutex", "app.rb:23 < app.rb:11", 1, 0.4)
        .doing(ActKind::Lock, "Mutex", "app.rb:23 < app.rb:12", 1, 0.45)
        .check(&["lock-wait"]);
    // One pool, whatever the line; each line's part would be too little to be said.
    let both = requests()
        .doing(ActKind::Lock, "connection pool", "app.rb:12", 1, 0.4)
        .doing(ActKind::Lock, "connection pool", "app.rb:18", 1, 0.45)
        .check(&["pool-wait"]);
    assert!(
        both[0].title.to_string().ends_with("app.rb:18"),
        "{}",
        both[0].title
    );
}

#[test]
fn named_work_is_told_from_its_share_on() {
    let share = |what: &str, time: f64, rules: &[&str]| {
        requests()
            .doing(ActKind::Work, what, SITE, 3, time)
            .check(rules)
    };
    share("JSON.generate", 0.9, &[]);
    let json = share("JSON.generate", 1.5, &["json-share"]);
    assert!(
        json[0]
            .title
            .to_string()
            .starts_with("JSON is 15% of the handlers' time"),
        "{}",
        json[0].title
    );
    assert!(json[0].remedy.text.to_string().contains("oj"));
    let session = share("session load", 1.5, &["session-share"]);
    let said = session[0].remedy.text.to_string();
    assert!(said.contains("logs everybody out"), "{said}");
    share("Marshal.load", 1.5, &["marshal-share"]);
    share("template", 2.0, &[]);
    let template = share("template", 4.0, &["template-share"]);
    assert_eq!(template[0].confidence, Confidence::Low);
    let said = template[0].remedy.text.to_string();
    assert!(said.starts_with("cache the text"), "{said}");
    let rails = requests()
        .doing(ActKind::Work, "template", SITE, 1, 4.0)
        .set_to("framework", "Rails")
        .check(&["template-share"]);
    let said = rails[0].remedy.text.to_string();
    assert!(said.contains("collection: @rows"), "{said}");
    let both = requests()
        .doing(ActKind::Work, "JSON.generate", SITE, 1, 0.7)
        .doing(ActKind::Work, "JSON.parse", SITE, 1, 0.7);
    both.check(&["json-share"]);
}

#[test]
fn a_log_is_told_with_what_it_is_set_to() {
    let findings = requests()
        .doing(ActKind::Work, "log", SITE, 9, 0.8)
        .set_to("log level", "debug")
        .set_to("log device", "log/production.log, sync")
        .check(&["logging"]);
    let set = "log level: debug; log device: log/production.log, sync";
    assert!(
        findings[0].evidence.iter().any(|line| *line == set),
        "{findings:#?}"
    );
    let chatty = |level: &str, environment: &str| {
        let run = requests().doing(ActKind::Work, "log", SITE, 9, 0.8);
        let run = run.set_to("log level", level);
        run.set_to("environment", environment)
    };
    let remedy = |level: &str| {
        let findings = chatty(level, "production").check(&["logging"]);
        let remedy = &findings[0].remedy;
        (remedy.exact_text(), remedy.text.to_string())
    };
    let check = |level: &str, variable: Option<&str>, part: &str| {
        let (exact, text) = remedy(level);
        assert_eq!(exact.as_deref(), variable);
        assert!(text.starts_with(part), "{text}");
    };
    check(
        "debug",
        Some("RAILS_LOG_LEVEL=info"),
        "log less (info instead of debug)",
    );
    check(
        "info",
        Some("RAILS_LOG_LEVEL=warn"),
        "log less (warn instead of info)",
    );
    check("warn", None, "log less, or");
    // Which no generated file of another environment reads.
    let findings = chatty("debug", "staging").check(&["logging"]);
    assert_eq!(findings[0].remedy.exact, None);
    requests()
        .doing(ActKind::Work, "log", SITE, 9, 0.3)
        .check(&[]);
}

#[test]
fn development_mode_is_said() {
    requests().set_to("environment", "production").check(&[]);
    // Plain Rack looks at nothing again.
    requests().set_to("RACK_ENV", "development").check(&[]);
    requests()
        .set_to("environment", "development")
        .check(&["development-mode"]);
    let findings = requests()
        .set_to("reloading", "Rails")
        .check(&["development-mode"]);
    assert_eq!(
        findings[0].title,
        "code is checked for changes on every request (Rails)"
    );
    assert_eq!(
        findings[0].remedy.exact_text().as_deref(),
        Some("RAILS_ENV=production")
    );
    assert!(
        (findings[0].gain_share - 1.0 / 10.1).abs() < 0.01,
        "{findings:?}"
    );
}

#[test]
fn the_environment_is_changed_where_it_is_another_one() {
    let set = |settings: &[(&str, &str)]| {
        let set = |run: Run, (name, value): &(&str, &str)| run.set_to(name, value);
        settings.iter().fold(requests(), set)
    };
    let exact = |settings: &[(&str, &str)]| {
        let findings = set(settings).check(&["development-mode"]);
        findings[0].remedy.exact_text()
    };
    let (development, production) = (
        ("environment", "development"),
        ("environment", "production"),
    );
    let sinatra = ("reloading", "Sinatra::Reloader");
    assert_eq!(
        exact(&[development, sinatra]).as_deref(),
        Some("RACK_ENV=production")
    );
    let rails = exact(&[development, ("framework", "Rails")]);
    assert_eq!(rails.as_deref(), Some("RAILS_ENV=production"));
    // Which comes before RACK_ENV.
    let named = exact(&[development, ("APP_ENV", "development")]);
    assert_eq!(named.as_deref(), Some("APP_ENV=production"));
    // Loaded by a Gemfile, it looks at nothing there.
    set(&[production, sinatra]).check(&[]);
    let rails = exact(&[production, ("reloading", "Rails")]);
    assert_eq!(rails.as_deref(), Some("config.enable_reloading = false"));
    let rack = [("RACK_ENV", "production"), ("reloading", "Rack::Reloader")];
    assert_eq!(exact(&rack), None);
}

#[test]
fn connections_and_statements_have_their_gain_from_what_the_app_waited() {
    let asking = |run: Run| {
        run.with(|recording| {
            recording
                .handled
                .iter_mut()
                .for_each(|one| one.statements = 1)
        })
    };
    let run = asking(requests());
    let findings = run
        .doing(ActKind::Connect, "Mysql2::Client", SITE, 1, 2.0)
        .check(&["connection-per-request"]);
    assert!(
        (findings[0].gain_share - 2.0 / 10.1).abs() < 0.01,
        "{findings:?}"
    );
    assert!(
        findings[0]
            .evidence
            .iter()
            .any(|line| line.to_string().contains("app.rb:145"))
    );
    let run = || {
        requests()
            .issuing("SELECT a FROM t WHERE id = ?", SITE, 2, 1.0)
            .doing(ActKind::Prepare, "Mysql2::Client", SITE, 2, 1.0)
    };
    run().check(&["prepared-statements"]);
    run()
        .doing(ActKind::Close, "Mysql2::Statement", SITE, 2, 0.1)
        .check(&[]);
}

/// Half of the time with the GVL is garbage collection.
#[test]
fn garbage_is_told_with_its_cause_and_its_maker() {
    let collecting = |cause: &str| {
        requests().with(|recording| {
            for handled in &mut recording.handled {
                handled.parts.running = nanos(1.0);
                handled.parts.gc = nanos(1.0);
                handled.allocations = Some(20_000);
            }
            for second in 0..3 {
                recording.runtime.push(RuntimeSample {
                    at: Timestamp::from_monotonic_nanos(START + second * 1_000 * MS),
                    pid: 7,
                    gc_count: 10 * second,
                    gc_major: second,
                    gc_cause: cause.to_owned(),
                    ..RuntimeSample::default()
                });
            }
        })
    };
    let findings = collecting("malloc").check(&["gc-share"]);
    let finding = &findings[0];
    assert_eq!(
        finding.title,
        "garbage collection is 50% of the work, mostly because of malloc"
    );
    let expected = [
        "garbage collection takes 1.00 ms of the 2.00 ms per request with the GVL held",
        "20 collections in 2 s, 2 of them major",
        "GET /fetch allocates the most objects: 20,000 per request",
    ];
    assert_eq!(finding.evidence, expected);
    assert!(
        finding
            .remedy
            .exact_text()
            .as_deref()
            .unwrap()
            .starts_with("RUBY_GC_MALLOC_LIMIT=")
    );
    // Which somebody has chosen.
    let chosen = collecting("malloc").set_to("RUBY_GC_MALLOC_LIMIT", "200000000");
    let remedy = &chosen.check(&["gc-share"])[0].remedy;
    assert_eq!((&remedy.exact, remedy.safety), (&None, Safety::Code));
    let said = remedy.text.to_string();
    assert!(
        said.contains("set already: RUBY_GC_MALLOC_LIMIT=200000000"),
        "{said}"
    );
    let heap = |ruby: &str| {
        let run = collecting("newobj").with(|r| r.meta.target.ruby = ruby.to_owned());
        let exact = run.findings()[0].remedy.exact_text();
        exact.unwrap_or_default()
    };
    assert!(heap("ruby 3.2.9").starts_with("RUBY_GC_HEAP_INIT_SLOTS="));
    // The one for all slots has no effect there.
    assert!(heap("ruby 3.3.8").starts_with("RUBY_GC_HEAP_0_INIT_SLOTS="));
    let forced = collecting("method, major by force").findings();
    assert!(
        forced[0].remedy.text.to_string().contains("GC.start"),
        "{forced:#?}"
    );
}
