//! `cargo xtask valgrind`: Ruby with the agent inside, under valgrind's memory checker.
//!
//! 1. The agent is built, and Ruby programs (`dev/valgrind`) run with it: sampling in each mode,
//!    the way of a request, fork, exec, collections.
//! 2. Of what valgrind finds, the wrong reads, writes and frees that point at the agent count: its
//!    code is innermost, or at most two frames of Ruby or some of the C library, which it called,
//!    are between. Others are reported. The use of values that nobody wrote is not judged: Ruby's
//!    collector reads whatever words lie on its stacks, and such words come to the agent with the
//!    frames that the VM hands over.
//! 3. A library of the same name with known faults goes the same way, and must be found guilty of
//!    each of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::run::{Outcome, capture, cargo, find_program, root, run, target_folder};

/// File name of the agent, as expected by Ruby and shown by valgrind.
const AGENT: &str = "hakaru_agent.so";
/// What the faulty library must be found guilty of.
const PLANTED: [&str; 3] = ["InvalidRead", "InvalidWrite", "InvalidFree"];

/// A program under valgrind.
struct Check {
    name: &'static str,
    /// Value of `HAKARU_PROFILE`.
    sampling: &'static str,
    script: &'static str,
    /// Argument given to the script.
    argument: &'static str,
}

const CHECKS: [Check; 4] = [
    Check {
        name: "wall",
        sampling: "wall 1000 now",
        script: "exercise.rb",
        argument: "exec",
    },
    Check {
        name: "cpu",
        sampling: "cpu 1000 now",
        script: "exercise.rb",
        argument: "",
    },
    Check {
        name: "alloc",
        sampling: "alloc 1000 now",
        script: "exercise.rb",
        argument: "",
    },
    Check {
        name: "requests",
        sampling: "wall 1000 request",
        script: "requests.rb",
        argument: "",
    },
];
/// Exit code of a script with right results; no failing Ruby ends with 42.
const RIGHT: i32 = 42;

pub(crate) fn task() -> Outcome<()> {
    if find_program("valgrind").is_none() {
        return Err("there is no valgrind; `cargo xtask setup --for test` unpacks it".to_owned());
    }
    run(&mut cargo(&["build", "--package", "hakaru-agent"]))?;
    let folder = target_folder().join("valgrind");
    let _ = fs::remove_dir_all(&folder);
    let agent = prepared(&folder.join("agent"))?;
    let faulty = planted(&folder.join("faulty"))?;
    let mut running = vec![(None, start_faulty(&folder, &faulty)?)];
    for check in &CHECKS {
        running.push((Some(check), start(&folder, &agent, check)?));
    }
    let mut troubles = Vec::new();
    for (check, child) in running {
        let name = check.map_or("faulty", |check| check.name);
        let ended = child
            .wait_with_output()
            .map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
        let found = Found::read(&folder.join(name))?;
        eprintln!(
            "valgrind: {name}: {} of the agent, {} of Ruby alone",
            found.agents.len(),
            found.others
        );
        match check {
            None => troubles.extend(not_found(&found)),
            Some(_) if ended.status.code() != Some(RIGHT) || !said.is_empty() => {
                troubles.push(format!("{name} ended with {}: {said}", ended.status));
            }
            Some(_) => {}
        }
        if check.is_some() {
            troubles.extend(found.agents.iter().map(|fault| format!("{name}: {fault}")));
        }
    }
    if troubles.is_empty() {
        Ok(())
    } else {
        Err(troubles.join("\n"))
    }
}

/// Returns the folder in hakaru's layout for a Ruby process.
fn prepared(folder: &Path) -> Outcome<PathBuf> {
    let built = target_folder().join("debug/libhakaru_agent.so");
    make(folder)?;
    copy(&built, &folder.join(AGENT))?;
    let boot = folder.join("hakaru_boot.rb");
    copy(&root().join("ruby/boot.rb"), &boot)?;
    Ok(boot)
}

