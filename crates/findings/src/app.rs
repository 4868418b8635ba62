//! Framework and object mapper of the app, for the words of advice.

use crate::associations::{self, Mapper};
use crate::context::Context;

/// The agent's setting with the framework.
const FRAMEWORK: &str = "framework";
/// The agent's setting with the object mappers, several with a comma between.
const MAPPERS: &str = "mapper";

/// Whether the app is one of Rails. Before the agent reported the framework, only an app of Rails
/// had a level of the log.
pub(crate) fn is_rails(context: &Context<'_>) -> bool {
    match context.setting(FRAMEWORK) {
        Some(name) => name == "Rails",
        None => ["RAILS_ENV", "log level"]
            .iter()
            .any(|name| context.setting(name).is_some()),
    }
}

/// Returns the app's object mapper: the only one reported, else the one of all associations. `None`
/// where neither says which.
pub(crate) fn mapper(context: &Context<'_>) -> Option<Mapper> {
    let reported = context.setting(MAPPERS).and_then(Mapper::named);
    reported.or_else(|| associations::mapper(context.associations()))
}
