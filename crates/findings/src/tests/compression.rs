//! Compression by the app's own process.

use recording::AnswerFacts;
use stacks::{Sample, State};

use super::costs::{found, profile};
use super::works::of_rule;
use super::*;
use crate::rule_id::RuleId;

/// 1,000 compressed responses at 100 per second, each with 3 ms after the handler, and samples of
/// the server's work in one method besides.
fn after_the_handler(method: &str, state: State) -> Vec<Finding> {
    let work = Work {
        running: 1.0,
        ..Work::default()
    };
    let run = Run::new().requests("GET /list", 1_000, work);
    let run = run.with(|recording| {
        recording.meta.load.mode = LoadMode::Open;
        recording.meta.load.rate = Some(100.0);
        let facts = AnswerFacts {
            line: recording.texts.keep("GET /list"),
            status: 200,
            seen: 100,
            content_type: recording.texts.keep("application/json"),
            content_encoding: recording.texts.keep("gzip"),
            with_etag: 100,
            ..AnswerFacts::default()
        };
        recording.answers.push(facts);
        for exchange in &mut recording.exchanges {
            exchange.body_bytes = 50_000;
            exchange.answered = exchange.answered + nanos(3.0);
        }
    });
    let run = run.set_to("app root", "/srv");
    let mut samples = profile(
        &run,
        &[
            (50, &["get /srv/app/web.rb 9"]),
            (30, &[method]),
            (10, &["IO#write"]),
        ],
    );
    for sample in &mut samples.samples {
        *sample = Sample {
            request: if sample.weight == 50 {
                sample.request
            } else {
                0
            },
            state: if sample.weight == 30 {
                state
            } else {
                sample.state
            },
            ..*sample
        };
    }
    found(&run, &samples)
}

#[test]
fn compressing_is_replayed_where_samples_show_it() {
    let compresses = |method, state| {
        let findings = after_the_handler(method, state);
        of_rule(findings, RuleId::CompressionCpu)
    };
    for finding in [
        compresses("Zlib::GzipWriter#write", State::Io),
        compresses("Rack::Deflater::GzipStream#each", State::Running),
    ] {
        let says = "75% of the app's work outside of the handlers is compressing";
        let mut evidence = finding.evidence.iter().map(ToString::to_string);
        assert!(evidence.any(|line| line.starts_with(says)), "{finding:#?}");
        // At most 0.15 ms of 1.15 ms, without load.
        let gain = finding.gain.expect("a replay");
        assert!(gain.mean.high < 0.99 && gain.mean.ratio > 0.8, "{gain:?}");
    }
}

/// A proxy in front compresses, or the network is slow.
#[test]
fn a_long_way_to_the_client_is_no_compression() {
    let findings = after_the_handler("IO#wait_writable", State::Running);
    assert!(
        findings.iter().all(|it| it.rule != RuleId::CompressionCpu),
        "{findings:#?}"
    );
}
