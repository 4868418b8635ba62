//! What findings advise: values accepted by the server, fitting the machine, and harming nobody
//! else.

use doctor::snapshot::DatabaseKind::{self, Mariadb, Mysql, Postgres, Sqlite};
use doctor::snapshot::{Database, Origin};
use doctor::{Found, Snapshot, diagnose};

use crate::healthy;

fn database(s: &mut Snapshot, kind: DatabaseKind) -> &mut Database {
    let mut databases = s.databases.iter_mut();
    databases.find(|db| db.kind == kind).expect("one")
}

fn set(s: &mut Snapshot, kind: DatabaseKind, pairs: &[(&str, &str)]) {
    for (name, value) in pairs {
        let values = &mut database(s, kind).values;
        values.insert((*name).to_owned(), (*value).to_owned());
    }
}

/// Returns the finding of a check on a healthy snapshot with a change.
fn found(id: &str, change: impl FnOnce(&mut Snapshot)) -> Option<Found> {
    let mut snapshot = healthy::snapshot();
    change(&mut snapshot);
    let mut verdicts = diagnose(&snapshot, &[]).into_iter();
    Some(verdicts.find(|verdict| verdict.check.id == id)?.found)
}

fn changes(found: &Found) -> String {
    let lines: Vec<String> = found.change.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

fn undos(found: &Found) -> String {
    let lines: Vec<String> = found.undo.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

#[test]
fn production_mode_is_advised_on_a_copy_of_the_data() {
    let mode = |s: &mut Snapshot| {
        let name = "RAILS_ENV".to_owned();
        s.process.env.insert(name, "development".to_owned());
    };
    let found = found("app.development", mode).expect("it");
    let steps = changes(&found);
    let at = |step: &str| steps.find(step).expect(step);
    // Before the mode is changed, the app has another database and what it needs to start.
    assert!(at("DATABASE_URL=<address of the copy>") < at("RAILS_ENV=production"));
    assert!(at("SECRET_KEY_BASE=") < at("RAILS_ENV=production"));
    assert!(at("assets:precompile") < at("RAILS_ENV=production"));
    assert!(undos(&found).ends_with("RAILS_ENV=development"));
    let evidence: Vec<String> = found.evidence.iter().map(ToString::to_string).collect();
    assert!(evidence.join(" ").contains("config/database.yml"));
}

#[test]
fn a_slot_is_dropped_only_when_its_reader_is_gone_and_nothing_takes_that_back() {
    let slots = |s: &mut Snapshot| {
        let lists = &mut database(s, Postgres).lists;
        lists.insert(
            "idle replication slots".to_owned(),
            vec!["debezium holds 3 GB".to_owned()],
        );
    };
    let found = found("postgres.slots-idle", slots).expect("it");
    assert!(changes(&found).starts_with("start what reads"), "{found:?}");
    assert_eq!(undos(&found), "");
}

#[test]
fn a_buffer_is_never_made_smaller_because_it_is_too_small() {
    // The healthy machine has 16 GB.
    let pool = |size: &'static str| {
        found("mysql.buffer-pool-small", move |s| {
            set(
                s,
                Mysql,
                &[
                    ("innodb_buffer_pool_size", size),
                    ("Innodb_buffer_pool_reads", "500000"),
                    ("(data bytes)", "100000000000"),
                ],
            );
        })
        .expect("it")
    };
    let small = changes(&pool("1073741824"));
    assert!(
        small.starts_with("SET GLOBAL innodb_buffer_pool_size = 8589934592,"),
        "{small}"
    );
    let large = changes(&pool("10737418240"));
    assert!(large.starts_with("more memory for the server"), "{large}");
    let buffers = found("postgres.shared-buffers-small", |s| {
        set(
            s,
            Postgres,
            &[
                ("shared_buffers", "6442450944"),
                ("(blocks read)", "500000"),
                ("(data bytes)", "100000000000"),
            ],
        );
    });
    let buffers = changes(&buffers.expect("it"));
    assert!(
        buffers.starts_with("more memory for the server"),
        "{buffers}"
    );
}

#[test]
fn a_buffer_fits_the_memory_of_its_server() {
    let waiting = |change: fn(&mut Snapshot)| {
        let found = found("mysql.pool-waits", |s| {
            set(s, Mysql, &[("Innodb_buffer_pool_wait_free", "500")]);
            change(s);
        });
        changes(&found.expect("it"))
    };
    let more = |text: &str| text.starts_with("more memory for the server");
    let doubled = waiting(|_| {});
    assert!(
        doubled.starts_with("SET GLOBAL innodb_buffer_pool_size = 2147483648,"),
        "{doubled}"
    );
    assert!(more(&waiting(|s| set(
        s,
        Mysql,
        &[("innodb_buffer_pool_size", "9663676416")]
    ))));
    assert!(more(&waiting(|s| {
        database(s, Mysql).memory_max_bytes = Some(2 << 30);
    })));
    assert!(more(&waiting(|s| database(s, Mysql).is_local = false)));
    // The memory of this machine says nothing about a server on another one.
    let elsewhere = |s: &mut Snapshot| {
        set(s, Mysql, &[("innodb_buffer_pool_size", "10737418240")]);
        database(s, Mysql).is_local = false;
    };
    assert_eq!(found("mysql.flush-method", elsewhere), None);
}

#[test]
fn a_mariadb_with_a_limit_of_the_pool_is_restarted_for_more() {
    let found = found("mysql.pool-waits", |s| {
        set(
            s,
            Mariadb,
            &[
                ("Innodb_buffer_pool_wait_free", "500"),
                ("innodb_buffer_pool_size_max", "1073741824"),
            ],
        );
    })
    .expect("it");
    assert_eq!(
        changes(&found),
        "innodb_buffer_pool_size = 2147483648 in the configuration file"
    );
    assert_eq!(found.needs, doctor::check::Needs::Restart);
}

#[test]
fn memory_above_the_machine_is_lowered_where_it_is() {
    let of = |size: &'static str, sort: &'static str| {
        let found = found("mysql.memory-above-machine", move |s| {
            let values = [
                ("innodb_buffer_pool_size", size),
                ("sort_buffer_size", sort),
            ];
            set(s, Mysql, &values);
        });
        changes(&found.expect("it"))
    };
    let sorts = of("1073741824", "1073741824");
    assert!(
        sorts.starts_with("SET GLOBAL sort_buffer_size = 262144,"),
        "{sorts}"
    );
    let pool = of("16106127360", "262144");
    assert!(
        pool.starts_with("SET GLOBAL innodb_buffer_pool_size = 14495514624,"),
        "{pool}"
    );
}

#[test]
fn work_mem_fits_the_connections_and_is_not_raised_to_be_lowered() {
    let above = |work_mem: &'static str, connections: &'static str| {
        let found = found("postgres.memory-above-machine", move |s| {
            let values = [("work_mem", work_mem), ("max_connections", connections)];
            set(s, Postgres, &values);
        });
        changes(&found.expect("it"))
    };
    let fitting = above("1073741824", "100");
    assert!(
        fitting.starts_with("ALTER SYSTEM SET work_mem = '156672kB'"),
        "{fitting}"
    );
    let many = above("1048576", "20000");
    assert!(many.starts_with("a pooler such as PgBouncer"), "{many}");
    let spilling = found("postgres.spills", |s| {
        let values = [("work_mem", "209715200"), ("(temporary files)", "50000")];
        set(s, Postgres, &values);
        set(s, Postgres, &[("max_connections", "150")]);
    });
    let spilling = changes(&spilling.expect("it"));
    assert!(spilling.starts_with("an index in the order"), "{spilling}");
}

#[test]
fn workers_are_whole_and_set_where_the_number_stands() {
    let few = |s: &mut Snapshot, origin: Origin| {
        let app = s.app.as_mut().expect("an app");
        (app.workers, app.workers_origin) = (Some(1), origin);
        s.process.group.as_mut().expect("a group").quota_cores = Some(2.5);
    };
    let of = |origin: Origin| {
        let found = found("app.one-worker", |s| few(s, origin)).expect("it");
        (changes(&found), undos(&found))
    };
    let (change, undo) = of(Origin::Unset);
    assert!(change.starts_with("WEB_CONCURRENCY=2 ("), "{change}");
    assert_eq!(undo, "WEB_CONCURRENCY=1");
    let (change, undo) = of(Origin::Literal);
    assert!(
        change.starts_with("workers 2 in config/puma.rb"),
        "{change}"
    );
    assert_eq!(undo, "workers 1 in config/puma.rb");
}

#[test]
fn a_setting_is_changed_in_the_way_its_server_takes() {
    use doctor::check::Needs;
    let of = |kind: DatabaseKind, version: &'static str, id: &str, values: &[(&str, &str)]| {
        let found = found(id, |s| {
            let others = |db: &Database| db.kind == kind;
            s.databases.retain(others);
            database(s, kind).version = version.to_owned();
            set(s, kind, values);
        })
        .expect("it");
        (changes(&found), undos(&found), found.needs)
    };
    let written = ("Innodb_os_log_written", "90000000000");
    let two = ("innodb_log_files_in_group", "2");
    let (change, undo, needs) = of(Mysql, "5.7.44", "mysql.redo-log-small", &[written, two]);
    assert_eq!(
        change,
        "innodb_log_file_size = 1620049920 in the configuration file"
    );
    assert_eq!(
        undo,
        "innodb_log_file_size = 104857600 in the configuration file"
    );
    assert_eq!(needs, Needs::Restart);
    let id = "mysql.redo-log-small";
    let (change, _, needs) = of(Mariadb, "10.11.14-MariaDB", id, &[written]);
    assert!(change.starts_with("SET GLOBAL innodb_log_file_size ="));
    assert_eq!(needs, Needs::Nothing);
    let much = ("Innodb_os_log_written", "90000000000000000");
    let capacity = ("innodb_redo_log_capacity", "104857600");
    let (change, _, _) = of(Mysql, "8.4.3", id, &[much, capacity]);
    assert!(
        change.starts_with("SET GLOBAL innodb_redo_log_capacity = 137438953472,"),
        "{change}"
    );
    let waits = ("Innodb_log_waits", "50");
    let id = "mysql.log-waits";
    assert_eq!(of(Mysql, "8.4.3", id, &[waits]).2, Needs::Nothing);
    let (_, _, needs) = of(Mariadb, "11.8.2-MariaDB", id, &[waits]);
    assert_eq!(needs, Needs::Restart);
    let id = "database.connections-nearly-used";
    let used = ("Max_used_connections", "140");
    assert_eq!(of(Mysql, "8.4.3", id, &[used]).2, Needs::Nothing);
    let (change, _, needs) = of(Postgres, "17.2", id, &[("(connections)", "95")]);
    assert_eq!(change, "ALTER SYSTEM SET max_connections = '200'");
    assert_eq!(needs, Needs::Restart);
    let id = "postgres.log-everything";
    assert_eq!(
        of(Postgres, "17.2", id, &[("log_statement", "all")]).0,
        "ALTER SYSTEM SET log_statement = 'none', then SELECT pg_reload_conf()"
    );
}

