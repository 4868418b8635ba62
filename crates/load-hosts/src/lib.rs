//! One load from several hosts over SSH: the near side orders, starts and follows the generators
//! ([`near`]), each generator reads an order and sends a result ([`far`]). [`message`] is what both
//! say to each other.
//!
//! All hosts are ready before any of them starts; a generator that is lost ends the load of all.

pub mod far;
mod follow;
pub mod message;
pub mod near;
