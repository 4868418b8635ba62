//! Disks and file systems.

use figures::numbers;
use words::{phrase, text};

use crate::check::{Area, Check, Cost, Found, Level, Look, Needs, Safety};
use crate::snapshot::Disk;

/// The checks.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "disk.sync-slow",
        area: Area::Disk,
        title: phrase!("writing for good is slow"),
        why: phrase!("each commit of a database waits for one such write"),
        source: "measured: fdatasync of 4 KB in the folder; 0.05 to 1 ms on an SSD",
        look: Look::Whole(|s| {
            const SLOW_NS: f64 = 4e6;
            let ns = s.measures.sync_ns.filter(|ns| *ns > SLOW_NS)?;
            let level = match ns / SLOW_NS {
                times if times > 6.0 => Level::High,
                times if times > 2.5 => Level::Medium,
                _ => Level::Low,
            };
            let longest = numbers::duration_ns(s.measures.sync_max_ns.unwrap_or(ns));
            let folder = s.disk.folder.as_deref().unwrap_or("?");
            Some(
                Found::new(
                    level,
                    text!(
                        "fdatasync of 4 KB in {folder}: {median}, at most {longest}",
                        folder,
                        median = numbers::duration_ns(ns),
                        longest
                    ),
                )
                .cost(Cost::Each {
                    ns,
                    event: phrase!("commit"),
                })
                .change(
                    phrase!(
                        "the database's folder on a local SSD; several commits in one transaction"
                    ),
                    phrase!("the folder as before"),
                ),
            )
        }),
    },
    Check {
        id: "disk.sync-too-fast",
        area: Area::Disk,
        title: phrase!("writing for good is faster than a disk can be"),
        why: phrase!(
            "a cache says it is written before it is: a power cut loses commits, and the cost of commits is not that of production"
        ),
        source: "measured: fdatasync of 4 KB; below 15 µs only with a battery or a lie",
        look: Look::Whole(|s| {
            let memory =
                ["tmpfs", "ramfs"].contains(&s.disk.filesystem.as_deref().unwrap_or_default());
            let ns = s.measures.sync_ns.filter(|ns| *ns < 15_000.0 && !memory)?;
            Some(
                Found::new(
                    Level::Low,
                    text!("fdatasync of 4 KB: {time}", time = numbers::duration_ns(ns)),
                )
                .cost(Cost::Each {
                    ns,
                    event: phrase!("commit"),
                })
                .change(
                    phrase!(
                        "a disk whose cache is written through (the cache mode of the virtual disk)"
                    ),
                    phrase!("the cache mode as before"),
                ),
            )
        }),
    },
    Check {
        id: "disk.full",
        area: Area::Disk,
        title: phrase!("the disk is nearly full"),
        why: phrase!("a database stops when it cannot write, and file systems slow down before"),
        source: "statvfs; 95 % used, and less than 2 GB left",
        look: Look::Whole(|s| {
            let (total, free) = (s.disk.total_bytes? as f64, s.disk.free_bytes? as f64);
            let used = 1.0 - free / total.max(1.0);
            let level = match (used, free) {
                (used, free) if used > 0.98 && free < 1e9 => Level::High,
                (used, free) if used > 0.95 && free < 2e9 => Level::Medium,
                _ => return None,
            };
            Some(
                Found::new(
                    level,
                    text!(
                        "{free} of {total} free",
                        free = numbers::bytes(free as u64),
                        total = numbers::bytes(total as u64)
                    ),
                )
                .change(
                    phrase!(
                        "find what is large: du -xh / | sort -h | tail; old logs and images first"
                    ),
                    "",
                ),
            )
        }),
    },
    Check {
        id: "disk.inodes",
        area: Area::Disk,
        title: phrase!("the file system has hardly any numbers left for files"),
        why: phrase!(
            "no file can be made although there is space: sessions, caches and temporary tables fail"
        ),
        source: "statvfs; 90 % used",
        look: Look::Whole(|s| {
            let used = s.disk.inodes_used_share.filter(|used| *used > 0.9)?;
            Some(
                Found::new(
                    Level::High,
                    text!("{share} of the inodes used", share = numbers::share(used)),
                )
                .change(
                    phrase!("find folders of many small files: du --inodes -x / | sort -n | tail"),
                    "",
                ),
            )
        }),
    },
    Check {
        id: "disk.network",
        area: Area::Disk,
        title: phrase!("the folder is on a file system behind a network or another machine's door"),
        why: phrase!(
            "loading code and opening templates asks for thousands of files; SQLite's locks and WAL do not work there safely"
        ),
        source: "https://www.sqlite.org/useovernet.html; man 5 nfs",
        look: Look::Whole(|s| {
            let kind = network(&s.disk)?;
            Some(
                Found::new(
                    Level::Medium,
                    text!(
                        "{folder} is {kind}",
                        folder = s.disk.folder.as_deref().unwrap_or("?"),
                        kind
                    ),
                )
                .change(
                    phrase!("the app and its data on a local disk or a volume of the container"),
                    phrase!("the folder as before"),
                )
                .needs(Needs::Restart),
            )
        }),
    },
    Check {
        id: "disk.mounted-sync",
        area: Area::Disk,
        title: phrase!("every write to the file system waits for the disk"),
        why: phrase!("logs and temporary files wait as commits do"),
        source: "man 8 mount (sync, dirsync)",
        look: Look::Whole(|s| {
            let sync = s
                .disk
                .options
                .iter()
                .find(|option| ["sync", "dirsync"].contains(&option.as_str()))?;
            Some(
                Found::new(Level::Medium, text!("mounted with {option}", option = sync))
                    .evidence(phrase!("without it a crash loses what was written last and not synced by its program"))
                    .change(remount(&s.disk, "async"), remount(&s.disk, sync))
                    .needs(Needs::Root)
                    .safety(Safety::Durability),
            )
        }),
    },
    Check {
        id: "disk.mounted-strictatime",
        area: Area::Disk,
        title: phrase!("every read of a file writes the time of reading"),
        why: phrase!("serving files and loading code causes writes"),
        source: "man 8 mount (relatime is the default)",
        look: Look::Whole(|s| {
            s.disk
                .options
                .iter()
                .find(|option| *option == "strictatime")?;
            Some(
                Found::new(
                    Level::Low,
                    text!("mounted with {option}", option = "strictatime"),
                )
                .change(
                    remount(&s.disk, "relatime"),
                    remount(&s.disk, "strictatime"),
                )
                .needs(Needs::Root),
            )
        }),
    },
    Check {
        id: "disk.scheduler",
        area: Area::Disk,
        title: phrase!("the I/O scheduler is one for rotating disks"),
        why: phrase!("it holds requests back in order to sort them, which an SSD does not need"),
        source: "https://docs.kernel.org/block/bfq-iosched.html (overhead on fast devices)",
        look: Look::Whole(|s| {
            let scheduler = s.disk.scheduler.as_deref()?;
            // What a disk says of rotation may be false; how fast it writes is not.
            let fast = s
                .measures
                .sync_ns
                .map_or(s.disk.rotational == Some(false), |ns| ns < 2e6);
            (["bfq", "cfq"].contains(&scheduler) && fast).then(|| {
                // The device of a mount is often a partition or a volume, which have no queue.
                let queue = s.disk.queue.as_deref().unwrap_or("/sys/block/DISK/queue");
                let write = |name: &str| format!("echo {name} > {queue}/scheduler");
                Found::new(Level::Low, format!("scheduler = {scheduler}"))
                    .change(write("none"), write(scheduler))
                    .needs(Needs::Root)
            })
        }),
    },
    Check {
        id: "disk.pressure",
        area: Area::Disk,
        title: phrase!("everything has been waiting for the disk"),
        why: phrase!("no thread could run because all waited for reads or writes"),
        source: "https://docs.kernel.org/accounting/psi.html (io.full)",
        look: Look::Whole(|s| {
            let share = *s.machine.pressure.get("io.full")?;
            let level = match share {
                share if share > 0.3 => Level::Medium,
                share if share > 0.1 => Level::Low,
                _ => return None,
            };
            Some(
                Found::new(level, format!("io.full avg60 = {}", numbers::share(share)))
                    .cost(Cost::Share(share))
                    .change(
                        phrase!("find who reads and writes: iotop -o, or pidstat -d 1"),
                        "",
                    ),
            )
        }),
    },
];

fn remount(disk: &Disk, option: &str) -> String {
    let folder = disk.mounted_at.as_deref().unwrap_or("FOLDER");
    format!("mount -o remount,{option} {folder}")
}

/// Returns the kind of a file system behind a network or another machine's door.
pub(super) fn network(disk: &Disk) -> Option<&str> {
    const KINDS: [&str; 9] = [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "9p",
        "virtiofs",
        "fuse.sshfs",
        "fuse.osxfs",
        "fuse.grpcfuse",
    ];
    let kind = disk.filesystem.as_deref();
    kind.filter(|kind| KINDS.contains(kind))
}
