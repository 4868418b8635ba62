//! What apt's source files say, and version numbers. Pure except [`mirror`], which reads the
//! machine's files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::run::Outcome;

/// One source of packages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) uri: String,
    pub(crate) suite: String,
    pub(crate) components: Vec<String>,
    /// Path of a keyring, or the key itself over several lines.
    pub(crate) signed_by: Option<String>,
}

/// Major and minor number of a Debian version such as `1:3.3+b1`.
pub(crate) fn major_minor(version: &str) -> Option<(u32, u32)> {
    let upstream = version.split_once(':').map_or(version, |(_, rest)| rest);
    let mut numbers = upstream
        .split(|c: char| !c.is_ascii_digit())
        .map(str::parse::<u32>);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// Reads a one-line-style file: `deb [options] uri suite component…`.
pub(crate) fn parse_list(text: &str) -> Vec<Source> {
    let read = |line: &str| {
        let rest = line
            .trim()
            .strip_prefix("deb")?
            .strip_prefix([' ', '\t'])?
            .trim_start();
        let (options, rest) = match rest.strip_prefix('[') {
            Some(rest) => rest.split_once(']')?,
            None => ("", rest),
        };
        let signed_by = options
            .split_whitespace()
            .find_map(|option| option.strip_prefix("signed-by="));
        let mut words = rest
            .split('#')
            .next()?
            .split_whitespace()
            .map(str::to_owned);
        Some(Source {
            uri: words.next()?,
            suite: words.next()?,
            components: words.collect(),
            signed_by: signed_by.map(str::to_owned),
        })
    };
    text.lines().filter_map(read).collect()
}

/// Reads a deb822-style file: paragraphs of `Field: value`, values going on in indented lines.
pub(crate) fn parse_deb822(text: &str) -> Vec<Source> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    lines
        .split(|line| line.trim().is_empty())
        .flat_map(parse_paragraph)
        .collect()
}

fn parse_paragraph(lines: &[&str]) -> Vec<Source> {
    let field = |name: &str| {
        let is_field = |line: &&&str| {
            line.split_once(':').is_some_and(|(key, _)| {
                !key.starts_with([' ', '\t']) && key.eq_ignore_ascii_case(name)
            })
        };
        let at = lines.iter().position(|line| is_field(&line))?;
        let first = lines[at]
            .split_once(':')
            .map_or("", |(_, value)| value.trim());
        let more = lines[at + 1..]
            .iter()
            .take_while(|line| line.starts_with([' ', '\t']));
        Some(
            std::iter::once(first)
                .chain(more.copied())
                .collect::<Vec<_>>()
                .join("\n")
                .trim_end()
                .to_owned(),
        )
    };
    let words = |name: &str| -> Vec<String> {
        field(name)
            .unwrap_or_default()
            .split_whitespace()
            .map(str::to_owned)
            .collect()
    };
    let disabled = field("Enabled").is_some_and(|value| value.eq_ignore_ascii_case("no"));
    if disabled || !words("Types").iter().any(|kind| kind == "deb") {
        return Vec::new();
    }
    let (suites, components, signed_by) =
        (words("Suites"), words("Components"), field("Signed-By"));
    let with_suites = |uri: String| {
        let source = |suite: &String| Source {
            uri: uri.clone(),
            suite: suite.clone(),
            components: components.clone(),
            signed_by: signed_by.clone(),
        };
        suites.iter().map(source).collect::<Vec<_>>()
    };
    words("URIs").into_iter().flat_map(with_suites).collect()
}

/// Returns the Debian mirror named by the machine's own apt sources.
pub(crate) fn mirror() -> Outcome<Source> {
    let list = fs::read_to_string("/etc/apt/sources.list").unwrap_or_default();
    let mut sources = parse_list(&list);
    let folder = fs::read_dir(Path::new("/etc/apt/sources.list.d"));
    let entries = folder.into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    for file in files {
        let text = fs::read_to_string(&file).unwrap_or_default();
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("list") => sources.extend(parse_list(&text)),
            Some("sources") => sources.extend(parse_deb822(&text)),
            _ => {}
        }
    }
    debian_mirror(&sources)
        .cloned()
        .ok_or_else(|| "apt's sources name no Debian mirror".to_owned())
}

/// The machine's own Debian mirror: the source of a whole release.
pub(crate) fn debian_mirror(sources: &[Source]) -> Option<&Source> {
    const RELEASES: [&str; 6] = [
        "bookworm",
        "trixie",
        "bullseye",
        "stable",
        "oldstable",
        "testing",
    ];
    let is_release = |source: &&Source| {
        RELEASES.contains(&source.suite.as_str()) && source.components.iter().any(|c| c == "main")
    };
    sources.iter().find(is_release)
}

/// A deb822 paragraph for programs and sources of another release from the same mirror, checked
/// with the same key.
pub(crate) fn source_text(mirror: &Source, suite: &str) -> String {
    let key = mirror
        .signed_by
        .as_ref()
        .map(|key| format!("Signed-By: {key}\n"))
        .unwrap_or_default();
    format!(
        "Types: deb deb-src\nURIs: {}\nSuites: {suite}\nComponents: main\n{key}",
        mirror.uri
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_without_their_epoch() {
        assert_eq!(major_minor("1:3.3+b1"), Some((3, 3)));
        assert_eq!(major_minor("3.1.2-7+deb12u1"), Some((3, 1)));
        assert_eq!(major_minor("(none)"), None);
    }

    fn source(uri: &str, suite: &str, signed_by: Option<&str>) -> Source {
        let (uri, suite, signed_by) = (uri.into(), suite.into(), signed_by.map(Into::into));
        Source {
            uri,
            suite,
            components: vec!["main".into()],
            signed_by,
        }
    }

    #[test]
    fn one_line_sources_are_read() {
        let text = "# deb http://old.example/debian bookworm main\ndeb-src http://m.example/debian bookworm main\n\
            deb [arch=amd64 signed-by=/k.gpg] http://m.example/debian bookworm main # mine\ndeb http://s.example/ x main\n";
        let expected = [
            source("http://m.example/debian", "bookworm", Some("/k.gpg")),
            source("http://s.example/", "x", None),
        ];
        assert_eq!(parse_list(text), expected);
    }

    #[test]
    fn deb822_sources_are_read() {
        let text = "Types: deb deb-src\n# a comment\nURIs: http://m.example/debian\nSuites: bookworm bookworm-updates\n\
            Components: main\nSigned-By:\n -----BEGIN-----\n .\n key\n\nEnabled: no\nTypes: deb\nURIs: http://off.example\n\
            Suites: x\nComponents: main\n";
        let key = Some("\n -----BEGIN-----\n .\n key");
        let expected = [
            source("http://m.example/debian", "bookworm", key),
            source("http://m.example/debian", "bookworm-updates", key),
        ];
        assert_eq!(parse_deb822(text), expected);
    }

    #[test]
    fn another_release_comes_from_the_same_mirror() {
        let sources = [
            source(
                "http://s.example/debian-security",
                "bookworm-security",
                None,
            ),
            source("http://m.example/debian", "bookworm", Some("/k.gpg")),
        ];
        let mirror = debian_mirror(&sources).unwrap();
        assert_eq!(
            source_text(mirror, "trixie"),
            "Types: deb deb-src\nURIs: http://m.example/debian\nSuites: trixie\nComponents: main\nSigned-By: /k.gpg\n"
        );
        assert_eq!(debian_mirror(&sources[..1]), None);
    }
}
