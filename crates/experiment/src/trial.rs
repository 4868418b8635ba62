//! The trial of a finding's remedy: the change between the app as is and variant B, and what is
//! left of it afterwards.

mod session;

use std::path::{Path, PathBuf};

use comparison::{Comparison, Decision, Ending};
use ending::Failure;
use findings::{Exact, Finding, Remedy, Safety, SettingScope};
use schema_db::scratch::Index;
use words::{Text, text};

use crate::compare::{Schemas, Sides};
use crate::jemalloc;
use crate::observer::Context;
use crate::puma;
use crate::settings::Settings;

/// A change with a possible trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The exact change named by the remedy.
    Remedy(Exact),
    /// jemalloc by preload, with the library's path.
    Jemalloc(PathBuf),
    /// A patch.
    Patch(PathBuf),
}

/// What to try in place of the change named by the remedy.
#[derive(Clone, Debug, Default)]
pub struct Instead {
    /// A patch.
    pub patch: Option<PathBuf>,
    /// jemalloc, for a remedy about the C library's allocator.
    pub jemalloc: bool,
}

impl Change {
    /// Returns the change of a remedy; `None` when the remedy is not a setting.
    pub fn of(remedy: &Remedy) -> Option<Change> {
        let exact = remedy.exact.clone().filter(Exact::can_be_tried)?;
        Some(Change::Remedy(exact))
    }

    /// Returns the change to try for the finding with the number: the one asked for instead, or
    /// the remedy.
    ///
    /// # Errors
    /// The remedy needs somebody who changes code or the machine, has nothing to do with
    /// jemalloc, or jemalloc is not installed.
    pub fn wanted(
        instead: Instead,
        run: i64,
        number: u32,
        finding: &Finding,
    ) -> Result<Change, Failure> {
        if let Some(patch) = instead.patch {
            return Ok(Change::Patch(patch));
        }
        let exact = finding.remedy.exact.as_ref();
        if instead.jemalloc && !exact.is_some_and(Exact::is_of_allocator) {
            return Err(Failure::usage(format!(
                "the remedy of finding {number} of run {run} is not another allocator; --jemalloc is for findings about \
                 memory that name MALLOC_ARENA_MAX or jemalloc"
            )));
        }
        if instead.jemalloc || exact == Some(&Exact::Jemalloc) {
            return match jemalloc::installed() {
                Some(library) => Ok(Change::Jemalloc(library)),
                None => Err(Failure::usage(NOT_INSTALLED)),
            };
        }
        Change::of(&finding.remedy).ok_or_else(|| needs_code(run, number, finding))
    }

    /// Returns the command line of B, where A is started with `command`.
    ///
    /// # Errors
    /// The command starts no Puma that could be given the flags.
    pub fn command(&self, command: &str) -> Result<String, Failure> {
        match self {
            Change::Remedy(exact @ Exact::Puma(flags)) => {
                puma::with_flags(command, &flags.words()).ok_or_else(|| {
                    Failure::usage(format!(
                        "`{command}` starts no puma that could be given {exact}; put `puma` into the command"
                    ))
                })
            }
            Change::Remedy(line @ Exact::Ulimit(_)) => Ok(format!("{line} && {command}")),
            _ => Ok(command.to_owned()),
        }
    }

