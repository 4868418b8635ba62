//! Other projects' own tests with the agent and the sampler inside, and without: `cargo xtask
//! foreign-suites`.
//!
//! The sources are Debian's, of the release whose packages run them. A test that fails with the
//! agent in two runs and in
//! neither of two runs without it is a difference; one that fails once here and once there is the
//! machine's or its own.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::marked;
use crate::run::{Outcome, capture, cargo, root, run, target_folder};
use crate::setup::matrix;

const PAGE: &str = "docs/agent.md";
const NAME: &str = "foreign-suites";
/// Time limit of a suite in seconds: the longest takes two minutes on two idle cores.
const LIMIT_S: &str = "900";

/// One project's tests.
struct Suite {
    /// Debian's release.
    suite: &'static str,
    /// Source package of the project.
    package: &'static str,
    /// Below the source.
    folder: &'static str,
    /// Files of tests below `folder`: a folder, and a common beginning or end of file names.
    tests: (&'static str, &'static str),
    /// For `-I`.
    include: &'static [&'static str],
    /// Extension expected by the tests beside the package's own code: name in the unpacked package,
    /// and path of the file here.
    extension: Option<(&'static str, &'static str)>,
    /// Whether the tests need a PostgreSQL.
    needs_postgres: bool,
}

const SUITE: Suite = Suite {
    suite: "trixie",
    package: "",
    folder: "",
    tests: ("test", "test_"),
    include: &["lib", "test"],
    extension: None,
    needs_postgres: false,
};

const RAILS: Suite = Suite {
    package: "rails",
    ..SUITE
};

/// All suites; a suite whose source is missing on a mirror says so in the table.
const SUITES: [Suite; 11] = [
    Suite {
        package: "puma",
        extension: Some(("puma_http11.so", "lib/puma/puma_http11.so")),
        ..SUITE
    },
    Suite {
        suite: "sid",
        package: "ruby-rack",
        tests: ("test", "spec_"),
        ..SUITE
    },
    Suite {
        package: "ruby-rack-test",
        tests: ("spec", "_spec.rb"),
        include: &["lib", "spec"],
        ..SUITE
    },
    Suite {
        suite: "sid",
        package: "ruby-sinatra",
        tests: ("test", "_test.rb"),
        ..SUITE
    },
    Suite {
        suite: "sid",
        package: "ruby-sqlite3",
        extension: Some(("sqlite3_native.so", "lib/sqlite3/sqlite3_native.so")),
        ..SUITE
    },
    Suite {
        package: "ruby-pg",
        tests: ("spec", "_spec.rb"),
        ..SUITE
    },
    Suite {
        folder: "actionpack",
        tests: ("test/dispatch", "_test.rb"),
        ..RAILS
    },
    Suite {
        folder: "actionpack",
        tests: ("test/controller", "_test.rb"),
        ..RAILS
    },
    Suite {
        folder: "activerecord",
        tests: ("test/cases/relation", "_test.rb"),
        ..RAILS
    },
    Suite {
        folder: "activerecord",
        tests: ("test/cases/associations", "_test.rb"),
        ..RAILS
    },
    Suite {
        folder: "activerecord",
        tests: ("test/cases/adapters/postgresql", "_test.rb"),
        needs_postgres: true,
        ..RAILS
    },
];

/// Letter of each test: `.` passed, `S` skipped, `F` and `E` failed.
type Results = BTreeMap<String, char>;

