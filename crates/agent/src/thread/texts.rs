//! Set of the texts already in a ring.

/// Hashes of texts already in the ring. Emptied when three quarters full, which costs no more than
/// sending some texts again.
pub(super) struct TextSet {
    slots: Box<[u64; TOLD_SLOTS]>,
    count: usize,
}

const TOLD_SLOTS: usize = 1024;

impl TextSet {
    pub(super) fn new() -> TextSet {
        TextSet {
            slots: Box::new([0; TOLD_SLOTS]),
            count: 0,
        }
    }

    pub(super) fn clear(&mut self) {
        self.slots.fill(0);
        self.count = 0;
    }

    /// Returns the index of `id`, or of a free slot for `id`.
    fn slot(&self, id: u64) -> usize {
        let mut slot = (id ^ id >> 32) as usize & (TOLD_SLOTS - 1);
        while self.slots[slot] != 0 && self.slots[slot] != id {
            slot = (slot + 1) & (TOLD_SLOTS - 1);
        }
        slot
    }

    pub(super) fn has(&self, id: u64) -> bool {
        self.slots[self.slot(id)] == id
    }

    pub(super) fn add_if(&mut self, told: bool, id: u64) {
        if !told {
            return;
        }
        if self.count >= TOLD_SLOTS / 4 * 3 {
            self.clear();
        }
        let slot = self.slot(id);
        self.slots[slot] = id;
        self.count += 1;
    }
}
