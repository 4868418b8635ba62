//! `hakaru logs`: where the time went, by the logs of web servers and databases.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use logs::access::{Format, Grouping};
use logs::{Digest, Unread};
use logs_report::{json, page};
use regex::bytes::Regex;
use words::text;

use crate::cli::LogsArgs;
use crate::exit::{Exit, Failure};
use crate::output;

/// Reads the files as one log, and prints the figures. An empty file adds nothing.
///
/// # Errors
/// [`Exit::Failed`] when a file cannot be read, [`Exit::Usage`] when it is no log, or another kind
/// of log than the first, or when all files are empty.
pub(crate) fn logs(args: &LogsArgs) -> Result<Exit, Failure> {
    let format = format(args.format.as_deref(), "--format")?;
    let grouping = grouping(&args.matching, args.paths)?;
    let mut all: Option<Digest> = None;
    for path in &args.files {
        let Some(digest) = read(path, format.as_ref(), &grouping)? else {
            continue;
        };
        let merged = match all {
            None => Some(digest),
            Some(all) => all.merge(digest),
        };
        all = Some(merged.ok_or_else(|| {
            let name = path.display();
            let why = "holds another kind of log than the files before it; read it alone";
            Failure::usage(format!("{name} {why}"))
        })?);
    }
    let Some(digest) = all else {
        let why = "there is no line to read";
        return Err(Failure::usage(format!("{}: {why}", names(args))));
    };
    let text = match args.form.json {
        true => json::of(&digest),
        false => page::of(&digest, &names(args), args.limit),
    };
    output::page(&text);
    warn(digest.unread());
    Ok(Exit::Ok)
}

fn names(args: &LogsArgs) -> String {
    let names: Vec<String> = args
        .files
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    names.join(" ")
}

/// Reads the expressions of `-m`.
///
/// # Errors
/// [`Exit::Usage`] for one that is none.
pub(super) fn grouping(matching: &[String], paths: bool) -> Result<Grouping, Failure> {
    if paths {
        return Ok(Grouping::Paths);
    }
    let compile = |text: &String| {
        Regex::new(text).map_err(|error| Failure::usage(format!("--match `{text}`: {error}")))
    };
    let matching: Vec<Regex> = matching.iter().map(compile).collect::<Result<_, _>>()?;
    Ok(match matching.is_empty() {
        true => Grouping::Routes,
        false => Grouping::Matching(matching),
    })
}

/// Reads a file; returns `None` for an empty one.
fn read(
    path: &Path,
    format: Option<&Format>,
    grouping: &Grouping,
) -> Result<Option<Digest>, Failure> {
    let read = open(path).and_then(|file| logs::read_unless_empty(file, format, grouping));
    read.map_err(|error| failure(path, &error))
}

/// Opens a file; `-` is standard input.
///
/// # Errors
/// What the system says.
pub(super) fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    Ok(match path.to_str() {
        Some("-") => Box::new(io::stdin().lock()),
        _ => Box::new(File::open(path)?),
    })
}

/// Reads the format of an access log, where one was named by the flag or key.
///
/// # Errors
/// [`Exit::Usage`] for what is no format.
pub(super) fn format(text: Option<&str>, key: &str) -> Result<Option<Format>, Failure> {
    let format = text.map(Format::parse).transpose();
    format.map_err(|why| Failure::usage(format!("{key} {why}")))
}

fn failure(path: &Path, error: &io::Error) -> Failure {
    let name = path.display();
    match error.kind() {
        ErrorKind::InvalidData => Failure::usage(format!(
            "{name}: {error}; name an access log's format with --format (`hakaru help logs`)"
        )),
        ErrorKind::Unsupported => Failure::usage(format!("{name}: {error}")),
        _ => Failure::new(Exit::Failed, format!("{name} cannot be read: {error}")),
    }
}

/// Warns about lines left out.
fn warn(unread: &Unread) {
    if let Some((number, line)) = &unread.first {
        output::notice(text!(
            "hakaru: {lines} could not be read and are in no figure; the first, line {number}: {line}",
            lines = figures::counted!(unread.lines, "line"),
            number = number.to_string(),
            line = figures::line::one_line(line)
        ));
    }
}
