//! Texts common to many facts, stored once under a hash of the content.

use std::collections::HashMap;
use std::hash::Hasher;

use fnv::FnvHasher;

/// Identifies a text by the 64-bit FNV-1a hash of the bytes: several processes agree on the id
/// without communication. Zero means "no text".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextId(pub u64);

/// The texts of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    by_id: HashMap<TextId, String>,
}

impl TextId {
    /// No text.
    pub const NONE: TextId = TextId(0);

    /// The name of `text`: FNV-1a, 64 bits (Fowler, Noll, Vo), with zero avoided.
    pub fn of(text: &[u8]) -> TextId {
        let mut hash = FnvHasher::default();
        hash.write(text);
        TextId(hash.finish().max(1))
    }
}

impl Texts {
    /// Stores `text` and returns the text's id.
    pub fn keep(&mut self, text: &str) -> TextId {
        let id = TextId::of(text.as_bytes());
        self.by_id.entry(id).or_insert_with(|| text.to_owned());
        id
    }

    /// Stores `text` under an id given by another process.
    pub fn keep_as(&mut self, id: TextId, text: &str) {
        self.by_id.entry(id).or_insert_with(|| text.to_owned());
    }

    /// Returns the text identified by `id`.
    pub fn get(&self, id: TextId) -> Option<&str> {
        self.by_id.get(&id).map(String::as_str)
    }

    /// Returns all texts with ids, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (TextId, &str)> {
        self.by_id.iter().map(|(id, text)| (*id, text.as_str()))
    }
}
