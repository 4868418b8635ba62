//! SQL on the very lines on which its Ruby stands, so that what is said about it names the right
//! line.

/// A text that grows by statements.
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

    /// Writes on a line, or where the text is when that is further on.
    pub(super) fn write(&mut self, line: usize, text: &str) {
        while self.line < line {
            self.text.push('\n');
            self.line += 1;
        }
        self.text.push_str(text);
        self.line += text.matches('\n').count();
    }
}
