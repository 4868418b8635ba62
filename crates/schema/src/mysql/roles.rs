//! What statements say of roles and users.

use super::cursor::Cursor;
use super::lex::{Executes, Fault, Kind, Token};
use super::parse::grantee;
use super::split::{Splitter, Statement};
use crate::roles::{Change, Fact, Found, LIMITS, What};
use crate::{Product, Server};

/// The understood statements of a text about roles, up to the first place without SQL.
pub(crate) fn role_changes(text: &str, server: &Server) -> Vec<Found> {
    let mut splitter = Splitter::new(text, Executes::of(server));
    let mut statement = Statement::default();
    let mut all = Vec::new();
    while let Ok(true) = splitter.next(&mut statement) {
        let (start, end) = statement.span();
        // Half of a comment that is executed would be left.
        if text[start..end].contains("*/") {
            continue;
        }
        let mut reader = Reader {
            cursor: Cursor::new(&statement.tokens, end),
            server,
            text,
            changes: Vec::new(),
        };
        if let Ok(Some(())) = reader.statement() {
            let changes = reader.changes;
            all.push(Found {
                start,
                end,
                changes,
            });
        }
    }
    all
}

/// Facts with values; `None` is the default.
type Facts = Vec<(Fact, Option<String>)>;

/// Read as far as understood; `None` for what is not about roles, or not compared.
type Read = Result<Option<()>, Fault>;

struct Reader<'r, 's> {
    cursor: Cursor<'r, 's>,
    server: &'r Server,
    text: &'s str,
    changes: Vec<Change>,
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
            let (is_user, login) = (false, None);
            self.push(&role, What::Create { is_user, login });
        }
        self.done()
    }

    fn created_users(&mut self) -> Read {
        self.cursor.eat_seq(&["IF", "NOT", "EXISTS"]);
        let mut users = Vec::new();
        loop {
            let user = grantee(&mut self.cursor, self.server)?;
            users.push((user, self.way()));
            if !self.cursor.eat_op(",") {
                break;
            }
        }
        let names: Vec<String> = users.iter().map(|(user, _)| user.clone()).collect();
        let (rules, facts) = match self.options()? {
            Some(options) => options,
            None => return Ok(None),
        };
        for (user, way) in users {
            let login = match rules.is_empty() {
                true => way,
                false => format!("{way}\n{rules}"),
            };
            let login = (!login.is_empty()).then_some(login);
            let is_user = true;
            self.push(&user, What::Create { is_user, login });
        }
        self.set_all(&names, facts);
        self.done()
    }

    fn set_all(&mut self, roles: &[String], facts: Facts) {
        for role in roles {
            for (fact, value) in &facts {
                self.set(role, fact.clone(), value.clone());
            }
        }
    }

    /// How a user logs in, as written; empty where nothing is said.
    fn way(&mut self) -> String {
        let start = self.cursor.offset();
        let first = self.cursor.at;
        if !self.cursor.eat("IDENTIFIED") {
            return String::new();
        }
        self.cursor.eat("WITH");
        while !self.cursor.is_done() && !self.cursor.is_op(",") && !self.begins_option() {
            // What may follow begins like a rule: `RANDOM PASSWORD REQUIRE SSL`.
            if !self.cursor.eat_seq(&["RANDOM", "PASSWORD"]) {
                self.cursor.at += 1;
            }
        }
        let tokens = self.cursor.since(first);
        let end = tokens.last().map_or(start, Token::end);
        self.text[start..end].to_owned()
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
                let words = self.words_of_option();
                let required = (words != "NONE").then_some(words);
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
                rules.push(self.rule());
            } else {
                return Ok(None);
            }
        }
        Ok(Some((rules.join(" "), facts)))
    }

    /// One rule, as written.
    fn rule(&mut self) -> String {
        let start = self.cursor.at;
        self.cursor.at += 2;
        let written = |reader: &Self| {
            let words = reader.cursor.since(start).iter().map(|token| token.text);
            words.collect::<Vec<_>>().join(" ")
        };
        while !self.cursor.is_done() && !self.begins_option() {
            self.cursor.at += 1;
        }
        written(self)
    }

    /// The words up to the next option; strings as written, other words in upper case.
    fn words_of_option(&mut self) -> String {
        let start = self.cursor.at;
        while !self.cursor.is_done() && !self.begins_option() {
            self.cursor.at += 1;
        }
        let words = self
            .cursor
            .since(start)
            .iter()
            .filter(|token| !token.is("AND"));
        let words = words.map(|token| match token.kind {
            Kind::Word => token.text.to_uppercase(),
            _ => token.text.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    fn limits(&mut self, facts: &mut Facts) -> Result<(), Fault> {
        while let Some(name) = LIMITS.into_iter().find(|name| self.cursor.eat(name)) {
            let number = self.cursor.any()?.text.to_owned();
            facts.push((Fact::Attribute(name), (number != "0").then_some(number)));
        }
        Ok(())
    }

    fn roles_or_none(&mut self) -> Result<Option<String>, Fault> {
        if self.cursor.eat("NONE") {
            return Ok(None);
        }
        let mut roles = self.accounts()?;
        roles.sort_unstable();
        Ok(Some(roles.join(", ")))
    }

    fn altered(&mut self) -> Read {
        self.cursor.eat_seq(&["IF", "EXISTS"]);
        let users = self.accounts()?;
        let Some((rules, facts)) = self.options()? else {
            return Ok(None);
        };
        // What is said of passwords is compared nowhere, and so the statement is not taken.
        if !rules.is_empty() {
            return Ok(None);
        }
        self.set_all(&users, facts);
        self.done()
    }

    fn default_role(&mut self) -> Read {
        if self.cursor.is("ALL") {
            return Ok(None);
        }
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
        let mut names = names;
        if gives && self.cursor.eat_seq(&["WITH", "GRANT", "OPTION"]) {
            names.push("GRANT OPTION".to_owned());
        }
        for name in names.iter_mut().filter(|name| *name == "ALL") {
            name.push_str(" PRIVILEGES");
        }
        // MySQL stores the list of all privileges, which each version has its own of.
        let is_all = names.iter().any(|name| name == "ALL PRIVILEGES");
        if is_all && (self.server.product == Product::Mysql || !gives) {
            return Ok(None);
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
}
