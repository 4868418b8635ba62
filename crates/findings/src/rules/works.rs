//! Sessions, JSON, Marshal, templates and logging with a large share of the time.

mod remedy;

use std::collections::BTreeMap;

use crate::rule_id::RuleId;
use figures::counted;
use recording::{Act, ActKind, BurstKind, Handled, TextId};
use words::{Phrase, Text, phrase, text};

use crate::acts::ActSum;
use crate::context::Context;
use crate::costs::{Hot, Named, is_template};
use crate::demand::Demand;
use crate::text::{called_from, ms, percent, place, title};
use crate::types::{Confidence, Finding};
use remedy::remedy;

/// A kind of named work.
struct Work {
    rule: RuleId,
    /// Names of the work's activities.
    names: &'static [&'static str],
    /// The work in the stacks of samples; `None` where times say as much.
    sampled: Option<Named>,
    /// Subject in the title.
    what: Phrase,
    why: Phrase,
    remedy: Phrase,
    /// Share of the handlers' time from which there is a finding.
    share_min: f64,
    confidence: Confidence,
}

/// Shares are chosen by judgement: templates are what most apps are for, a log is not.
const WORKS: [Work; 5] = [
    Work {
        rule: RuleId::SessionShare,
        names: &["session load", "session commit"],
        sampled: Some(Named::Session),
        what: phrase!("loading and storing sessions"),
        why: phrase!(
            "the session is read, checked or decrypted, and written again on every request that touches it"
        ),
        remedy: phrase!(
            "keep only an id in it and the rest in a store on the server; leave it alone on routes that need none; with cookies take JSON instead of Marshal: in Rails the serializer `:hybrid`, which reads the cookies that are out as well (`:json` alone, or another coder of Rack, logs everybody out)"
        ),
        share_min: 0.1,
        confidence: Confidence::Medium,
    },
    Work {
        rule: RuleId::JsonShare,
        names: &["JSON.generate", "JSON.parse"],
        sampled: Some(Named::Json),
        what: phrase!("JSON"),
        why: phrase!("every value is walked and written, however little of it is new"),
        remedy: phrase!(
            "send less of it; keep the text of what does not change; json 2.10 and later, oj (Oj.mimic_JSON) and simdjson (parsing) are faster drop-in replacements"
        ),
        share_min: 0.1,
        confidence: Confidence::Medium,
    },
    Work {
        rule: RuleId::MarshalShare,
        names: &["Marshal.load", "Marshal.dump"],
        sampled: Some(Named::Marshal),
        what: phrase!("Marshal"),
        why: phrase!(
            "objects are taken apart and put together again, mostly on their way from and to a cache"
        ),
        remedy: phrase!(
            "keep less in each entry of the cache, or what is shown instead of what it is made from; msgpack and oj are faster where plain data is enough"
        ),
        share_min: 0.1,
        confidence: Confidence::Medium,
    },
    Work {
        rule: RuleId::TemplateShare,
        names: &["template"],
        sampled: Some(Named::Template),
        what: phrase!("rendering templates"),
        why: phrase!("the same page is put together anew for each request"),
        remedy: phrase!(
            "cache the text of what many requests share; loop over rows within one template instead of rendering one for each"
        ),
        share_min: 0.25,
        confidence: Confidence::Low,
    },
    Work {
        rule: RuleId::Logging,
        names: &["log"],
        sampled: None,
        what: phrase!("writing the log"),
        why: phrase!(
            "a line is formatted and written before the answer goes on, and each write waits for all previous ones"
        ),
        remedy: phrase!(
            "log less, or let a thread of its own write (Logger with a buffered device, a non-blocking appender such as semantic_logger's)"
        ),
        share_min: 0.05,
        confidence: Confidence::High,
    },
];

/// Lines of evidence for one kind of work.
const LINES_SHOWN: usize = 3;
/// Share of a route's time with the GVL from which a template's line is evidence.
const TEMPLATE_LINE_MIN: f64 = 0.1;

pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let found = WORKS.iter().filter_map(|work| of(context, work));
    found.collect()
}

/// Whether a rule's work has a finding.
pub(super) fn finds(context: &Context<'_>, rule: RuleId) -> bool {
    let mut works = WORKS.iter().filter(|work| work.rule == rule);
    works.any(|work| Spent::of(context, work).is_some())
}