pub(crate) fn task(arguments: &[String]) -> Outcome<()> {
    let is_write = arguments.iter().any(|word| word == "--write");
    let only = arguments.iter().find(|word| !word.starts_with('-'));
    let place = target_folder().join(NAME);
    let boot = agent(&place.join("agent"))?;
    let page = root().join(PAGE);
    // A suite run alone replaces its own line.
    let mut lines: Vec<String> = match only {
        Some(_) => rows_of(&marked::read_from(&page, NAME)?),
        None => Vec::new(),
    };
    let day = capture(Command::new("date").args(["-u", "+%F"]))?;
    let mut differing = 0;
    for suite in SUITES
        .iter()
        .filter(|suite| only.is_none_or(|name| suite.name().contains(name.as_str())))
    {
        eprintln!("foreign-suites: {}", suite.name());
        let cells = match suite.compare(&place, &boot) {
            Ok(compared) => {
                differing += compared.different.len();
                compared.cells()
            }
            Err(error) => format!("not run: {} | | |", error.replace('\n', " ")),
        };
        let line = format!("| {} | {cells} | {} |", suite.name(), day.trim());
        println!("{line}");
        put(&mut lines, line);
        if is_write {
            marked::write_into(&page, NAME, &table(&lines))?;
        }
    }
    match differing {
        0 => Ok(()),
        _ => Err(format!("{differing} tests fail with the agent alone")),
    }
}

/// The rows of a table as written by [`table`].
fn rows_of(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| line.starts_with("| "));
    lines.skip(1).map(str::to_owned).collect()
}

/// Puts a row in the place of the suite's older one, or at the place of the suite.
fn put(lines: &mut Vec<String>, line: String) {
    let place = |line: &String| {
        let name = line.split(" | ").next().unwrap_or_default();
        let name = name.trim_start_matches("| ").to_owned();
        SUITES.iter().position(|suite| suite.name() == name)
    };
    lines.retain(|old| place(old).is_some() && place(old) != place(&line));
    lines.push(line);
    lines.sort_by_key(place);
}

fn table(lines: &[String]) -> String {
    format!(
        "With Ruby 3.3 of Debian 13 and, for Rack, Sinatra and sqlite3, of sid.\n\n\
         | suite | tests | fail without | fail with agent and sampler | fail only with them | run on |\n\
         |---|--:|--:|--:|---|---|\n{}",
        lines.join("\n")
    )
}

/// Builds the agent in the layout for a Ruby process; returns the path for `RUBYOPT`.
fn agent(folder: &Path) -> Outcome<PathBuf> {
    run(&mut cargo(&[
        "build",
        "--package",
        "hakaru-agent",
        "--profile",
        "agent",
    ]))?;
    fs::create_dir_all(folder)
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let boot = folder.join("hakaru_boot.rb");
    copy(
        &target_folder().join("agent/libhakaru_agent.so"),
        &folder.join("hakaru_agent.so"),
    )?;
    copy(&root().join("ruby/boot.rb"), &boot)?;
    Ok(boot)
}

fn copy(from: &Path, to: &Path) -> Outcome<()> {
    let copied = fs::copy(from, to).map(|_| ());
    copied.map_err(|error| format!("cannot copy {}: {error}", from.display()))
}

/// Two runs without the agent and with the agent; the second only after a difference in the first.
struct Compared {
    without: Results,
    with: Results,
    different: Vec<String>,
}

impl Compared {
    fn cells(&self) -> String {
        let failed = |results: &Results| {
            results
                .values()
                .filter(|letter| is_failure(**letter))
                .count()
        };
        format!(
            "{} | {} | {} | {}",
            self.without.len(),
            failed(&self.without),
            failed(&self.with),
            match self.different.as_slice() {
                [] => "none".to_owned(),
                names => names.join(", "),
            }
        )
    }
}

fn is_failure(letter: char) -> bool {
    matches!(letter, 'F' | 'E')
}

/// Returns the tests passed without the agent, and failed or unfinished with the agent.
fn worse(without: &Results, with: &Results) -> Vec<String> {
    let is_worse = |name: &&String| {
        let (before, after) = (without.get(*name), with.get(*name));
        before.is_some_and(|letter| !is_failure(*letter))
            && after.is_none_or(|letter| is_failure(*letter))
    };
    without.keys().filter(is_worse).cloned().collect()
}

impl Suite {
    fn name(&self) -> String {
        match self.folder {
            "" => self.package.to_owned(),
            folder => format!("{} {folder}/{}", self.package, self.tests.0),
        }
    }

