//! `apps/clicker`: a game over WebSockets, played by the app's `hakaru.toml`.

use crate::support::Run;

#[test]
fn each_message_is_a_route() {
    let run = Run {
        app: "clicker",
        port: "9292",
        config: "hakaru.toml",
        flags: &["--duration", "3s", "--warmup", "1s"],
        database: None,
        flow: None,
        instead: &[],
        only_waits: false,
    };
    let json = run.ok();
    let routes = json["routes"].as_array().expect("routes");
    for name in ["WS /room0 add", "WS /room1 buy", "WS /room2 status"] {
        let found = routes.iter().find(|route| route["route"] == name);
        let found = found.unwrap_or_else(|| panic!("{name} is not among {routes:#?}"));
        assert!(found["latency_ms"]["p50"].as_f64() > Some(0.0), "{found:#}");
    }
}
