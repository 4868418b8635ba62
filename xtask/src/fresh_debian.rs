//! `cargo xtask fresh-debian`: runs the README's first commands on an unchanged Debian 12, which
//! must stay as before.
//!
//! 1. A minimal Debian 12 with git, a C compiler and certificates is made by `debootstrap` in the
//!    user's cache folder, once.
//! 2. A copy of it becomes `/` in a mount and process namespace of its own. It sees this machine's
//!    Rust and this repository, read-only, and this machine's network.
//! 3. There root, or a user who may not install anything, clones the repository and runs the
//!    command.
//! 4. Afterwards all files of that Debian outside of home and temporary folders must be as they
//!    were before: packages, `/etc` and everything else.
//!
//! Needs root, for `debootstrap` and the namespaces.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::run::{Outcome, capture, is_root, root, run, write};
use crate::setup::{cache_folder, fetch_debootstrap};

const USAGE: &str = "fresh-debian takes: [--as user|root] [demo|setup|test|COMMAND…]";

/// Paths and what is known of each.
pub(crate) type Files = BTreeMap<PathBuf, String>;

/// The account without rights.
const USER: &str = "someone";
/// What a person has on a machine where Rust works.
const PACKAGES: &str = "gcc,libc6-dev,git,ca-certificates";
/// Where the commands may write.
const WRITABLE: [&str; 8] = [
    "home", "root", "tmp", "var/tmp", "proc", "sys", "dev", "run",
];

/// Makes the given folder `/` and runs the script there. `$1` root, `$2` repository, `$3` Rust's
/// toolchains, `$4` cargo's folder, `$5` certificates, `$6` account, the rest its command.
const ENTER: &str = r#"
set -e
root=$1 repository=$2 rustup=$3 cargo=$4 certificates=$5 account=$6; shift 6
mount --make-rprivate /
mount --bind "$root" "$root"
cd "$root"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
see() { mount --bind "$1" "$2" && mount -o remount,bind,ro "$2"; }
see "$repository" mnt/repository
see "$rustup" mnt/rustup
see "$cargo" mnt/cargo
see "$certificates" etc/ssl/certs
cp /etc/resolv.conf etc/resolv.conf
pivot_root . mnt/old
umount -l /mnt/old
exec su "$account" -s /bin/sh -c 'cd && exec "$0" "$@"' -- /usr/bin/env "$@"
"#;

/// Clones the repository and runs the command in the clone. Cargo's downloads are copied to save
/// the network.
const CLONE: &str = r#"
set -e
export RUSTUP_HOME=/mnt/rustup CARGO_HOME=$HOME/.cargo PATH=/mnt/cargo/bin:/usr/bin:/bin
mkdir -p "$CARGO_HOME/registry"
cp -r /mnt/cargo/registry/cache /mnt/cargo/registry/index "$CARGO_HOME/registry/"
git config --global --add safe.directory '*'
git clone -q /mnt/repository hakaru
cd hakaru
eval "$1"
"#;

pub(crate) fn task(arguments: &[String]) -> Outcome<()> {
    if !is_root() {
        return Err("fresh-debian needs root: it makes a Debian and enters it".to_owned());
    }
    let (account, command) = read(arguments)?;
    let base = base()?;
    let copy = base.with_extension(format!("run-{}", std::process::id()));
    run(Command::new("cp").arg("-a").arg(&base).arg(&copy))?;
    let outcome = check(&copy, &account, &command);
    let _ = fs::remove_dir_all(&copy);
    outcome
}

/// Returns the account and the command.
fn read(arguments: &[String]) -> Outcome<(String, String)> {
    let (account, rest) = match arguments {
        [flag, account, rest @ ..] if flag == "--as" => (account.as_str(), rest),
        rest => ("user", rest),
    };
    let account = match account {
        "user" => USER,
        "root" => "root",
        _ => return Err(USAGE.to_owned()),
    };
    let command = match rest {
        [] => "bin/demo --yes".to_owned(),
        [one] if one == "demo" => "bin/demo --yes".to_owned(),
        [one] if one == "setup" => SETUP.to_owned(),
        [one] if one == "test" => "bin/test --yes".to_owned(),
        words => words.join(" "),
    };
    Ok((account.to_owned(), command))
}

/// Check of the setup: everything needed by the tests is found, and each server and program works.
const SETUP: &str = "cargo xtask setup --for test --yes && cargo xtask with-servers cargo test -p xtask && \
    PATH=$PWD/target/tools/bin:$PATH && ruby -v && puma --version && node --version && npm --version && go version && \
    nginx -v && valgrind --version && chromium --version";

fn check(debian: &Path, account: &str, command: &str) -> Outcome<()> {
    let before = files(debian);
    let mut entered = enter(debian, account, &["sh", "-c", CLONE, "clone", command])?;
    let status = entered.status().map_err(|error| error.to_string())?;
    let after = files(debian);
    let changed = differences(&before, &after);
    eprintln!(
        "fresh-debian: `{command}` as {account} ended with {status}; {} of {} files changed",
        changed.len(),
        before.len()
    );
    match (status.success(), changed.as_slice()) {
        (true, []) => Ok(()),
        (false, []) => Err("the command failed".to_owned()),
        (_, changed) => Err(format!("the machine was changed: {}", changed.join(", "))),
    }
}

