//! Other projects' own tests with the agent and the sampler inside, and without: `cargo xtask
//! foreign-suites`.
//!
//! The sources are Debian's, of the release whose packages run them. A test that fails with the
//! agent in two runs and in
//! neither of two runs without it is a difference; one that fails once here and once there is the
//! machine's or its own.

mod suites;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use crate::marked;
use crate::run::{Outcome, capture, cargo, root, run, target_folder};
use crate::setup::matrix;
use suites::{SUITES, Suite};

const PAGE: &str = "docs/agent.md";
const NAME: &str = "foreign-suites";
/// Time limit of a suite in seconds: the longest takes two minutes on two idle cores.
const LIMIT_S: u32 = 900;
/// Time limit of a file in a process of its own: the longest takes two minutes beside other work.
const LIMIT_APART_S: u32 = 300;

/// Letter of each test: `.` passed, `S` skipped, `F` and `E` failed.
type Results = BTreeMap<String, char>;

/// One run of a suite.
#[derive(Debug, Default)]
struct Taken {
    results: Results,
    /// Files in separate processes ended by the time limit.
    endless: Vec<String>,
}

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
    without: Taken,
    with: Taken,
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
        let mut only = match self.different.as_slice() {
            [] => "none".to_owned(),
            names => names.join(", "),
        };
        for (runs, taken) in [("without", &self.without), ("with", &self.with)] {
            if !taken.endless.is_empty() {
                only += &format!("; did not end {runs} them: {}", taken.endless.join(", "));
            }
        }
        format!(
            "{} | {} | {} | {only}",
            self.without.results.len(),
            failed(&self.without.results),
            failed(&self.with.results),
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
        let mut different = worse(&without.results, &with.results);
        if !different.is_empty() {
            let again = worse(&take(None)?.results, &take(Some(boot))?.results);
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
    ) -> Outcome<Taken> {
        let (at_once, limit_s) = match self.is_apart {
            true => (1, LIMIT_APART_S),
            false => (files.len().max(1), LIMIT_S),
        };
        let mut taken = Taken::default();
        let mut complaints = String::new();
        for files in files.chunks(at_once) {
            let mut command = self.command(folder, files, ruby, limit_s)?;
            command.envs(env.iter().map(|(name, value)| (name, value)));
            let own = tempfolder("suite")?;
            if let Some(boot) = boot {
                command
                    .env("RUBYOPT", format!("-r{}", boot.display()))
                    .env("HAKARU_RING_DIR", &own)
                    .env("HAKARU_APP_ROOT", folder)
                    .env("HAKARU_PROFILE", "wall 1000 now");
            }
            let ended = end_of(&mut command, &own);
            let _ = fs::remove_dir_all(&own);
            let (status, [out, err]) = ended?;
            taken.results.extend(out.lines().filter_map(result));
            if was_ended(status) {
                let names = files.iter().filter_map(|file| file.file_stem()?.to_str());
                taken.endless.extend(names.map(str::to_owned));
            }
            complaints += &err;
        }
        if taken.results.is_empty() {
            eprintln!("{complaints}");
            return Err("no test ran".to_owned());
        }
        Ok(taken)
    }

    /// Ruby on files of tests, printing each test's result, within a time limit.
    fn command(
        &self,
        folder: &Path,
        files: &[PathBuf],
        ruby: &Path,
        limit_s: u32,
    ) -> Outcome<Command> {
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
        let mut command = Command::new("timeout");
        command
            .args(["--kill-after=10", &limit_s.to_string()])
            .arg(ruby);
        self.include.iter().for_each(|below| {
            command.arg("-I").arg(folder.join(below));
        });
        command
            .arg("-I")
            .arg(root().join("dev/suites"))
            .args(["-e", LOAD])
            .args(files)
            .args(["--verbose", "--seed", "1"])
            .current_dir(folder)
            .env("PATH", path.map_err(|error| error.to_string())?)
            .env_remove("RUBYOPT")
            .stdin(Stdio::null());
        Ok(command)
    }
}

/// Runs `timeout` with a program to its end, and ends whatever the program left behind: a server
/// that does not stop would hold a port, and a pipe for its output without an end. Returns the
/// status, standard output and standard error.
fn end_of(command: &mut Command, folder: &Path) -> Outcome<(ExitStatus, [String; 2])> {
    let paths = ["out", "err"].map(|name| folder.join(name));
    let failed = |error: std::io::Error| format!("timeout does not run: {error}");
    let [out, err] = [0, 1].map(|index: usize| fs::File::create(&paths[index]));
    let mut child = command
        .stdout(out.map_err(failed)?)
        .stderr(err.map_err(failed)?)
        .spawn()
        .map_err(failed)?;
    let status = child.wait().map_err(failed)?;
    // `timeout` has made a process group of its own number. An error means that all have ended.
    let group = format!("-{}", child.id());
    let mut end = Command::new("kill");
    let _ = end
        .args(["-KILL", "--", &group])
        .stderr(Stdio::null())
        .status();
    let text = |path: &PathBuf| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into());
    let [out, err] = [text(&paths[0]), text(&paths[1])];
    Ok((status, [out.map_err(failed)?, err.map_err(failed)?]))
}

/// Whether `timeout` ended the program: by its own number, or by the signal sent after that.
fn was_ended(status: ExitStatus) -> bool {
    const TIMED_OUT: i32 = 124;
    const KILLED: i32 = 128 + 9;
    status.signal().is_some() || matches!(status.code(), Some(TIMED_OUT | KILLED))
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
    use std::time::{Duration, Instant};

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
    fn a_server_that_a_test_leaves_behind_is_ended_and_waited_for_by_nobody() {
        let folder = tempfolder("left-behind").unwrap();
        let script = "sleep 1000 & echo $!; echo told >&2";
        let mut command = Command::new("timeout");
        command.args(["60", "sh", "-c", script]);
        let (status, [out, err]) = end_of(&mut command, &folder).unwrap();
        assert!(status.success());
        assert_eq!(err, "told\n");
        // The signal is sent; the kernel may need a moment.
        let stat = format!("/proc/{}/stat", out.trim());
        let end = Instant::now() + Duration::from_secs(30);
        while fs::read_to_string(&stat).is_ok_and(|text| !text.contains(") Z ")) {
            assert!(Instant::now() < end, "{out} lives");
            std::thread::yield_now();
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_the_time_limit_ended_is_named() {
        let taken = |endless: &[&str]| Taken {
            results: [("a".to_owned(), '.')].into(),
            endless: endless.iter().map(|&name| name.to_owned()).collect(),
        };
        let compared = Compared {
            without: taken(&["test_b"]),
            with: taken(&["test_b", "test_c"]),
            different: Vec::new(),
        };
        assert_eq!(
            compared.cells(),
            "1 | 0 | 0 | none; did not end without them: test_b; did not end with them: test_b, test_c"
        );
        for (code, ended) in [("0", false), ("1", false), ("124", true), ("137", true)] {
            let status = Command::new("sh")
                .args(["-c", &format!("exit {code}")])
                .status();
            assert_eq!(was_ended(status.expect("sh runs")), ended, "{code}");
        }
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
