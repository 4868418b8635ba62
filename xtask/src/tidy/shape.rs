//! How long functions and files may be.

use super::File;

const FUNCTION_LINES_MAX: usize = 70;
const RUST_FILE_LINES_MAX: usize = 500;
/// Folder of the program, and the limit of lines without tests: what decides or computes belongs
/// into another crate.
const PROGRAM: &str = "crates/hakaru/src/";
const PROGRAM_LINES_MAX: usize = 8_000;

/// Returns the Rust functions and files over the limits; the tests at a file's end do not count.
pub(super) fn long_rust(file: &File) -> Vec<String> {
    let mut wrong: Vec<String> = rust_functions(&file.text)
        .into_iter()
        .filter(|function| function.lines > FUNCTION_LINES_MAX)
        .map(|function| function.complaint(&file.path))
        .collect();
    let lines = lines_without_tests(file);
    let is_test = file
        .path
        .split('/')
        .any(|part| part == "tests" || part == "tests.rs");
    if lines > RUST_FILE_LINES_MAX && !is_test {
        wrong.push(format!(
            "{}: {lines} lines without tests, at most {RUST_FILE_LINES_MAX}; cut it in two",
            file.path
        ));
    }
    wrong
}

fn lines_without_tests(file: &File) -> usize {
    let lines = file.text.lines();
    lines.take_while(|line| *line != "#[cfg(test)]").count()
}

/// Returns an error for a program over the limit; the tests at a file's end do not count.
pub(super) fn long_program(files: &[File]) -> Vec<String> {
    let own = files
        .iter()
        .filter(|file| file.path.starts_with(PROGRAM) && file.path.ends_with(".rs"));
    let lines: usize = own.map(lines_without_tests).sum();
    match lines > PROGRAM_LINES_MAX {
        true => vec![format!(
            "{PROGRAM}: {lines} lines without tests, at most {PROGRAM_LINES_MAX}; move what decides or computes into another crate"
        )],
        false => Vec::new(),
    }
}

/// Returns the Ruby methods over the limit.
pub(super) fn long_ruby(file: &File) -> Vec<String> {
    let functions = ruby_methods(&file.text);
    let long = functions
        .into_iter()
        .filter(|function| function.lines > FUNCTION_LINES_MAX);
    long.map(|function| function.complaint(&file.path))
        .collect()
}

