//! Measures the same code or command with several contenders, in interleaved fresh processes, and
//! says which is faster, with an interval.
//!
//! `hakaru bench` is this crate with flags around it. What flows: a file of jobs ([`yaml`]) and the
//! contenders ([`executable`], [`rubies`]) go into the generated program ([`script`]), which a
//! process runs ([`process`]) and whose figures come back ([`child`]). The contest of `stats` says
//! what may be claimed of them; [`doubt`] says what speaks against it.
//!
//! Invariant: only [`process`], [`rubies`], [`ruby`] and [`command`] touch anything outside; the
//! rest is pure and is tested with simulated clocks.
//!
//! Start reading at [`bench::run`].

pub mod bench;
pub mod bisect;
pub mod calm;
pub mod child;
pub mod command;
pub mod doubt;
pub mod driver;
pub mod executable;
pub mod history;
pub mod model;
pub mod output;
pub mod parameters;
pub mod past;
pub mod plan;
pub mod process;
pub mod record;
pub mod rubies;
pub mod ruby;
pub mod sample;
pub mod script;
pub mod shell_words;
pub mod workloads;
pub mod yaml;
