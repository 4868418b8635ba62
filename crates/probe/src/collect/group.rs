//! Reads the control group of a process: the tightest limits from the group to the root of the
//! hierarchy.

use std::path::{Path, PathBuf};

use super::{field, file};
use doctor::snapshot::{Group, Unseen};

/// Bytes from which a limit of version 1 means "none", near the largest number.
const NO_LIMIT_BYTES: u64 = 1 << 60;

/// Reads the group of the process whose folder of `/proc` is `at`.
pub(super) fn read(at: &str, unseen: &mut Vec<Unseen>) -> Option<Group> {
    let Some(own) = file(format!("{at}/cgroup")) else {
        unseen.push(Unseen {
            what: "the control group".to_owned(),
            why: format!("{at}/cgroup cannot be read"),
        });
        return None;
    };
    let mounts = file("/proc/self/mountinfo").unwrap_or_default();
    let cpu = place(&own, &mounts, "cpu");
    let memory = place(&own, &mounts, "memory");
    let unified = place(&own, &mounts, "");
    let mut group = match (&cpu, &memory) {
        (None, None) => unified.as_ref().map(of_version_2),
        _ => Some(of_version_1(cpu.as_ref(), memory.as_ref())),
    }?;
    let path = cpu.or(unified).map(|place| place.path);
    group.path = path.unwrap_or_default();
    Some(group)
}

/// Location of a controller's files of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    mount: PathBuf,
    path: String,
}

impl Place {
    /// Returns the existing folders from the process's group up to the mount.
    fn folders(&self) -> Vec<PathBuf> {
        let own = self.mount.join(self.path.trim_start_matches('/'));
        let up = own.ancestors().map(Path::to_path_buf);
        let inside = up.take_while(|folder| folder.starts_with(&self.mount));
        inside.filter(|folder| folder.is_dir()).collect()
    }
}

/// The place of a controller of version 1 by name, or of the hierarchy of version 2 for an empty
/// name.
fn place(own: &str, mounts: &str, controller: &str) -> Option<Place> {
    let line = own.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let names = parts.nth(1)?;
        let path = parts.next()?;
        names
            .split(',')
            .any(|name| name == controller)
            .then_some(path)
    })?;
    let mount = mounts.lines().find_map(|mount| {
        let (before, after) = mount.split_once(" - ")?;
        let mut kind = after.split_whitespace();
        let is_it = match kind.next()? {
            "cgroup2" => controller.is_empty(),
            "cgroup" => {
                !controller.is_empty() && kind.nth(1)?.split(',').any(|name| name == controller)
            }
            _ => false,
        };
        let mut fields = before.split_whitespace().skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        is_it.then(|| (root.to_owned(), PathBuf::from(point)))
    })?;
    // In a container the mount's root may be the group itself.
    let root = mount.0.trim_end_matches('/');
    let path = line.strip_prefix(root).unwrap_or(line);
    Some(Place {
        mount: mount.1,
        path: path.to_owned(),
    })
}

fn number(folder: &Path, name: &str) -> Option<u64> {
    file(folder.join(name))?.parse().ok()
}

fn of_version_2(place: &Place) -> Group {
    let mut group = Group {
        version: 2,
        ..Group::default()
    };
    let mut memory_share = 0.0;
    for folder in place.folders() {
        let quota = file(folder.join("cpu.max")).and_then(|text| quota(&text));
        if let Some((cores, period_us)) = quota {
            tighten(
                &mut group,
                &folder,
                cores,
                period_us,
                "throttled_usec",
                1000,
            );
        }
        if let (Some(most), Some(now)) = (
            number(&folder, "memory.max"),
            number(&folder, "memory.current"),
        ) {
            limit_memory(&mut group, most, now, &mut memory_share);
        }
        let events = file(folder.join("memory.events")).unwrap_or_default();
        let event = |name: &str| counter(&events, name);
        // Counts of a group are those of all groups below, so that those above the process's count
        // its neighbours too: kills are the own group's, reclaims those of the limit.
        group.events_oom_kill = group.events_oom_kill.or_else(|| event("oom_kill"));
        if let Some(high) = number(&folder, "memory.high")
            && group.memory_high_bytes.is_none_or(|known| high < known)
        {
            group.memory_high_bytes = Some(high);
            group.events_high = event("high");
        }
        group.weight = group.weight.or_else(|| number(&folder, "cpu.weight"));
    }
    group
}

