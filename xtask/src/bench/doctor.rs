//! What `hakaru doctor` says of planted faults: private servers with the faults and without, then
//! the benchmark in `crates/bench`.

use crate::run::{Outcome, cargo, run, target_folder};
use crate::servers::{self, Server};

/// Options of both MariaDBs, for waits on the disk, which a server for tests does without; the data
/// is larger than one pool and smaller than the other.
const MARIADB: [&str; 4] = [
    "--innodb-flush-method=O_DIRECT",
    "--skip-debug-no-sync",
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

/// A follower needs a number of its own.
const COPY: &str = "--server-id=2";

/// Rows in need of the servers of a kind.
const ON_MARIADB: [&str; 3] = ["pool", "binlog", "mysqltuner"];
const ON_COPY: [&str; 2] = ["replica-behind", "replica-stopped"];
const ON_MYSQL: [&str; 1] = ["mysql-replica"];
const ON_POSTGRES: [&str; 2] = ["shared-buffers", "page-cost"];

/// Whether `--only` names one of the rows, or is not there.
fn asked(arguments: &[String], rows: &[&str]) -> bool {
    let mut after = arguments.iter().skip_while(|word| *word != "--only");
    let only = after.nth(1);
    only.is_none_or(|only| only.split(',').any(|one| rows.contains(&one)))
}

/// Starts the servers for the rows asked for; returns each with the variable for its address.
fn start_servers(arguments: &[String]) -> Outcome<Vec<(String, Server)>> {
    let asked = |rows: &[&str]| asked(arguments, rows);
    let mut all = Vec::new();
    let mut add = |name: &str, server| all.push((format!("HAKARU_BENCH_{name}"), server));
    if asked(&ON_MARIADB) || asked(&ON_COPY) {
        let options = [&MARIADB[..], &MARIADB_PLANTED].concat();
        add("MARIADB_PLANTED", servers::mariadb_with(&options)?);
    }
    if asked(&ON_MARIADB) {
        let options = [&MARIADB[..], &MARIADB_HEALTHY].concat();
        add("MARIADB_HEALTHY", servers::mariadb_with(&options)?);
    }
    if asked(&ON_COPY) {
        add("MARIADB_REPLICA", servers::mariadb_with(&[COPY])?);
    }
    if asked(&ON_MYSQL) {
        add("MYSQL_SOURCE", servers::mysql()?);
        add("MYSQL_REPLICA", servers::mysql_with(&[COPY])?);
    }
    if asked(&ON_POSTGRES) {
        for (name, own) in POSTGRES {
            add(&format!("POSTGRES_{name}"), servers::postgres_with(&own)?);
        }
    }
    Ok(all)
}

/// Runs the benchmark; `--only ROW[,ROW]` measures only the given rows, with the servers needed.
pub(super) fn run_bench(arguments: &[String]) -> Outcome<()> {
    let servers = start_servers(arguments)?;
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
