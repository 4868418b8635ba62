//! Sends requests at their due time over many connections, and counts.
