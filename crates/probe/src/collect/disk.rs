//! The disk of a folder: file system, options, scheduler, space.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::machine::chosen;
use super::{file, reason};
use doctor::snapshot::{Disk, Unseen};

/// Reads the disk of the folder.
pub(super) fn read(folder: &Path, unseen: &mut Vec<Unseen>) -> Disk {
    let mut disk = Disk {
        folder: Some(folder.display().to_string()),
        ..Disk::default()
    };
    match rustix::fs::statvfs(folder) {
        Ok(space) => {
            disk.total_bytes = Some(space.f_blocks * space.f_frsize);
            disk.free_bytes = Some(space.f_bavail * space.f_frsize);
            let used = space.f_files.saturating_sub(space.f_ffree);
            disk.inodes_used_share =
                (space.f_files > 0).then(|| used as f64 / space.f_files as f64);
        }
        Err(error) => unseen.push(Unseen {
            what: "the disk of the folder".to_owned(),
            why: format!("{}: {}", folder.display(), reason(&error.into())),
        }),
    }
    let mounts = file("/proc/self/mountinfo").unwrap_or_default();
    let full = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    if let Some(mount) = mount_of(&mounts, &full) {
        disk.filesystem = Some(mount.filesystem);
        disk.options = mount.options;
        disk.device = Some(mount.device);
        disk.mounted_at = Some(mount.point);
    }
    let queue = fs::metadata(folder)
        .ok()
        .and_then(|meta| queue_of(meta.dev()));
    if let Some(queue) = queue {
        disk.scheduler = file(format!("{queue}/scheduler")).and_then(|text| chosen(&text));
        disk.rotational = file(format!("{queue}/rotational")).map(|text| text == "1");
        let real = fs::canonicalize(&queue).ok();
        disk.queue = real.map(|path| path.display().to_string());
    }
    disk
}

/// Returns the folder in sysfs with the settings of a device's queue; a partition has the disk's.
fn queue_of(device: u64) -> Option<String> {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let block = format!("/sys/dev/block/{major}:{minor}");
    let places = [format!("{block}/queue"), format!("{block}/../queue")];
    places.into_iter().find(|place| Path::new(place).is_dir())
}

#[derive(Debug, PartialEq, Eq)]
struct Mount {
    point: String,
    filesystem: String,
    options: Vec<String>,
    device: String,
}

/// Returns the mount of a path: the longest mount point above the path, the last one of equals.
fn mount_of(mounts: &str, path: &Path) -> Option<Mount> {
    let mut best: Option<(usize, Mount)> = None;
    for line in mounts.lines() {
        let Some((before, after)) = line.split_once(" - ") else {
            continue;
        };
        let fields: Vec<&str> = before.split_whitespace().collect();
        let kind: Vec<&str> = after.split_whitespace().collect();
        let (Some(point), Some(options)) = (fields.get(4), fields.get(5)) else {
            continue;
        };
        let (&[filesystem, device, ..], true) = (kind.as_slice(), path.starts_with(point)) else {
            continue;
        };
        let more = kind.get(2).copied().unwrap_or_default();
        let all = options.split(',').chain(more.split(','));
        if best
            .as_ref()
            .is_none_or(|(length, _)| point.len() >= *length)
        {
            let mount = Mount {
                point: (*point).to_owned(),
                filesystem: filesystem.to_owned(),
                options: all.map(str::to_owned).collect(),
                device: device.to_owned(),
            };
            best = Some((point.len(), mount));
        }
    }
    best.map(|(_, mount)| mount)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_mount_holds_a_path() {
        let mounts = "1 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n\
                      2 1 0:5 / /srv rw,sync - nfs host:/x rw,hard\n";
        let mount = mount_of(mounts, Path::new("/srv/app")).expect("a mount");
        assert_eq!(mount.filesystem, "nfs");
        assert_eq!(mount.point, "/srv");
        assert_eq!(mount.options, ["rw", "sync", "rw", "hard"]);
        let root = mount_of(mounts, Path::new("/srvs")).expect("a mount");
        assert_eq!(root.device, "/dev/sda1");
    }
}
