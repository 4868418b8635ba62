//! Each check fires on a snapshot with the fault and is silent on one nearly with the fault.
//! Snapshots are a healthy one with one thing changed.

mod advice;
mod databases;
mod healthy;
mod machine;
mod runtime;

use std::collections::BTreeSet;

use doctor::{Snapshot, checks, diagnose};

/// A check's name, a change to fire on, and a change to stay silent on.
type Case = (&'static str, fn(&mut Snapshot), fn(&mut Snapshot));

fn cases() -> impl Iterator<Item = &'static Case> {
    let all = [
        machine::CASES,
        runtime::CASES,
        databases::CASES,
        databases::SERVERS,
        databases::POSTGRES_USE,
    ];
    all.into_iter().flatten()
}

fn found(change: fn(&mut Snapshot)) -> Vec<String> {
    let mut snapshot = healthy::snapshot();
    change(&mut snapshot);
    let verdicts = diagnose(&snapshot, &[]).into_iter();
    verdicts
        .map(|verdict| verdict.check.id.to_owned())
        .collect()
}

#[test]
fn a_healthy_machine_has_no_finding() {
    assert_eq!(found(|_| {}), [""; 0]);
}

#[test]
fn each_check_fires_on_its_fault() {
    for (id, fault, _) in cases() {
        let found = found(*fault);
        assert!(found.iter().any(|other| other == id), "{id}: {found:?}");
    }
}

#[test]
fn each_check_is_silent_where_its_fault_is_nearly_there() {
    for (id, _, nearly) in cases() {
        let found = found(*nearly);
        assert!(!found.iter().any(|other| other == id), "{id}: {found:?}");
    }
}

#[test]
fn each_check_has_a_case() {
    let known: BTreeSet<&str> = checks::all().map(|check| check.id).collect();
    let tested: BTreeSet<&str> = cases().map(|(id, _, _)| *id).collect();
    let missing: Vec<_> = known.symmetric_difference(&tested).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(known.len() >= 60, "{}", known.len());
    assert_eq!(known.len(), checks::all().count(), "an id is there twice");
}

#[test]
fn each_finding_says_what_to_do_and_each_check_its_source() {
    for check in checks::all() {
        assert!(check.source.len() > 10, "{}", check.id);
        assert!(check.id.starts_with(check.area.name()) || check.area.name() == "database");
    }
    for (id, fault, _) in cases() {
        let mut snapshot = healthy::snapshot();
        fault(&mut snapshot);
        for verdict in diagnose(&snapshot, &[]) {
            let is_clock = verdict.check.id == "cpu.clock-slow";
            assert!(!verdict.found.change.is_empty() || is_clock, "{id}");
            assert!(verdict.found.evidence.iter().all(|line| !line.is_empty()));
        }
    }
}

#[test]
fn a_server_between_two_long_term_versions_is_sent_to_the_next() {
    use doctor::snapshot::DatabaseKind::{Mariadb, Mysql, Postgres};
    let check = |kind, version: &str, next: Option<&str>| {
        let mut snapshot = healthy::snapshot();
        let database = snapshot.databases.iter_mut().find(|db| db.kind == kind);
        database.expect("one of that kind").version = version.to_owned();
        let verdicts = diagnose(&snapshot, &[]);
        let found = verdicts
            .iter()
            .find(|verdict| verdict.check.id == "database.end-of-life");
        let change = found.map(|verdict| verdict.found.change[0].to_string());
        let wanted = next.map(|next| format!("version {next} or later, after a dump"));
        assert_eq!(change, wanted, "{version}");
    };
    check(Mysql, "8.0.40", Some("8.4"));
    check(Mysql, "8.4.9", None);
    check(Mysql, "9.6.1", Some("9.7"));
    check(Mysql, "9.7.0", None);
    check(Mysql, "26.7.0", None);
    check(Mariadb, "10.6.24-MariaDB", Some("10.11"));
    check(Mariadb, "11.6.2-MariaDB", Some("11.8"));
    check(Mariadb, "11.8.6-MariaDB", None);
    check(Mariadb, "12.2.2-MariaDB", Some("12.3"));
    check(Mariadb, "13.0.1-MariaDB", None);
    check(Postgres, "14.20", Some("15.0"));
    check(Postgres, "15.4", None);
    check(Mysql, "", None);
}

#[test]
fn a_server_on_another_disk_has_that_disks_costs() {
    use doctor::snapshot::{DatabaseKind::Mysql, DiskCosts};
    let cost = |disk: Option<DiskCosts>, is_local: bool| {
        let mut snapshot = healthy::snapshot();
        snapshot.measures.append_sync_ns = Some(1e6);
        let database = snapshot.databases.iter_mut().find(|db| db.kind == Mysql);
        let database = database.expect("a MySQL");
        database
            .values
            .insert("log_bin".to_owned(), "ON".to_owned());
        (database.disk, database.is_local) = (disk, is_local);
        let verdicts = diagnose(&snapshot, &[]);
        let mut found = verdicts
            .iter()
            .filter(|verdict| verdict.check.id == "mysql.commit-syncs");
        match found.next().expect("it").found.cost {
            doctor::check::Cost::Each { ns, .. } => Some(ns),
            _ => None,
        }
    };
    assert_eq!(cost(None, true), Some(1e6));
    assert_eq!(cost(None, false), None);
    assert_eq!(cost(Some(DiskCosts::default()), true), None);
    let slow = DiskCosts {
        sync_ns: Some(2e6),
        append_sync_ns: Some(3e6),
        ..DiskCosts::default()
    };
    assert_eq!(cost(Some(slow), true), Some(3e6));
}

