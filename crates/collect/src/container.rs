//! Hosts in containers: own processes and a share of the cores, on a shared machine.

use std::fs;
use std::path::Path;

/// Number of the kernel's first namespace of processes (`PROC_PID_INIT_INO`).
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// Whether the host is a container: `/proc/stat` counts the CPU time of the whole machine there.
pub(crate) fn is_container() -> bool {
    fs::read_link("/proc/self/ns/pid").is_ok_and(|link| link.as_os_str() != FIRST_NAMESPACE)
}

/// Returns the limit of cores of the own control group; `None` without a limit.
pub(crate) fn core_limit() -> Option<f64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    limit(Path::new("/sys/fs/cgroup"), &groups)
}

fn limit(mounted: &Path, groups: &str) -> Option<f64> {
    let unified = groups.lines().find_map(|line| line.strip_prefix("0::/"));
    let unified = unified.and_then(|path| {
        let text = fs::read_to_string(mounted.join(path).join("cpu.max")).ok()?;
        let (quota, period) = text.trim().split_once(' ')?;
        cores(quota, period)
    });
    let legacy = || {
        let path = groups.lines().find_map(path_of_cpu)?;
        let number = |folder: &Path, name: &str| fs::read_to_string(folder.join(name)).ok();
        let of = |folder: &Path| {
            cores(
                &number(folder, "cpu.cfs_quota_us")?,
                &number(folder, "cpu.cfs_period_us")?,
            )
        };
        let trees = ["cpu", "cpu,cpuacct"].map(|tree| mounted.join(tree));
        // Inside a container the tree's root may be the container's own group.
        (trees.iter()).find_map(|tree| of(&tree.join(path)).or_else(|| of(tree)))
    };
    unified.or_else(legacy)
}

/// The path in a line such as `4:cpu,cpuacct:/app`, without the first slash.
fn path_of_cpu(line: &str) -> Option<&str> {
    let (_number, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(":/")?;
    let is_cpu = controllers.split(',').any(|name| name == "cpu");
    is_cpu.then_some(path)
}

/// Microseconds of CPU time in a period; `max` and -1 are no limit.
fn cores(quota: &str, period: &str) -> Option<f64> {
    let quota: f64 = quota.trim().parse().ok()?;
    let period: f64 = period.trim().parse().ok()?;
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_both_versions() {
        let mounted = tempfile::tempdir().expect("a folder");
        let put = |path: &str, text: &str| {
            let path = mounted.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("written");
        };
        put("app/cpu.max", "20000 100000\n");
        put("free/cpu.max", "max 100000\n");
        put("cpu/old/cpu.cfs_quota_us", "50000\n");
        put("cpu/old/cpu.cfs_period_us", "100000\n");
        put("cpu/open/cpu.cfs_quota_us", "-1\n");
        put("cpu/open/cpu.cfs_period_us", "100000\n");
        let of = |groups: &str| limit(mounted.path(), groups);
        assert_eq!(of("0::/app\n"), Some(0.2));
        assert_eq!(of("0::/free\n"), None);
        assert_eq!(of("3:cpuset:/x\n1:cpu:/old\n0::/\n"), Some(0.5));
        assert_eq!(of("1:cpu:/open\n"), None);
        assert_eq!(of(""), None);
    }
}
