//! Records a window of time on a host: new lines of logs, and use of CPU, memory, disks and network
//! by process.
//!
//! [`collector::serve`] is the part on the far host, [`follow::follow`] the one on this, and
//! [`message`] what both sides say to each other.
//! [`window::LogWindow`] gives exactly the lines of the stretch, through rotation, truncation and
//! packing; [`usage::Usage`] adds up samples.

pub mod collector;
mod container;
pub mod follow;
pub mod layers;
pub mod message;
pub mod notes;
pub mod sockets;
pub mod usage;
pub mod window;
