//! The shared-memory format that the agent writes and capture reads, versioned.