fn planted(folder: &Path) -> Outcome<PathBuf> {
    make(folder)?;
    let library = folder.join(AGENT);
    run(Command::new("cc")
        .args(["-g", "-O0", "-w", "-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(root().join("dev/valgrind/fault.c")))?;
    Ok(library)
}

fn make(folder: &Path) -> Outcome<()> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

fn copy(from: &Path, to: &Path) -> Outcome<()> {
    fs::copy(from, to)
        .map(|_| ())
        .map_err(|error| format!("cannot copy {}: {error}", from.display()))
}

/// Returns a Ruby under valgrind, with findings written into files in the folder `name`.
fn ruby(folder: &Path, name: &str) -> Outcome<Command> {
    let found = folder.join(name);
    make(&found)?;
    let (ruby, variables) = ruby_itself()?;
    let mut command = Command::new("valgrind");
    command
        .args([
            "--quiet",
            "--xml=yes",
            "--error-limit=no",
            "--num-callers=8",
        ])
        .args(["--trace-children=yes", "--child-silent-after-fork=no"])
        .args(["--fair-sched=try", "--vgdb=no", "--leak-check=no"])
        // The signal's own stack may lie near the thread's: a longer step is a change of stacks,
        // not a frame.
        .arg("--max-stackframe=65536")
        .arg("--undef-value-errors=no")
        .arg(format!("--xml-file={}/%p.xml", found.display()))
        .arg(&ruby)
        .arg("--disable-gems")
        .envs(variables)
        .env("RUBY", ruby)
        .env("HAKARU_RING_DIR", &found)
        .env_remove("RUBYOPT")
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    Ok(command)
}

/// Returns the Ruby program and the variables needed: `ruby` in `PATH` may be a script, and
/// valgrind would watch the shell.
fn ruby_itself() -> Outcome<(PathBuf, Vec<(String, String)>)> {
    let script = "puts RbConfig.ruby; %w[RUBYLIB GEM_HOME GEM_PATH].each { |name| puts \"#{name}=#{ENV[name]}\" if ENV[name] }";
    let mut ask = Command::new("ruby");
    let text = capture(ask.args(["-e", script]).env_remove("RUBYOPT"))?;
    let mut lines = text.lines();
    let ruby = lines.next().ok_or("ruby does not know its own path")?;
    let variables = lines.filter_map(|line| line.split_once('='));
    let owned = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Ok((PathBuf::from(ruby), owned.collect()))
}

fn start(folder: &Path, boot: &Path, check: &Check) -> Outcome<Child> {
    let mut command = ruby(folder, check.name)?;
    command
        .arg(root().join("dev/valgrind").join(check.script))
        .arg(check.argument)
        .env("RUBYOPT", format!("-r{}", boot.display()))
        .env("HAKARU_PROFILE", check.sampling);
    command.spawn().map_err(|error| error.to_string())
}

fn start_faulty(folder: &Path, library: &Path) -> Outcome<Child> {
    let mut command = ruby(folder, "faulty")?;
    command.arg("-r").arg(library).args(["-e", "exit"]);
    command.spawn().map_err(|error| error.to_string())
}

/// What the checker did not see of what was planted.
fn not_found(found: &Found) -> Vec<String> {
    let missing = PLANTED
        .iter()
        .filter(|kind| !found.kinds.contains_key(**kind));
    missing
        .map(|kind| format!("the checker is blind: it did not find the planted {kind}"))
        .collect()
}

/// What valgrind found.
#[derive(Debug, Default)]
struct Found {
    /// Faults of the agent, as sentences.
    agents: Vec<String>,
    /// Number of faults by kind.
    kinds: BTreeMap<String, usize>,
    /// Faults of Ruby alone; leaks are none.
    others: usize,
}

impl Found {
    fn read(folder: &Path) -> Outcome<Found> {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        let mut found = Found::default();
        let mut files = 0;
        for entry in fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.extension().is_some_and(|ending| ending == "xml") {
                files += 1;
                found.take(&String::from_utf8_lossy(&fs::read(&path).map_err(failed)?));
            }
        }
        if files == 0 {
            return Err(format!("valgrind wrote nothing into {}", folder.display()));
        }
        Ok(found)
    }

    fn take(&mut self, xml: &str) {
        for error in xml.split("<error>").skip(1) {
            let error = error.split("</error>").next().unwrap_or_default();
            let kind = tag(error, "kind").unwrap_or_default();
            let place = frames(error);
            if kind.starts_with("Leak_") {
                // What lives as long as the process is never given back.
            } else if is_of_the_agent(&place) {
                *self.kinds.entry(kind.to_owned()).or_default() += 1;
                let places: Vec<&str> = place.iter().map(|frame| frame.function).collect();
                self.agents
                    .push(format!("{kind} in {}", places.join(" < ")));
            } else {
                self.others += 1;
            }
        }
    }
}

/// Returns the frames of an error's first stack, where the error happened, the innermost first.
fn frames(error: &str) -> Vec<Frame<'_>> {
    let stack = error.split("<stack>").nth(1).unwrap_or_default();
    let stack = stack.split("</stack>").next().unwrap_or_default();
    stack.split("<frame>").skip(1).map(Frame::of).collect()
}

struct Frame<'a> {
    object: &'a str,
    function: &'a str,
}

