use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use super::*;
use crate::EndedEarly;
use crate::{
    Access, Act, ActKind, AnswerFacts, AskedAgain, Burst, BurstKind, ColumnFacts, Counter,
    CpuSample, DatabaseFacts, DiskBytes, IndexColumns, JitSample, LoadFacts, LoadMode, Nanos,
    NetworkBytes, Outcome, Parts, PlanStep, ProcessRole, ProcessSample, RequestId, Sameness,
    ScoreLine, Setting, SqlUse, StatementFacts, TargetFacts, Timestamp, Typed,
};

fn instant() -> impl Strategy<Value = Timestamp> {
    any::<u64>().prop_map(Timestamp::from_monotonic_nanos)
}

fn length() -> impl Strategy<Value = Nanos> {
    prop_oneof![any::<u64>(), 0..5_000_000_u64].prop_map(Nanos)
}

fn name() -> impl Strategy<Value = TextId> {
    prop_oneof![any::<u64>(), 0..4_u64].prop_map(TextId)
}

fn words() -> impl Strategy<Value = String> {
    vec(any::<char>(), 0..12).prop_map(String::from_iter)
}

fn outcome() -> impl Strategy<Value = Outcome> {
    proptest::sample::select(&Outcome::ALL[..])
}

prop_compose! {
    fn exchange()(
        (id, due, sent, answered) in (any::<u64>(), instant(), instant(), instant()),
        (line, step, connection, status) in (name(), any::<u32>(), any::<u32>(), any::<u16>()),
        outcome in outcome(),
        body_bytes in any::<u64>(),
    ) -> Exchange {
        let id = RequestId(id);
        Exchange { id, due, sent, answered, line, step, connection, status, outcome, body_bytes }
    }
}

prop_compose! {
    fn sql_use()(
        (digest, site, count) in (name(), name(), any::<u32>()),
        (rows, time, gvl_wait) in (any::<u64>(), length(), length()),
    ) -> SqlUse {
        SqlUse { digest, site, count, rows, time, gvl_wait }
    }
}

prop_compose! {
    fn burst()(
        kind in proptest::sample::select(&[
            BurstKind::Running, BurstKind::Sql, BurstKind::Http,
            BurstKind::Lock, BurstKind::Sleep, BurstKind::OtherIo,
        ][..]),
        length in length(),
    ) -> Burst {
        Burst { kind, length }
    }
}

prop_compose! {
    fn act()(
        kind in proptest::sample::select(&ActKind::ALL[..]),
        (what, site, count, time) in (name(), name(), any::<u32>(), length()),
    ) -> Act {
        Act { kind, what, site, count, time }
    }
}

prop_compose! {
    fn jit()(
        (compiled, code_bytes) in (any::<u64>(), any::<u64>()),
        (compile_time, invalidated) in (length(), any::<u64>()),
    ) -> JitSample {
        JitSample { compiled, code_bytes, compile_time, invalidated }
    }
}

prop_compose! {
    fn runtime()(
        (at, pid, jit) in (instant(), any::<u32>(), of(jit())),
        (gc_count, gc_major, gc_time) in (any::<u64>(), any::<u64>(), length()),
        (gc_cause, heap_live) in (words(), any::<u64>()),
        (threads_busy, backlog) in (of(any::<u32>()), of(any::<u32>())),
    ) -> RuntimeSample {
        RuntimeSample {
            at, pid, gc_count, gc_major, gc_time, gc_cause, heap_live, jit, threads_busy, backlog
        }
    }
}

prop_compose! {
    fn cpu()(running_wall in length(), running_cpu in length(), total_cpu in length()) -> CpuSample {
        CpuSample { running_wall, running_cpu, total_cpu }
    }
}

prop_compose! {
    fn parts()(
        (gvl_wait, gc, sql_running, sql_waiting) in (length(), length(), length(), length()),
        (http_running, http_waiting, lock) in (length(), length(), length()),
        (sleep, other_io, running) in (length(), length(), length()),
    ) -> Parts {
        Parts {
            gvl_wait, gc, sql_running, sql_waiting, http_running, http_waiting, lock, sleep,
            other_io, running,
        }
    }
}

