//! Renames from comments, applied to the starting schema of a plan: later stages compare equal
//! names.

use super::Schema;
use super::model::{Name, Table};
use crate::rename::still_there;
use crate::{ObjectKind, PlanError};

/// Returns the schema with new names, each object with the old one; `None` without renames.
pub(super) fn apply(from: &Schema, to: &Schema) -> Result<Option<Schema>, PlanError> {
    let is_any = to.views.iter().any(|view| view.renamed_from.is_some())
        || to.tables.iter().any(|table| {
            table.renamed_from.is_some()
                || table
                    .columns
                    .iter()
                    .any(|column| column.renamed_from.is_some())
                || table
                    .indexes
                    .iter()
                    .any(|index| index.renamed_from.is_some())
        });
    if !is_any {
        return Ok(None);
    }
    let mut from = from.clone();
    for table in &to.tables {
        rename_table(&mut from, to, table)?;
        rename_columns(&mut from, table)?;
        rename_indexes(&mut from, table);
    }
    for view in &to.views {
        let Some(old) = &view.renamed_from else {
            continue;
        };
        if from.view(&view.name.text).is_none() && to.view(old).is_none() {
            let mut known = from.views.iter_mut();
            if let Some(known) = known.find(|known| known.name.text == *old) {
                known.was = Some(std::mem::replace(&mut known.name, view.name.clone()));
            }
        }
    }
    Ok(Some(from))
}

fn rename_table(from: &mut Schema, to: &Schema, table: &Table) -> Result<(), PlanError> {
    let Some(old) = &table.renamed_from else {
        return Ok(());
    };
    if from.table(&table.name.text).is_some() || from.table(old).is_none() {
        return Ok(());
    }
    if to.table(old).is_some() {
        return Err(still_there(ObjectKind::Table, old, &table.name.text));
    }
    let Some((place, mut renamed)) = from.take_table(old) else {
        return Ok(());
    };
    let was = std::mem::replace(&mut renamed.name, table.name.clone());
    for other in from.tables.iter_mut().chain([&mut renamed]) {
        for key in other
            .foreign_keys
            .iter_mut()
            .filter(|key| key.table.text == was.text)
        {
            key.table = table.name.clone();
        }
    }
    for trigger in from
        .triggers
        .iter_mut()
        .filter(|trigger| trigger.table.text == was.text)
    {
        trigger.table = table.name.clone();
    }
    renamed.was = Some(was);
    from.put_table(place, renamed);
    Ok(())
}

fn rename_columns(from: &mut Schema, to: &Table) -> Result<(), PlanError> {
    for column in &to.columns {
        let Some(old) = column.renamed_from.as_ref().map(Name::quoted) else {
            continue;
        };
        let Some(table) = from.table_mut(&to.name.text) else {
            return Ok(());
        };
        let has =
            |table: &Table, name: &Name| table.columns.iter().any(|known| known.name.is(name));
        if has(table, &column.name) || !has(table, &old) {
            continue;
        }
        if has(to, &old) {
            return Err(still_there(
                ObjectKind::Column,
                &old.text,
                &column.name.text,
            ));
        }
        table.rename_column(&old, &column.name);
        for known in table
            .columns
            .iter_mut()
            .filter(|known| known.name.is(&column.name))
        {
            known.was = Some(old.clone());
        }
        rename_in_expressions(table, &old.text, &column.name.text);
        let owner = to.name.clone();
        for other in from
            .tables
            .iter_mut()
            .filter(|other| !other.name.is(&owner))
        {
            let keys = other
                .foreign_keys
                .iter_mut()
                .filter(|key| key.table.text == owner.text);
            for reference in keys
                .flat_map(|key| &mut key.references)
                .filter(|name| name.is(&old))
            {
                *reference = column.name.clone();
            }
        }
    }
    Ok(())
}

/// Servers write the new name into checks, generated columns and functional indexes.
fn rename_in_expressions(table: &mut Table, old: &str, new: &str) {
    let (old, new) = (old.to_lowercase(), new.to_lowercase());
    for column in &mut table.columns {
        if let Some((norm, _)) = &mut column.norm.generated {
            *norm = with_word(norm, &old, &new);
        }
        for norm in &mut column.norm.checks {
            *norm = with_word(norm, &old, &new);
        }
    }
    for check in &mut table.checks {
        check.expr.norm = with_word(&check.expr.norm, &old, &new);
    }
    for index in &mut table.indexes {
        index.norm = with_word(&index.norm, &old, &new);
    }
}

/// The text with one word in another's place, strings apart.
fn with_word(text: &str, old: &str, new: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let (mut rest, mut is_string) = (text, false);
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    while let Some(first) = rest.chars().next() {
        is_string ^= first == '\'';
        let is_start = !is_string && !result.ends_with(is_part);
        let behind = rest
            .strip_prefix(old)
            .filter(|behind| is_start && !behind.starts_with(is_part));
        rest = match behind {
            Some(behind) => {
                result.push_str(new);
                behind
            }
            None => {
                result.push(first);
                &rest[first.len_utf8()..]
            }
        };
    }
    result
}

/// Whether a normal form names a column, strings apart.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    with_word(text, &word.to_lowercase(), "") != text
}

fn rename_indexes(from: &mut Schema, to: &Table) {
    let Some(table) = from.table_mut(&to.name.text) else {
        return;
    };
    for index in &to.indexes {
        let Some(old) = index.renamed_from.as_ref().map(Name::quoted) else {
            continue;
        };
        let is_there =
            |name: &Name, table: &Table| table.indexes.iter().any(|known| known.name.is(name));
        if is_there(&index.name, table) || is_there(&old, to) {
            continue;
        }
        for known in table.indexes.iter_mut().filter(|known| known.name.is(&old)) {
            known.was = Some(std::mem::replace(&mut known.name, index.name.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_exchanged_whole() {
        assert_eq!(
            with_word("(a + ab + 'a' + b.a)", "a", "x"),
            "(x + ab + 'a' + b.x)"
        );
        assert!(has_word("(ab + 'x' + b.a)", "A"));
        assert!(!has_word("(ab + 'a')", "a"));
    }
}
