//! Partitions of a table.

use super::Builder;
use crate::mysql::diff::{PartitionStep, TableDiff};
use crate::mysql::hazards;
use crate::mysql::model::Partition;
use crate::mysql::print;
use crate::plan::Steps;
use crate::{Hazard, ObjectKind, Verb};

impl Builder<'_> {
    /// Removes partitioning where partitions are dropped, or defined on other columns, and block
    /// changes of keys and columns. Returns the statement's position.
    pub(super) fn remove_partitions(&mut self, diff: &TableDiff<'_>, table: &str) -> Option<usize> {
        let is_other = match diff.partitions.first() {
            Some(PartitionStep::Remove) => true,
            Some(PartitionStep::By(_)) => {
                let has_more = diff.primary.is_some()
                    || !diff.columns.is_empty()
                    || !diff.dropped_columns.is_empty()
                    || !diff.replaced_indexes.is_empty();
                has_more && diff.from.partitioning.is_some()
            }
            _ => false,
        };
        is_other.then(|| {
            let rewrite = Hazard::Rewrite(format!("table {} is written anew", diff.to.name.text));
            let sql = format!("ALTER TABLE {table} REMOVE PARTITIONING");
            let name = diff.to.name.text.clone();
            self.push_with(sql, Verb::Alter, ObjectKind::Table, name, vec![rewrite])
        })
    }

    pub(super) fn partitions(&mut self, diff: &TableDiff<'_>, table: &str, freed: Option<usize>) {
        let name = &diff.to.name.text;
        let mut dropped = None;
        for step in &diff.partitions {
            let rewrite = hazards::of_partitions(diff, step);
            let (clause, hazards, verb) = match step {
                PartitionStep::Remove if freed.is_some() => continue,
                PartitionStep::Remove => ("REMOVE PARTITIONING".to_owned(), rewrite, Verb::Alter),
                PartitionStep::By(partitioning) => {
                    (print::partitions(partitioning), rewrite, Verb::Alter)
                }
                PartitionStep::Add(added) => (
                    format!("ADD PARTITION ({})", texts(added)),
                    Vec::new(),
                    Verb::Alter,
                ),
                PartitionStep::Reorganize(from, to) => {
                    let clause = format!(
                        "REORGANIZE PARTITION {} INTO ({})",
                        names(self, from),
                        texts(to)
                    );
                    (clause, rewrite, Verb::Alter)
                }
                PartitionStep::Drop(gone) => {
                    let lost = gone
                        .iter()
                        .map(|gone| Hazard::DataLoss(format!("rows of {name}.{}", gone.name.text)));
                    (
                        format!("DROP PARTITION {}", names(self, gone)),
                        lost.collect(),
                        Verb::Drop,
                    )
                }
            };
            let (kind, name) = match step {
                PartitionStep::Drop(gone) => (
                    ObjectKind::Partition,
                    format!("{name}.{}", gone[0].name.text),
                ),
                PartitionStep::Reorganize(from, _) if hazards.iter().any(is_loss) => (
                    ObjectKind::Partition,
                    format!("{name}.{}", from[0].name.text),
                ),
                _ => (ObjectKind::Table, name.clone()),
            };
            let sql = format!("ALTER TABLE {table} {clause}");
            let at = self.push_with(sql, verb, kind, name, hazards);
            match step {
                // All of it or nothing.
                PartitionStep::By(_) => {
                    if let Some(freed) = freed {
                        self.statements[at].needs.push(freed);
                        self.statements[freed].needs.push(at);
                    }
                }
                PartitionStep::Drop(_) => dropped = Some(at),
                // Neighbours alone can be reorganised, which these may only be without it.
                PartitionStep::Reorganize(..) => self.statements[at].needs.extend(dropped),
                _ => {}
            }
        }
    }
}

fn is_loss(hazard: &Hazard) -> bool {
    matches!(hazard, Hazard::DataLoss(_))
}

fn texts(partitions: &[&Partition]) -> String {
    let texts: Vec<&str> = partitions
        .iter()
        .map(|partition| partition.text.as_str())
        .collect();
    texts.join(", ")
}

fn names(builder: &Builder<'_>, partitions: &[&Partition]) -> String {
    let names: Vec<String> = partitions
        .iter()
        .map(|partition| builder.printer.name(&partition.name))
        .collect();
    names.join(", ")
}
