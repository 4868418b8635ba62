//! The page of `hakaru logs` on the terminal.

use figures::numbers;
use logs::access::{Access, GROUPS_MAX, Row};
use logs::slow::{STATEMENTS_MAX, Slow, Statement};
use logs::{Digest, Times};
use words::{Text, text};

use console::columns::Columns;

/// Lines of a statement.
const STATEMENT_LINES: usize = 3;
/// Rows read for each row returned from which a statement reads too much.
const EXAMINED_MANY: f64 = 100.0;

/// Returns the page with at most `limit` rows, or all for 0.
pub fn of(digest: &Digest, names: &str, limit: usize) -> String {
    let mut page = Page::default();
    match digest {
        Digest::Access(access) => page.add_access(access, names, limit),
        Digest::Slow(slow) => page.add_slow(slow, names, limit),
    }
    page.columns.into_text()
}

#[derive(Default)]
struct Page {
    columns: Columns,
}

impl Page {
    fn add_access(&mut self, access: &Access, names: &str, limit: usize) {
        let rows = access.rows();
        let requests: u64 = rows.iter().map(|row| row.requests).sum();
        let seconds: f64 = rows.iter().map(|row| row.times.sum()).sum();
        let head = text!(
            "{requests} on {routes}, {time} of response time",
            requests = figures::counted!(requests, "request"),
            routes = figures::counted!(rows.len() as u64, "route"),
            time = numbers::duration_ms(seconds * 1e3)
        );
        self.add_head(names, head);
        if seconds == 0.0 {
            self.add_line(text!(
                "the log holds no times: add $request_time to nginx's log_format, %D to Apache's"
            ));
        }
        if access.others() > 0 {
            self.add_line(text!(
                "others: {requests} of paths that came after the first {limit} groups; group them with -m REGEX",
                requests = figures::counted!(access.others(), "request"),
                limit = numbers::count(GROUPS_MAX as u64)
            ));
        }
        self.columns.add_titles(&[
            text!("requests"),
            text!("time"),
            text!("mean"),
            text!("p50"),
            text!("p95"),
            text!("max"),
            text!("upstream"),
        ]);
        for row in shown(&rows, limit) {
            self.add_route(row, seconds);
        }
        self.add_rest(rows.len(), limit);
    }

    fn add_route(&mut self, row: &Row, seconds: f64) {
        self.columns.add_paragraph(2, &row.route, 2);
        let mut figures = vec![numbers::count(row.requests), share(&row.times, seconds)];
        figures.extend(times(&row.times, &[50, 95]));
        figures.push(ms(row.upstream.mean()));
        self.columns.add_figures(&figures);
        let statuses = (1..=5).filter(|class| *class != 2 && row.statuses[*class] > 0);
        let mut facts: Vec<String> = statuses
            .map(|class| format!("{class}xx {}", numbers::count(row.statuses[class])))
            .collect();
        if let Some(bytes) = row.sizes.mean() {
            facts.push(numbers::bytes(bytes.round() as u64));
        }
        self.columns.add_paragraph(6, &facts.join(" · "), 1);
    }

    fn add_slow(&mut self, slow: &Slow, names: &str, limit: usize) {
        let statements = slow.statements();
        let count: u64 = statements.iter().map(|one| one.times.count()).sum();
        let seconds: f64 = statements.iter().map(|one| one.times.sum()).sum();
        let head = text!(
            "{executions} of {statements}, {time} in all",
            executions = figures::counted!(count, "execution"),
            statements = figures::counted!(statements.len() as u64, "statement"),
            time = numbers::duration_ms(seconds * 1e3)
        );
        self.add_head(names, head);
        if slow.others() > 0 {
            self.add_line(text!(
                "others: {executions} of statements that came after the first {limit}",
                executions = figures::counted!(slow.others(), "execution"),
                limit = numbers::count(STATEMENTS_MAX as u64)
            ));
        }
        self.columns.add_titles(&[
            text!("calls"),
            text!("time"),
            text!("mean"),
            text!("p50"),
            text!("p95"),
            text!("max"),
            text!("rows read"),
        ]);
        for statement in shown(&statements, limit) {
            self.add_statement(statement, seconds);
        }
        self.add_rest(statements.len(), limit);
    }

    fn add_statement(&mut self, statement: &Statement, seconds: f64) {
        self.columns
            .add_paragraph(2, &statement.digest, STATEMENT_LINES);
        let calls = statement.times.count();
        let mut figures = vec![numbers::count(calls), share(&statement.times, seconds)];
        figures.extend(times(&statement.times, &[50, 95]));
        figures.push(numbers::count(statement.rows_examined));
        self.columns.add_figures(&figures);
        let each = statement.rows_examined as f64 / statement.rows_sent.max(1) as f64;
        if each >= EXAMINED_MANY {
            self.add_line(text!(
                "reads {each} rows for each that it returns: an index may be missing",
                each = numbers::plain(each)
            ));
        }
    }

    fn add_head(&mut self, names: &str, head: Text) {
        self.columns
            .add_paragraph(0, &format!("HAKARU LOGS  {names}"), 2);
        self.columns.add_line(2, &head, 2);
        self.columns.add_gap();
    }

    fn add_line(&mut self, line: Text) {
        self.columns.add_line(6, &line, 2);
    }

    fn add_rest(&mut self, all: usize, limit: usize) {
        if limit > 0 && all > limit {
            let others = (all - limit).to_string();
            self.add_line(text!("{others} more (all of them: -n 0)", others));
        }
    }
}

fn shown<T>(rows: &[T], limit: usize) -> &[T] {
    match limit {
        0 => rows,
        limit => &rows[..rows.len().min(limit)],
    }
}

/// Mean, percentiles and maximum.
fn times(times: &Times, percents: &[u32]) -> Vec<String> {
    let percentiles = percents
        .iter()
        .chain([&100])
        .map(|percent| ms(times.percentile(*percent)));
    std::iter::once(ms(times.mean()))
        .chain(percentiles)
        .collect()
}

fn ms(seconds: Option<f64>) -> String {
    numbers::duration_ms_or_unknown(seconds.map(|seconds| seconds * 1e3))
}

fn share(times: &Times, seconds: f64) -> String {
    match seconds > 0.0 {
        true => numbers::share(times.sum() / seconds),
        false => numbers::UNKNOWN.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use logs::access::{Format, Grouping};

    use super::*;

    #[test]
    fn requests_of_too_many_groups_are_said() {
        let text: String = (0..GROUPS_MAX + 3)
            .map(|path| format!("method:GET\turi:/{path}\n"))
            .collect();
        let digest = logs::read(text.as_bytes(), Some(&Format::Ltsv), &Grouping::Paths);
        let page = of(&digest.expect("a log"), "a.log", 1);
        let words: Vec<&str> = page.split_whitespace().collect();
        let line = "others: 3 requests of paths that came after the first 100,000 groups";
        assert!(words.join(" ").contains(line), "{page}");
    }

    #[test]
    fn executions_of_too_many_statements_are_said() {
        let entry = |name: usize| {
            format!("[42] LOG:  duration: 1.000 ms  statement: SELECT c{name}x FROM t\n")
        };
        let text: String = (0..STATEMENTS_MAX + 2).map(entry).collect();
        let digest = logs::read(text.as_bytes(), None, &Grouping::Routes);
        let page = of(&digest.expect("a log"), "a.log", 1);
        let words: Vec<&str> = page.split_whitespace().collect();
        let line = "others: 2 executions of statements that came after the first 20,000";
        assert!(words.join(" ").contains(line), "{page}");
    }
}
