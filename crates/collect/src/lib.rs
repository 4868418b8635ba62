//! What a host saw of a stretch of time: the lines that its logs got, and who used its CPU, memory,
//! disks and network.
//!
//! [`collector::serve`] is the part on the far host, [`message`] what both sides say to each other.
//! [`window::LogWindow`] gives exactly the lines of the stretch, through rotation, truncation and
//! packing; [`usage::Usage`] adds up samples.

pub mod collector;
pub mod message;
pub mod notes;
pub mod usage;
pub mod window;