prop_compose! {
    fn handled()(
        (id, pid, tid) in (any::<u64>(), any::<u32>(), any::<u32>()),
        (ready, start, end) in (of(instant()), instant(), instant()),
        (route, status, parts, cpu) in (name(), any::<u16>(), parts(), of(cpu())),
        (allocations, statements) in (of(any::<u64>()), any::<u32>()),
        (sql, bursts, acts) in (vec(sql_use(), 0..4), vec(burst(), 0..6), vec(act(), 0..3)),
    ) -> Handled {
        let id = RequestId(id);
        Handled {
            id, pid, tid, ready, start, end, route, status, parts, cpu, allocations, sql,
            statements, bursts, acts,
        }
    }
}

prop_compose! {
    fn process()(
        pid in any::<u32>(),
        role in proptest::sample::select(
            &[ProcessRole::App, ProcessRole::Database, ProcessRole::Generator, ProcessRole::Store][..]),
        (name, cpu, rss) in (words(), length(), any::<u64>()),
        (pss, worker, threads) in (of(any::<u64>()), of(any::<u32>()), any::<u32>()),
        (fds, fds_limit) in (of(any::<u32>()), of(any::<u64>())),
        (address_space, address_space_limit) in (of(any::<u64>()), of(any::<u64>())),
    ) -> ProcessSample {
        ProcessSample {
            pid, role, name, cpu, rss, pss, worker, threads, fds, fds_limit,
            address_space, address_space_limit,
        }
    }
}

prop_compose! {
    fn host_sample()(
        (at, cpu_busy, cpu_steal) in (instant(), length(), length()),
        (cpu_pressure, io_pressure) in (of(length()), of(length())),
        (memory_available, processes) in (any::<u64>(), vec(process(), 0..3)),
        (memory_pressure, memory_limit, memory_used) in
            (of(length()), of(any::<u64>()), of(any::<u64>())),
        network in of([any::<u64>(), any::<u64>(), any::<u64>()]),
        (disk, backlog) in (of([any::<u64>(), any::<u64>()]), of(any::<u32>())),
        core_pace in of(length()),
    ) -> HostSample {
        let network = network
            .map(|[received, sent, loopback]| NetworkBytes { received, sent, loopback });
        let disk = disk.map(|[read, written]| DiskBytes { read, written });
        HostSample {
            at, cpu_busy, cpu_steal, cpu_pressure, io_pressure, memory_available, processes,
            memory_pressure, memory_limit, memory_used, network, disk, backlog, core_pace,
        }
    }
}

prop_compose! {
    fn chunk()(
        exchanges in vec(exchange(), 0..20),
        handled in vec(handled(), 0..20),
        texts in vec((name(), words()), 0..5),
        host in vec(host_sample(), 0..3),
        runtime in vec(runtime(), 0..3),
    ) -> Chunk {
        Chunk { exchanges, handled, texts, host, runtime }
    }
}

prop_compose! {
    fn step()(
        access in prop_oneof![
            Just(Access::FullScan), words().prop_map(Access::Index),
            Just(Access::PrimaryKey), Just(Access::Other),
        ],
        (table, rows, table_rows, sorts) in (words(), any::<u64>(), any::<u64>(), any::<bool>()),
        indexes in vec((words(), vec(words(), 0..3)), 0..3),
        columns in vec(words(), 0..3),
    ) -> PlanStep {
        let indexes = indexes
            .into_iter()
            .map(|(name, columns)| IndexColumns { name, columns })
            .collect();
        PlanStep { table, access, rows, table_rows, sorts, indexes, columns }
    }
}

prop_compose! {
    fn typed()(
        (config, url) in (of(words()), of(words())),
        (flows, command) in (vec(words(), 0..3), vec(words(), 0..3)),
    ) -> Typed {
        Typed { config, url, flows, command }
    }
}

