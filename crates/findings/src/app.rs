//! The object mapper of the app, so that advice has its words.

use crate::associations::{self, Mapper};
use crate::context::Context;

/// The agent's setting with the object mappers, several with a comma between.
const MAPPERS: &str = "mapper";

/// Returns the app's object mapper: the only one reported, else the one of all associations. `None`
/// where neither says which.
pub(crate) fn mapper(context: &Context<'_>) -> Option<Mapper> {
    let reported = context.setting(MAPPERS).and_then(Mapper::named);
    reported.or_else(|| associations::mapper(context.associations()))
}
