//! Quantiles and intervals.
