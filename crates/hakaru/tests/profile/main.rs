//! `hakaru profile` on programs with a known profile, and on programs hostile to profilers.

mod clicker;
mod kept;
mod known;
mod messages;
mod of_run;
mod resolver;
mod safety;
mod stackprof;
mod support;
mod viewers;
