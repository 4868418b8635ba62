//! Loads against servers in the same process. One program, so that it is linked once.

mod again;
mod bad_servers;
mod common;
mod http2;
mod limits;
mod loads;
mod misbehaviours;
mod options;
mod real;
mod sums;
mod tls;
mod web_sockets;