    fn compare(&self, place: &Path, boot: &Path) -> Outcome<Compared> {
        let source = matrix::source(self.suite, self.package, &place.join(self.package))?;
        let ruby = matrix::suites_ruby(self.suite)?;
        if let Some((name, goal)) = self.extension {
            copy(&matrix::suites_file(self.suite, name)?, &source.join(goal))?;
        }
        let folder = source.join(self.folder);
        let files = self.files(&folder)?;
        let env = match self.needs_postgres {
            true => postgres(&place.join("database.yml"), &ruby)?,
            false => Vec::new(),
        };
        let take = |boot: Option<&Path>| self.run(&folder, &files, &ruby, boot, &env);
        let (without, with) = (take(None)?, take(Some(boot))?);
        let mut different = worse(&without, &with);
        if !different.is_empty() {
            let again = worse(&take(None)?, &take(Some(boot))?);
            different.retain(|name| again.contains(name));
        }
        Ok(Compared {
            without,
            with,
            different,
        })
    }

    fn files(&self, folder: &Path) -> Outcome<Vec<PathBuf>> {
        let (below, name) = self.tests;
        let entries = fs::read_dir(folder.join(below))
            .map_err(|error| format!("cannot read {}/{below}: {error}", folder.display()))?;
        let is_test = |path: &PathBuf| {
            let file = path
                .file_name()
                .and_then(|file| file.to_str())
                .unwrap_or_default();
            file.ends_with(".rb") && (file.starts_with(name) || file.ends_with(name))
        };
        let mut files: Vec<PathBuf> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(is_test)
            .collect();
        files.sort();
        Ok(files)
    }

