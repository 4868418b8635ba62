//! Durations in PostgreSQL's log: `… LOG:  duration: 12.345 ms  statement: SELECT …`, whatever
//! stands before the severity, which is a word of the server's language and a colon.

use super::{Execution, Slow, micros};

const DURATION: &str = "duration: ";
/// End of the severity, or of the state behind with `log_error_verbosity = verbose`; two spaces
/// follow the one, one the other.
const SEVERITY_END: &str = ":";
/// What was timed. Parsing and binding a prepared statement are lines of their own; what runs is
/// `execute`.
const RUNS: [&str; 2] = ["statement:", "execute "];

#[derive(Debug, Default)]
pub(super) struct Reader {
    slow: Slow,
    execution: Option<Execution>,
}

/// Whether a line records the duration of a statement.
pub(crate) fn is_start(line: &str) -> bool {
    start(line).is_some()
}

/// Whether a line records a duration within quotes, as `csvlog` and `jsonlog` do.
pub(crate) fn is_quoted(line: &str) -> bool {
    let parts = line.split_once(DURATION);
    parts.is_some_and(|(before, rest)| before.ends_with('"') && timed(rest).is_some())
}

/// Milliseconds, and the statement's first line.
fn start(line: &str) -> Option<(&str, &str)> {
    let (before, rest) = line.split_once(DURATION)?;
    let severity = before.trim_end_matches(' ');
    match severity.len() < before.len() && severity.ends_with(SEVERITY_END) {
        true => timed(rest),
        false => None,
    }
}

/// Reads what stands behind [`DURATION`]. The statement's first line is empty where the statement
/// begins with a line break.
fn timed(text: &str) -> Option<(&str, &str)> {
    let (ms, rest) = text.split_once(" ms ")?;
    let rest = rest.trim_start();
    let sql = match rest.strip_prefix(RUNS[0]) {
        Some(sql) => sql.trim_start(),
        None => {
            let named = rest.strip_prefix(RUNS[1])?;
            match named.split_once(": ") {
                Some((_, sql)) => sql,
                None if named.ends_with(':') => "",
                None => return None,
            }
        }
    };
    Some((ms, sql))
}

impl Reader {
    pub(super) fn add(&mut self, number: u64, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        if let Some((ms, sql)) = start(&text) {
            self.close();
            self.execution = Some(Execution {
                micros: ms.parse::<f64>().ok().map(|ms| micros(ms / 1e3)),
                sql: sql.as_bytes().to_vec(),
                line: number,
                ..Execution::default()
            });
        } else if line.is_empty() || line.starts_with(b"\t") {
            // A statement of several lines goes on behind a tab, of which a blank line has lost
            // its own.
            if let Some(execution) = &mut self.execution {
                execution.add_line(line.get(1..).unwrap_or_default());
            }
        } else {
            self.close();
        }
    }

    fn close(&mut self) {
        if let Some(execution) = self.execution.take() {
            self.slow.add(&execution);
        }
    }

    pub(super) fn end(mut self) -> Slow {
        self.close();
        self.slow
    }
}

#[cfg(test)]
mod tests {
    const LOG: &str = "2026-11-25 01:02:03.456 UTC [42] LOG:  duration: 250.000 ms  statement: SELECT *\n\
        \tFROM items WHERE id = 7\n\
        2026-11-25 01:02:03.456 UTC [42] LOG:  duration: 0.100 ms  parse <unnamed>: SELECT 1\n\
        2026-11-25 01:02:03.456 UTC [42] LOG:  duration: 750.000 ms  execute a1: SELECT * FROM items WHERE id = $1\n\
        2026-11-25 01:02:03.456 UTC [42] DETAIL:  parameters: $1 = '9'\n\
        \tnot a statement\n\
        2026-11-25 01:02:03.456 UTC [42] LOG:  checkpoint starting: time\n";

    /// Checks a log with two executions of one statement, within a second.
    fn check_two_of_one_statement(log: &str) {
        let slow = super::super::postgres(log.as_bytes()).expect("a log");
        let statements = slow.statements();
        assert_eq!((slow.unread.lines, statements.len()), (0, 1));
        assert_eq!(
            (statements[0].times.count(), statements[0].times.sum()),
            (2, 1.0)
        );
    }

    #[test]
    fn statements_and_executions_are_read() {
        check_two_of_one_statement(LOG);
    }

    #[test]
    fn a_statement_may_begin_with_a_line_break_and_have_blank_lines() {
        let log = "[42] LOG:  duration: 250.000 ms  statement: \n\
            \tSELECT *\n\
            \t\n\
            \tFROM items WHERE id = 7\n\
            [42] LOG:  duration: 750.000 ms  execute <unnamed>: \n\
            \tSELECT * FROM items\n\
            \tWHERE id = $1\n\
            [42] LOG:  duration: 0.100 ms  bind <unnamed>: \n\
            \tSELECT * FROM items\n";
        check_two_of_one_statement(log);
    }
}