fn of_version_1(cpu: Option<&Place>, memory: Option<&Place>) -> Group {
    let mut group = Group {
        version: 1,
        ..Group::default()
    };
    for folder in cpu.map(Place::folders).unwrap_or_default() {
        let quota: Option<f64> =
            file(folder.join("cpu.cfs_quota_us")).and_then(|text| text.parse().ok());
        let period = number(&folder, "cpu.cfs_period_us");
        if let (Some(quota), Some(period)) = (quota.filter(|quota| *quota > 0.0), period) {
            let cores = quota / period as f64;
            tighten(&mut group, &folder, cores, period, "throttled_time", 1);
        }
        let shares = number(&folder, "cpu.shares");
        group.weight = group
            .weight
            .or_else(|| shares.map(|shares| shares * 100 / 1024));
    }
    let mut memory_share = 0.0;
    for folder in memory.map(Place::folders).unwrap_or_default() {
        if let (Some(most), Some(now)) = (
            number(&folder, "memory.limit_in_bytes"),
            number(&folder, "memory.usage_in_bytes"),
        ) && most < NO_LIMIT_BYTES
        {
            limit_memory(&mut group, most, now, &mut memory_share);
        }
        let control = file(folder.join("memory.oom_control")).unwrap_or_default();
        let killed = counter(&control, "oom_kill");
        group.events_oom_kill = group.events_oom_kill.or(killed);
    }
    group
}

/// Takes the quota of a folder if tighter than the known one.
fn tighten(
    group: &mut Group,
    folder: &Path,
    cores: f64,
    period_us: u64,
    throttled: &str,
    unit_ns: u64,
) {
    if group.quota_cores.is_some_and(|known| known <= cores) {
        return;
    }
    let stat = file(folder.join("cpu.stat")).unwrap_or_default();
    group.quota_cores = Some(cores);
    group.period_us = Some(period_us);
    group.periods = counter(&stat, "nr_periods");
    group.throttled = counter(&stat, "nr_throttled");
    group.throttled_ns = counter(&stat, throttled).map(|time| time * unit_ns);
}

fn limit_memory(group: &mut Group, most: u64, now: u64, share: &mut f64) {
    let used = now as f64 / most.max(1) as f64;
    if used >= *share {
        *share = used;
        group.memory_max_bytes = Some(most);
        group.memory_bytes = Some(now);
    }
}

/// Cores and period of a `cpu.max`; `None` without a quota.
fn quota(text: &str) -> Option<(f64, u64)> {
    let (quota, period) = text.split_once(' ')?;
    let (quota, period): (f64, u64) = (quota.parse().ok()?, period.parse().ok()?);
    Some((quota / period as f64, period))
}

fn counter(text: &str, name: &str) -> Option<u64> {
    let of_line = |line: &str| {
        let (found, value) = line.split_once(' ')?;
        (found == name).then(|| value.trim().parse().ok()).flatten()
    };
    text.lines()
        .find_map(of_line)
        .or_else(|| field(text, name)?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hierarchy_of_a_controller_is_found() {
        let own = "4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n0::/x\n";
        let mounts = "30 24 0:27 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                      31 24 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let found = place(own, mounts, "cpu").expect("mounted");
        assert_eq!(found.mount, Path::new("/sys/fs/cgroup/cpu"));
        assert_eq!(found.path, "");
        assert_eq!(place(own, mounts, "memory"), None);
        assert_eq!(place(own, mounts, "").expect("mounted").path, "/x");
    }

    #[test]
    fn quotas_are_read() {
        assert_eq!(quota("50000 100000"), Some((0.5, 100_000)));
        assert_eq!(quota("max 100000"), None);
        assert_eq!(
            counter("nr_periods 11\nnr_throttled 10", "nr_throttled"),
            Some(10)
        );
    }

    #[test]
    fn what_befell_a_neighbour_is_not_the_groups() {
        let root = tempfile::tempdir().expect("a folder");
        let write = |group: &str, name: &str, text: &str| {
            let folder = root.path().join(group);
            std::fs::create_dir_all(&folder).expect("a group");
            std::fs::write(folder.join(name), text).expect("a file");
        };
        write("slice", "memory.events", "high 0\noom_kill 5\n");
        write("slice", "memory.oom_control", "oom_kill 5\n");
        write("slice/app", "memory.events", "high 7\noom_kill 0\n");
        write("slice/app", "memory.oom_control", "oom_kill 0\n");
        write("slice/app", "memory.high", "1000\n");
        let place = Place {
            mount: root.path().to_path_buf(),
            path: "/slice/app".to_owned(),
        };
        let group = of_version_2(&place);
        assert_eq!(group.events_oom_kill, Some(0));
        assert_eq!(
            (group.memory_high_bytes, group.events_high),
            (Some(1000), Some(7))
        );
        let old = of_version_1(None, Some(&place));
        assert_eq!(old.events_oom_kill, Some(0));
        // The limit of a parent is reclaimed for by the parent.
        write("slice", "memory.high", "500\n");
        assert_eq!(of_version_2(&place).events_high, Some(0));
    }
}
