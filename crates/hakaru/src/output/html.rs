//! Files of pages for a browser.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use words::text;

use crate::exit::{Exit, Failure};
use crate::output;

/// Writes a page readable by the owner alone: the page holds contents of responses.
///
/// `-` is standard output.
pub(crate) fn write_html(path: &Path, page: &str) -> Result<(), Failure> {
    if is_stdout(path) {
        output::data(page);
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
    output::notice(text!("wrote {path}", path = path.display().to_string()));
    Ok(())
}

/// Whether a page for a browser goes to standard output, where nothing else may stand then.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Refuses two documents on one standard output.
pub(crate) fn check_html(html: Option<&Path>, json: bool) -> Result<(), Failure> {
    match html.is_some_and(is_stdout) && json {
        true => Err(Failure::new(
            Exit::Usage,
            "--html - and --json both write to standard output; give one of them, or --html FILE",
        )),
        false => Ok(()),
    }
}

/// Checks that a file can be written, before the measurement for it begins.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failure> {
    if is_stdout(path) {
        return Ok(());
    }
    let mut options = OpenOptions::new();
    let opened = options.append(true).create(true).mode(0o600).open(path);
    match opened {
        Ok(_) => Ok(()),
        Err(error) => Err(unwritable(path, &error)),
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!(
        "cannot write {}: {error}; name a file in a folder that exists and has room",
        path.display()
    );
    let is_full = matches!(
        error.kind(),
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded
    );
    Failure::new(if is_full { Exit::NotKept } else { Exit::Failed }, message)
}
