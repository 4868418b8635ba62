//! PostgreSQL.

#[expect(
    dead_code,
    reason = "the difference of two schemas, which needs it, is not there yet"
)]
mod expr;
mod listed;
#[expect(
    dead_code,
    reason = "the difference of two schemas, which needs it, is not there yet"
)]
mod model;
#[expect(
    dead_code,
    reason = "the difference of two schemas, which needs it, is not there yet"
)]
mod name;
mod read;
mod split;
mod tree;
mod types;

use crate::{Note, Object, Plan, PlanError, PlanOptions, Server, Source, SyntaxError};

pub use model::Schema;

/// Reads SQL texts.
///
/// # Errors
/// See [`crate::read`].
pub fn read(sources: &[Source], server: &Server) -> Result<(Schema, Vec<Note>), SyntaxError> {
    read::read(sources, server)
}

/// See [`crate::plan`].
///
/// # Errors
/// See [`crate::plan`].
pub fn plan(_from: &Schema, _to: &Schema, _options: &PlanOptions) -> Result<Plan, PlanError> {
    Err(PlanError {
        message:
            "PostgreSQL schemas are read but not compared yet; compare dumps with another tool"
                .to_owned(),
    })
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
