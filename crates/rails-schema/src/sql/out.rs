//! SQL on the same lines as the Ruby source, so errors name the right line.

/// A text built from statements.
#[derive(Debug)]
pub(super) struct Out {
    pub(super) text: String,
    line: usize,
}

impl Out {
    pub(super) fn new() -> Out {
        Out {
            text: String::new(),
            line: 1,
        }
    }

    /// Writes on the given line, or at the end when already further on.
    pub(super) fn write(&mut self, line: usize, text: &str) {
        while self.line < line {
            self.text.push('\n');
            self.line += 1;
        }
        self.text.push_str(text);
        self.line += text.matches('\n').count();
    }
}
