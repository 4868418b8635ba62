//! `-- @renamed from=old`: the former name of an object, in a comment beside the new name.
//!
//! The forms are sqldef's: `from=old`, `from="old name"`, in either kind of comment; `@rename` is
//! the former spelling.

use crate::{ObjectKind, PlanError};

/// The name in such a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// The old name, without quotes.
    pub from: String,
    /// Whether the deprecated spelling is used.
    pub is_deprecated: bool,
}

/// Finds the former name in a comment, given with or without comment marks.
pub fn renamed_from(comment: &str) -> Option<Renamed> {
    let (_, after) = comment.split_once("@rename")?;
    let (is_deprecated, after) = match after.strip_prefix('d') {
        Some(after) => (false, after),
        None => (true, after),
    };
    let value = after
        .strip_prefix(char::is_whitespace)?
        .trim_start()
        .strip_prefix("from=")?;
    let name = match value.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?.0,
        None => {
            let word = value.split(char::is_whitespace).next()?;
            word.strip_suffix("*/").unwrap_or(word)
        }
    };
    (!name.is_empty()).then(|| Renamed {
        from: name.to_owned(),
        is_deprecated,
    })
}

/// Refuses a rename of what is wanted under the former name too.
pub(crate) fn still_there(kind: ObjectKind, old: &str, new: &str) -> PlanError {
    PlanError {
        message: format!("cannot rename {kind} '{old}' to '{new}' - {kind} '{old}' still exists"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(comment: &str, expected: Option<(&str, bool)>) {
        let expected = expected.map(|(from, is_deprecated)| Renamed {
            from: from.to_owned(),
            is_deprecated,
        });
        assert_eq!(renamed_from(comment), expected, "{comment}");
    }

    #[test]
    fn old_names_are_found() {
        check("-- @renamed from=nick", Some(("nick", false)));
        check("/* @renamed from=nick */", Some(("nick", false)));
        check("/*@renamed from=nick*/", Some(("nick", false)));
        check(
            "-- the nick, @renamed  from=\"nick name\"",
            Some(("nick name", false)),
        );
        check("-- @rename from=nick", Some(("nick", true)));
        check("-- renamed from=nick", None);
        check("-- @renamed from=", None);
        check("-- @renamed from=\"\"", None);
        check("-- @renamedfrom=x", None);
    }
}