impl Work {
    /// Whether statements issued on the way are no part of the work: Marshal issues none, and a
    /// session is a row of a store.
    fn asks_elsewhere(&self) -> bool {
        matches!(self.sampled, Some(Named::Json | Named::Template))
    }

    /// Returns the milliseconds of the work in a request, as timed by the agent.
    fn ms_in(&self) -> impl Fn(&Handled) -> f64 + use<> {
        let names: Vec<TextId> = self
            .names
            .iter()
            .map(|name| TextId::of(name.as_bytes()))
            .collect();
        move |handled| {
            let acts = handled.acts.iter();
            let named = |act: &&Act| act.kind == ActKind::Work && names.contains(&act.what);
            acts.filter(named).map(|act| act.time.as_millis_f64()).sum()
        }
    }
}

/// Time spent on a kind of work, if considerable.
struct Spent<'c, 'a> {
    /// The costliest first.
    acts: Vec<&'c ActSum<'a>>,
    demand: Demand,
    /// Whether samples leave the statements out of the demand; the acts' own times hold the
    /// statements.
    leaves_statements: bool,
    /// Time besides, for what goes with the work.
    loads: Demand,
    /// Sentences from samples.
    lines: Vec<Text>,
}

impl<'c, 'a> Spent<'c, 'a> {
    fn of(context: &'c Context<'a>, work: &Work) -> Option<Spent<'c, 'a>> {
        let acts: Vec<&ActSum<'_>> = context
            .acts
            .iter()
            .filter(|act| act.kind == ActKind::Work && work.names.contains(&act.what))
            .collect();
        let sampled = sampled(context, work);
        let demand = sampled.demand.clone().plus(timed(context, &acts, &sampled));
        let is_much = context.share_inside(demand.sum()) >= work.share_min;
        (is_much && !acts.is_empty()).then_some(Spent {
            acts,
            demand,
            leaves_statements: sampled.has_samples() && work.asks_elsewhere(),
            loads: sampled.loads,
            lines: sampled.lines,
        })
    }
}

/// Returns the work's time on the routes without enough samples of the work. Objects may ask the
/// database while they are written, and what was timed holds their statements too: samples of a
/// route show the difference, times do not.
fn timed(context: &Context<'_>, acts: &[&ActSum<'_>], sampled: &Sampled) -> Demand {
    let mut routes: BTreeMap<usize, f64> = BTreeMap::new();
    for (route, _, ms) in acts.iter().flat_map(|act| &act.routes) {
        *routes.entry(*route).or_default() += ms;
    }
    let unknown =
        |(route, _): &(usize, f64)| !(sampled.has_samples() && context.is_sampled(*route));
    // Work has the GVL; what of it waits (a session's store, a log's device) is its smaller part.
    let on = |(route, ms)| Demand::on(route, BurstKind::Running, ms);
    routes.into_iter().filter(unknown).map(on).sum()
}

fn of(context: &Context<'_>, work: &Work) -> Option<Finding> {
    let spent = Spent::of(context, work)?;
    let most = *spent.acts.first()?;
    let route = context.route_of(most);
    let evidence = evidence(context, work, &spent, route);
    let Spent { demand, loads, .. } = spent;
    let made = demand.sum();
    let time = made + loads.sum();
    let share = context.share_inside(made);
    let gain = context.gain(&context.placed_by(demand.plus(loads), work.ms_in()));
    // The replay takes all of it away; how much of it the remedy takes of a hint's work is not
    // known.
    let is_bound = work.confidence == Confidence::Low;
    Some(Finding {
        rule: work.rule,
        title: title(text!(
            "{what} is {share} of the handlers' time{place}",
            what = work.what,
            share = percent(share),
            place = at(most.site)
        )),
        route: route.to_owned(),
        why: work.why.into(),
        evidence,
        remedy: remedy(context, work),
        estimated_gain: match is_bound {
            true => text!(
                "at most {gain}: {time} in all is spent on it",
                gain = gain.text,
                time = ms(time)
            ),
            false => text!(
                "{gain}: {time} in all is spent on it",
                gain = gain.at_most(),
                time = ms(time)
            ),
        },
        gain_share: gain.share,
        gain: gain.replayed.filter(|_| !is_bound),
        confidence: work.confidence,
    })
}

