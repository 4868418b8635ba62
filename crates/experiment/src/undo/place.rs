//! Where a change of a database was made, and whether an address leads there.

use std::path::Path;

use schema_db::scratch;

const NO_ADDRESS: &str = "where the database is, is not known; set `database` under [target]";

/// Returns the address of the database at `place`; `None` for a file, which is gone. `address` is
/// what the settings say now; an empty place is any.
///
/// # Errors
/// The settings name no database, or another one, in which nothing may be changed.
pub(super) fn address(place: &str, address: Option<&str>) -> Result<Option<String>, String> {
    if let Some(path) = scratch::sqlite_path(place) {
        let path = Path::new(path);
        return match (path.is_file(), path.parent().is_some_and(Path::is_dir)) {
            // A file needs no password, so its place is its address.
            (true, _) => Ok(Some(place.to_owned())),
            (false, true) => Ok(None),
            (false, false) => Err(format!("{} is not there", path.display())),
        };
    }
    let address = address.ok_or_else(|| match place {
        "" => NO_ADDRESS.to_owned(),
        place => format!("it was made in {place}, and {NO_ADDRESS} to its address"),
    })?;
    let here = scratch::place_of(address).map_err(|error| error.message)?;
    if place.is_empty() || here == place {
        return Ok(Some(address.to_owned()));
    }
    Err(format!(
        "it was made in {place}, and the settings name {here}, where nothing was touched; \
         set `database` under [target] to the address of the former for one run"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_looked_for_where_it_was_made_and_nowhere_else() {
        let place = "mysql:127.0.0.1:3306/shop";
        let own = "mysql2://other:secret@127.0.0.1/shop";
        assert_eq!(address(place, Some(own)), Ok(Some(own.to_owned())));
        for other in [
            "mysql2://root@127.0.0.1/live",
            "mysql2://root@127.0.0.1:3307/shop",
            "mysql2://root@127.0.0.1/shop?socket=/run/mysqld.sock",
            "postgres://root@127.0.0.1:3306/shop",
            "sqlite:/nowhere/shop",
        ] {
            let why = address(place, Some(other)).expect_err(other);
            assert!(why.contains(place) && !why.contains("root"), "{why}");
        }
        let why = address(place, None).expect_err("no address");
        assert!(why.contains(place), "{why}");
        assert_eq!(address("", Some(own)), Ok(Some(own.to_owned())));
    }

    #[test]
    fn a_file_is_found_whatever_the_settings_say() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.db");
        let place = format!("sqlite:{}", file.display());
        assert_eq!(address(&place, None), Ok(None), "it is gone");
        assert!(!file.exists(), "looking makes no file");
        std::fs::write(&file, "").expect("a file");
        let other = Some("mysql://root@127.0.0.1/live");
        assert_eq!(address(&place, other), Ok(Some(place.clone())));
        assert!(address("sqlite:/no such folder/a.db", None).is_err());
    }
}
