//! MySQLTuner beside doctor on a planted server: each right finding is also doctor's.

use std::error::Error;
use std::process::Command;

use serde_json::Value;

use super::finding;

/// What a complaint of MySQLTuner is worth.
enum Worth {
    /// Right, and equal to doctor's finding of the given name.
    Ours(&'static str),
    /// Not what doctor is for, or not right here.
    Other(&'static str),
}

/// Worth of MySQLTuner's findings, by a part of the line.
const KNOWN: [(&str, Worth); 21] = [
    (
        "InnoDB buffer pool / data size",
        Worth::Ours("mysql.buffer-pool-small"),
    ),
    (
        "InnoDB buffer pool <= ",
        Worth::Ours("mysql.buffer-pool-small"),
    ),
    (
        "InnoDB Read buffer efficiency",
        Worth::Ours("mysql.buffer-pool-small"),
    ),
    (
        "Performance_schema should be activated",
        Worth::Ours("mysql.blind"),
    ),
    ("Performance schema is disabled", Worth::Ours("mysql.blind")),
    (
        "MySQL was started within the last",
        Worth::Ours("database.young-statistics"),
    ),
    (
        "Aborted connections",
        Worth::Ours("mysql.connections-failed"),
    ),
    ("swap space", Worth::Other("what was told it, not found")),
    (
        "EOL software",
        Worth::Other("wrong: 10.11 is maintained until 2028"),
    ),
    (
        "not supported",
        Worth::Other("wrong: 10.11 is maintained until 2028"),
    ),
    (
        "Log file",
        Worth::Other("of the errors' log, which this server has not"),
    ),
    ("password", Worth::Other("about security")),
    ("user name as password", Worth::Other("about security")),
    ("anonymous", Worth::Other("about security")),
    (
        "Name resolution",
        Worth::Other("costs nothing over loopback"),
    ),
    (
        "Joins performed without indexes",
        Worth::Other("those of MySQLTuner and doctor themselves, on the catalogue"),
    ),
    (
        "Binlog cache memory access",
        Worth::Other("of a handful of transactions that filled the tables"),
    ),
    (
        "Ratio InnoDB log file size",
        Worth::Other("a rule of thumb that a larger log is bad for, which it is not"),
    ),
    (
        "InnoDB Write Log efficiency",
        Worth::Other("counts writes of the log, which waited for nothing"),
    ),
    ("Thread Pool", Worth::Other("no fault")),
    (
        "temporary tables created on disk",
        Worth::Other("those of MySQLTuner and doctor themselves, on the catalogue"),
    ),
];

/// Runs MySQLTuner on the server at `url`; returns whether all right findings are in `document`,
/// which has doctor's.
pub(super) fn beside(url: &str, document: &Value) -> Result<bool, Box<dyn Error>> {
    let (address, _) = url
        .trim_start_matches("mysql2://")
        .split_once('/')
        .ok_or("no address")?;
    let (user, place) = address.split_once('@').ok_or("no user")?;
    let (user, password) = user.split_once(':').ok_or("no password")?;
    let (host, port) = place.split_once(':').ok_or("no port")?;
    let output = Command::new("mysqltuner")
        .args([
            "--host", host, "--port", port, "--user", user, "--pass", password,
        ])
        .args(["--forcemem", "4294967296", "--forceswap", "1", "--nocolor"])
        .output()
        .map_err(|error| {
            format!("mysqltuner: {error}; `cargo xtask setup --for test` unpacks it")
        })?;
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints: Vec<&str> = said
        .lines()
        .filter_map(|line| line.trim().strip_prefix("[!!] "))
        .collect();
    if complaints.is_empty() {
        return Err(format!(
            "mysqltuner found nothing: {said}{}",
            String::from_utf8_lossy(&output.stderr)
        )
        .into());
    }
    let mut held = true;
    for complaint in complaints {
        let known = KNOWN.iter().find(|(part, _)| complaint.contains(part));
        let (word, is_right) = match known.map(|(_, worth)| worth) {
            Some(Worth::Ours(id)) => (format!("doctor: {id}"), finding(document, id).is_some()),
            Some(Worth::Other(why)) => (format!("left out: {why}"), true),
            None => ("NOT JUDGED".to_owned(), false),
        };
        println!(
            "  {complaint:.90}\n      {}{word}",
            if is_right { "" } else { "MISSED " }
        );
        held &= is_right;
    }
    Ok(held)
}
