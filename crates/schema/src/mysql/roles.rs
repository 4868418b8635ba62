//! What statements say of roles and users.

use super::cursor::Cursor;
use super::lexer::{Executes, Fault, Kind, Token, literal, unquoted};
use super::parser::grantee;
use super::split::{Splitter, Statement};
use crate::roles::{ALL, Change, EVERY, Fact, Found, LIMITS, Login, PASSING, What};
use crate::{Product, Server};

/// Plugins checking a password; other ones ask the system or another server.
const PASSWORD_PLUGINS: [&str; 6] = [
    "caching_sha2_password",
    "ed25519",
    "mysql_native_password",
    "mysql_old_password",
    "parsec",
    "sha256_password",
];

/// Names of MariaDB's privileges, and the names in the server's own lists.
const MARIADB_NAMES: [(&str, &str); 5] = [
    ("DELETE VERSIONING ROWS", "DELETE HISTORY"),
    ("REPLICA MONITOR", "SLAVE MONITOR"),
    ("REPLICATION CLIENT", "BINLOG MONITOR"),
    ("REPLICATION REPLICA", "REPLICATION SLAVE"),
    ("REPLICATION REPLICA ADMIN", "REPLICATION SLAVE ADMIN"),
];

/// The understood statements of a text about roles, up to the first place without SQL.
pub(crate) fn role_changes(text: &str, server: &Server) -> Vec<Found> {
    let mut splitter = Splitter::new(text, Executes::of(server));
    let mut statement = Statement::default();
    let mut all = Vec::new();
    while let Ok(true) = splitter.next(&mut statement) {
        let (start, end) = statement.span();
        // Half of a comment that is executed would be left.
        if is_in_comment(text, &statement.tokens) {
            continue;
        }
        let mut reader = Reader {
            cursor: Cursor::new(&statement.tokens, end),
            server,
            changes: Vec::new(),
            is_noted: false,
        };
        if let Ok(Some(())) = reader.statement() {
            all.push(Found {
                start,
                end,
                changes: reader.changes,
                is_noted: reader.is_noted,
            });
        }
    }
    all
}

