//! `hakaru profile` on programs whose answer is known, and on programs that do what profilers fear.

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
