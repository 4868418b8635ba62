//! Plans: ordered statements, what each can harm, and which are held back.

mod steps;

use crate::Object;

pub(crate) use steps::Steps;

/// What a statement can destroy, lock, rewrite or fail on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hazard {
    /// Rows or values are gone afterwards.
    DataLoss(String),
    /// Values may be changed or cut.
    LossyCast(String),
    /// An object without data is dropped: an index, a view, a constraint, a privilege.
    Drop(String),
    /// A role gains access to something formerly closed.
    Opens(String),
    /// The whole table is rewritten.
    Rewrite(String),
    /// Others wait meanwhile. Holds the server's name of the lock.
    Lock(&'static str),
    /// Fails on rows violating the new rule. `query` returns those rows.
    MayFail {
        /// What the rows would have to be.
        reason: String,
        /// Query returning the violating rows.
        query: Option<String>,
    },
    /// Cannot run in a transaction, or commits the open one.
    NotTransactional,
    /// Others would wait for long, and there is no other way; why. Only in plans for tables that
    /// are in use.
    Offline(String),
}

/// Effect of a statement on stored values and on access; the worst of several is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Stored values and access are unchanged.
    Keeps,
    /// Values are converted: some may be cut, rounded or read differently.
    Converts,
    /// Values, or an object made by a user, are gone afterwards.
    Drops,
    /// A role gains access to something formerly closed.
    Reopens,
}

impl Effect {
    /// Name of the effect in the machine-readable plan.
    pub fn word(self) -> &'static str {
        match self {
            Effect::Keeps => "keeps",
            Effect::Converts => "converts",
            Effect::Drops => "drops",
            Effect::Reopens => "reopens",
        }
    }
}

/// What kind of change a statement makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// A part of an existing object is added.
    Add,
    /// A definition is changed. The hazards describe the effect on values.
    Alter,
    /// Is dropped, and recreated by a later statement of the plan.
    Aside,
    /// A partition is attached to a table.
    Attach,
    /// A comment.
    Comment,
    /// A new object is created.
    Create,
    /// A partition is detached from a table and stays as a table.
    Detach,
    /// Goes for good.
    Drop,
    /// A privilege is granted, as written in the wanted schema.
    Grant,
    /// A table is rewritten with all rows, or dependents are recreated.
    Rebuild,
    /// A rule restricting values is dropped for good.
    Relax,
    /// A new name.
    Rename,
    /// A definition or type replaces the one of the same name.
    Replace,
    /// A privilege is taken away.
    Revoke,
    /// Existing rows are checked.
    Validate,
}

impl Verb {
    /// With the object's kind what `--allow` names.
    pub fn word(self) -> &'static str {
        match self {
            Verb::Add => "add",
            Verb::Alter => "alter",
            Verb::Aside | Verb::Drop | Verb::Relax => "drop",
            Verb::Attach => "attach",
            Verb::Comment => "comment",
            Verb::Create => "create",
            Verb::Detach => "detach",
            Verb::Grant => "grant",
            Verb::Rebuild => "rebuild",
            Verb::Rename => "rename",
            Verb::Replace => "replace",
            Verb::Revoke => "revoke",
            Verb::Validate => "validate",
        }
    }

    /// What such a change does by itself. There is no default: a new kind of change has to say it
    /// here.
    fn effect(self) -> Effect {
        match self {
            Verb::Drop | Verb::Revoke => Effect::Drops,
            Verb::Add
            | Verb::Alter
            | Verb::Aside
            | Verb::Attach
            | Verb::Comment
            | Verb::Create
            | Verb::Detach
            | Verb::Grant
            | Verb::Rebuild
            | Verb::Relax
            | Verb::Rename
            | Verb::Replace
            | Verb::Validate => Effect::Keeps,
        }
    }
}

impl Hazard {
    /// Effect of a statement with the hazard. There is no default here either.
    fn effect(&self) -> Effect {
        match self {
            Hazard::DataLoss(_) => Effect::Drops,
            Hazard::LossyCast(_) => Effect::Converts,
            Hazard::Opens(_) => Effect::Reopens,
            // Whether what goes comes again is known to the verb.
            Hazard::Drop(_)
            | Hazard::Rewrite(_)
            | Hazard::Lock(_)
            | Hazard::MayFail { .. }
            | Hazard::NotTransactional
            | Hazard::Offline(_) => Effect::Keeps,
        }
    }
}

