//! Digests as stored: all facts of a log for a later program.

use serde::{Deserialize, Serialize};

use crate::access::{Access, Behind, Row, Stamps};
use crate::slow::{Slow, Statement};
use crate::{Digest, Unread};

/// Facts of a digest.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Facts {
    /// Of access logs.
    Access {
        /// Requests by method and path.
        rows: Vec<Row>,
        /// Servers behind the proxy.
        behind: Vec<Behind>,
        /// When requests ended.
        stamps: Option<Stamps>,
        /// Lines not read.
        unread: Unread,
    },
    /// Of slow logs.
    Slow {
        /// The statements.
        statements: Vec<Statement>,
        /// Entries not read.
        unread: Unread,
    },
}

impl Digest {
    /// Returns the facts for a file.
    pub fn facts(&self) -> Facts {
        match self {
            Digest::Access(access) => Facts::Access {
                rows: access.groups().to_vec(),
                behind: access.behind(),
                stamps: access.stamps().cloned(),
                unread: access.unread.clone(),
            },
            Digest::Slow(slow) => Facts::Slow {
                statements: slow.statements(),
                unread: slow.unread.clone(),
            },
        }
    }
}

impl From<Facts> for Digest {
    fn from(facts: Facts) -> Digest {
        match facts {
            Facts::Access {
                rows,
                behind,
                stamps,
                unread,
            } => Digest::Access(Box::new(Access::of_facts(rows, behind, stamps, unread))),
            Facts::Slow { statements, unread } => Digest::Slow(Slow::of_facts(statements, unread)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Grouping;
    use crate::read_stamped;

    const ACCESS: &str = "time:1791608136.250\tmethod:GET\turi:/a/1\tstatus:200\tsize:9\treqtime:0.100\tapptime:0.09\tupstream_addr:10.0.0.2:80\n\
        time:1791608136.500\tmethod:GET\turi:/a/2\tstatus:500\tsize:9\treqtime:0.300\tapptime:-\nhello\n";
    const SLOW: &str = "# Time: 2026-11-25T01:02:03.456789Z\n# User@Host: a[a] @ localhost []  Id:     8\n\
        # Query_time: 0.250000  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 900\nSELECT * FROM t WHERE id = 3;\n";

    fn read(text: &str) -> Digest {
        read_stamped(text.as_bytes(), None, &Grouping::Routes).expect("a log")
    }

    fn stored(digest: &Digest) -> Digest {
        let text = serde_json::to_string(&digest.facts()).expect("JSON");
        serde_json::from_str::<Facts>(&text).expect("facts").into()
    }

    #[test]
    fn a_stored_log_has_the_same_figures_and_can_be_added_to() {
        let log = read(ACCESS);
        let (Digest::Access(before), Digest::Access(after)) = (&log, &stored(&log)) else {
            panic!("access logs")
        };
        assert_eq!(
            format!("{:?}", before.rows()),
            format!("{:?}", after.rows())
        );
        assert_eq!(before.stamps(), after.stamps());
        assert_eq!((before.total(), before.unread.lines), (after.total(), 1));
        assert_eq!(after.behind()[0].requests(), 1);
        let twice = stored(&log).merge(read(ACCESS)).expect("one kind");
        let Digest::Access(twice) = twice else {
            panic!("an access log")
        };
        assert_eq!((twice.rows().len(), twice.rows()[0].requests), (1, 4));
    }

    #[test]
    fn a_stored_slow_log_has_the_same_statements_and_can_be_added_to() {
        let log = read(SLOW);
        let twice = stored(&log).merge(read(SLOW)).expect("one kind");
        let Digest::Slow(twice) = twice else {
            panic!("a slow log")
        };
        let statements = twice.statements();
        assert_eq!((statements.len(), statements[0].times.count()), (1, 2));
        assert_eq!(statements[0].rows_examined, 1800);
    }
}