impl<'a> Frame<'a> {
    fn of(xml: &'a str) -> Frame<'a> {
        Frame {
            object: tag(xml, "obj").unwrap_or_default(),
            function: tag(xml, "fn").unwrap_or("?"),
        }
    }
}

fn tag<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(text, _)| text)
}

/// Returns whether the agent made the error, or passed bad memory to the callee which did.
fn is_of_the_agent(frames: &[Frame<'_>]) -> bool {
    const RUBY_BETWEEN_MAX: usize = 2;
    let mut ruby = 0;
    for frame in frames {
        if frame.object.ends_with(AGENT) {
            return true;
        }
        let is_c = ["/libc.so", "/libc-", "/vgpreload", "/ld-linux"]
            .iter()
            .any(|part| frame.object.contains(part));
        if !is_c {
            ruby += 1;
        }
        if ruby > RUBY_BETWEEN_MAX {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(objects: &[&str]) -> String {
        let frames = objects
            .iter()
            .map(|object| format!("<frame><obj>/x/{object}</obj><fn>one</fn></frame>"));
        format!("<stack>{}</stack>", frames.collect::<String>())
    }

    #[track_caller]
    fn check(kind: &str, place: &[&str], origin: &[&str], guilty: bool) {
        let (place, origin) = (stack(place), stack(origin));
        let mut found = Found::default();
        found.take(&format!(
            "<error><kind>{kind}</kind>{place}{origin}</error>"
        ));
        assert_eq!(!found.agents.is_empty(), guilty);
    }

    #[test]
    fn who_points_at_the_agent_is_told_from_who_only_has_it_further_out() {
        let ruby = "libruby-3.3.so.3.3.8";
        let malloc = "vgpreload_memcheck-amd64-linux.so";
        check("InvalidRead", &[AGENT, ruby], &[], true);
        check("InvalidWrite", &["libc.so.6", malloc, AGENT], &[], true);
        check("InvalidRead", &[ruby, AGENT], &[ruby], true);
        check("InvalidRead", &[ruby, ruby, ruby, AGENT], &[AGENT], false);
        check("InvalidFree", &[ruby, ruby], &[], false);
        check("InvalidRead", &[ruby], &[malloc, AGENT], false);
        check("Leak_DefinitelyLost", &[malloc, AGENT], &[], false);
    }

    #[test]
    fn what_was_planted_and_not_seen_is_said() {
        let mut found = Found::default();
        let error = format!("<error><kind>InvalidRead</kind>{}", stack(&[AGENT]));
        found.take(&error);
        assert_eq!(not_found(&found).len(), 2);
    }
}
