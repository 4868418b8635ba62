//! `cargo xtask doctor-roots`: `hakaru doctor` must raise no alarm where nothing was planted, for
//! any user on any system.
//!
//! 1. The roots: this machine, minimal Debians 12 and 13 that `debootstrap` makes in the user's
//!    cache folder (once), and the private roots with database servers that setup has unpacked.
//! 2. In each, `hakaru doctor` runs as root and as an ordinary user, with and without a network and
//!    process namespace of its own, with `/proc` and `/sys` and without either.
//! 3. It must end with 0, say nothing on standard error, and find nothing above "low" but what
//!    other programs of this machine do.
//!
//! Needs root, for `debootstrap`, `chroot` and the namespaces.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::run::{Outcome, capture, cargo, is_root, run, target_folder};
use crate::setup::{cache_folder, fetch_debootstrap, roots};

/// Debian releases made by `debootstrap`.
const SUITES: [&str; 2] = ["bookworm", "trixie"];
/// An ordinary user and group without a name.
const NOBODY: &str = "65534";
/// Findings on other programs' activity at the moment: true, and not about the root.
const OTHERS: [&str; 7] = [
    "cpu.busy-neighbour",
    "cpu.steal",
    "cpu.pressure",
    "disk.pressure",
    "disk.sync-slow",
    "memory.pressure",
    "memory.short",
];

/// Runs a command with the given folder as `/`. `$1` root, `$2` whether it sees `/proc` and `/sys`,
/// the rest the command.
const ENTER: &str = r#"
set -e
root=$1 kernel=$2; shift 2
mount --make-rprivate /
if [ "$root" != / ]; then
    mkdir -p "$root/proc" "$root/sys" "$root/tmp"
fi
if [ "$kernel" = yes ]; then
    mount -t proc proc "$root/proc"
    [ "$root" = / ] || mount --rbind /sys "$root/sys"
else
    mount -t tmpfs none "$root/proc"
    mount -t tmpfs none "$root/sys"
fi
exec "$@"
"#;

/// One way of running doctor.
#[derive(Clone, Copy, Debug)]
struct Way {
    user: bool,
    namespaces: bool,
    kernel: bool,
    measure: bool,
}

/// Conditions for each root; measuring takes seconds, so only once for each kind of user.
const WAYS: [Way; 6] = [
    Way {
        user: false,
        namespaces: false,
        kernel: true,
        measure: true,
    },
    Way {
        user: true,
        namespaces: false,
        kernel: true,
        measure: true,
    },
    Way {
        user: false,
        namespaces: true,
        kernel: true,
        measure: false,
    },
    Way {
        user: true,
        namespaces: true,
        kernel: true,
        measure: false,
    },
    Way {
        user: false,
        namespaces: false,
        kernel: false,
        measure: false,
    },
    Way {
        user: true,
        namespaces: false,
        kernel: false,
        measure: false,
    },
];

pub(crate) fn task(arguments: &[String]) -> Outcome<()> {
    if !arguments.is_empty() {
        return Err("doctor-roots takes no arguments".to_owned());
    }
    if !is_root() {
        return Err("doctor-roots needs root: it makes Debians and enters them".to_owned());
    }
    run(&mut cargo(&["build", "-q", "-p", "hakaru"]))?;
    let mut wrong = Vec::new();
    for root in all_roots()? {
        let program = install(&root)?;
        for way in WAYS {
            let line = check(&root, &program, way);
            println!(
                "{:44} {:34} {}",
                name(&root),
                way.name(),
                line.as_ref().unwrap_or_else(|why| why)
            );
            wrong.extend(
                line.err()
                    .map(|why| format!("{}, {}: {why}", name(&root), way.name())),
            );
        }
        let _ = fs::remove_file(&program);
    }
    match wrong.as_slice() {
        [] => Ok(()),
        wrong => Err(wrong.join("\n")),
    }
}

impl Way {
    fn name(self) -> String {
        let words = [
            if self.user { "user" } else { "root" },
            if self.namespaces {
                "net+pid namespace"
            } else {
                ""
            },
            if self.kernel { "" } else { "no /proc, no /sys" },
            if self.measure { "measured" } else { "" },
        ];
        words
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    }
}

fn name(root: &Path) -> String {
    root.file_name().map_or("this machine".to_owned(), |name| {
        name.to_string_lossy().into_owned()
    })
}

/// Returns `/`, the Debians, and the private roots present.
fn all_roots() -> Outcome<Vec<PathBuf>> {
    let mut found = vec![PathBuf::from("/")];
    for suite in SUITES {
        found.push(debian(suite)?);
    }
    let private = [&roots::BOOKWORM_MARIADB, &roots::TRIXIE, &roots::SID].into_iter();
    found.extend(
        private
            .filter(|root| root.is_there())
            .map(|root| root.folder()),
    );
    Ok(found)
}

