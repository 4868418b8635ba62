//! The app runs in development mode.

use crate::exact::Exact;
use crate::rule_id::RuleId;
use recording::BurstKind;
use words::{Text, text};

use crate::app;
use crate::context::Context;
use crate::text::{ms, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Share of the time on a core saved outside of development mode: a tuning contest's blog reports a
/// doubled score when classes were no longer loaded again for each request.
const CPU_SHARE: f64 = 0.5;

/// What the agent calls a reloader which is loaded, and looks at files in development only.
const IN_DEVELOPMENT: &str = "Sinatra::Reloader";

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let environment = context.setting("environment");
    let is_development = environment == Some("development");
    let reloading = context
        .setting("reloading")
        .filter(|what| is_development || *what != IN_DEVELOPMENT);
    if !is_development && reloading.is_none() {
        return Vec::new();
    }
    let overall = &context.breakdown.overall;
    let seen = (overall.answered - overall.unseen) as f64;
    let saved = CPU_SHARE * overall.balance.cpu * seen;
    let gain = context.gain(&context.everywhere(BurstKind::Running, saved));
    let mut evidence = vec![text!(
        "the framework's environment is {environment}",
        environment = environment.map_or_else(|| text!("unknown"), Text::from)
    )];
    evidence.extend(
        reloading.map(|what| text!("{what} checks the source files on each request", what)),
    );
    vec![Finding {
        rule: RuleId::DevelopmentMode,
        route: String::new(),
        title: title(match reloading {
            Some(what) => text!(
                "code is checked for changes on every request ({what})",
                what
            ),
            None => text!("the app runs in development mode"),
        }),
        why: text!(
            "files are checked, classes and templates rebuilt, and caches are off: these times say little about production"
        ),
        evidence,
        remedy: remedy(context, reloading),
        estimated_gain: text!(
            "{gain}: −{saved} in all, if half of the CPU time goes away, as it did where that was measured",
            gain = gain.text,
            saved = ms(saved)
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: Confidence::High,
    }]
}

/// Returns the remedy: another environment, or, in production, no reloading there.
fn remedy(context: &Context<'_>, reloading: Option<&str>) -> Remedy {
    let is_rails = reloading == Some("Rails") || app::is_rails(context);
    // Plain Rack has the variable only.
    let environment = context.setting("environment");
    let is_production = environment.or(context.setting("RACK_ENV")) == Some("production");
    let (text, exact) = match (reloading.filter(|_| is_production), is_rails) {
        (Some("Rails"), _) => (
            text!(
                "the environment is production already: set config.enable_reloading = false in \
                 config/environments/production.rb (before Rails 7.1 config.cache_classes = true)"
            ),
            Some(Exact::from("config.enable_reloading = false")),
        ),
        (Some(what), _) => (
            text!(
                "the environment is production already: leave {what} out of it",
                what
            ),
            None,
        ),
        (None, true) => (
            text!(
                "measure and serve in production mode, with config.enable_reloading = false; it connects to production's database, so give it the DATABASE_URL of a copy"
            ),
            Some(Exact::variables([("RAILS_ENV", "production")])),
        ),
        (None, false) => {
            // Sinatra looks at the first of the two that is set.
            let variable = match context.setting("APP_ENV") {
                Some(_) => "APP_ENV",
                None => "RACK_ENV",
            };
            (
                text!("measure and serve in production mode"),
                Some(Exact::variables([(variable, "production")])),
            )
        }
    };
    Remedy {
        text,
        exact,
        safety: match is_production {
            true => Safety::Code,
            false => Safety::Careful,
        },
    }
}
