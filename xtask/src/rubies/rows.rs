//! The tested Rubies, Pumas and modes, and the programs of each as found by tests in `PATH`.

use std::path::{Path, PathBuf};

use super::build::{self, Built};
use super::place;
use crate::run::Outcome;
use crate::setup::{self, matrix};

/// How Ruby and Puma are started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mode {
    pub(super) name: &'static str,
    /// Of Ruby.
    ruby: &'static str,
    /// Of Puma, where a test does not ask for a cluster itself.
    puma: &'static str,
    /// `NAME=value` for both.
    env: &'static str,
}

const SINGLE: Mode = Mode {
    name: "single",
    ruby: "",
    puma: "",
    env: "",
};
const CLUSTER: Mode = Mode {
    name: "cluster",
    puma: "-w 1",
    ..SINGLE
};
const MANY_TO_MANY: Mode = Mode {
    name: "RUBY_MN_THREADS=1",
    env: "RUBY_MN_THREADS=1",
    ..SINGLE
};
const YJIT: Mode = Mode {
    name: "YJIT",
    ruby: "--yjit",
    ..SINGLE
};
const YJIT_CLUSTER: Mode = Mode {
    name: "YJIT, cluster",
    puma: "-w 1",
    ..YJIT
};
const ZJIT: Mode = Mode {
    name: "ZJIT",
    ruby: "--zjit",
    ..SINGLE
};

/// One Ruby with one Puma in one mode.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) ruby: String,
    pub(super) puma: String,
    pub(super) mode: Mode,
    /// Whether the Ruby has events of threads waiting for the GVL (3.2 and later).
    pub(super) has_events: bool,
    /// Whether the driver with which the parts of a handler are tested was to be had.
    pub(super) has_mysql2: bool,
    /// The script setting the libraries and running Ruby.
    ruby_program: PathBuf,
    puma_program: PathBuf,
}

impl Row {
    pub(super) fn name(&self) -> String {
        format!("{} × {} {}", self.ruby, self.puma, self.mode.name)
    }

    /// Writes `ruby` and `puma` of the row into a folder and returns the folder.
    pub(super) fn write_programs(&self) -> Outcome<PathBuf> {
        let name: String = self
            .name()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let folder = place().join("rows").join(name);
        let ruby = ruby_script(&self.ruby_program, &self.mode);
        setup::write_script(&folder.join("ruby"), &ruby)?;
        let puma = puma_script(&folder.join("ruby"), &self.puma_program, &self.mode);
        setup::write_script(&folder.join("puma"), &puma)?;
        Ok(folder)
    }
}

fn ruby_script(program: &Path, mode: &Mode) -> String {
    let export = match mode.env {
        "" => String::new(),
        pair => format!("export {pair}\n"),
    };
    let program = program.display();
    format!("#!/bin/sh\n{export}exec '{program}' {} \"$@\"\n", mode.ruby)
}

fn puma_script(ruby: &Path, puma: &Path, mode: &Mode) -> String {
    let (ruby, puma) = (ruby.display(), puma.display());
    format!(
        "#!/bin/sh\ncase \" $* \" in *' -w '*) ;; *) set -- {} \"$@\" ;; esac\nexec '{ruby}' '{puma}' \"$@\"\n",
        mode.puma
    )
}

/// Returns all runnable rows, and the names of missing ones.
pub(super) fn all(archives: Option<&Path>) -> Outcome<(Vec<Row>, Vec<String>)> {
    let (mut rows, mut missing) = (
        Vec::new(),
        vec![
            "Ruby 3.2 (in no release of Debian's mirror)".to_owned(),
            "Falcon (in no release of Debian)".to_owned(),
        ],
    );
    for unpacked in matrix::unpack()? {
        match unpacked {
            Ok(found) => rows.extend(of_packages(&found)),
            Err(name) => missing.push(name),
        }
    }
    let Some(archives) = archives else {
        missing.push("Ruby 4.0 and Puma 7.2 (name a folder of archives)".to_owned());
        return Ok((rows, missing));
    };
    for built in build::all(archives)? {
        match built {
            Ok(found) => rows.extend(of_source(&found)),
            Err(name) => missing.push(name),
        }
    }
    Ok((rows, missing))
}

fn of_packages(found: &matrix::Unpacked) -> Vec<Row> {
    let has_events = !found.ruby.starts_with("3.1");
    let modes = match has_events {
        true => &[SINGLE, CLUSTER, MANY_TO_MANY][..],
        false => &[SINGLE, CLUSTER][..],
    };
    let row = |mode: &Mode| Row {
        ruby: found.ruby.clone(),
        puma: found.puma.clone(),
        mode: *mode,
        has_events,
        has_mysql2: true,
        ruby_program: found.ruby_program.clone(),
        puma_program: found.puma_program.clone(),
    };
    modes.iter().map(row).collect()
}

/// The newest Puma in all modes, the others in one.
fn of_source(built: &Built) -> Vec<Row> {
    let mut rows = Vec::new();
    for (index, puma) in built.pumas.iter().enumerate() {
        let is_newest = index + 1 == built.pumas.len();
        let modes = match is_newest {
            true => &[SINGLE, CLUSTER, YJIT, YJIT_CLUSTER, ZJIT, MANY_TO_MANY][..],
            false => &[SINGLE][..],
        };
        rows.extend(
            modes
                .iter()
                .filter(|mode| built.knows(mode.ruby))
                .map(|mode| Row {
                    ruby: built.version.clone(),
                    puma: puma.version.clone(),
                    mode: *mode,
                    has_events: true,
                    has_mysql2: built.has_mysql2,
                    ruby_program: puma.ruby.clone(),
                    puma_program: puma.program.clone(),
                }),
        );
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_that_a_test_asks_for_is_left_as_it_is() {
        let script = puma_script(Path::new("/r"), Path::new("/p"), &YJIT_CLUSTER);
        assert!(script.contains("*' -w '*) ;;"), "{script}");
        assert!(script.contains("set -- -w 1 \"$@\""), "{script}");
        assert!(script.ends_with("exec '/r' '/p' \"$@\"\n"), "{script}");
    }

    #[test]
    fn a_mode_reaches_ruby_by_flag_or_by_variable() {
        let ruby = Path::new("/r");
        assert!(ruby_script(ruby, &ZJIT).contains("exec '/r' --zjit"));
        assert!(ruby_script(ruby, &MANY_TO_MANY).contains("export RUBY_MN_THREADS=1\n"));
    }
}
