//! When a built test program may run: integration tests start the binary of the package.

use std::path::{Path, PathBuf};

use super::programs::{Artifact, Program};

/// Test programs waiting for the binary of the package. Cargo links both in any order.
#[derive(Default)]
pub(super) struct Arrivals {
    waiting: Vec<Program>,
    /// Folders of the packages whose binary is built.
    built: Vec<PathBuf>,
}

impl Arrivals {
    /// Returns the programs ready to run as of an artifact.
    pub(super) fn add(
        &mut self,
        artifact: Artifact,
        has_binary: impl Fn(&Path) -> bool,
    ) -> Vec<Program> {
        match artifact {
            Artifact::Binary { folder } => {
                let (ready, waiting) = std::mem::take(&mut self.waiting)
                    .into_iter()
                    .partition(|program| program.folder == folder);
                self.waiting = waiting;
                self.built.push(folder);
                ready
            }
            Artifact::Test(program) => {
                let waits = program.source.starts_with("tests/")
                    && has_binary(&program.folder)
                    && !self.built.contains(&program.folder);
                if waits {
                    self.waiting.push(program);
                    return Vec::new();
                }
                vec![program]
            }
        }
    }

    /// Returns the programs whose binary never came.
    pub(super) fn rest(self) -> Vec<Program> {
        self.waiting
    }
}

/// Whether the package in the folder has a binary of its own.
pub(super) fn has_binary(folder: &Path) -> bool {
    folder.join("src/main.rs").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(programs: &[Program]) -> Vec<&str> {
        programs
            .iter()
            .map(|program| program.source.as_str())
            .collect()
    }

    #[test]
    fn integration_tests_wait_for_the_binary() {
        let mut arrivals = Arrivals::default();
        let mut add = |artifact| {
            let ready = arrivals.add(artifact, |folder| folder == Path::new("/r/hakaru"));
            sources(&ready)
                .into_iter()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let test = |folder: &str, source: &str| {
            let mut program = Program::named("p", source);
            program.folder = PathBuf::from(folder);
            Artifact::Test(program)
        };
        assert_eq!(add(test("/r/hakaru", "tests/a.rs")), [""; 0]);
        assert_eq!(add(test("/r/hakaru", "src/main.rs")), ["src/main.rs"]);
        assert_eq!(add(test("/r/stats", "tests/b.rs")), ["tests/b.rs"]);
        let folder = PathBuf::from("/r/other");
        assert_eq!(add(Artifact::Binary { folder }), [""; 0]);
        let folder = PathBuf::from("/r/hakaru");
        assert_eq!(add(Artifact::Binary { folder }), ["tests/a.rs"]);
        assert_eq!(add(test("/r/hakaru", "tests/c.rs")), ["tests/c.rs"]);
        assert_eq!(sources(&arrivals.rest()), [""; 0]);
    }
}
