//! The app runs as it does while it is written.

use recording::BurstKind;

use crate::context::Context;
use crate::text::{ms, title};
use crate::types::{Confidence, Finding, Remedy, Safety};

/// Share of the time on a core that goes with development mode. From a tuning contest's blog, whose score doubled
/// when classes were no longer loaded again for each request.
const CPU_SHARE: f64 = 0.5;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let environment = context.setting("environment");
    let reloading = context.setting("reloading");
    if environment != Some("development") && reloading.is_none() {
        return Vec::new();
    }
    let overall = &context.breakdown.overall;
    let seen = (overall.answered - overall.unseen) as f64;
    let saved = CPU_SHARE * overall.balance.cpu * seen;
    let gain = context.gain(&context.everywhere(BurstKind::Running, saved));
    let mut evidence = vec![format!(
        "the framework's environment is {}",
        environment.unwrap_or("not told")
    )];
    evidence.extend(
        reloading.map(|what| format!("{what} looks at source files again on each request")),
    );
    vec![Finding {
        rule: "development-mode",
        route: String::new(),
        title: title(&match reloading {
            Some(what) => format!("code is looked at again on every request ({what})"),
            None => "the app runs in development mode".to_owned(),
        }),
        why: "files are checked, classes and templates made anew, and caches are off: times say little about \
              production"
            .to_owned(),
        evidence,
        remedy: Remedy {
            text: "measure and serve in production mode; Rails also wants RAILS_ENV, and config.enable_reloading = false"
                .to_owned(),
            exact: Some("RACK_ENV=production".to_owned()),
            safety: Safety::Careful,
        },
        estimated_gain: format!(
            "{}: −{} in all, if half of the time on a core goes, as it did where that was measured",
            gain.text,
            ms(saved)
        ),
        gain_share: gain.share,
        gain: gain.replayed,
        confidence: Confidence::High,
    }]
}
