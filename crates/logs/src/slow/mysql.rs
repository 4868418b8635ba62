//! The slow log of MySQL and MariaDB: lines of comment, then the statement.

use super::{Execution, Slow, micros};

/// Lines which begin an entry; the first to come does.
const BEGIN: [&str; 3] = ["# Time: ", "# User@Host: ", "# Query_time: "];
/// What the server sets before a statement, in one line: `SET insert_id=7,timestamp=1732496523;`.
const SET: [&str; 3] = ["last_insert_id", "insert_id", "timestamp"];
/// Lines written by the server on each opening of the log.
const HEADS: [&str; 2] = ["Tcp port: ", "Time "];
const OPENED: &str = "started with:";

/// Whether a line begins an entry.
pub(crate) fn is_start(line: &str) -> bool {
    BEGIN.iter().any(|begin| line.starts_with(begin))
}

#[derive(Debug, Default)]
pub(super) struct Reader {
    slow: Slow,
    execution: Execution,
    is_open: bool,
}

impl Reader {
    pub(super) fn add(&mut self, number: u64, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        if is_start(&text) {
            // The second and third of an entry's own lines begin nothing.
            if !self.execution.sql.is_empty() || !self.is_open {
                self.close();
                self.execution.line = number;
                self.is_open = true;
            }
            self.add_figures(&text);
        } else if let Some(comment) = text.strip_prefix("# administrator command: ") {
            self.add_sql(format!("administrator command: {comment}").as_bytes());
        } else if self.execution.sql.is_empty() && is_comment(&text) {
            self.add_figures(&text);
        } else if !is_head(&text) && !self.is_setting(&text) {
            self.add_sql(line);
        }
    }

    /// `use db;` and `SET timestamp=…;` stand before a statement and belong to the log.
    fn is_setting(&self, text: &str) -> bool {
        self.execution.sql.is_empty() && (text.starts_with("use ") || is_set(text))
    }

    fn add_sql(&mut self, line: &[u8]) {
        if !self.is_open {
            return;
        }
        match self.execution.sql.is_empty() {
            true => self.execution.sql.extend_from_slice(line),
            false => self.execution.add_line(line),
        }
    }

    /// Reads `# Query_time: 0.000123  Lock_time: 0.000001 Rows_sent: 1  Rows_examined: 9 …`.
    fn add_figures(&mut self, text: &str) {
        let mut words = text.split_ascii_whitespace().peekable();
        while let Some(word) = words.next() {
            let Some(value) = words.peek() else {
                return;
            };
            match word {
                "Query_time:" => self.execution.micros = value.parse().ok().map(micros),
                "Lock_time:" => self.execution.lock_s = value.parse().unwrap_or(0.0),
                "Rows_sent:" => self.execution.rows_sent = value.parse().unwrap_or(0),
                "Rows_examined:" => self.execution.rows_examined = value.parse().unwrap_or(0),
                _ => {}
            }
        }
    }

    fn close(&mut self) {
        if self.is_open {
            self.slow.add(&std::mem::take(&mut self.execution));
        }
    }

    pub(super) fn end(mut self) -> Slow {
        self.close();
        self.slow
    }
}

/// Whether a line before a statement is the server's; a bare `#` stands around plans.
fn is_comment(text: &str) -> bool {
    text == "#" || text.starts_with("# ")
}

fn is_set(text: &str) -> bool {
    let Some(settings) = text.strip_prefix("SET ") else {
        return false;
    };
    let mut names = settings.split(',').map(|one| one.split('=').next());
    names.all(|name| name.is_some_and(|name| SET.contains(&name)))
}

fn is_head(text: &str) -> bool {
    text.ends_with(OPENED)
        || HEADS.iter().any(|head| text.starts_with(head)) && !text.ends_with(';')
}

#[cfg(test)]
mod tests {
    const LOG: &str = "/usr/sbin/mysqld, Version: 8.0.39. started with:\n\
        Tcp port: 3306  Unix socket: /x\n\
        Time                 Id Command    Argument\n\
        # Time: 2026-11-25T01:02:03.456789Z\n\
        # User@Host: a[a] @ localhost []  Id:     8\n\
        # Query_time: 0.250000  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 900\n\
        use shop;\n\
        SET timestamp=1732496523;\n\
        SELECT *\n\
        # a comment\n\
        FROM items WHERE id = 7;\n\
        # User@Host: a[a] @ localhost []  Id:     8\n\
        # Thread_id: 9  Schema: shop  QC_hit: No\n\
        # Query_time: 0.750000  Lock_time: 0.000000  Rows_sent: 2  Rows_examined: 100\n\
        SELECT *  FROM items WHERE id = 9;\n\
        # Time: 2026-11-25T01:02:04.456789Z\n\
        # User@Host: a[a] @ localhost []  Id:     8\n\
        # Query_time: 0.000010  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0\n\
        # administrator command: Prepare;\n";

    #[test]
    fn what_the_server_writes_before_a_statement_is_no_part_of_it() {
        let head = "# Time: 2026-11-25T01:02:03.456789Z\n\
            # Query_time: 0.250000  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 9\n";
        let before = [
            "SET insert_id=7,timestamp=1732496523;\n",
            "SET last_insert_id=5,timestamp=1732496523;\n",
            "use shop;\nSET last_insert_id=5,insert_id=7,timestamp=1732496523;\n",
            "#\n# explain: id\tselect_type\ttable\n# explain: 1\tSIMPLE\titems\n#\nSET timestamp=1;\n",
        ];
        let log: String = before
            .map(|before| format!("{head}{before}SELECT 1;\n"))
            .concat();
        let slow = super::super::mysql(log.as_bytes()).expect("a log");
        let statements = slow.statements();
        assert_eq!((slow.unread.lines, statements.len()), (0, 1));
        assert_eq!(statements[0].times.count(), 4);
        assert_eq!(statements[0].example, "SELECT 1;");
        let log = format!("{head}SET timestamp=1;\nSET names='x',timestamp=2;\n");
        let slow = super::super::mysql(log.as_bytes()).expect("a log");
        assert_eq!(slow.statements().len(), 1);
    }

    #[test]
    fn entries_of_both_servers_are_read() {
        let slow = super::super::mysql(LOG.as_bytes()).expect("a log");
        let statements = slow.statements();
        assert_eq!(slow.unread.lines, 0);
        assert_eq!(statements.len(), 2);
        let first = &statements[0];
        assert_eq!((first.times.count(), first.times.sum()), (2, 1.0));
        assert_eq!((first.rows_sent, first.rows_examined), (3, 1000));
        assert_eq!(first.example, "SELECT *  FROM items WHERE id = 9;");
        assert!(
            statements[1].digest.contains("Prepare"),
            "{:?}",
            statements[1]
        );
    }
}
