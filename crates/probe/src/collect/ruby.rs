//! Queries the app's Ruby by a few lines of code loading nothing of the app.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{Wanted, reason};
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

/// Returns the program to query: the command's own if a Ruby, else the first in `PATH`.
pub(crate) fn program(command: &[String]) -> &str {
    let first = command.first().map_or("", String::as_str);
    let name = Path::new(first).file_name().unwrap_or_default();
    match name.to_string_lossy().starts_with("ruby") {
        true => first,
        false => "ruby",
    }
}

/// Asks the Ruby; `None` when there is none.
pub(super) fn read(
    wanted: &Wanted,
    env: &BTreeMap<String, String>,
    unseen: &mut Vec<Unseen>,
) -> Option<Ruby> {
    let program = program(&wanted.command);
    let mut command = Command::new(program);
    command
        .arg("-e")
        .arg(QUESTIONS)
        .current_dir(&wanted.folder)
        .env_remove("RUBYOPT");
    // Only what switches a compiler on: libraries that RUBYOPT loads belong to the app.
    let options = env.get("RUBYOPT").map(String::as_str).unwrap_or_default();
    let jit = options
        .split_whitespace()
        .filter(|word| word.contains("yjit") || word.contains("jit"));
    command.env("RUBYOPT", jit.collect::<Vec<_>>().join(" "));
    if let Some(on) = env.get("RUBY_YJIT_ENABLE") {
        command.env("RUBY_YJIT_ENABLE", on);
    }
    match output(&mut command) {
        Ok(text) => of_answers(&text),
        Err(why) => {
            unseen.push(Unseen {
                what: format!("Ruby ({program})"),
                why,
            });
            None
        }
    }
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

    #[test]
    fn the_ruby_of_a_command_is_asked() {
        let check = |words: &[&str], expected: &str| {
            let command: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(program(&command), expected);
        };
        check(
            &["/opt/ruby/bin/ruby3.4", "app.rb"],
            "/opt/ruby/bin/ruby3.4",
        );
        check(&["bundle", "exec", "puma"], "ruby");
        check(&[], "ruby");
    }

    #[test]
    fn answers_are_read() {
        let ruby = of_answers("version=3.4.1\nyjit_built=true\ncflags=-O3 -g=1\n").expect("a Ruby");
        assert_eq!((ruby.version.as_str(), ruby.yjit_built), ("3.4.1", true));
        assert_eq!(ruby.cflags, "-O3 -g=1");
        assert_eq!(of_answers("nothing"), None);
    }
}
