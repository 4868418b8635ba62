//! What `hakaru doctor` says of planted faults: private servers with the faults and without, then the benchmark in `crates/bench`.

use crate::run::{Outcome, cargo, run, target_folder};
use crate::servers;

/// Both MariaDBs wait for the disk; their data is larger than one pool and smaller than the other.
const MARIADB: [&str; 3] = [
    "--innodb-flush-method=O_DIRECT",
    "--log-bin=binlog",
    "--server-id=1",
];
const MARIADB_PLANTED: [&str; 2] = ["--innodb-buffer-pool-size=8M", "--sync-binlog=1"];
const MARIADB_HEALTHY: [&str; 2] = ["--innodb-buffer-pool-size=256M", "--sync-binlog=100"];
const POSTGRES_PLANTED: [&str; 3] = ["fsync=on", "shared_buffers=1MB", "random_page_cost=4"];
const POSTGRES_HEALTHY: [&str; 3] = ["fsync=on", "shared_buffers=256MB", "random_page_cost=1.1"];

pub(super) fn run_bench(arguments: &[String]) -> Outcome<()> {
    let mariadb = |own: &[&str]| servers::mariadb_with(&[&MARIADB[..], own].concat());
    let planted = mariadb(&MARIADB_PLANTED)?;
    let healthy = mariadb(&MARIADB_HEALTHY)?;
    let planted_postgres = servers::postgres_with(&POSTGRES_PLANTED)?;
    let healthy_postgres = servers::postgres_with(&POSTGRES_HEALTHY)?;
    let addresses = [
        ("HAKARU_BENCH_MARIADB_PLANTED", planted.url.as_str()),
        ("HAKARU_BENCH_MARIADB_HEALTHY", &healthy.url),
        ("HAKARU_BENCH_POSTGRES_PLANTED", &planted_postgres.url),
        ("HAKARU_BENCH_POSTGRES_HEALTHY", &healthy_postgres.url),
    ];
    // What is measured is the app; the probes are optimised in a build for development too, as tests use it.
    run(&mut cargo(&["build", "--quiet", "--package", "hakaru"]))?;
    let mut bench = cargo(&[
        "run",
        "--quiet",
        "--package",
        "hakaru-bench",
        "--",
        "doctor",
    ]);
    let program = target_folder().join("debug/hakaru");
    run(bench
        .args(arguments)
        .env("HAKARU_BENCH_PROGRAM", program)
        .envs(addresses))
}