/// Returns an error for ignored tests: a test never run rots.
pub(super) fn ignored_tests(file: &File) -> Vec<String> {
    let is_ignored = |line: &&str| line.trim_start().starts_with("#[ignore");
    let count = file.text.lines().filter(is_ignored).count();
    if count == 0 {
        Vec::new()
    } else {
        vec![format!(
            "{}: {count} ignored tests; assert what happens instead",
            file.path
        )]
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Function {
    name: String,
    line: usize,
    lines: usize,
}

impl Function {
    fn complaint(&self, path: &str) -> String {
        let Self { name, line, lines } = self;
        format!("{path}:{line}: {name} has {lines} lines, at most {FUNCTION_LINES_MAX}")
    }
}

fn rust_functions(text: &str) -> Vec<Function> {
    let code: Vec<char> = blank_literals(text).chars().collect();
    let line_at = |index: usize| code[..index].iter().filter(|c| **c == '\n').count() + 1;
    let mut functions = Vec::new();
    for at in 0..code.len() {
        let starts =
            code[at..].starts_with(&['f', 'n', ' ']) && (at == 0 || !is_word(code[at - 1]));
        let name: String = code[at..]
            .iter()
            .skip(3)
            .take_while(|c| is_word(**c))
            .collect();
        if !starts || name.is_empty() {
            continue;
        }
        if let Some(end) = body_end(&code, at) {
            let line = line_at(at);
            functions.push(Function {
                name,
                line,
                lines: line_at(end) - line + 1,
            });
        }
    }
    functions
}

/// Returns the end of the body of the function starting at `at`; none for a declaration without a
/// body.
fn body_end(code: &[char], at: usize) -> Option<usize> {
    let (mut round, mut curly) = (0_i32, 0_i32);
    for (index, c) in code.iter().enumerate().skip(at) {
        match c {
            '(' | '[' => round += 1,
            ')' | ']' => round -= 1,
            ';' if round == 0 && curly == 0 => return None,
            '{' => curly += 1,
            '}' if curly == 1 => return Some(index),
            '}' => curly -= 1,
            _ => {}
        }
    }
    None
}

/// Puts blanks in place of comments, strings and characters, and keeps the lines.
fn blank_literals(text: &str) -> String {
    let code: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < code.len() {
        let end = literal_end(&code, at);
        if end == at {
            out.push(code[at]);
            at += 1;
        } else {
            out.extend(
                code[at..end]
                    .iter()
                    .map(|c| if *c == '\n' { '\n' } else { ' ' }),
            );
            at = end;
        }
    }
    out
}

/// Returns the end of the comment or literal beginning at `at`; `at` itself when there is none.
fn literal_end(code: &[char], at: usize) -> usize {
    let rest = &code[at..];
    let begins = |text: &str| {
        text.chars()
            .enumerate()
            .all(|(index, c)| rest.get(index) == Some(&c))
    };
    let inside_word = at > 0 && is_word(code[at - 1]);
    if begins("//") {
        at + rest.iter().position(|c| *c == '\n').unwrap_or(rest.len())
    } else if begins("/*") {
        at + block_comment(rest)
    } else if !inside_word && ["r\"", "r#", "br\"", "br#"].into_iter().any(begins) {
        at + raw_string(rest).unwrap_or(0)
    } else if begins("\"") {
        at + quoted(rest, '"').unwrap_or(rest.len())
    } else if begins("'") {
        at + character(rest)
    } else {
        at
    }
}

fn block_comment(rest: &[char]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at + 1 < rest.len() {
        match (rest[at], rest[at + 1]) {
            ('/', '*') => depth += 1,
            ('*', '/') if depth == 1 => return at + 2,
            ('*', '/') => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
    }
    rest.len()
}

/// None for a raw identifier such as `r#type`.
fn raw_string(rest: &[char]) -> Option<usize> {
    let start = rest.iter().position(|c| *c == '#' || *c == '"')?;
    let hashes = rest[start..].iter().take_while(|c| **c == '#').count();
    let open = start + hashes;
    if rest.get(open) != Some(&'"') {
        return None;
    }
    let closes = |index: &usize| {
        rest[*index] == '"'
            && rest[*index + 1..].iter().take_while(|c| **c == '#').count() >= hashes
    };
    let close = (open + 1..rest.len()).find(closes);
    Some(close.map_or(rest.len(), |close| close + 1 + hashes))
}

fn quoted(rest: &[char], quote: char) -> Option<usize> {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            '\\' => at += 2,
            c if c == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

/// Returns the length of a character literal, or 0 for a lifetime.
fn character(rest: &[char]) -> usize {
    match rest {
        ['\'', '\\', ..] => quoted(rest, '\'').unwrap_or(0),
        ['\'', _, '\'', ..] => 3,
        _ => 0,
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the methods found by indentation: a `def` lasts until the `end` below in the same
/// column.
fn ruby_methods(text: &str) -> Vec<Function> {
    let lines: Vec<&str> = text.lines().collect();
    let read = |(index, line): (usize, &&str)| {
        let body = line.trim_start();
        let signature = body.strip_prefix("def ")?;
        if is_endless(signature) {
            return None;
        }
        let end = format!("{}end", &line[..line.len() - body.len()]);
        let length = lines[index..]
            .iter()
            .position(|line| line.trim_end() == end)?
            + 1;
        let name = signature
            .split(|c: char| c == '(' || c.is_whitespace())
            .next()
            .unwrap_or_default();
        Some(Function {
            name: name.to_owned(),
            line: index + 1,
            lines: length,
        })
    };
    lines.iter().enumerate().filter_map(read).collect()
}

/// `def name(arguments) = expression` has no `end`.
fn is_endless(signature: &str) -> bool {
    let after = match signature.find('(') {
        Some(open) => signature[open..]
            .rfind(") =")
            .map(|at| &signature[open + at + 1..]),
        None => signature.split_once(' ').map(|(_, rest)| rest),
    };
    after.is_some_and(|rest| rest.trim_start().starts_with("= "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, usize, usize)]) {
        let got: Vec<_> = rust_functions(text)
            .into_iter()
            .map(|f| (f.name, f.line, f.lines))
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(name, line, lines)| ((*name).to_owned(), *line, *lines))
            .collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn rust_functions_are_measured() {
        check("fn a() {}\n", &[("a", 1, 1)]);
        check(
            "pub fn a<'a>(x: &'a str) -> [u8; 3]\n{\n    '{'; \"}\"; // }\n}\nfn b() {\n}",
            &[("a", 1, 4), ("b", 5, 2)],
        );
        check(
            "trait T { fn a(&self);\n fn b(&self) {\n /* } /* } */ } */ r#\"}\"#; }\n}",
            &[("b", 2, 2)],
        );
        check("let f: fn(u8) = x; let r#fn = 1; defn x {}", &[]);
        check(
            "fn outer() {\n  fn inner() {\n  }\n}\n",
            &[("outer", 1, 4), ("inner", 2, 2)],
        );
        check("fn a() { b\"\\\"}\"; '\\''; '\\u{7d}'; }\n", &[("a", 1, 1)]);
    }

    fn rust(lines: usize) -> File {
        File {
            path: "a.rs".into(),
            text: format!("fn a() {{\n{}}}\n", "x;\n".repeat(lines - 2)),
        }
    }

    #[test]
    fn a_function_of_seventy_lines_is_the_longest() {
        assert_eq!(long_rust(&rust(70)), [""; 0]);
        assert_eq!(long_rust(&rust(71)), ["a.rs:1: a has 71 lines, at most 70"]);
        assert_eq!(long_rust(&rust(600)).len(), 2);
        let tests = File {
            path: "a.rs".into(),
            text: format!("\n#[cfg(test)]\n{}", "\n".repeat(600)),
        };
        assert_eq!(long_rust(&tests), [""; 0]);
    }

    #[test]
    fn the_program_has_a_limit_of_lines() {
        let file = |path: &str, lines: usize| File {
            path: path.into(),
            text: "\n".repeat(lines) + "#[cfg(test)]\n\n\n",
        };
        let files = |lines: usize| {
            [
                file("crates/hakaru/src/a.rs", lines),
                file("crates/hakaru/src/b/c.rs", 1),
                file("crates/hakaru/tests/d.rs", 9_000),
                file("crates/load/src/e.rs", 9_000),
            ]
        };
        assert_eq!(long_program(&files(7_999)), [""; 0]);
        assert_eq!(long_program(&files(8_000)).len(), 1);
    }

    #[test]
    fn ruby_methods_are_measured() {
        let text = "class A\n  def a(x = 1)\n    if x\n    end\n  end\n\n  def b(x) = x + 1\n  def c = 2\n\n  def d\n  end\nend\n";
        let got: Vec<_> = ruby_methods(text)
            .into_iter()
            .map(|f| (f.name, f.line, f.lines))
            .collect();
        assert_eq!(got, [("a".to_owned(), 2, 4), ("d".to_owned(), 10, 2)]);
    }

    #[test]
    fn ignored_tests_are_seen() {
        let text = concat!("    #[ign", "ore]\n").to_owned();
        assert_eq!(
            ignored_tests(&File {
                path: "a.rs".into(),
                text
            })
            .len(),
            1
        );
    }
}
