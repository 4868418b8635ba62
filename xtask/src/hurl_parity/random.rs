//! Random choices from a seed.

/// SplitMix64.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub(super) fn of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Returns at most `count` of the items, in order.
    pub(super) fn some<T>(&mut self, items: Vec<T>, count: usize) -> Vec<T> {
        let mut left = items.len();
        let mut wanted = count.min(left);
        let mut taken = Vec::new();
        for item in items {
            if wanted > 0 && self.below(left) < wanted {
                taken.push(item);
                wanted -= 1;
            }
            left -= 1;
        }
        taken
    }
}