prop_compose! {
    fn meta()(
        (started_at_unix_ms, cores, same_host) in (any::<i64>(), any::<u32>(), any::<bool>()),
        ended_early in of(words().prop_map(EndedEarly::of_text)),
        texts in [words(), words(), words(), words(), words()],
        (workers, threads, database_pool) in (any::<u32>(), any::<u32>(), of(any::<u32>())),
        (open, connections, rate) in (any::<bool>(), any::<u32>(), of(-1e9..1e9_f64)),
        (duration, warmup, flows) in (length(), length(), vec(words(), 0..3)),
        typed in typed(),
    ) -> Meta {
        let [command, url, ruby, server, database] = texts;
        let mode = if open { LoadMode::Open } else { LoadMode::Closed };
        Meta {
            started_at_unix_ms, cores, same_host, ended_early, typed,
            target: TargetFacts {
                command, url, ruby, server, workers, threads, database, database_pool,
            },
            load: LoadFacts { mode, connections, rate, duration, warmup, flows },
        }
    }
}

prop_compose! {
    fn failure()(
        (outcome, line, count) in (outcome(), name(), any::<u64>()),
        texts in [words(), words(), words(), words()],
    ) -> Failure {
        let [place, reason, request, response] = texts;
        Failure { outcome, line, place, reason, request, response, count }
    }
}

prop_compose! {
    fn agent()(
        (pid, ruby, server, gvl) in (any::<u32>(), words(), words(), any::<bool>()),
        (requests, dropped, cost) in (any::<u64>(), any::<u64>(), length()),
        (troubles, settings) in (vec(words(), 0..3), vec((words(), words()), 0..3)),
    ) -> AgentProcess {
        let settings = settings
            .into_iter()
            .map(|(name, value)| Setting { name, value })
            .collect();
        AgentProcess { pid, ruby, server, gvl, requests, dropped, cost, troubles, settings }
    }
}

prop_compose! {
    fn asked_again()(
        (visitors, sessions, apart) in (any::<u32>(), any::<u32>(), length()),
        sameness in proptest::sample::select(&Sameness::ALL[..]),
    ) -> AskedAgain {
        AskedAgain { visitors, sessions, apart, sameness }
    }
}

prop_compose! {
    fn answers()(
        (line, status, seen) in (name(), any::<u16>(), any::<u64>()),
        (content_type, content_encoding, cache_control) in (name(), name(), name()),
        (with_cache_control, with_etag, with_last_modified, with_set_cookie) in
            (any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>()),
        (closed, offered_compression, with_credentials) in
            (any::<u64>(), any::<u64>(), any::<u64>()),
        (repeated, repeated_equal, asked_again) in
            (any::<u64>(), any::<u64>(), of(asked_again())),
    ) -> AnswerFacts {
        AnswerFacts {
            line, status, seen, content_type, content_encoding, cache_control, with_cache_control,
            with_etag, with_last_modified, with_set_cookie, closed, offered_compression,
            with_credentials, repeated, repeated_equal, asked_again,
        }
    }
}

prop_compose! {
    fn statement()(
        (digest, count, time_ns) in (name(), any::<u64>(), any::<u64>()),
        (rows_examined, rows_sent, rows_sorted) in (any::<u64>(), any::<u64>(), any::<u64>()),
        (tmp_tables, tmp_tables_on_disk, pages) in (any::<u64>(), any::<u64>(), any::<u64>()),
    ) -> StatementFacts {
        StatementFacts {
            digest, count, time_ns, rows_examined, rows_sent, rows_sorted, tmp_tables,
            tmp_tables_on_disk, pages,
        }
    }
}

prop_compose! {
    fn database()(
        (start, end) in (instant(), instant()),
        settings in vec((words(), words()), 0..3),
        counters in vec((words(), any::<u64>(), any::<u64>()), 0..3),
        statements in vec(statement(), 0..3),
        columns in vec((words(), words(), any::<bool>(), any::<u64>()), 0..3),
        notes in vec(words(), 0..3),
    ) -> DatabaseFacts {
        DatabaseFacts {
            start,
            end,
            settings: settings
                .into_iter()
                .map(|(name, value)| Setting { name, value })
                .collect(),
            counters: counters
                .into_iter()
                .map(|(name, before, after)| Counter { name, before, after })
                .collect(),
            statements,
            columns: columns
                .into_iter()
                .map(|(table, column, binary, bytes_mean)| {
                    ColumnFacts { table, column, binary, bytes_mean }
                })
                .collect(),
            notes,
        }
    }
}

