//! What differs between the partitions of two tables.

use super::{PartitionStep, TableDiff};
use crate::mysql::model::{Partition, Partitioning};

impl<'a> TableDiff<'a> {
    pub(super) fn partitions(&mut self) {
        let (before, after) = match (&self.from.partitioning, &self.to.partitioning) {
            (None, None) => return,
            (Some(_), None) => return self.partitions.push(PartitionStep::Remove),
            (None, Some(after)) => return self.partitions.push(PartitionStep::By(after)),
            (Some(before), Some(after)) => (before, after),
        };
        let has_same_list = before.is_same_list(after);
        if before.norm == after.norm && has_same_list {
            return;
        }
        if before.norm != after.norm || !after.has_bounds {
            return self.partitions.push(PartitionStep::By(after));
        }
        match after.is_range {
            true => self.ranges(before, after),
            false => self.lists(before, after),
        }
    }

    /// Compares range partitions: equal ones at the start and at the end stay, the ones between are
    /// replaced.
    fn ranges(&mut self, before: &'a Partitioning, after: &'a Partitioning) {
        let Between { gone, come, above } = Between::of(&before.all(), &after.all());
        let step = match (gone.is_empty(), come.is_empty(), above) {
            (true, true, _) => return,
            (false, true, _) => PartitionStep::Drop(gone),
            (true, false, None) => PartitionStep::Add(come),
            // The next one above has to give room.
            (true, false, Some(above)) => {
                PartitionStep::Reorganize(vec![above], come.into_iter().chain([above]).collect())
            }
            (false, false, _) => return self.exchange(gone, come),
        };
        self.partitions.push(step);
    }

    /// Reorganises partitions, which preserves all rows, so the last bound may not decrease. Where
    /// it does, partitions with rows above it are dropped first.
    fn exchange(&mut self, gone: Vec<&'a Partition>, come: Vec<&'a Partition>) {
        let has_same_end = match (gone.last(), come.last()) {
            (Some(gone), Some(come)) => gone.norm == come.norm,
            _ => false,
        };
        if has_same_end {
            return self.partitions.push(PartitionStep::Reorganize(gone, come));
        }
        let (kept, lost): (Vec<_>, Vec<_>) = gone
            .into_iter()
            .partition(|old| come.iter().any(|new| new.norm == old.norm));
        if !lost.is_empty() && kept.len() == come.len() {
            self.partitions.push(PartitionStep::Drop(lost));
            self.partitions.push(PartitionStep::Reorganize(kept, come));
        } else if let Some(after) = &self.to.partitioning {
            self.partitions.push(PartitionStep::By(after));
        }
    }

    /// Compares list partitions: one is dropped with all rows when no new partition has any of the
    /// values. Where values move, neighbours are reorganised: a row without a partition makes the
    /// statement fail and is not lost.
    fn lists(&mut self, before: &'a Partitioning, after: &'a Partitioning) {
        let (old, new) = (before.all(), after.all());
        let stays = |old: &Partition| new.iter().any(|new| old.is_same(new));
        // Their order means nothing.
        if old.len() == new.len() && old.iter().all(|old| stays(old)) {
            return;
        }
        // Which rows a partition for all the rest gives up or takes is known to the server alone.
        if old.iter().chain(&new).any(|one| one.values.is_empty()) {
            return self.partitions.push(PartitionStep::By(after));
        }
        let is_of = |one: &Partition, others: &[&Partition]| {
            let mut others = others.iter();
            others.any(|other| other.name.is(&one.name) || one.shares_value(other))
        };
        let (kept, lost): (Vec<_>, Vec<_>) = old.iter().copied().partition(|one| is_of(one, &new));
        if !lost.is_empty() {
            self.partitions.push(PartitionStep::Drop(lost));
        }
        if !kept.iter().all(|old| stays(old)) {
            let Between { gone, come, .. } = Between::of(&kept, &new);
            return self.partitions.push(PartitionStep::Reorganize(gone, come));
        }
        let added: Vec<_> = new
            .iter()
            .copied()
            .filter(|one| !is_of(one, &old))
            .collect();
        if !added.is_empty() {
            self.partitions.push(PartitionStep::Add(added));
        }
    }
}

/// The partitions between the equal ones at the start and at the end.
struct Between<'a> {
    gone: Vec<&'a Partition>,
    come: Vec<&'a Partition>,
    /// The first of the equal partitions at the end.
    above: Option<&'a Partition>,
}

impl<'a> Between<'a> {
    fn of(old: &[&'a Partition], new: &[&'a Partition]) -> Between<'a> {
        let starts = old.iter().zip(new);
        let start = starts.take_while(|(old, new)| old.is_same(new)).count();
        let ends = old[start..].iter().rev().zip(new[start..].iter().rev());
        let end = ends.take_while(|(old, new)| old.is_same(new)).count();
        Between {
            gone: old[start..old.len() - end].to_vec(),
            come: new[start..new.len() - end].to_vec(),
            above: old.get(old.len() - end).copied(),
        }
    }
}

impl Partition {
    fn is_same(&self, other: &Partition) -> bool {
        self.name.is(&other.name) && self.norm == other.norm
    }

    fn shares_value(&self, other: &Partition) -> bool {
        self.values.iter().any(|value| other.values.contains(value))
    }
}

impl Partitioning {
    fn all(&self) -> Vec<&Partition> {
        self.partitions.iter().collect()
    }

    /// Whether two partition lists are equal. Servers name partitions given only by number, so such
    /// a list is compared by length.
    fn is_same_list(&self, other: &Partitioning) -> bool {
        if !self.has_bounds && (self.partitions.is_empty() || other.partitions.is_empty()) {
            return true;
        }
        self.partitions.len() == other.partitions.len()
            && self
                .partitions
                .iter()
                .zip(&other.partitions)
                .all(|(one, other)| one.is_same(other))
    }
}
