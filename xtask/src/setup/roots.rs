//! Private roots with database servers missing in the machine's release: packages of other Debian
//! releases, unpacked beside each other in the user's cache folder, never installed. `servers` runs
//! them by `chroot`.
//!
//! A root is made under another name and renamed when it is whole, so that what is there under its
//! own name always works, also when two runs make it at once.

use std::env;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::apt::Source;
use super::private_apt::PrivateApt;
use crate::run::{Outcome, capture, write};

/// Version of the treatment of packages; a change replaces old roots.
const RECIPE: u32 = 2;

/// Account of servers in a root; `servers` runs each server with the number.
pub(crate) const USER: u32 = 65534;

/// A release, and packages of the release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    suite: &'static str,
    packages: &'static [&'static str],
    /// Description for people: contents, and amount to fetch.
    pub(crate) holds: &'static str,
}

/// Servers of Debian 12, for a machine without any.
pub(crate) const BOOKWORM_MARIADB: Root = Root {
    suite: "bookworm",
    packages: TRIXIE.packages,
    holds: "MariaDB 10.11 from Debian 12 (23 MB)",
};

/// The same for PostgreSQL.
pub(crate) const BOOKWORM_POSTGRES: Root = Root {
    suite: "bookworm",
    packages: &["postgresql-15", "dash", "coreutils"],
    holds: "PostgreSQL 15 from Debian 12 (96 MB)",
};

/// MariaDB 11.8.
pub(crate) const TRIXIE: Root = Root {
    suite: "trixie",
    packages: &[
        "mariadb-server-core",
        "mariadb-client-core",
        "dash",
        "coreutils",
        "sed",
    ],
    holds: "MariaDB 11.8 from Debian 13 (22 MB)",
};

/// MySQL 9 and PostgreSQL 18, which only the rolling release has.
pub(crate) const SID: Root = Root {
    suite: "sid",
    packages: &[
        "mysql-server-core",
        "mysql-client-core",
        "postgresql-18",
        "dash",
        "coreutils",
    ],
    holds: "MySQL 9 and PostgreSQL 18 from Debian sid (101 MB)",
};

impl Root {
    /// Returns the folder of the root, present or not.
    pub(crate) fn folder(&self) -> PathBuf {
        cache_folder().join(format!("root-{}-{}", self.suite, self.hash()))
    }

    pub(crate) fn is_there(&self) -> bool {
        self.folder().is_dir()
    }

    /// Fetches and unpacks the root.
    pub(super) fn install(&self, mirror: &Source) -> Outcome<()> {
        eprintln!("setup: unpacking {}", self.holds);
        let folder = self.folder();
        let made = folder.with_extension(format!("{}.part", std::process::id()));
        let apt = PrivateApt::open(&made.with_extension("apt"), mirror, self.suite)?;
        let outcome = make_skeleton(&made)
            .and_then(|()| apt.unpack_with_dependencies(self.packages, &made))
            .and_then(|()| make_accounts(&made))
            .and_then(|()| make_devices(&made));
        apt.close();
        let _ = fs::remove_dir_all(made.with_extension("apt"));
        if let Err(message) = outcome {
            let _ = fs::remove_dir_all(&made);
            return Err(format!("cannot unpack {}: {message}", self.holds));
        }
        let renamed = fs::rename(&made, &folder);
        let _ = fs::remove_dir_all(&made);
        match renamed {
            Err(error) if !self.is_there() => {
                Err(format!("cannot make {}: {error}", folder.display()))
            }
            _ => Ok(()),
        }
    }

    /// Returns the FNV-1a hash of the root's recipe, suite and packages.
    fn hash(&self) -> String {
        let text = format!("{RECIPE} {} {}", self.suite, self.packages.join(" "));
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        format!("{hash:016x}")
    }
}

/// `hakaru-dev` in the user's cache folder, or in the temporary one of who has no home.
pub(crate) fn cache_folder() -> PathBuf {
    let own = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    own("XDG_CACHE_HOME")
        .or_else(|| own("HOME").map(|home| home.join(".cache")))
        .unwrap_or_else(env::temp_dir)
        .join("hakaru-dev")
}

/// Makes the folders and links of a merged `/usr`, which are in no package.
pub(super) fn make_skeleton(root: &Path) -> Outcome<()> {
    let make = || {
        for folder in ["bin", "sbin", "lib", "lib64"] {
            fs::create_dir_all(root.join("usr").join(folder))?;
            symlink(format!("usr/{folder}"), root.join(folder))?;
        }
        for folder in ["dev", "etc", "tmp"] {
            fs::create_dir_all(root.join(folder))?;
        }
        fs::set_permissions(root, fs::Permissions::from_mode(0o755))
    };
    make().map_err(|error| format!("cannot make {}: {error}", root.display()))
}

/// Writes the accounts of root and of the servers, and the machine's name.
pub(super) fn make_accounts(root: &Path) -> Outcome<()> {
    let accounts =
        format!("root:x:0:0::/:/bin/sh\nserver:x:{USER}:{USER}::/tmp:/usr/sbin/nologin\n");
    write(&root.join("etc/passwd"), &accounts)?;
    write(&root.join("etc/group"), &format!("server:x:{USER}:\n"))?;
    write(&root.join("etc/hosts"), "127.0.0.1 localhost\n")?;
    fs::set_permissions(root.join("tmp"), fs::Permissions::from_mode(0o1777))
        .map_err(|error| format!("cannot open {}/tmp: {error}", root.display()))
}

/// Makes the two devices opened by servers. Who may not make devices gets an empty file to write
/// into in place of `/dev/null`; random bytes then come from the system call alone.
fn make_devices(root: &Path) -> Outcome<()> {
    let null = root.join("dev/null");
    let device = |name: &str, minor: &str| {
        let mut mknod = Command::new("mknod");
        mknod.args(["-m", "666"]).arg(root.join("dev").join(name));
        capture(mknod.args(["c", "1", minor]))
    };
    if device("null", "3")
        .and_then(|_| device("urandom", "9"))
        .is_ok()
    {
        return Ok(());
    }
    let _ = fs::remove_file(&null);
    write(&null, "")?;
    fs::set_permissions(&null, fs::Permissions::from_mode(0o666))
        .map_err(|error| format!("cannot open {}: {error}", null.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_list_of_packages_is_another_root() {
        let fewer = Root {
            packages: &["dash"],
            ..SID
        };
        assert_ne!(fewer.folder(), SID.folder());
        assert_eq!(SID.folder(), SID.folder());
    }

    #[test]
    fn a_skeleton_has_what_no_package_brings() {
        let root = env::temp_dir().join(format!("hakaru-skeleton-{}", std::process::id()));
        make_skeleton(&root).unwrap();
        make_accounts(&root).unwrap();
        make_devices(&root).unwrap();
        assert!(root.join("lib64").is_dir() && root.join("dev/null").exists());
        let accounts = fs::read_to_string(root.join("etc/passwd")).unwrap();
        assert!(accounts.contains(&format!(":{USER}:")));
        fs::remove_dir_all(root).unwrap();
    }
}
