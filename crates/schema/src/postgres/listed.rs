//! A map in insertion order.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;

/// Values by key, in order of first insertion.
#[derive(Clone)]
pub(crate) struct Listed<K, V> {
    slots: Vec<Option<(K, V)>>,
    index: HashMap<K, usize>,
}

impl<K, V> Default for Listed<K, V> {
    fn default() -> Self {
        Listed {
            slots: Vec::new(),
            index: HashMap::new(),
        }
    }
}

/// Without the index, whose order is not the same twice.
impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Listed<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.slots.iter().flatten();
        f.debug_map()
            .entries(values.map(|(key, value)| (key, value)))
            .finish()
    }
}

impl<K: Clone + Eq + Hash, V> Listed<K, V> {
    /// Inserts a value at the end; a former value of the key is removed.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        if let Some(old) = self.index.insert(key.clone(), self.slots.len()) {
            self.slots[old] = None;
        }
        self.slots.push(Some((key, value)));
    }

    pub(crate) fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: std::borrow::Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let at = *self.index.get(key)?;
        self.slots[at].as_ref().map(|(_, value)| value)
    }

    pub(crate) fn get_mut<Q>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: std::borrow::Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let at = *self.index.get(key)?;
        self.slots[at].as_mut().map(|(_, value)| value)
    }

    pub(crate) fn contains<Q>(&self, key: &Q) -> bool
    where
        K: std::borrow::Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.index.contains_key(key)
    }

    pub(crate) fn remove<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: std::borrow::Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let at = self.index.remove(key)?;
        self.slots[at].take().map(|(_, value)| value)
    }

    /// Changes a value's key, at the same position.
    pub(crate) fn rename(&mut self, from: &K, to: K) -> Option<&mut V> {
        let at = self.index.remove(from)?;
        self.index.insert(to.clone(), at);
        let slot = self.slots[at].as_mut()?;
        slot.0 = to;
        Some(&mut slot.1)
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.slots.iter().flatten().map(|(key, value)| (key, value))
    }

    pub(crate) fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.slots.iter().flatten().map(|(key, _)| key)
    }

    pub(crate) fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.slots.iter().flatten().map(|(_, value)| value)
    }

    pub(crate) fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> {
        self.slots.iter_mut().flatten().map(|(_, value)| value)
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&K, &V) -> bool) {
        for slot in &mut self.slots {
            let goes = slot.as_ref().is_some_and(|(key, value)| !keep(key, value));
            if goes && let Some((key, _)) = slot.take() {
                self.index.remove(&key);
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }
}
