//! Schemas, extensions, types and domains.

use super::Builder;
use super::replace::type_word;
use crate::plan::Steps;
use crate::postgres::model::{ConstraintKind, Domain, TypeKind, UserType};
use crate::postgres::name::{Name, quote};
use crate::postgres::split;
use crate::{Hazard, ObjectKind, Verb};

impl<'a> Builder<'a> {
    pub(super) fn namespaces(&mut self) {
        let (from, to) = (self.from, self.to);
        // Whoever names an object in a schema means that there is one.
        let has = from.namespaces();
        for (name, namespace) in to.schemas.iter() {
            if !has.contains(name) {
                let source = namespace
                    .meta
                    .source
                    .clone()
                    .filter(|_| self.printer.is_sqldef());
                let sql =
                    source.unwrap_or_else(|| format!("CREATE SCHEMA {}", self.printer.ident(name)));
                self.push(sql, Verb::Create, ObjectKind::Schema, name.clone());
            }
        }
        if !self.printer.is_sqldef() {
            for name in to.namespaces() {
                if !has.contains(&name) && !to.schemas.contains(&name) {
                    let sql = format!("CREATE SCHEMA {}", self.printer.ident(&name));
                    self.push(sql, Verb::Create, ObjectKind::Schema, name);
                }
            }
        }
        for (name, extension) in to.extensions.iter() {
            if from.extensions.contains(name) {
                continue;
            }
            let source = extension
                .meta
                .source
                .clone()
                .filter(|_| self.printer.is_sqldef());
            let schema = extension
                .schema
                .as_ref()
                .map(|schema| format!(" WITH SCHEMA {}", self.printer.ident(schema)));
            let sql = source.unwrap_or_else(|| {
                format!(
                    "CREATE EXTENSION {}{}",
                    self.printer.ident(name),
                    schema.unwrap_or_default()
                )
            });
            self.push(sql, Verb::Create, ObjectKind::Extension, name.clone());
        }
    }

    pub(super) fn user_type(&mut self, to: &'a UserType) {
        let from = self.from;
        let kind = if matches!(to.kind, TypeKind::Enum(_)) {
            ObjectKind::Type
        } else {
            ObjectKind::Domain
        };
        match (from.types.get(&to.name).map(|found| &found.kind), &to.kind) {
            (Some(TypeKind::Enum(one)), TypeKind::Enum(other)) => self.change_enum(to, one, other),
            (Some(TypeKind::Domain(one)), TypeKind::Domain(other))
                if !self.sides.is_replaced_type(&to.name) =>
            {
                self.change_domain(&to.name, one, other);
            }
            (Some(before), _) if !self.columns_of_type(&to.name).is_empty() => {
                self.replace_domain(before, to);
            }
            (before, _) => {
                let mut dropped = None;
                if let Some(before) = before {
                    let word = type_word(before);
                    let sql = format!("DROP {word} {}", self.printer.name(&to.name));
                    let shown = self.shown(&to.name);
                    let hazard = Hazard::Drop(format!("type {}", to.name.name));
                    dropped = Some(self.push_drop(sql, kind, shown, vec![hazard]));
                }
                let source = to.meta.source.clone().filter(|_| self.printer.is_sqldef());
                let sql = source.unwrap_or_else(|| self.printer.user_type(to));
                let shown = self.shown(&to.name);
                let at = self.push(sql, Verb::Create, kind, shown);
                self.statements[at].needs.extend(dropped);
                self.drop_copied_default(to, at);
            }
        }
    }

    fn change_domain(&mut self, name: &Name, from: &'a Domain, to: &'a Domain) {
        let (goes, comes) = self.sides.domain_checks(name, from, to);
        let mut actions: Vec<(String, Vec<Hazard>)> = Vec::new();
        for check in goes {
            actions.push((
                format!("DROP CONSTRAINT {}", self.printer.ident(&check)),
                Vec::new(),
            ));
        }
        if !self.sides.same_domain_default(name, from, to) {
            let action = match &to.default {
                Some(default) => format!("SET DEFAULT {}", self.printer.default(default)),
                None => "DROP DEFAULT".to_owned(),
            };
            actions.push((action, Vec::new()));
        }
        if from.not_null != to.not_null {
            let (word, hazards) = if to.not_null {
                let reason = format!("no column of type {} may hold NULL", name.name);
                let query = self.values_of_type(name, &|column| format!("{column} IS NULL"));
                ("SET NOT NULL", vec![Hazard::MayFail { reason, query }])
            } else {
                ("DROP NOT NULL", Vec::new())
            };
            actions.push((word.to_owned(), hazards));
        }
        for check in comes {
            let body = self.printer.constraint_body(check, ", ");
            let action = match (self.printer.is_sqldef(), check.is_named) {
                (true, false) => format!("ADD {body}"),
                // sqldef leaves this name without quotes where it needs none, whatever the setting.
                (true, true) => format!("ADD CONSTRAINT {} {body}", quote(&check.name)),
                (false, _) => format!("ADD CONSTRAINT {} {body}", self.printer.ident(&check.name)),
            };
            let reason = format!("every value of type {} must satisfy {body}", name.name);
            let query = match &check.kind {
                ConstraintKind::Check(check) => self.values_of_type(name, &|column| {
                    format!("NOT ({})", split::with_renamed(&check.0, "value", column))
                }),
                _ => None,
            };
            actions.push((action, vec![Hazard::MayFail { reason, query }]));
        }
        for (action, hazards) in actions {
            let sql = format!("ALTER DOMAIN {} {action}", self.printer.name(name));
            let shown = self.shown(name);
            self.push_with(sql, Verb::Alter, ObjectKind::Domain, shown, hazards);
        }
    }
}
