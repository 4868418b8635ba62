//! Programs for the tests beside Ruby and the database servers: a sufficient one from `PATH`, or
//! Debian's, unpacked into the user's cache folder.

use std::path::PathBuf;
use std::process::Command;

use super::apt::Source;
use super::relocated::{Relocated, write_script};
use super::roots::cache_folder;
use crate::run::{Outcome, capture, find_program_outside};

/// A program, and a way to get the program.
pub(super) struct Tool {
    /// Whether the machine has the program already, outside of hakaru's own folders.
    is_on_machine: fn() -> bool,
    /// Folder of the program, below the cache folder.
    name: &'static str,
    /// Debian's release.
    suite: &'static str,
    packages: &'static [&'static str],
    /// Programs to bind, relative to the root.
    programs: &'static [&'static str],
    /// What to write into the folder of our programs: name and script. `@ROOT@` and `@LIBRARIES@`
    /// are filled in.
    scripts: &'static [(&'static str, &'static str)],
    /// Description for people: contents, and amount to fetch.
    pub(super) holds: &'static str,
    /// Advice for people installing the program by hand.
    pub(super) by_hand: &'static str,
}

pub(super) const ALL: [Tool; 11] = [
    Tool {
        is_on_machine: || has("chromium"),
        name: "chromium",
        suite: "trixie",
        packages: &["chromium", "fonts-dejavu-core"],
        programs: &["usr/lib/chromium/chromium"],
        scripts: &[("chromium", CHROMIUM)],
        holds: "Chromium from Debian 13 (230 MB)",
        by_hand: "chromium",
    },
    Tool {
        is_on_machine: || has("nginx"),
        name: "nginx",
        suite: "trixie",
        packages: &["nginx"],
        programs: &["usr/sbin/nginx"],
        scripts: &[("nginx", "#!/bin/sh\nexec '@ROOT@/usr/sbin/nginx' \"$@\"\n")],
        holds: "nginx from Debian 13 (10 MB)",
        by_hand: "nginx",
    },
    Tool {
        is_on_machine: || has("h2load"),
        name: "h2load",
        suite: "trixie",
        packages: &["nghttp2-client"],
        programs: &["usr/bin/h2load"],
        scripts: &[("h2load", "#!/bin/sh\nexec '@ROOT@/usr/bin/h2load' \"$@\"\n")],
        holds: "h2load from Debian 13 (10 MB)",
        by_hand: "nghttp2-client",
    },
    Tool {
        is_on_machine: || has("ssh") && has("sshd"),
        name: "sshd",
        suite: "trixie",
        packages: &["openssh-server", "openssh-client"],
        programs: &[
            "usr/sbin/sshd",
            "usr/lib/openssh/sshd-session",
            "usr/lib/openssh/sshd-auth",
            "usr/bin/ssh",
            "usr/bin/ssh-keygen",
        ],
        scripts: &[
            ("sshd", SSHD),
            ("ssh", "#!/bin/sh\nexec '@ROOT@/usr/bin/ssh' \"$@\"\n"),
            (
                "ssh-keygen",
                "#!/bin/sh\nexec '@ROOT@/usr/bin/ssh-keygen' \"$@\"\n",
            ),
        ],
        holds: "OpenSSH's server and client from Debian 13 (20 MB)",
        by_hand: "openssh-server and openssh-client",
    },
    Tool {
        is_on_machine: || has("valgrind"),
        name: "valgrind",
        suite: "trixie",
        packages: &["valgrind"],
        programs: &["usr/bin/valgrind.bin"],
        scripts: &[
            ("valgrind", VALGRIND),
            ("callgrind_control", CALLGRIND_CONTROL),
        ],
        holds: "valgrind from Debian 13 (20 MB)",
        by_hand: "valgrind",
    },
    Tool {
        is_on_machine: has_node,
        name: "node",
        suite: "trixie",
        packages: &["nodejs", "npm"],
        programs: &["usr/bin/node"],
        scripts: &[("node", NODE), ("npm", NPM)],
        holds: "Node 20 with npm from Debian 13 (40 MB)",
        by_hand: "Node 20.19 or later with npm",
    },
    Tool {
        is_on_machine: has_go,
        name: "go",
        suite: "trixie",
        packages: &["golang-go"],
        programs: &[],
        scripts: &[(
            "go",
            "#!/bin/sh\nexec '@ROOT@/usr/lib/go-1.24/bin/go' \"$@\"\n",
        )],
        holds: "Go 1.24 from Debian 13 (50 MB)",
        by_hand: "Go 1.24 or later",
    },
    Tool {
        is_on_machine: || has("mysqltuner") && has("mariadb-admin"),
        name: "mysqltuner",
        suite: "trixie",
        packages: &["mysqltuner", "mariadb-client", "perl"],
        programs: &["usr/bin/perl", "usr/bin/mariadb", "usr/bin/mariadb-admin"],
        scripts: &[
            ("mysqltuner", MYSQLTUNER),
            (
                "mysqltuner-client",
                "#!/bin/sh\nexec '@ROOT@/usr/bin/mariadb' --skip-ssl \"$@\"\n",
            ),
            (
                "mysqltuner-admin",
                "#!/bin/sh\nexec '@ROOT@/usr/bin/mariadb-admin' --skip-ssl \"$@\"\n",
            ),
        ],
        holds: "mysqltuner with a client of MariaDB from Debian 13 (20 MB)",
        by_hand: "mysqltuner and mariadb-client",
    },
    Tool {
        is_on_machine: || has("mariadb-dump"),
        name: "mariadb-dump",
        suite: "trixie",
        packages: &["mariadb-client"],
        programs: &["usr/bin/mariadb-dump"],
        scripts: &[(
            "mariadb-dump",
            "#!/bin/sh\nexec '@ROOT@/usr/bin/mariadb-dump' \"$@\"\n",
        )],
        holds: "mariadb-dump from Debian 13 (20 MB)",
        by_hand: "mariadb-client",
    },
    Tool {
        is_on_machine: || has("sqlite3"),
        name: "sqlite3",
        suite: "trixie",
        packages: &["sqlite3"],
        programs: &["usr/bin/sqlite3"],
        scripts: &[(
            "sqlite3",
            "#!/bin/sh\nexec '@ROOT@/usr/bin/sqlite3' \"$@\"\n",
        )],
        holds: "SQLite's shell from Debian 13 (10 MB)",
        by_hand: "sqlite3",
    },
    Tool {
        // The script is ours, so that no machine has it.
        is_on_machine: || false,
        name: "jemalloc",
        // Each program from `sh` on loads it: it must ask for no newer C library.
        suite: "bookworm",
        packages: &["libjemalloc2"],
        programs: &[],
        scripts: &[("with-jemalloc", WITH_JEMALLOC)],
        holds: "jemalloc from Debian 12 (10 MB)",
        by_hand: "libjemalloc2, with a program with-jemalloc that runs its arguments under it",
    },
];