    /// Runs all tests of the suite once, in the same order each time.
    fn run(
        &self,
        folder: &Path,
        files: &[PathBuf],
        ruby: &Path,
        boot: Option<&Path>,
        env: &[(&str, String)],
    ) -> Outcome<Results> {
        // A file that requires a gem which no Debian has is left out of all runs.
        const LOAD: &str = "require 'minitest/autorun'
            while ARGV.first.to_s.end_with?('.rb')
              begin
                require ARGV.shift
              rescue LoadError => error
                warn error.message
              end
            end";
        let programs = ruby.parent().unwrap_or(folder);
        let path = env::join_paths(
            std::iter::once(programs.to_owned())
                .chain(env::split_paths(&env::var_os("PATH").unwrap_or_default())),
        );
        let rings = tempfolder("rings")?;
        let mut command = Command::new("timeout");
        command.args(["--kill-after=10", LIMIT_S]).arg(ruby);
        self.include.iter().for_each(|below| {
            command.arg("-I").arg(folder.join(below));
        });
        command
            .arg("-I")
            .arg(root().join("dev/suites"))
            .args(["-e", LOAD])
            .args(files)
            .args(["--verbose", "--seed", "1"]);
        command
            .current_dir(folder)
            .env("PATH", path.map_err(|error| error.to_string())?)
            .env_remove("RUBYOPT")
            .envs(env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        if let Some(boot) = boot {
            command
                .env("RUBYOPT", format!("-r{}", boot.display()))
                .env("HAKARU_RING_DIR", &rings)
                .env("HAKARU_APP_ROOT", folder)
                .env("HAKARU_PROFILE", "wall 1000 now");
        }
        let output = command
            .output()
            .map_err(|error| format!("timeout does not start: {error}"));
        let _ = fs::remove_dir_all(&rings);
        let output = output?;
        let text = String::from_utf8_lossy(&output.stdout);
        let results: Results = text.lines().filter_map(result).collect();
        if results.is_empty() {
            eprintln!("{}", String::from_utf8_lossy(&output.stderr));
            return Err(format!("{} before its first test", output.status));
        }
        Ok(results)
    }
}

/// Variables for Active Record's tests on the tests' PostgreSQL, in two recreated databases.
fn postgres(config: &Path, ruby: &Path) -> Outcome<Vec<(&'static str, String)>> {
    const URL: &str = "HAKARU_TEST_POSTGRES_URL";
    const MAKE: &str = r#"
        require "pg"
        server = PG.connect(ARGV[0])
        ARGV[1..].each do |name|
          server.exec("DROP DATABASE IF EXISTS #{name}")
          server.exec("CREATE DATABASE #{name}")
        end"#;
    const NAMES: [&str; 2] = ["hakaru_foreign_1", "hakaru_foreign_2"];
    let url = env::var(URL)
        .map_err(|_| format!("{URL} is not set; `cargo xtask with-servers` sets it"))?;
    let mut make = Command::new(ruby);
    make.args(["-e", MAKE, &url])
        .args(NAMES)
        .env_remove("RUBYOPT");
    capture(&mut make)?;
    let base = url.rsplit_once('/').map_or(url.as_str(), |(base, _)| base);
    let of = |name: &str| format!("{{ url: \"{base}/{name}\", min_messages: warning }}");
    let text = format!(
        "default_connection: postgresql\nconnections:\n  postgresql:\n    arunit: {}\n    arunit_without_prepared_statements: {}\n    arunit2: {}\n",
        of(NAMES[0]),
        of(NAMES[0]),
        of(NAMES[1])
    );
    crate::run::write(config, &text)?;
    Ok(vec![
        ("ARCONN", "postgresql".to_owned()),
        ("ARCONFIG", config.display().to_string()),
    ])
}

fn tempfolder(name: &str) -> Outcome<PathBuf> {
    let folder = env::temp_dir().join(format!("hakaru-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder)
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    Ok(folder)
}

/// Parses a line of minitest's verbose form, such as `TestPuma#test_a = 0.01 s = .`.
fn result(line: &str) -> Option<(String, char)> {
    let (before, letter) = line.trim_end().rsplit_once(" s = ")?;
    let (name, seconds) = before.rsplit_once(" = ")?;
    seconds.parse::<f64>().ok()?;
    let mut letters = letter.chars();
    let letter = letters
        .next()
        .filter(|letter| matches!(letter, '.' | 'F' | 'E' | 'S'))?;
    letters.next().is_none().then(|| (name.to_owned(), letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbose_lines_of_minitest_are_read() {
        assert_eq!(
            result("TestA#test_b = 0.01 s = ."),
            Some(("TestA#test_b".to_owned(), '.'))
        );
        assert_eq!(
            result("A::b = c#test_0001_is = x = 1.20 s = F").map(|(_, letter)| letter),
            Some('F')
        );
        assert_eq!(result("Finished in 0.1 s = .x"), None);
        assert_eq!(result("hello"), None);
    }

    #[test]
    fn a_suite_run_alone_replaces_its_own_line() {
        let mut lines = rows_of(&table(&[
            "| ruby-sinatra | 1 | 0 | 0 | none | then |".to_owned(),
            "| of-old | 1 | 0 | 0 | none | then |".to_owned(),
        ]));
        put(
            &mut lines,
            "| ruby-sinatra | 2 | 0 | 0 | none | now |".to_owned(),
        );
        put(&mut lines, "| puma | 3 | 0 | 0 | none | now |".to_owned());
        let expected = [
            "| puma | 3 | 0 | 0 | none | now |",
            "| ruby-sinatra | 2 | 0 | 0 | none | now |",
        ];
        assert_eq!(lines, expected);
        assert_eq!(rows_of("Not run by this task yet."), [""; 0]);
    }

    #[test]
    fn what_fails_or_is_missing_only_with_the_agent_is_worse() {
        let results = |text: &str| -> Results {
            text.split(' ')
                .map(|pair| (pair[..1].to_owned(), pair.as_bytes()[1] as char))
                .collect()
        };
        let without = results("a. bF cS d.");
        assert_eq!(worse(&without, &results("a. bF cS")), ["d"]);
        assert_eq!(worse(&without, &results("aE b. cS d.")), ["a"]);
        assert!(worse(&without, &without).is_empty());
    }
}
