//! Files named in a flow, read before the run.

use std::collections::HashMap;
use std::sync::Arc;

/// Contents by name.
pub(crate) type Files = HashMap<String, Arc<Vec<u8>>>;