fn enter(debian: &Path, account: &str, words: &[&str]) -> Outcome<Command> {
    let home = PathBuf::from(env::var_os("HOME").ok_or("HOME is not set")?);
    let folder =
        |name: &str, usual: &str| env::var_os(name).map_or(home.join(usual), PathBuf::from);
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--kill-child"]);
    command.args(["sh", "-c", ENTER, "enter"]).arg(debian);
    command.arg(root());
    command.arg(folder("RUSTUP_HOME", ".rustup"));
    command.arg(folder("CARGO_HOME", ".cargo"));
    command.arg("/etc/ssl/certs").arg(account).args(words);
    command.env_clear().stdin(Stdio::null());
    command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    for name in ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "CI"] {
        command.envs(env::var_os(name).map(|value| (name, value)));
    }
    Ok(command)
}

/// Makes the minimal Debian, unless present.
fn base() -> Outcome<PathBuf> {
    let base = cache_folder().join("fresh-debian-12");
    if base.is_dir() {
        return Ok(base);
    }
    let part = base.with_extension("part");
    let _ = fs::remove_dir_all(&part);
    let (scripts, mirror) = fetch_debootstrap()?;
    eprintln!("fresh-debian: making a minimal Debian 12");
    let mut debootstrap = Command::new("sh");
    debootstrap
        .arg(scripts.join("usr/sbin/debootstrap"))
        .args(["--variant=minbase", &format!("--include={PACKAGES}")])
        .arg("bookworm")
        .args([&part, Path::new(&mirror)])
        .env("DEBOOTSTRAP_DIR", scripts.join("usr/share/debootstrap"));
    capture(&mut debootstrap)?;
    let useradd = ["useradd", "--create-home", USER];
    capture(Command::new("chroot").arg(&part).args(useradd))?;
    for folder in ["repository", "rustup", "cargo", "old"] {
        write(&part.join("mnt").join(folder).join(".keep"), "")?;
    }
    capture(
        Command::new("cp")
            .arg("/etc/resolv.conf")
            .arg(part.join("etc")),
    )?;
    fs::rename(&part, &base).map_err(|error| format!("cannot make {}: {error}", base.display()))?;
    Ok(base)
}

/// Returns every file outside of [`WRITABLE`] with size and times.
pub(crate) fn files(debian: &Path) -> Files {
    let mut found = BTreeMap::new();
    let mut folders = vec![debian.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let inside = path.strip_prefix(debian).unwrap_or(&path).to_owned();
            if WRITABLE.iter().any(|folder| inside == Path::new(folder)) {
                continue;
            }
            let Ok(data) = fs::symlink_metadata(&path) else {
                continue;
            };
            if data.is_dir() {
                folders.push(path);
                found.insert(inside, format!("{:o} {}", data.mode(), data.uid()));
            } else {
                let state = format!(
                    "{:o} {} {} {}",
                    data.mode(),
                    data.uid(),
                    data.size(),
                    data.mtime()
                );
                found.insert(inside, state);
            }
        }
    }
    // Rewritten at each start of the namespace.
    found.remove(Path::new("etc/resolv.conf"));
    found
}
/// Returns the paths whose state differs.
pub(crate) fn differences(before: &Files, after: &Files) -> Vec<String> {
    let names = before.keys().chain(after.keys());
    let mut changed: Vec<String> = names
        .filter(|name| before.get(*name) != after.get(*name))
        .map(|name| name.display().to_string())
        .collect();
    changed.sort();
    changed.dedup();
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_a_new_and_a_lost_file_are_found() {
        let folder = env::temp_dir().join(format!("hakaru-fresh-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        for name in ["etc/kept", "etc/changed", "var/lost", "home/mine"] {
            write(&folder.join(name), "1").unwrap();
        }
        let before = files(&folder);
        write(&folder.join("etc/changed"), "22").unwrap();
        write(&folder.join("usr/new"), "1").unwrap();
        write(&folder.join("home/mine"), "22").unwrap();
        fs::remove_file(folder.join("var/lost")).unwrap();
        let changed = differences(&before, &files(&folder));
        assert_eq!(changed, ["etc/changed", "usr", "usr/new", "var/lost"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn names_stand_for_commands() {
        let check = |words: &str, account: &str, command: &str| {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            assert_eq!(
                read(&words).unwrap(),
                (account.to_owned(), command.to_owned())
            );
        };
        check("", USER, "bin/demo --yes");
        check("--as root test", "root", "bin/test --yes");
        check(
            "bin/demo --db mariadb --yes",
            USER,
            "bin/demo --db mariadb --yes",
        );
        assert!(read(&["--as".to_owned(), "nobody".to_owned()]).is_err());
    }
}
