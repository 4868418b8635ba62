use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use recording::format::{Chunk, Summary};
use recording::{
    EndedEarly, Exchange, Meta, Outcome, RequestId, TargetFacts, TextId, Timestamp, Trouble, Window,
};
use tempfile::TempDir;

use super::*;

fn meta(command: &str) -> Meta {
    Meta {
        started_at_unix_ms: 1_700_000_000_000,
        target: TargetFacts {
            command: command.to_owned(),
            url: "http://127.0.0.1:9292".to_owned(),
            ..TargetFacts::default()
        },
        ..Meta::default()
    }
}

fn chunk(ids: std::ops::Range<u64>) -> Chunk {
    let line = TextId::of(b"GET /");
    let exchange = |id: u64| Exchange {
        id: RequestId(id),
        due: Timestamp::from_monotonic_nanos(1000 + id),
        sent: Timestamp::from_monotonic_nanos(1001 + id),
        answered: Timestamp::from_monotonic_nanos(1050 + id),
        line,
        step: 0,
        connection: 0,
        status: 200,
        outcome: Outcome::Ok,
        body_bytes: 2,
    };
    Chunk {
        exchanges: ids.map(exchange).collect(),
        texts: vec![(line, "GET /".to_owned())],
        ..Chunk::default()
    }
}

fn summary(command: &str) -> Summary {
    Summary {
        meta: meta(command),
        window: Window {
            start: Timestamp::from_monotonic_nanos(1000),
            end: Timestamp::from_monotonic_nanos(2000),
        },
        ..Summary::default()
    }
}