    /// Returns the variables of B with no or another value in A, as `NAME=VALUE`; `known` returns
    /// the values in A.
    ///
    /// # Errors
    /// A has jemalloc already.
    pub fn variables(
        &self,
        known: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Vec<String>, Failure> {
        Ok(match self {
            Change::Remedy(Exact::Variables(pairs)) => {
                let pairs = pairs.iter();
                pairs
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect()
            }
            Change::Remedy(Exact::PostgresSetting { name, value }) => {
                session::variables((name, value), known)
            }
            Change::Jemalloc(library) => vec![preload(library, known)?],
            _ => Vec::new(),
        })
    }

    /// Returns the library to be loaded by B.
    pub fn library(&self) -> Option<PathBuf> {
        match self {
            Change::Jemalloc(library) => Some(library.clone()),
            _ => None,
        }
    }

    /// Refuses a change of the environment's name by which B, and the command for resetting the
    /// data, would find another database than A: the one of `config/database.yml` for the other
    /// name.
    ///
    /// # Errors
    /// [`ending::Cause::Usage`], with the way to give both one database.
    pub fn refuse_other_database(&self, settings: &Settings) -> Result<(), Failure> {
        let Change::Remedy(Exact::Variables(pairs)) = self else {
            return Ok(());
        };
        let is_environment = |name: &str| ["RAILS_ENV", "RACK_ENV", "APP_ENV"].contains(&name);
        let named = (pairs.iter()).find(|(name, _)| is_environment(name));
        let Some((name, value)) = named else {
            return Ok(());
        };
        if !settings.directory().join("config/database.yml").is_file() {
            return Ok(());
        }
        let variables = (settings.start.as_ref())
            .map(|spec| spec.env.as_slice())
            .unwrap_or_default();
        let is_own = |(known, _): &(String, String)| known == "DATABASE_URL";
        if !variables.iter().any(is_own) && std::env::var_os("DATABASE_URL").is_none() {
            return Err(Failure::usage(format!(
                "with {name}={value}, B would use and reset the {value} database of config/database.yml, not that of A; \
                 set DATABASE_URL in `env` under [target] to the database that both are to use"
            )));
        }
        // DATABASE_URL is for `primary` alone, and a `url` or `host` of the file may win over it.
        let of_file = guard::databases_of_file(settings.directory(), value, variables);
        let names = match of_file {
            Some(names) if names.is_empty() => return Ok(()),
            Some(names) => names.join(", "),
            None => "databases that cannot be read".to_owned(),
        };
        Err(Failure::usage(format!(
            "with {name}={value}, B would use {names} of {value} in config/database.yml, whatever DATABASE_URL says; set a \
             variable such as CACHE_DATABASE_URL for each, with a host, in `env` under [target], and have no `url` for {value} in the file"
        )))
    }

    /// Returns the file with the patch of B.
    pub fn patch(&self) -> Option<PathBuf> {
        match self {
            Change::Patch(path) => Some(path.clone()),
            Change::Remedy(_) | Change::Jemalloc(_) => None,
        }
    }

    /// Creates what the change needs in the database of side B.
    ///
    /// # Errors
    /// The index cannot be created, or the setting not be made for side B alone.
    pub fn schemas(&self, sides: &mut Sides, context: &Context) -> Result<Schemas, Failure> {
        match self {
            Change::Remedy(Exact::Index(create)) => Schemas::of_index(sides, create, context),
            Change::Remedy(Exact::SqliteLog { present }) => {
                Schemas::of_log(sides, present, context)
            }
            Change::Remedy(exact @ Exact::PostgresSetting { name, value }) => {
                let checked = session::check(&sides.a.settings, (name, value));
                checked.map_err(|why| Failure::usage(not_in_a_session(exact, &why)))?;
                Ok(Schemas::none())
            }
            _ => Ok(Schemas::none()),
        }
    }

    /// Leaves the change in place where wanted and proved faster by the comparison; reverts the
    /// change otherwise. Returns whether it is left, and a sentence for people.
    pub fn end(&self, comparison: &Comparison, schemas: Schemas, keep: bool) -> (bool, Text) {
        // Where a side differs from itself, no claim is to be trusted, and nothing rests on one.
        // Who presses Ctrl-C wants no index built after it.
        let is_interrupted = comparison.ending == Ending::Interrupted;
        let is_faster = comparison.decision() == Decision::Faster
            && !comparison.noise_claims
            && !is_interrupted;
        let is_stored = matches!(
            self,
            Change::Remedy(Exact::Index(_) | Exact::SqliteLog { .. })
        );
        match (is_stored, keep, is_faster) {
            (true, true, true) => match schemas.keep() {
                Ok(()) => (true, text!("left in place, as --keep asks")),
                Err(why) => (false, text!("it could not be left in place: {why}", why)),
            },
            (true, true, false) if is_interrupted => (
                false,
                text!("nothing was kept, since the comparison was interrupted"),
            ),
            (true, true, false) if comparison.noise_claims => (
                false,
                text!("taken back, since a side differed from itself by more than chance allows"),
            ),
            (true, true, false) => (false, text!("taken back, since it did not prove faster")),
            (true, false, _) if schemas.is_in_place() => {
                (false, text!("taken back; --keep leaves it"))
            }
            (true, false, _) => (
                false,
                text!(
                    "tried on a copy; the app's database is as it was; --keep makes the change there"
                ),
            ),
            (false, ..) => (false, self.by_hand()),
        }
    }

    /// Returns the change in the form of the command line.
    pub fn text(&self) -> Text {
        match self {
            Change::Remedy(exact) => exact.to_string().into(),
            Change::Jemalloc(library) => alone(library).into(),
            Change::Patch(path) => text!("the patch {path}", path = path.display().to_string()),
        }
    }

    /// Returns the change's name for the head of a column.
    pub fn name(&self) -> String {
        match self {
            Change::Remedy(Exact::Index(sql)) => Index::of_statement(sql)
                .map_or_else(String::new, |index| format!("with {}", index.name)),
            Change::Patch(path) => {
                let name = path.file_name().unwrap_or_default();
                format!("with {}", name.to_string_lossy())
            }
            Change::Jemalloc(_) => "with jemalloc".to_owned(),
            Change::Remedy(exact) => format!("with {exact}"),
        }
    }

    /// Returns how to make the change for good.
    pub fn by_hand(&self) -> Text {
        let exact = match self {
            Change::Remedy(exact) => exact,
            Change::Jemalloc(library) => return in_environment(alone(library)),
            Change::Patch(path) => {
                return text!(
                    "tried on a copy; to keep it, `git apply {path}`",
                    path = path.display().to_string()
                );
            }
        };
        let change = exact.to_string();
        match exact {
            Exact::Puma(_) => text!(
                "nothing was changed; to keep it, start Puma with {flags}",
                flags = change
            ),
            Exact::Variables(_) | Exact::Jemalloc => in_environment(change),
            Exact::Ulimit(_) => text!(
                "nothing was changed; to keep it, run `{line}` where the app is started",
                line = change
            ),
            Exact::PostgresSetting { .. } => text!(
                "tried in the app's own sessions; nothing was changed; to keep it, `{statement}` on the server",
                statement = change
            ),
            Exact::Index(_) | Exact::SqliteLog { .. } | Exact::Setting { .. } | Exact::Text(_) => {
                Text::default()
            }
        }
    }
}

/// Why jemalloc is not tried. Distributions call its package by one of two names.
const NOT_INSTALLED: &str = "jemalloc is not installed here: install libjemalloc2 (Debian, Ubuntu, openSUSE) or jemalloc \
    (Fedora, Arch), then try again";

/// Returns the variable of B, with the libraries loaded first in A behind jemalloc.
fn preload(library: &Path, known: &dyn Fn(&str) -> Option<String>) -> Result<String, Failure> {
    let own = known(jemalloc::VARIABLE);
    if let Some(own) = own.as_deref().filter(|own| jemalloc::is_in(own)) {
        return Err(Failure::usage(format!(
            "the app has jemalloc already ({}={own}), so both sides would be the same",
            jemalloc::VARIABLE
        )));
    }
    let value = jemalloc::before(library, own.as_deref());
    Ok(format!("{}={value}", jemalloc::VARIABLE))
}

/// Returns the variable for an app which loads nothing else first.
fn alone(library: &Path) -> String {
    format!("{}={}", jemalloc::VARIABLE, library.display())
}

fn in_environment(pair: String) -> Text {
    text!(
        "nothing was changed; to keep it, set {pair} in the app's environment",
        pair
    )
}

/// Returns why a setting cannot be tried in the app's sessions, and what to do by hand.
fn not_in_a_session(exact: &Exact, why: &str) -> String {
    format!(
        "the server does not give the setting to the app's sessions alone: {why}; {}",
        on_server(exact)
    )
}

fn needs_code(run: i64, number: u32, finding: &Finding) -> Failure {
    let Remedy {
        text,
        exact,
        safety,
    } = &finding.remedy;
    let of = format!("the remedy of finding {number} of run {run} is");
    if let Some(exact @ Exact::Setting { scope, .. }) = exact {
        return Failure::usage(needs_setting(&of, number, (text, exact), *scope));
    }
    let mut message = format!("{of} a change that hakaru cannot make: {text}");
    if let Some(exact) = exact {
        message += &format!(" ({exact})");
    }
    Failure::usage(match safety {
        Safety::Code => format!("{message}; make it, then {}", with_patch(number)),
        _ => format!("{message}; make it by hand, {AGAIN}"),
    })
}

/// What to do after a change by hand.
const AGAIN: &str = "`hakaru run` again, and `hakaru log` shows both beside the noise of this host";

fn needs_setting(
    of: &str,
    number: u32,
    (text, exact): (&Text, &Exact),
    scope: SettingScope,
) -> String {
    match scope {
        SettingScope::Server => format!(
            "{of} a setting for everybody on the server, and hakaru changes no server: {text}; {}",
            on_server(exact)
        ),
        SettingScope::Restart => format!(
            "{of} a setting that counts from the server's next start, and hakaru restarts no server: {text}; by hand, \
             where nobody else uses it: {exact}, restart it, {AGAIN}"
        ),
        SettingScope::Connection => format!(
            "{of} a setting that the app's code makes on each of its connections: {text}; by hand: execute {exact} \
             where the app connects, then {}",
            with_patch(number)
        ),
    }
}

fn on_server(exact: &Exact) -> String {
    format!(
        "by hand, where nobody else uses the server: write down the present value, `{exact}`, {AGAIN}; the present value \
         in the same statement takes it back, the server's configuration file keeps it"
    )
}

fn with_patch(number: u32) -> String {
    format!("`git diff > fix.diff`, take it back, and `hakaru try {number} --patch fix.diff`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(exact: Option<Exact>) -> Finding {
        Finding {
            rule: findings::RuleId::DatabaseSettings,
            route: String::new(),
            title: Text::default(),
            why: Text::default(),
            evidence: Vec::new(),
            remedy: Remedy {
                text: Text::default(),
                exact,
                safety: Safety::Careful,
            },
            estimated_gain: Text::default(),
            gain_share: 0.0,
            gain: None,
            confidence: findings::Confidence::Medium,
        }
    }

    #[test]
    fn what_can_be_set_is_told_from_what_needs_code() {
        let check = |exact: Option<Exact>, can_be_tried: bool| {
            let remedy = Remedy {
                text: Text::default(),
                exact: exact.clone(),
                safety: Safety::Careful,
            };
            let expected = exact.filter(|_| can_be_tried).map(Change::Remedy);
            assert_eq!(Change::of(&remedy), expected);
        };
        check(Some(Exact::threads(3)), true);
        check(Some(Exact::variables([("RACK_ENV", "production")])), true);
        check(Some(Exact::Ulimit("-n 65536".to_owned())), true);
        check(Some("SELECT * FROM a WHERE b IN (?)".into()), false);
        check(None, false);
        let index = Change::Remedy(Exact::Index("CREATE INDEX a ON b (c)".to_owned()));
        assert_eq!(index.name(), "with a");
        let flags = Change::Remedy(Exact::threads(3));
        assert_eq!(flags.name(), "with -t 3:3");
        let by_hand = "nothing was changed; to keep it, start Puma with -t 3:3";
        assert_eq!(flags.by_hand().to_string(), by_hand);
    }

    #[test]
    fn only_what_is_faster_beyond_doubt_is_kept() {
        let row = comparison::Row {
            metric: "rps".to_owned(),
            a: 100.0,
            b: 200.0,
            seen: stats::comparison::Row {
                ratio: 2.0,
                interval: None,
                verdict: stats::comparison::Verdict::Higher,
                noise: None,
            },
        };
        let index = Change::Remedy(Exact::Index("CREATE INDEX a ON b (c)".to_owned()));
        let check = |noise_claims: bool, rows: Vec<comparison::Row>, expected: (bool, &str)| {
            let comparison = Comparison {
                rows,
                noise_claims,
                ..Comparison::default()
            };
            let (is_kept, said) = index.end(&comparison, Schemas::none(), true);
            let said = said.to_string();
            assert_eq!(is_kept, expected.0, "{said}");
            assert!(said.contains(expected.1), "{said}");
        };
        let interrupted = Comparison {
            rows: vec![row.clone()],
            ending: Ending::Interrupted,
            ..Comparison::default()
        };
        let (is_kept, said) = index.end(&interrupted, Schemas::none(), true);
        assert!(!is_kept && said.to_string().contains("interrupted"));
        check(false, vec![row.clone()], (true, "left in place"));
        check(true, vec![row], (false, "differed from itself"));
        check(false, Vec::new(), (false, "did not prove faster"));
    }

    #[test]
    fn what_is_not_tried_says_why_and_what_to_do_by_hand() {
        let check = |scope: SettingScope, parts: [&str; 3]| {
            let finding = about(Some(Exact::setting("SET x = 1", scope)));
            let wanted = Change::wanted(Instead::default(), 7, 2, &finding);
            let failure = wanted.expect_err("refused");
            for part in parts {
                assert!(failure.message.contains(part), "{}", failure.message);
            }
        };
        let log = "hakaru log";
        check(
            SettingScope::Server,
            ["everybody on the server", "`SET x = 1`", log],
        );
        check(
            SettingScope::Restart,
            ["restarts no server", "SET x = 1, restart it", log],
        );
        check(
            SettingScope::Connection,
            ["the app's code", "SET x = 1", "hakaru try 2 --patch"],
        );
    }

    #[test]
    fn each_change_says_what_b_is() {
        let check = |change: Change, command: &str, variables: &[&str]| {
            let found = change.command("puma -p 1").expect("a command");
            assert_eq!(found, command);
            let found = change.variables(&|_| None).expect("variables");
            assert_eq!(found, variables);
        };
        check(Change::Remedy(Exact::threads(3)), "puma -t 3:3 -p 1", &[]);
        let limit = Exact::Ulimit("-n 65536".to_owned());
        let limited = format!("{limit} && puma -p 1");
        check(Change::Remedy(limit), &limited, &[]);
        let variables = Exact::variables([("A", "1"), ("B", "2")]);
        check(Change::Remedy(variables), "puma -p 1", &["A=1", "B=2"]);
        let setting = Exact::PostgresSetting {
            name: "jit",
            value: "off",
        };
        let session = ["PGOPTIONS=-c jit=off"];
        let setting = Change::Remedy(setting);
        let own = |name: &str| (name == "PGOPTIONS").then(|| "-c search_path=a".to_owned());
        let both = setting.variables(&own).expect("variables");
        assert_eq!(both, ["PGOPTIONS=-c search_path=a -c jit=off"]);
        check(setting, "puma -p 1", &session);
        check(Change::Patch("a.diff".into()), "puma -p 1", &[]);
        let no_puma = Change::Remedy(Exact::threads(3)).command("sleep 1");
        assert!(no_puma.is_err());
    }

    #[test]
    fn jemalloc_stands_before_the_apps_own_libraries() {
        let change = Change::Jemalloc("/lib/libjemalloc.so.2".into());
        let check = |own: Option<&str>, expected: Result<&str, &str>| {
            let known = |name: &str| own.filter(|_| name == "LD_PRELOAD").map(str::to_owned);
            match (change.variables(&known), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, [expected]),
                (Err(failure), Err(part)) => {
                    assert!(failure.message.contains(part), "{}", failure.message);
                }
                (found, _) => panic!("{own:?}: {:?}", found.map_err(|why| why.message)),
            }
        };
        check(None, Ok("LD_PRELOAD=/lib/libjemalloc.so.2"));
        let both = "LD_PRELOAD=/lib/libjemalloc.so.2:/lib/libtrace.so";
        check(Some("/lib/libtrace.so"), Ok(both));
        let own = "/usr/lib/libjemalloc.so.2 /lib/libtrace.so";
        check(Some(own), Err("has jemalloc already"));
        assert_eq!(change.name(), "with jemalloc");
        assert_eq!(change.command("puma").expect("a command"), "puma");
        let by_hand = change.by_hand().to_string();
        assert!(
            by_hand.contains("LD_PRELOAD=/lib/libjemalloc.so.2"),
            "{by_hand}"
        );
    }