/// How a statement is executed on a table in use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Online {
    /// The table's name as stored by the server: without quotes. Present only in plans for tables
    /// in use.
    pub table: Option<String>,
    /// How locks are waited for, and which options are given to the server.
    pub way: Way,
}

/// How locks are waited for, and what is asked of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// Unchanged text; the wait is short, since others queue behind the lock.
    #[default]
    Hurried,
    /// Unchanged text; the wait may be long, since nobody queues behind the lock.
    Patient,
    /// Patient; builds an index beside writers, after dropping what a failed build has left
    /// (PostgreSQL).
    Build {
        /// Schema of the table, without quotes.
        schema: String,
        /// The table, without quotes.
        table: String,
        /// The index, without quotes.
        index: String,
    },
    /// Cheapest algorithm of the server, never a copy (MySQL, MariaDB).
    Cheapest {
        /// The table's name as spelled.
        table: String,
        /// What follows the table in an `ALTER TABLE`.
        action: String,
    },
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Without `;` at the end.
    pub sql: String,
    /// The object concerned.
    pub object: Object,
    /// Possible harm.
    pub hazards: Vec<Hazard>,
    /// The action; together with the object's kind the name used by `--allow`, as in
    /// `drop-column:users.nick`.
    pub verb: Verb,
    /// Whether sqldef executes the statement without asking, and so do the drop-in commands.
    pub unasked: bool,
    /// Indices of the prerequisite statements in the plan.
    pub needs: Vec<usize>,
    /// Set by [`Plan::hold_back`].
    pub held_back: Option<HeldBack>,
    /// How the statement is executed on a table in use.
    pub online: Online,
}

impl Statement {
    /// A statement without prerequisites.
    pub(crate) fn plain(
        sql: String,
        verb: Verb,
        object: Object,
        hazards: Vec<Hazard>,
    ) -> Statement {
        Statement {
            sql,
            object,
            hazards,
            verb,
            unasked: false,
            needs: Vec::new(),
            held_back: None,
            online: Online::default(),
        }
    }

    /// Effect on stored values and on access.
    pub fn effect(&self) -> Effect {
        let hazards = self.hazards.iter().map(Hazard::effect);
        hazards.fold(self.verb.effect(), Effect::max)
    }

    /// Whether an explicit permission is needed: for everything except keeping values and rights.
    pub fn is_destructive(&self) -> bool {
        self.effect() != Effect::Keeps && !self.unasked
    }

    /// Whether the statement would block others for long in a plan for tables in use.
    pub fn is_offline(&self) -> bool {
        let mut hazards = self.hazards.iter();
        hazards.any(|hazard| matches!(hazard, Hazard::Offline(_)))
    }
}

/// Why a statement is not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeldBack {
    /// Something is destroyed without permission.
    Destructive,
    /// Others would wait for long without permission.
    Offline,
    /// A prerequisite is held back: the statement at the index.
    Needs(usize),
}

/// Statements in an executable order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The steps.
    pub statements: Vec<Statement>,
}

/// What may be destroyed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Everything (`--enable-drop`).
    pub all: bool,
    /// `verb-kind:object` or `verb-kind` alone, such as `drop-column:users.nick`.
    pub named: Vec<String>,
}

/// Permission of a statement blocking others for long, such as `offline-column:users.id`.
pub fn offline_permission(statement: &Statement) -> String {
    format!(
        "offline-{}:{}",
        statement.object.kind, statement.object.name
    )
}

impl Allowed {
    /// Whether the statement may block others. A permission of losses does not imply one of waits.
    pub fn waits_for(&self, statement: &Statement) -> bool {
        self.named.contains(&offline_permission(statement))
    }

