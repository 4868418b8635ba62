//! The page of a bench, in a browser.

use std::time::Duration;

use chromium::{Browser, Look};
use microbench::bench::{Bench, Cell, Ending, How, Measured, Row};
use microbench::model::{Contender, Job, Runner, Script, Work};
use microbench::plan::Shape;
use microbench::sample::{Clock, Sample, Trial};
use words::Language;

use super::profile_tests::collapsed;
use super::tests::{HOSTILE, settle, written};
use crate::bench::{BenchView, Flames, html};
use crate::profile::difference_to_html;

fn measured(contender: usize) -> Measured {
    let sample = |turn: u32| Sample {
        cpu: 1e-6 * f64::from(turn),
        wall: 1e-6 * f64::from(turn),
        ..Sample::default()
    };
    Measured {
        cell: Cell { job: 0, contender },
        trial: Some(Trial {
            curve: vec![3e-6, 2e-6, 1e-6, 1e-6],
            ..Trial::default()
        }),
        samples: (10..16).map(sample).collect(),
        missing: None,
        shape: Shape::default(),
    }
}

fn bench() -> Bench {
    Bench {
        rows: vec![Row {
            name: HOSTILE.to_owned(),
            cells: vec![measured(0), measured(1)],
            clock: Clock::Cpu,
            metric: Runner::Ips.metric(),
            pairs: Vec::new(),
            blocks: 3,
        }],
        overall: Vec::new(),
        how: How {
            runner: Runner::Ips,
            plan: Duration::from_secs(1),
            budget: Duration::from_secs(1),
            margin: 0.01,
            clock: Clock::Auto,
            seed: 1,
            compares_jobs: true,
            blocks_max: None,
        },
        ending: Ending::Decided,
        seconds: 1.0,
    }
}

fn page() -> String {
    let bench = bench();
    let jobs = [Job {
        name: HOSTILE.to_owned(),
        work: Work::Script(Script::default()),
        ruby_min: None,
    }];
    let contenders = [HOSTILE, "b"].map(|name| Contender::ruby(name, &["ruby"]));
    let view = BenchView {
        bench: &bench,
        jobs: &jobs,
        contenders: &contenders,
        doubts: &[],
        started_at_unix_ms: 0,
    };
    let (before, after) = (collapsed("main;a 700\nmain;b 300"), collapsed("main;a 200"));
    let diff = stacks::diff(&before, &after);
    let flames = Flames {
        row: 0,
        head: HOSTILE.to_owned().into(),
        page: difference_to_html(&before, &after, &diff, Language::English),
    };
    html(&view, &[flames], Language::English)
}

#[test]
fn a_bench_frames_the_page_of_both_profiles_on_every_screen() {
    let mut browser = Browser::start();
    let page = written(&page());
    for (width, scheme) in [
        (1440, "light"),
        (1440, "dark"),
        (390, "light"),
        (390, "dark"),
    ] {
        let look = Look {
            width,
            scheme,
            media: "screen",
        };
        browser.open(&page.path, look);
        settle(&mut browser);
        let overflow = browser
            .ask("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(overflow, 0, "{look:?}: the page is wider than the screen");
        let framed = "document.querySelector('iframe').contentDocument";
        let sections = browser.ask(&format!(
            "[...{framed}.querySelectorAll('main > section')]
                .filter((section) => section.getBoundingClientRect().height > 20)
                .map((section) => section.id).join()"
        ));
        assert_eq!(sections, "difference,changes", "{look:?}");
        let inside = browser.ask(&format!(
            "{framed}.documentElement.scrollWidth - {framed}.documentElement.clientWidth"
        ));
        assert_eq!(inside, 0, "{look:?}: the frame is wider than its place");
        assert_eq!(browser.complaints(), [""; 0], "{look:?}");
    }
}