#[test]
fn libraries_that_the_server_loads_stay() {
    let of = |loaded: Option<&'static str>| {
        let found = found("postgres.blind", |s| {
            set(s, Postgres, &[("(pg_stat_statements)", "0")]);
            if let Some(list) = loaded {
                set(s, Postgres, &[("shared_preload_libraries", list)]);
            }
        })
        .expect("it");
        (changes(&found), undos(&found))
    };
    let (change, undo) = of(Some("timescaledb"));
    let line = "shared_preload_libraries = 'timescaledb, pg_stat_statements', a restart,";
    assert!(change.starts_with(line), "{change}");
    assert!(
        undo.ends_with("then shared_preload_libraries = 'timescaledb'"),
        "{undo}"
    );
    let (change, _) = of(Some("citus, pg_stat_statements"));
    assert_eq!(change, "CREATE EXTENSION pg_stat_statements");
    let (change, _) = of(None);
    assert!(change.contains("added to the list"), "{change}");
}

#[test]
fn what_a_crash_may_lose_is_named_and_taken_back_to_what_was() {
    use doctor::check::Safety;
    let check = |id: &str, change: fn(&mut Snapshot), lost: &str| {
        let found = found(id, change).expect("it");
        assert_eq!(found.safety, Safety::Durability, "{id}");
        let evidence: Vec<String> = found.evidence.iter().map(ToString::to_string).collect();
        let evidence = evidence.join("; ");
        assert!(evidence.contains(lost), "{id}: {evidence}");
        undos(&found)
    };
    let undo = check(
        "postgres.commit-cost",
        |s| {
            s.measures.sync_ns = Some(3e6);
            let copies = ("synchronous_standby_names", "one");
            set(
                s,
                Postgres,
                &[("synchronous_commit", "remote_apply"), copies],
            );
        },
        "a failover loses commits",
    );
    assert!(
        undo.contains("synchronous_commit = 'remote_apply'"),
        "{undo}"
    );
    let undo = check(
        "sqlite.rollback-journal",
        |s| set(s, Sqlite, &[("journal_mode", "delete")]),
        "may lose the last commits",
    );
    assert!(undo.ends_with("PRAGMA synchronous = FULL"), "{undo}");
    let with_log = |s: &mut Snapshot| set(s, Mysql, &[("log_bin", "ON")]);
    check("mysql.commit-syncs", with_log, "100 groups of commits");
}

