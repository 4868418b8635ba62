//! What statements say of roles.

use super::kept::Words;
use super::name::{literal, quote};
use super::split::{self, PieceKind, without_comments};
use crate::roles::{Change, Fact, Found, LIMITS, Login, RIGHTS, What};

/// Settings with a list of names as the value, quoted where needed.
pub const NAME_LISTS: [&str; 6] = [
    "local_preload_libraries",
    "search_path",
    "session_preload_libraries",
    "shared_preload_libraries",
    "temp_tablespaces",
    "unix_socket_directories",
];

/// The understood statements of a text about roles.
pub(crate) fn role_changes(text: &str) -> Vec<Found> {
    let pieces = split::pieces(text).into_iter();
    let statements = pieces.filter(|piece| piece.kind == PieceKind::Statement);
    let found = statements.filter_map(|piece| {
        Some(Found {
            start: piece.start,
            end: piece.end,
            changes: changes(&without_comments(&text[piece.start..piece.end]))?,
            is_noted: false,
        })
    });
    found.collect()
}

fn changes(text: &str) -> Option<Vec<Change>> {
    let mut words = Words::new(text);
    if words.word("CREATE") {
        return created(&mut words);
    }
    if words.word("ALTER") {
        return altered(&mut words);
    }
    if words.word("GRANT") {
        return granted(&mut words);
    }
    if words.word("REVOKE") {
        return revoked(&mut words);
    }
    if words.words("COMMENT ON ROLE") {
        let role = quote(&words.name()?);
        let text = match words.words("IS NULL") {
            true => None,
            false => Some(words.word("IS").then(|| words.string())??),
        };
        let text = text.filter(|text| !text.is_empty());
        let comment = set(&role, Fact::Comment, text.as_deref().map(literal));
        return words.rest().is_empty().then(|| vec![comment]);
    }
    None
}

fn set(role: &str, fact: Fact, value: Option<String>) -> Change {
    Change {
        role: role.to_owned(),
        what: What::Set(fact, value),
    }
}

/// Reads `ROLE`, `USER` or `GROUP`; returns `true` for `USER`.
fn kind(words: &mut Words<'_>) -> Option<bool> {
    if words.word("USER") {
        return (!words.word("MAPPING")).then_some(true);
    }
    (words.word("ROLE") || words.word("GROUP")).then_some(false)
}

fn created(words: &mut Words<'_>) -> Option<Vec<Change>> {
    let is_user = kind(words)?;
    let role = quote(&words.name()?);
    let mut options = Options::of(&role);
    if is_user {
        options.right("LOGIN", true);
    }
    let _ = words.word("WITH");
    while !words.rest().is_empty() {
        options.read(words)?;
    }
    let create = What::Create {
        // One word for both: a user is a role that logs in.
        is_user: false,
        login: std::mem::take(&mut options.login),
    };
    let mut all = vec![Change { role, what: create }];
    all.append(&mut options.changes);
    Some(all)
}

fn altered(words: &mut Words<'_>) -> Option<Vec<Change>> {
    kind(words)?;
    let role = words.name().filter(|_| !words.words("RENAME TO"))?;
    // Written without quotes, `ALL` means every role.
    if role == "all" {
        return None;
    }
    let role = quote(&role);
    let database = match words.words("IN DATABASE") {
        true => Some(quote(&words.name()?)),
        false => None,
    };
    if words.word("SET") {
        let (name, value) = setting(words)?;
        return Some(vec![set(&role, Fact::Setting { database, name }, value)]);
    }
    if words.word("RESET") {
        let name = words.rest().to_lowercase();
        let is_one = name != "all";
        let fact = Fact::Setting { database, name };
        return is_one.then(|| vec![set(&role, fact, None)]);
    }
    let mut options = Options::of(&role);
    let _ = words.word("WITH");
    while !words.rest().is_empty() {
        options.read(words)?;
    }
    let Options {
        login, mut changes, ..
    } = options;
    let what = What::Login(login);
    changes.push(Change { role, what });
    Some(changes)
}

