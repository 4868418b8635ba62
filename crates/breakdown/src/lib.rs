//! Requests and spans in, the balance by route out.
//!
//! The balance is an exclusive partition of sent → answered wall time. No term is computed as the rest
//! of the others; what does not add up is `unaccounted`. *Late* (due → sent) stands beside it.

mod types;

pub use types::{Balance, Breakdown, RouteBalance, SqlSummary};
