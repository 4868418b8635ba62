//! Owners of objects, if managed roles.

use super::Builder;
use crate::plan::Steps;
use crate::postgres::model::{Meta, TypeKind};
use crate::postgres::name::Name;
use crate::{ObjectKind, Verb};

/// An object as named in statements and by people, with both owners.
struct Owned<'a> {
    kind: &'static str,
    /// The name in statements.
    name: String,
    /// The name as written by people.
    shown: String,
    wanted: &'a Meta,
    before: Option<&'a Meta>,
}

impl<'a> Builder<'a> {
    /// Gives objects to managed roles.
    pub(super) fn owners(&mut self) {
        let mut all = self.owned_relations();
        if !self.printer.is_sqldef() {
            all.extend(self.owned_others());
        }
        let connected = self.options.server.as_ref();
        let connected = connected.and_then(|server| server.role.as_ref());
        for owned in all {
            let Some(owner) = &owned.wanted.owner else {
                continue;
            };
            let had = owned.before.and_then(|before| before.owner.as_ref());
            let had = had.map(|owner| &owner.role).or(connected);
            if had == Some(&owner.role) || !self.options.managed_roles.contains(&owner.role) {
                continue;
            }
            let sql = if self.printer.is_sqldef() {
                owner.source.clone()
            } else {
                let role = self.printer.ident(&owner.role);
                format!("ALTER {} {} OWNER TO {role}", owned.kind, owned.name)
            };
            self.push(sql, Verb::Alter, ObjectKind::Owner, owned.shown);
        }
    }

    fn owned_relations(&self) -> Vec<Owned<'a>> {
        let (from, to) = (self.from, self.to);
        let tables = to.tables.values().map(|table| {
            let before = from.tables.get(&table.name);
            let before = before.map(|table| &table.meta);
            self.owned("TABLE", &table.name, &table.meta, before)
        });
        let views = to.views.values().map(|view| {
            let kind = match view.materialized {
                true => "MATERIALIZED VIEW",
                false => "VIEW",
            };
            let before = from.views.get(&view.name).map(|view| &view.meta);
            self.owned(kind, &view.name, &view.meta, before)
        });
        let sequences = to.sequences.values().map(|sequence| {
            let before = from.sequences.get(&sequence.name);
            let before = before.map(|sequence| &sequence.meta);
            self.owned("SEQUENCE", &sequence.name, &sequence.meta, before)
        });
        tables.chain(views).chain(sequences).collect()
    }

    fn owned(
        &self,
        kind: &'static str,
        name: &Name,
        wanted: &'a Meta,
        before: Option<&'a Meta>,
    ) -> Owned<'a> {
        Owned {
            kind,
            name: self.printer.name(name),
            shown: self.shown(name),
            wanted,
            before,
        }
    }

    fn owned_others(&self) -> Vec<Owned<'a>> {
        let (from, to) = (self.from, self.to);
        let functions = to.functions.iter().map(|(key, function)| {
            let kind = match function.is_procedure {
                true => "PROCEDURE",
                false => "FUNCTION",
            };
            let before = from.functions.get(key).map(|function| &function.meta);
            Owned {
                kind,
                name: format!("{}({})", self.printer.name(&key.0), key.1),
                shown: format!("{}({})", self.shown(&key.0), key.1),
                wanted: &function.meta,
                before,
            }
        });
        let types = to.types.values().map(|found| Owned {
            kind: match found.kind {
                TypeKind::Enum(_) => "TYPE",
                TypeKind::Domain(_) => "DOMAIN",
            },
            name: self.printer.name(&found.name),
            shown: self.shown(&found.name),
            wanted: &found.meta,
            before: from.types.get(&found.name).map(|found| &found.meta),
        });
        let schemas = to.schemas.iter().map(|(name, schema)| Owned {
            kind: "SCHEMA",
            name: self.printer.ident(name),
            shown: name.clone(),
            wanted: &schema.meta,
            before: from.schemas.get(name).map(|schema| &schema.meta),
        });
        let kept = to.kept.iter().map(|(key, kept)| Owned {
            kind: kept.kind.words,
            name: kept.name.clone(),
            shown: self.shown_kept(kept),
            wanted: &kept.meta,
            before: from.kept.get(key).map(|kept| &kept.meta),
        });
        functions.chain(types).chain(schemas).chain(kept).collect()
    }
}
