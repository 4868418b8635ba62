//! The text behind `-e`: who is to run the jobs, as typed.
//!
//! `name::path args` is benchmark_driver's form, `name=path args` ours. `;` separates contenders
//! everywhere; `,` does in any word other than an option: `ruby-3.3,ruby-4.0 --yjit` are two, and
//! `ruby --disable=gems,rubyopt` is one.

use crate::shell_words;

/// A contender as typed, before the program is looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed {
    /// The given name; else the typed text.
    pub name: String,
    /// The program: a path, a name in PATH, or a version of Ruby.
    pub program: String,
    /// Arguments of the program.
    pub arguments: Vec<String>,
}

/// Reads the text; an error says what is missing.
pub fn read(text: &str) -> Result<Vec<Typed>, String> {
    let parts = text.split(';').flat_map(at_commas);
    let parts: Vec<String> = parts.map(|part| part.trim().to_owned()).collect();
    let parts: Vec<&String> = parts.iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return Err("no executable is named; write `name=path arguments`".to_owned());
    }
    parts.into_iter().map(|part| one(part)).collect()
}

/// Appends a number to names occurring twice.
pub fn made_unique(names: &mut [String]) {
    let typed = names.to_vec();
    for (index, name) in names.iter_mut().enumerate() {
        let earlier = typed[..index].iter().filter(|known| *known == name).count();
        if earlier > 0 {
            *name = format!("{name} ({})", earlier + 1);
        }
    }
}

fn at_commas(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for word in text.split_inclusive(' ') {
        let is_option = word.starts_with('-');
        let mut pieces = if is_option {
            vec![word]
        } else {
            word.split(',').collect::<Vec<_>>()
        }
        .into_iter();
        parts
            .last_mut()
            .expect("never empty")
            .push_str(pieces.next().unwrap_or_default());
        parts.extend(pieces.map(str::to_owned));
    }
    parts
}

fn one(text: &str) -> Result<Typed, String> {
    let (name, command) = match text.split_once("::").or_else(|| named(text)) {
        Some((name, command)) => (Some(name.trim()), command),
        None => (None, text),
    };
    let mut words = shell_words::split(command).into_iter();
    let program = words
        .next()
        .ok_or_else(|| format!("`{text}` names no program; write `name=path arguments`"))?;
    Ok(Typed {
        name: name
            .filter(|name| !name.is_empty())
            .unwrap_or(command.trim())
            .to_owned(),
        program,
        arguments: words.collect(),
    })
}

/// `name=path`: the sign stands in the first word, before any path or option.
fn named(text: &str) -> Option<(&str, &str)> {
    let (name, command) = text.split_once('=')?;
    let is_name =
        !name.is_empty() && !name.starts_with('-') && !name.contains(['/', ' ', '\'', '"']);
    is_name.then_some((name, command))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str, &[&str])]) {
        let read = read(text).expect(text);
        let read: Vec<(&str, &str, Vec<&str>)> = read
            .iter()
            .map(|typed| {
                let arguments = typed.arguments.iter().map(String::as_str).collect();
                (typed.name.as_str(), typed.program.as_str(), arguments)
            })
            .collect();
        let expected: Vec<(&str, &str, Vec<&str>)> = expected
            .iter()
            .map(|(name, program, rest)| (*name, *program, rest.to_vec()))
            .collect();
        assert_eq!(read, expected, "{text}");
    }

    #[test]
    fn both_forms_are_read() {
        check(
            "2.0::/a/ruby --x;new::b",
            &[("2.0", "/a/ruby", &["--x"]), ("new", "b", &[])],
        );
        check("yjit=ruby --yjit", &[("yjit", "ruby", &["--yjit"])]);
        check("./miniruby", &[("./miniruby", "./miniruby", &[])]);
        check("ruby --a=b", &[("ruby --a=b", "ruby", &["--a=b"])]);
        check(
            "ruby-3.3,ruby-4.0 --yjit",
            &[
                ("ruby-3.3", "ruby-3.3", &[]),
                ("ruby-4.0 --yjit", "ruby-4.0", &["--yjit"]),
            ],
        );
        check(
            "ruby --disable=gems,rubyopt",
            &[(
                "ruby --disable=gems,rubyopt",
                "ruby",
                &["--disable=gems,rubyopt"],
            )],
        );
        check(
            "a::'/with blank/ruby' -W0;",
            &[("a", "/with blank/ruby", &["-W0"])],
        );
        assert!(read(" ; ").is_err());
        assert!(read("a::").is_err());
    }

    #[test]
    fn names_become_unique() {
        let mut names = ["a", "b", "a", "a"].map(str::to_owned);
        made_unique(&mut names);
        assert_eq!(names, ["a", "b", "a (2)", "a (3)"]);
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[ -~]{0,40}") {
            let _ = read(&text);
        }
    }
}
