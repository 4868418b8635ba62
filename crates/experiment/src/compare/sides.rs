//! Sides of a comparison: two apps ready to be started.

use std::path::{Path, PathBuf};

use crate::jemalloc;
use crate::lifecycle::Subject;
use crate::observer::Context;
use crate::settings::Settings;
use crate::workspace::copies::{self, Copied};
use ending::{Cause, Failure};
use words::text;

/// Which side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// What is compared with.
    A,
    /// What is compared.
    B,
}

/// One side, ready to be started.
pub struct Side {
    /// Which.
    pub label: Label,
    /// Difference from the other side, for people.
    pub name: String,
    /// Settings of the side: start of the app, and load.
    pub settings: Settings,
    /// Library without which the side is not what the name says.
    pub library: Option<PathBuf>,
    /// Folder of the app, when other than the project; removed on drop.
    pub(crate) copied: Option<Copied>,
}

/// Both sides, and the databases and folders shared by both.
pub struct Sides {
    /// What is compared with.
    pub a: Side,
    /// What is compared.
    pub b: Side,
    /// Whether both are the same on purpose.
    pub is_noise: bool,
    /// Whether both stay up and only the load moves.
    pub is_live: bool,
}

/// Patches, revisions and builds requiring folders other than the app's own.
#[derive(Clone, Debug, Default)]
pub struct Variants {
    /// The git revision of A.
    pub revision_a: Option<String>,
    /// The git revision of B.
    pub revision_b: Option<String>,
    /// Shell line run once in each worktree.
    pub build: Option<String>,
    /// A patch for B.
    pub patch_b: Option<PathBuf>,
}

impl Label {
    /// Returns the index of the side: 0 or 1.
    pub fn index(self) -> usize {
        self as usize
    }
}

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Label::A => "A",
            Label::B => "B",
        })
    }
}

impl Sides {
    /// Makes worktrees and copies.
    ///
    /// # Errors
    /// One of them cannot be made, or the user's interruption.
    pub fn make(mut self, variants: &Variants, context: &Context) -> Result<Sides, Failure> {
        let build = variants.build.as_deref();
        let revisions = [&variants.revision_a, &variants.revision_b];
        for (side, revision) in [&mut self.a, &mut self.b].into_iter().zip(revisions) {
            if let Some(revision) = revision {
                let worktree = copies::worktree(&mut side.settings, revision, build, context)?;
                side.copied = Some(worktree);
            }
        }
        if let Some(patch) = &variants.patch_b {
            self.b.patch(patch, context)?;
        }
        self.bring_together(context)?;
        Ok(self)
    }

    /// Copies the folder of a side lying on another file system than the other side's: the
    /// temporary folder is often in memory, where logs and SQLite files cost nothing.
    fn bring_together(&mut self, context: &Context) -> Result<(), Failure> {
        let is_moved = [self.a.copied.is_some(), self.b.copied.is_some()];
        let stays = match is_moved {
            [false, true] => &mut self.a,
            [true, false] => &mut self.b,
            _ => return Ok(()),
        };
        if stays.settings.start.is_none() {
            return Ok(());
        }
        let temporary = std::env::temp_dir();
        if !copies::is_one_file_system(stays.settings.directory(), &temporary) {
            context.notice(text!(
                "copying the app's folder for {label} too: the other side's is on another file system",
                label = stays.label.to_string()
            ));
            stays.copied = Some(copies::folder(&mut stays.settings, context)?);
        }
        Ok(())
    }

    pub(crate) fn side(&self, label: Label) -> &Side {
        match label {
            Label::A => &self.a,
            Label::B => &self.b,
        }
    }
}

impl Side {
    /// Returns a side with the app in the folder of `settings`.
    pub fn new(label: Label, name: String, settings: Settings) -> Side {
        Side {
            label,
            name,
            settings,
            library: None,
            copied: None,
        }
    }

    /// Refuses an app running without the side's library: the linker only warns.
    ///
    /// # Errors
    /// [`ending::Cause::TargetFailed`]; a process that cannot be looked into is no reason.
    pub(crate) fn check_library(&self, pids: &[u32]) -> Result<(), Failure> {
        let Some(library) = &self.library else {
            return Ok(());
        };
        match jemalloc::is_loaded(pids, library) {
            Some(false) => Err(Failure::new(
                Cause::TargetFailed,
                format!(
                    "{} ({}) runs without {}: look for `ld.so` in its log, and for LD_PRELOAD in the script that starts it",
                    self.label,
                    self.name,
                    library.display()
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Returns the side as the subject of a measurement.
    pub(crate) fn subject(&self) -> Subject<'_> {
        let log = format!("compare-{}.log", self.label).to_lowercase();
        Subject {
            settings: &self.settings,
            name: Some(format!("{} ({})", self.label, self.name)),
            log: self.settings.log_file(&log),
            folders: None,
        }
    }

    /// Applies a patch to a copy of the side's folder, or to an existing worktree.
    fn patch(&mut self, patch: &Path, context: &Context) -> Result<(), Failure> {
        let below = copies::below_top(self.settings.directory());
        if self.copied.is_none() {
            self.copied = Some(copies::folder(&mut self.settings, context)?);
        }
        copies::apply(self.settings.directory(), patch, &below)
    }
}
