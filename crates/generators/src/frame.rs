//! The frame around a result: a line with length and hash, then the result in lines short enough
//! for logs.
//!
//! A file and the log of a pod hold the same. Lines before the frame and behind it belong to
//! somebody else.

use std::fmt::{self, Write as _};

use sha2::{Digest, Sha256};

/// What the frame's first line begins with; the number is the frame's version.
const MAGIC: &str = "hakaru-load-result 1 ";
/// Container runtimes cut lines of 16 KiB.
const LINE_BYTES: usize = 8_000;

/// Text in a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame(pub String);

/// Why no frame could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameError {
    /// There is none.
    Absent,
    /// The first line is malformed.
    Head,
    /// The text ends before the announced length.
    Short {
        /// Bytes there are.
        bytes: usize,
        /// Bytes there should be.
        of: usize,
    },
    /// The hash of the text differs from the announced one.
    Damaged,
}

impl Frame {
    /// Finds the frame in a text.
    ///
    /// # Errors
    /// There is none, or it is not whole.
    pub fn find(text: &str) -> Result<Frame, FrameError> {
        let begin = match text.starts_with(MAGIC) {
            true => 0,
            false => text.find(&format!("\n{MAGIC}")).ok_or(FrameError::Absent)? + 1,
        };
        let rest = &text[begin + MAGIC.len()..];
        let (head, body) = rest.split_once('\n').ok_or(FrameError::Head)?;
        let (length, hash) = head.trim_end().split_once(' ').ok_or(FrameError::Head)?;
        let of: usize = length.parse().map_err(|_| FrameError::Head)?;
        let bytes: Vec<u8> = (body.bytes())
            .filter(|byte| !matches!(byte, b'\n' | b'\r'))
            .take(of)
            .collect();
        if bytes.len() < of {
            let bytes = bytes.len();
            return Err(FrameError::Short { bytes, of });
        }
        match String::from_utf8(bytes) {
            Ok(text) if hash_of(&text) == hash => Ok(Frame(text)),
            _ => Err(FrameError::Damaged),
        }
    }
}

/// Prints the stored form. The text holds no line breaks.
impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Frame(text) = self;
        writeln!(f, "{MAGIC}{} {}", text.len(), hash_of(text))?;
        let mut rest = text.as_str();
        while rest.len() > LINE_BYTES {
            let (line, more) = rest.split_at(rest.floor_char_boundary(LINE_BYTES));
            writeln!(f, "{line}")?;
            rest = more;
        }
        writeln!(f, "{rest}")
    }
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameError::Absent => f.write_str("holds no result of a load"),
            FrameError::Head => f.write_str("holds a result whose first line cannot be read"),
            FrameError::Short { bytes, of } => {
                write!(f, "holds {bytes} bytes of a result of {of}")
            }
            FrameError::Damaged => f.write_str("holds a result that was changed on its way"),
        }
    }
}

fn hash_of(text: &str) -> String {
    let mut hash = String::new();
    for byte in Sha256::digest(text.as_bytes()) {
        let _ = write!(hash, "{byte:02x}");
    }
    hash
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_frame_is_found_in_a_log(text in "[^\r\n]{0,40}", times in 0_usize..900, before in "[a-z ]{0,30}", behind in "[a-z\n]{0,30}") {
            let frame = Frame(text.repeat(times));
            let log = format!("{before}\n{frame}{behind}");
            prop_assert!(log.lines().all(|line| line.len() <= LINE_BYTES));
            prop_assert_eq!(Frame::find(&log), Ok(frame));
        }

        #[test]
        fn a_frame_that_lost_its_end_is_none(text in "[a-z]{1,90}", kept in 0_usize..90) {
            let whole = Frame(text.clone()).to_string();
            let cut = &whole[..whole.len() - 1 - text.len() + kept.min(text.len() - 1)];
            let is_short = matches!(Frame::find(cut), Err(FrameError::Short { .. }));
            prop_assert!(is_short);
        }
    }

    #[test]
    fn what_is_no_frame_is_told_apart() {
        assert_eq!(Frame::find("hello\nworld"), Err(FrameError::Absent));
        assert_eq!(Frame::find("hakaru-load-result 1 x"), Err(FrameError::Head));
        let changed = Frame("abc".to_owned()).to_string().replace("abc", "abd");
        assert_eq!(Frame::find(&changed), Err(FrameError::Damaged));
    }
}
