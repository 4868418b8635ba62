//! A machine, an app and databases with which nothing is wrong.

use std::collections::BTreeMap;

use doctor::Snapshot;
use doctor::snapshot::{
    App, Database, DatabaseKind, Disk, Group, Machine, Measures, Noise, Origin, Process, Ruby,
};

fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let owned = pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    owned.collect()
}

fn numbers<T: Copy>(pairs: &[(&str, T)]) -> BTreeMap<String, T> {
    let owned = pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value));
    owned.collect()
}

/// Returns the whole snapshot.
pub fn snapshot() -> Snapshot {
    Snapshot {
        machine: machine(),
        process: process(),
        disk: Disk {
            folder: Some("/srv/app".to_owned()),
            filesystem: Some("ext4".to_owned()),
            options: vec!["rw".to_owned(), "relatime".to_owned()],
            device: Some("/dev/vda1".to_owned()),
            mounted_at: Some("/srv".to_owned()),
            queue: Some("/sys/devices/virtio0/block/vda/queue".to_owned()),
            scheduler: Some("none".to_owned()),
            rotational: Some(true),
            total_bytes: Some(100 << 30),
            free_bytes: Some(50 << 30),
            inodes_used_share: Some(0.1),
        },
        ruby: Some(Ruby {
            version: "3.4.7".to_owned(),
            description: "ruby 3.4.7 +PRISM".to_owned(),
            yjit_built: true,
            yjit_on: true,
            optflags: "-O3".to_owned(),
            cflags: "-O3 -g".to_owned(),
            ..Ruby::default()
        }),
        app: Some(app()),
        databases: vec![
            mysql(DatabaseKind::Mysql, "8.4.3"),
            mysql(DatabaseKind::Mariadb, "11.8.2-MariaDB"),
            postgres(),
            sqlite(),
        ],
        measures: measures(),
        unseen: Vec::new(),
    }
}

fn machine() -> Machine {
    Machine {
        kernel: Some("6.12.1".to_owned()),
        boot: Some("[1-redacted]".to_owned()),
        cores: Some(8),
        vulnerabilities: texts(&[
            (
                "spec_store_bypass",
                "Mitigation: Speculative Store Bypass disabled via prctl",
            ),
            ("spectre_v2", "Mitigation: Retpolines; STIBP: conditional"),
        ]),
        governor: Some("performance".to_owned()),
        frequency_driver: Some("acpi-cpufreq".to_owned()),
        turbo_off: Some(false),
        numa_nodes: Some(1),
        clocksource: Some("tsc".to_owned()),
        clocksources: vec!["tsc".to_owned(), "hpet".to_owned()],
        memory_bytes: numbers(&[
            ("MemTotal", 16 << 30),
            ("MemAvailable", 8 << 30),
            ("SwapTotal", 4 << 30),
            ("SwapFree", 4 << 30),
        ]),
        pressure: numbers(&[("cpu.some", 0.1), ("memory.some", 0.0), ("io.full", 0.0)]),
        sysctl: texts(&[
            ("fs.file-max", "1000000"),
            ("kernel.numa_balancing", "1"),
            ("kernel.random.entropy_avail", "256"),
            ("net.core.somaxconn", "4096"),
            ("net.ipv4.ip_local_port_range", "32768 60999"),
            ("net.ipv4.tcp_slow_start_after_idle", "1"),
            ("net.netfilter.nf_conntrack_count", "10"),
            ("net.netfilter.nf_conntrack_max", "1000"),
            ("vm.overcommit_memory", "0"),
            ("vm.swappiness", "60"),
            ("vm.zone_reclaim_mode", "0"),
        ]),
        counters: numbers(&[("ListenOverflows", 0), ("oom_kill", 0)]),
        time_wait: Some(10),
        uptime_s: Some(100_000.0),
        resolver: Some((1, 1)),
        ..Machine::default()
    }
}

fn process() -> Process {
    Process {
        pid: Some(42),
        store_bypass: Some("thread vulnerable".to_owned()),
        indirect_branch: Some("conditional enabled".to_owned()),
        seccomp: Some(2),
        seccomp_filters: Some(1),
        cores_allowed: Some(8),
        threads: Some(12),
        swapped_bytes: Some(0),
        nice: Some(0),
        files_soft: Some(65_536),
        files_hard: Some(65_536),
        files_open: Some(100),
        processes_soft: Some(60_000),
        env: texts(&[("RAILS_ENV", "production"), ("MALLOC_ARENA_MAX", "2")]),
        group: Some(Group {
            version: 2,
            path: "/app".to_owned(),
            period_us: Some(100_000),
            periods: Some(1000),
            throttled: Some(0),
            weight: Some(100),
            memory_high_bytes: Some(4 << 30),
            memory_max_bytes: Some(4 << 30),
            memory_bytes: Some(1 << 30),
            events_high: Some(0),
            events_oom_kill: Some(0),
            ..Group::default()
        }),
        ..Process::default()
    }
}

