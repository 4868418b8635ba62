//! Reads .hurl flows and weights, renders requests, judges answers.
