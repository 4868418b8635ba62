//! The tests of what happens inside Ruby, on many Rubies and Pumas: `cargo xtask rubies [FOLDER]`.
//!
//! Debian's own Rubies come as packages, unpacked beside each other. What no Debian has is built
//! from a folder of
//! archives (`ruby-*.tar.*`, `puma-*.tar.*`, and sources of extensions such as `nio4r-*.tar.*`),
//! named on the command line or by
//! `HAKARU_RUBY_ARCHIVES`. What cannot be had is said by name and is a row of no figures; the
//! other rows run all the same.

mod build;
mod checks;
pub(crate) mod compilers;
mod names;
mod rows;
mod table;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::marked;
use crate::run::{Outcome, capture, root, target_folder};
use crate::test;
use table::Table;

pub(crate) const FOLDER_VARIABLE: &str = "HAKARU_RUBY_ARCHIVES";
const PAGE: &str = "docs/agent.md";
const MARK: &str = "rubies";

/// Flags as typed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    archives: Option<PathBuf>,
    /// Text in the names of the rows to run, or the name of one.
    only: String,
    /// Print the names of the rows and run nothing.
    list: bool,
    /// Put the rows into the table of the page.
    write: bool,
    /// Boots in the benchmark of the agent's cost; more make the interval narrower.
    boots: u32,
}

pub(crate) fn task(arguments: &[String]) -> Outcome<()> {
    let options = read(arguments)?;
    if options.list {
        let named = names::listed(options.archives.as_deref(), &options.only)?;
        if named.is_empty() {
            return Err(format!("no row has {:?} in its name", options.only));
        }
        named.iter().for_each(|name| println!("{name}"));
        return Ok(());
    }
    let (rows, missing) = rows::chosen(options.archives.as_deref(), &options.only)?;
    for name in &missing {
        eprintln!("rubies: cannot be had: {name}");
    }
    if rows.is_empty() {
        return Err(format!("no row has {:?} in its name", options.only));
    }
    checks::build()?;
    // Servers that run already, as under `cargo xtask with-servers`, do.
    let servers = match std::env::var_os("HAKARU_TEST_MARIADB_URL") {
        Some(_) => None,
        None => Some(test::start_servers()?),
    };
    let name_servers = |command: &mut Command| {
        if let Some(servers) = &servers {
            servers.name_in(command);
        }
    };
    let page = root().join(PAGE);
    let mut table = match options.only.as_str() {
        // Each row alone replaces its own line; all rows together are the whole table.
        "" => Table::new(&missing),
        _ => Table::read(&marked::read_from(&page, MARK)?),
    };
    let day = table::today()?;
    let mut failed = 0;
    for row in &rows {
        eprintln!("rubies: {}", row.name());
        let result = checks::run(row, options.boots, &name_servers)?;
        failed += usize::from(!result.held());
        println!("{}", table.put(row, &result, &day));
        if options.write {
            marked::write_into(&page, MARK, &table.text())?;
        }
    }
    println!("\n{}", table.text());
    match failed {
        0 => Ok(()),
        failed => Err(format!("{failed} of {} rows failed a check", rows.len())),
    }
}

fn read(arguments: &[String]) -> Outcome<Options> {
    let mut options = Options {
        archives: std::env::var_os(FOLDER_VARIABLE).map(PathBuf::from),
        boots: 8,
        ..Options::default()
    };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--write" => options.write = true,
            "--list" => options.list = true,
            "--only" => options.only.clone_from(value()?),
            "--boots" => {
                let count = value()?;
                options.boots = count
                    .parse()
                    .ok()
                    .filter(|count: &u32| *count > 0 && count.is_multiple_of(2))
                    .ok_or(format!("--boots takes an even number, not {count:?}"))?;
            }
            flag if flag.starts_with('-') => return Err(format!("rubies knows no {flag:?}")),
            folder if Path::new(folder).is_dir() => options.archives = Some(folder.into()),
            other => return Err(format!("{other} is no folder of archives")),
        }
    }
    Ok(options)
}

/// Programs of the Rubies unpacked or built by earlier calls, from the oldest to the newest: one of
/// each version.
pub(crate) fn programs() -> Vec<String> {
    let entries = std::fs::read_dir(place()).into_iter().flatten().flatten();
    let mut found: Vec<(Vec<u32>, bool, String)> = entries
        .map(|entry| entry.path())
        .filter_map(|folder| {
            let ruby = folder.join("bin/ruby");
            let script = ["-e", "print RUBY_VERSION"];
            let version = capture(Command::new(&ruby).args(script).env_remove("RUBYOPT")).ok()?;
            // Of two with one version the one built here, which has the compilers.
            let is_built = folder.file_name()?.to_str()?.starts_with("ruby-");
            Some((
                build::numbers(&version),
                !is_built,
                ruby.display().to_string(),
            ))
        })
        .collect();
    found.sort();
    found.dedup_by(|a, b| a.0 == b.0);
    found.retain(|(version, ..)| *version >= build::numbers("3.3"));
    found.into_iter().map(|(_, _, program)| program).collect()
}

/// Where Rubies are unpacked and built.
fn place() -> PathBuf {
    target_folder().join("rubies")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read_and_unknown_ones_refused() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let options = read(&words("--only 3.3 --write --boots 2")).unwrap();
        assert_eq!(
            (options.only.as_str(), options.write, options.boots),
            ("3.3", true, 2)
        );
        for wrong in ["--boots 3", "--only", "--all", "/no/such/folder"] {
            assert!(read(&words(wrong)).is_err(), "{wrong}");
        }
    }
}
