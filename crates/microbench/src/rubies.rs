//! Finds the Rubies on the machine: by path, in PATH, and in the folders of version managers.

use std::path::{Path, PathBuf};

use crate::executable::Typed;

/// A version manager, or a folder in which Rubies lie side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manager {
    /// `~/.rbenv/versions`.
    Rbenv,
    /// `~/.rvm/rubies`.
    Rvm,
    /// `/opt/rubies` and `~/.rubies`.
    Chruby,
    /// `~/.local/share/mise/installs/ruby`.
    Mise,
    /// `~/.asdf/installs/ruby`.
    Asdf,
}

impl Manager {
    /// All version managers, in search order.
    pub const ALL: [Manager; 5] = [
        Manager::Rbenv,
        Manager::Mise,
        Manager::Asdf,
        Manager::Chruby,
        Manager::Rvm,
    ];

    /// The name, as in flags.
    pub fn name(self) -> &'static str {
        match self {
            Manager::Rbenv => "rbenv",
            Manager::Rvm => "rvm",
            Manager::Chruby => "chruby",
            Manager::Mise => "mise",
            Manager::Asdf => "asdf",
        }
    }

    fn folders(self, variable: &dyn Fn(&str) -> Option<String>) -> Vec<PathBuf> {
        let home = PathBuf::from(variable("HOME").unwrap_or_default());
        let root = |name: &str, usual: &str, below: &str| {
            let root = variable(name).map_or_else(|| home.join(usual), PathBuf::from);
            root.join(below)
        };
        match self {
            Manager::Rbenv => vec![root("RBENV_ROOT", ".rbenv", "versions")],
            Manager::Rvm => vec![root("rvm_path", ".rvm", "rubies")],
            Manager::Chruby => vec![home.join(".rubies"), PathBuf::from("/opt/rubies")],
            Manager::Mise => vec![root("MISE_DATA_DIR", ".local/share/mise", "installs/ruby")],
            Manager::Asdf => vec![root("ASDF_DATA_DIR", ".asdf", "installs/ruby")],
        }
    }
}

/// Returns the path of the program of a contender. `variable` reads the environment.
///
/// A path is taken from the current folder on; a name is looked for in PATH, then as a version of
/// Ruby, then, as benchmark_driver does, as a file of the current folder.
pub fn find(typed: &Typed, variable: &dyn Fn(&str) -> Option<String>) -> Result<PathBuf, String> {
    let program = &typed.program;
    if program.contains('/') {
        let path = std::path::absolute(program).map_err(|error| format!("{program}: {error}"))?;
        return is_program(&path)
            .then_some(path)
            .ok_or_else(|| format!("{program} is not a program that can be run"));
    }
    let in_path = variable("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&in_path).map(|folder| folder.join(program));
    let found = in_path.into_iter().find(|path| is_program(path));
    let found = found.or_else(|| version(program, &Manager::ALL, variable));
    let found = found.or_else(|| {
        std::path::absolute(program)
            .ok()
            .filter(|path| is_program(path))
    });
    found.ok_or_else(|| {
        let known = installed(&Manager::ALL, variable);
        let known: Vec<String> = known.into_iter().map(|(name, _)| name).collect();
        let known = if known.is_empty() {
            "no version manager has any".to_owned()
        } else {
            format!("version managers have {}", known.join(", "))
        };
        format!("{program} is not in PATH, and not a version of Ruby here ({known}); give a path")
    })
}

/// The newest Ruby whose version begins with what is asked, such as `3.3`, `ruby-3.3` or `3.3.8`.
pub fn version(
    asked: &str,
    managers: &[Manager],
    variable: &dyn Fn(&str) -> Option<String>,
) -> Option<PathBuf> {
    let wanted = asked.strip_prefix("ruby-").unwrap_or(asked);
    let all = installed(managers, variable)
        .into_iter()
        .filter(|(name, _)| {
            let name = name.strip_prefix("ruby-").unwrap_or(name);
            name.strip_prefix(wanted)
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
        });
    all.max_by_key(|(name, _)| numbers(name))
        .map(|(_, path)| path)
}

/// The numbers of a version, to be compared.
pub fn numbers(version: &str) -> Vec<u64> {
    let parts = version.split(|c: char| !c.is_ascii_digit());
    parts.filter_map(|part| part.parse().ok()).collect()
}

fn installed(
    managers: &[Manager],
    variable: &dyn Fn(&str) -> Option<String>,
) -> Vec<(String, PathBuf)> {
    let folders = managers
        .iter()
        .flat_map(|manager| manager.folders(variable));
    let entries = folders
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .flatten();
    let mut found: Vec<(String, PathBuf)> = entries
        .map(|entry| {
            (
                entry.file_name().to_string_lossy().into_owned(),
                entry.path().join("bin/ruby"),
            )
        })
        .filter(|(_, path)| is_program(path))
        .collect();
    found.sort();
    found
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_where_managers_keep_them() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().expect("a folder");
        for ruby in [
            ".rbenv/versions/3.3.9",
            ".rbenv/versions/3.3.10",
            ".asdf/installs/ruby/3.30.1",
            ".rubies/ruby-2.7.8",
        ] {
            let folder = home.path().join(ruby).join("bin");
            std::fs::create_dir_all(&folder).expect("a folder");
            let path = folder.join("ruby");
            std::fs::write(&path, "#!/bin/sh\n").expect("a file");
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("permissions");
        }
        let variable = |name: &str| (name == "HOME").then(|| home.path().display().to_string());
        let check = |program: &str, expected: Option<&str>| {
            let typed = Typed {
                name: String::new(),
                program: program.to_owned(),
                arguments: Vec::new(),
            };
            let found = find(&typed, &variable).ok();
            let expected = expected.map(|rest| home.path().join(rest).join("bin/ruby"));
            assert_eq!(found, expected, "{program}");
        };
        check("3.3", Some(".rbenv/versions/3.3.10"));
        check("ruby-3.3.9", Some(".rbenv/versions/3.3.9"));
        check("2.7.8", Some(".rubies/ruby-2.7.8"));
        check("9.9", None);
        let typed = Typed {
            name: String::new(),
            program: "9.9".to_owned(),
            arguments: Vec::new(),
        };
        let error = find(&typed, &variable).expect_err("none");
        assert!(error.contains("3.3.10"), "{error}");
    }
}
