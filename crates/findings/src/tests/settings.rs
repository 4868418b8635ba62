//! Rules on the database's settings, rows read, transfer, cores and memory.

use crate::rule_id::RuleId;
use recording::{AnswerFacts, Counter, DatabaseFacts, StatementFacts};

use super::*;

fn requests() -> Run {
    let work = Work {
        running: 1.0,
        sql: 3.0,
        ..Work::default()
    };
    Run::new().requests("POST /message", 1_000, work)
}

const INSERT: &str = "INSERT INTO message (content) VALUES (?)";

fn database(run: Run, kind: &str, settings: &[(&str, &str)], counters: &[(&str, u64)]) -> Run {
    run.with(|recording| {
        recording.meta.target.database = kind.to_owned();
        let setting = |(name, value): &(&str, &str)| Setting {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        };
        let counter = |(name, after): &(&str, u64)| Counter {
            name: (*name).to_owned(),
            before: 0,
            after: *after,
        };
        recording.database = Some(DatabaseFacts {
            start: recording.window.start,
            end: recording.window.end,
            settings: settings.iter().map(setting).collect(),
            counters: counters.iter().map(counter).collect(),
            ..DatabaseFacts::default()
        });
    })
}

#[track_caller]
fn check(run: &Run, part: Option<&str>) {
    match part {
        None => drop(run.check(&[])),
        Some(part) => {
            let findings = run.check(&["database-settings"]);
            assert!(
                findings[0].title.to_string().contains(part),
                "{}",
                findings[0].title
            );
        }
    }
}

#[test]
fn writes_that_wait_for_the_disk_on_mysql() {
    let run = |settings: &[(&str, &str)], time: f64| {
        let run = requests().issuing(INSERT, "app.rb:1", 1, time);
        database(
            run,
            "mariadb 10.11",
            settings,
            &[("Innodb_os_log_fsyncs", 1_000)],
        )
    };
    let strict = [("innodb_flush_log_at_trx_commit", "1")];
    check(&run(&strict, 2.0), Some("innodb_flush_log_at_trx_commit=1"));
    check(&run(&[("innodb_flush_log_at_trx_commit", "2")], 2.0), None);
    check(&run(&strict, 0.1), None);
    let binlog = [("log_bin", "ON"), ("sync_binlog", "1")];
    check(&run(&binlog, 2.0), Some("sync_binlog=1"));
    check(&run(&[("log_bin", "OFF"), ("sync_binlog", "1")], 2.0), None);
    // 2 of 4.1 ms, at most.
    let share = run(&strict, 2.0).findings()[0].gain_share;
    assert!((share - 2.0 / 4.1).abs() < 0.01, "{share}");
}

/// What each flush takes is the smaller cost where a loop makes needless ones, or others hold the
/// row.
#[test]
fn settings_come_behind_the_cause_of_slow_writes() {
    const UPDATE: &str = "UPDATE events SET n = ? WHERE id = ?";
    let strict = [("innodb_flush_log_at_trx_commit", "1")];
    let on_server = |run: Run| database(run, "mariadb 10.11", &strict, &[]);
    let line = "app.rb:7 < app.rb:6";
    on_server(requests().issuing(INSERT, line, 5, 2.0)).check(&["n-plus-one", "database-settings"]);
    let share = |run: Run| {
        let findings = on_server(run).findings();
        let found = findings
            .iter()
            .find(|it| it.rule == RuleId::DatabaseSettings);
        found.map(|finding| finding.gain_share)
    };
    // The flush is COMMIT's: 0.5 of 4.1 ms.
    let in_transaction = requests().issuing(INSERT, "app.rb:1", 1, 1.5);
    let in_transaction = in_transaction.issuing("COMMIT", "app.rb:1", 1, 0.5);
    let found = share(in_transaction).expect("found");
    assert!((found - 0.5 / 4.1).abs() < 0.01, "{found}");
    // Of 15.4 ms, all but 1 are waits for the row.
    let work = Work {
        running: 1.0,
        sql: 20.0,
        ..Work::default()
    };
    let mut waiting = Run::new()
        .requests("POST /message", 1_000, work)
        .issuing(UPDATE, "app.rb:1", 1, 19.0);
    for handled in waiting.0.handled.iter_mut().step_by(5) {
        handled.sql[0].time = nanos(1.0);
    }
    let found = share(waiting).expect("found");
    assert!(found < 0.1, "{found}");
}

