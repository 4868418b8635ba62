//! How many requests each one stands for that the app can tell of.

use crate::{Exchange, Recording};

/// Counts answered requests, and those among them that carried a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    answered: u64,
    numbered: u64,
}

impl Weight {
    /// Counts the exchange, if it was answered.
    pub fn add(&mut self, exchange: &Exchange) {
        if exchange.outcome.was_answered() {
            self.answered += 1;
            self.numbered += u64::from(!exchange.id.is_none());
        }
    }

    /// How many answered requests each one stands for that carried a number: 1, or more in a dense
    /// load. 1 where none did.
    pub fn each(self) -> f64 {
        match self.numbered {
            0 => 1.0,
            numbered => self.answered as f64 / numbered as f64,
        }
    }
}

impl<'a> FromIterator<&'a Exchange> for Weight {
    fn from_iter<I: IntoIterator<Item = &'a Exchange>>(exchanges: I) -> Weight {
        let mut weight = Weight::default();
        for exchange in exchanges {
            weight.add(exchange);
        }
        weight
    }
}

impl Recording {
    /// How many requests of the measured window each one stands for that carried a number.
    pub fn weight(&self) -> f64 {
        let inside = |exchange: &&Exchange| self.window.contains(exchange.due);
        let weight: Weight = self.exchanges.iter().filter(inside).collect();
        weight.each()
    }
}
