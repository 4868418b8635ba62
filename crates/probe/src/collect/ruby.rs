//! Queries the app's Ruby by a few lines of code loading nothing of the app.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{Wanted, reason, same_file};
use doctor::snapshot::{Ruby, Unseen};

/// Time after which a slow Ruby is killed.
const DEADLINE: Duration = Duration::from_secs(5);

const QUESTIONS: &str = r#"
require "rbconfig"
say = ->(name, value) { puts [name, value.to_s.tr("\n", " ")].join("=") }
config = RbConfig::CONFIG
say["version", RUBY_VERSION]
say["description", RUBY_DESCRIPTION]
say["yjit_built", config["YJIT_SUPPORT"].to_s == "yes" || config["YJIT_SUPPORT"].to_s.start_with?("dev")]
say["yjit_on", defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled? ? true : false]
say["optflags", config["optflags"]]
say["cflags", config["CFLAGS"]]
say["cppflags", config["cppflags"]]
say["jemalloc", [config["MAINLIBS"], config["LIBS"]].join(" ").include?("jemalloc")]
unbuilt = defined?(Gem) ? Gem::Specification.select { |gem| gem.respond_to?(:missing_extensions?) && gem.missing_extensions? } : []
say["gems_unbuilt", unbuilt.map(&:name).uniq.join(" ")]
say["tracing", defined?(Coverage) ? true : false]
"#;

/// Variables by which a process's Ruby finds libraries; passed on, not recorded.
const LIBRARIES: [&str; 4] = ["GEM_HOME", "GEM_PATH", "LD_LIBRARY_PATH", "RUBYLIB"];

/// Returns the program to query: the process's if a Ruby, else the command's if a Ruby, else the
/// first in `PATH`.
///
/// # Errors
/// The reason for which the Ruby of the process cannot be queried: another's answers would be
/// taken for its own.
pub(crate) fn program(wanted: &Wanted) -> Result<String, String> {
    if let Some(pid) = wanted.pid {
        let at = format!("/proc/{pid}/exe");
        let path = fs::read_link(&at).map_err(|error| format!("{at}: {}", reason(&error)))?;
        if is_ruby(&path) {
            let same = same_file(&path, Path::new(&at));
            let elsewhere = || format!("{}: not the file that the process runs", path.display());
            return same
                .then(|| path.display().to_string())
                .ok_or_else(elsewhere);
        }
    }
    let first = wanted.command.first().map_or("", String::as_str);
    let program = is_ruby(Path::new(first)).then_some(first);
    Ok(program.unwrap_or("ruby").to_owned())
}

/// Queries the Ruby; `None` where there is none, or none can be queried.
pub(super) fn read(
    wanted: &Wanted,
    env: &BTreeMap<String, String>,
    unseen: &mut Vec<Unseen>,
) -> Option<Ruby> {
    let answers = program(wanted).and_then(|program| {
        let mut command = query(wanted, env, &program);
        output(&mut command).map_err(|why| format!("{program}: {why}"))
    });
    match answers {
        Ok(text) => of_answers(&text),
        Err(why) => {
            let what = "Ruby".to_owned();
            unseen.push(Unseen { what, why });
            None
        }
    }
}

/// Returns the command for the questions, with the compiler and the libraries of the process.
fn query(wanted: &Wanted, env: &BTreeMap<String, String>, program: &str) -> Command {
    let mut command = Command::new(program);
    command
        .arg("-e")
        .arg(QUESTIONS)
        .current_dir(&wanted.folder)
        .envs(wanted.pid.map(libraries).unwrap_or_default());
    // Only what switches a compiler on: libraries that RUBYOPT loads belong to the app.
    let options = env.get("RUBYOPT").map(String::as_str).unwrap_or_default();
    let jit = options
        .split_whitespace()
        .filter(|word| word.contains("jit"));
    command.env("RUBYOPT", jit.collect::<Vec<_>>().join(" "));
    if let Some(on) = env.get("RUBY_YJIT_ENABLE") {
        command.env("RUBY_YJIT_ENABLE", on);
    }
    command
}

