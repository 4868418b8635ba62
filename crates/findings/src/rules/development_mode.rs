//! The app runs in development mode.

use crate::exact::Exact;
use crate::rule_id::RuleId;
use recording::BurstKind;
use words::{Text, text};

use crate::context::Context;
use crate::text::{ms, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Share of the time on a core saved outside of development mode: a tuning contest's blog reports a
/// doubled score when classes were no longer loaded again for each request.
const CPU_SHARE: f64 = 0.5;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let environment = context.setting("environment");
    let reloading = context.setting("reloading");
    if environment != Some("development") && reloading.is_none() {
        return Vec::new();
    }
    let is_rails = reloading == Some("Rails") || context.setting("RAILS_ENV").is_some();
    let variable = if is_rails { "RAILS_ENV" } else { "RACK_ENV" };
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
        remedy: Remedy {
            text: match is_rails {
                true => text!(
                    "measure and serve in production mode, with config.enable_reloading = false"
                ),
                false => text!("measure and serve in production mode"),
            },
            exact: Some(Exact::variables([(variable, "production")])),
            safety: Safety::Careful,
        },
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
