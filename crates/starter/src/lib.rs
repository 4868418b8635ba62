//! The first steps with an app: what the app is by the app's files ([`look`]), the texts of a first
//! `hakaru.toml` and a first flow ([`write`]), and the trial of the flow against the running app
//! ([`prove`]).
//!
//! Invariant: starts nothing, and changes no file but a flow that nobody has edited.

pub mod look;
pub mod prove;
pub mod write;
