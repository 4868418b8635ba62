//! Processes of this host by their name.

use std::fs;

/// Ids of the processes whose command name (`/proc/<pid>/comm`) is one of `names`.
pub fn processes_named(names: &[&str]) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            fs::read_to_string(format!("/proc/{pid}/comm"))
                .is_ok_and(|name| names.contains(&name.trim_end()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::processes_named;

    #[test]
    fn this_process_is_found_by_its_name() {
        let own = fs_name();
        assert!(processes_named(&[&own]).contains(&std::process::id()));
        assert!(processes_named(&["no process has this name"]).is_empty());
    }

    fn fs_name() -> String {
        std::fs::read_to_string("/proc/self/comm")
            .expect("readable")
            .trim_end()
            .to_owned()
    }
}
