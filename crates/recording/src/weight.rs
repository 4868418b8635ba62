//! Weight of a recorded request: the number of requests represented.

use crate::{Exchange, Recording};

/// Counts of answered requests, and of numbered requests among the answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    answered: u64,
    numbered: u64,
}

impl Weight {
    /// Counts the exchange, if answered.
    pub fn add(&mut self, exchange: &Exchange) {
        if exchange.was_answered() {
            self.answered += 1;
            self.numbered += u64::from(!exchange.id.is_none());
        }
    }

    /// Returns the answered requests represented by each numbered one: 1, or more in a high-rate
    /// load. 1 where none was numbered.
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
    /// Returns the requests of the measured window represented by each numbered one.
    pub fn weight(&self) -> f64 {
        let inside = |exchange: &&Exchange| self.window.contains(exchange.due);
        let weight: Weight = self.exchanges.iter().filter(inside).collect();
        weight.each()
    }
}
