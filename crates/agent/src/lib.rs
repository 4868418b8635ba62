//! The shared object inside the Ruby process.
