//! Journals of systemd's units: what a unit wrote in the window, counted, with warnings and errors.
//!
//! `journalctl` of the host reads them, since the format of the files is systemd's own affair.
//! Entries are taken by the host's own clock, by which they are stamped.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::message::{Entry, UnitEnd};

/// Longest time for reading a journal.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest time for asking systemd of a unit.
const ASK_PATIENCE: Duration = Duration::from_secs(2);
/// Messages kept of a unit, and bytes of each.
const MESSAGES_MAX: usize = 20;
const MESSAGE_BYTES: usize = 400;
/// Greatest priority (`syslog.h`) of a warning; lower numbers are worse.
const WARNING: u64 = 4;
const ERROR: u64 = 3;
/// Priority of an entry without one, as `journalctl` shows the entry.
const INFO: u64 = 6;
const MICROS: i64 = 1_000_000;

/// Reads what a unit wrote from an instant to another, both in microseconds of the host's wall
/// clock. Beside an error stands what was counted until then.
pub(crate) fn read(unit: &str, from_us: i64, to_us: i64) -> UnitEnd {
    let mut count = Count::new(from_us, to_us);
    let read = each_line(journalctl(unit, from_us), PATIENCE, |line| count.add(line));
    let mut error = read.err();
    // `journalctl` finds nothing of a unit that never was, and calls that a success.
    if error.is_none() && count.end.entries == 0 && is_unknown(systemctl(unit)) {
        error = Some("systemd has no unit of this name".to_owned());
    }
    UnitEnd {
        unit: unit.to_owned(),
        error,
        ..count.end
    }
}

/// Returns the command for what systemd knows of a unit.
fn systemctl(unit: &str) -> Command {
    let mut command = Command::new("systemctl");
    command
        .args(["show", "--property=LoadState", "--", unit])
        .env("LC_ALL", "C");
    command
}

/// Whether the command knows no such unit. Where systemd does not run, it says nothing of units.
fn is_unknown(command: Command) -> bool {
    let mut is_unknown = false;
    let asked = each_line(command, ASK_PATIENCE, |line| {
        is_unknown |= line.trim_end() == "LoadState=not-found";
    });
    asked.is_ok() && is_unknown
}

/// Returns the command for a unit's journal from a second on.
fn journalctl(unit: &str, from_us: i64) -> Command {
    let mut command = Command::new("journalctl");
    command
        .args(["--no-pager", "--output=json", "--all"])
        .args(["--output-fields=MESSAGE,PRIORITY", "--unit", unit])
        .arg(format!("--since=@{}", from_us.div_euclid(MICROS)))
        .env("LC_ALL", "C");
    command
}

/// Passes each line of the command's output on, as read: a journal may be larger than the memory.
/// After `patience` the command is killed.
fn each_line(
    mut command: Command,
    patience: Duration,
    mut with: impl FnMut(&str),
) -> Result<(), String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("journalctl: {error}"))?;
    let pid = Pid::from_child(&child);
    let (done, late) = mpsc::channel::<()>();
    let guard = thread::spawn(move || {
        if late.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout) {
            // The child is waited for only afterwards, so that the id is still its own.
            let _ = kill_process(pid, Signal::KILL);
            return true;
        }
        false
    });
    let said = child.stderr.take().map(|said| {
        thread::spawn(move || {
            let mut text = Vec::new();
            let _ = said.take(4096).read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        })
    });
    let read = child.stdout.take().map_or(Ok(()), |out| {
        let (mut out, mut line) = (BufReader::new(out), Vec::new());
        while out.read_until(b'\n', &mut line)? > 0 {
            with(&String::from_utf8_lossy(&line));
            line.clear();
        }
        Ok::<(), std::io::Error>(())
    });
    drop(done);
    let is_late = guard.join().unwrap_or(false);
    let said = said.and_then(|said| said.join().ok()).unwrap_or_default();
    let status = child
        .wait()
        .map_err(|error| format!("journalctl: {error}"))?;
    read.map_err(|error| format!("journalctl: {error}"))?;
    if is_late {
        return Err(format!(
            "journalctl took more than {} s",
            patience.as_secs()
        ));
    }
    // Without the right to read it, a journal looks empty, and only a hint says so.
    if said.contains("not seeing messages") || said.contains("insufficient permissions") {
        return Err(
            "its journal may be read by root and the group systemd-journal only; `sudo = true` reads as root"
                .to_owned(),
        );
    }
    match status.success() {
        true => Ok(()),
        false => Err(format!(
            "journalctl: {}",
            said.lines().next().unwrap_or("it failed without a word")
        )),
    }
}

