//! The memory of the app's control group.
//!
//! Version 2 has one tree for all resources; where memory is still in a tree of version 1, its
//! files have other names. Inside a container of version 1 the tree's root is the container's own
//! group, under the path that it has outside.

use std::fs;
use std::path::Path;

use super::parse;

/// File names of a group, and the statistic of memory the kernel can take back at once.
struct Names {
    limit: &'static str,
    used: &'static str,
    reclaimable: &'static str,
}

const UNIFIED: Names = Names {
    limit: "memory.max",
    used: "memory.current",
    reclaimable: "inactive_file",
};
const LEGACY: Names = Names {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    reclaimable: "total_inactive_file",
};

/// Version 1 says so much, less a part of a page, where there is no limit.
const NO_LIMIT_BYTES: u64 = 1 << 62;

/// Returns limit and use, bytes, of the group named by `groups` (`/proc/<pid>/cgroup`), without
/// file pages reclaimable at once; `None` without a limit.
pub(super) fn memory(mounted: &Path, groups: &str) -> Option<(u64, u64)> {
    let unified = groups.lines().find_map(|line| line.strip_prefix("0::/"));
    let unified = unified.and_then(|path| limited(&mounted.join(path), &UNIFIED));
    let legacy = || {
        let root = mounted.join("memory");
        let path = groups.lines().find_map(path_of_memory)?;
        limited(&root.join(path), &LEGACY).or_else(|| limited(&root, &LEGACY))
    };
    unified.or_else(legacy)
}

/// The path in a line such as `4:cpuset,memory:/app`, without the first slash.
fn path_of_memory(line: &str) -> Option<&str> {
    let (_number, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(":/")?;
    let is_memory = controllers.split(',').any(|name| name == "memory");
    is_memory.then_some(path)
}

fn limited(folder: &Path, names: &Names) -> Option<(u64, u64)> {
    let text = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let number = |name: &str| text(name)?.trim().parse::<u64>().ok();
    let limit = number(names.limit).filter(|limit| *limit < NO_LIMIT_BYTES)?;
    let statistics = text("memory.stat").unwrap_or_default();
    let reclaimable = parse::counted(&statistics, names.reclaimable).unwrap_or(0);
    Some((limit, number(names.used)?.saturating_sub(reclaimable)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_both_versions() {
        let mounted = tempfile::tempdir().unwrap();
        let check = |groups: &str, expected: Option<(u64, u64)>| {
            assert_eq!(memory(mounted.path(), groups), expected, "{groups}");
        };
        let put = |folder: &str, files: [&str; 3], texts: [&str; 3]| {
            let folder = mounted.path().join(folder);
            fs::create_dir_all(&folder).unwrap();
            for (name, text) in files.iter().zip(texts) {
                fs::write(folder.join(name), text).unwrap();
            }
        };
        let files = ["memory.max", "memory.current", "memory.stat"];
        put(
            "app",
            files,
            ["1000\n", "700\n", "anon 1\ninactive_file 50\n"],
        );
        put("free", files, ["max\n", "700\n", ""]);
        check("0::/app\n", Some((1000, 650)));
        check("0::/free\n", None);
        check("", None);
        let files = [
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "memory.stat",
        ];
        let statistics = "inactive_file 5\ntotal_inactive_file 100\n";
        put("memory/old", files, ["2000\n", "700\n", statistics]);
        put("memory/open", files, ["9223372036854771712\n", "700\n", ""]);
        check("4:cpuset,memory:/old\n0::/\n", Some((2000, 600)));
        check("4:memory:/open\n", None);
        // Seen from inside a container.
        put("memory", files, ["3000\n", "300\n", ""]);
        check("4:memory:/docker/0a1b\n", Some((3000, 300)));
    }
}
