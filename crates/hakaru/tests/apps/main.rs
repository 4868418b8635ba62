//! The example apps under load: what was planted is the first finding, and nothing else is found.

mod clicker;
mod planted;
mod support;
mod three_servers;