#[test]
fn memory_caches_and_logs_of_mysql() {
    let run = |settings: &[(&str, &str)], counters: &[(&str, u64)]| {
        database(requests(), "mysql 9.7", settings, counters)
    };
    let pool = [
        ("innodb_buffer_pool_size", "1000"),
        ("(data bytes)", "900000"),
    ];
    let reads = |read| {
        [
            ("Innodb_buffer_pool_reads", read),
            ("Innodb_buffer_pool_read_requests", 1_000),
        ]
    };
    check(
        &run(&pool, &reads(100)),
        Some("the buffer pool holds 1000 B of 879 KiB"),
    );
    check(&run(&pool, &reads(1)), None);
    let cache = [("query_cache_type", "ON"), ("query_cache_size", "1048576")];
    let hits = |hits| {
        [
            ("Qcache_hits", hits),
            ("Qcache_inserts", 1_000),
            ("Qcache_not_cached", 0),
        ]
    };
    check(&run(&cache, &hits(10)), Some("the query cache answers 1%"));
    check(&run(&cache, &hits(9_000)), None);
    let log = |time| [("slow_query_log", "ON"), ("long_query_time", time)];
    check(&run(&log("0.000000"), &[]), Some("slow_query_log"));
    check(&run(&log("10.000000"), &[]), None);
    let tables = |disk| {
        [
            ("Created_tmp_tables", 1_000),
            ("Created_tmp_disk_tables", disk),
        ]
    };
    check(
        &run(&[], &tables(500)),
        Some("50.0 temporary tables per second"),
    );
    check(&run(&[], &tables(5)), None);
}

/// An exact change lowers nothing, and asks for no more memory than the host has.
#[test]
fn changes_begin_at_the_present_state() {
    let exact = |kind: &str,
                 settings: &[(&str, &str)],
                 counters: &[(&str, u64)],
                 available: Option<u64>| {
        let server = ProcessSample {
            role: ProcessRole::Database,
            ..ProcessSample::default()
        };
        let sample = available.map(|memory_available| HostSample {
            at: Timestamp::from_monotonic_nanos(START),
            memory_available,
            processes: vec![server],
            ..HostSample::default()
        });
        let run = database(requests(), kind, settings, counters);
        let findings = run.with(|r| r.host.extend(sample)).findings();
        let found = findings
            .iter()
            .find(|it| it.rule == RuleId::DatabaseSettings);
        found.expect("found").remedy.exact_text()
    };
    let pool = |available: Option<u64>| {
        let settings = [
            ("innodb_buffer_pool_size", "67108864"),
            ("(data bytes)", "943718400"),
        ];
        let counters = [
            ("Innodb_buffer_pool_reads", 100),
            ("Innodb_buffer_pool_read_requests", 1_000),
        ];
        exact("mysql 9.7", &settings, &counters, available)
    };
    assert_eq!(pool(None), None, "the server's host is unknown");
    assert_eq!(
        pool(Some(8 << 30)).as_deref(),
        Some("SET GLOBAL innodb_buffer_pool_size = 1073741824")
    );
    // 64 MiB and half of 200.
    assert_eq!(
        pool(Some(200 << 20)).as_deref(),
        Some("SET GLOBAL innodb_buffer_pool_size = 171966464")
    );
    let temporary = [("temp_bytes", 900 << 20), ("temp_files", 9)];
    let work_mem = |bytes: &str| {
        let settings = [("work_mem", bytes)];
        exact("postgresql 15.1", &settings, &temporary, None)
    };
    assert_eq!(
        work_mem("67108864").as_deref(),
        Some("ALTER SYSTEM SET work_mem = '128MB'; SELECT pg_reload_conf()")
    );
    assert_eq!(work_mem("1073741824"), None);
    let tables = [
        ("tmp_table_size", "134217728"),
        ("max_heap_table_size", "16777216"),
    ];
    let on_disk = [
        ("Created_tmp_tables", 1_000),
        ("Created_tmp_disk_tables", 500),
    ];
    assert_eq!(
        exact("mysql 9.7", &tables, &on_disk, None).as_deref(),
        Some("SET GLOBAL max_heap_table_size = 33554432")
    );
}