#[test]
fn a_file_of_sqlite_on_another_disk_has_that_disks_commits() {
    use doctor::snapshot::{DatabaseKind::Sqlite, DiskCosts};
    let cost = |disk: Option<DiskCosts>| {
        let mut snapshot = healthy::snapshot();
        snapshot.measures.sqlite_rollback_ns = Some(3e6);
        snapshot.measures.sqlite_wal_ns = Some(1e6);
        let mut databases = snapshot.databases.iter_mut();
        let file = databases.find(|db| db.kind == Sqlite).expect("a SQLite");
        file.values
            .insert("journal_mode".to_owned(), "delete".to_owned());
        file.disk = disk;
        let verdicts = diagnose(&snapshot, &[]);
        let mut found = verdicts
            .iter()
            .filter(|verdict| verdict.check.id == "sqlite.rollback-journal");
        match found.next().expect("it").found.cost {
            doctor::check::Cost::Each { ns, .. } => Some(ns),
            _ => None,
        }
    };
    assert_eq!(cost(None), Some(2e6));
    assert_eq!(cost(Some(DiskCosts::default())), None);
    let slow = DiskCosts {
        sqlite_rollback_ns: Some(9e6),
        sqlite_wal_ns: Some(2e6),
        ..DiskCosts::default()
    };
    assert_eq!(cost(Some(slow)), Some(7e6));
}

#[test]
fn a_page_cost_that_chooses_slower_plans_costs_and_one_that_does_not_is_low() {
    use doctor::check::{Cost, Level};
    use doctor::snapshot::{DatabaseKind::Postgres, Ranges};
    let check = |more_ns: Option<f64>, level: Level, cost: Option<f64>| {
        let mut snapshot = healthy::snapshot();
        let mut databases = snapshot.databases.iter_mut();
        let server = databases.find(|db| db.kind == Postgres).expect("one");
        for (name, value) in [("random_page_cost", "4"), ("(data bytes)", "900000000")] {
            server.values.insert(name.to_owned(), value.to_owned());
        }
        server.ranges = Some(Ranges {
            asked: 40,
            changed: 7,
            timed: u32::from(more_ns.is_some()),
            more_ns,
        });
        let verdicts = diagnose(&snapshot, &[]);
        let mut found = verdicts
            .iter()
            .filter(|verdict| verdict.check.id == "postgres.random-page-cost");
        let found = &found.next().expect("it").found;
        let stated = match found.cost {
            Cost::Each { ns, .. } => Some(ns),
            _ => None,
        };
        assert_eq!((found.level, stated), (level, cost), "{more_ns:?}");
    };
    check(None, Level::Medium, None);
    check(Some(7e6), Level::Medium, Some(7e6));
    check(Some(-2e6), Level::Low, None);
}

#[test]
fn a_document_is_read_back() {
    let snapshot = healthy::snapshot();
    let text = doctor::v1::Document::new(&snapshot, &[], 0.5)
        .json()
        .expect("a document");
    assert_eq!(doctor::v1::read(&text), Ok(snapshot));
    // Older versions kept the kernel's command line.
    let older = text.replace("[1-redacted]", "quiet rd.iscsi.password=hunter2");
    let older = doctor::v1::read(&older).expect("a document");
    assert_eq!(older.machine.boot.as_deref(), Some("[2-redacted]"));
    assert!(doctor::v1::read("{}").is_err());
    let other = text.replace("\"version\": 1", "\"version\": 2");
    let refused = doctor::v1::read(&other).expect_err("another version");
    assert!(refused.contains("version 2"), "{refused}");
}

/// A letter of Japanese in what is written for a Japanese reader, wherever the English has three
/// words in a row.
#[test]
fn evidence_and_changes_are_in_the_readers_language() {
    let is_japanese = |text: &str| text.chars().any(|letter| letter >= '\u{3040}');
    for (id, fault, _) in cases() {
        let mut snapshot = healthy::snapshot();
        fault(&mut snapshot);
        for verdict in diagnose(&snapshot, &[]) {
            let found = verdict.found;
            for text in found
                .evidence
                .iter()
                .chain(&found.change)
                .chain(&found.undo)
            {
                let english = text.to_string();
                let words = english.split(' ').filter(|word| is_word(word)).count();
                let written = text.written_in(words::Language::Japanese);
                assert!(
                    words < 4 || is_code(&english) || is_japanese(&written),
                    "{id}: {english}"
                );
            }
        }
    }
}

/// Whether a token is a word of English rather than a name or a number.
fn is_word(word: &str) -> bool {
    word.len() > 1 && word.chars().all(|letter| letter.is_ascii_lowercase())
}

/// Statements and commands, and what the machine or the server wrote.
fn is_code(text: &str) -> bool {
    [
        "SELECT ",
        "bundle ",
        "spec_store_bypass = ",
        "spectre_v2 = ",
        "echo ",
        "shop.",
    ]
    .iter()
    .any(|begin| text.starts_with(begin))
}

/// `HAKARU_BLESS=1` rewrites the table.
#[test]
fn the_documentation_lists_every_check_with_its_source() {
    const HEADING: &str = "\n## Every check\n\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/doctor.md");
    let text = std::fs::read_to_string(path).expect("the documentation");
    let (before, table) = text.split_once(HEADING).expect("the heading");
    let wanted = doctor::page::markdown();
    if std::env::var_os("HAKARU_BLESS").is_some() {
        std::fs::write(path, format!("{before}{HEADING}{wanted}")).expect("written");
    } else {
        assert_eq!(table, wanted, "HAKARU_BLESS=1 writes it anew");
    }
}