#[test]
fn a_file_of_sqlite_behind_a_network_gets_no_write_ahead_log() {
    let found = found("sqlite.rollback-journal", |s| {
        set(s, Sqlite, &[("journal_mode", "delete")]);
        s.disk.filesystem = Some("nfs4".to_owned());
    });
    assert_eq!(found, None);
}

#[test]
fn a_file_of_sqlite_is_analysed_by_what_analyses_from_any_connection() {
    // PRAGMA optimize looks only at tables that its own connection has read.
    let found = found("sqlite.not-analysed", |s| {
        set(s, Sqlite, &[("(analysed)", "0")]);
    });
    assert_eq!(changes(&found.expect("it")), "ANALYZE");
}

#[test]
fn a_control_group_is_changed_by_the_files_of_its_version() {
    let weight = |version: u32| {
        let found = found("container.weight", |s| {
            let group = s.process.group.as_mut().expect("a group");
            (group.version, group.weight) = (version, Some(10));
        });
        changes(&found.expect("it"))
    };
    assert_eq!(weight(1), "echo 1024 > cpu.shares of the group /app");
    assert_eq!(weight(2), "echo 100 > cpu.weight of the group /app");
    let reclaimed = found("container.memory-high", |s| {
        s.process.group.as_mut().expect("a group").events_high = Some(7);
    });
    let reclaimed = changes(&reclaimed.expect("it"));
    assert!(reclaimed.starts_with("a larger memory.high"), "{reclaimed}");
}