    /// Whether the statement may be applied.
    pub fn permits(&self, statement: &Statement) -> bool {
        if self.all || !statement.is_destructive() {
            return true;
        }
        let kind = format!("{}-{}", statement.verb.word(), statement.object.kind);
        self.named.iter().any(|named| match named.split_once(':') {
            Some((named_kind, object)) => named_kind == kind && object == statement.object.name,
            None => *named == kind,
        })
    }
}

impl Plan {
    /// Appends a statement depending on the one at `at`.
    pub fn push_after(&mut self, at: usize, mut statement: Statement) {
        statement.needs.push(at);
        self.statements.push(statement);
    }

    /// Appends statements of which each depends on the one before.
    pub(crate) fn push_chain(&mut self, statements: Vec<Statement>) {
        for (at, mut statement) in statements.into_iter().enumerate() {
            if at > 0 {
                statement.needs.push(self.statements.len() - 1);
            }
            self.statements.push(statement);
        }
    }

    /// Inserts a statement right behind the one at `at`.
    pub fn insert_after(&mut self, at: usize, statement: Statement) {
        let needs = self.statements.iter_mut().flat_map(|each| &mut each.needs);
        needs
            .filter(|needed| **needed > at)
            .for_each(|needed| *needed += 1);
        self.statements.insert(at + 1, statement);
        self.statements[at + 1].needs.push(at);
    }

    /// Holds back destructive statements without permission, with all dependents, earlier or later.
    pub fn hold_back(&mut self, allowed: &Allowed) {
        for statement in &mut self.statements {
            statement.held_back = None;
        }
        // What is held back only grows, so that this ends.
        while self.hold_back_more(allowed) {}
    }

    /// Holds back further dependents; returns whether there were any.
    fn hold_back_more(&mut self, allowed: &Allowed) -> bool {
        let mut is_more = false;
        for index in 0..self.statements.len() {
            let statement = &self.statements[index];
            if statement.held_back.is_some() {
                continue;
            }
            let mut needs = statement.needs.iter();
            let needed = needs.find(|needed| self.statements[**needed].held_back.is_some());
            let why = match needed {
                Some(needed) => Some(HeldBack::Needs(*needed)),
                None if !allowed.permits(statement) => Some(HeldBack::Destructive),
                None if statement.is_offline() && !allowed.waits_for(statement) => {
                    Some(HeldBack::Offline)
                }
                None => None,
            };
            is_more |= why.is_some();
            self.statements[index].held_back = why;
        }
        is_more
    }

    /// The statements to be applied.
    pub fn applied(&self) -> impl Iterator<Item = &Statement> {
        self.statements
            .iter()
            .filter(|statement| statement.held_back.is_none())
    }
}

#[cfg(test)]
impl Statement {
    /// Returns the statement as tests compare it: one held back stands behind `--`.
    pub(crate) fn line(&self) -> String {
        match self.held_back {
            Some(_) => format!("-- {}", self.sql),
            None => self.sql.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ObjectKind;

    fn statement(verb: Verb, hazards: Vec<Hazard>) -> Statement {
        let object = Object {
            kind: ObjectKind::Table,
            name: "t".to_owned(),
        };
        Statement::plain(String::new(), verb, object, hazards)
    }

    #[test]
    fn whatever_does_not_keep_values_and_rights_has_to_be_allowed() {
        let what = || "t".to_owned();
        for (verb, hazards, effect) in [
            (Verb::Create, vec![], Effect::Keeps),
            (Verb::Aside, vec![Hazard::Drop(what())], Effect::Keeps),
            (Verb::Relax, vec![Hazard::Drop(what())], Effect::Keeps),
            (Verb::Drop, vec![], Effect::Drops),
            (Verb::Revoke, vec![], Effect::Drops),
            (
                Verb::Alter,
                vec![Hazard::LossyCast(what())],
                Effect::Converts,
            ),
            (Verb::Alter, vec![Hazard::DataLoss(what())], Effect::Drops),
            (Verb::Create, vec![Hazard::Opens(what())], Effect::Reopens),
        ] {
            let statement = statement(verb, hazards);
            assert_eq!(statement.effect(), effect, "{verb:?}");
            let permitted = Allowed::default().permits(&statement);
            assert_eq!(permitted, effect == Effect::Keeps, "{verb:?}");
        }
    }
}
