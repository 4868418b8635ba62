//! Names and passwords from a `.netrc` file: `machine HOST login NAME password WORD`.

/// Returns name and password for a host: of the first `machine` with the host's name, or of a
/// `default` standing before.
///
/// The error is a sentence about the file.
pub(crate) fn find(text: &str, host: &str) -> Result<Option<(String, String)>, String> {
    let is_comment = |line: &&str| line.trim_start().starts_with('#');
    let lines: Vec<&str> = text.lines().filter(|line| !is_comment(line)).collect();
    let text = lines.join("\n");
    let mut words = Words { rest: &text };
    let mut is_his = false;
    let (mut login, mut password): (Option<String>, Option<String>) = (None, None);
    while let Some(word) = words.next()? {
        match word.as_str() {
            "machine" | "default" if is_his && password.is_some() => break,
            "machine" | "default" => {
                // A machine without a password is passed over, as curl does.
                login = None;
                is_his = match word.as_str() {
                    "machine" => words
                        .next()?
                        .is_some_and(|name| name.eq_ignore_ascii_case(host)),
                    _ => true,
                };
            }
            "macdef" if !is_his => words.skip_macro(),
            "login" if is_his => login = words.next()?,
            "password" if is_his => password = words.next()?,
            _ => {}
        }
        if login.is_some() && password.is_some() {
            break;
        }
    }
    Ok(match (login, password) {
        (None, None) => None,
        (login, password) => Some((login.unwrap_or_default(), password.unwrap_or_default())),
    })
}

/// Words between white space, or in quotes.
struct Words<'a> {
    rest: &'a str,
}

impl Words<'_> {
    fn next(&mut self) -> Result<Option<String>, String> {
        self.rest = self.rest.trim_start();
        match self.rest.chars().next() {
            None => Ok(None),
            Some('"') => self.quoted().map(Some),
            Some(_) => {
                let end = self.rest.find(char::is_whitespace);
                let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
                self.rest = rest;
                Ok(Some(word.to_owned()))
            }
        }
    }

    fn quoted(&mut self) -> Result<String, String> {
        let mut word = String::new();
        let mut letters = self.rest.char_indices().skip(1);
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(word);
                }
                '\\' => match letters.next() {
                    Some((_, 'n')) => word.push('\n'),
                    Some((_, 'r')) => word.push('\r'),
                    Some((_, 't')) => word.push('\t'),
                    Some((_, other)) => word.push(other),
                    None => break,
                },
                other => word.push(other),
            }
        }
        Err("a quote is not closed".to_owned())
    }

    /// A macro ends with an empty line.
    fn skip_macro(&mut self) {
        let end = self.rest.find("\n\n").unwrap_or(self.rest.len());
        self.rest = &self.rest[end..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_found() {
        let text = "# machine a login no\n\
                    machine b login other password x\n\
                    macdef init\n machine a login wrong password wrong\n\n\
                    machine a\n\tlogin ann password \"p \\\"w\\\"\"\n\
                    machine d login only\n\
                    default login any password #one\n";
        let pair = |login: &str, password: &str| Some((login.to_owned(), password.to_owned()));
        assert_eq!(find(text, "a"), Ok(pair("ann", "p \"w\"")));
        assert_eq!(find(text, "B"), Ok(pair("other", "x")));
        assert_eq!(find(text, "c"), Ok(pair("any", "#one")));
        assert_eq!(find(text, "d"), Ok(pair("any", "#one")));
        assert_eq!(find("machine a login b", "a"), Ok(pair("b", "")));
        assert_eq!(find("machine a password b", "a"), Ok(pair("", "b")));
        assert_eq!(find("machine a login b", "c"), Ok(None));
        assert_eq!(find("", "c"), Ok(None));
        assert!(find("machine a login \"b", "a").is_err());
    }
}
