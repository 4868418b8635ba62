//! A run as JSON, version 1.

mod seconds;

use breakdown::{RouteBalance, SqlSummary};
use findings::{Confidence, Safety};
use recording::{LoadMode, ProcessRole};
use words::{Language, Text};

use crate::facts::{self, Percentiles};
use crate::{View, curve, sure, v1, verdict};
use figures::text::one_line;

/// Returns the JSON of a run, indented, with a line feed at the end; `hosts` is what `hakaru
/// collect` says of the same time, where the run has hosts.
pub fn run(view: &View<'_>, hosts: Option<serde_json::Value>) -> String {
    let document = v1::Run {
        hosts,
        ..document(view, Language::English)
    };
    let mut text = serde_json::to_string_pretty(&document)
        .expect("maps have text keys and nothing else can fail");
    text.push('\n');
    text
}

/// Returns the JSON of a run as a value for embedding, with sentences in a language.
pub(crate) fn value(view: &View<'_>, language: Language) -> serde_json::Value {
    serde_json::to_value(document(view, language))
        .expect("maps have text keys and nothing else can fail")
}

fn document(view: &View<'_>, language: Language) -> v1::Run {
    let recording = view.recording;
    let watched = breakdown::seconds(recording);
    let overall = &view.breakdown.overall;
    let late = Percentiles::of(&overall.late);
    v1::Run {
        format: "hakaru-run",
        version: 1,
        number: view.number,
        started_at_unix_ms: recording.meta.started_at_unix_ms,
        ended_early: (recording.meta.ended_early.as_ref()).map(ToString::to_string),
        revision: view.revision.map(revision),
        target: target(view),
        load: load(view),
        score: recording.score.as_ref().and_then(|score| score.points),
        requests: overall.requests,
        errors: overall.errors,
        unanswered: overall.unanswered,
        checks_failed: overall.checks_failed,
        rps: facts::answered_per_second(view),
        latency_ms: latency(Percentiles::of(&overall.latency)),
        service_ms: latency(Percentiles::of(&overall.service)),
        late_ms: v1::Late {
            p50: late.p50,
            p99: late.p99,
            max: late.max,
        },
        verdict: v1::Verdict {
            time: verdict::what_dominates(view).written_in(language),
            failed: verdict::failed(view).map(|failed| failed.written_in(language)),
            fix_first: one_line(&verdict::fix_first(view).written_in(language)),
        },
        latency_curve: curve(view),
        seconds: seconds::rows(recording, &watched),
        processes: seconds::processes(&watched),
        balance_ms: (overall.answered > overall.unseen).then(|| balance(&overall.balance)),
        routes: routes(view),
        sql: view.breakdown.sql.iter().map(sql).collect(),
        findings: findings(view, language),
        failures: failures(view),
        host: host(view),
        generator: v1::Generator {
            cpu_share: facts::generator_cpu_share(recording),
            late_ms_p99: late.p99,
            unsent: recording.generator.unsent,
        },
        agent: agent(view),
        how_sure: (sure::all(view).into_iter())
            .map(|said| v1::Said {
                about: said.about.written_in(language),
                says: said.says.written_in(language),
            })
            .collect(),
        troubles: troubles(view),
        hosts: None,
    }
}

fn revision(revision: crate::Revision<'_>) -> v1::Revision {
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    v1::Revision {
        commit: known(revision.commit),
        dirty: known(revision.dirty),
    }
}

fn curve(view: &View<'_>) -> Vec<v1::CurvePoint> {
    let overall = &view.breakdown.overall;
    let point = |point: curve::Point| v1::CurvePoint {
        share: point.share,
        latency_ms: point.latency_ms,
        service_ms: point.service_ms,
    };
    let points = curve::of(&overall.latency, &overall.service);
    points.into_iter().map(point).collect()
}

fn target(view: &View<'_>) -> v1::Target {
    let target = &view.recording.meta.target;
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let counted = |count: u32| (count > 0).then_some(count);
    v1::Target {
        command: known(&target.command),
        url: target.url.clone(),
        ruby: known(&target.ruby),
        server: known(&target.server),
        workers: counted(target.workers),
        threads: counted(target.threads),
        database: known(&target.database),
    }
}