/// Script of the unpacked Chromium, which knows fonts and a library of sound by installed paths
/// only.
const CHROMIUM: &str = r#"#!/bin/sh
export FONTCONFIG_FILE='@ROOT@/fonts.conf'
export LD_LIBRARY_PATH='@LIBRARIES@/pulseaudio'
exec '@ROOT@/usr/lib/chromium/chromium' "$@"
"#;
const FONTS: &str = "<fontconfig><dir>@ROOT@/usr/share/fonts</dir><cachedir prefix=\"xdg\">fontconfig</cachedir>\
    </fontconfig>\n";
const VALGRIND: &str = r#"#!/bin/sh
export VALGRIND_LIB='@ROOT@/usr/libexec/valgrind'
exec '@ROOT@/usr/bin/valgrind.bin' "$@"
"#;
const CALLGRIND_CONTROL: &str = r#"#!/bin/sh
exec perl '@ROOT@/usr/bin/callgrind_control' "$@"
"#;
/// Script of the unpacked Node, run with the unpacked folder mounted over `/usr/share`, since
/// Debian's Node reads files from `/usr/share/nodejs`.
const NODE: &str = r#"#!/bin/sh
exec unshare --user --map-root-user --mount sh -c 'mount --bind "$0" /usr/share && exec "$@"' \
    '@ROOT@/usr/share' '@ROOT@/usr/bin/node' "$@"
"#;
/// Script of the unpacked MySQLTuner, with variables for Perl's modules, which Perl looks for in
/// the folders of an installed package. Its client asks for no certificate, which a server of the
/// tests has not.
const MYSQLTUNER: &str = r#"#!/bin/sh
for folder in '@ROOT@'/usr/share/perl/5.* '@ROOT@'/usr/share/perl5 '@LIBRARIES@'/perl/5.* '@LIBRARIES@'/perl-base; do
    PERL5LIB=${PERL5LIB:+$PERL5LIB:}$folder
