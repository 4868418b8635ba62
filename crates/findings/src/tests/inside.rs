//! What host and processes tell, and waits for other services.

use super::*;

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
}

#[test]
fn waiting_for_another_service_is_said() {
    let call = "HTTP GET rates.example";
    let site = "app.rb:7 in rates < app.rb:30 in call";
    healthy().issuing(call, site, 1, 0.3).check(&[]);
    let findings = healthy().issuing(call, site, 2, 3.0).check(&["slow-http"]);
    assert_eq!(findings[0].route, "GET /channel/:id");
    assert!(findings[0].title.ends_with("GET rates.example (app.rb:7)"));
    assert!(findings[0].gain_share > 0.6);
}