/// A setting's name and value in one spelling; without a value for the default.
fn setting(words: &mut Words<'_>) -> Option<(String, Option<String>)> {
    let name = words.upto('=').to_lowercase();
    if words.words("FROM CURRENT") {
        return None;
    }
    if !words.word("TO") {
        words.rest().starts_with('=').then(|| words.skip_letter())?;
    }
    if words.rest().eq_ignore_ascii_case("DEFAULT") {
        return Some((name, None));
    }
    let mut items = Vec::new();
    loop {
        let item = words.string().or_else(|| words.name());
        items.push(match item {
            Some(item) => item,
            None => number(words.upto(','))?,
        });
        if words.rest().is_empty() {
            break;
        }
        words.rest().starts_with(',').then(|| words.skip_letter())?;
    }
    let value = match NAME_LISTS.contains(&name.as_str()) {
        true => items
            .iter()
            .map(|item| literal(item))
            .collect::<Vec<_>>()
            .join(", "),
        false => literal(&items.join(", ")),
    };
    Some((name, Some(value)))
}

/// A number as written; `None` for other text.
fn number(text: &str) -> Option<String> {
    let is_part = |letter: char| letter.is_ascii_digit() || "+-.eE".contains(letter);
    (!text.is_empty() && text.chars().all(is_part)).then(|| text.to_owned())
}

/// What the options of `CREATE` or `ALTER` change.
struct Options {
    role: String,
    login: Login,
    changes: Vec<Change>,
}

impl Options {
    fn of(role: &str) -> Options {
        Options {
            role: role.to_owned(),
            login: Login::default(),
            changes: Vec::new(),
        }
    }

    fn set(&mut self, fact: Fact, value: Option<String>) {
        self.changes.push(set(&self.role, fact, value));
    }

    fn right(&mut self, name: &'static str, holds: bool) {
        self.set(Fact::Attribute(name), holds.then(|| "true".to_owned()));
    }

    /// Reads one option; `None` for an unknown one and for one about other roles.
    fn read(&mut self, words: &mut Words<'_>) -> Option<()> {
        for name in RIGHTS {
            if words.word(name) {
                self.right(name, true);
                return Some(());
            }
            if words.word(&format!("NO{name}")) {
                self.right(name, false);
                return Some(());
            }
        }
        if words.word("INHERIT") {
            self.right("NOINHERIT", false);
        } else if words.word("NOINHERIT") {
            self.right("NOINHERIT", true);
        } else if words.words("CONNECTION LIMIT") {
            let limit: i64 = words.upto(';').parse().ok()?;
            self.set(
                Fact::Attribute(LIMITS[0]),
                (limit >= 0).then(|| limit.to_string()),
            );
        } else if words.words("VALID UNTIL") {
            let until = words.string()?;
            let until = match until.as_str() {
                "infinity" => None,
                until => Some(moment(until)?),
            };
            self.set(Fact::Attribute("VALID UNTIL"), until);
        } else if words.words("IN ROLE") || words.words("IN GROUP") {
            for of in words.names()? {
                self.set(Fact::Membership(quote(&of)), Some(String::new()));
            }
        } else {
            let _ = words.word("ENCRYPTED");
            if !words.word("PASSWORD") {
                return None;
            }
            if !words.word("NULL") {
                self.login = Login {
                    way: format!("PASSWORD {}", literal(&words.string()?)),
                    is_secret: true,
                    ..Login::default()
                };
            }
        }
        Some(())
    }
}

