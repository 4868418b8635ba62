//! Variables of a `.env` file, as read by the gem dotenv and foreman. Pure.

/// Returns names and values in the file's order, without lines of other content.
pub(super) fn parse(text: &str) -> Vec<(String, String)> {
    text.lines().filter_map(assignment).collect()
}

fn assignment(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").map_or(line, str::trim_start);
    let (name, value) = line.split_once('=').or_else(|| line.split_once(": "))?;
    let name = name.trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let value = value.trim();
    let value = match value.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        Some(quote) => value[1..].split(quote).next().unwrap_or_default(),
        None => value.split(" #").next().unwrap_or_default().trim_end(),
    };
    Some((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_are_read_with_their_quotes_and_comments() {
        let text = "# DATABASE_URL=no\nexport A=1\nB = \"two words\" # why\nC='x#y'\nD=plain # why\nE: yaml\n\nnothing\n=x\n";
        let expected = [
            ("A", "1"),
            ("B", "two words"),
            ("C", "x#y"),
            ("D", "plain"),
            ("E", "yaml"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(parse(text), expected);
    }
}
