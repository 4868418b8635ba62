//! Objects compared by words.

use super::Reader;
use crate::ObjectKind;
use crate::postgres::kept::{self, Step};
use crate::postgres::model::{Extension, Kept, Owner};

/// The language of every server, an extension without a place in exports.
const BUILT_IN: &str = "plpgsql";

impl Reader<'_> {
    /// Reads a statement about an object compared by words; `false` for any other.
    pub(super) fn read_kept(&mut self, text: &str) -> bool {
        if self.read_default_privileges(text) {
            return true;
        }
        let Some(steps) = kept::read(text, &self.current_schema) else {
            return false;
        };
        let mut is_read = true;
        for step in steps {
            is_read &= self.take_step(step, text);
        }
        is_read
    }

    fn take_step(&mut self, step: Step, text: &str) -> bool {
        let all = &mut self.schema.kept;
        match step {
            Step::Made(kept) if kept.is_extension() => {
                self.add_language(*kept);
                true
            }
            Step::Commented(named, _) | Step::Owned(named, _) if named.is_language(BUILT_IN) => {
                true
            }
            Step::Made(mut kept) => {
                // Columns of a foreign table have comments as those of a composite type do.
                let of = kept.of.as_mut().filter(|of| !all.contains(&**of));
                if let Some(of) = of.filter(|of| of.0 == ObjectKind::CompositeType) {
                    of.0 = ObjectKind::ForeignTable;
                }
                let key = (kept.kind.kind, kept.name.clone());
                let is_family = kept.kind.kind == ObjectKind::OperatorFamily;
                // A setting of something unknown is not understood either.
                let is_known = kept.of.as_ref().is_none_or(|of| all.contains(of));
                // The family of a class may have been made before.
                if is_known && !(is_family && all.contains(&key)) {
                    all.insert(key, *kept);
                }
                is_known
            }
            Step::Commented(named, comment) => {
                let found = named.key(all).and_then(|key| all.get_mut(&key));
                found.map(|kept| kept.meta.comment = comment).is_some()
            }
            Step::Owned(named, role) => {
                let source = text.to_owned();
                let owner = Some(Box::new(Owner { role, source }));
                let found = named.key(all).and_then(|key| all.get_mut(&key));
                found.map(|kept| kept.meta.owner = owner).is_some()
            }
            Step::Dropped(named) => {
                let key = named.key(all);
                key.and_then(|key| all.remove(&key)).is_some()
            }
            Step::Unset(key) => {
                let _ = all.remove(&key);
                true
            }
            Step::Announced => true,
        }
    }
    /// A language without a handler is the extension of the same name
    /// (<https://www.postgresql.org/docs/18/sql-createlanguage.html>).
    fn add_language(&mut self, language: Kept) {
        let extensions = &mut self.schema.extensions;
        if language.base != BUILT_IN && !extensions.contains(&language.base) {
            let extension = Extension {
                name: language.base.clone(),
                schema: None,
                meta: language.meta,
            };
            extensions.insert(language.base, extension);
        }
    }
}
