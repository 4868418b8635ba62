//! Bad days: output, exit codes and remains of the real program when something fails.

mod agent;
mod compare;
mod crash;
mod during;
mod full;
mod interrupt;
mod prune;
mod secrets;
mod standby;
mod start;
mod support;
mod usage;
mod variants;
