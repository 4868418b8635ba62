//! Pages of `docs/` for the terminal: the part of Markdown used there.

use figures::text::wrap;

/// Limit of lines for a paragraph or a list's item without a limit.
const NO_LIMIT: usize = usize::MAX;

/// Returns a page with lines of at most `columns`. Code, fenced or indented, stays as it is; a
/// table becomes a list, since its lines would be longer.
pub fn page(markdown: &str, columns: usize) -> String {
    let mut page = Page {
        columns,
        ..Page::default()
    };
    for line in markdown.lines() {
        page.add(line);
    }
    page.end_block();
    page.text
}

#[derive(Default)]
struct Page {
    columns: usize,
    text: String,
    /// Lines of the paragraph or item so far, in one.
    block: String,
    /// Before the first line of the block, such as `- `; later lines are indented as far.
    mark: String,
    /// Heads of the table's columns.
    heads: Vec<String>,
    is_code: bool,
}

impl Page {
    fn add(&mut self, line: &str) {
        if line.trim_start().starts_with("```") {
            self.end_block();
            self.is_code = !self.is_code;
            return;
        }
        if self.is_code {
            self.text.push_str(&format!("    {line}\n"));
            return;
        }
        if !line.starts_with('|') {
            self.heads.clear();
        }
        let trimmed = line.trim_start();
        let is_indented = line.starts_with("    ") && self.block.is_empty();
        if is_indented && !trimmed.is_empty() && item(trimmed).is_none() {
            self.text.push_str(&format!("{line}\n"));
        } else if trimmed.is_empty() {
            self.end_block();
            if !self.text.is_empty() && !self.text.ends_with("\n\n") {
                self.text.push('\n');
            }
        } else if let Some(title) = trimmed.strip_prefix('#') {
            self.end_block();
            let title = title.trim_start_matches('#').trim();
            self.text
                .push_str(&format!("{}\n", plain(title).to_uppercase()));
        } else if line.starts_with('|') {
            self.end_block();
            self.add_row(line);
        } else if trimmed.starts_with("![") {
            self.end_block();
        } else {
            self.add_text(line, trimmed);
        }
    }

    fn add_text(&mut self, line: &str, trimmed: &str) {
        if let Some((mark, rest)) = item(trimmed) {
            self.end_block();
            let indent = line.len() - trimmed.len();
            self.mark = format!("{}{mark}", " ".repeat(indent));
            self.block = rest.to_owned();
            return;
        }
        if !self.block.is_empty() {
            self.block.push(' ');
        }
        self.block.push_str(trimmed);
    }

    /// Adds a row of a table: the first cell, and below the first the other cells with the column
    /// heads.
    fn add_row(&mut self, line: &str) {
        let cells: Vec<String> = cells(line);
        if self.heads.is_empty() {
            self.heads = cells;
            return;
        }
        if cells
            .iter()
            .all(|cell| cell.chars().all(|c| "-: ".contains(c)))
        {
            return;
        }
        let heads = std::mem::take(&mut self.heads);
        for (index, (head, cell)) in heads.iter().zip(&cells).enumerate() {
            let text = match index {
                0 => cell.clone(),
                _ if cell.is_empty() => continue,
                _ if head.is_empty() => cell.clone(),
                _ => format!("{head}: {cell}"),
            };
            self.mark = if index == 0 {
                String::new()
            } else {
                "    ".to_owned()
            };
            self.block = text;
            self.end_block();
        }
        self.heads = heads;
    }

    fn end_block(&mut self) {
        let block = plain(&std::mem::take(&mut self.block));
        let mark = std::mem::take(&mut self.mark);
        if block.is_empty() {
            return;
        }
        let columns = self.columns.saturating_sub(mark.chars().count());
        for (index, line) in wrap(&block, columns, NO_LIMIT).into_iter().enumerate() {
            let before = match index {
                0 => mark.clone(),
                _ => " ".repeat(mark.chars().count()),
            };
            self.text.push_str(&format!("{before}{line}\n"));
        }
    }
}

/// Splits a list's item into mark and text.
fn item(trimmed: &str) -> Option<(&str, &str)> {
    if trimmed.starts_with("- ") || trimmed.starts_with("* ") {
        return Some(trimmed.split_at(2));
    }
    let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
    let is_item = digits > 0 && trimmed[digits..].starts_with(". ");
    is_item.then(|| trimmed.split_at(digits + 2))
}

/// Cells of a row; `\|` is a bar in a cell.
fn cells(line: &str) -> Vec<String> {
    let inner = line.trim().trim_start_matches('|');
    let inner = inner
        .strip_suffix('|')
        .unwrap_or(inner)
        .replace("\\|", "\u{1}");
    let cells = inner.split('|');
    cells
        .map(|cell| cell.trim().replace('\u{1}', "|"))
        .collect()
}

/// Text without emphasis; a link to another page becomes the command for the page.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, shown, target, after)) = link(rest) {
        plain.push_str(before);
        plain.push_str(&linked(shown, target));
        rest = after;
    }
    plain.push_str(rest);
    plain.replace("**", "")
}

/// Splits a text at the first `[shown](target)`: before, shown, target, and after.
fn link(text: &str) -> Option<(&str, &str, &str, &str)> {
    let middle = text.find("](")?;
    let begin = text[..middle].rfind('[')?;
    let end = middle + text[middle..].find(')')?;
    Some((
        &text[..begin],
        &text[begin + 1..middle],
        &text[middle + 2..end],
        &text[end + 1..],
    ))
}

fn linked(shown: &str, target: &str) -> String {
    let page = target.split('#').next().unwrap_or(target);
    let topic = page.strip_suffix(".md").filter(|name| !name.contains('/'));
    match topic {
        Some(name) if shown.ends_with(".md") => format!("`hakaru help {name}`"),
        Some(name) => format!("{shown} (`hakaru help {name}`)"),
        None if target.starts_with("http") => format!("{shown} ({target})"),
        None => shown.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paragraphs_lists_tables_and_code_read_well() {
        let markdown = "# Keys\n\nAll of **them**, in [config.md](config.md#x) and\n[the list](findings.md).\n\n\
            - one that is long enough\n  to be broken\n- two\n\n| key | what |\n|---|---|\n| `url` | where \\| who |\n\n```sh\nrun | it\n```\n";
        let expected = "KEYS\n\nAll of them, in `hakaru\nhelp config` and the\nlist (`hakaru help\nfindings`).\n\n\
            - one that is long\n  enough to be broken\n- two\n\n`url`\n    what: where | who\n\n    run | it\n";
        assert_eq!(page(markdown, 24), expected);
    }

    #[test]
    fn indented_code_keeps_its_lines() {
        let markdown = "A feed:\n\n    name,password\n    user1,secret1\n\nEach row is\nused once.\n\n    - a list\n";
        let expected = "A feed:\n\n    name,password\n    user1,secret1\n\nEach row is used\nonce.\n\n    - a list\n";
        assert_eq!(page(markdown, 16), expected);
    }

    proptest! {
        #[test]
        fn any_text_gives_a_page(markdown in "([ -~]|\n|\\||#|`|\\[|\\]\\()*", columns in 10usize..100) {
            let _ = page(&markdown, columns);
        }
    }
}
