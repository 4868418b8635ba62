//! Exact changes for a finding, usable to the letter.

use std::fmt;

/// The variable with the number of arenas of glibc's allocator.
pub(crate) const ARENAS: &str = "MALLOC_ARENA_MAX";

/// The statement, command or setting of a remedy. Its text is made here alone, and never read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exact {
    /// A statement creating an index.
    Index(String),
    /// Flags of Puma.
    Puma(PumaFlags),
    /// Variables of the app's environment: names and values.
    Variables(Vec<(String, String)>),
    /// jemalloc in place of the C library's allocator, loaded before all other libraries. Where the
    /// library is, only the app's host knows.
    Jemalloc,
    /// Arguments of the shell's `ulimit`, before the app starts.
    Ulimit(String),
    /// A setting of PostgreSQL with a scope of one session: tried while the server stays unchanged.
    PostgresSetting {
        /// Name of the setting.
        name: &'static str,
        /// Value of the setting, without blanks and quotation marks.
        value: &'static str,
    },
    /// SQLite's write-ahead log, a mode stored in the file: tried on a copy of the file.
    SqliteLog {
        /// The journal mode before.
        present: String,
    },
    /// A setting of the database without a trial by itself.
    Setting {
        /// Statement, or line of the server's configuration.
        text: String,
        /// Who is affected.
        scope: SettingScope,
    },
    /// Anything else, for people: a statement, a line of code or of a configuration.
    Text(String),
}

/// Effect of a database's setting beyond the app's own sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingScope {
    /// Everybody's sessions on the server, at once.
    Server,
    /// Everybody's sessions, from the server's next start.
    Restart,
    /// One connection: set by the app's code on each.
    Connection,
}

/// Flags of Puma, grouped by where each is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PumaFlags {
    /// Worker processes.
    pub workers: Option<u32>,
    /// Threads of each worker, least and most alike.
    pub threads: Option<u32>,
    /// Whether the app is loaded before the workers are forked.
    pub preload: bool,
}

impl PumaFlags {
    /// Returns the flags, each with a value.
    pub fn words(&self) -> Vec<Vec<String>> {
        let flag = |name: &str, value: String| vec![name.to_owned(), value];
        let workers = self.workers.map(|workers| flag("-w", workers.to_string()));
        let threads = (self.threads).map(|threads| flag("-t", format!("{threads}:{threads}")));
        let preload = self.preload.then(|| vec!["--preload".to_owned()]);
        [workers, threads, preload].into_iter().flatten().collect()
    }
}

impl Exact {
    /// Returns variables of the environment.
    pub fn variables<const N: usize>(pairs: [(&str, &str); N]) -> Exact {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Exact::Variables(pairs.into_iter().map(owned).collect())
    }

    /// Returns a number of worker processes of Puma.
    pub fn workers(workers: u32) -> Exact {
        Exact::Puma(PumaFlags {
            workers: Some(workers),
            ..PumaFlags::default()
        })
    }

    /// Returns a number of threads of each of Puma's workers.
    pub fn threads(threads: u32) -> Exact {
        Exact::Puma(PumaFlags {
            threads: Some(threads),
            ..PumaFlags::default()
        })
    }

    /// Returns a setting of the database without a trial by itself.
    pub fn setting(text: impl Into<String>, scope: SettingScope) -> Exact {
        Exact::Setting {
            text: text.into(),
            scope,
        }
    }

    /// Whether the change concerns the C library's allocator, which another one can replace.
    pub fn is_of_allocator(&self) -> bool {
        match self {
            Exact::Jemalloc => true,
            Exact::Variables(pairs) => pairs.iter().any(|(name, _)| name == ARENAS),
            _ => false,
        }
    }

    /// Whether `hakaru try` makes the change by itself.
    pub fn can_be_tried(&self) -> bool {
        !matches!(self, Exact::Text(_) | Exact::Setting { .. })
    }
}

impl From<&str> for Exact {
    fn from(text: &str) -> Exact {
        Exact::Text(text.to_owned())
    }
}

impl From<String> for Exact {
    fn from(text: String) -> Exact {
        Exact::Text(text)
    }
}

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exact::Index(text) | Exact::Text(text) | Exact::Setting { text, .. } => {
                f.write_str(text)
            }
            Exact::SqliteLog { .. } => f.write_str("PRAGMA journal_mode = WAL"),
            Exact::Puma(flags) => f.write_str(&flags.words().concat().join(" ")),
            Exact::Variables(pairs) => {
                let pairs: Vec<String> = (pairs.iter())
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect();
                f.write_str(&pairs.join(" "))
            }
            Exact::Jemalloc => f.write_str("LD_PRELOAD=libjemalloc.so.2"),
            Exact::Ulimit(arguments) => write!(f, "ulimit {arguments}"),
            Exact::PostgresSetting { name, value } => write!(
                f,
                "ALTER SYSTEM SET {name} = '{value}'; SELECT pg_reload_conf()"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_written_as_people_type_it() {
        let check = |exact: Exact, expected: &str, can_be_tried: bool| {
            assert_eq!(exact.to_string(), expected);
            assert_eq!(exact.can_be_tried(), can_be_tried, "{expected}");
        };
        check(Exact::threads(3), "-t 3:3", true);
        check(Exact::workers(2), "-w 2", true);
        let preload = PumaFlags {
            workers: Some(2),
            preload: true,
            ..PumaFlags::default()
        };
        check(Exact::Puma(preload), "-w 2 --preload", true);
        let both = [("A", "1"), ("B", "2")];
        check(Exact::variables(both), "A=1 B=2", true);
        check(Exact::Jemalloc, "LD_PRELOAD=libjemalloc.so.2", true);
        check(
            Exact::Ulimit("-n 65536".to_owned()),
            "ulimit -n 65536",
            true,
        );
        check(
            Exact::Index("CREATE INDEX a ON b (c)".to_owned()),
            "CREATE INDEX a ON b (c)",
            true,
        );
        let setting = Exact::PostgresSetting {
            name: "work_mem",
            value: "32MB",
        };
        let statement = "ALTER SYSTEM SET work_mem = '32MB'; SELECT pg_reload_conf()";
        check(setting, statement, true);
        let log = Exact::SqliteLog {
            present: "delete".to_owned(),
        };
        check(log, "PRAGMA journal_mode = WAL", true);
        let on_server = Exact::setting("SET GLOBAL a = 1", SettingScope::Server);
        check(on_server, "SET GLOBAL a = 1", false);
        check("SELECT 1".into(), "SELECT 1", false);
    }

    #[test]
    fn changes_of_the_allocator_are_known() {
        assert!(Exact::Jemalloc.is_of_allocator());
        assert!(Exact::variables([(ARENAS, "2")]).is_of_allocator());
        assert!(!Exact::variables([("RACK_ENV", "production")]).is_of_allocator());
        assert!(!Exact::workers(2).is_of_allocator());
    }
}