#[test]
fn commands_are_whole_and_leave_others_alone() {
    let of = |id: &str, change: fn(&mut Snapshot)| {
        let found = found(id, change).expect("it");
        (changes(&found), undos(&found))
    };
    let (change, _) = of("memory.process-swapped", |s| {
        s.process.swapped_bytes = Some(100 << 20);
    });
    assert!(!change.contains("swapoff"), "{change}");
    let (change, _) = of("memory.swap-in-use", |s| {
        s.machine
            .memory_bytes
            .insert("SwapFree".to_owned(), 2 << 30);
        let sysctl = &mut s.machine.sysctl;
        sysctl.insert("vm.swappiness".to_owned(), "1".to_owned());
    });
    assert!(!change.contains("swappiness"), "{change}");
    let (change, undo) = of("limits.files-nearly-used", |s| {
        (s.process.files_soft, s.process.files_open) = (Some(1000), Some(900));
    });
    assert_eq!(change, "prlimit --pid 42 --nofile=65536:");
    assert_eq!(undo, "prlimit --pid 42 --nofile=1000:");
    let (change, _) = of("limits.files-nearly-used", |s| {
        (s.process.files_soft, s.process.files_open) = (Some(1000), Some(900));
        s.process.files_hard = Some(1000);
    });
    assert!(change.starts_with("a higher LimitNOFILE"), "{change}");
    let (_, undo) = of("cpu.nice", |s| s.process.nice = Some(10));
    assert_eq!(undo, "renice -n 10 -p 42");
    let (change, undo) = of("disk.mounted-sync", |s| {
        s.disk.options.push("sync".to_owned());
    });
    assert_eq!(change, "mount -o remount,async /srv");
    assert_eq!(undo, "mount -o remount,sync /srv");
    let (change, _) = of("disk.scheduler", |s| {
        s.disk.scheduler = Some("bfq".to_owned());
    });
    assert_eq!(
        change,
        "echo none > /sys/devices/virtio0/block/vda/queue/scheduler"
    );
}