    #[test]
    fn jemalloc_is_for_findings_about_the_allocator() {
        let instead = || Instead {
            jemalloc: true,
            ..Instead::default()
        };
        let threads = about(Some(Exact::threads(3)));
        let failure = Change::wanted(instead(), 7, 2, &threads).expect_err("refused");
        assert!(
            failure.message.contains("not another allocator"),
            "{}",
            failure.message
        );
        let arenas = Exact::variables([("MALLOC_ARENA_MAX", "2")]);
        let untouched = Change::wanted(Instead::default(), 7, 2, &about(Some(arenas.clone())));
        assert_eq!(untouched.expect("a change"), Change::Remedy(arenas.clone()));
        // Whether the library is there is this machine's business.
        let check = |wanted: Result<Change, Failure>| match (wanted, jemalloc::installed()) {
            (Ok(change), Some(library)) => assert_eq!(change, Change::Jemalloc(library)),
            (Err(failure), None) => assert!(failure.message.contains("libjemalloc2")),
            (wanted, _) => panic!("{:?}", wanted.map_err(|why| why.message)),
        };
        check(Change::wanted(instead(), 7, 2, &about(Some(arenas))));
        let other = about(Some(Exact::Jemalloc));
        check(Change::wanted(Instead::default(), 7, 2, &other));
    }
}