/// Returns the evidence for a kind of work, with most of it on `route`.
fn evidence(context: &Context<'_>, work: &Work, spent: &Spent<'_, '_>, route: &str) -> Vec<Text> {
    let count: u64 = spent.acts.iter().map(|act| act.count).sum();
    let mut evidence = vec![text!(
        "{times}, {time} in all, most in {route}",
        times = counted!(count, "time"),
        time = ms(spent.demand.sum()),
        route
    )];
    let loaded = spent.loads.sum();
    if loaded > 0.0 {
        evidence.push(text!(
            "{time} more to load the associations in it",
            time = ms(loaded)
        ));
    }
    let acts = spent.acts.iter().take(LINES_SHOWN);
    evidence.extend(acts.map(|act| told(act, spent.leaves_statements)));
    evidence.extend(spent.lines.iter().cloned());
    evidence.extend(settings(context, work));
    evidence
}

/// Returns the text of one activity: the name, the time, and the calling line. A middleware's work
/// has no line of the app.
fn told(act: &ActSum<'_>, leaves_statements: bool) -> Text {
    let (what, time) = (Text::named(act.what), ms(act.time_ms));
    let told = match leaves_statements {
        true => text!("{what} {time} with the statements in it", what, time),
        false => text!("{what} {time}", what, time),
    };
    match act.site {
        "" => told,
        site => text!("{told} {from}", told, from = called_from(site)),
    }
}

/// Returns the line calling for the work; a middleware's has no line of the app.
fn at(site: &str) -> Text {
    match site {
        "" => Text::default(),
        site => text!(" at {place}", place = place(Some(site))),
    }
}

/// Results of samples for a kind of work.
#[derive(Default)]
struct Sampled {
    demand: Demand,
    loads: Demand,
    lines: Vec<Text>,
}

impl Sampled {
    fn has_samples(&self) -> bool {
        self.demand.sum() > 0.0
    }
}

/// Returns what samples say of a kind of work: all below the library's methods, and for a session
/// the waits for the store too.
fn sampled(context: &Context<'_>, work: &Work) -> Sampled {
    let mut sampled = match work.sampled {
        Some(Named::Json) => sampled_json(context, work),
        Some(named) => {
            let routes = 0..context.joined.routes.len();
            let demands = routes.filter_map(|route| context.work_demand(route, named));
            Sampled {
                demand: demands.sum(),
                ..Sampled::default()
            }
        }
        None => Sampled::default(),
    };
    if work.sampled == Some(Named::Template) {
        sampled.lines = template_lines(context);
    }
    sampled
}

/// Returns what samples say of JSON. It costs more than its generator takes: objects are first
/// turned into what can be written.
fn sampled_json(context: &Context<'_>, work: &Work) -> Sampled {
    let mut sampled = Sampled::default();
    for (route, name) in context.joined.routes.iter().enumerate() {
        let Some((line, share)) = context.json_share(route) else {
            continue;
        };
        sampled.demand = sampled.demand.plus(context.held_demand(route, share));
        sampled.loads = sampled.loads.plus(context.json_loads(route));
        if share >= work.share_min {
            sampled.lines.push(text!(
                "{share} of the time with the GVL on {name}, asked for at {line}",
                share = percent(share),
                name,
                line
            ));
        }
    }
    sampled
}

/// Returns the busiest lines of the routes' templates.
fn template_lines(context: &Context<'_>) -> Vec<Text> {
    let hot = context.hot_methods().into_iter();
    let mut lines: Vec<&Hot> = hot
        .filter(|hot| is_template(&hot.line) && hot.line_share >= TEMPLATE_LINE_MIN)
        .collect();
    lines.sort_by(|a, b| b.line_share.total_cmp(&a.line_share));
    let line = |hot: &Hot| {
        text!(
            "{share} of the time with the GVL on {name} in {line}, most in {called}",
            share = percent(hot.line_share),
            name = context.joined.routes[hot.route],
            line = hot.line,
            called = hot.called.0
        )
    };
    lines.into_iter().take(LINES_SHOWN).map(line).collect()
}

/// Returns the settings of the log.
fn settings(context: &Context<'_>, work: &Work) -> Option<Text> {
    if work.rule != RuleId::Logging {
        return None;
    }
    let level = context.setting("log level")?;
    let device = context
        .setting("log device")
        .map_or_else(|| text!("unknown"), Text::from);
    Some(text!(
        "log level: {level}; log device: {device}",
        level,
        device
    ))
}
