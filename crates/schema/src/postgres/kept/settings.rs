//! Statements on an object made by another one.

use super::foreign::{foreign_table, partition};
use super::norm::listed;
use super::published::{of_publication, publication};
use super::reader::{Identity, Reader, find_word, relation, types};
use super::{Kind, Setting, Step, named, object};
use crate::ObjectKind;
use crate::postgres::model::Kept;
use crate::postgres::name::{Name, fold, quote};

/// What a `CREATE` makes: the object, and the settings that it names.
pub(super) fn of_create(
    kind: &'static Kind,
    identity: Identity,
    reader: &mut Reader<'_>,
) -> Vec<Step> {
    match kind.kind {
        ObjectKind::Publication => publication(kind, identity, reader),
        ObjectKind::ForeignTable => foreign_table(kind, identity, reader),
        ObjectKind::OperatorClass => operator_class(kind, identity, reader),
        _ => vec![Step::made(object(kind, identity, reader.text().to_owned()))],
    }
}

/// Reads `ALTER` of an object of a kind, after the name.
pub(super) fn of_alter(
    kind: &'static Kind,
    identity: &Identity,
    reader: &mut Reader<'_>,
) -> Option<Vec<Step>> {
    match kind.kind {
        ObjectKind::Publication => of_publication(identity, reader),
        ObjectKind::TextSearchConfiguration => mappings(identity, reader),
        ObjectKind::OperatorFamily => members(identity, reader),
        ObjectKind::EventTrigger => event_trigger(identity, reader).map(|step| vec![step]),
        ObjectKind::Statistics => target(identity, reader).map(|step| vec![step]),
        _ => None,
    }
}

/// A class of operators without a family has one of the same name, which the server makes.
fn operator_class(kind: &'static Kind, identity: Identity, reader: &mut Reader<'_>) -> Vec<Step> {
    let text = reader.text();
    let made = |identity, sql| Step::made(object(kind, identity, sql));
    let Some(items) =
        find_word(text, "AS").filter(|at| find_word(&text[..*at], "FAMILY").is_none())
    else {
        return vec![made(identity, text.to_owned())];
    };
    let bare = identity.text.split(" USING ").next().unwrap_or_default();
    let sql = format!(
        "{} FAMILY {bare} {}",
        text[..items].trim_end(),
        &text[items..]
    );
    let family = named(ObjectKind::OperatorFamily).map(|kind| {
        let family = Identity {
            text: identity.text.clone(),
            base: identity.base.clone(),
            schema: identity.schema.clone(),
            on: None,
        };
        let sql = format!("CREATE OPERATOR FAMILY {}", family.text);
        Step::made(object(kind, family, sql))
    });
    let mut steps: Vec<Step> = family.into_iter().collect();
    steps.push(made(identity, sql));
    steps
}

/// `ADD MAPPING FOR a, b WITH d`: a setting for each kind of token.
fn mappings(configuration: &Identity, reader: &mut Reader<'_>) -> Option<Vec<Step>> {
    let name = &configuration.text;
    if reader.words("DROP MAPPING") {
        let _ = reader.words("IF EXISTS");
        let tokens = reader.word("FOR").then(|| listed(reader.rest()))?;
        let key = |token: &str| {
            let token = quote(&fold(token));
            (ObjectKind::TextSearchMapping, format!("{name} FOR {token}"))
        };
        return Some(tokens.into_iter().map(key).map(Step::Unset).collect());
    }
    // The word stays as written: a copied configuration has a mapping of the token already, which
    // `ADD` refuses.
    let verbs = [("ADD MAPPING FOR", "ADD"), ("ALTER MAPPING FOR", "ALTER")];
    let (_, verb) = verbs.into_iter().find(|(words, _)| reader.words(words))?;
    let rest = reader.rest();
    let at = find_word(rest, "WITH")?;
    let dictionaries = rest[at + "WITH".len()..].trim();
    let one = |token: &str| Setting {
        kind: ObjectKind::TextSearchMapping,
        of: Some((ObjectKind::TextSearchConfiguration, name.clone())),
        on: None,
        name: format!("{name} FOR {token}"),
        base: &configuration.base,
        schema: configuration.schema.clone(),
        sql: format!(
            "ALTER TEXT SEARCH CONFIGURATION {name} {verb} MAPPING FOR {token} WITH {dictionaries}"
        ),
        undo: format!("ALTER TEXT SEARCH CONFIGURATION {name} DROP MAPPING FOR {token}"),
    };
    let tokens = listed(&rest[..at]).into_iter();
    let settings = tokens.map(|token| one(&quote(&fold(token))));
    Some(settings.filter_map(Setting::kept).map(Step::made).collect())
}