fn load(view: &View<'_>) -> v1::Load {
    let load = &view.recording.meta.load;
    v1::Load {
        mode: match load.mode {
            LoadMode::Closed => "closed",
            LoadMode::Open => "open",
        },
        connections: load.connections,
        rate: load.rate,
        duration_s: load.duration.as_secs_f64(),
    }
}

fn latency(percentiles: Percentiles) -> v1::Latency {
    let Percentiles {
        p50,
        p90,
        p95,
        p99,
        max,
    } = percentiles;
    v1::Latency {
        p50,
        p90,
        p95,
        p99,
        max,
    }
}

fn routes(view: &View<'_>) -> Vec<v1::Route> {
    let routes = &view.breakdown.routes;
    routes.iter().map(|route| route_of(route, view)).collect()
}

fn route_of(route: &RouteBalance, view: &View<'_>) -> v1::Route {
    let seconds = view.recording.window.length().as_secs_f64();
    v1::Route {
        route: route.route.clone(),
        requests: route.requests,
        errors: route.errors,
        unanswered: route.unanswered,
        checks_failed: route.checks_failed,
        unseen: route.unseen,
        told: route.told,
        rps: (seconds > 0.0).then(|| route.answered as f64 / seconds),
        time_share: facts::time_share(route, &view.breakdown.overall),
        thread_ms: facts::thread_ms(route),
        thread_share: facts::thread_share(route, &view.breakdown.routes),
        latency_ms: latency(Percentiles::of(&route.latency)),
        balance_ms: (route.answered > route.unseen).then(|| balance(&route.balance)),
        body_bytes_mean: route.body_bytes,
        body_bytes_max: route.body_bytes_max,
        answers: route.answers.as_ref().map(answers),
    }
}

fn answers(answers: &breakdown::Answers) -> v1::Answers {
    let share = |count: u64| count as f64 / answers.seen.max(1) as f64;
    let equal = answers.repeated_equal as f64 / answers.repeated.max(1) as f64;
    v1::Answers {
        seen: answers.seen,
        content_type: answers.content_type.clone(),
        content_encoding: answers.content_encoding.clone(),
        cache_control: answers.cache_control.clone(),
        cache_control_share: share(answers.with_cache_control),
        etag_share: share(answers.with_etag),
        last_modified_share: share(answers.with_last_modified),
        set_cookie_share: share(answers.with_set_cookie),
        closed_share: share(answers.closed),
        repeated: answers.repeated,
        repeated_equal_share: (answers.repeated > 0).then_some(equal),
        asked_again: answers.asked_again.map(|asked| v1::AskedAgain {
            urls: asked.urls,
            visitors: asked.least.visitors,
            sessions: asked.least.sessions,
            apart_ms: asked.least.apart.as_millis_f64(),
            sameness: asked.least.sameness.name(),
        }),
    }
}

fn balance(balance: &breakdown::Balance) -> v1::Balance {
    v1::Balance {
        queue: balance.queue,
        receive: balance.receive,
        gvl_wait: balance.gvl_wait,
        gc: balance.gc,
        sql: balance.sql,
        http: balance.http,
        lock: balance.lock,
        sleep: balance.sleep,
        other_io: balance.other_io,
        cpu: balance.cpu,
        cpu_wait: balance.cpu_wait,
        respond: balance.respond,
        unaccounted: balance.unaccounted,
    }
}

fn sql(statement: &SqlSummary) -> v1::Sql {
    let route = |(route, per_request): &(String, f64)| v1::SqlRoute {
        route: route.clone(),
        per_request: *per_request,
    };
    v1::Sql {
        digest: statement.digest.clone(),
        count: statement.count,
        time_ms: statement.time_ms,
        rows: statement.rows,
        routes: statement.routes.iter().map(route).collect(),
        called_from: statement.called_from.clone(),
    }
}

fn findings(view: &View<'_>, language: Language) -> Vec<v1::Finding> {
    let number = |wanted: &findings::Finding| {
        let mut fixes = facts::fixes(view);
        fixes.find_map(|(number, fix)| std::ptr::eq(fix, wanted).then_some(number))
    };
    let findings = view.findings.iter();
    findings
        .map(|one| finding(number(one), one, language))
        .collect()
}

