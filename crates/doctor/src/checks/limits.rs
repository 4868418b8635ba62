//! Limits of the process.

use words::{phrase, text};

use crate::check::{Area, Check, Found, Level, Look, Needs};

/// The checks.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "limits.files",
        area: Area::Limits,
        title: phrase!("the process may open few files"),
        why: phrase!(
            "each connection is an open file; beyond the limit connections are refused or stay unanswered"
        ),
        source: "man 2 getrlimit; systemd sets 1024 soft and 524288 hard",
        look: Look::Whole(|s| {
            const FEW: u64 = 1024;
            const VERY_FEW: u64 = 256;
            let soft = s.process.files_soft.filter(|soft| *soft < FEW)?;
            let level = if soft < VERY_FEW {
                Level::High
            } else {
                Level::Medium
            };
            let hard = s.process.files_hard;
            let room = hard.is_none_or(|hard| hard >= 65_536);
            let change = match room {
                true => phrase!("ulimit -n 65536, or LimitNOFILE=65536 in the service"),
                false => phrase!(
                    "LimitNOFILE=65536 in the service, or nofile in /etc/security/limits.conf"
                ),
            };
            let hard = hard.map_or("unlimited".to_owned(), |hard| hard.to_string());
            Some(
                Found::new(
                    level,
                    text!(
                        "Max open files = {soft} (hard limit {hard})",
                        soft = soft.to_string(),
                        hard
                    ),
                )
                .change(change, format!("ulimit -n {soft}"))
                .needs(Needs::Restart),
            )
        }),
    },
    Check {
        id: "limits.files-nearly-used",
        area: Area::Limits,
        title: phrase!("the process has opened nearly as many files as it may"),
        why: phrase!("the next connections are refused or stay unanswered"),
        source: "man 2 getrlimit; 70 % as in redis and nginx guides",
        look: Look::Whole(|s| {
            let (open, soft) = (s.process.files_open?, s.process.files_soft?);
            (open as f64 > 0.7 * soft as f64).then(|| {
                // Above the hard limit only root may go, and the hard limit stays as it is: who
                // has lowered it cannot raise it again.
                let most = s.process.files_hard.unwrap_or(u64::MAX);
                let more = soft.saturating_mul(8).max(65_536).min(most);
                let found = Found::new(
                    Level::High,
                    text!(
                        "{open} of {soft} open",
                        open = open.to_string(),
                        soft = soft.to_string()
                    ),
                );
                match s.process.pid {
                    Some(pid) if more > soft => found.change(
                        format!("prlimit --pid {pid} --nofile={more}:"),
                        format!("prlimit --pid {pid} --nofile={soft}:"),
                    ),
                    _ => found
                        .change(
                            phrase!("a higher LimitNOFILE in the service, or nofile in /etc/security/limits.conf"),
                            phrase!("as before"),
                        )
                        .needs(Needs::Restart),
                }
            })
        }),
    },
    Check {
        id: "limits.processes",
        area: Area::Limits,
        title: phrase!("the user may start few processes and threads"),
        why: phrase!("threads count too; beyond the limit fork and Thread.new fail"),
        source: "man 2 getrlimit (RLIMIT_NPROC)",
        look: Look::Whole(|s| {
            let soft = s.process.processes_soft.filter(|soft| *soft < 1024)?;
            Some(
                Found::new(Level::Medium, format!("Max processes = {soft}"))
                    .change(
                        phrase!("ulimit -u 4096, or LimitNPROC=4096 in the service"),
                        format!("ulimit -u {soft}"),
                    )
                    .needs(Needs::Restart),
            )
        }),
    },
    Check {
        id: "limits.files-of-machine",
        area: Area::Limits,
        title: phrase!("the machine may open few files"),
        why: phrase!("the limit is for all processes together, database and proxy included"),
        source: "https://docs.kernel.org/admin-guide/sysctl/fs.html (file-max)",
        look: Look::Whole(|s| {
            let most: u64 = s.machine.sysctl.get("fs.file-max")?.parse().ok()?;
            (most < 65_536).then(|| {
                Found::new(Level::Medium, format!("fs.file-max = {most}"))
                    .change(
                        "sysctl fs.file-max=1048576",
                        format!("sysctl fs.file-max={most}"),
                    )
                    .needs(Needs::Root)
            })
        }),
    },
];
