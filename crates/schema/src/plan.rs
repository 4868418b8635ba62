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
    /// `drop`, `create`, `alter`, `rename`, `rebuild`, `comment`, `grant`, `revoke` …: with the object's kind what `--allow`
    /// names, as in `drop-column:users.nick`.
    pub verb: &'static str,
    /// Whether it is applied only when allowed.
    pub destructive: bool,
    /// Indices in the plan of the statements without which it makes no sense.
    pub needs: Vec<usize>,
    /// Set by [`Plan::hold_back`].
    pub held_back: Option<HeldBack>,
}

impl Statement {
    /// One that destroys nothing and needs no other.
    pub(crate) fn plain(
        sql: String,
        verb: &'static str,
        object: Object,
        hazards: Vec<Hazard>,
    ) -> Statement {
        Statement {
            sql,
            object,
            hazards,
            verb,
            destructive: false,
            needs: Vec::new(),
            held_back: None,
        }
    }
}

/// Why a statement is not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeldBack {
    /// It destroys something and nobody allowed it.
    Destructive,
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

impl Allowed {
    /// Whether this statement may be applied.
    pub fn permits(&self, statement: &Statement) -> bool {
        if self.all || !statement.destructive {
            return true;
        }
        let kind = format!("{}-{}", statement.verb, statement.object.kind);
        self.named.iter().any(|named| match named.split_once(':') {
            Some((named_kind, object)) => named_kind == kind && object == statement.object.name,
            None => *named == kind,
        })
    }
}

impl Plan {
    /// Holds back what destroys without permission, and whatever needs it, be it before that or after.
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
