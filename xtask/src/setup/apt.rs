//! What `apt-get` and `apt-cache` print, and what apt's source files say. Pure: text in, facts out.

/// What `apt-get -s install` would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// `name version` of packages that would be new.
    pub(crate) install: Vec<String>,
    /// `name old → new` of packages that would change their version.
    pub(crate) upgrade: Vec<String>,
    /// Names of packages that would go.
    pub(crate) remove: Vec<String>,
}

/// One place that packages come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) uri: String,
    pub(crate) suite: String,
    pub(crate) components: Vec<String>,
    /// Path of a keyring, or the key itself over several lines.
    pub(crate) signed_by: Option<String>,
}

/// One line of the version table of `apt-cache policy`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    pub(crate) version: String,
    /// Suites that have it, such as `trixie`.
    pub(crate) suites: Vec<String>,
    /// Whether apt would take this one unasked.
    pub(crate) candidate: bool,
    /// What apt goes by; what is installed stays the candidate also where another release has a higher one.
    pub(crate) priority: i32,
}

impl Changes {
    /// Reads the output of `apt-get -s install`.
    pub(crate) fn parse(text: &str) -> Self {
        let mut changes = Self::default();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            match (words.next(), words.next()) {
                (Some("Inst"), Some(name)) => changes.add(name, words.next(), words.next()),
                (Some("Remv"), Some(name)) => changes.remove.push(name.to_owned()),
                _ => {}
            }
        }
        changes.join_renamed();
        changes
    }

    /// Debian 13 renamed libraries to `…t64`: that is an upgrade, not a loss.
    fn join_renamed(&mut self) {
        let renamed = |old: &String| {
            self.install
                .iter()
                .position(|new| new.starts_with(&format!("{old}t64 ")))
        };
        let (gone, replaced): (Vec<String>, Vec<String>) = self
            .remove
            .iter()
            .cloned()
            .partition(|old| renamed(old).is_none());
        for old in replaced {
            let prefix = format!("{old}t64 ");
            if let Some(at) = self.install.iter().position(|new| new.starts_with(&prefix)) {
                let new = self.install.remove(at);
                self.upgrade.push(format!("{old} → {new}"));
            }
        }
        self.remove = gone;
    }

    /// `Inst name [old] (new …)` changes a package, `Inst name (new …)` adds one.
    fn add(&mut self, name: &str, first: Option<&str>, second: Option<&str>) {
        let bare = |word: Option<&str>| {
            word.unwrap_or_default()
                .trim_matches(['[', ']', '(', ')'])
                .to_owned()
        };
        if first.is_some_and(|word| word.starts_with('[')) {
            self.upgrade
                .push(format!("{name} {} → {}", bare(first), bare(second)));
        } else {
            self.install.push(format!("{name} {}", bare(first)));
        }
    }

    /// The lists one shows before doing it.
    pub(crate) fn describe(&self) -> String {
        let part = |title: &str, list: &[String]| match list {
            [] => String::new(),
            list => format!("  {title} ({}): {}\n", list.len(), list.join(", ")),
        };
        part("will install", &self.install)
            + &part("will upgrade", &self.upgrade)
            + &part("will REMOVE", &self.remove)
    }
}

/// Reads the version table of `apt-cache policy` for one package.
pub(crate) fn parse_policy(text: &str) -> Vec<Offer> {
    let field = |name: &str| {
        text.lines()
            .find_map(|line| line.trim().strip_prefix(name))
            .map(str::trim)
    };
    let candidate = field("Candidate:");
    let mut offers: Vec<Offer> = Vec::new();
    for line in text
        .lines()
        .skip_while(|line| !line.contains("Version table:"))
        .skip(1)
    {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["***", version, priority] | [version, priority]
                if !version.starts_with('/') && !words.contains(&"/var/lib/dpkg/status") =>
            {
                let version = (*version).to_owned();
                let candidate = candidate == Some(version.as_str());
                offers.push(Offer {
                    version,
                    suites: Vec::new(),
                    candidate,
                    priority: priority.parse().unwrap_or(0),
                });
            }
            [_priority, _uri, suite, ..] => {
                let suite = suite.split('/').next().unwrap_or_default().to_owned();
                offers
                    .iter_mut()
                    .next_back()
                    .into_iter()
                    .for_each(|offer| offer.suites.push(suite.clone()));
            }
            _ => {}
        }
    }
    offers
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

/// A deb822 paragraph for another release from the same mirror, checked with the same key.
pub(crate) fn source_text(mirror: &Source, suite: &str) -> String {
    let key = mirror
        .signed_by
        .as_ref()
        .map(|key| format!("Signed-By: {key}\n"))
        .unwrap_or_default();
    format!(
        "Types: deb\nURIs: {}\nSuites: {suite}\nComponents: main\n{key}",
        mirror.uri
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_simulation_is_read() {
        let text = "NOTE: This is only a simulation!\nReading package lists...\n\
            Inst libc6 [2.36-9+deb12u10] (2.41-12 Debian:13.1/stable [amd64]) [libc6-dev:amd64 ]\n\
            Inst ruby (1:3.3+b1 Debian:13.1/stable [amd64])\nRemv old [1.0]\nConf ruby (1:3.3+b1 Debian:13.1/stable [amd64])\n";
        let changes = Changes::parse(text);
        assert_eq!(changes.install, ["ruby 1:3.3+b1"]);
        assert_eq!(changes.upgrade, ["libc6 2.36-9+deb12u10 → 2.41-12"]);
        assert_eq!(changes.remove, ["old"]);
        assert_eq!(
            changes.describe(),
            "  will install (1): ruby 1:3.3+b1\n  will upgrade (1): libc6 2.36-9+deb12u10 → 2.41-12\n  will REMOVE (1): old\n"
        );
    }

    #[test]
    fn a_renamed_library_is_no_loss() {
        let changes = Changes::parse(
            "Remv libssl3 [3.0]\nInst libssl3t64 (3.5 Debian:13 [amd64])\nRemv gone [1]\n",
        );
        assert_eq!(changes.upgrade, ["libssl3 → libssl3t64 3.5"]);
        assert_eq!(
            (changes.install.len(), changes.remove),
            (0, vec!["gone".to_owned()])
        );
    }

    #[test]
    fn a_version_table_is_read() {
        let text = "ruby:\n  Installed: 1:3.3+b1\n  Candidate: 1:3.3+b1\n  Version table:\n \
            *** 1:3.3+b1 100\n        100 http://mirror.example/debian trixie/main amd64 Packages\n        \
            100 /var/lib/dpkg/status\n     1:3.1 500\n        500 http://mirror.example/debian bookworm/main amd64 Packages\n";
        let offer = |version: &str, suite: &str, candidate, priority| Offer {
            version: version.into(),
            suites: vec![suite.into()],
            candidate,
            priority,
        };
        assert_eq!(
            parse_policy(text),
            [
                offer("1:3.3+b1", "trixie", true, 100),
                offer("1:3.1", "bookworm", false, 500)
            ]
        );
        assert_eq!(parse_policy("N: Unable to locate package ruby\n"), []);
    }

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
            "Types: deb\nURIs: http://m.example/debian\nSuites: trixie\nComponents: main\nSigned-By: /k.gpg\n"
        );
        assert_eq!(debian_mirror(&sources[..1]), None);
    }
}
