//! Privileges on objects made later: `ALTER DEFAULT PRIVILEGES`.

use super::Reader;
use crate::postgres::kept::Words;
use crate::postgres::model::{GrantStatement, Privilege, Target};
use crate::postgres::name::Name;
use crate::postgres::targets::MADE_LATER;

impl Reader<'_> {
    /// Reads `ALTER DEFAULT PRIVILEGES`; `false` for any other statement. The connected role is not
    /// named.
    pub(super) fn read_default_privileges(&mut self, text: &str) -> bool {
        let mut words = Words::new(text);
        if !words.words("ALTER DEFAULT PRIVILEGES") {
            return false;
        }
        self.default_privileges(&mut words).is_some()
    }

    fn default_privileges(&mut self, words: &mut Words<'_>) -> Option<()> {
        let mut creators = match words.words("FOR ROLE") || words.words("FOR USER") {
            true => words.names()?,
            false => vec![String::new()],
        };
        for creator in &mut creators {
            if self.schema.role_named(creator) == self.schema.connected() {
                creator.clear();
            }
        }
        let schemas = match words.words("IN SCHEMA") {
            true => words.names()?,
            false => vec![String::new()],
        };
        let gives = words.word("GRANT");
        if !gives && !words.word("REVOKE") {
            return None;
        }
        let is_option = !gives && words.words("GRANT OPTION FOR");
        let privileges = if words.word("ALL") {
            let _ = words.word("PRIVILEGES");
            vec!["all".to_owned()]
        } else {
            words.names()?
        };
        words.word("ON").then_some(())?;
        let mut objects = MADE_LATER.iter();
        let &(_, kind) = objects.find(|(spelled, _)| words.words(spelled))?;
        words
            .word(if gives { "TO" } else { "FROM" })
            .then_some(())?;
        let roles = words.grantees()?;
        let roles = roles.iter().map(|role| self.schema.role_named(role));
        let roles = roles.collect();
        let grantable = is_option || words.words("WITH GRANT OPTION");
        let privilege = |name: String| Privilege::whole(&name.to_uppercase());
        self.grants += 1;
        let record = GrantStatement {
            number: self.grants,
            privileges: privileges.into_iter().map(privilege).collect(),
            roles,
            grantable,
        };
        for creator in &creators {
            for schema in &schemas {
                let target = Target {
                    kind,
                    name: Name::new(schema.clone(), creator.clone()),
                    signature: String::new(),
                };
                for role in &record.roles {
                    self.apply_grant(&target, role, &record, gives);
                }
            }
        }
        Some(())
    }
}