#[test]
fn a_long_transaction_is_not_ended_by_a_setting_of_the_whole_server() {
    let of = |kind: DatabaseKind, list: &str| {
        let found = found("database.long-transactions", |s| {
            let lists = &mut database(s, kind).lists;
            lists.insert(list.to_owned(), vec!["connection 7 for 90 s".to_owned()]);
        });
        changes(&found.expect("it"))
    };
    let idle = of(Postgres, "idle in transaction");
    assert!(idle.starts_with("ALTER ROLE … SET idle_in"), "{idle}");
    // A timeout of idle ones ends no statement that runs.
    let active = of(Postgres, "long transactions");
    assert!(active.contains("pg_cancel_backend"), "{active}");
    let other = of(Mariadb, "long transactions");
    assert!(!other.contains("SET GLOBAL"), "{other}");
}

#[test]
fn a_value_has_an_effect_and_is_not_lowered() {
    let of = |id: &str, values: &[(&str, &str)]| {
        let found = found(id, |s| set(s, Mariadb, values));
        found.map(|found| (changes(&found), undos(&found)))
    };
    let (disk, all) = (
        ("Created_tmp_disk_tables", "500000"),
        ("Created_tmp_tables", "900000"),
    );
    let sizes = [
        ("tmp_table_size", "67108864"),
        ("max_heap_table_size", "16777216"),
    ];
    let id = "mysql.temporary-tables-on-disk";
    let (change, undo) = of(id, &[disk, all, sizes[0], sizes[1]]).expect("it");
    // The smaller one counts.
    assert!(
        change.starts_with("SET GLOBAL max_heap_table_size = 67108864,"),
        "{change}"
    );
    assert!(undo.contains("max_heap_table_size = 16777216"), "{undo}");
    let made = ("Threads_created", "1500");
    let id = "mysql.threads-created";
    let (change, _) = of(id, &[made, ("thread_cache_size", "100")]).expect("it");
    assert!(change.starts_with("SET GLOBAL thread_cache_size = 151,"));
    assert_eq!(of(id, &[made, ("thread_cache_size", "256")]), None);
    let pool = ("thread_handling", "pool-of-threads");
    assert_eq!(of(id, &[made, pool]), None);
    let demand = ("query_cache_type", "DEMAND");
    let (_, undo) = of("mysql.query-cache", &[demand]).expect("it");
    assert!(undo.contains("query_cache_type = demand"), "{undo}");
    let flushed = ("Innodb_buffer_pool_pages_flushed", "20000000");
    let limit = ("innodb_io_capacity_max", "400");
    let (change, _) = of("mysql.io-capacity", &[flushed, limit]).expect("it");
    assert!(change.starts_with("SET GLOBAL innodb_io_capacity_max = 2000,"));
}

#[test]
fn a_written_level_of_the_log_is_changed_where_it_is_written() {
    let found = found("app.log-debug", |s| {
        let production = &mut s.app.as_mut().expect("an app").production;
        production.insert("config.log_level".to_owned(), ":debug".to_owned());
    });
    assert_eq!(
        changes(&found.expect("it")),
        "config.log_level = :info in production.rb"
    );
}