done
export PERL5LIB
exec '@ROOT@/usr/bin/perl' -e 'BEGIN { $INC{"diagnostics.pm"} = 1 } $0 = shift; do $0 or die $@' \
    '@ROOT@/usr/bin/mysqltuner' --mysqlcmd "${0%/*}/mysqltuner-client" \
    --mysqladmin "${0%/*}/mysqltuner-admin" "$@"
"#;
/// Script of the unpacked sshd: run by root, the server wants a user and an empty folder, both at
/// fixed places, visible to the server alone in a separate mount namespace.
const SSHD: &str = r#"#!/bin/sh
set -- '@ROOT@/usr/sbin/sshd' -o SshdSessionPath='@ROOT@/usr/lib/openssh/sshd-session' \
    -o SshdAuthPath='@ROOT@/usr/lib/openssh/sshd-auth' "$@"
[ "$(id -u)" = 0 ] || exec "$@"
exec unshare --mount sh -c 'mount -t tmpfs -o mode=755 tmpfs /run && mkdir /run/sshd &&
    { cat /etc/passwd && echo sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin; } >/run/passwd &&
    mount --bind /run/passwd /etc/passwd && exec "$@"' sshd "$@"
"#;
const WITH_JEMALLOC: &str = r#"#!/bin/sh
LD_PRELOAD='@LIBRARIES@/libjemalloc.so.2' exec "$@"
"#;
const NPM: &str = r#"#!/bin/sh
exec node /usr/share/nodejs/npm/bin/npm-cli.js "$@"
"#;

/// Returns the tool of the given name.
#[cfg(test)]
pub(super) fn named(name: &str) -> &'static Tool {
    static TOOLS: [Tool; ALL.len()] = ALL;
    let found = TOOLS.iter().find(|tool| tool.name == name);
    found.unwrap_or_else(|| panic!("no tool is called {name}"))
}

impl Tool {
    /// Whether nothing has to be fetched; writes the scripts for what was fetched before.
    pub(super) fn is_there(&self) -> Outcome<bool> {
        if (self.is_on_machine)() {
            return Ok(true);
        }
        let relocated = self.relocated();
        let unpacked = relocated.is_there();
        if unpacked {
            self.write_scripts(&relocated)?;
        }
        Ok(unpacked)
    }

    pub(super) fn install(&self, mirror: &Source) -> Outcome<()> {
        self.relocated().install(mirror)
    }

    fn relocated(&self) -> Relocated {
        Relocated {
            suite: self.suite,
            packages: self.packages.to_vec(),
            programs: self.programs.to_vec(),
            folder: cache_folder().join(self.name),
        }
    }

    fn write_scripts(&self, relocated: &Relocated) -> Outcome<()> {
        let filled = |text: &str| {
            text.replace("@ROOT@", &relocated.root().display().to_string())
                .replace("@LIBRARIES@", &relocated.libraries().display().to_string())
        };
        if self.name == "chromium" {
            crate::run::write(&relocated.root().join("fonts.conf"), &filled(FONTS))?;
        }
        let folder = super::tools_folder();
        self.scripts
            .iter()
            .try_for_each(|(name, text)| write_script(&folder.join(name), &filled(text)))
    }
}

fn has(program: &str) -> bool {
    found(program).is_some()
}

fn found(program: &str) -> Option<PathBuf> {
    find_program_outside(&super::tools_folder(), program)
}

/// Returns whether there is a Go able to build pprof: `dev/viewers/go.mod` names tools, which 1.24
/// was the first to know.
fn has_go() -> bool {
    const MINOR_MIN: u32 = 24;
    let Some(go) = found("go") else {
        return false;
    };
    // `go version go1.24.4 linux/amd64`
    let text = capture(Command::new(go).arg("version")).unwrap_or_default();
    let version = text.split_whitespace().nth(2).unwrap_or_default();
    let minor = version
        .strip_prefix("go1.")
        .and_then(|rest| rest.split('.').next());
    minor.and_then(|minor| minor.parse::<u32>().ok()) >= Some(MINOR_MIN)
}

/// Returns whether there is npm and a Node able to build the page.
fn has_node() -> bool {
    let version = found("node").and_then(|node| capture(Command::new(node).arg("--version")).ok());
    has("npm") && version.is_some_and(|version| crate::web::is_new_enough(&version))
}
