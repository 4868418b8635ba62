//! The statements from the roles of one schema to the roles of another.

use super::fact::{EVERY, PASSING, Turn};
use super::{Fact, Flavour, Role, Roles, shown, spell};
use crate::plan::Plan;
use crate::{Hazard, Object, ObjectKind, PlanError, Statement, Verb};

impl Roles {
    /// Adds statements to a plan, after which the roles are as in `self`: new roles and rights
    /// first, since owners and privileges need roles; losses of rights last.
    ///
    /// # Errors
    /// When a user would be created whom everybody could be.
    pub(crate) fn plan(&self, from: &Roles, plan: &mut Plan) -> Result<(), PlanError> {
        let flavour = self.flavour;
        let (mut first, mut last) = (Vec::new(), Vec::new());
        let is_there = |name: &str| from.by_name.contains_key(name);
        for (name, role) in self.by_name.iter().filter(|(name, _)| !is_there(name)) {
            check(flavour, name, role)?;
            let object = object(ObjectKind::Role, shown(name));
            let sql = spell::create(flavour, name, role);
            first.push(vec![Statement::plain(
                sql,
                Verb::Create,
                object,
                Vec::new(),
            )]);
        }
        for (name, role) in &self.by_name {
            let changes = match from.by_name.get(name) {
                Some(before) => changes(flavour, name, (before, role), false),
                None => new(flavour, name, role),
            };
            let is_taking = |change: &Change| matches!(change[0].verb, Verb::Revoke | Verb::Drop);
            let (taking, giving): (Vec<_>, Vec<_>) = changes.into_iter().partition(is_taking);
            first.extend(giving);
            last.extend(taking);
        }
        if !flavour.is_postgres() {
            let all = first.iter_mut().chain(&mut last).flatten();
            all.for_each(|each| each.hazards.push(Hazard::NotTransactional));
        }
        let others = std::mem::take(&mut plan.statements);
        first.into_iter().for_each(|change| plan.push_chain(change));
        let count = plan.statements.len();
        plan.statements.extend(others);
        let needs = plan.statements[count..].iter_mut();
        let needs = needs.flat_map(|each| &mut each.needs);
        needs.for_each(|needed| *needed += count);
        last.into_iter().for_each(|change| plan.push_chain(change));
        Ok(())
    }
}

/// Statements of which each needs the one before; never empty.
type Change = Vec<Statement>;

/// Refuses to create a user without a password, open to any stranger.
fn check(flavour: Flavour, name: &str, role: &Role) -> Result<(), PlanError> {
    let is_locked = role.facts.contains_key(&Fact::Attribute("ACCOUNT"));
    match role.is_user && !flavour.is_postgres() && role.login.is_open && !is_locked {
        true => Err(PlanError {
            message: format!(
                "CREATE USER {} states no password, so that anybody could log in; add IDENTIFIED …, or ACCOUNT LOCK",
                shown(name)
            ),
        }),
        false => Ok(()),
    }
}

/// What is missing from a role just created.
pub(super) fn new(flavour: Flavour, name: &str, role: &Role) -> Vec<Change> {
    let mut created = role.clone();
    created.facts.retain(|fact, _| spell::is_created(fact));
    changes(flavour, name, (&created, role), true)
}

