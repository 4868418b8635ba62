//! Places of a server's programs: the machine, or a private root entered by `chroot`.

use std::env;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::run::{Outcome, find_program, is_program, is_root};
use crate::setup::roots::{self, Root};

/// Where programs are.
pub(super) enum Place {
    /// Packages of the machine.
    Machine,
    /// A private root.
    Root(PathBuf),
}

/// A server's own folder, and who may write there.
pub(super) struct Home {
    /// Path as seen from outside of the root.
    pub(super) folder: PathBuf,
    /// Path as seen by the server.
    pub(super) inside: PathBuf,
    account: Option<Account>,
}

/// The account a server runs as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Account {
    user: u32,
    group: u32,
}

impl Place {
    /// Returns the place of a root unpacked by setup.
    pub(super) fn in_root(root: &Root) -> Outcome<Place> {
        if root.is_there() {
            Ok(Place::Root(root.folder()))
        } else {
            Err(format!(
                "there is no {}; `cargo xtask setup --for test` unpacks it",
                root.holds
            ))
        }
    }

    /// Returns the machine where the programs are installed, else a root.
    pub(super) fn machine_or(machine: bool, root: &Root) -> Outcome<Place> {
        if machine {
            Ok(Place::Machine)
        } else {
            Place::in_root(root)
        }
    }

    pub(super) fn has_mariadb(&self) -> bool {
        ["mariadbd", "mariadb-install-db", "mariadb"]
            .iter()
            .all(|name| self.find(name, "").is_ok())
    }

    /// Returns a program's path inside the place.
    pub(super) fn find(&self, name: &str, package: &str) -> Outcome<PathBuf> {
        let found = match self {
            Place::Machine => find_program(name),
            Place::Root(root) => ["/usr/sbin", "/usr/bin"]
                .map(|folder| Path::new(folder).join(name))
                .into_iter()
                .find(|program| is_program(&outside(root, program))),
        };
        found.ok_or(format!("there is no {name}; install the package {package}"))
    }

    /// Returns the folder with the binaries of the newest PostgreSQL, which Debian installs outside
    /// of `PATH`.
    pub(super) fn postgres_binaries(&self) -> Option<PathBuf> {
        let base = Path::new("/usr/lib/postgresql");
        let (root, in_path) = match self {
            Place::Machine => (
                Path::new("/"),
                find_program("initdb").and_then(|file| Some(file.parent()?.to_owned())),
            ),
            Place::Root(root) => (root.as_path(), None),
        };
        let versions = fs::read_dir(outside(root, base)).ok();
        let mut folders: Vec<(u32, PathBuf)> = versions
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let version = entry.file_name().to_str()?.parse().ok()?;
                let whole = ["initdb", "postgres"]
                    .iter()
                    .all(|name| is_program(&entry.path().join("bin").join(name)));
                whole.then(|| (version, base.join(entry.file_name()).join("bin")))
            })
            .collect();
        folders.sort();
        folders.pop().map(|(_, folder)| folder).or(in_path)
    }

    /// Makes a private folder owned by the server's account.
    pub(super) fn make_home(&self, name: &str, user: &str) -> Outcome<Home> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        // Relaxed: only the uniqueness of the number matters.
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("hakaru-{name}-{}-{count}", std::process::id());
        let (folder, inside) = match self {
            Place::Machine => (env::temp_dir().join(&name), env::temp_dir().join(&name)),
            Place::Root(root) => (root.join("tmp").join(&name), Path::new("/tmp").join(&name)),
        };
        let account = match self {
            _ if !is_root() => None,
            Place::Machine => Some(find_account(user)?),
            Place::Root(_) => Some(Account {
                user: roots::USER,
                group: roots::USER,
            }),
        };
        let made = fs::create_dir(&folder)
            .and_then(|()| fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)))
            .and_then(|()| account.map_or(Ok(()), |a| chown(&folder, Some(a.user), Some(a.group))));
        made.map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        Ok(Home {
            folder,
            inside,
            account,
        })
    }

    /// Returns a command for a program of the place, run with the home's account.
    pub(super) fn command(&self, program: &Path, home: &Home) -> Command {
        let Place::Root(root) = self else {
            return as_account(Command::new(program), home);
        };
        // It is not in the PATH of an ordinary user of Debian.
        let chroot = find_program("chroot").unwrap_or_else(|| "chroot".into());
        let mut command = if home.account.is_some() {
            let mut chroot = Command::new(chroot);
            chroot.arg(format!("--userspec={0}:{0}", roots::USER));
            chroot
        } else {
            // Who is not root may still enter a folder as its root in a user namespace of their
            // own.
            let mut unshare = Command::new("unshare");
            unshare.args(["--user", "--keep-caps"]);
            unshare.arg(format!("--map-user={}", roots::USER));
            unshare.arg(format!("--map-group={}", roots::USER));
            unshare.arg(chroot);
            unshare
        };
        command.arg(root).arg(program).env_remove("HOME");
        command
    }

    /// Returns the command of the server's keeper, a shell with the rights to run and stop commands
    /// of [`Place::command`].
    pub(super) fn keeper_shell(&self, home: &Home) -> Command {
        match self {
            Place::Machine => as_account(Command::new("/bin/sh"), home),
            Place::Root(_) => Command::new("/bin/sh"),
        }
    }
}

/// Returns a path in a root, as seen from outside.
fn outside(root: &Path, inside: &Path) -> PathBuf {
    root.join(inside.strip_prefix("/").unwrap_or(inside))
}

/// Returns the account for a server, as database servers refuse to run as root: the account made by
/// the package, or `nobody`.
fn find_account(user: &str) -> Outcome<Account> {
    let accounts = fs::read_to_string("/etc/passwd")
        .map_err(|error| format!("cannot read /etc/passwd: {error}"))?;
    account_in(&accounts, user)
        .or_else(|| account_in(&accounts, "nobody"))
        .ok_or_else(|| {
            format!("there is neither a user {user} nor a user nobody to run the server as")
        })
}

fn account_in(accounts: &str, user: &str) -> Option<Account> {
    let fields: Vec<&str> = accounts
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>())
        .find(|fields| fields[0] == user)?;
    Some(Account {
        user: fields.get(2)?.parse().ok()?,
        group: fields.get(3)?.parse().ok()?,
    })
}

fn as_account(mut command: Command, home: &Home) -> Command {
    if let Some(Account { user, group }) = home.account {
        command.uid(user).gid(group).env_remove("HOME");
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_found_by_their_whole_name() {
        let text = "root:x:0:0:root:/:/bin/sh\nmysql2:x:5:6::/:/bin/false\nmysql:x:102:105::/:/bin/false\n";
        assert_eq!(
            account_in(text, "mysql"),
            Some(Account {
                user: 102,
                group: 105
            })
        );
        assert_eq!(account_in(text, "nobody"), None);
    }
}