fn app() -> App {
    App {
        gems: texts(&[
            ("rails", "8.1.0"),
            ("puma", "7.1.0"),
            ("json", "2.15.0"),
            ("rack", "3.2.0"),
        ]),
        workers: Some(8),
        workers_origin: Origin::Variable("WEB_CONCURRENCY".to_owned()),
        threads: Some(3),
        threads_origin: Origin::Variable("RAILS_MAX_THREADS".to_owned()),
        preload: Some(true),
        pool: Some(5),
        pool_origin: Origin::Variable("RAILS_MAX_THREADS".to_owned()),
        production: texts(&[
            ("config.eager_load", "true"),
            ("config.log_level", ":info"),
            ("config.enable_reloading", "false"),
        ]),
        boots_snap: true,
        is_rails: true,
        sources: 40,
        sources_unfrozen: 4,
    }
}

fn measures() -> Measures {
    Measures {
        clock_ns: Some(25.0),
        syscall_ns: Some(100.0),
        switch_ns: Some(5_000.0),
        wake_ns: Some(60_000.0),
        loopback_ns: Some(15_000.0),
        sync_ns: Some(100_000.0),
        sync_max_ns: Some(400_000.0),
        memory_ns: Some(100.0),
        two_threads: Some(1.95),
        noise: Some(Noise::default()),
        ..Measures::default()
    }
}

fn mysql(kind: DatabaseKind, version: &str) -> Database {
    Database {
        kind,
        name: format!("{kind:?}"),
        version: version.to_owned(),
        values: texts(&[
            ("Uptime", "100000"),
            ("innodb_buffer_pool_size", "1073741824"),
            ("Innodb_buffer_pool_reads", "10"),
            ("Innodb_buffer_pool_read_requests", "10000000"),
            ("(data bytes)", "104857600"),
            ("innodb_log_file_size", "104857600"),
            ("innodb_log_buffer_size", "16777216"),
            ("Innodb_os_log_written", "1000"),
            ("innodb_flush_log_at_trx_commit", "1"),
            ("log_bin", "OFF"),
            ("sync_binlog", "1"),
            ("Innodb_log_waits", "0"),
            ("Innodb_buffer_pool_wait_free", "0"),
            ("Created_tmp_disk_tables", "1"),
            ("Created_tmp_tables", "100"),
            ("Sort_merge_passes", "0"),
            ("Sort_scan", "1000"),
            ("Sort_range", "1000"),
            ("Connections", "2000"),
            ("Aborted_connects", "2"),
            ("Threads_created", "20"),
            ("skip_name_resolve", "OFF"),
            ("max_connections", "151"),
            ("Max_used_connections", "20"),
            ("Prepared_stmt_count", "10"),
            ("max_prepared_stmt_count", "16382"),
            ("Com_stmt_prepare", "20000"),
            ("Com_stmt_close", "0"),
            ("Select_full_join", "10"),
            ("Innodb_row_lock_time", "100"),
            ("(undo)", "10"),
            ("innodb_io_capacity", "200"),
            ("Innodb_buffer_pool_pages_flushed", "1000"),
            ("sort_buffer_size", "262144"),
            ("Table_open_cache_misses", "100"),
            ("query_cache_size", "1048576"),
            ("query_cache_type", "OFF"),
            ("general_log", "OFF"),
            ("slow_query_log", "ON"),
            ("long_query_time", "0.5"),
            ("performance_schema", "ON"),
            ("innodb_flush_method", "fsync"),
            ("Innodb_deadlocks", "1"),
        ]),
        round_trip_ns: Some(50_000.0),
        is_local: true,
        ..Database::default()
    }
}

fn postgres() -> Database {
    Database {
        kind: DatabaseKind::Postgres,
        name: "postgres 17.2".to_owned(),
        version: "17.2".to_owned(),
        values: texts(&[
            ("(uptime)", "100000"),
            ("shared_buffers", "1073741824"),
            ("(data bytes)", "104857600"),
            ("(blocks hit)", "10000000"),
            ("(blocks read)", "100"),
            ("(checkpoints timed)", "100"),
            ("(checkpoints requested)", "1"),
            ("max_wal_size", "1073741824"),
            ("(temporary files)", "1"),
            ("(temporary bytes)", "1"),
            ("work_mem", "4194304"),
            ("max_connections", "100"),
            ("(connections)", "10"),
            ("random_page_cost", "1.1"),
            ("effective_cache_size", "4294967296"),
            ("jit", "on"),
            ("jit_above_cost", "100000"),
            ("fsync", "on"),
            ("synchronous_commit", "on"),
            ("autovacuum", "on"),
            ("track_counts", "on"),
            ("(oldest transaction id)", "1000000"),
            ("log_statement", "none"),
            ("log_min_duration_statement", "-1"),
            ("(pg_stat_statements)", "1"),
            ("(deadlocks)", "0"),
            ("(replication lag)", "0"),
        ]),
        round_trip_ns: Some(50_000.0),
        is_local: true,
        ..Database::default()
    }
}

fn sqlite() -> Database {
    Database {
        kind: DatabaseKind::Sqlite,
        name: "sqlite".to_owned(),
        values: texts(&[
            ("journal_mode", "wal"),
            ("page_size", "4096"),
            ("page_count", "100000"),
            ("freelist_count", "10"),
            ("(analysed)", "1"),
            ("(indexes)", "4"),
        ]),
        round_trip_ns: Some(5_000.0),
        is_local: true,
        ..Database::default()
    }
}
