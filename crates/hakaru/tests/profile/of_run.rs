//! The profile of a run: each sample has a request, so routes, slow requests and states can be
//! selected. Requests named by the app are among them.

use std::net::TcpListener;

use serde_json::Value;

use crate::support::Place;

/// An app with a computing route and a sleeping one: each tenth time ten times as long.
const APP: &str = r#"
TURNS = Queue.new
100_000.times { |turn| TURNS << turn }
def compute = 40_000.times { |i| i + 1 }
def rest(long) = sleep(long ? 0.3 : 0.03)
def tick = 40_000.times { |i| i + 2 }
if defined?(HakaruAgent)
  Thread.new { loop { HakaruAgent.request("GET /socket tick") { tick }; sleep 0.02 } }
end
run(lambda do |env|
  env["PATH_INFO"] == "/compute" ? compute : rest((TURNS.pop % 10).zero?)
  [200, { "content-type" => "text/plain", "cache-control" => "no-store" }, ["done"]]
end)
"#;

fn measured() -> Place {
    let place = Place::new("");
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a free port")
        .port();
    let write = |name: &str, text: String| {
        std::fs::write(place.folder.path().join(name), text).expect("written");
    };
    write("config.ru", APP.to_owned());
    write(
        "both.hurl",
        "GET {{base_url}}/compute\nHTTP 200\n\nGET {{base_url}}/rest\nHTTP 200\n".to_owned(),
    );
    let url = format!("http://127.0.0.1:{port}");
    let listen = format!("tcp://127.0.0.1:{port}");
    write(
        "hakaru.toml",
        format!(
            "[target]\ncommand = \"puma -t 3:3 -b {listen} config.ru\"\nurl = \"{url}\"\n\n\
             [load]\nconnections = 3\nduration = \"4s\"\nwarmup = \"500ms\"\n\n\
             [[flow]]\nfile = \"both.hurl\"\nweight = 1\n"
        ),
    );
    let output = place.hakaru(&["run", "--html", "run.html"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    place
}

pub fn shown(place: &Place, filters: &[&str]) -> Value {
    let mut arguments = vec!["profile", "show", "LAST", "--json"];
    arguments.extend(filters);
    let output = place.hakaru(&arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn state(json: &Value, name: &str) -> f64 {
    json["states"][name]["ms"].as_f64().unwrap_or_default()
}

#[test]
fn samples_know_their_route_and_slow_requests() {
    let place = measured();
    let rest = shown(&place, &["--route", "GET /rest"]);
    let compute = shown(&place, &["--route", "GET /compute"]);
    assert!(state(&rest, "sleep") > 500.0, "{}", rest["states"]);
    assert_eq!(state(&compute, "sleep"), 0.0, "{}", compute["states"]);
    let names = |json: &Value| json["inclusive"].to_string();
    let ticks = shown(&place, &["--route", "GET /socket tick"]);
    assert!(
        names(&ticks).contains(".tick\"") && !names(&ticks).contains(".compute\""),
        "{}",
        names(&ticks)
    );
    assert!(!names(&compute).contains(".tick\""), "{}", names(&compute));
    // What the runtime is at is known of a run too, though its processes are ended from outside.
    let fact = |name: &str| ticks["runtime"][name].as_f64().unwrap_or_default();
    assert!(
        fact("gc_live_slots_count") > 1e4 && fact("rss_bytes") > 1e7 && fact("code_bytes") > 1e6,
        "{}",
        ticks["runtime"]
    );
    assert!(
        names(&compute).contains(".compute\""),
        "{}",
        names(&compute)
    );
    assert!(!names(&rest).contains(".compute\""), "{}", names(&rest));

    // A twentieth of the requests, of which a tenth sleeps ten times as long: far more than their
    // share in number.
    let slow = shown(&place, &["--route", "GET /rest", "--slow"]);
    let share = state(&slow, "sleep") / state(&rest, "sleep");
    assert!(
        (0.1..0.6).contains(&share),
        "{share} of the sleep is in slow requests"
    );
    let asleep = shown(&place, &["--state", "sleep"]);
    assert_eq!(state(&asleep, "running"), 0.0);
    // The warm-up is in the profile, but belongs to no route.
    assert!(state(&asleep, "sleep") >= state(&rest, "sleep"));

    let unknown = place.hakaru(&["profile", "show", "LAST", "--route", "GET /nowhere"]);
    let stderr = String::from_utf8_lossy(&unknown.stderr);
    assert_eq!(unknown.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("GET /rest"), "{stderr}");
    check_page(&place);
}

/// Checks the graphs of the routes, and the slowest request with the sampled states.
fn check_page(place: &Place) {
    let page = std::fs::read_to_string(place.folder.path().join("run.html")).expect("the page");
    let (_, rest) = page.split_once("id=\"data\">").expect("data");
    let (data, _) = rest.split_once("</script>").expect("an end");
    let data: Value = serde_json::from_str(data).expect("JSON");
    let graphs = data["profile"]["flame"]["graphs"]
        .as_array()
        .expect("graphs");
    let graphs: Vec<&str> = graphs
        .iter()
        .filter_map(|graph| graph["name"].as_str())
        .collect();
    assert_eq!(
        graphs,
        [
            "all routes",
            "GET /rest",
            "GET /compute",
            "GET /socket tick"
        ]
    );
    let slowest = &data["profile"]["exemplars"][0];
    assert_eq!(slowest["route"], "GET /rest");
    let (start, end) = (slowest["start_ms"].as_f64(), slowest["end_ms"].as_f64());
    assert!(
        end.zip(start)
            .is_some_and(|(end, start)| end - start > 250.0),
        "{slowest}"
    );
    let sample = &slowest["samples"][0];
    let at = sample[1].as_f64().unwrap_or(-1e9);
    assert!(
        at > start.unwrap_or_default() - 20.0 && at < end.unwrap_or_default(),
        "{slowest}"
    );
    assert!(
        sample[2].as_f64().is_some_and(|length| length > 200.0),
        "the sleep is one piece: {slowest}"
    );
}