/// Makes a minimal Debian, unless present.
fn debian(suite: &str) -> Outcome<PathBuf> {
    let folder = cache_folder().join(format!("minimal-{suite}"));
    if folder.is_dir() {
        return Ok(folder);
    }
    let part = folder.with_extension("part");
    let _ = fs::remove_dir_all(&part);
    let (scripts, mirror) = fetch_debootstrap()?;
    eprintln!("doctor-roots: making a minimal Debian {suite}");
    let mut debootstrap = Command::new("sh");
    debootstrap
        .arg(scripts.join("usr/sbin/debootstrap"))
        .args(["--variant=minbase", suite])
        .args([&part, Path::new(&mirror)])
        .env("DEBOOTSTRAP_DIR", scripts.join("usr/share/debootstrap"));
    capture(&mut debootstrap)?;
    fs::rename(&part, &folder)
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    Ok(folder)
}

/// Copies the program to a folder where every user of the root may run programs; also for `/`,
/// since the build folder may be root's own.
fn install(root: &Path) -> Outcome<PathBuf> {
    let place = root
        .join("tmp")
        .join(format!("hakaru-doctor-{}", std::process::id()));
    let built = target_folder().join("debug/hakaru");
    fs::create_dir_all(root.join("tmp"))
        .and_then(|()| fs::copy(&built, &place))
        .map_err(|error| {
            format!(
                "cannot copy {} to {}: {error}",
                built.display(),
                place.display()
            )
        })?;
    Ok(place)
}

/// Runs doctor once; returns a line about the result, or an error.
fn check(root: &Path, program: &Path, way: Way) -> Outcome<String> {
    let begin = Instant::now();
    let output = command(root, program, way)
        .output()
        .map_err(|error| format!("cannot start: {error}"))?;
    let seconds = begin.elapsed().as_secs_f64();
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || !said.trim().is_empty() {
        return Err(format!("ended with {}: {}", output.status, said.trim()));
    }
    let document = String::from_utf8_lossy(&output.stdout);
    let found = findings(&document);
    let graver: Vec<String> = found
        .iter()
        .filter(|(id, level)| *level != "low" && !OTHERS.contains(id))
        .map(|(id, level)| format!("{id} is {level}"))
        .collect();
    let limit = if way.measure { 10.0 } else { 1.0 };
    match (graver.as_slice(), seconds > limit) {
        ([], false) => {
            let ids: Vec<&str> = found.iter().map(|(id, _)| *id).collect();
            Ok(format!(
                "{seconds:.2} s, found: [{}], not seen: {}",
                ids.join(" "),
                unseen(&document)
            ))
        }
        ([], true) => Err(format!("took {seconds:.1} s")),
        (graver, _) => Err(graver.join(", ")),
    }
}

fn command(root: &Path, program: &Path, way: Way) -> Command {
    let inside = Path::new("/").join(program.strip_prefix(root).unwrap_or(program));
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--kill-child"]);
    if way.namespaces {
        command.args(["--net", "--ipc", "--uts"]);
    }
    command.args(["sh", "-c", ENTER, "enter"]).arg(root);
    command.arg(if way.kernel { "yes" } else { "no" });
    command.arg("chroot");
    if way.user {
        command.arg(format!("--userspec={NOBODY}:{NOBODY}"));
    }
    command
        .arg(root)
        .arg(inside)
        .args(["doctor", "--json", "--folder", "/tmp"]);
    if !way.measure {
        command.args(["--measure", "no"]);
    }
    // Nothing of whoever runs this: an app's variables here are no fault of the root.
    command
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .stdin(Stdio::null());
    command
}

/// Name and level of each finding of a document, which has one key a line.
fn findings(document: &str) -> Vec<(&str, &str)> {
    let is = |line: &str, key: &str| line.trim().starts_with(key);
    let mut found = Vec::new();
    let mut id = None;
    for line in document.lines() {
        if is(line, "\"id\": ") {
            id = Some(between(line));
        } else if is(line, "\"level\": ")
            && let Some(id) = id.take()
        {
            found.push((id, between(line)));
        }
    }
    found
}

/// The text between the last two quotation marks of a line.
fn between(line: &str) -> &str {
    line.rsplit('"').nth(1).unwrap_or_default()
}

/// Returns the number of things listed as not observed.
fn unseen(document: &str) -> usize {
    // The snapshot repeats them.
    let all = document.split("\"snapshot\":").next().unwrap_or_default();
    all.lines()
        .filter(|line| line.trim().starts_with("\"what\": "))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_read_from_a_document() {
        let document = "{\n \"findings\": [\n {\n \"id\": \"cpu.steal\",\n \"area\": \"cpu\",\n \"level\": \"low\",\n";
        assert_eq!(findings(document), [("cpu.steal", "low")]);
        assert_eq!(unseen(" \"what\": \"a\",\n \"why\": \"b\"\n"), 1);
    }
}
