//! What an agent could not do, as a line of the file beside the rings.

/// Kind of something the agent could not do; each has its own remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TroubleKind {
    /// The shared object cannot be loaded. `ruby/boot.rb` writes this kind's word itself.
    NoLoad,
    /// A ring cannot be made.
    NoRing,
    /// Anything else.
    Other,
}

impl TroubleKind {
    const ALL: [TroubleKind; 3] = [TroubleKind::NoLoad, TroubleKind::NoRing, TroubleKind::Other];

    fn word(self) -> &'static str {
        match self {
            TroubleKind::NoLoad => "trouble no-load",
            TroubleKind::NoRing => "trouble no-ring",
            TroubleKind::Other => "trouble",
        }
    }

    /// Returns the line for a sentence.
    pub fn line(self, sentence: &str) -> String {
        format!("{}: {sentence}", self.word())
    }

    /// Returns the kind and the sentence of a line; any other line is a sentence of its own.
    pub fn of_line(line: &str) -> (TroubleKind, &str) {
        let known = line.split_once(": ").and_then(|(word, sentence)| {
            let kind = TroubleKind::ALL
                .into_iter()
                .find(|kind| kind.word() == word)?;
            Some((kind, sentence))
        });
        known.unwrap_or((TroubleKind::Other, line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        for kind in TroubleKind::ALL {
            let line = kind.line("a: b");
            assert_eq!(TroubleKind::of_line(&line), (kind, "a: b"), "{line}");
        }
        let other = (TroubleKind::Other, "rake: aborted");
        assert_eq!(TroubleKind::of_line("rake: aborted"), other);
    }

    #[test]
    fn the_ruby_half_writes_the_word_of_its_kind() {
        let boot = include_str!("../../../ruby/boot.rb");
        assert!(boot.contains(&TroubleKind::NoLoad.line("the agent does not load")));
    }
}
