//! Runs the benchmark of Ruby's compilers: `crates/bench/src/jit.rs`, on Rubies with compilers.

use std::path::PathBuf;

use super::program;
use crate::rubies::{self, compilers};
use crate::run::Outcome;

/// The flag read by no other task.
const ARCHIVES: &str = "--archives";

pub(super) fn run_bench(arguments: &[String]) -> Outcome<()> {
    let mut arguments = arguments.to_vec();
    let archives = archives(&mut arguments)?;
    if !arguments.iter().any(|word| word == "--ruby") {
        compilers::prepare(archives.as_deref())?;
        let programs = rubies::programs();
        if !programs.is_empty() {
            arguments.extend(["--ruby".to_owned(), programs.join(",")]);
        }
    }
    program::run_with("jit", &arguments, &[])
}

/// Takes the folder of archives out of the flags; the variable of `cargo xtask rubies` is the
/// default.
fn archives(arguments: &mut Vec<String>) -> Outcome<Option<PathBuf>> {
    let Some(at) = arguments.iter().position(|word| word == ARCHIVES) else {
        return Ok(std::env::var_os(rubies::FOLDER_VARIABLE).map(PathBuf::from));
    };
    arguments.remove(at);
    if at == arguments.len() {
        return Err(format!("{ARCHIVES} needs a folder"));
    }
    Ok(Some(arguments.remove(at).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_archives_is_for_this_task_alone() {
        let mut words = ["--archives", "a", "--for", "5"]
            .map(str::to_owned)
            .to_vec();
        assert_eq!(archives(&mut words), Ok(Some("a".into())));
        assert_eq!(words, ["--for", "5"]);
        assert!(archives(&mut vec![ARCHIVES.to_owned()]).is_err());
    }
}