#[test]
fn settings_of_postgres() {
    let run = |settings: &[(&str, &str)], counters: &[(&str, u64)]| {
        let run = requests().issuing(INSERT, "app.rb:1", 1, 2.0);
        database(run, "postgresql 15.1", settings, counters)
    };
    check(
        &run(&[("synchronous_commit", "on")], &[]),
        Some("synchronous_commit=on"),
    );
    check(&run(&[("synchronous_commit", "off")], &[]), None);
    let buffers = [("shared_buffers", "1000"), ("(data bytes)", "900000")];
    check(
        &run(&buffers, &[("blks_read", 50), ("blks_hit", 950)]),
        Some("shared_buffers hold"),
    );
    check(&run(&buffers, &[("blks_read", 1), ("blks_hit", 999)]), None);
    let temporary = [("temp_bytes", 900 << 20), ("temp_files", 9)];
    check(
        &run(&[("work_mem", "4194304")], &temporary),
        Some("wrote 900 MiB"),
    );
    check(
        &run(&[("(pg_stat_statements)", "not created")], &[]),
        Some("pg_stat_statements is missing"),
    );
}

#[test]
fn a_random_page_is_dear_only_where_a_plan_could_change() {
    let digest = "SELECT a FROM message WHERE content > ?";
    let mut step = full_scan("message", &["id"]);
    let run = |step: PlanStep| {
        let run = requests().explained(digest, vec![step]);
        database(run, "postgresql 15.1", &[("random_page_cost", "4")], &[])
    };
    check(&run(step.clone()), None);
    step.indexes.push(step.indexes[0].clone());
    check(&run(step), Some("random_page_cost is 4"));
}

#[test]
fn settings_of_sqlite() {
    let run = |mode: &str, pragma: Option<&str>| {
        let run = requests().issuing(INSERT, "app.rb:1", 1, 2.0);
        let run = database(run, "sqlite", &[("journal_mode", mode)], &[]);
        match pragma {
            Some(pragma) => run.issuing(pragma, "app.rb:2", 1, 0.0),
            None => run,
        }
    };
    check(&run("delete", None), Some("journal_mode is delete"));
    let change = |pragma: Option<&str>| run("delete", pragma).findings()[0].remedy.exact.clone();
    let present = "delete".to_owned();
    assert_eq!(change(None), Some(crate::Exact::SqliteLog { present }));
    // The app would set it back.
    let own = change(Some("PRAGMA journal_mode = DELETE")).expect("a change");
    assert!(!own.can_be_tried(), "{own:?}");
    check(&run("wal", Some("PRAGMA synchronous = NORMAL")), None);
    let unsure = run("wal", None).check(&["database-settings"]);
    assert_eq!(unsure[0].confidence, Confidence::Low);
    let told = run("wal", Some("PRAGMA synchronous = FULL")).check(&["database-settings"]);
    assert_eq!(told[0].confidence, Confidence::Medium);
}

#[test]
fn rows_that_are_read_for_nothing() {
    let run_of = |digest: &str, examined: u64| {
        let run = requests().issuing(digest, "app.rb:4 in x", 1, 2.0);
        let run = database(run, "mariadb 10.11", &[], &[]);
        run.with(|recording| {
            let digest = recording.texts.keep(digest);
            let facts = recording.database.as_mut().expect("a database");
            facts.statements.push(StatementFacts {
                digest,
                count: 1_000,
                rows_examined: examined,
                rows_sent: 1_000,
                ..StatementFacts::default()
            });
        })
    };
    let run = |examined: u64| run_of("SELECT a FROM t WHERE lower(b) = ?", examined);
    let findings = run(5_000_000).check(&["rows-examined"]);
    let title = findings[0].title.to_string();
    assert_eq!(
        title,
        "SELECT … FROM t reads 5000 rows for each one it returns (app.rb:4)"
    );
    run(40_000).check(&[]);
    let rows = findings[0].gain_share;
    let sum = run_of("SELECT SUM(a) FROM t WHERE lower(b) = ?", 5_000_000);
    let sum = &sum.check(&["rows-examined"])[0];
    assert!(sum.gain_share < 0.6 * rows, "{sum:?}");
    assert!(
        sum.remedy.text.to_string().contains("keep the result"),
        "{sum:?}"
    );
}

