//! The name `benchmark-driver`: `hakaru bench` with benchmark_driver's command line, whose form is
//! `compare` unless another is asked for.
//!
//! `docs/bench.md` lists where we differ.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::flags::BenchArgs;
use crate::resolve::usage;
use ending::Failure;

/// The name.
pub const NAME: &str = "benchmark-driver";
/// The benchmark-driver release with an equal command line; printed by `--version`.
const VERSION: &str = "0.17.0";
/// The form without `-o`.
const FORM: &str = "compare";

/// Returns whether the program was called as `benchmark-driver`.
pub fn is_called(argument0: &OsStr) -> bool {
    Path::new(argument0).file_stem() == Some(OsStr::new(NAME))
}

/// Returns the equivalent command line of `hakaru`.
///
/// # Errors
/// A text to print instead.
pub fn typed(arguments: impl Iterator<Item = OsString>) -> Result<Vec<OsString>, String> {
    let mut all: Vec<OsString> = vec!["hakaru".into(), "bench".into()];
    for argument in arguments {
        if argument == "--version" {
            return Err(format!("{VERSION}\n"));
        }
        all.push(argument);
    }
    // Nothing to do is a question.
    if all.len() == 2 {
        all.push("--help".into());
    }
    Ok(all)
}

/// Fills in what the name stands for, and refuses what has no meaning here.
pub(super) fn fill(args: &mut BenchArgs) -> Result<(), Failure> {
    if !args.ridkuse.is_empty() {
        return Err(usage(
            "--ridkuse chooses Rubies of RubyInstaller on Windows, and this program runs on Linux; name them by -e",
        ));
    }
    let is_called = std::env::args_os()
        .next()
        .is_some_and(|name| is_called(&name));
    // What asks for another page does not get this form as well.
    if is_called && args.output.is_none() && !args.json {
        args.output = Some(FORM.to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typed_as: &[&str], expected: Result<&[&str], &str>) {
        let found = typed(typed_as.iter().map(OsString::from));
        let expected = expected
            .map(|words| words.iter().map(OsString::from).collect::<Vec<_>>())
            .map_err(str::to_owned);
        assert_eq!(found, expected, "{typed_as:?}");
    }

    #[test]
    fn the_name_stands_for_the_command() {
        assert!(is_called("/usr/bin/benchmark-driver".as_ref()));
        assert!(!is_called("hakaru".as_ref()));
        check(&["a.yml", "-v"], Ok(&["hakaru", "bench", "a.yml", "-v"]));
        check(&["--version"], Err("0.17.0\n"));
        check(&[], Ok(&["hakaru", "bench", "--help"]));
    }
}
