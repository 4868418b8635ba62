use findings::RuleId;
use findings::{Confidence, Finding, Remedy, Safety};
use proptest::prelude::*;
use recording::{Nanos, Outcome, Trouble};

use words::Language;

use super::*;
use crate::samples::Sample;
use figures::text::CUT;
use figures::text::width;

const PLAIN: Style = Style {
    columns: 100,
    full: true,
    rows: None,
    colour: false,
    ascii: false,
    language: Language::English,
};

/// The page without escape codes of colour.
fn stripped(page: &str) -> String {
    let mut pieces = page.split("\u{1b}[");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        text.push_str(piece.split_once('m').expect("a colour code").1);
    }
    text
}

/// The page at the usual width, after a check of all other widths.
fn check_page(sample: &Sample) -> String {
    for columns in [60, 72, 80, 100, 120] {
        check_fits(sample, columns, true);
        check_fits(sample, columns, false);
    }
    run(&sample.view(), PLAIN)
}

fn check_fits(sample: &Sample, columns: usize, full: bool) {
    let styled = |colour, ascii| {
        let style = Style {
            columns,
            colour,
            ascii,
            full,
            rows: Some(24),
            ..PLAIN
        };
        run(&sample.view(), style)
    };
    let plain = styled(false, false);
    for line in plain.lines() {
        assert!(width(line) <= columns, "{} columns: {line}", width(line));
        assert!(!line.contains(char::is_control), "{line:?}");
    }
    let trimmed = |page: &str| -> Vec<String> {
        page.lines()
            .map(|line| line.trim_end().to_owned())
            .collect()
    };
    assert_eq!(
        trimmed(&stripped(&styled(true, false))),
        trimmed(&plain),
        "colour changes the words"
    );
    let ascii = styled(false, true);
    assert!(ascii.is_ascii());
    assert!(ascii.lines().all(|line| line.len() <= columns));
}

fn check_holds(page: &str, expected: &[&str]) {
    for text in expected {
        assert!(page.contains(text), "{text:?} is not in\n{page}");
    }
}

#[test]
fn the_queue_hides_no_route_that_holds_the_threads() {
    let mut sample = Sample::chat();
    let [often, slow] = &mut sample.breakdown.routes[..] else {
        panic!("two routes")
    };
    // Both wait alike; one holds a thread for 20 ms, 400 times, the other for 1 s, 40 times.
    for (route, held) in [(&mut *often, 20.0), (&mut *slow, 1000.0)] {
        let balance = &mut route.balance;
        balance.queue = 3000.0;
        balance.respond = 0.0;
        route.seen_mean_ms = balance.queue + held;
    }
    let page = check_page(&sample);
    let place = |text: &str| {
        page.find(text)
            .unwrap_or_else(|| panic!("{text} is not in {page}"))
    };
    let words: String = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let holders = "POST /login holds the threads for 83% of their busy time, GET /message for 17%.";
    assert!(words.contains(holders), "{page}");
    assert!(
        place("\n  POST /login") < place("\n  GET /message"),
        "{page}"
    );
}

#[test]
fn the_terms_of_a_balance_are_whole_at_every_width() {
    let sample = Sample::chat();
    for columns in 60..=120 {
        let style = Style { columns, ..PLAIN };
        let page = run(&sample.view(), style);
        let terms = page.lines().filter(|line| line.starts_with("    Q queue"));
        for line in terms {
            assert!(!line.contains(CUT), "{columns} columns: {line}");
        }
    }
}

