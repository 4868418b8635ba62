//! Records a window of time on a host: new lines of logs, use of CPU, memory, disks and network by
//! process, a database's counters of statements, journals of units, and the inside of apps.
//!
//! [`collector::serve`] is the part on the far host, [`follow::follow`] the one on this, and
//! [`message`] what both sides say to each other.
//! [`window::LogWindow`] gives exactly the lines of the stretch, through rotation, truncation and
//! packing; [`usage::Sums`] adds up samples.

pub mod collector;
mod container;
mod counters;
pub mod follow;
mod inside;
mod journal;
pub mod layers;
pub mod message;
pub mod moments;
pub mod notes;
pub mod sockets;
pub mod usage;
pub mod window;
mod working;