/// `ADD OPERATOR 1 < (a, b), FUNCTION 1 (a, b) f(a, b)`: a setting for each.
fn members(family: &Identity, reader: &mut Reader<'_>) -> Option<Vec<Step>> {
    if !reader.word("ADD") {
        return None;
    }
    let name = &family.text;
    let one = |item: &str| {
        let mut reader = Reader::new(item, "");
        let word = if reader.word("OPERATOR") {
            "OPERATOR"
        } else {
            reader.word("FUNCTION").then_some("FUNCTION")?
        };
        let number = reader.name()?.pop()?;
        let rest = reader.rest();
        let open = rest.find('(')?;
        let sides = types(Reader::new(&rest[open..], "").parens()?);
        let member = format!("{word} {number} ({sides})");
        let setting = Setting {
            kind: ObjectKind::OperatorFamilyMember,
            of: Some((ObjectKind::OperatorFamily, name.clone())),
            on: None,
            name: format!("{name}: {member}"),
            base: &family.base,
            schema: family.schema.clone(),
            sql: format!("ALTER OPERATOR FAMILY {name} ADD {item}"),
            undo: format!("ALTER OPERATOR FAMILY {name} DROP {member}"),
        };
        setting.kept()
    };
    let settings: Option<Vec<Kept>> = listed(reader.rest()).into_iter().map(one).collect();
    Some(settings?.into_iter().map(Step::made).collect())
}

fn event_trigger(trigger: &Identity, reader: &mut Reader<'_>) -> Option<Step> {
    let state = reader.rest();
    let words = ["DISABLE", "ENABLE", "ENABLE REPLICA", "ENABLE ALWAYS"];
    let is_known = words.iter().any(|words| state.eq_ignore_ascii_case(words));
    let name = &trigger.text;
    let setting = is_known.then(|| Setting {
        kind: ObjectKind::EventTriggerState,
        of: Some((ObjectKind::EventTrigger, name.clone())),
        on: None,
        name: name.clone(),
        base: &trigger.base,
        schema: None,
        sql: format!("ALTER EVENT TRIGGER {name} {}", state.to_uppercase()),
        undo: format!("ALTER EVENT TRIGGER {name} ENABLE"),
    })?;
    set_unless(state.eq_ignore_ascii_case("ENABLE"), setting)
}

fn target(statistics: &Identity, reader: &mut Reader<'_>) -> Option<Step> {
    let target = reader.words("SET STATISTICS").then(|| reader.rest())?;
    let name = &statistics.text;
    let setting = Setting {
        kind: ObjectKind::StatisticsTarget,
        of: Some((ObjectKind::Statistics, name.clone())),
        on: None,
        name: name.clone(),
        base: &statistics.base,
        schema: statistics.schema.clone(),
        sql: format!("ALTER STATISTICS {name} SET STATISTICS {target}"),
        undo: format!("ALTER STATISTICS {name} SET STATISTICS -1"),
    };
    set_unless(is_usual_target(target), setting)
}

/// The tablespace of databases for which no other one is said.
const USUAL_SPACE: &str = "pg_default";

fn is_usual_target(target: &str) -> bool {
    target.eq_ignore_ascii_case("default") || target.starts_with('-')
}

fn set_unless(is_unset: bool, setting: Setting<'_>) -> Option<Step> {
    match is_unset {
        true => Some(Step::Unset((setting.kind, setting.name))),
        false => setting.kept().map(Step::made),
    }
}

/// Reads the rest of `ALTER TABLE`: what the model of tables has no place for.
pub(super) fn of_table(reader: &mut Reader<'_>) -> Option<Vec<Step>> {
    let _ = reader.words("IF EXISTS");
    let only = if reader.word("ONLY") { "ONLY " } else { "" };
    let table = OnTable {
        table: reader.in_schema()?,
        only,
    };
    let actions = listed(reader.rest()).into_iter();
    let one = |action: &str| table.action(&mut Reader::new(action, reader.schema));
    actions.map(one).collect()
}

