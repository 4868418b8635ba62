//! MySQL and MariaDB.

use crate::{Note, Object, Plan, PlanError, PlanOptions, Server, Source, SyntaxError};

/// The schema of one database.
#[derive(Clone, Debug, Default)]
pub struct Schema {}

/// Reads SQL texts.
///
/// # Errors
/// See [`crate::read`].
pub fn read(_sources: &[Source], _server: &Server) -> Result<(Schema, Vec<Note>), SyntaxError> {
    Ok((Schema::default(), Vec::new()))
}

/// See [`crate::plan`].
///
/// # Errors
/// See [`crate::plan`].
pub fn plan(_from: &Schema, _to: &Schema, _options: &PlanOptions) -> Result<Plan, PlanError> {
    Ok(Plan::default())
}

impl Schema {
    /// See [`crate::Schema::statements`].
    pub fn statements(&self) -> Vec<String> {
        Vec::new()
    }

    /// See [`crate::Schema::adopt`].
    pub fn adopt(&mut self, _stored: &Schema) {}

    /// See [`crate::Schema::retain`].
    pub fn retain(&mut self, _keep: &dyn Fn(&Object) -> bool) {}
}
