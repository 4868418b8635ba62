//! What a prediction is asked, and the setup that answers.

use std::fmt;

use recording::Nanos;

use crate::capacity;
use crate::goal::Goal;
use crate::{Arrivals, Load, Model, Setup};

/// Other numbers than the recorded ones; `None` leaves the recorded one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Question {
    /// Processes.
    pub workers: Option<u32>,
    /// Threads of each process.
    pub threads: Option<u32>,
    /// Cores for all programs on the machine.
    pub cores: Option<u32>,
    /// Connections. Alone they ask for a closed load.
    pub connections: Option<u32>,
    /// Requests due per second; asks for an open load.
    pub rate: Option<f64>,
    /// Distances between the requests of an open load.
    pub arrivals: Arrivals,
    /// A goal for which the fewest workers are wanted.
    pub goal: Option<Goal>,
}

/// The setup to predict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The setup; with a goal, the one with the fewest workers.
    pub setup: Setup,
    /// The goal, and whether the setup reaches the goal.
    pub goal: Option<(Goal, bool)>,
}

/// A rate unknown to any load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InvalidRate(f64);

impl fmt::Display for InvalidRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a rate of {} requests per second cannot be sent", self.0)
    }
}

impl std::error::Error for InvalidRate {}

impl Question {
    /// Returns the setup asked for.
    ///
    /// # Errors
    /// The rate is not a positive number.
    pub fn answer(&self, model: &Model) -> Result<Answer, InvalidRate> {
        let recorded = model.recorded;
        let setup = Setup {
            workers: self.workers.unwrap_or(recorded.workers),
            threads: self.threads.unwrap_or(recorded.threads),
            cores: self.cores.unwrap_or(recorded.cores),
            load: self.load(recorded.load)?,
            ..recorded
        };
        let Some(goal) = self.goal else {
            return Ok(Answer { setup, goal: None });
        };
        let found = capacity::fewest_workers(model, &setup, &goal, self.cores);
        Ok(Answer {
            setup: found.setup,
            goal: Some((goal, found.held)),
        })
    }

    fn load(&self, recorded: Load) -> Result<Load, InvalidRate> {
        let connections = self.connections.unwrap_or(match recorded {
            Load::Closed { clients, .. } => clients,
            Load::Open { connections, .. } => connections,
        });
        match self.rate {
            Some(rate) if rate > 0.0 && rate.is_finite() => Ok(Load::Open {
                rate,
                arrivals: self.arrivals,
                connections,
            }),
            Some(rate) => Err(InvalidRate(rate)),
            None => Ok(match recorded {
                Load::Closed { think, .. } => Load::Closed {
                    clients: connections,
                    think,
                },
                Load::Open { .. } if self.connections.is_some() => Load::Closed {
                    clients: connections,
                    think: Nanos::ZERO,
                },
                open @ Load::Open { .. } => open,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(clients: u32) -> Load {
        Load::Closed {
            clients,
            think: Nanos(7),
        }
    }

    fn open(rate: f64, connections: u32) -> Load {
        Load::Open {
            rate,
            arrivals: Arrivals::Even,
            connections,
        }
    }

    fn check(recorded: Load, connections: Option<u32>, rate: Option<f64>, expected: Load) {
        let question = Question {
            connections,
            rate,
            arrivals: Arrivals::Even,
            ..Question::default()
        };
        assert_eq!(question.load(recorded), Ok(expected));
    }

    #[test]
    fn a_load_is_the_recorded_one_but_for_what_is_asked() {
        check(closed(8), None, None, closed(8));
        check(closed(8), Some(3), None, closed(3));
        check(closed(8), None, Some(90.0), open(90.0, 8));
        check(open(50.0, 20), None, None, open(50.0, 20));
        check(open(50.0, 20), None, Some(60.0), open(60.0, 20));
        let without_thinking = Load::Closed {
            clients: 4,
            think: Nanos::ZERO,
        };
        check(open(50.0, 20), Some(4), None, without_thinking);
    }

    #[test]
    fn a_rate_that_cannot_be_sent_is_refused() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let question = Question {
                rate: Some(rate),
                ..Question::default()
            };
            let refused = question.load(closed(1)).expect_err("no rate");
            assert!(refused.to_string().ends_with("cannot be sent"), "{refused}");
        }
    }
}