prop_compose! {
    fn summary()(
        meta in meta(),
        (start, end) in (instant(), instant()),
        agents in vec(agent(), 0..3),
        (cpu, threads, unsent) in (length(), any::<u32>(), any::<u64>()),
        explained in vec((name(), vec(step(), 0..3)), 0..3),
        failures in vec(failure(), 0..3),
        score in of((of(-1e9..1e9_f64), vec((words(), any::<u64>(), -1e9..1e9_f64), 0..3))),
        troubles in vec((words(), words()), 0..3),
        (answers, database, machine) in (vec(answers(), 0..3), of(database()), words()),
    ) -> Summary {
        Summary {
            machine,
            meta,
            window: Window { start, end },
            agents,
            generator: Generator { cpu, threads, unsent },
            explained: explained
                .into_iter()
                .map(|(digest, steps)| ExplainedStatement { digest, steps })
                .collect(),
            failures,
            score: score.map(|(points, lines)| Score {
                points,
                lines: lines
                    .into_iter()
                    .map(|(rule, count, points)| ScoreLine { rule, count, points })
                    .collect(),
            }),
            troubles: troubles
                .into_iter()
                .map(|(what, remedy)| Trouble { what, remedy })
                .collect(),
            answers,
            database,
        }
    }
}

proptest! {
    #[test]
    fn a_chunk_comes_back_as_it_was(chunk in chunk()) {
        prop_assert_eq!(Chunk::decode(&chunk.encode()), Ok(chunk));
    }

    #[test]
    fn a_summary_comes_back_as_it_was(summary in summary()) {
        prop_assert_eq!(Summary::decode(&summary.encode()), Ok(summary));
    }

    #[test]
    fn any_payload_is_read_or_refused(payload in vec(any::<u8>(), 0..600)) {
        let _ = Chunk::decode(&seal(Kind::Chunk, &payload));
        let _ = Summary::decode(&seal(Kind::Summary, &payload));
        let _ = Chunk::decode(&payload);
    }

    #[test]
    fn a_payload_with_one_byte_changed_is_read_or_refused(
        chunk in chunk(), summary in summary(), at in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        for (kind, piece) in [(Kind::Chunk, chunk.encode()), (Kind::Summary, summary.encode())] {
            let (_, mut payload) = open(kind, &piece).unwrap();
            let at = at.index(payload.len());
            payload[at] = byte;
            let _ = Chunk::decode(&seal(Kind::Chunk, &payload));
            let _ = Summary::decode(&seal(Kind::Summary, &payload));
        }
    }

    #[test]
    fn a_piece_cut_off_is_refused(chunk in chunk(), at in any::<prop::sample::Index>()) {
        let piece = chunk.encode();
        prop_assert!(Chunk::decode(&piece[..at.index(piece.len())]).is_err());
    }
}

#[test]
fn wrong_marks_are_told_apart() {
    let piece = Chunk::default().encode();
    let with = |at: usize, byte: u8| {
        let mut changed = piece.clone();
        changed[at] = byte;
        Chunk::decode(&changed).unwrap_err()
    };
    assert_eq!(with(0, b'X'), FormatError::NotARecording);
    assert_eq!(with(4, 10), FormatError::Version(10));
    assert_eq!(with(6, 2), FormatError::Kind(2));
    assert_eq!(Chunk::decode(b""), Err(FormatError::NotARecording));
    assert_eq!(Chunk::decode(b"HKRC"), Err(FormatError::Damaged("header")));
}

#[test]
fn a_count_larger_than_the_piece_asks_for_no_memory() {
    let payload = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
    assert_eq!(
        Chunk::decode(&seal(Kind::Chunk, &payload)),
        Err(FormatError::Damaged("count larger than the piece"))
    );
}

#[test]
fn a_second_of_heavy_load_stays_small() {
    let line = TextId::of(b"GET /message");
    let exchanges = (0..10_000_u64).map(|i| Exchange {
        id: RequestId(i + 1),
        due: Timestamp::from_monotonic_nanos(1_000_000_000_000 + i * 100_003),
        sent: Timestamp::from_monotonic_nanos(1_000_000_020_000 + i * 100_003),
        answered: Timestamp::from_monotonic_nanos(1_000_009_000_000 + i * 100_003 + i * i % 7919),
        line,
        step: 3,
        connection: (i % 32) as u32,
        status: 200,
        outcome: Outcome::Ok,
        body_bytes: 812,
    });
    let chunk = Chunk {
        exchanges: exchanges.collect(),
        ..Chunk::default()
    };
    let bytes = chunk.encode().len();
    assert!(bytes < 10_000 * 8, "{bytes} bytes for 10,000 exchanges");
}

