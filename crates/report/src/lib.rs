//! Versioned JSON and the terminal page of one run.
