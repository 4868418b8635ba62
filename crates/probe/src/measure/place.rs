//! Measures the disk of a server's data, if another than the app's.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use doctor::snapshot::{Database, DatabaseKind, DiskCosts};

use super::client::AppRuby;
use super::{io, reads, sqlite};

/// Programs changing into the folder of the data when started.
const SERVERS: [&str; 3] = ["mariadbd", "mysqld", "postgres"];

/// Facts about the disk of a database.
pub(super) struct Known {
    /// Costs of another disk than the app's; `None` for the same disk or an unknown one.
    pub(super) costs: Option<DiskCosts>,
    /// The missing fact, and why.
    pub(super) unseen: Option<String>,
}

/// Compares the disk of a database with the disk of the app's folder, and measures another one.
pub(super) fn disk(database: &Database, folder: &Path, ruby: AppRuby<'_>) -> Known {
    let same = |unseen| Known {
        costs: None,
        unseen,
    };
    if !database.is_local || is_memory(database) {
        return same(None);
    }
    let setting = setting(database.kind);
    let Some(said) = database.values.get(setting) else {
        let why = format!("{setting}: permission denied; the disk of the app's folder is measured");
        return same(Some(why));
    };
    let said = match database.kind {
        DatabaseKind::Sqlite => Path::new(said).parent().unwrap_or(Path::new("/")),
        _ => Path::new(said),
    };
    let Some(data) = of_process(said).or_else(|| said.exists().then(|| said.to_owned())) else {
        let place = said.display();
        let why = format!("{place}: it is not there; the disk of the app's folder is measured");
        return same(Some(why));
    };
    let device = |path: &Path| fs::metadata(path).map(|data| data.dev()).ok();
    if device(&data) == device(folder) {
        return same(None);
    }
    let costs = match database.kind {
        DatabaseKind::Sqlite => commits(&data),
        _ => measured(&data, ruby),
    };
    match costs {
        Ok(costs) => Known {
            costs: Some(costs),
            unseen: None,
        },
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Known {
            costs: Some(DiskCosts::default()),
            unseen: Some(format!(
                "{}: permission denied; it is on another disk than the app",
                said.display()
            )),
        },
        Err(error) => Known {
            costs: Some(DiskCosts::default()),
            unseen: Some(format!("{}: {error}", said.display())),
        },
    }
}

/// Name of the value with the place of the data.
fn setting(kind: DatabaseKind) -> &'static str {
    match kind {
        DatabaseKind::Postgres => "data_directory",
        DatabaseKind::Sqlite => "(file)",
        DatabaseKind::Mysql | DatabaseKind::Mariadb => "datadir",
    }
}

/// Whether the database is a SQLite without a file.
fn is_memory(database: &Database) -> bool {
    let file = database.values.get(setting(database.kind));
    database.kind == DatabaseKind::Sqlite && file.is_none_or(String::is_empty)
}

/// Returns the folder as seen from Hakaru's process: a server may have another root.
fn of_process(said: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir("/proc").ok()?.flatten();
    let mut processes = entries.map(|entry| entry.path()).filter(|process| {
        fs::read_to_string(process.join("comm")).is_ok_and(|name| SERVERS.contains(&name.trim()))
    });
    processes.find_map(|process| {
        let inside = said.strip_prefix("/").ok()?;
        let data = process.join("root").join(inside);
        let (named, stands) = (
            fs::metadata(&data).ok()?,
            fs::metadata(process.join("cwd")).ok()?,
        );
        let is_same = (named.dev(), named.ino()) == (stands.dev(), stands.ino());
        is_same.then_some(data)
    })
}

fn measured(data: &Path, ruby: AppRuby<'_>) -> std::io::Result<DiskCosts> {
    let (sync, _) = io::sync(data)?;
    // Where a file system has no reads past its cache, the rest holds all the same.
    let read = reads::File::make(data).and_then(|file| file.uncached());
    Ok(DiskCosts {
        sync_ns: Some(sync),
        append_sync_ns: io::append_sync(data, ruby).ok(),
        page_read_ns: read.ok(),
        ..DiskCosts::default()
    })
}

/// Measures commits of SQLite in the folder of a file: those of the file itself would change it.
fn commits(folder: &Path) -> std::io::Result<DiskCosts> {
    let (rollback, wal) = sqlite::commits(folder)?;
    Ok(DiskCosts {
        sqlite_rollback_ns: Some(rollback),
        sqlite_wal_ns: Some(wal),
        ..DiskCosts::default()
    })
}