fn fixture_handled() -> Handled {
    let at = Timestamp::from_monotonic_nanos;
    let sql = SqlUse {
        digest: TextId(7),
        site: TextId(8),
        count: 3,
        rows: 3,
        time: Nanos(900_000),
        gvl_wait: Nanos(1_000),
    };
    Handled {
        id: RequestId(1),
        pid: 10,
        tid: 11,
        ready: Some(at(1_400_000)),
        start: at(1_500_000),
        end: at(3_000_000),
        route: TextId(6),
        status: 200,
        parts: Parts {
            gvl_wait: Nanos(100_000),
            running: Nanos(1_400_000),
            ..Parts::default()
        },
        cpu: Some(CpuSample {
            running_wall: Nanos(1_400_000),
            running_cpu: Nanos(1_300_000),
            total_cpu: Nanos(1_300_000),
        }),
        allocations: Some(420),
        sql: vec![sql],
        statements: 3,
        bursts: vec![Burst {
            kind: BurstKind::Sql,
            length: Nanos(300_000),
        }],
        acts: vec![],
    }
}

/// Values known only to the tests here; the fixtures hold the same, written by version 1.
fn fixture() -> (Chunk, Summary) {
    let at = Timestamp::from_monotonic_nanos;
    let exchange = Exchange {
        id: RequestId(1),
        due: at(1_000_000),
        sent: at(1_100_000),
        answered: at(3_200_000),
        line: TextId(5),
        step: 65_537,
        connection: 2,
        status: 200,
        outcome: Outcome::Ok,
        body_bytes: 99,
    };
    let chunk = Chunk {
        exchanges: vec![exchange],
        handled: vec![fixture_handled()],
        texts: vec![(TextId(5), "GET /channel/12".into())],
        host: vec![HostSample {
            at: at(9),
            io_pressure: Some(Nanos(4)),
            ..HostSample::default()
        }],
        runtime: vec![],
    };
    let meta = Meta {
        started_at_unix_ms: 1_700_000_000_000,
        cores: 2,
        ..Meta::default()
    };
    let summary = Summary {
        meta,
        window: Window {
            start: at(1),
            end: at(2),
        },
        score: Some(Score {
            points: None,
            lines: vec![],
        }),
        troubles: vec![Trouble {
            what: "few samples".into(),
            remedy: "run longer".into(),
        }],
        ..Summary::default()
    };
    (chunk, summary)
}

/// Returns the fixture with the additions of version 2.
fn fixture_2() -> (Chunk, Summary) {
    let at = Timestamp::from_monotonic_nanos;
    let (chunk, summary) = fixture();
    let database = DatabaseFacts {
        start: at(1),
        end: at(2),
        settings: vec![Setting {
            name: "sync_binlog".into(),
            value: "1".into(),
        }],
        counters: vec![Counter {
            name: "Com_commit".into(),
            before: 3,
            after: 5,
        }],
        statements: vec![StatementFacts {
            digest: TextId(7),
            count: 3,
            rows_examined: 3_000,
            rows_sent: 3,
            ..StatementFacts::default()
        }],
        columns: vec![ColumnFacts {
            table: "image".into(),
            column: "data".into(),
            binary: true,
            bytes_mean: 40_000,
        }],
        notes: vec!["no performance_schema".into()],
    };
    let answers = AnswerFacts {
        line: TextId(5),
        status: 200,
        seen: 4,
        with_etag: 4,
        repeated: 3,
        repeated_equal: 2,
        ..AnswerFacts::default()
    };
    let summary = Summary {
        answers: vec![answers],
        database: Some(database),
        ..summary
    };
    (chunk, summary)
}

