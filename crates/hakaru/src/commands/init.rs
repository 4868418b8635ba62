//! `hakaru init`: reads an app's files, writes `hakaru.toml` and a first flow, and prints the
//! findings.
//!
//! It starts nothing of the app; what it cannot know it says in a comment of the file. Files that
//! are there are never overwritten. Where production's database is not on this machine it writes
//! the files all the same, with a local database as the alternative, and ends as `hakaru run`
//! would.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

use figures::text::left;
use starter::prove::ProveError;
use starter::{look, write};
use words::{Phrase, Text, phrase, text};

use crate::cli::InitArgs;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::settings::config::FILE_NAME;
use console::language;

/// Columns of the words before what was found, written and comes next.
const HEAD_COLUMNS: usize = 7;

/// The first flow, relative to the project.
const FLOW: &str = "flows/first.hurl";

/// Writes both files into the folder, or says why not.
pub(crate) fn init(args: &InitArgs) -> Result<Exit, Failure> {
    let folder = args.folder.as_deref().unwrap_or(Path::new("."));
    if folder.join(FILE_NAME).exists() {
        return Err(there_already(&folder.join(FILE_NAME)));
    }
    let app = look::look(folder).ok_or_else(|| {
        Failure::new(
            Exit::Usage,
            format!(
                "{} has no config.ru, so there is no app to start; \
                 call it in the app's folder, or write {FILE_NAME} by `hakaru help config`",
                folder.display()
            ),
        )
    })?;
    let lacks_requests = app.paths.is_empty();
    let environment = [(app.environment().to_owned(), "production".to_owned())];
    let remote = guard::remote_of_folder(folder, &environment);
    // The flow first: a configuration that names a missing flow would not run.
    let flow_is_new = create(&folder.join(FLOW), &write::flow(&app))?;
    if !create(&folder.join(FILE_NAME), &write::config(&app, FLOW, &remote))? {
        return Err(there_already(&folder.join(FILE_NAME)));
    }
    said(phrase!("found:"), app.found);
    let flow = match flow_is_new {
        true => text!("{flow}: the requests of a first flow", flow = FLOW),
        false => text!("{flow} was there and is kept", flow = FLOW),
    };
    let config = text!("{file}, each line explained", file = FILE_NAME);
    said(phrase!("wrote:"), vec![config, flow]);
    if !remote.is_empty() {
        return Err(guard::refusal(&remote, app.before.as_deref()).into());
    }
    let next = text!("then write what your users do into the flow (`hakaru help flows`)");
    let mut steps = vec!["hakaru run".into(), next];
    if lacks_requests {
        steps.insert(
            0,
            text!("fill in the values of a route in {flow}", flow = FLOW),
        );
    }
    said(phrase!("next:"), steps);
    Ok(Exit::Ok)
}

/// Prints lines below each other, the first after the head.
fn said(head: Phrase, texts: Vec<Text>) {
    let mut head = head.written_in(language::chosen());
    for text in texts {
        let line = text!("{head} {text}", head = left(&head, HEAD_COLUMNS), text);
        output::notice(line);
        head.clear();
    }
}

fn there_already(path: &Path) -> Failure {
    Failure::new(
        Exit::Usage,
        format!(
            "{} is there already and is not overwritten; try `hakaru run`, or move it away first",
            path.display()
        ),
    )
}

/// Creates a file; returns `false` when a file of the same name exists.
fn create(path: &Path, text: &str) -> Result<bool, Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(
            Exit::Failed,
            format!("cannot write {}: {error}", path.display()),
        )
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file
            .write_all(text.as_bytes())
            .map(|()| true)
            .map_err(failed),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(error)),
    }
}

impl From<ProveError> for Failure {
    fn from(error: ProveError) -> Failure {
        let exit = match &error {
            ProveError::InvalidFlow(_) => Exit::Usage,
            ProveError::Failed(_) => Exit::Failed,
            ProveError::Interrupted => Exit::Interrupted,
        };
        Failure::new(exit, error)
    }
}
