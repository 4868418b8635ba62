//! The command line where it cannot be used: clap's messages, with what it cannot know.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::exit::Exit;
use crate::output::{self, look};

/// What the standard library says of numbers, and what is said instead.
const NUMBERS: [(&str, &str); 3] = [
    (
        "invalid digit found in string",
        "not a whole number; use for example 10",
    ),
    (
        "invalid float literal",
        "not a number; use for example 200 or 0.5",
    ),
    (
        "cannot parse integer from empty string",
        "a number is missing; use for example 10",
    ),
];

/// The arguments as typed. `hakaru version` and `hakaru -v` are how other programs are asked for
/// their version.
pub(crate) fn typed() -> Vec<OsString> {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    if let [_, only] = arguments.as_mut_slice()
        && (*only == "version" || *only == "-v")
    {
        *only = "--version".into();
    }
    arguments
}

/// Says what is wrong with the command line, or what somebody asked to know of it. For `hakaru
/// schema`, whose `check` ends with 2 when two schemas differ, a wrong command line is 1.
pub(crate) fn explain(mut error: clap::Error) -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    mend_tips(&mut error, &command);
    let is_number = |text: &str| NUMBERS.iter().any(|(from, _)| text.contains(from));
    let rendered = error.render();
    match error.kind() {
        ErrorKind::ValueValidation if is_number(&rendered.to_string()) => {
            let text = match look::colour(&std::io::stderr()) {
                true => rendered.ansi().to_string(),
                false => rendered.to_string(),
            };
            output::notice(with_numbers(text).trim_end());
        }
        // Nothing is left to be said when this cannot be said.
        _ => {
            let _ = error.print();
        }
    }
    match (error.use_stderr(), command == "schema") {
        (false, _) => Exit::Ok.into(),
        (true, true) => Exit::Failed.into(),
        (true, false) => Exit::Usage.into(),
    }
}

fn with_numbers(text: String) -> String {
    let replace = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
    NUMBERS.iter().fold(text, replace)
}

/// `-- --time` would make `--time` the app's command: that tip goes. A word alone is often the
/// app's command without its `--`.
fn mend_tips(error: &mut clap::Error, command: &str) {
    if error.kind() != ErrorKind::UnknownArgument {
        return;
    }
    let mut tips = match error.remove(ContextKind::Suggested) {
        Some(ContextValue::StyledStrs(tips)) => tips,
        _ => Vec::new(),
    };
    tips.retain(|tip| !tip.to_string().contains("as a value, use"));
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg)
        && matches!(command, "run" | "sweep" | "tune" | "profile")
        && !word.starts_with('-')
    {
        tips.push(StyledStr::from(format!(
            "to start the app with this command, write `hakaru {command} -- {word} …`"
        )));
    }
    if !tips.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
}
