//! Less of a kind of named work, in the words of the app's framework and with the app's settings.

use words::{Text, text};

use super::Work;
use crate::app;
use crate::context::Context;
use crate::exact::Exact;
use crate::rule_id::RuleId;
use crate::types::{Remedy, Safety};

/// Returns the remedy for too much of the work.
pub(super) fn remedy(context: &Context<'_>, work: &Work) -> Remedy {
    let less = Less::of(context, work);
    let exact = less.as_ref().and_then(|less| less.variable(context));
    Remedy {
        text: match &less {
            Some(less) => less.remedy(),
            None if work.rule == RuleId::TemplateShare => templates(context, work),
            None => work.remedy.into(),
        },
        safety: match exact {
            Some(_) => Safety::Careful,
            None => Safety::Code,
        },
        exact,
    }
}

/// Returns the words for templates. Of engines only what holds for any app with one: Rails and
/// Tilt take Erubi by themselves, and Hamlit became Haml 6.
fn templates(context: &Context<'_>, work: &Work) -> Text {
    let advice = match app::is_rails(context) {
        true => text!(
            "cache fragments that many requests share (`cache` in the view); render collections at once instead of a \
             partial for each (`render partial: \"row\", collection: @rows`)"
        ),
        false => work.remedy.into(),
    };
    let hot = context.hot_methods().into_iter();
    match hot.map(|hot| &hot.line).any(|line| line.contains(".haml:")) {
        true => text!("{advice}; Haml 6 renders faster than Haml 5", advice),
        false => advice,
    }
}

/// A log's level, and the next one, with fewer lines.
struct Less {
    level: &'static str,
    next: &'static str,
}

impl Less {
    /// `None` for other work, and for a log of warnings and errors.
    fn of(context: &Context<'_>, work: &Work) -> Option<Less> {
        let level = context.setting("log level");
        let (level, next) = match level.filter(|_| work.rule == RuleId::Logging)? {
            "debug" => ("debug", "info"),
            "info" => ("info", "warn"),
            _ => return None,
        };
        Some(Less { level, next })
    }

    fn remedy(&self) -> Text {
        text!(
            "log less ({next} instead of {level}), or let a thread of its own write (Logger with a buffered device, a \
             non-blocking appender such as semantic_logger's)",
            next = self.next,
            level = self.level
        )
    }

    /// Returns the variable with the level. Rails reads it since 7.1 and in production only, as
    /// written by `rails new`.
    fn variable(&self, context: &Context<'_>) -> Option<Exact> {
        let environment = context.setting("environment");
        environment
            .is_none_or(|name| name == "production")
            .then(|| Exact::variables([("RAILS_LOG_LEVEL", self.next)]))
    }
}
