//! Generated piece of a page otherwise written by people, between two marks with the generator's
//! name.

use std::fs;
use std::path::Path;

use crate::run::{Outcome, write};

/// Puts the text between the marks of a task.
pub(crate) fn write_into(page: &Path, task: &str, text: &str) -> Outcome<()> {
    let shown = page.display();
    let old = fs::read_to_string(page).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let new = replaced(&old, task, text).ok_or(format!("{shown} lacks the marks of {task}"))?;
    write(page, &new)
}

/// Returns the text between the marks of a task.
pub(crate) fn read_from(page: &Path, task: &str) -> Outcome<String> {
    let shown = page.display();
    let text = fs::read_to_string(page).map_err(|error| format!("cannot read {shown}: {error}"))?;
    between(&text, task)
        .map(|text| text.trim().to_owned())
        .ok_or(format!("{shown} lacks the marks of {task}"))
}

fn between<'a>(page: &'a str, task: &str) -> Option<&'a str> {
    let (_, rest) = page.split_once(&format!("<!-- cargo xtask {task} -->"))?;
    let (text, _) = rest.split_once(&format!("<!-- end of cargo xtask {task} -->"))?;
    Some(text)
}

fn replaced(page: &str, task: &str, text: &str) -> Option<String> {
    let begin = format!("<!-- cargo xtask {task} -->");
    let end = format!("<!-- end of cargo xtask {task} -->");
    let (before, rest) = page.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n{}\n{end}{after}", text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_marks_is_replaced() {
        let page = "# A\n<!-- cargo xtask x -->\nold\n<!-- end of cargo xtask x -->\nafter\n";
        let expected = page.replace("old", "new");
        assert_eq!(replaced(page, "x", "new\n"), Some(expected));
        assert_eq!(replaced(page, "y", "new"), None);
        assert_eq!(between(page, "x"), Some("\nold\n"));
    }
}
