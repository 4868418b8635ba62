//! Flows in the order of a record, each with a due time or without.

use std::collections::HashMap;

use crate::spec::FlowSpec;

/// The columns of a file with due times.
const COLUMNS: &str = "due_ms,flow";
/// The column of a file with the order alone.
const ORDER: &str = "flow";

/// The due time of each request of a record, where known, and the flow for the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arrivals {
    /// Nanoseconds from the start, in ascending order; empty where the order alone is known.
    pub(crate) due_ns: Vec<u64>,
    /// The flow of each request, by the flow's index.
    pub(crate) flows: Vec<u16>,
}

impl Arrivals {
    /// Parses the file with due times. Lines of flows that are not among `flows` are passed over: a
    /// flow that is turned off sends nothing. The error says the line.
    pub(crate) fn parse(text: &str, flows: &[FlowSpec]) -> Result<Arrivals, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = (1..).zip(text.lines());
        if lines.next().map(|(_, line)| line.trim_end()) != Some(COLUMNS) {
            return Err(format!("1: expected the columns {COLUMNS}"));
        }
        let names = names(flows);
        let mut arrivals = Arrivals::default();
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let due = line.trim_end().split_once(',');
            let due = due.and_then(|(due, flow)| Some((nanos(due)?, flow)));
            let (due_ns, flow) =
                due.ok_or_else(|| format!("{number}: expected milliseconds, a comma and a flow"))?;
            if arrivals.due_ns.last().is_some_and(|last| *last > due_ns) {
                return Err(format!("{number}: is due before the line above"));
            }
            if let Some(index) = names.get(flow) {
                arrivals.due_ns.push(due_ns);
                arrivals.flows.push(*index);
            }
        }
        arrivals.unless_empty()
    }

    /// Parses a file with the order alone, a flow on each line; lines of flows not among
    /// `flows` are passed over. The error says the line.
    pub(crate) fn parse_order(text: &str, flows: &[FlowSpec]) -> Result<Arrivals, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = text.lines().map(str::trim_end);
        if lines.next() != Some(ORDER) {
            return Err(format!("1: expected the column {ORDER}"));
        }
        let names = names(flows);
        let order = Arrivals {
            due_ns: Vec::new(),
            flows: lines.filter_map(|flow| names.get(flow).copied()).collect(),
        };
        order.unless_empty()
    }

    fn unless_empty(self) -> Result<Arrivals, String> {
        match self.flows.is_empty() {
            true => Err("1: no line names a flow that is run".to_owned()),
            false => Ok(self),
        }
    }
}

/// Returns the index of each flow by the file, without folder and extension; the first of equal
/// ones.
fn names(flows: &[FlowSpec]) -> HashMap<&str, u16> {
    let named = flows.iter().enumerate().rev();
    named
        .filter_map(|(index, flow)| {
            let stem = flow.file.as_deref()?.file_stem()?.to_str()?;
            Some((stem, index as u16))
        })
        .collect()
}

fn nanos(due_ms: &str) -> Option<u64> {
    let due_ms: f64 = due_ms.parse().ok()?;
    (0.0..1e15)
        .contains(&due_ms)
        .then_some((due_ms * 1e6).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&[(u64, u16)], &str>) {
        let flow = |file: &str| FlowSpec {
            file: Some(file.into()),
            ..FlowSpec::default()
        };
        let flows = [flow("flows/a.hurl"), flow("x/b.hurl")];
        let found = Arrivals::parse(text, &flows);
        let found = found.map(|found| {
            found
                .due_ns
                .into_iter()
                .zip(found.flows)
                .collect::<Vec<_>>()
        });
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{text}");
    }

    #[test]
    fn an_order_is_read() {
        let flows = ["flows/a.hurl", "b.hurl", "other/a.hurl"].map(|file| FlowSpec {
            file: Some(file.into()),
            ..FlowSpec::default()
        });
        let read = |text: &str| Arrivals::parse_order(text, &flows).map(|order| order.flows);
        assert_eq!(read("flow\nb\r\noff\n\na\nb\n"), Ok(vec![1, 0, 1]));
        let none = "1: no line names a flow that is run".to_owned();
        assert_eq!(read("flow\noff\n"), Err(none));
        assert_eq!(read("b\n"), Err("1: expected the column flow".to_owned()));
    }

    #[test]
    fn arrivals_are_read() {
        let head = "due_ms,flow\n";
        check(
            &format!("{head}0.000,b\r\n1.5,a\n1.5,off\n\n2000,b\n"),
            Ok(&[(0, 1), (1_500_000, 0), (2_000_000_000, 1)]),
        );
        check("", Err("1: expected the columns due_ms,flow"));
        check(head, Err("1: no line names a flow that is run"));
        check(
            &format!("{head}1,off"),
            Err("1: no line names a flow that is run"),
        );
        check(
            &format!("{head}2,a\n1,a"),
            Err("3: is due before the line above"),
        );
        for wrong in ["1", "x,a", "-1,a", "nan,a", "inf,a"] {
            let why = "2: expected milliseconds, a comma and a flow";
            check(&format!("{head}{wrong}"), Err(why));
        }
    }
}