/// The gain of an index is not promised again for another way of paging.
#[test]
fn nothing_is_promised_twice() {
    let count = "SELECT COUNT(*) FROM message WHERE channel_id = ?";
    let page = "SELECT * FROM message WHERE channel_id = ? ORDER BY id DESC LIMIT ? OFFSET ?";
    let run = requests()
        .issuing(count, "app.rb:1", 1, 1.5)
        .issuing(page, "app.rb:2", 1, 1.5)
        .explained(count, vec![full_scan("message", &MESSAGE)])
        .explained(page, vec![full_scan("message", &MESSAGE)]);
    let findings = run.check(&["missing-index", "count-offset"]);
    let sum: f64 = findings.iter().map(|finding| finding.gain_share).sum();
    assert!(sum <= 3.0 / 4.1 + 0.001, "{findings:#?}");
    assert!(
        findings[1]
            .estimated_gain
            .to_string()
            .ends_with("beside what the missing index gives")
    );
}

/// Skipping and counting take what a lookup of the run takes, and a little for each row, where a
/// key leads to the page.
#[test]
fn paging_by_key_leaves_a_lookup() {
    let page = "SELECT * FROM message WHERE channel_id = ? ORDER BY id DESC LIMIT ? OFFSET ?";
    let share = |lookup_ms: Option<f64>| {
        let run = requests()
            .issuing("SELECT COUNT(*) FROM message", "app.rb:1", 1, 1.0)
            .issuing(page, "app.rb:2", 1, 1.0)
            .explained(
                page,
                vec![PlanStep {
                    access: Access::Index("message_channel_id".to_owned()),
                    ..full_scan("message", &MESSAGE)
                }],
            );
        let run = match lookup_ms {
            Some(ms) => run.issuing("SELECT * FROM user WHERE id = ?", "app.rb:3", 1, ms),
            None => run,
        };
        let found = run.findings();
        let found = found.iter().find(|it| it.rule == RuleId::CountOffset);
        found.expect("found").gain_share
    };
    let (guessed, slow, quick) = (share(None), share(Some(0.5)), share(Some(0.1)));
    assert!(guessed < quick && slow < quick, "{guessed} {slow} {quick}");
}

fn answering(change: fn(&mut AnswerFacts), bytes: u64, respond_ms: f64) -> Run {
    requests().with(|recording| {
        let line = recording.texts.keep("POST /message");
        let mut facts = AnswerFacts {
            line,
            status: 200,
            seen: 100,
            content_type: recording.texts.keep("application/json"),
            with_etag: 100,
            ..AnswerFacts::default()
        };
        change(&mut facts);
        if facts.content_encoding != TextId::NONE {
            facts.content_encoding = recording.texts.keep("gzip");
        }
        recording.answers.push(facts);
        for exchange in &mut recording.exchanges {
            exchange.body_bytes = bytes;
            exchange.answered = exchange.answered + nanos(respond_ms);
        }
    })
}

#[test]
fn connections_that_are_closed_and_bodies_that_are_plain_or_dear() {
    answering(|facts| facts.closed = 10, 100, 0.0).check(&[]);
    answering(|facts| facts.closed = 100, 100, 0.0).check(&["keep-alive-off"]);
    let offered = |facts: &mut AnswerFacts| facts.offered_compression = 100;
    let asked = answering(offered, 50_000, 0.0).check(&["compression-missing"]);
    assert_eq!(asked[0].confidence, Confidence::Medium);
    answering(offered, 500, 0.0).check(&[]);
    let unasked = answering(|_| {}, 50_000, 0.0).check(&["compression-missing"]);
    assert_eq!(unasked[0].confidence, Confidence::Low);
    let packed = |facts: &mut AnswerFacts| facts.content_encoding = TextId(1);
    answering(packed, 50_000, 0.0).check(&[]);
    answering(packed, 50_000, 3.0).check(&["compression-cpu"]);
}

