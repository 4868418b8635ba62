//! Partitions of a table, in sqldef's words.

use super::Writer;
use crate::mysql::diff::{PartitionStep, TableDiff};
use crate::mysql::hazards;
use crate::mysql::model::Partition;
use crate::mysql::print;
use crate::plan::Steps;
use crate::{Hazard, ObjectKind, Verb};

impl Writer<'_> {
    pub(super) fn add_partitions(&mut self, diff: &TableDiff<'_>, table: &str) {
        let name = &diff.to.name.text;
        let mut dropped = Vec::new();
        for step in &diff.partitions {
            let clauses: Vec<String> = match step {
                PartitionStep::Drop(gone) => {
                    if makes_room(diff) {
                        dropped = self.drop_partitions(diff, table, gone);
                    }
                    continue;
                }
                PartitionStep::Add(added) => added
                    .iter()
                    .map(|added| format!("ADD PARTITION ({})", added.text))
                    .collect(),
                PartitionStep::Remove => vec!["REMOVE PARTITIONING".to_owned()],
                PartitionStep::By(partitioning) => vec![print::partitions(partitioning)],
                PartitionStep::Reorganize(from, to) => {
                    let names: Vec<String> = from
                        .iter()
                        .map(|from| self.printer.name(&from.name))
                        .collect();
                    let texts: Vec<String> = to.iter().map(|to| to.text.clone()).collect();
                    vec![format!(
                        "REORGANIZE PARTITION {} INTO ({})",
                        names.join(", "),
                        texts.join(", ")
                    )]
                }
            };
            let is_reorganized = matches!(step, PartitionStep::Reorganize(..));
            for clause in clauses {
                let sql = format!("ALTER TABLE {table} {clause}");
                let hazards = hazards::of_partitions(diff, step);
                let hazards = hazards.into_iter();
                let lost = hazards.filter(|hazard| matches!(hazard, Hazard::DataLoss(_)));
                let name = name.clone();
                let at = self.push_with(sql, Verb::Alter, ObjectKind::Table, name, lost.collect());
                if is_reorganized {
                    self.statements[at].needs.extend(&dropped);
                }
            }
        }
    }

    /// Drops partitions at the end, unless other partitions need the room.
    pub(super) fn drop_late_partitions(&mut self, diff: &TableDiff<'_>, table: &str) {
        for step in diff.partitions.iter().filter(|_| !makes_room(diff)) {
            if let PartitionStep::Drop(gone) = step {
                self.drop_partitions(diff, table, gone);
            }
        }
    }

    /// Places of the statements.
    fn drop_partitions(
        &mut self,
        diff: &TableDiff<'_>,
        table: &str,
        gone: &[&Partition],
    ) -> Vec<usize> {
        let one = |partition: &&Partition| {
            let name = format!("{}.{}", diff.to.name.text, partition.name.text);
            let sql = format!(
                "ALTER TABLE {table} DROP PARTITION {}",
                self.printer.name(&partition.name)
            );
            let lost = vec![Hazard::DataLoss(format!("rows of {name}"))];
            self.push_drop(sql, ObjectKind::Partition, name, lost)
        };
        gone.iter().map(one).collect()
    }
}

/// Whether dropped partitions block a reorganisation of others: only neighbours are reorganised.
fn makes_room(diff: &TableDiff<'_>) -> bool {
    let mut steps = diff.partitions.iter();
    steps.any(|step| matches!(step, PartitionStep::Reorganize(..)))
}
