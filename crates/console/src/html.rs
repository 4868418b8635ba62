//! Files of pages for a browser.

use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use ending::{Cause, Failure};
use words::text;

/// Why a page is not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HtmlError {
    /// The page and the JSON would both go to standard output.
    TwoDocuments,
    /// The file cannot be written.
    Unwritable {
        /// What failed, and what to try next.
        message: String,
        /// Whether the disk or a quota is full.
        is_full: bool,
    },
}

impl From<HtmlError> for Failure {
    fn from(error: HtmlError) -> Failure {
        let cause = match &error {
            HtmlError::TwoDocuments => Cause::Usage,
            HtmlError::Unwritable { is_full: true, .. } => Cause::NotKept,
            HtmlError::Unwritable { is_full: false, .. } => Cause::Failed,
        };
        Failure::new(cause, error)
    }
}

/// Writes a page readable by the owner alone: the page holds contents of responses.
///
/// `-` is standard output.
///
/// # Errors
/// The file cannot be written; half a page is removed.
pub fn write_html(path: &Path, page: &str) -> Result<(), HtmlError> {
    if is_stdout(path) {
        crate::data(page);
        return Ok(());
    }
    let written = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(page.as_bytes()));
    if let Err(error) = written {
        // Half a page, or none, is worse than no file.
        if path.is_file() {
            let _ = std::fs::remove_file(path);
        }
        return Err(unwritable(path, &error));
    }
    crate::notice(text!("wrote {path}", path = path.display().to_string()));
    Ok(())
}

/// Whether a page for a browser goes to standard output, where nothing else may stand then.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Refuses two documents on one standard output.
///
/// # Errors
/// [`HtmlError::TwoDocuments`].
pub fn check_html(html: Option<&Path>, json: bool) -> Result<(), HtmlError> {
    match html.is_some_and(is_stdout) && json {
        true => Err(HtmlError::TwoDocuments),
        false => Ok(()),
    }
}

/// Checks whether a file can be written, before the measurement for the file begins. Leaves the
/// folder as it was: a measurement that fails has no page, and an empty file would look like one.
///
/// # Errors
/// The file cannot be opened for writing.
pub fn check_writable(path: &Path) -> Result<(), HtmlError> {
    if is_stdout(path) {
        return Ok(());
    }
    let mut options = OpenOptions::new();
    options.append(true).mode(0o600);
    let tried = match options.clone().create_new(true).open(path) {
        Ok(_) => std::fs::remove_file(path),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            options.open(path).map(drop)
        }
        Err(error) => Err(error),
    };
    tried.map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> HtmlError {
    HtmlError::Unwritable {
        message: format!(
            "cannot write {}: {error}; name a file in a folder that exists and has room",
            path.display()
        ),
        is_full: matches!(
            error.kind(),
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded
        ),
    }
}

impl fmt::Display for HtmlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HtmlError::TwoDocuments => {
                "--html - and --json both write to standard output; give one of them, or --html FILE"
            }
            HtmlError::Unwritable { message, .. } => message,
        })
    }
}

impl std::error::Error for HtmlError {}