/// Samples each second in which each process uses so many cores, and the app has so many bytes.
pub(super) fn hosted(cores: &[(ProcessRole, f64)], bytes: fn(u64) -> u64, seconds: u64) -> Run {
    requests().with(|recording| {
        recording.window.end = recording.window.start + Nanos(seconds * 1_000 * MS);
        for second in 0..seconds {
            let used = |share: f64| nanos(share * 1_000.0 * second as f64);
            let process = |(pid, (role, share)): (usize, &(ProcessRole, f64))| ProcessSample {
                pid: pid as u32,
                role: *role,
                cpu: used(*share),
                rss: bytes(second),
                ..ProcessSample::default()
            };
            recording.host.push(HostSample {
                at: recording.window.start + Nanos(second * 1_000 * MS),
                cpu_busy: used(cores.iter().map(|(_, share)| share).sum()),
                processes: cores.iter().enumerate().map(process).collect(),
                ..HostSample::default()
            });
        }
    })
}

#[test]
fn cores_that_are_all_busy() {
    let check = |app: f64, database: f64, generator: f64, expected: Option<&str>| {
        let cores = [
            (ProcessRole::App, app),
            (ProcessRole::Database, database),
            (ProcessRole::Generator, generator),
        ];
        let found = hosted(&cores, |_| 1 << 20, 10).findings();
        let found = found
            .iter()
            .find(|finding| finding.rule == RuleId::CpuSaturated);
        match expected {
            None => assert_eq!(found, None),
            Some(who) => assert!(
                found.expect("found").title.to_string().contains(who),
                "{found:?}"
            ),
        }
    };
    check(1.7, 0.1, 0.15, Some("the app uses"));
    check(0.5, 1.3, 0.1, Some("the database uses"));
    check(0.9, 0.1, 0.9, None);
    check(1.2, 0.0, 0.1, None);
}

#[test]
fn waiting_for_a_core_is_the_apps_where_it_has_too_many_workers() {
    let run = |workers, cpu: f64| {
        requests().with(|recording| {
            recording.meta.target.workers = workers;
            for handled in &mut recording.handled {
                handled.cpu = Some(recording::CpuSample {
                    running_wall: nanos(1.0),
                    running_cpu: nanos(cpu),
                    total_cpu: nanos(cpu),
                });
            }
        })
    };
    let many = run(4, 0.5).check(&["cpu-wait"]);
    assert_eq!(many[0].remedy.exact_text().as_deref(), Some("-w 2"));
    assert_eq!(many[0].confidence, Confidence::Medium);
    run(1, 0.5).check(&[]);
    run(4, 0.9).check(&[]);
}

#[test]
fn memory_that_grows_to_the_end() {
    let app = [(ProcessRole::App, 0.1)];
    let run = |bytes: fn(u64) -> u64, seconds| hosted(&app, bytes, seconds);
    let steady = run(|second| (100 + 3 * second) << 20, 40).check(&["memory-growth"]);
    assert_eq!(
        steady[0].title,
        "the app's memory grows by 180 MiB per minute"
    );
    assert_eq!(steady[0].confidence, Confidence::Low);
    assert_eq!(
        steady[0].remedy.exact_text().as_deref(),
        Some("MALLOC_ARENA_MAX=2")
    );
    run(|second| (100 + 3 * second) << 20, 10).check(&[]);
    // So steep that ten seconds say it.
    let mut leaking = run(|second| (100 + 140 * second) << 20, 10);
    let steep = leaking.findings();
    assert_eq!(steep[0].rule, RuleId::MemoryGrowth);
    assert_eq!(steep[0].confidence, Confidence::Medium);
    assert_eq!(steep[0].remedy.exact, None, "no arena holds that");
    for sample in &mut leaking.0.host {
        sample.memory_available = 14 << 30;
    }
    let full = leaking.findings();
    assert_eq!(full[0].confidence, Confidence::High);
    assert_eq!(
        full[0].title,
        "the app's memory grows by 8.20 GiB per minute, full in 2 minutes"
    );
    run(|second| (100 + 10 * second.min(12)) << 20, 40).check(&[]);
    run(|_| 100 << 20, 40).check(&[]);
    // What the first half gave back, the second takes again.
    run(
        |second| (280 - 5 * second.min(20) + 5 * second.max(20)) << 20,
        40,
    )
    .check(&[]);
}
