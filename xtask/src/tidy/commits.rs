//! Subjects of commits: one topic, short enough for a list.

use std::process::Command;

use crate::run::{Outcome, capture, root};

const SUBJECT_COLUMNS_MAX: usize = 72;
/// Number of commits to check, from the newest on; older ones cannot be changed any more.
const COMMITS: &str = "-25";

/// Returns what is wrong with the subjects of the newest commits.
pub(super) fn unclear() -> Outcome<Vec<String>> {
    let mut git = Command::new("git");
    git.args(["log", COMMITS, "--no-merges", "--format=%h%x09%s"])
        .current_dir(root());
    // A copy of the files without their history has no commits to look at.
    let Ok(log) = capture(&mut git) else {
        return Ok(Vec::new());
    };
    Ok(log.lines().filter_map(complaint).collect())
}

fn complaint(line: &str) -> Option<String> {
    let (commit, subject) = line.split_once('\t')?;
    let columns = subject.chars().count();
    let why = match () {
        () if columns > SUBJECT_COLUMNS_MAX => {
            format!("{columns} columns, at most {SUBJECT_COLUMNS_MAX}")
        }
        () if subject.ends_with('.') => "ends with a full stop".to_owned(),
        () => return None,
    };
    Some(format!("commit {commit}: the subject {why}: {subject}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_subject_is_found() {
        let long = format!("abc\t{}", "x".repeat(73));
        assert!(complaint(&long).is_some_and(|text| text.contains("73 columns")));
        assert!(complaint(&format!("abc\t{}", "測".repeat(72))).is_none());
        assert!(complaint("abc\tA subject.").is_some());
        assert!(complaint("abc\tA subject").is_none());
    }
}