fn open(project: &TempDir) -> Store {
    Store::open(project.path()).unwrap()
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn a_finished_run_comes_back_whole() {
    let project = TempDir::new().unwrap();
    let mut run = open(&project).begin_run(&meta("puma")).unwrap();
    run.append(&chunk(1..4)).unwrap();
    run.append(&chunk(4..6)).unwrap();
    run.append(&Chunk::default()).unwrap();
    run.finish(&summary("puma -t 5")).unwrap();
    drop(run);

    let stored = open(&project).load(RunRef::Last).unwrap();
    let expected = RunEntry {
        part_of: String::new(),
        number: 1,
        started_at_unix_ms: 1_700_000_000_000,
        complete: true,
        target: "puma -t 5".to_owned(),
        requests: 5,
    };
    assert_eq!(stored.entry, expected);
    assert_eq!(Summary::of(&stored.recording), summary("puma -t 5"));
    assert_eq!(stored.recording.exchanges, chunk(1..6).exchanges);
    let line = stored.recording.exchanges[0].line;
    assert_eq!(stored.recording.texts.get(line), Some("GET /"));
}

#[test]
fn a_run_cut_off_is_readable_and_says_so() {
    let project = TempDir::new().unwrap();
    let mut run = open(&project).begin_run(&meta("puma")).unwrap();
    run.append(&chunk(1..4)).unwrap();
    drop(run);

    let stored = open(&project).load(RunRef::Number(1)).unwrap();
    assert!(!stored.entry.complete);
    assert_eq!(stored.recording.exchanges.len(), 3);
    assert_eq!(stored.recording.window.start.monotonic_nanos(), 1001);
    assert_eq!(stored.recording.window.end.monotonic_nanos(), 1053);
    assert_eq!(stored.recording.meta.ended_early, Some(EndedEarly::CutOff));
    assert!(stored.recording.troubles[0].what.contains("cut off"));
}

#[test]
fn named_runs_go_with_what_belongs_to_them() {
    let project = TempDir::new().unwrap();
    for _ in 0..3 {
        let mut run = open(&project).begin_run(&meta("puma")).unwrap();
        run.append(&chunk(1..40)).unwrap();
        run.finish(&summary("puma")).unwrap();
    }
    let mut store = open(&project);
    store.add_note(RunRef::Number(2), "of the second").unwrap();
    store.add_profile(0, "puma", b"stacks", Some(2)).unwrap();
    store.add_profile(0, "puma", b"stacks", Some(3)).unwrap();
    store.put_hosts(2, b"old").unwrap();
    store.put_hosts(2, b"facts").unwrap();
    assert_eq!(store.hosts(2).unwrap().as_deref(), Some(&b"facts"[..]));
    assert_eq!(store.hosts(1).unwrap(), None);
    let claim = store.claim().unwrap();
    let removed = store.remove(&[1, 2, 7], &claim).unwrap();
    assert_eq!((removed.runs, removed.profiles), (2, 1));
    assert!(store.profile_of_run(3).unwrap().is_some());
    store.shrink().unwrap();
    let left: Vec<i64> = store.list().unwrap().iter().map(|run| run.number).collect();
    assert_eq!(left, [3]);
    assert_eq!(store.load(RunRef::Last).unwrap().entry.number, 3);
    assert!(store.notes(2).unwrap().is_empty());
    assert_eq!(store.hosts(2).unwrap(), None);
    drop((store, claim));
    let fourth = open(&project).begin_run(&meta("puma")).unwrap();
    assert_eq!(fourth.number(), 4, "numbers are not given again");
}

#[test]
fn what_was_noted_on_the_way_is_kept_in_a_run_cut_off() {
    let project = TempDir::new().unwrap();
    let mut run = open(&project).begin_run(&meta("puma")).unwrap();
    let mut noted = summary("puma");
    noted.meta.ended_early = Some(EndedEarly::Died("exit status: 7".to_owned()));
    run.update(&noted).unwrap();
    drop(run);

    let stored = open(&project).load(RunRef::Last).unwrap();
    assert_eq!(stored.recording.window, noted.window);
    assert_eq!(stored.recording.meta.ended_early, noted.meta.ended_early);
}

#[test]
fn a_run_can_be_read_while_it_is_written() {
    let project = TempDir::new().unwrap();
    let mut run = open(&project).begin_run(&meta("puma")).unwrap();
    let reader = open(&project);
    for second in 1..4 {
        run.append(&chunk(second..second + 1)).unwrap();
        let stored = reader.load(RunRef::Last).unwrap();
        assert_eq!(stored.recording.exchanges.len() as u64, second);
    }
}

#[test]
fn a_second_run_in_the_folder_is_refused_until_the_first_is_over() {
    let project = TempDir::new().unwrap();
    let first = open(&project).begin_run(&meta("puma")).unwrap();
    let error = open(&project).begin_run(&meta("puma")).unwrap_err();
    let StoreError::Busy { pid, since_unix_ms } = error else {
        panic!("{error}")
    };
    assert_eq!(pid, std::process::id());
    assert!(since_unix_ms > 1_700_000_000_000);
    let said = error.to_string();
    assert!(said.starts_with(&format!("another hakaru run (process {pid}, started at ")));
    drop(first);
    open(&project).begin_run(&meta("puma")).unwrap();
    assert_eq!(open(&project).list().unwrap().len(), 2);
}

#[test]
fn a_claim_can_be_taken_before_the_facts_are_known() {
    let project = TempDir::new().unwrap();
    let store = open(&project);
    let claim = store.claim().unwrap();
    assert!(matches!(
        open(&project).claim(),
        Err(StoreError::Busy { .. })
    ));
    assert_eq!(store.list().unwrap(), []);
    let run = store.begin_claimed(claim, &meta("")).unwrap();
    assert_eq!(run.number(), 1);
    assert_eq!(
        open(&project).list().unwrap()[0].target,
        "http://127.0.0.1:9292"
    );
}

#[test]
fn files_are_private() {
    let project = TempDir::new().unwrap();
    let folder = project.path().join(FOLDER);
    let _run = open(&project).begin_run(&meta("puma")).unwrap();
    assert_eq!(mode(&folder), 0o700);
    for name in ["hakaru.db", "hakaru.db-wal", "hakaru.db-shm", "run.lock"] {
        assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
    }
}

#[test]
fn a_folder_that_was_open_to_others_is_closed() {
    let project = TempDir::new().unwrap();
    let folder = project.path().join(FOLDER);
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    open(&project);
    assert_eq!(mode(&folder), 0o700);
}

#[test]
fn a_full_disk_says_where_and_how_much_and_keeps_the_rest() {
    let project = TempDir::new().unwrap();
    let mut run = open(&project).begin_run(&meta("puma")).unwrap();
    run.append(&chunk(1..2)).unwrap();
    run.limit_pages(1);
    let mut large = chunk(2..3);
    // Text that does not compress, so that the chunk needs pages of its own.
    let noise =
        (0..60_000_u32).map(|i| char::from(33 + (i.wrapping_mul(2_654_435_761) >> 24) as u8 % 90));
    large.texts.push((TextId(9), noise.collect()));
    let error = run.append(&large).unwrap_err();
    let StoreError::Full { path, needed_bytes } = &error else {
        panic!("{error}")
    };
    assert_eq!(*path, Store::path_in(project.path()));
    assert_eq!(*needed_bytes, large.encode().len() as u64);
    assert!(error.to_string().starts_with("no room on the disk for "));

    run.limit_pages(1_000_000);
    run.append(&large).unwrap();
    run.finish(&summary("puma")).unwrap();
    let stored = open(&project).load(RunRef::Last).unwrap();
    assert_eq!(stored.recording.exchanges.len(), 2);
}

fn check_refused(content: &[u8], expected: &str) {
    let project = TempDir::new().unwrap();
    let path = Store::path_in(project.path());
    std::fs::create_dir(project.path().join(FOLDER)).unwrap();
    std::fs::write(&path, content).unwrap();
    let said = Store::open(project.path()).unwrap_err().to_string();
    assert!(said.contains(expected), "{said}");
    assert_eq!(
        std::fs::read(&path).unwrap(),
        content,
        "the file was changed"
    );
}

/// Returns the bytes of a SQLite file made by `statements`.
fn database_of(statements: &str) -> Vec<u8> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("other.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute_batch(statements).unwrap();
    drop(database);
    std::fs::read(path).unwrap()
}

#[test]
fn files_that_are_not_ours_are_left_alone() {
    check_refused(
        &[b'x'; 5000],
        "is damaged, or is not a Hakaru database (file is not a database); it was left as it is",
    );
    check_refused(
        &database_of("CREATE TABLE t (a)"),
        "its tables are another program's",
    );
    check_refused(
        &database_of("PRAGMA application_id = 1212895811; PRAGMA user_version = 99"),
        &format!(
            "was written by a newer hakaru (schema 99, this one knows {})",
            database::SCHEMA_VERSION
        ),
    );
}

#[test]
fn a_damaged_chunk_costs_only_itself() {
    let project = TempDir::new().unwrap();
    let mut run = open(&project).begin_run(&meta("puma")).unwrap();
    run.append(&chunk(1..3)).unwrap();
    run.append(&chunk(3..4)).unwrap();
    run.finish(&summary("puma")).unwrap();
    drop(run);
    let store = open(&project);
    let damage = "UPDATE chunk SET data = substr(data, 1, 20) WHERE id = 1";
    store.database.execute(damage, []).unwrap();
    let stored = store.load(RunRef::Last).unwrap();
    assert_eq!(stored.recording.exchanges.len(), 1);
    let expected = Trouble {
        what: "parts of this recording are damaged or of another version and were left out (1)"
            .to_owned(),
        remedy: "read it with the hakaru that wrote it, or run it again".to_owned(),
    };
    assert_eq!(stored.recording.troubles, [expected]);
}

#[test]
fn runs_are_named_by_number_or_last() {
    assert_eq!("LAST".parse(), Ok(RunRef::Last));
    assert_eq!("last".parse(), Ok(RunRef::Last));
    assert_eq!("12".parse(), Ok(RunRef::Number(12)));
    assert!("0".parse::<RunRef>().is_err());
    assert!("newest".parse::<RunRef>().is_err());

    let project = TempDir::new().unwrap();
    let store = open(&project);
    let said = store.load(RunRef::Last).unwrap_err().to_string();
    assert!(said.starts_with("no run is kept in "), "{said}");
    let said = store.load(RunRef::Number(7)).unwrap_err().to_string();
    assert!(said.starts_with("no run 7 in "), "{said}");
}

#[test]
fn a_database_of_the_first_version_is_upgraded_and_stays_readable() {
    let project = TempDir::new().unwrap();
    let mut run = open(&project).begin_run(&meta("puma")).unwrap();
    run.append(&chunk(1..4)).unwrap();
    run.finish(&summary("puma")).unwrap();
    drop(run);
    // What the first version had: its tables are the same, and it knew no others.
    let path = Store::path_in(project.path());
    let database = rusqlite::Connection::open(&path).unwrap();
    let back = "DROP TABLE hosts; DROP TABLE bench; DROP TABLE part; DROP TABLE trial; DROP TABLE undo; DROP TABLE profile; DROP TABLE note; DROP TABLE journal; PRAGMA user_version = 1";
    database.execute_batch(back).unwrap();
    drop(database);

    let store = open(&project);
    assert_eq!(
        store.load(RunRef::Last).unwrap().recording.exchanges.len(),
        3
    );
    assert_eq!(store.journal(1).unwrap(), None);
    assert_eq!(store.notes(1).unwrap(), [""; 0]);
}

#[test]
fn a_run_has_a_line_in_the_journal_and_remarks() {
    let project = TempDir::new().unwrap();
    let store = open(&project);
    assert!(matches!(
        store.add_note(RunRef::Last, "too early"),
        Err(StoreError::NoRun { .. })
    ));
    drop(open(&project).begin_run(&meta("puma")).unwrap());
    let entry = JournalEntry {
        commit: "abc".to_owned(),
        score: Some(5233.0),
        latency_ms: [Some(1.5), None, None],
        errors: 2,
        ..JournalEntry::default()
    };
    store.put_journal(1, &entry).unwrap();
    assert_eq!(store.journal(1).unwrap(), Some(entry));
    assert_eq!(store.add_note(RunRef::Last, "index on message").unwrap(), 1);
    assert_eq!(store.add_note(RunRef::Number(1), "again").unwrap(), 1);
    assert_eq!(store.notes(1).unwrap(), ["index on message", "again"]);
    assert!(store.add_note(RunRef::Number(9), "x").is_err());
}

#[test]
fn profiles_are_kept_under_numbers_of_their_own() {
    let project = TempDir::new().unwrap();
    let store = open(&project);
    assert_eq!(store.profile(RunRef::Last).unwrap(), None);
    assert_eq!(
        store
            .add_profile(1000, "ruby a.rb", b"first", None)
            .unwrap(),
        1
    );
    assert_eq!(
        store
            .add_profile(2000, "ruby b.rb", b"second", Some(7))
            .unwrap(),
        2
    );
    let last = open(&project).profile(RunRef::Last).unwrap().expect("kept");
    assert_eq!((last.number, last.data.as_slice()), (2, &b"second"[..]));
    assert_eq!(last.run, Some(7));
    let first = store.profile(RunRef::Number(1)).unwrap().expect("kept");
    assert_eq!(
        (first.started_at_unix_ms, first.command.as_str()),
        (1000, "ruby a.rb")
    );
    assert_eq!(store.profile(RunRef::Number(9)).unwrap(), None);
    let of_run = store.profile_of_run(7).unwrap().expect("kept");
    assert_eq!((of_run.number, of_run.run), (2, Some(7)));
    assert_eq!(store.profile_of_run(8).unwrap(), None);
}

#[test]
fn the_last_run_is_no_step_of_another_command_and_measured_something() {
    let project = TempDir::new().unwrap();
    let run = |part_of: &'static str, rps: Option<f64>| {
        let store = open(&project);
        let claim = store.claim().unwrap().part_of(part_of);
        let mut run = store.begin_claimed(claim, &meta("puma")).unwrap();
        run.finish(&Summary::default()).unwrap();
        let number = run.number();
        drop(run);
        let entry = JournalEntry {
            rps,
            ..JournalEntry::default()
        };
        open(&project).put_journal(number, &entry).unwrap();
        number
    };
    let own = run("", Some(100.0));
    let step = run("sweep", Some(200.0));
    let warm_up_only = run("", None);
    let store = open(&project);
    let last = || open(&project).load(RunRef::Last).unwrap().entry.number;
    assert_eq!(last(), own);
    assert_eq!(store.add_note(RunRef::Last, "of the last").unwrap(), own);
    let parts: Vec<(i64, String)> = store
        .list()
        .unwrap()
        .into_iter()
        .map(|entry| (entry.number, entry.part_of))
        .collect();
    let expected = [(warm_up_only, ""), (step, "sweep"), (own, "")];
    assert_eq!(
        parts,
        expected.map(|(number, part)| (number, part.to_owned()))
    );
    assert_eq!(store.load(RunRef::Number(step)).unwrap().entry.number, step);
    assert_eq!(run("", Some(1.0)), last());
}

