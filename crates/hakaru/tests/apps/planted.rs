//! The apps with one cause each, or a few.

use serde_json::Value;

use crate::support::{Run, check_only, to_fix};

fn run(app: &str, port: &str, duration: &str) -> Value {
    let run = Run {
        app,
        port,
        config: "hakaru.toml",
        flags: &["--duration", duration],
        database: None,
        flow: None,
        instead: &[],
        only_waits: false,
    };
    run.ok()
}

#[test]
fn waits_for_a_service_a_pool_and_a_lock_are_found() {
    let json = run("fetcher", "9393", "10s");
    check_only(&json, &["slow-http", "pool-wait", "lock-wait"]);
    let found = to_fix(&json);
    for (id, route, line) in [
        ("slow-http", "GET /price", "lib/fetcher.rb:"),
        ("pool-wait", "GET /stock", "lib/pool.rb:"),
        ("lock-wait", "GET /audit", "lib/fetcher.rb:"),
    ] {
        let named = |finding: &&&Value| {
            let route_named = finding["route"]
                .as_str()
                .is_some_and(|name| name.starts_with(route));
            finding["id"] == id && route_named && finding["title"].to_string().contains(line)
        };
        assert!(found.iter().find(named).is_some(), "no {id}: {found:#?}");
    }
}

#[test]
fn what_was_planted_in_a_rails_app_is_found() {
    let json = run("blog", "3000", "15s");
    check_only(&json, &["n-plus-one", "missing-index"]);
    let found = to_fix(&json);
    let text = |id: &str| {
        found
            .iter()
            .find(|finding| finding["id"] == id)
            .unwrap_or_else(|| panic!("no {id}: {found:#?}"))
            .to_string()
    };
    assert!(text("n-plus-one").contains("app/views/posts/_post.html.erb:3"));
    assert!(text("missing-index").contains("comments (post_id"));
    let rows = json["sql"].as_array().expect("statements");
    assert!(
        rows.iter().any(|row| row["rows"].as_u64() > Some(0)),
        "rows of prepared statements are counted: {rows:#?}"
    );
}