fn is_ruby(program: &Path) -> bool {
    let name = program.file_name().unwrap_or_default();
    name.to_string_lossy().starts_with("ruby")
}

/// Returns the variables by which the Ruby of a process finds libraries.
fn libraries(pid: u32) -> Vec<(String, String)> {
    let bytes = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let pairs = text.split('\0').filter_map(|pair| pair.split_once('='));
    pairs
        .filter(|(name, _)| LIBRARIES.contains(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Returns the output of a command, within the deadline.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| reason(&error))?;
    // The output is far smaller than a pipe, so the child never waits for being read.
    let deadline = Instant::now() + DEADLINE;
    loop {
        match child.try_wait().map_err(|error| reason(&error))? {
            Some(status) if status.success() => break,
            Some(status) => return Err(format!("ended with {status}")),
            None if Instant::now() >= deadline => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("did not end within {} s", DEADLINE.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    }
    let mut text = String::new();
    if let Some(mut out) = child.stdout.take() {
        out.read_to_string(&mut text)
            .map_err(|error| reason(&error))?;
    }
    Ok(text)
}

fn of_answers(text: &str) -> Option<Ruby> {
    let answers: BTreeMap<&str, &str> = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .collect();
    let text = |name: &str| answers.get(name).copied().unwrap_or_default().to_owned();
    let is = |name: &str| answers.get(name) == Some(&"true");
    Some(Ruby {
        version: (*answers.get("version")?).to_owned(),
        description: text("description"),
        yjit_built: is("yjit_built"),
        yjit_on: is("yjit_on"),
        optflags: text("optflags"),
        cflags: text("cflags"),
        cppflags: text("cppflags"),
        jemalloc: is("jemalloc"),
        gems_unbuilt: text("gems_unbuilt")
            .split_whitespace()
            .map(str::to_owned)
            .collect(),
        tracing: is("tracing"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(pid: Option<u32>, words: &[&str]) -> Wanted {
        Wanted {
            folder: ".".into(),
            pid,
            command: words.iter().map(|word| (*word).to_owned()).collect(),
            databases: Vec::new(),
            areas: Vec::new(),
        }
    }

    #[test]
    fn the_ruby_of_a_command_is_asked() {
        let check = |words: &[&str], expected: &str| {
            assert_eq!(program(&wanted(None, words)).as_deref(), Ok(expected));
        };
        check(
            &["/opt/ruby/bin/ruby3.4", "app.rb"],
            "/opt/ruby/bin/ruby3.4",
        );
        check(&["bundle", "exec", "puma"], "ruby");
        check(&[], "ruby");
    }

    #[test]
    fn the_ruby_of_a_process_is_asked_and_no_other_in_its_place() {
        let mut child = Command::new("ruby")
            .args(["-e", "puts; $stdout.flush; gets"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a Ruby");
        let mut out = child.stdout.take().expect("a pipe");
        out.read_exact(&mut [0]).expect("a running Ruby");
        let of_process = program(&wanted(Some(child.id()), &[]));
        let real = fs::read_link(format!("/proc/{}/exe", child.id()));
        drop(child.stdin.take());
        child.wait().expect("its end");
        assert_eq!(of_process, Ok(real.expect("a link").display().to_string()));
        let gone = program(&wanted(Some(u32::MAX), &[]));
        assert!(gone.is_err_and(|why| why.contains("it is not there")));
        // A process that is no Ruby may have one below.
        let own = program(&wanted(Some(std::process::id()), &[]));
        assert_eq!(own.as_deref(), Ok("ruby"));
    }

    #[test]
    fn answers_are_read() {
        let ruby = of_answers("version=3.4.1\nyjit_built=true\ncflags=-O3 -g=1\n").expect("a Ruby");
        assert_eq!((ruby.version.as_str(), ruby.yjit_built), ("3.4.1", true));
        assert_eq!(ruby.cflags, "-O3 -g=1");
        assert_eq!(of_answers("nothing"), None);
    }
}
