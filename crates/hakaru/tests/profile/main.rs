//! `hakaru profile` on programs whose answer is known, and on programs that do what profilers fear.

mod clicker;
mod kept;
mod known;
mod of_run;
mod resolver;
mod safety;
mod support;
mod viewers;