/// A count of the entries of a time.
struct Count {
    from_us: i64,
    to_us: i64,
    end: UnitEnd,
    /// Index of each message.
    known: HashMap<String, usize>,
}

impl Count {
    fn new(from_us: i64, to_us: i64) -> Count {
        Count {
            from_us,
            to_us,
            end: UnitEnd::default(),
            known: HashMap::new(),
        }
    }

    fn add(&mut self, line: &str) {
        // Notes such as `-- No entries --` are no entries.
        let Ok(entry) = serde_json::from_str::<Value>(line) else {
            return;
        };
        let Some(at_us) = number(&entry["__REALTIME_TIMESTAMP"]) else {
            return;
        };
        if !(self.from_us..self.to_us).contains(&at_us) {
            return;
        }
        let end = &mut self.end;
        end.entries += 1;
        let priority = number(&entry["PRIORITY"]).map_or(INFO, |priority| priority as u64);
        if priority > WARNING {
            return;
        }
        match priority <= ERROR {
            true => end.errors += 1,
            false => end.warnings += 1,
        }
        let message = message(&entry["MESSAGE"]);
        match self.known.get(&message) {
            Some(index) => end.messages[*index].count += 1,
            None if end.messages.len() < MESSAGES_MAX => {
                self.known.insert(message.clone(), end.messages.len());
                end.messages.push(Entry {
                    at_us,
                    count: 1,
                    message,
                });
            }
            None => {}
        }
    }
}

/// Numbers are texts in the journal's JSON.
fn number(value: &Value) -> Option<i64> {
    value.as_str()?.parse().ok()
}

/// Returns the beginning of a message; bytes outside of UTF-8 make the message a list of numbers.
fn message(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(bytes) => {
            let bytes = bytes.iter().filter_map(Value::as_u64);
            let bytes: Vec<u8> = bytes.map(|byte| byte as u8).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        }
        _ => String::new(),
    };
    let end = text.floor_char_boundary(MESSAGE_BYTES);
    text[..end].trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_the_time_are_counted_and_those_that_warn_are_kept_once() {
        let line = |at: i64, priority: &str, message: &str| {
            format!(
                r#"{{"__CURSOR":"s=1","__REALTIME_TIMESTAMP":"{at}","PRIORITY":"{priority}","MESSAGE":{message}}}"#
            )
        };
        let lines = [
            line(99, "3", r#""before""#),
            line(100, "6", r#""hello""#),
            line(101, "4", r#""slow""#),
            "-- No entries --".to_owned(),
            line(102, "4", r#""slow""#),
            line(103, "3", "[104,105,255]"),
            line(200, "3", r#""after""#),
        ];
        let mut count = Count::new(100, 200);
        lines.iter().for_each(|line| count.add(line));
        let end = count.end;
        assert_eq!((end.entries, end.warnings, end.errors), (4, 2, 1));
        let messages = end
            .messages
            .iter()
            .map(|entry| (entry.at_us, entry.count, entry.message.as_str()));
        assert_eq!(
            messages.collect::<Vec<_>>(),
            [(101, 2, "slow"), (103, 1, "hi\u{fffd}")]
        );
    }

    #[test]
    fn what_was_read_of_a_journal_before_the_time_was_up_is_counted() {
        let entry = r#"{"__REALTIME_TIMESTAMP":"100","PRIORITY":"3","MESSAGE":"failed"}"#;
        let mut command = Command::new("sh");
        command.args(["-c", &format!("echo '{entry}'; exec sleep 60")]);
        let mut count = Count::new(100, 200);
        let read = each_line(command, Duration::from_secs(1), |line| count.add(line));
        let why = read.expect_err("it takes too long");
        assert_eq!(why, "journalctl took more than 1 s");
        assert_eq!((count.end.entries, count.end.errors), (1, 1));
    }

    #[test]
    fn a_unit_that_systemd_does_not_know_is_told_from_a_quiet_one() {
        let says = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            is_unknown(command)
        };
        assert!(says("echo LoadState=not-found"));
        assert!(!says("echo LoadState=loaded"));
        assert!(!says(
            "echo System has not been booted with systemd >&2; exit 1"
        ));
        assert!(!is_unknown(Command::new("/nonexistent/systemctl")));
    }

    #[test]
    fn a_long_message_is_cut_at_a_letter() {
        let long = "あ".repeat(400);
        assert_eq!(message(&Value::String(long)).chars().count(), 133);
        assert_eq!(message(&Value::Null), "");
    }
}