fn finding(number: Option<u32>, finding: &findings::Finding, language: Language) -> v1::Finding {
    let say = |text: &Text| text.written_in(language);
    v1::Finding {
        number,
        id: finding.rule.name(),
        route: (!finding.route.is_empty()).then(|| finding.route.clone()),
        title: say(&finding.title),
        why: say(&finding.why),
        evidence: finding.evidence.iter().map(say).collect(),
        remedy: v1::Remedy {
            text: say(&finding.remedy.text),
            exact: finding.remedy.exact_text(),
            safety: match finding.remedy.safety {
                Safety::Safe => "safe",
                Safety::Careful => "careful",
                Safety::Code => "code",
                Safety::None => "none",
            },
        },
        estimated_gain: say(&finding.estimated_gain),
        gain_share: finding.gain_share,
        gain: finding.gain.map(|gain| v1::Gain {
            throughput: ratio(gain.throughput),
            p95: ratio(gain.p95),
        }),
        confidence: match finding.confidence {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        },
    }
}

fn ratio(ratio: whatif::Ratio) -> v1::Ratio {
    v1::Ratio {
        ratio: ratio.ratio,
        low: ratio.low,
        high: ratio.high,
    }
}

fn failures(view: &View<'_>) -> Vec<v1::Failure> {
    let failure = |failure: &recording::Failure| v1::Failure {
        outcome: failure.outcome.name(),
        line: view
            .recording
            .texts
            .get(failure.line)
            .unwrap_or_default()
            .to_owned(),
        place: failure.place.clone(),
        reason: failure.reason.clone(),
        request: failure.request.clone(),
        response: failure.response.clone(),
        count: failure.count,
    };
    view.recording.failures.iter().map(failure).collect()
}

fn host(view: &View<'_>) -> v1::Host {
    let used = facts::host_use(view.recording);
    let used = used.as_ref();
    let speed = used.and_then(|used| used.cores);
    let role = |used: &facts::RoleUse| v1::RoleUse {
        role: role_name(used.role),
        cpu_cores: used.cores,
        rss_bytes_max: used.rss_max,
    };
    v1::Host {
        cores: view.recording.meta.cores,
        same_host: view.recording.meta.same_host,
        cpu_busy_cores: used.map(|used| used.busy_cores),
        cpu_steal_cores: used.map(|used| used.steal_cores),
        cores_slow_share: speed.map(|speed| speed.slow_share),
        cores_slower: speed.map(|speed| speed.slower),
        core_pace_us: speed.map(|speed| speed.pace.0 as f64 / 1e3),
        cpu_pressure_share: used.and_then(|used| used.cpu_pressure),
        io_pressure_share: used.and_then(|used| used.io_pressure),
        memory_available_bytes_min: used.map(|used| used.memory_available_min),
        processes: used.map_or_else(Vec::new, |used| used.roles.iter().map(role).collect()),
    }
}

fn role_name(role: ProcessRole) -> &'static str {
    match role {
        ProcessRole::App => "app",
        ProcessRole::Database => "database",
        ProcessRole::Generator => "generator",
        ProcessRole::Store => "store",
    }
}

fn agent(view: &View<'_>) -> v1::Agent {
    let cost = facts::agent_cost(view.recording);
    v1::Agent {
        cpu_us_per_request: cost.and_then(|cost| cost.cpu_us_per_request),
        dropped: cost.map(|cost| cost.dropped),
    }
}