#[test]
fn a_run_reads_from_the_verdict_down() {
    let page = check_page(&Sample::chat());
    check_holds(
        &page,
        &[
            "HAKARU RUN 3  puma -t 5:5 config.ru",
            "ruby 3.3.8 · puma 6.6.0 · 1 × 5 threads · sqlite",
            "50% of the time goes into waiting for a free thread of the server (queue); GET /message holds the",
            "Fix first: 25 times the same statement in each GET /message (N+1)",
            "440 requests   22.0/s   0 errors   0 failed checks   score 5233",
            "Q queue 20.0 ms 50%  S sql 10.0 ms 25%  ",
            "? unaccounted 0.40 ms 1%",
            "10,000",
            "10,000  GET /message and 1 more",
            "from app.rb:120 in get_message",
            "Fix:  Fetch all users",
            "Gain: 22% of all time: −9.60 ms of 40.0 ms",
            "high confidence (shown by the evidence). Needs a change of code",
            "3% busy on 1 thread; late by 1.00 ms at p99",
            "at least 1.10 µs of CPU per request by its own estimate; nothing dropped",
            "1.40 of 2 cores busy (app 1.10",
            "! the host has 2 cores",
            "kept as run 3",
        ],
    );
    let order = [
        "Fix first",
        "NUMBERS",
        "WHERE THE TIME",
        "SQL AND",
        "FINDINGS",
        "HOW SURE",
        "NEXT",
    ];
    let places: Vec<usize> = order.iter().map(|text| page.find(text).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn the_words_of_a_bar_add_up_to_the_mean() {
    let page = check_page(&Sample::chat());
    let words = page
        .lines()
        .skip_while(|line| !line.contains("Q queue"))
        .take(2);
    let sum: f64 = words
        .flat_map(|line| line.split("  ").map(str::to_owned).collect::<Vec<_>>())
        .filter(|item| item.contains('%'))
        .map(|item| {
            let number = item
                .split(' ')
                .rev()
                .nth(2)
                .unwrap()
                .parse::<f64>()
                .unwrap();
            if item.contains("µs") {
                number / 1e3
            } else {
                number
            }
        })
        .sum();
    assert!((sum - 40.0).abs() < 0.1, "{sum}\n{page}");
}

#[test]
fn few_samples_leave_figures_out() {
    let mut sample = Sample::chat();
    sample.breakdown.overall.latency.truncate(15);
    sample.breakdown.overall.requests = 15;
    let page = check_page(&sample);
    let line = page
        .lines()
        .find(|line| line.contains("  latency "))
        .unwrap();
    assert_eq!(line.matches('–').count(), 2, "{line}");
    check_holds(
        &page,
        &[
            "p99 100)",
            "hakaru run --duration 60s",
            "15 requests in 20.0 s; p50 is between",
        ],
    );
}

#[test]
fn a_run_of_nothing_says_so() {
    let page = check_page(&Sample::default());
    check_holds(
        &page,
        &["Nothing was measured: ", "none was loaded", "not sampled"],
    );
}

#[test]
fn a_run_without_the_inside_view_names_no_cause() {
    let mut sample = Sample::chat();
    let breakdown = &mut sample.breakdown;
    for route in breakdown.routes.iter_mut().chain([&mut breakdown.overall]) {
        route.unseen = route.answered;
    }
    let page = check_page(&sample);
    check_holds(
        &page,
        &["seen from outside only", "not seen inside the app"],
    );
    assert!(!page.contains("Q queue"));
}

#[test]
fn what_few_requests_spent_is_told_as_theirs() {
    let mut sample = Sample::chat();
    let overall = &mut sample.breakdown.overall;
    overall.unseen = overall.answered - 12;
    check_holds(
        &check_page(&sample),
        &[
            "Only 12 of ",
            "requests were seen inside the app: 50% of their",
        ],
    );
}

#[test]
fn failures_come_before_times() {
    let mut sample = Sample::chat();
    sample.breakdown.overall.errors = 44;
    sample.recording.score = Some(recording::Score::default());
    let page = check_page(&sample);
    check_holds(
        &page,
        &[
            "10% of the requests failed (44)",
            "44 errors",
            "no score: checks failed",
        ],
    );
}

#[test]
fn open_requests_are_told_apart_from_errors() {
    let mut sample = Sample::chat();
    sample.breakdown.overall.errors = 1;
    sample.breakdown.overall.unanswered = 1;
    sample.breakdown.routes[0].unanswered = 1;
    let page = check_page(&sample);
    check_holds(
        &page,
        &[
            "   1 error   0 failed checks",
            "  1 still unanswered at the end (counted with at least its time so far)",
            "    1 still unanswered at the end\n",
        ],
    );
    assert!(!check_page(&Sample::chat()).contains("unanswered"));
}

#[test]
fn receive_is_told_only_where_it_says_something() {
    let check = |share: f64, expected: bool| {
        let mut sample = Sample::chat();
        sample.breakdown.routes[0].balance.receive = 20.0 * share;
        let told = check_page(&sample).contains("until puma had read the request)");
        assert_eq!(told, expected, "{share} of the queue");
    };
    check(0.0, false);
    check(0.04, false);
    check(0.3, true);
    check(0.8, true);
    check(1.0, false);
}

/// A doubt such as a busy host.
fn doubt(confidence: Confidence) -> Finding {
    Finding {
        rule: RuleId::HostBusy,
        title: "other processes used 41% of the cores".into(),
        remedy: Remedy {
            text: "stop what else runs on this host".into(),
            exact: None,
            safety: Safety::None,
        },
        confidence,
        ..Sample::chat().findings[0].clone()
    }
}

#[test]
fn doubts_come_before_what_is_read_from_the_numbers() {
    let mut sample = Sample::chat();
    sample.findings.insert(0, doubt(Confidence::Medium));
    let page = check_page(&sample);
    let order = [
        "NUMBERS",
        "BEFORE YOU TRUST",
        "! other processes",
        "WHERE THE TIME",
        "  1. 25",
    ];
    let places: Vec<usize> = order.iter().map(|text| page.find(text).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}\n{page}");
    check_holds(
        &page,
        &[
            "(N+1) (22% of all time",
            "), finding 1.",
            "fix of finding 1",
        ],
    );
    assert_eq!(page.matches("other processes").count(), 1);

    sample.findings = vec![doubt(Confidence::Low)];
    let page = check_page(&sample);
    assert!(!page.contains("BEFORE YOU TRUST"));
    let hint = "! other processes used 41% of the cores; stop what else runs on this host";
    check_holds(&page, &["nothing to fix was found", hint]);
}

#[test]
fn a_kind_of_finding_is_explained_once_and_not_at_length() {
    let mut sample = Sample::chat();
    sample.findings[0].evidence = (1..=9).map(|n| format!("evidence {n}").into()).collect();
    let error = Finding {
        rule: RuleId::Errors,
        why: "no answer".into(),
        ..sample.findings[0].clone()
    };
    sample.findings = vec![sample.findings[0].clone(); 6];
    sample.findings.push(error);
    let page = check_page(&sample);
    assert_eq!(page.matches("Each costs a round trip").count(), 1);
    // The first five findings and the failure.
    assert_eq!(page.matches("· evidence 1").count(), 6);
    assert_eq!(page.matches("· evidence 5").count(), 6);
    assert!(!page.contains("evidence 6"));
    assert_eq!(page.matches("Fix:  Fetch all users").count(), 7);
    assert_eq!(page.matches("Gain: 22%").count(), 7);
    assert_eq!(page.matches("Sure: ").count(), 6);
}

#[test]
fn a_large_run_keeps_to_its_page() {
    const LINES_MAX: usize = 150;
    let mut sample = Sample::chat();
    let breakdown = &mut sample.breakdown;
    breakdown.routes = vec![breakdown.routes[0].clone(); 40];
    breakdown.sql[0].called_from =
        vec!["app.rb:143 in a < app.rb:136 in b < app.rb:99 < config.ru:7".to_owned(); 3];
    breakdown.sql = vec![breakdown.sql[0].clone(); 40];
    sample.findings[0].evidence = vec!["evidence".into(); 3];
    sample.findings = vec![sample.findings[0].clone(); 7];
    sample.findings.push(doubt(Confidence::High));
    let page = check_page(&sample);
    let lines = page.lines().count();
    assert!(lines <= LINES_MAX, "{lines} lines\n{page}");
    let expected = [
        "34 more routes take",
        "34 more (all of them: --json)",
        "from app.rb:143 in a < app.rb:136 in b and 2 more\n",
    ];
    check_holds(&page, &expected);
}

#[test]
fn on_two_hosts_queue_and_respond_are_one_term() {
    let mut sample = Sample::chat();
    sample.recording.meta.same_host = false;
    check_holds(&check_page(&sample), &["Q queue+respond 20.0 ms"]);
}

/// ActiveRecord sends them to PostgreSQL, and they can be a fifth of the time in SQL.
#[test]
fn an_empty_statement_is_no_empty_line() {
    let mut sample = Sample::chat();
    sample.breakdown.sql[0].digest.clear();
    check_holds(
        &check_page(&sample),
        &["      an empty statement, by which"],
    );
}

#[test]
fn nothing_that_was_recorded_breaks_the_page() {
    let long = "GET /測る/\u{1b}[31mред\u{202e}/".to_owned() + &"x1234567/".repeat(60);
    let mut sample = Sample::chat();
    let breakdown = &mut sample.breakdown;
    for route in &mut breakdown.routes {
        route.route.clone_from(&long);
        route.requests = u64::MAX;
        route.balance.sql = 1e300;
        route.balance.unaccounted = -1e12;
        route.service = vec![Nanos(u64::MAX); 30];
    }
    breakdown.overall.latency = vec![Nanos(u64::MAX); 500];
    breakdown.sql[0].digest = "SELECT ".to_owned() + &long;
    breakdown.sql[0].time_ms = f64::MAX;
    breakdown.sql[0].called_from = vec![long.clone(); 40];
    let finding = Finding {
        title: long.as_str().into(),
        evidence: vec![long.as_str().into(); 3],
        estimated_gain: long.as_str().into(),
        ..sample.findings[0].clone()
    };
    sample.findings = vec![finding; 30];
    sample.findings[0].remedy.exact = Some(format!("{long}\n{long}").into());
    sample.recording.meta.target.command.clone_from(&long);
    sample.recording.meta.ended_early = Some(recording::EndedEarly::Other(long.clone()));
    sample.recording.failures[0].response = format!("HTTP/1.1 200 OK\r\n\r\n{long}");
    sample.recording.failures[0].outcome = Outcome::BadAnswer;
    sample.recording.troubles = vec![Trouble {
        what: long.clone(),
        remedy: long,
    }];
    let page = check_page(&sample);
    check_holds(&page, &["20 more (all of them: --json)"]);
}

proptest! {
    #[test]
    fn any_text_and_number_fits(text in "\\PC{0,300}", value in any::<f64>(), count in any::<u64>()) {
        let mut sample = Sample::chat();
        let route = &mut sample.breakdown.routes[0];
        route.route.clone_from(&text);
        route.requests = count;
        route.balance.queue = value;
        route.seen_mean_ms = value;
        sample.breakdown.sql[0].digest.clone_from(&text);
        sample.breakdown.sql[0].time_ms = value;
        sample.breakdown.sql[0].routes[0].1 = value;
        sample.findings[0].title = text.as_str().into();
        sample.findings[0].gain_share = value;
        sample.findings[0].remedy.exact = Some(text.into());
        check_page(&sample);
    }
}

#[test]
fn what_gives_next_to_nothing_is_not_called_the_first_thing_to_fix() {
    let first = |gain_share: f64| {
        let mut sample = Sample::chat();
        sample.findings[0].gain_share = gain_share;
        let page = check_page(&sample);
        page.contains("Fix first")
    };
    assert!(first(0.22) && first(0.01));
    assert!(first(0.0), "the gain is not known");
    assert!(!first(0.001));
}

#[test]
fn what_can_be_tried_is_what_comes_next() {
    let mut sample = Sample::chat();
    check_holds(&check_page(&sample), &["apply the fix of finding 1, then"]);
    let index = Finding {
        remedy: Remedy {
            exact: Some(findings::Exact::Index("CREATE INDEX a ON b (c)".to_owned())),
            ..sample.findings[0].remedy.clone()
        },
        ..sample.findings[0].clone()
    };
    sample.findings.insert(1, index);
    check_holds(
        &check_page(&sample),
        &[
            "hakaru try 2                 measure the fix of finding 2 beside the app as it is",
            "apply the fix of finding 1, then",
        ],
    );
    sample.findings.remove(1);
    sample.findings[0].remedy.exact = Some(findings::Exact::workers(2));
    check_holds(
        &check_page(&sample),
        &["hakaru try 1                 measure the fix of finding 1 beside the app as it is"],
    );
    sample.recording.meta.target.command.clear();
    let attached = check_page(&sample);
    assert!(!attached.contains("hakaru try"), "{attached}");
}

/// A page in Japanese has no run of English words except in quotations: commands, statements,
/// source lines, and recorded reasons of failed checks.
#[test]
fn a_japanese_page_has_no_english_sentence() {
    let mut samples = vec![Sample::chat(), Sample::chat(), Sample::chat()];
    samples[0].findings = findings::all(findings::Facts {
        recording: &samples[0].recording,
        breakdown: &samples[0].breakdown,
        profile: None,
    });
    samples[1].findings.clear();
    samples[1].recording.troubles.clear();
    samples[1].breakdown.overall.errors = 9;
    samples[1].breakdown.overall.unanswered = 2;
    samples[2].findings.clear();
    samples[2].breakdown.overall.answered = 0;
    for sample in &mut samples {
        sample.recording.troubles.clear();
        for columns in [60, 100, 120] {
            let style = Style {
                columns,
                language: Language::Japanese,
                full: columns == 100,
                rows: Some(10),
                ..PLAIN
            };
            let reasons = sample.recording.failures.iter();
            let quoted: Vec<&str> = reasons.map(|failure| failure.reason.as_str()).collect();
            check_japanese(&run(&sample.view(), style), columns, &quoted);
        }
    }
}

fn check_japanese(page: &str, columns: usize, quoted: &[&str]) {
    assert!(page.contains("時間の内訳"), "{page}");
    for line in page.lines() {
        assert!(width(line) <= columns, "{} columns: {line}", width(line));
        if quoted.iter().any(|quoted| line.contains(quoted)) {
            continue;
        }
        let english: Vec<String> = english_runs(line).collect();
        assert!(english.is_empty(), "{english:?} in {line:?} of\n{page}");
    }
}

/// Two or more English words in a row. A statement's are in capitals, a command begins with a
/// program's name.
fn english_runs(line: &str) -> impl Iterator<Item = String> {
    const COMMANDS: [&str; 2] = ["hakaru", "puma"];
    let is_english = |word: &&str| {
        word.len() > 1 && word.chars().all(|c| c.is_ascii_lowercase()) && !COMMANDS.contains(word)
    };
    let words: Vec<&str> = line.split([' ', '（', '）', '、', '。']).collect();
    let runs: Vec<String> = words
        .windows(2)
        .filter(|two| two.iter().all(is_english))
        .map(|two| two.join(" "))
        .collect();
    runs.into_iter()
}

#[test]
fn the_short_page_has_titles_and_repeats_its_verdict_where_it_has_left_the_screen() {
    let mut sample = Sample::chat();
    sample.findings = vec![sample.findings[0].clone(); 7];
    let short = |rows| {
        let style = Style {
            full: false,
            rows,
            ..PLAIN
        };
        run(&sample.view(), style)
    };
    let page = short(Some(30));
    check_holds(
        &page,
        &[
            "NUMBERS",
            "WHERE THE TIME GOES",
            "  5. 25 times",
            "Gain: 22%",
            "2 more (all of them: --full)",
            "! the host has 2 cores",
            "hakaru report --full",
        ],
    );
    for absent in ["  6. ", "Fix:  ", "SQL AND", "HOW SURE"] {
        assert!(!page.contains(absent), "{absent}\n{page}");
    }
    let verdict = page.find("VERDICT").expect("it is repeated");
    assert_eq!(page[verdict..].matches("Fix first").count(), 1);
    assert!(verdict < page.find("NEXT").unwrap(), "{page}");
    assert_eq!(page.matches("Fix first").count(), 2);
    assert!(!short(Some(200)).contains("VERDICT"));
    assert!(!short(None).contains("VERDICT"));
}

#[test]
fn a_hint_alone_is_not_called_the_first_thing_to_fix() {
    let mut sample = Sample::chat();
    sample.findings.retain(|finding| !finding.is_about_trust());
    for finding in &mut sample.findings {
        finding.confidence = findings::Confidence::Low;
    }
    let page = check_page(&sample);
    assert!(!page.contains("Fix first"), "{page}");
    check_holds(
        &page,
        &["Nothing is sure to help. A hint to check: 25 times"],
    );
}

#[test]
fn what_was_not_kept_is_not_tried() {
    let mut sample = Sample::chat();
    sample.findings[0].remedy.exact = Some(findings::Exact::workers(2));
    let of = |number| {
        let view = View {
            number,
            ..sample.view()
        };
        run(&view, PLAIN)
    };
    assert!(of(Some(3)).contains("hakaru try 1"));
    assert!(!of(None).contains("hakaru try"));
}