/// A table of which something is said.
struct OnTable {
    table: Identity,
    /// `ONLY`, as written.
    only: &'static str,
}

impl OnTable {
    fn setting(&self, kind: ObjectKind, name: String, action: &str, undo: &str) -> Setting<'_> {
        let (quoted, only) = (&self.table.text, self.only);
        Setting {
            kind,
            of: None,
            on: Some(relation(&self.table)),
            name,
            base: &self.table.base,
            schema: self.table.schema.clone(),
            sql: format!("ALTER TABLE {only}{quoted} {action}"),
            undo: format!("ALTER TABLE {only}{quoted} {undo}"),
        }
    }

    fn action(&self, reader: &mut Reader<'_>) -> Option<Step> {
        let quoted = &self.table.text;
        if reader.words("CLUSTER ON") {
            let index = quote(&reader.name()?.pop()?);
            let action = format!("CLUSTER ON {index}");
            let undo = "SET WITHOUT CLUSTER";
            return set_unless(
                false,
                self.setting(ObjectKind::Cluster, quoted.clone(), &action, undo),
            );
        }
        let start = reader.at();
        if let Some(step) = placed("TABLE", &self.table, reader) {
            return Some(step);
        }
        reader.go(start);
        if reader.words("ATTACH PARTITION") {
            return partition(&self.table, self.only, reader);
        }
        if reader.words("NOT OF") {
            return Some(Step::Unset((ObjectKind::TypedTable, quoted.clone())));
        }
        if reader.word("OF") {
            let action = format!("OF {}", reader.in_schema()?.text);
            let setting = self.setting(ObjectKind::TypedTable, quoted.clone(), &action, "NOT OF");
            return set_unless(false, setting);
        }
        if reader.words("SET WITHOUT CLUSTER") {
            return Some(Step::Unset((ObjectKind::Cluster, quoted.clone())));
        }
        for state in ["DISABLE", "ENABLE REPLICA", "ENABLE ALWAYS", "ENABLE"] {
            let start = reader.at();
            if reader.words(state) && reader.word("RULE") {
                let rule = quote(&reader.name()?.pop()?);
                let name = format!("{rule} ON {quoted}");
                let undo = format!("ENABLE RULE {rule}");
                let action = format!("{state} RULE {rule}");
                let mut setting = self.setting(ObjectKind::RuleState, name.clone(), &action, &undo);
                setting.of = Some((ObjectKind::Rule, name));
                return set_unless(state == "ENABLE", setting);
            }
            reader.go(start);
        }
        self.column(reader)
    }

    fn column(&self, reader: &mut Reader<'_>) -> Option<Step> {
        reader.word("ALTER").then_some(())?;
        let _ = reader.word("COLUMN");
        let column = quote(&reader.name()?.pop()?);
        let name = format!("{}.{column}", self.table.text);
        let head = format!("ALTER COLUMN {column}");
        if reader.words("SET STATISTICS") {
            let (target, undo) = (reader.rest(), format!("{head} SET STATISTICS -1"));
            let action = format!("{head} SET STATISTICS {target}");
            let setting = self.setting(ObjectKind::StatisticsTarget, name, &action, &undo);
            return set_unless(is_usual_target(target), setting);
        }
        if reader.words("SET DEFAULT") {
            let (value, undo) = (reader.rest(), format!("{head} DROP DEFAULT"));
            let action = format!("{head} SET DEFAULT {value}");
            let setting = self.setting(ObjectKind::ColumnDefault, name, &action, &undo);
            return set_unless(false, setting);
        }
        for (word, kind) in [
            ("STORAGE", ObjectKind::ColumnStorage),
            ("COMPRESSION", ObjectKind::ColumnCompression),
        ] {
            let start = reader.at();
            if reader.word("SET") && reader.word(word) {
                let value = reader.rest();
                // As the parent's column has it, which is known when everything is read.
                let undo = format!("{head} SET {word} DEFAULT");
                let action = format!("{head} SET {word} {value}");
                return set_unless(false, self.setting(kind, name, &action, &undo));
            }
            reader.go(start);
        }
        let options = reader.word("SET").then(|| reader.parens())??;
        let names: Vec<&str> = listed(options)
            .into_iter()
            .map(|option| option.split('=').next().unwrap_or(option).trim())
            .collect();
        let action = format!("{head} SET ({options})");
        let undo = format!("{head} RESET ({})", names.join(", "));
        set_unless(
            false,
            self.setting(ObjectKind::ColumnOption, name, &action, &undo),
        )
    }
}

