//! Whether views, triggers and events are alike.

use crate::mysql::model::{Event, Trigger, View};

/// Whether the definers are equal; an omitted one equals any.
fn is_same_definer(before: &Option<String>, after: &Option<String>) -> bool {
    after.is_none() || before.is_none() || before == after
}

impl View {
    pub(in crate::mysql) fn is_same(&self, after: &View) -> bool {
        let security = |view: &View| {
            view.security
                .clone()
                .unwrap_or_else(|| "DEFINER".to_owned())
        };
        let algorithm = |view: &View| view.algorithm.clone();
        self.body == after.body
            && security(self) == security(after)
            && algorithm(self) == algorithm(after)
            && is_same_definer(&self.definer, &after.definer)
    }
}

impl Trigger {
    pub(in crate::mysql) fn is_same(&self, after: &Trigger) -> bool {
        self.body == after.body
            && self.event == after.event
            && self.table.is(&after.table)
            && is_same_definer(&self.definer, &after.definer)
    }
}

impl Event {
    pub(in crate::mysql) fn is_same(&self, after: &Event) -> bool {
        // A start that was not written is the moment of making it.
        let is_same_time = !after.has_start || !self.has_start || self.bounds == after.bounds;
        self.body == after.body
            && (self.schedule == after.schedule || after.is_made_then())
            && is_same_time
            && self.is_preserved == after.is_preserved
            && self.status == after.status
            && self.comment == after.comment
            && is_same_definer(&self.definer, &after.definer)
    }

    /// Whether the start is computed on creation (`AT CURRENT_TIMESTAMP + INTERVAL 1 DAY`).
    fn is_made_then(&self) -> bool {
        let norm = &self.schedule.norm;
        norm.starts_with("AT ") && !norm.starts_with("AT '")
    }
}