#[test]
fn steps_alone_have_a_last_one_too() {
    let project = TempDir::new().unwrap();
    let store = open(&project);
    let claim = store.claim().unwrap().part_of("tune");
    let number = store.begin_claimed(claim, &meta("puma")).unwrap().number();
    let stored = open(&project).load(RunRef::Last).unwrap();
    assert_eq!(stored.entry.number, number);
}

#[test]
fn a_run_that_another_process_still_writes_is_not_cut_off() {
    let project = TempDir::new().unwrap();
    let older = open(&project).begin_run(&meta("puma")).unwrap();
    drop(older);
    let run = open(&project).begin_run(&meta("puma")).unwrap();
    drop(run);
    let state = |number| {
        let recording = open(&project)
            .load(RunRef::Number(number))
            .unwrap()
            .recording;
        let ended = recording.meta.ended_early;
        (ended, recording.troubles[0].what.contains("still going on"))
    };
    let cut_off = (Some(EndedEarly::CutOff), false);
    assert_eq!(state(2), cut_off);
    // The first process of a machine never ends.
    std::fs::write(project.path().join(".hakaru/run.lock"), "1 1000\n").unwrap();
    assert_eq!(state(2), (None, true));
    assert_eq!(state(1), cut_off, "only the newest is written");
}
