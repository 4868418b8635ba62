//! A map in insertion order.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;

/// Slots above which keys are hashed. The columns or indexes of most tables are fewer, and are
/// found sooner one by one than by a hash.
const UNHASHED_MAX: usize = 12;

/// Values by key, in order of first insertion.
#[derive(Clone)]
pub(crate) struct Listed<K, V> {
    slots: Vec<Option<(K, V)>>,
    /// The slot of each key, once there were more than [`UNHASHED_MAX`].
    index: Option<HashMap<K, usize>>,
}

impl<K, V> Default for Listed<K, V> {
    fn default() -> Self {
        Listed {
            slots: Vec::new(),
            index: None,
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
        let old = match &mut self.index {
            Some(index) => index.insert(key.clone(), self.slots.len()),
            None => self.place(&key),
        };
        if let Some(old) = old {
            self.slots[old] = None;
        }
        self.slots.push(Some((key, value)));
        if self.index.is_none() && self.slots.len() > UNHASHED_MAX {
            let slots = self.slots.iter().enumerate();
            let places = slots.filter_map(|(at, slot)| Some((slot.as_ref()?.0.clone(), at)));
            self.index = Some(places.collect());
        }
    }

    /// The slot of a key.
    fn place<Q>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let is_here = |slot: &Option<(K, V)>| {
            let known = slot.as_ref();
            known.is_some_and(|(known, _)| known.borrow() == key)
        };
        match &self.index {
            Some(index) => index.get(key).copied(),
            None => self.slots.iter().position(is_here),
        }
    }

    pub(crate) fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let slot = &self.slots[self.place(key)?];
        slot.as_ref().map(|(_, value)| value)
    }

    pub(crate) fn get_mut<Q>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let at = self.place(key)?;
        self.slots[at].as_mut().map(|(_, value)| value)
    }

    pub(crate) fn contains<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.place(key).is_some()
    }

    pub(crate) fn remove<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let at = match &mut self.index {
            Some(index) => index.remove(key)?,
            None => self.place(key)?,
        };
        self.slots[at].take().map(|(_, value)| value)
    }

    /// Changes a value's key, at the same position.
    pub(crate) fn rename(&mut self, from: &K, to: K) -> Option<&mut V> {
        let at = self.place(from)?;
        if let Some(index) = &mut self.index {
            index.remove(from);
            index.insert(to.clone(), at);
        }
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
            if goes
                && let Some((key, _)) = slot.take()
                && let Some(index) = &mut self.index
            {
                index.remove(&key);
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        match &self.index {
            Some(index) => index.len(),
            None => self.slots.iter().flatten().count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys and values in order, and what is found by key.
    fn check(list: &Listed<String, usize>, expected: &[(&str, usize)]) {
        let found: Vec<(&str, usize)> = list.iter().map(|(key, at)| (key.as_str(), *at)).collect();
        assert_eq!(found, expected);
        assert_eq!(list.len(), expected.len());
        for (key, value) in expected {
            assert_eq!(list.get(*key), Some(value));
        }
        assert!(!list.contains("absent"));
    }

    #[test]
    fn few_and_many_keys_are_kept_alike() {
        for more in [0, UNHASHED_MAX + 1] {
            let mut list = Listed::default();
            for number in 0..more {
                list.insert(format!("k{number}"), number);
            }
            for (value, key) in ["a", "b", "a", "c"].into_iter().enumerate() {
                list.insert(key.to_owned(), value);
            }
            list.retain(|key, _| !key.starts_with('k'));
            check(&list, &[("b", 1), ("a", 2), ("c", 3)]);
            *list.rename(&"a".to_owned(), "d".to_owned()).unwrap() += 5;
            assert_eq!(list.remove("b"), Some(1));
            assert_eq!(list.remove("b"), None);
            check(&list, &[("d", 7), ("c", 3)]);
        }
    }
}