/// Returns the fixture with the additions of version 3.
fn fixture_3() -> (Chunk, Summary) {
    let (mut chunk, mut summary) = fixture_2();
    let host = &mut chunk.host[0];
    host.memory_limit = Some(512 << 20);
    host.network = Some(NetworkBytes {
        received: 1,
        sent: 2,
        loopback: 3,
    });
    host.backlog = Some(5);
    host.processes.push(ProcessSample {
        pid: 10,
        name: "ruby".into(),
        worker: Some(1),
        fds: Some(20),
        fds_limit: Some(1024),
        ..ProcessSample::default()
    });
    chunk.runtime.push(RuntimeSample {
        pid: 10,
        gc_count: 7,
        gc_cause: "malloc".into(),
        jit: Some(JitSample::default()),
        ..RuntimeSample::default()
    });
    chunk.handled[0].acts.push(Act {
        kind: ActKind::Sleep,
        what: TextId::NONE,
        site: TextId(8),
        count: 2,
        time: Nanos(40_000_000),
    });
    summary.agents.push(AgentProcess {
        pid: 10,
        settings: vec![Setting {
            name: "RACK_ENV".into(),
            value: "development".into(),
        }],
        ..AgentProcess::default()
    });
    (chunk, summary)
}

/// Returns the fixture with the additions of version 4.
fn fixture_4() -> (Chunk, Summary) {
    let (mut chunk, summary) = fixture_3();
    chunk.runtime[0].threads_busy = Some(5);
    chunk.runtime[0].backlog = Some(2);
    (chunk, summary)
}

/// Returns the fixture with the additions of version 5.
fn fixture_5() -> (Chunk, Summary) {
    let (mut chunk, summary) = fixture_4();
    let process = chunk.host[0].processes.last_mut().unwrap();
    process.address_space = Some(3 << 30);
    process.address_space_limit = Some(4 << 30);
    (chunk, summary)
}

/// Returns the fixture with the additions of version 6.
fn fixture_6() -> (Chunk, Summary) {
    let (chunk, mut summary) = fixture_5();
    summary.meta.typed = Typed {
        config: Some("other.toml".into()),
        url: Some("http://127.0.0.1:9292/posts".into()),
        flows: vec!["flows/read.hurl:3".into()],
        command: vec!["puma".into(), "-t".into(), "3:3".into()],
    };
    (chunk, summary)
}

/// Returns the fixture with the additions of version 7.
fn fixture_7() -> (Chunk, Summary) {
    let (mut chunk, summary) = fixture_6();
    chunk.host[0].core_pace = Some(Nanos(53_000));
    (chunk, summary)
}

/// Returns the fixture with the additions of version 8.
fn fixture_8() -> (Chunk, Summary) {
    let (chunk, mut summary) = fixture_7();
    summary.machine = "{\"machine\":{\"cores\":2}}".to_owned();
    (chunk, summary)
}

/// Returns the fixture with the additions of version 9.
fn fixture_9() -> (Chunk, Summary) {
    let (chunk, mut summary) = fixture_8();
    summary.answers[0].asked_again = Some(AskedAgain {
        visitors: 2,
        sessions: 1,
        apart: Nanos(3_000_000_000),
        sameness: Sameness::BodiesChange,
    });
    (chunk, summary)
}

/// Returns the bytes of a piece written by a version.
fn kept(piece: &str, version: u16) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    std::fs::read(format!("{folder}/{piece}-v{version}.hkrc")).unwrap()
}

/// With `HAKARU_BLESS=1` the fixtures of the newest version are rewritten, which only a new version
/// may do.
#[test]
fn every_version_is_read_for_ever() {
    if std::env::var_os("HAKARU_BLESS").is_some() {
        let (chunk, summary) = fixture_9();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
        std::fs::write(format!("{folder}/chunk-v{VERSION}.hkrc"), chunk.encode()).unwrap();
        std::fs::write(
            format!("{folder}/summary-v{VERSION}.hkrc"),
            summary.encode(),
        )
        .unwrap();
    }
    for (version, (chunk, summary)) in [
        (1, fixture()),
        (2, fixture_2()),
        (3, fixture_3()),
        (4, fixture_4()),
        (5, fixture_5()),
        (6, fixture_6()),
        (7, fixture_7()),
        (8, fixture_8()),
        (9, fixture_9()),
    ] {
        assert_eq!(Chunk::decode(&kept("chunk", version)), Ok(chunk));
        assert_eq!(Summary::decode(&kept("summary", version)), Ok(summary));
    }
}
