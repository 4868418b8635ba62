//! Known differences, wanted or accepted; `docs/hurl.md` gives the reason of each by title.

use super::Kind;
use super::cases::Case;
use super::server::hex;
use super::verdict::Verdict;

/// A row of the list.
pub(super) struct Known {
    /// Stands in the documentation, word for word.
    pub(super) title: &'static str,
    covers: fn(&Case, Kind, &Verdict, &Verdict) -> bool,
}

const KNOWN: [Known; 20] = [
    Known {
        title: "Filters inside `{{…}}`",
        covers: |case, _, _, ours| {
            let inner = case.cause.strip_prefix("template {{");
            inner.is_some_and(|inner| inner.contains(' '))
                || refuses(ours, "has no matching `}}`")
                || refuses(ours, "expected the name of a variable after `{{`")
        },
    },
    Known {
        title: "Older names of predicates",
        covers: |case, kind, _, _| {
            const NAMES: [&str; 4] = ["equals", "Equals", "greaterThan", "lessThan"];
            let has = |name: &&str| case.text.contains(&format!("{name} "));
            kind == Kind::Passes && NAMES.iter().any(has)
        },
    },
    Known {
        title: "Bodies of JSON are compared by their values",
        covers: |case, kind, _, _| kind == Kind::Passes && case.cause.starts_with("demand {"),
    },
    Known {
        title: "More kinds of texts between lines of ```` ``` ````",
        covers: |case, kind, theirs, _| {
            kind == Kind::Passes
                && case.text.contains("```")
                && refuses(theirs, "Invalid language hint")
        },
    },
    Known {
        title: "The path of a cookie that does not begin with `/`",
        covers: |case, kind, _, _| {
            let path = hex(b"Path=x");
            matches!(kind, Kind::Sends | Kind::Fails) && case.text.contains(&path)
        },
    },
    Known {
        title: "`Expires` with a year of two digits",
        covers: |case, kind, _, _| kind == Kind::Passes && case.cause.contains("a[Expires]"),
    },
    Known {
        title: "An item of `redirects` is an object",
        covers: |case, _, _, _| case.cause == "redirects redirects nth 0 isObject",
    },
    Known {
        title: "Paths are sent as they are written",
        covers: |case, kind, _, _| {
            matches!(kind, Kind::Passes | Kind::Sends)
                && (case.text.contains("/../") || case.text.contains('\\'))
                && case.cause.starts_with("syntax \"GET ")
        },
    },
    Known {
        title: "A URL may be a path alone",
        covers: |_, _, theirs, _| fails(theirs, "Missing scheme"),
    },
    Known {
        title: "Options that are refused",
        covers: |_, _, _, ours| refuses(ours, "this option "),
    },
    Known {
        title: "What says how to connect is looked at before the run",
        covers: |case, kind, _, ours| {
            const WORDS: [&str; 3] = ["No such file", "is not HOST:PORT", "`key` belongs"];
            kind == Kind::Refused
                && case.cause.starts_with("option ")
                && WORDS.iter().any(|words| refuses(ours, words))
        },
    },
    Known {
        title: "HTTP/2 over TLS",
        covers: |case, kind, theirs, _| {
            let asks = case.is_tls && case.text.contains("HTTP/2 200");
            kind == Kind::Passes && asks && !matches!(theirs, Verdict::Refused(_))
        },
    },
    Known {
        title: "A flow without a request",
        covers: |_, _, _, ours| refuses(ours, "no request"),
    },
    Known {
        title: "Two forms, or a form and a body",
        covers: |_, _, _, ours| refuses(ours, "not both") || refuses(ours, "not two"),
    },
    Known {
        title: "The name of a capture is written out",
        covers: |case, _, _, ours| {
            refuses(ours, "expected `name: query`") || case.cause.contains("{{abc}}: status")
        },
    },
    Known {
        title: "Numbers beyond 64 bits are compared as numbers",
        covers: |case, kind, _, _| {
            let is_big = ["$.big\"", "$.bigger\""]
                .iter()
                .any(|path| case.text.contains(path));
            is_big && kind != Kind::Refused
        },
    },
    Known {
        title: "The order of cookies with equally long paths",
        covers: |case, _, theirs, ours| {
            let sorted = |verdict: &Verdict| match verdict {
                Verdict::Passed(requests) => {
                    let mut letters: Vec<char> = requests.concat().chars().collect();
                    letters.sort_unstable();
                    letters
                }
                _ => Vec::new(),
            };
            case.cause == "two cookies" && sorted(theirs) == sorted(ours)
        },
    },
    Known {
        title: "Letters that no URL has are percent-encoded",
        covers: |case, kind, _, _| {
            let is_odd = |line: &str| {
                let (_, path) = line.split_once('§').unwrap_or_default();
                path.contains(['<', '>', '"', '\\']) || !path.is_ascii()
            };
            matches!(kind, Kind::Sends | Kind::Fails) && case.text.lines().any(is_odd)
        },
    },
    Known {
        title: "The name of a variable begins with a letter or `_`",
        covers: |case, _, _, ours| {
            case.cause == "damaged flow" && refuses(ours, "expected a JSON value")
        },
    },
    Known {
        title: "Spelling that `hurl` does not read",
        covers: |case, kind, theirs, _| {
            kind == Kind::Passes
                && case.cause == "damaged flow"
                && matches!(theirs, Verdict::Refused(_))
        },
    },
];

fn refuses(verdict: &Verdict, words: &str) -> bool {
    matches!(verdict, Verdict::Refused(why) if why.contains(words))
}

fn fails(verdict: &Verdict, words: &str) -> bool {
    matches!(verdict, Verdict::Failed(why) if why.contains(words))
}

pub(super) fn of(
    case: &Case,
    kind: Kind,
    theirs: &Verdict,
    ours: &Verdict,
) -> Option<&'static Known> {
    static ROWS: [Known; KNOWN.len()] = KNOWN;
    ROWS.iter()
        .find(|row| (row.covers)(case, kind, theirs, ours))
}

#[cfg(test)]
pub(super) fn titles() -> impl Iterator<Item = &'static str> {
    KNOWN.into_iter().map(|row| row.title)
}
