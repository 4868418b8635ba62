//! The agent inside a real Puma, with the real drivers.

mod agent;
mod calls;
mod support;
