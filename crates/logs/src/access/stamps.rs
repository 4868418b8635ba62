//! When requests ended, by the clock of the log's host.

use serde::{Deserialize, Serialize};

use super::entry::Entry;
use super::moment;

/// Ends of requests, four bytes each: milliseconds after the first of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamps {
    first_ms: i64,
    after_ms: Vec<i32>,
}

impl Stamps {
    pub(super) fn add(&mut self, entry: &Entry) {
        let Some(moment) = moment::micros_since_1970(&entry.moment) else {
            return;
        };
        let took = match (entry.moment_is_begin, entry.micros) {
            (false, _) => 0,
            (true, Some(micros)) => i64::from(micros),
            // Nobody knows when it ended.
            (true, None) => return,
        };
        let ms = (moment + took) / 1_000;
        if self.after_ms.is_empty() {
            self.first_ms = ms;
        }
        let after = ms - self.first_ms;
        // A log of more than 24 days is not that of a measurement.
        self.after_ms
            .push(after.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32);
    }

    /// Returns the stamps as milliseconds since 1970, in the order of the lines.
    pub fn all_ms(&self) -> impl Iterator<Item = i64> {
        let first = self.first_ms;
        self.after_ms
            .iter()
            .map(move |after| first + i64::from(*after))
    }
}

#[cfg(test)]
mod tests {
    use crate::access::{Access, Format, Grouping};

    #[test]
    fn a_request_that_is_logged_with_its_begin_ends_later() {
        let read = |format: Format, lines: &[&str]| {
            let mut access = Access::new(format, Grouping::Routes).with_stamps();
            for (number, line) in (1..).zip(lines) {
                access.add(number, line.as_bytes());
            }
            let stamps = access.stamps().expect("asked for");
            stamps.all_ms().collect::<Vec<_>>()
        };
        let ltsv = [
            "time:1791608136.250\turi:/a\treqtime:0.100",
            "uri:/without",
            "time:1791608135.000\turi:/b\treqtime:0.100",
        ];
        assert_eq!(
            read(Format::Ltsv, &ltsv),
            [1_791_608_136_250, 1_791_608_135_000]
        );
        let apache = Format::parse("%t \"%r\" %>s %D").expect("a format");
        let line = "[10/Oct/2026:13:55:36 +0900] \"GET / HTTP/1.1\" 200 1500000";
        assert_eq!(read(apache, &[line]), [1_791_608_137_500]);
    }
}
