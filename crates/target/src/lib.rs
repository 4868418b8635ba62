//! Starts an app, knows when it is ready, stops it and all its children.
