//! What the names in templates stand for.

use std::collections::HashMap;
use std::sync::Arc;

use crate::think::ThinkTime;
use crate::value::Value;

/// Whether a name can be a variable's: letters, digits, `_` and `-`.
pub(crate) fn is_variable_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// The variables of one user: shared by the whole scenario, and overridden by the iteration's.
#[derive(Clone, Debug)]
pub struct Variables {
    shared: Arc<HashMap<String, Value>>,
    own: HashMap<String, Value>,
    /// Values present in every iteration, outside of the map, which often stays empty.
    iteration: Value,
    user: Value,
    random: fastrand::Rng,
}

impl Default for Variables {
    fn default() -> Self {
        Variables::new(Arc::default(), 0)
    }
}

impl Variables {
    pub(crate) fn new(shared: Arc<HashMap<String, Value>>, seed: u64) -> Variables {
        Variables {
            shared,
            own: HashMap::new(),
            iteration: Value::Integer(0),
            user: Value::Integer(0),
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// The value of `name`.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let own = self.own.get(name);
        own.or_else(|| match name {
            "iteration" => Some(&self.iteration),
            "user" => Some(&self.user),
            _ => self.shared.get(name),
        })
    }

    /// Sets the generated values of an iteration.
    pub(crate) fn begin_iteration(&mut self, iteration: u64, user: u32) {
        self.iteration = Value::Integer(iteration as i64);
        self.user = Value::Integer(i64::from(user));
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        match self.own.get_mut(name) {
            Some(place) => *place = value,
            None => {
                self.own.insert(name.to_owned(), value);
            }
        }
    }

    /// Forgets what belongs to an iteration.
    pub(crate) fn clear(&mut self) {
        self.own.clear();
    }

    /// One think time, nanoseconds.
    pub(crate) fn think_ns(&mut self, think: ThinkTime) -> u64 {
        think.draw_ns(&mut self.random)
    }

    /// Random bits.
    pub(crate) fn random_u32(&mut self) -> u32 {
        self.random.u32(..)
    }

    /// A random UUID of version 4.
    pub(crate) fn new_uuid(&mut self) -> String {
        const VERSION_4: u128 = 4 << 76;
        const VARIANT: u128 = 2 << 62;
        let random = self.random.u128(..) & !(0xf << 76) & !(3 << 62);
        let digits = crate::encode::hex(&(random | VERSION_4 | VARIANT).to_be_bytes());
        let (a, b, c, d, e) = (
            &digits[..8],
            &digits[8..12],
            &digits[12..16],
            &digits[16..20],
            &digits[20..],
        );
        format!("{a}-{b}-{c}-{d}-{e}")
    }
}
