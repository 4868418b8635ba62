//! What `hakaru doctor` says of planted faults: private servers with the faults and without, then
//! the benchmark in `crates/bench`.

use crate::run::{Outcome, cargo, run, target_folder};
use crate::servers;

/// Options of both MariaDBs, for waits on the disk; the data is larger than one pool and smaller
/// than the other.
const MARIADB: [&str; 3] = [
    "--innodb-flush-method=O_DIRECT",
    "--log-bin=binlog",
    "--server-id=1",
];
const MARIADB_PLANTED: [&str; 2] = ["--innodb-buffer-pool-size=8M", "--sync-binlog=1"];
const MARIADB_HEALTHY: [&str; 2] = ["--innodb-buffer-pool-size=256M", "--sync-binlog=100"];
/// PostgreSQLs: one with each fault, and one without.
const POSTGRES: [(&str, [&str; 3]); 3] = [
    (
        "PLANTED",
        ["fsync=on", "shared_buffers=1MB", "random_page_cost=1.1"],
    ),
    (
        "COSTLY",
        ["fsync=on", "shared_buffers=256MB", "random_page_cost=4"],
    ),
    (
        "HEALTHY",
        ["fsync=on", "shared_buffers=256MB", "random_page_cost=1.1"],
    ),
];

/// Rows in need of the servers of a kind.
const ON_MARIADB: [&str; 3] = ["pool", "binlog", "mysqltuner"];
const ON_POSTGRES: [&str; 2] = ["shared-buffers", "page-cost"];

/// Whether `--only` names one of the rows, or is not there.
fn asked(arguments: &[String], rows: &[&str]) -> bool {
    let mut after = arguments.iter().skip_while(|word| *word != "--only");
    let only = after.nth(1);
    only.is_none_or(|only| only.split(',').any(|one| rows.contains(&one)))
}

/// Runs the benchmark; `--only ROW[,ROW]` measures only the given rows, with the servers needed.
pub(super) fn run_bench(arguments: &[String]) -> Outcome<()> {
    let mut servers = Vec::new();
    if asked(arguments, &ON_MARIADB) {
        for (name, own) in [("PLANTED", MARIADB_PLANTED), ("HEALTHY", MARIADB_HEALTHY)] {
            let server = servers::mariadb_with(&[&MARIADB[..], &own].concat())?;
            servers.push((format!("HAKARU_BENCH_MARIADB_{name}"), server));
        }
    }
    if asked(arguments, &ON_POSTGRES) {
        for (name, own) in POSTGRES {
            let server = servers::postgres_with(&own)?;
            servers.push((format!("HAKARU_BENCH_POSTGRES_{name}"), server));
        }
    }
    let addresses = servers.iter().map(|(name, server)| (name, &server.url));
    // What is measured is the app; the probes are optimised in a build for development too, as
    // tests use it.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_started_for_the_rows_that_need_them() {
        let asked = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            (asked(&words, &ON_MARIADB), asked(&words, &ON_POSTGRES))
        };
        assert_eq!(asked("--blocks 3"), (true, true));
        assert_eq!(asked("--only quota"), (false, false));
        assert_eq!(asked("--only page-cost,quota"), (false, true));
        assert_eq!(asked("--only mysqltuner"), (true, false));
    }
}
