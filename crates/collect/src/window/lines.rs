//! Splits bytes read in pieces into whole lines. Pure.

/// Longest line in bytes: a longer one is dropped, so as not to fill the memory of a host under
/// load.
const LINE_BYTES_MAX: usize = 1 << 20;

/// Splitter of lines; holds the beginning of a line with no end yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    begun: Vec<u8>,
    /// Whether the line in hand is dropped: begun before the window, or too long.
    is_dropping: bool,
    /// Number of dropped lines longer than [`LINE_BYTES_MAX`].
    pub(super) too_long: u64,
}

impl Lines {
    /// Drops what comes before the next end of a line.
    pub(super) fn in_the_middle() -> Lines {
        Lines {
            is_dropping: true,
            ..Lines::default()
        }
    }

    /// Whether a line has begun and not ended.
    pub(super) fn is_inside(&self) -> bool {
        !self.begun.is_empty()
    }

    /// Passes whole lines to `sink`, many at once, each with an end of line.
    pub(super) fn add<E>(
        &mut self,
        mut bytes: &[u8],
        sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.is_dropping || self.is_inside() {
            let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
                self.begin(bytes);
                return Ok(());
            };
            let (first, rest) = bytes.split_at(end + 1);
            bytes = rest;
            if !std::mem::take(&mut self.is_dropping) {
                self.begun.extend_from_slice(first);
                sink(&self.begun)?;
            }
            self.begun.clear();
        }
        let end = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        if end > 0 {
            sink(&bytes[..end])?;
        }
        self.begin(&bytes[end..]);
        Ok(())
    }

    fn begin(&mut self, bytes: &[u8]) {
        if self.is_dropping {
            return;
        }
        self.begun.extend_from_slice(bytes);
        if self.begun.len() > LINE_BYTES_MAX {
            self.begun.clear();
            self.is_dropping = true;
            self.too_long += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut lines: Lines, pieces: &[&str]) -> (String, bool) {
        let mut got = String::new();
        for piece in pieces {
            let added: Result<(), ()> = lines.add(piece.as_bytes(), &mut |whole| {
                got.push_str(std::str::from_utf8(whole).expect("text"));
                Ok(())
            });
            added.expect("no error");
        }
        (got, lines.is_inside())
    }

    #[test]
    fn lines_are_whole_however_they_are_cut() {
        let check = |pieces: &[&str], expected: &str, is_inside| {
            assert_eq!(
                all(Lines::default(), pieces),
                (expected.to_owned(), is_inside),
                "{pieces:?}"
            );
        };
        check(&["a\nb\n"], "a\nb\n", false);
        check(&["a", "b\nc", "\n"], "ab\nc\n", false);
        check(&["a\nb"], "a\n", true);
        check(&["", "\n", "x"], "\n", true);
    }

    #[test]
    fn a_line_that_began_before_is_dropped_to_its_end() {
        let got = all(Lines::in_the_middle(), &["old", " old\nnew\n"]);
        assert_eq!(got, ("new\n".to_owned(), false));
    }

    #[test]
    fn a_line_without_an_end_takes_no_more_than_its_limit() {
        let long = "x".repeat(LINE_BYTES_MAX + 1);
        assert_eq!(
            all(Lines::default(), &[&long, "y\nz\n"]),
            ("z\n".to_owned(), false)
        );
    }
}
