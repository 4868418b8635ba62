//! Rules on host and processes, and on waits for other services.

use super::*;
use crate::rule_id::RuleId;

fn watched(change: impl Fn(&mut HostSample)) -> Run {
    let mut sample = HostSample {
        at: Timestamp::from_monotonic_nanos(START + 5_000 * MS),
        processes: vec![ProcessSample {
            pid: 7,
            name: "ruby".to_owned(),
            fds: Some(100),
            fds_limit: Some(1_000),
            ..ProcessSample::default()
        }],
        memory_limit: Some(500 << 20),
        memory_used: Some(100 << 20),
        ..HostSample::default()
    };
    change(&mut sample);
    healthy().with(|r| r.host.push(sample))
}

#[test]
fn a_limit_that_is_near_is_said() {
    watched(|_| {}).check(&[]);
    watched(|sample| sample.processes[0].fds = Some(799)).check(&[]);
    let findings = watched(|sample| sample.processes[0].fds = Some(900)).check(&["fd-limit"]);
    assert_eq!(
        findings[0].title,
        "ruby has 900 of 1,000 files and sockets open (90%)"
    );
    watched(|sample| sample.processes[0].fds_limit = None).check(&[]);
    watched(|sample| sample.memory_used = Some(440 << 20)).check(&[]);
    let findings = watched(|sample| sample.memory_used = Some(460 << 20)).check(&["memory-limit"]);
    assert_eq!(
        findings[0].title,
        "460 MiB of 500 MiB of memory are used (92%)"
    );
    let exact = |settings: &[(&str, &str)]| {
        let run = watched(|sample| sample.memory_used = Some(460 << 20));
        let set = |run: Run, (name, value): &(&str, &str)| run.set_to(name, value);
        let run = settings.iter().fold(run, set);
        run.check(&["memory-limit"])[0].remedy.exact_text()
    };
    assert_eq!(exact(&[]).as_deref(), Some("MALLOC_ARENA_MAX=2"));
    let arenas = ("MALLOC_ARENA_MAX", "2");
    assert_eq!(
        exact(&[arenas]).as_deref(),
        Some("LD_PRELOAD=libjemalloc.so.2")
    );
    assert_eq!(exact(&[arenas, ("allocator", "jemalloc")]), None);
    let reserving = |used: u64| {
        watched(|sample| {
            sample.processes[0].address_space = Some(used << 20);
            sample.processes[0].address_space_limit = Some(2_000 << 20);
        })
    };
    reserving(1_700).check(&[]);
    let findings = reserving(1_900).check(&["memory-limit"]);
    assert_eq!(
        findings[0].title,
        "ruby has 1,900 MiB of 2,000 MiB of address space (95%)"
    );
}

#[test]
fn waiting_for_another_service_is_said() {
    let call = "HTTP GET rates.example";
    let site = "app.rb:7 in rates < app.rb:30 in call";
    healthy().issuing(call, site, 1, 0.3).check(&[]);
    let findings = healthy().issuing(call, site, 2, 3.0).check(&["slow-http"]);
    assert_eq!(findings[0].route, "GET /channel/:id");
    assert!(
        findings[0]
            .title
            .to_string()
            .ends_with("GET rates.example (app.rb:7)")
    );
    assert!(findings[0].gain_share > 0.6);
    let remedy = |call: &str| {
        let findings = healthy().issuing(call, site, 2, 3.0).check(&["slow-http"]);
        let texts = [&findings[0].remedy.text, &findings[0].estimated_gain];
        texts.map(|text| text.to_string()).join(" ")
    };
    assert!(remedy(call).contains("keep the answer"));
    // What changes something is never answered from a cache, and connecting has no answer.
    for call in ["HTTP POST pay.example", "HTTP connect pay.example"] {
        let said = remedy(call);
        assert!(said.contains("in a job"), "{said}");
        assert!(said.contains("read_timeout"), "{said}");
        assert!(!said.contains("cache"), "{said}");
    }
}

/// 9 ms with the GVL a request, one after the other, on two cores of which `busy` are in use.
fn one_busy_worker(busy: f64) -> Run {
    one_worker(busy, 0.9, BUSY)
}

const BUSY: Work = Work {
    queue: 30.0,
    running: 9.0,
    sql: 0.0,
    sleep: 0.0,
    gvl_wait: 0.0,
};

/// A hundred requests a second for a worker using `app` of a core.
fn one_worker(busy: f64, app: f64, work: Work) -> Run {
    let sample = |at: u64, app_s: f64, busy_s: f64| HostSample {
        at: Timestamp::from_monotonic_nanos(START + at * MS),
        cpu_busy: nanos(busy_s * 1e3),
        processes: vec![ProcessSample {
            role: ProcessRole::App,
            cpu: nanos(app_s * 1e3),
            ..ProcessSample::default()
        }],
        ..HostSample::default()
    };
    let host = vec![sample(0, 0.0, 0.0), sample(9_999, 10.0 * app, 10.0 * busy)];
    Run::new()
        .requests("GET /channel/12", 1_000, work)
        .with(|r| r.host = host)
}

#[test]
fn more_workers_are_advised_where_cores_are_idle() {
    let spoken = |run: Run| {
        run.findings()
            .into_iter()
            .find(|finding| finding.rule == RuleId::Workers)
    };
    let finding = spoken(one_busy_worker(1.1)).expect("a finding");
    assert_eq!(
        finding.title,
        "GVL held 90% of the time, 0.9 cores idle: 2 workers would handle 2× as many"
    );
    assert_eq!(
        finding.remedy.exact_text().as_deref(),
        Some("-w 2 --preload")
    );
    assert!(spoken(one_busy_worker(1.95)).is_none(), "no core is idle");
    let with_free = |mebibytes: u64| {
        one_busy_worker(1.1).with(|recording| {
            for sample in &mut recording.host {
                sample.memory_available = mebibytes << 20;
                sample.processes[0].rss = 300 << 20;
            }
        })
    };
    let finding = spoken(with_free(400)).expect("a finding");
    let memory = "a worker has 300 MiB of memory, and 400 MiB are free";
    assert!(
        finding.evidence.iter().any(|line| *line == memory),
        "{finding:#?}"
    );
    assert!(spoken(with_free(350)).is_none(), "no memory for another");
    let two = one_busy_worker(1.1).with(|r| r.meta.target.workers = 2);
    assert!(spoken(two).is_none(), "a worker a core is there");
    let alone = Work { queue: 0.2, ..BUSY };
    let alone = one_worker(1.1, 0.9, alone);
    assert!(spoken(alone).is_none(), "no request waits for another");
}

#[test]
fn a_worker_may_be_taken_by_more_than_its_handlers_hold() {
    let title = |app: f64, gvl_wait: f64| {
        let work = Work {
            running: 5.0,
            gvl_wait,
            ..BUSY
        };
        let findings = one_worker(1.1, app, work).findings().into_iter();
        let mut workers = findings.filter(|finding| finding.rule == RuleId::Workers);
        workers.next().map(|finding| finding.title.to_string())
    };
    let rest = "0.9 cores idle: 2 workers would handle";
    assert_eq!(
        title(0.9, 2.0),
        Some(format!("a worker uses 90% of a core, {rest} 2.0× as many"))
    );
    assert_eq!(
        title(0.7, 30.0),
        Some(format!(
            "3.0 threads always wait for the GVL, {rest} 2× as many"
        ))
    );
    assert_eq!(title(0.7, 10.0), None, "it has time to spare");
}
