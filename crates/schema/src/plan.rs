//! Plans: ordered statements, what each can harm, and which are held back.

/// What a statement is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Object {
    /// Such as `table`, `column`, `index`, `view`, `constraint`, `trigger`, `enum-value`.
    pub kind: &'static str,
    /// As people would write it: `users`, `users.nick`, `app.users.nick`, without quotes.
    pub name: String,
}

/// What a statement can destroy, lock, rewrite or fail on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hazard {
    /// Rows or values are gone afterwards.
    DataLoss(String),
    /// Values may be changed or cut.
    LossyCast(String),
    /// An object without data of its own goes: an index, a view, a constraint, a privilege.
    Drop(String),
    /// Somebody may reach afterwards what was closed to them.
    Opens(String),
    /// The whole table is written anew.
    Rewrite(String),
    /// Others wait meanwhile; the lock's name as the server calls it.
    Lock(&'static str),
    /// Fails when rows are not as they should be; `query` gives those rows.
    MayFail {
        /// What the rows would have to be.
        reason: String,
        /// Answers the rows that stand in the way.
        query: Option<String>,
    },
    /// Cannot be in a transaction, or commits it.
    NotTransactional,
    /// Others would wait for long, and there is no other way; why. Only in plans for tables that
    /// are in use.
    Offline(String),
}

/// What a statement can do to values that are stored and to who may reach them; the worst of
/// several is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Every stored value stays what it is, and nobody may do more than before.
    Keeps,
    /// Values become others, and some of them may be cut, rounded or read differently.
    Converts,
    /// Values, or an object that somebody made, are gone afterwards.
    Drops,
    /// Somebody may reach what was closed to them.
    Reopens,
}

impl Effect {
    /// As the machine-readable plan calls it.
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
    /// A part of an object that is there already.
    Add,
    /// A definition becomes another one; what that does to values its hazards say.
    Alter,
    /// Goes, and is made again by a later statement of the plan.
    Aside,
    /// A partition joins its table.
    Attach,
    /// A comment.
    Comment,
    /// An object that was not there.
    Create,
    /// A partition leaves its table and stays as a table.
    Detach,
    /// Goes for good.
    Drop,
    /// A privilege is given, as the wanted schema spells it out.
    Grant,
    /// A table is written anew with its rows, or what was on it is made again.
    Rebuild,
    /// A rule that restricted values goes for good.
    Relax,
    /// A new name.
    Rename,
    /// A definition or type takes the place of the one with its name.
    Replace,
    /// A privilege is taken away.
    Revoke,
    /// Rows that are there are checked.
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
    /// What a statement with this hazard does. There is no default here either.
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

/// How a statement is carried out on a table that is in use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Online {
    /// The table, as the server counts it: without quotes. Only in plans for tables that are in
    /// use.
    pub table: Option<String>,
    /// How its locks are waited for, and what is asked of the server.
    pub way: Way,
}

/// How locks are waited for, and what is asked of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// As it stands; others queue behind its lock, so that it waits shortly.
    #[default]
    Hurried,
    /// As it stands; nobody queues behind its lock, so that it may wait.
    Patient,
    /// Patient; it builds an index beside writers, and what a build that failed has left goes
    /// first (PostgreSQL).
    Build {
        /// Schema of the table, without quotes.
        schema: String,
        /// The table, without quotes.
        table: String,
        /// The index, without quotes.
        index: String,
    },
    /// In the cheapest way that the server has, and not by a copy (MySQL, MariaDB).
    Cheapest {
        /// The table as it is spelled.
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
    /// What it is about.
    pub object: Object,
    /// What it can harm.
    pub hazards: Vec<Hazard>,
    /// What it does; with the object's kind what `--allow` names, as in `drop-column:users.nick`.
    pub verb: Verb,
    /// Whether sqldef does this without asking, so that its commands do.
    pub unasked: bool,
    /// Indices in the plan of the statements without which it makes no sense.
    pub needs: Vec<usize>,
    /// Set by [`Plan::hold_back`].
    pub held_back: Option<HeldBack>,
    /// How it is carried out on a table that is in use.
    pub online: Online,
}

impl Statement {
    /// One that needs no other.
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

    /// What it can do to stored values and to who may reach them.
    pub fn effect(&self) -> Effect {
        let hazards = self.hazards.iter().map(Hazard::effect);
        hazards.fold(self.verb.effect(), Effect::max)
    }

    /// Whether it is applied only when allowed: whatever does not keep values and rights.
    pub fn is_destructive(&self) -> bool {
        self.effect() != Effect::Keeps && !self.unasked
    }

    /// Whether it would make others wait for long in a plan for tables that are in use.
    pub fn is_offline(&self) -> bool {
        let mut hazards = self.hazards.iter();
        hazards.any(|hazard| matches!(hazard, Hazard::Offline(_)))
    }
}

/// Why a statement is not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeldBack {
    /// It destroys something and nobody allowed it.
    Destructive,
    /// Others would wait for long and nobody allowed it.
    Offline,
    /// It needs this other statement, which is held back.
    Needs(usize),
}

/// Statements in an order that can be executed.
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

/// What has to be allowed by name for a statement that makes others wait, such as
/// `offline-column:users.id`.
pub fn offline_permission(statement: &Statement) -> String {
    format!(
        "offline-{}:{}",
        statement.object.kind, statement.object.name
    )
}

impl Allowed {
    /// Whether others may wait for this statement: a yes to losses is none to that.
    pub fn waits_for(&self, statement: &Statement) -> bool {
        self.named.contains(&offline_permission(statement))
    }

    /// Whether this statement may be applied.
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
    /// Adds a statement that makes no sense without the one at `at`, at the end.
    pub fn push_after(&mut self, at: usize, mut statement: Statement) {
        statement.needs.push(at);
        self.statements.push(statement);
    }

    /// Adds one right behind that.
    pub fn insert_after(&mut self, at: usize, statement: Statement) {
        let needs = self.statements.iter_mut().flat_map(|each| &mut each.needs);
        needs
            .filter(|needed| **needed > at)
            .for_each(|needed| *needed += 1);
        self.statements.insert(at + 1, statement);
        self.statements[at + 1].needs.push(at);
    }

    /// Holds back what destroys without permission, and whatever needs it, be it before that or
    /// after.
    pub fn hold_back(&mut self, allowed: &Allowed) {
        for statement in &mut self.statements {
            statement.held_back = None;
        }
        // What is held back only grows, so that this ends.
        while self.hold_back_more(allowed) {}
    }

    /// Whether anything was held back that was not.
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
mod tests {
    use super::*;

    fn statement(verb: Verb, hazards: Vec<Hazard>) -> Statement {
        let object = Object {
            kind: "table",
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