/// Whether a comment executed by the server begins or ends in a statement.
fn is_in_comment(text: &str, tokens: &[Token<'_>]) -> bool {
    let is_executed = |gap: &str| {
        let is_closed_only = gap.contains("*/") && !gap.contains("/*");
        gap.contains("/*!") || gap.contains("/*M!") || is_closed_only
    };
    let end = tokens.last().map_or(0, Token::end);
    let mut gaps = tokens
        .windows(2)
        .map(|pair| &text[pair[0].end()..pair[1].at]);
    gaps.any(is_executed) || text[end..].trim_start().starts_with("*/")
}

/// Facts with values; `None` is the default.
type Facts = Vec<(Fact, Option<String>)>;

/// Read as far as understood; `None` for what is not about roles, or not compared.
type Read = Result<Option<()>, Fault>;

struct Reader<'r, 's> {
    cursor: Cursor<'r, 's>,
    server: &'r Server,
    changes: Vec<Change>,
    /// Whether a part of the statement is not compared.
    is_noted: bool,
}

impl Reader<'_, '_> {
    fn statement(&mut self) -> Read {
        let cursor = &mut self.cursor;
        if cursor.eat("CREATE") {
            cursor.eat_seq(&["OR", "REPLACE"]);
            if cursor.eat("ROLE") {
                return self.created_roles();
            }
            return match cursor.eat("USER") {
                true => self.created_users(),
                false => Ok(None),
            };
        }
        if cursor.eat_seq(&["ALTER", "USER"]) {
            return self.altered();
        }
        if cursor.eat_seq(&["SET", "DEFAULT", "ROLE"]) {
            return self.default_role();
        }
        let gives = cursor.eat("GRANT");
        if gives || cursor.eat("REVOKE") {
            return self.granted(gives);
        }
        Ok(None)
    }

    fn done(&self) -> Read {
        Ok(self.cursor.is_done().then_some(()))
    }

    fn push(&mut self, role: &str, what: What) {
        let role = role.to_owned();
        self.changes.push(Change { role, what });
    }

    fn set(&mut self, role: &str, fact: Fact, value: Option<String>) {
        self.push(role, What::Set(fact, value));
    }

    /// Reads users or roles with commas between them.
    fn accounts(&mut self) -> Result<Vec<String>, Fault> {
        let mut all = vec![grantee(&mut self.cursor, self.server)?];
        while self.cursor.eat_op(",") {
            all.push(grantee(&mut self.cursor, self.server)?);
        }
        Ok(all)
    }

    fn created_roles(&mut self) -> Read {
        self.cursor.eat_seq(&["IF", "NOT", "EXISTS"]);
        for role in self.accounts()? {
            let (is_user, login) = (false, Login::default());
            self.push(&role, What::Create { is_user, login });
        }
        self.done()
    }

    fn created_users(&mut self) -> Read {
        self.cursor.eat_seq(&["IF", "NOT", "EXISTS"]);
        self.with_users(|login| What::Create {
            is_user: true,
            login,
        })
    }

    fn altered(&mut self) -> Read {
        self.cursor.eat_seq(&["IF", "EXISTS"]);
        self.with_users(What::Login)
    }

    /// Reads users with options; `what` makes the change of each login.
    fn with_users(&mut self, what: fn(Login) -> What) -> Read {
        let users = self.users()?;
        let Some((rules, facts)) = self.options()? else {
            return Ok(None);
        };
        let names: Vec<String> = users.iter().map(|(user, _)| user.clone()).collect();
        for (user, mut login) in users {
            login.rules.clone_from(&rules);
            self.push(&user, what(login));
        }
        self.set_all(&names, facts);
        self.done()
    }

    /// Reads users with commas between, each with a login.
    fn users(&mut self) -> Result<Vec<(String, Login)>, Fault> {
        let mut users = Vec::new();
        loop {
            let user = grantee(&mut self.cursor, self.server)?;
            users.push((user, self.login()));
            if !self.cursor.eat_op(",") {
                return Ok(users);
            }
        }
    }

    fn set_all(&mut self, roles: &[String], facts: Facts) {
        for role in roles {
            for (fact, value) in &facts {
                self.set(role, fact.clone(), value.clone());
            }
        }
    }

    /// How a user logs in, as written.
    fn login(&mut self) -> Login {
        let first = self.cursor.at;
        if self.cursor.eat("IDENTIFIED") {
            self.cursor.eat("WITH");
            while !self.cursor.is_done() && !self.cursor.is_op(",") {
                // Both go on with words that begin an option elsewhere.
                let goes_on = self.cursor.eat_seq(&["RANDOM", "PASSWORD"])
                    || self.cursor.eat_seq(&["IDENTIFIED", "WITH"]);
                if !goes_on && self.begins_option() {
                    break;
                }
                self.cursor.at += usize::from(!goes_on);
            }
        }
        login_of(self.cursor.since(first))
    }

    /// Whether an option of a user is next. `PASSWORD` alone belongs to the way of the login.
    fn begins_option(&self) -> bool {
        let cursor = &self.cursor;
        let words = ["REQUIRE", "WITH", "ACCOUNT", "COMMENT", "ATTRIBUTE"];
        cursor.is_any(&words) || cursor.is_seq(&["DEFAULT", "ROLE"]) || self.begins_rule()
    }

    fn begins_rule(&self) -> bool {
        let cursor = &self.cursor;
        let kinds = ["EXPIRE", "HISTORY", "REUSE", "REQUIRE"];
        let is_of_password = kinds.iter().any(|kind| cursor.is_seq(&["PASSWORD", kind]));
        is_of_password || cursor.is_any(&["FAILED_LOGIN_ATTEMPTS", "PASSWORD_LOCK_TIME"])
    }

    /// Reads the options behind users: the rules of passwords and comments as written, and facts.
    fn options(&mut self) -> Result<Option<(String, Facts)>, Fault> {
        let (mut rules, mut facts) = (Vec::new(), Vec::new());
        while !self.cursor.is_done() {
            if self.cursor.eat_seq(&["DEFAULT", "ROLE"]) {
                facts.push((Fact::DefaultRole, self.roles_or_none()?));
            } else if self.cursor.eat("REQUIRE") {
                let required = self.required();
                facts.push((Fact::Attribute("REQUIRE"), required));
            } else if self.cursor.eat("WITH") {
                self.limits(&mut facts)?;
            } else if self.cursor.eat("ACCOUNT") {
                let is_locked = self.cursor.eat("LOCK");
                if !is_locked {
                    self.cursor.expect("UNLOCK")?;
                }
                let value = is_locked.then(|| "LOCK".to_owned());
                facts.push((Fact::Attribute("ACCOUNT"), value));
            } else if self.begins_rule() || self.cursor.is_any(&["COMMENT", "ATTRIBUTE"]) {
                rules.extend(self.rule()?);
            } else {
                return Ok(None);
            }
        }
        Ok(Some((rules.join(" "), facts)))
    }

    /// One rule, as written; `None` for the default.
    fn rule(&mut self) -> Result<Option<String>, Fault> {
        let start = self.cursor.at;
        // The words by which it begins may begin another one, too.
        self.cursor.any()?;
        self.cursor.any()?;
        while !self.cursor.is_done() && !self.begins_option() {
            self.cursor.at += 1;
        }
        let tokens = self.cursor.since(start);
        let is_default = tokens.last().is_some_and(|last| last.is("DEFAULT"));
        Ok((!is_default).then(|| joined(tokens)))
    }

    /// What encryption a login requires, in one spelling and order; `None` for nothing.
    fn required(&mut self) -> Option<String> {
        let start = self.cursor.at;
        while !self.cursor.is_done() && !self.begins_option() {
            self.cursor.at += 1;
        }
        let tokens = self
            .cursor
            .since(start)
            .iter()
            .filter(|token| !token.is("AND"));
        let mut parts: Vec<String> = Vec::new();
        for token in tokens {
            match (token.kind, parts.last_mut()) {
                (Kind::Text, Some(part)) => {
                    part.push(' ');
                    part.push_str(&literal(&unquoted(token.text)));
                }
                _ => parts.push(token.text.to_uppercase()),
            }
        }
        parts.sort_unstable();
        let all = parts.join(" ");
        (all != "NONE").then_some(all)
    }

    fn limits(&mut self, facts: &mut Facts) -> Result<(), Fault> {
        while let Some(name) = LIMITS.into_iter().find(|name| self.cursor.eat(name)) {
            let written = self.cursor.any()?.text;
            let number = match written.split_once('.') {
                Some((whole, part)) if part.trim_matches('0').is_empty() => whole,
                Some(_) => written.trim_end_matches('0'),
                None => written,
            };
            let is_limit = number != "0";
            facts.push((Fact::Attribute(name), is_limit.then(|| number.to_owned())));
        }
        Ok(())
    }

    fn roles_or_none(&mut self) -> Result<Option<String>, Fault> {
        if self.cursor.eat("NONE") {
            return Ok(None);
        }
        if self.cursor.eat(ALL) {
            return Ok(Some(ALL.to_owned()));
        }
        let mut roles = self.accounts()?;
        roles.sort_unstable();
        Ok(Some(roles.join(", ")))
    }

    fn default_role(&mut self) -> Read {
        let roles = self.roles_or_none()?;
        if !self.cursor.eat("TO") {
            self.cursor.expect("FOR")?;
        }
        let users = self.accounts()?;
        self.set_all(&users, vec![(Fact::DefaultRole, roles)]);
        self.done()
    }

    /// Reads a grant of roles, or of privileges on the whole server.
    fn granted(&mut self, gives: bool) -> Read {
        let start = self.cursor.at;
        match self.privileges()? {
            Some(names) => self.global(names, gives),
            None => {
                self.cursor.at = start;
                self.membership(gives)
            }
        }
    }

    /// The privileges before `ON *.*`; `None` where there is no such `ON`.
    fn privileges(&mut self) -> Result<Option<Vec<String>>, Fault> {
        let (mut names, mut words) = (Vec::new(), Vec::new());
        while !self.cursor.is_done() {
            if self.cursor.eat_op(",") {
                names.push(std::mem::take(&mut words).join(" "));
            } else if self.cursor.eat("ON") {
                names.push(words.join(" "));
                let is_global =
                    self.cursor.eat_op("*") && self.cursor.eat_op(".") && self.cursor.eat_op("*");
                return Ok(is_global.then_some(names));
            } else {
                words.push(self.cursor.any()?.text.to_uppercase());
            }
        }
        Ok(None)
    }

    fn global(&mut self, names: Vec<String>, gives: bool) -> Read {
        if !self.cursor.eat(if gives { "TO" } else { "FROM" }) {
            return Ok(None);
        }
        let accounts = self.accounts()?;
        let mut names: Vec<String> = names.iter().map(|name| self.stored(name)).collect();
        if gives && self.cursor.eat_seq(&["WITH", "GRANT", "OPTION"]) {
            names.push(PASSING.to_owned());
        }
        if names.iter().any(|name| name == EVERY) {
            if !gives {
                return Ok(None);
            }
            self.is_noted = self.server.product == Product::Mysql;
        }
        names.retain(|name| name != "USAGE");
        for account in accounts {
            for name in &names {
                let value = gives.then(String::new);
                self.set(&account, Fact::Privilege(name.clone()), value);
            }
        }
        self.done()
    }

    fn membership(&mut self, gives: bool) -> Read {
        let is_option = !gives && self.cursor.eat_seq(&["ADMIN", "OPTION", "FOR"]);
        let roles = self.accounts()?;
        if !self.cursor.eat(if gives { "TO" } else { "FROM" }) {
            return Ok(None);
        }
        let members = self.accounts()?;
        let is_admin = gives && self.cursor.eat_seq(&["WITH", "ADMIN", "OPTION"]);
        for member in &members {
            for role in &roles {
                if !is_option {
                    let value = gives.then(String::new);
                    self.set(member, Fact::Membership(role.clone()), value);
                }
                if is_admin || is_option {
                    let value = is_admin.then(|| "true".to_owned());
                    self.set(member, Fact::Option(role.clone(), "ADMIN"), value);
                }
            }
        }
        self.done()
    }

    /// A privilege's name as stored by the server.
    fn stored(&self, name: &str) -> String {
        let is_mariadb = self.server.product == Product::MariaDb;
        let mut known = MARIADB_NAMES.iter().filter(|_| is_mariadb);
        match known.find(|(written, _)| *written == name) {
            Some((_, stored)) => (*stored).to_owned(),
            None if name == "ALL" => EVERY.to_owned(),
            None => name.to_owned(),
        }
    }
}

/// Tokens as written, with a space between.
fn joined(tokens: &[Token<'_>]) -> String {
    let words: Vec<&str> = tokens.iter().map(|token| token.text).collect();
    words.join(" ")
}

/// The login of a user by the tokens from `IDENTIFIED` on, which may be none.
fn login_of(tokens: &[Token<'_>]) -> Login {
    let names_plugin = |token: &Token<'_>| token.is("WITH") || token.is("VIA") || token.is("OR");
    let pairs = || tokens.windows(2);
    let is_random = pairs().any(|pair| pair[0].is("RANDOM") && pair[1].is("PASSWORD"));
    let is_secret = pairs().any(|pair| {
        let is_text = matches!(pair[1].kind, Kind::Text | Kind::Number);
        is_text && !names_plugin(&pair[0]) && !unquoted(pair[1].text).is_empty()
    });
    let mut plugins = pairs().filter(|pair| names_plugin(&pair[0]));
    let asks_password = match plugins.next() {
        Some(pair) => {
            let name = pair[1].text.trim_matches(['\'', '"', '`']).to_lowercase();
            PASSWORD_PLUGINS.contains(&name.as_str())
        }
        None => true,
    };
    Login {
        way: joined(tokens),
        rules: String::new(),
        is_secret: is_secret && asks_password,
        is_open: asks_password && !is_secret && !is_random,
    }
}