/// Reads `SET TABLESPACE` of a relation of the kind named by the words.
pub(super) fn placed(words: &str, of: &Identity, reader: &mut Reader<'_>) -> Option<Step> {
    let space = reader.words("SET TABLESPACE").then(|| reader.name())??;
    let space = space.last()?;
    let head = format!("ALTER {words} {} SET TABLESPACE", of.text);
    let setting = Setting {
        kind: ObjectKind::Tablespace,
        of: None,
        on: Some(relation(of)),
        name: of.text.clone(),
        base: &of.base,
        schema: of.schema.clone(),
        sql: format!("{head} {}", quote(space)),
        undo: format!("{head} {USUAL_SPACE}"),
    };
    set_unless(space == USUAL_SPACE, setting)
}

/// Reads the rest of `ALTER INDEX`.
pub(super) fn of_index(reader: &mut Reader<'_>) -> Option<Step> {
    let index = reader.in_schema()?;
    let start = reader.at();
    if let Some(step) = placed("INDEX", &index, reader) {
        return Some(step);
    }
    reader.go(start);
    reader.word("ALTER").then_some(())?;
    let _ = reader.word("COLUMN");
    let number = reader.name()?.pop()?;
    let target = reader.words("SET STATISTICS").then(|| reader.rest())?;
    let head = format!(
        "ALTER INDEX {} ALTER COLUMN {number} SET STATISTICS",
        index.text
    );
    let setting = Setting {
        kind: ObjectKind::StatisticsTarget,
        of: None,
        on: Some(relation(&index)),
        name: format!("{}.{number}", index.text),
        base: &index.base,
        schema: index.schema.clone(),
        sql: format!("{head} {target}"),
        undo: format!("{head} -1"),
    };
    set_unless(is_usual_target(target), setting)
}

/// Reads the rest of `COMMENT ON COLUMN`: of a composite type.
pub(super) fn of_attribute_comment(reader: &mut Reader<'_>) -> Option<Step> {
    let mut parts = reader.name()?;
    let attribute = parts.pop()?;
    let base = parts.pop()?;
    let schema = parts.pop().unwrap_or_else(|| reader.schema.to_owned());
    let comment = reader.word("IS").then(|| reader.rest())?;
    let name = Name::new(schema.clone(), base.clone()).quoted();
    let head = format!("COMMENT ON COLUMN {name}.{} IS", quote(&attribute));
    let setting = Setting {
        kind: ObjectKind::AttributeComment,
        of: Some((ObjectKind::CompositeType, name.clone())),
        on: None,
        name: format!("{name}.{}", quote(&attribute)),
        base: &base,
        schema: Some(schema),
        sql: format!("{head} {comment}"),
        undo: format!("{head} NULL"),
    };
    set_unless(comment.eq_ignore_ascii_case("null"), setting)
}

/// Reads the rest of `SECURITY LABEL`.
pub(super) fn of_label(reader: &mut Reader<'_>) -> Option<Step> {
    let provider = match reader.word("FOR") {
        true => format!("FOR {} ", reader.label_provider()?),
        false => String::new(),
    };
    reader.word("ON").then_some(())?;
    let rest = reader.rest();
    let at = find_word(rest, "IS")?;
    let (object, label) = (rest[..at].trim(), rest[at + 2..].trim());
    let words: Vec<&str> = object.split_whitespace().collect();
    // Those are the whole server's.
    let kind = words.first()?;
    if ["ROLE", "DATABASE", "TABLESPACE"]
        .iter()
        .any(|word| kind.eq_ignore_ascii_case(word))
    {
        return None;
    }
    let base = words.last()?.rsplit('.').next().unwrap_or_default();
    let head = format!("SECURITY LABEL {provider}ON {object} IS");
    let setting = Setting {
        kind: ObjectKind::SecurityLabel,
        of: None,
        on: None,
        name: format!("{provider}ON {object}"),
        base,
        schema: None,
        sql: format!("{head} {label}"),
        undo: format!("{head} NULL"),
    };
    set_unless(label.eq_ignore_ascii_case("null"), setting)
}
