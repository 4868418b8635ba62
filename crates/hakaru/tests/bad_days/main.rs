//! Bad days: what the real program says, how it ends, and what it leaves behind when things go
//! wrong.

mod agent;
mod compare;
mod crash;
mod during;
mod full;
mod interrupt;
mod prune;
mod secrets;
mod start;
mod support;
mod usage;
mod variants;