fn troubles(view: &View<'_>) -> Vec<v1::Trouble> {
    let trouble = |trouble: &recording::Trouble| v1::Trouble {
        what: trouble.what.clone(),
        remedy: trouble.remedy.clone(),
    };
    view.recording.troubles.iter().map(trouble).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::samples::Sample;

    fn value_of(sample: &Sample) -> Value {
        serde_json::from_str(&run(&sample.view(), None)).unwrap()
    }

    fn check_keys(value: &Value, keys: &str) {
        let map = value
            .as_object()
            .unwrap_or_else(|| panic!("not an object: {value}"));
        for key in keys.split(',') {
            assert!(map.contains_key(key), "{key} is missing in {value}");
        }
    }

    fn check_all_keys(value: &Value) {
        check_keys(
            value,
            "format,version,target,load,score,requests,errors,unanswered,checks_failed,rps,latency_ms,late_ms,\
             verdict,latency_curve,seconds,processes,routes,sql,findings,host,generator,agent,how_sure",
        );
        check_keys(
            &value["target"],
            "command,ruby,server,workers,threads,database",
        );
        check_keys(&value["load"], "mode,connections,rate,duration_s");
        check_keys(&value["latency_ms"], "p50,p90,p95,p99,max");
        check_keys(&value["late_ms"], "p50,p99,max");
        check_keys(&value["generator"], "cpu_share,late_ms_p99");
        check_keys(&value["agent"], "cpu_us_per_request,dropped");
    }

    #[test]
    fn every_key_is_there() {
        let value = value_of(&Sample::chat());
        check_all_keys(&value);
        let route = &value["routes"][0];
        check_keys(
            route,
            "route,requests,rps,thread_ms,thread_share,unanswered,latency_ms,balance_ms",
        );
        check_keys(
            &route["balance_ms"],
            "queue,receive,gvl_wait,gc,sql,http,lock,sleep,other_io,cpu,cpu_wait,respond,unaccounted",
        );
        check_keys(
            &value["sql"][0],
            "digest,count,time_ms,rows,routes,called_from",
        );
        check_keys(
            &value["findings"][0],
            "id,route,title,evidence,remedy,estimated_gain,confidence",
        );
        assert_eq!(value["format"], "hakaru-run");
        assert_eq!(value["version"], 1);
        assert_eq!(value["target"]["threads"], 5);
        assert_eq!(value["latency_ms"]["p50"], 80.0);
        check_keys(
            &value["seconds"][0],
            "at_s,answered,errors,checks_failed,latency_ms",
        );
        assert_eq!(value["seconds"].as_array().unwrap().len(), 20);
        assert_eq!(value["latency_curve"][2]["latency_ms"], 80.0);
        check_keys(&value["verdict"], "time,failed,fix_first");
        check_keys(&value["how_sure"][0], "about,says");
    }

    #[test]
    fn a_run_of_hardly_any_page_says_so_before_all_else() {
        let mut sample = Sample::chat();
        let mut doubt = sample.findings[0].clone();
        doubt.rule = findings::RuleId::HollowAnswers;
        doubt.title = "95% of the pages are refusals".into();
        doubt.remedy.text = "write paths into the flow".into();
        doubt.remedy.safety = Safety::None;
        sample.findings.insert(0, doubt);
        assert_eq!(
            value_of(&sample)["verdict"]["fix_first"],
            "95% of the pages are refusals. Before anything else (finding 1): write paths into the flow."
        );
    }

    fn keys_of(value: &Value, keys: &mut std::collections::BTreeSet<String>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    keys.insert(key.clone());
                    keys_of(value, keys);
                }
            }
            Value::Array(values) => values.iter().for_each(|value| keys_of(value, keys)),
            _ => {}
        }
    }

    #[test]
    fn every_key_is_documented() {
        let page = include_str!("../../../docs/json.md");
        let mut keys = std::collections::BTreeSet::new();
        keys_of(&value_of(&Sample::chat()), &mut keys);
        for key in keys {
            let told = [format!("`{key}`"), format!(".{key}`")];
            assert!(
                told.iter().any(|told| page.contains(told)),
                "{key} is not in docs/json.md"
            );
        }
    }

    #[test]
    fn fixes_are_numbered_as_on_the_page() {
        let mut sample = Sample::chat();
        let fix = sample.findings[0].clone();
        let mut doubt = fix.clone();
        doubt.remedy.safety = Safety::None;
        sample.findings = vec![fix.clone(), doubt, fix];
        let value = value_of(&sample);
        let findings = value["findings"].as_array().unwrap();
        let numbers: Vec<&Value> = findings.iter().map(|finding| &finding["number"]).collect();
        assert_eq!(numbers, [&Value::from(1), &Value::Null, &Value::from(2)]);
    }

    #[test]
    fn what_is_unknown_is_null_and_still_there() {
        let value = value_of(&Sample::default());
        check_all_keys(&value);
        for unknown in [
            &value["target"]["command"],
            &value["target"]["threads"],
            &value["score"],
            &value["rps"],
            &value["latency_ms"]["p99"],
            &value["latency_ms"]["max"],
            &value["generator"]["cpu_share"],
            &value["agent"]["dropped"],
            &value["host"]["cpu_busy_cores"],
        ] {
            assert_eq!(*unknown, Value::Null);
        }
    }

    #[test]
    fn numbers_that_json_cannot_hold_become_null() {
        let mut sample = Sample::chat();
        sample.breakdown.routes[0].balance.sql = f64::NAN;
        let value = value_of(&sample);
        assert_eq!(value["routes"][0]["balance_ms"]["sql"], Value::Null);
    }
}