fn changes(flavour: Flavour, name: &str, (from, to): (&Role, &Role), is_new: bool) -> Vec<Change> {
    let mut facts: Vec<&Fact> = from.facts.keys().chain(to.facts.keys()).collect();
    facts.sort_unstable();
    facts.dedup();
    let mut all = Vec::new();
    for fact in facts {
        let (before, after) = (from.facts.get(fact), to.facts.get(fact));
        // MySQL's server has the list of its version in the place of all privileges.
        let is_list = flavour == Flavour::Mysql && !is_new && is_privilege(fact, EVERY);
        if before == after || is_list || goes_along(fact, from, to) {
            continue;
        }
        let turn = fact.turn(before.map(String::as_str), after.map(String::as_str));
        let before = before.map_or("", String::as_str);
        let made = |fact: &Fact, turn: Turn| {
            let sql = spell::make(flavour, name, to, fact);
            statement(sql, name, fact, (before, turn))
        };
        let mut change = vec![made(fact, turn)];
        match fact {
            // Only a whole membership is revoked there, and a default role with it.
            Fact::Option(of, "ADMIN") if turn == Turn::Takes && flavour == Flavour::Mysql => {
                change.push(made(&Fact::Membership(of.clone()), Turn::Gives));
                if to.facts.contains_key(&Fact::DefaultRole) {
                    change.push(made(&Fact::DefaultRole, Turn::Aside));
                }
            }
            // The wanted ones go with all others.
            Fact::Privilege(_) if turn == Turn::Takes && is_privilege(fact, EVERY) => {
                let wanted = to.facts.keys().filter(|fact| is_plain_privilege(fact));
                change.extend(wanted.map(|fact| made(fact, Turn::Gives)));
            }
            _ => {}
        }
        all.push(change);
    }
    all
}

fn is_privilege(fact: &Fact, wanted: &str) -> bool {
    matches!(fact, Fact::Privilege(name) if name == wanted)
}

fn is_plain_privilege(fact: &Fact) -> bool {
    matches!(fact, Fact::Privilege(name) if name != EVERY && name != PASSING)
}

/// Whether a fact needs no statement, as a result of another fact's statement.
fn goes_along(fact: &Fact, from: &Role, to: &Role) -> bool {
    let is_member = |role: &Role, of: &String| {
        let membership = Fact::Membership(of.clone());
        role.facts.contains_key(&membership)
    };
    match fact {
        // The options come and go with the membership.
        Fact::Option(of, _) => !is_member(from, of) || !is_member(to, of),
        Fact::Privilege(_) if is_plain_privilege(fact) => {
            from.has_all_privileges() || to.has_all_privileges()
        }
        _ => false,
    }
}

fn statement(sql: String, role: &str, fact: &Fact, (before, turn): (&str, Turn)) -> Statement {
    let role = shown(role);
    let (kind, part, verb) = match fact {
        Fact::Attribute(name) => (ObjectKind::RoleAttribute, dashed(name), Verb::Alter),
        Fact::DefaultRole => (
            ObjectKind::RoleAttribute,
            "default-role".to_owned(),
            Verb::Alter,
        ),
        Fact::Privilege(name) => (ObjectKind::RolePrivilege, dashed(name), Verb::Grant),
        Fact::Membership(of) | Fact::Option(of, _) => {
            (ObjectKind::Membership, shown(of), Verb::Grant)
        }
        Fact::Setting { name, .. } => (ObjectKind::RoleSetting, name.clone(), Verb::Alter),
        Fact::Comment => (ObjectKind::Role, String::new(), Verb::Comment),
    };
    let (verb, hazards) = match (turn, fact) {
        (Turn::Takes, Fact::Setting { .. }) => (Verb::Drop, vec![dropped(&part, &role)]),
        (Turn::Takes, Fact::Membership(_)) => {
            let hazard = Hazard::Drop(format!("membership of {role} in {part}"));
            (Verb::Revoke, vec![hazard])
        }
        (Turn::Takes, _) => (Verb::Revoke, vec![dropped(&part, &role)]),
        (Turn::Opens, Fact::Attribute(name)) => {
            let hazard = Hazard::Opens(format!("{role} without {name} {before}"));
            (verb, vec![hazard])
        }
        (Turn::Opens, _) => {
            let hazard = Hazard::Opens(format!("{role} may be {part}"));
            (verb, vec![hazard])
        }
        (Turn::Gives | Turn::Aside, _) => (verb, Vec::new()),
    };
    let name = match part.is_empty() {
        true => role,
        false => format!("{role}.{part}"),
    };
    Statement::plain(sql, verb, object(kind, name), hazards)
}

fn dropped(part: &str, role: &str) -> Hazard {
    Hazard::Drop(format!("{part} of {role}"))
}

fn object(kind: ObjectKind, name: String) -> Object {
    Object { kind, name }
}

/// An attribute's words as a part of a name.
fn dashed(words: &str) -> String {
    words.to_lowercase().replace([' ', '_'], "-")
}
