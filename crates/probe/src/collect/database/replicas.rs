//! Reads the status of copies as MySQL and MariaDB report it: one row for each source.
//!
//! The names of columns are the old ones (`Slave_IO_Running`) or the new ones
//! (`Replica_IO_Running`), and their places differ between versions.

use capture::NamedRow;

/// Status of a server as a copy of others.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Status {
    /// Seconds of the source that is furthest ahead, beyond a delay that was asked for; `None`
    /// where no source is followed.
    pub(super) lag_s: Option<f64>,
    /// Sources not followed, with the reason.
    pub(super) stopped: Vec<String>,
}

/// Returns the status by the rows of `SHOW REPLICA STATUS`.
pub(super) fn status(rows: &[NamedRow]) -> Status {
    let mut status = Status::default();
    for row in rows {
        let value = |names: &[&str]| {
            let column = row.iter().find(|(name, _)| names.contains(&name.as_str()));
            column.and_then(|(_, value)| value.as_deref())
        };
        let number = |names: &[&str]| value(names)?.parse::<f64>().ok();
        if let Some(seconds) = number(&["Seconds_Behind_Source", "Seconds_Behind_Master"]) {
            let asked = number(&["SQL_Delay"]).unwrap_or(0.0);
            let lag = (seconds - asked).max(0.0);
            status.lag_s = Some(status.lag_s.map_or(lag, |most| most.max(lag)));
        }
        let running = [
            ["Replica_IO_Running", "Slave_IO_Running"],
            ["Replica_SQL_Running", "Slave_SQL_Running"],
        ];
        let errors = ["Last_IO_Error", "Last_SQL_Error"];
        for (names, error) in running.into_iter().zip(errors) {
            let state = value(&names).unwrap_or("Yes");
            if state == "Yes" {
                continue;
            }
            let name = row.iter().map(|(name, _)| name.as_str());
            let name = name.into_iter().find(|name| names.contains(name));
            let channel =
                value(&["Channel_Name", "Connection_name"]).filter(|name| !name.is_empty());
            let channel = channel.map_or_else(String::new, |name| format!("{name}: "));
            let why = value(&[error]).filter(|why| !why.is_empty());
            let why = why.map_or_else(String::new, |why| format!(" ({why})"));
            let name = name.unwrap_or(names[0]);
            status
                .stopped
                .push(format!("{channel}{name} = {state}{why}"));
        }
    }
    status
}

#[cfg(test)]
mod tests {
    use super::{NamedRow, Status, status};

    fn row(text: &str) -> NamedRow {
        let pairs = text.split(", ").map(|pair| {
            let (name, value) = pair.split_once('=').expect("a pair");
            let value = (value != "NULL").then(|| value.to_owned());
            (name.to_owned(), value)
        });
        pairs.collect()
    }

    fn check(rows: &[&str], lag_s: Option<f64>, stopped: &[&str]) {
        let rows: Vec<NamedRow> = rows.iter().map(|text| row(text)).collect();
        let stopped = stopped.iter().map(|text| (*text).to_owned()).collect();
        assert_eq!(status(&rows), Status { lag_s, stopped }, "{rows:?}");
    }

    #[test]
    fn a_server_that_follows_nobody_has_no_lag() {
        check(&[], None, &[]);
    }

    #[test]
    fn a_lag_is_read_by_both_names_and_without_the_delay_that_was_asked_for() {
        let mysql = "Replica_IO_Running=Yes, Replica_SQL_Running=Yes, Seconds_Behind_Source=31, SQL_Delay=0";
        let mariadb = "Connection_name=, Slave_IO_Running=Yes, Slave_SQL_Running=Yes, Seconds_Behind_Master=3";
        check(&[mysql], Some(31.0), &[]);
        check(&[mariadb], Some(3.0), &[]);
        check(&[mariadb, mysql], Some(31.0), &[]);
        let delayed = "Slave_IO_Running=Yes, Slave_SQL_Running=Yes, Seconds_Behind_Master=3602, SQL_Delay=3600";
        check(&[delayed], Some(2.0), &[]);
    }

    #[test]
    fn stopped_threads_are_named_with_their_error_and_source() {
        check(
            &[
                "Channel_Name=north, Replica_IO_Running=Connecting, Replica_SQL_Running=Yes, Seconds_Behind_Source=NULL, Last_IO_Error=refused",
            ],
            None,
            &["north: Replica_IO_Running = Connecting (refused)"],
        );
        check(
            &[
                "Slave_IO_Running=Yes, Slave_SQL_Running=No, Seconds_Behind_Master=NULL, Last_SQL_Error=duplicate entry",
            ],
            None,
            &["Slave_SQL_Running = No (duplicate entry)"],
        );
    }
}