/// A point in time in one spelling: `2030-01-31 00:00:00+00`. Without a zone UTC is meant.
fn moment(text: &str) -> Option<String> {
    let text = text.trim().replace('T', " ");
    let text = text.strip_suffix('Z').unwrap_or(&text);
    let text = text.strip_suffix("UTC").unwrap_or(text).trim();
    let text = ["+00:00", "+0000", "+00"]
        .iter()
        .find_map(|zone| text.strip_suffix(zone))
        .unwrap_or(text);
    let (day, time) = text.split_once(' ').unwrap_or((text, "00:00:00"));
    let is_like = |text: &str, like: &str| {
        text.len() == like.len()
            && text
                .bytes()
                .zip(like.bytes())
                .all(|(byte, like)| match like {
                    b'0' => byte.is_ascii_digit(),
                    like => byte == like,
                })
    };
    let time = match is_like(time, "00:00") {
        true => format!("{time}:00"),
        false => time.to_owned(),
    };
    let is_moment = is_like(day, "0000-00-00") && is_like(&time, "00:00:00");
    is_moment.then(|| format!("{day} {time}+00"))
}

/// `GRANT role, … TO member, …`; privileges, which have `ON`, are not taken.
fn granted(words: &mut Words<'_>) -> Option<Vec<Change>> {
    let (roles, members) = sides(words, "TO")?;
    let mut options: Vec<(&'static str, Option<String>)> = Vec::new();
    if words.word("WITH") {
        loop {
            let name = ["ADMIN", "INHERIT", "SET"]
                .into_iter()
                .find(|name| words.word(name))?;
            let is_set = words.word("OPTION") || words.word("TRUE");
            let is_set = is_set || !words.word("FALSE").then_some(true)?;
            options.push((name, value_of(name, is_set)));
            if !words.rest().starts_with(',') {
                break;
            }
            words.skip_letter();
        }
    }
    grantor(words)?;
    let mut all = Vec::new();
    for (role, member) in pairs(&roles, &members) {
        all.push(set(
            member,
            Fact::Membership(role.clone()),
            Some(String::new()),
        ));
        for (name, value) in &options {
            all.push(set(member, Fact::Option(role.clone(), name), value.clone()));
        }
    }
    Some(all)
}

/// An option's value; `None` for the default.
fn value_of(name: &str, is_set: bool) -> Option<String> {
    let is_usual = match name {
        "ADMIN" => !is_set,
        "SET" => is_set,
        _ => false,
    };
    (!is_usual).then(|| is_set.to_string())
}

fn revoked(words: &mut Words<'_>) -> Option<Vec<Change>> {
    let option = ["ADMIN", "INHERIT", "SET"]
        .into_iter()
        .find(|name| words.words(&format!("{name} OPTION FOR")));
    let (roles, members) = sides(words, "FROM")?;
    grantor(words)?;
    let one = |(role, member): (&String, &String)| match option {
        Some(name) => {
            let fact = Fact::Option(role.clone(), name);
            set(member, fact, value_of(name, false))
        }
        None => set(member, Fact::Membership(role.clone()), None),
    };
    Some(pairs(&roles, &members).map(one).collect())
}

/// The roles before and behind a word, spelled.
fn sides(words: &mut Words<'_>, word: &str) -> Option<(Vec<String>, Vec<String>)> {
    let roles = words.names()?;
    if !words.word(word) {
        return None;
    }
    let members = words.grantees()?;
    let spelled = |names: Vec<String>| names.iter().map(|name| quote(name)).collect();
    Some((spelled(roles), spelled(members)))
}

fn pairs<'a>(
    roles: &'a [String],
    members: &'a [String],
) -> impl Iterator<Item = (&'a String, &'a String)> {
    let of = move |member| roles.iter().map(move |role| (role, member));
    members.iter().flat_map(of)
}

/// Passes over who grants; `None` when something else follows.
fn grantor(words: &mut Words<'_>) -> Option<()> {
    if words.words("GRANTED BY") {
        words.name()?;
    }
    let _ = words.word("CASCADE") || words.word("RESTRICT");
    words.rest().is_empty().then_some(())
}
