//! Profiles of other tools. Each reader returns what it understood and a list of what it did not.

pub mod collapsed;
mod marshal;
pub mod stackprof;

use std::fmt;

use crate::profile::Profile;

/// An imported profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The profile.
    pub profile: Profile,
    /// Contents left out, one sentence each.
    pub left_out: Vec<String>,
}

/// Reason for a profile not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError(pub String);

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ImportError {}

/// Reads a file of any known kind: hakaru's own, stackprof's dump or JSON, collapsed stacks.
///
/// # Errors
/// When it is of none of them, or damaged.
pub fn read(bytes: &[u8]) -> Result<Imported, ImportError> {
    match Profile::decode(bytes) {
        Ok(profile) => {
            return Ok(Imported {
                profile,
                left_out: Vec::new(),
            });
        }
        Err(crate::FormatError::NotAProfile) => {}
        Err(error) => return Err(ImportError(error.to_string())),
    }
    if bytes.starts_with(&marshal::MAGIC) {
        return stackprof::read_dump(bytes);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| {
        ImportError(
            "neither a profile of hakaru's, nor a dump of stackprof's, nor text with collapsed stacks"
                .to_owned(),
        )
    })?;
    if text.trim_start().starts_with('{') {
        stackprof::read_json(text)
    } else {
        collapsed::read(text)
    }
}
