//! The memory limit of a database server on the same machine: the one of the server's control
//! group, which is often another than the app's.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use doctor::snapshot::DatabaseKind;

use crate::collect::group;

/// Returns the limit of the servers of a kind, bytes; `None` without one, and where several servers
/// have different ones, since no process says which server has the connection.
pub(super) fn memory(kind: DatabaseKind) -> Option<u64> {
    let names: &[&str] = match kind {
        DatabaseKind::Mysql => &["mysqld"],
        DatabaseKind::Mariadb => &["mariadbd", "mysqld"],
        DatabaseKind::Postgres => &["postgres"],
        DatabaseKind::Sqlite => return None,
    };
    let is_server = |process: &Path| {
        let name = fs::read_to_string(process.join("comm"));
        name.is_ok_and(|name| names.contains(&name.trim()))
    };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let servers = entries
        .map(|entry| entry.path())
        .filter(|path| is_server(path));
    // A server of many processes has them in one group.
    let mut limits = BTreeMap::new();
    for process in servers {
        let own = fs::read_to_string(process.join("cgroup")).unwrap_or_default();
        limits.entry(own).or_insert_with(|| {
            let at = process.display().to_string();
            group::read(&at, &mut Vec::new()).and_then(|group| group.memory_max_bytes)
        });
    }
    agreed(&limits.into_values().collect::<Vec<_>>())
}

/// The one value of all.
fn agreed(limits: &[Option<u64>]) -> Option<u64> {
    let first = *limits.first()?;
    first.filter(|_| limits.iter().all(|limit| *limit == first))
}

#[cfg(test)]
mod tests {
    use super::agreed;

    #[test]
    fn servers_with_different_limits_have_none_that_is_known() {
        assert_eq!(agreed(&[Some(5), Some(5)]), Some(5));
        assert_eq!(agreed(&[Some(5), None]), None);
        assert_eq!(agreed(&[None]), None);
        assert_eq!(agreed(&[]), None);
    }
}
