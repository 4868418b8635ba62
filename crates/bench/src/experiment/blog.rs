//! A tuning contest of 2012, repeated: one page under `ab`, from development mode to a caching
//! proxy in front.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use super::rails::{Blog, Start, free_port};
use super::report;
use crate::options::value;
use crate::steps::Steps;

/// The contest's score as published, by step. Of development mode only its ratio to the next is
/// known. The third is what a newer Ruby gave, before the server was changed.
const PUBLISHED: [Option<f64>; 6] = [
    None,
    Some(5.3),
    Some(6.1),
    Some(21.8),
    Some(29.7),
    Some(1351.0),
];
const CONNECTIONS: u32 = 4;
/// Approximate seconds for boot and end of Rails.
const BESIDE: f64 = 8.0;

struct Step {
    name: &'static str,
    environment: &'static str,
    server: Server,
    gc: bool,
    /// The finding whose remedy is the next step.
    finding: Option<&'static str>,
}

#[derive(Clone, Copy)]
enum Server {
    Puma,
    Unicorn { workers: usize },
    BehindNginx { workers: usize },
}

fn steps(cores: usize) -> [Step; 6] {
    let step = |name, environment, server, gc| Step {
        name,
        environment,
        server,
        gc,
        finding: match name {
            "development mode" => Some("development-mode"),
            "classes cached" => Some("answers-equal"),
            _ => None,
        },
    };
    let unicorn = |workers| Server::Unicorn { workers };
    let cached = Server::BehindNginx { workers: cores };
    [
        step("development mode", "development", Server::Puma, true),
        step("classes cached", "production", Server::Puma, true),
        step("Unicorn, one worker", "production", unicorn(1), true),
        step("a worker for each core", "production", unicorn(cores), true),
        step(
            "garbage collection off",
            "production",
            unicorn(cores),
            false,
        ),
        step("nginx answers from its cache", "production", cached, true),
    ]
}

/// Runs the experiment; returns whether every step was faster than the one before, except for the
/// change of the server alone.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let mut kept = Steps::open("experiment-blog", arguments)?;
    let seconds: f64 = value(arguments, "seconds", 8.0)?;
    let blog = Blog::new(kept.folder())?;
    fs::write(blog.folder.join("gc_off.rb"), "GC.disable\n")?;
    let cores = std::thread::available_parallelism()?.get();
    let mut seen = Vec::new();
    for step in steps(cores) {
        let key = format!("{} for {seconds} s", step.name);
        let value = kept.take(&key, 2.0 * seconds + BESIDE, || {
            measure(&blog, &step, seconds)
        })?;
        seen.push((step.name, value));
    }
    report::write("blog", &table(&seen)?)?;
    let rps = |step: usize| seen[step].1["rps"].as_f64().unwrap_or(0.0);
    let has_shape = rps(1) > rps(0) && rps(3) > rps(2) && rps(4) > rps(3) && rps(5) > 10.0 * rps(4);
    if !has_shape {
        println!("blog: the published shape was not seen");
    }
    Ok(has_shape)
}

fn measure(blog: &Blog, step: &Step, seconds: f64) -> Result<Value, Box<dyn Error>> {
    let (command, port) = command(blog, step.server)?;
    let mut env = vec![("RAILS_ENV", step.environment), ("RAILS_MAX_THREADS", "1")];
    if !step.gc {
        env.push(("RUBYOPT", "-r./gc_off.rb"));
    }
    let start = Start {
        command: &command,
        port,
        env: &env,
        connections: CONNECTIONS,
    };
    let duration = format!("{seconds}s");
    let words = [
        "run",
        "--no-agent",
        "--duration",
        &duration,
        "--warmup",
        "3s",
    ];
    let run = blog.hakaru(&start, &words)?;
    if run["errors"] != 0 || run["checks_failed"] != 0 {
        return Err(format!("{}: requests failed: {}", step.name, run["failures"]).into());
    }
    let finding = match step.finding {
        Some(id) => finding(blog, &start, id)?,
        None => Value::Null,
    };
    Ok(json!({
        "rps": run["rps"],
        "p50": run["latency_ms"]["p50"],
        "p95": run["latency_ms"]["p95"],
        "finding": finding,
    }))
}

/// Returns the title of a finding of a run with the agent.
fn finding(blog: &Blog, start: &Start<'_>, id: &str) -> Result<Value, Box<dyn Error>> {
    let run = blog.hakaru(start, &["run", "--duration", "8s", "--warmup", "2s"])?;
    let findings = run["findings"].as_array().ok_or("a run without findings")?;
    let found = findings.iter().find(|finding| finding["id"] == id);
    let title = found.and_then(|finding| finding["title"].as_str());
    Ok(Value::String(match title {
        Some(title) => format!("`hakaru run` says: “{title}” (`{id}`)."),
        None => format!("`hakaru run` does not find `{id}`."),
    }))
}

/// Returns the command line of a server, and the port for requests.
fn command(blog: &Blog, server: Server) -> Result<(String, u16), Box<dyn Error>> {
    let port = blog.port;
    match server {
        Server::Puma => Ok((
            format!("bundle exec puma -t 1:1 -b tcp://127.0.0.1:{port}"),
            port,
        )),
        Server::Unicorn { workers } => Ok((unicorn(blog, workers)?, port)),
        Server::BehindNginx { workers } => {
            let front = free_port()?;
            let folder = blog.folder.join("nginx");
            fs::create_dir_all(&folder)?;
            let config = folder.join("nginx.conf");
            fs::write(&config, proxy(&folder.display().to_string(), front, port))?;
            // nginx answers 502 until Unicorn listens, which would be the first thing it is asked.
            let line = format!(
                "{} & until bash -c \"exec 3<>/dev/tcp/127.0.0.1/{port}\" 2>/dev/null; do sleep 0.1; done; exec nginx -c {} 2>nginx/start.log",
                unicorn(blog, workers)?,
                config.display(),
            );
            Ok((line, front))
        }
    }
}

fn unicorn(blog: &Blog, workers: usize) -> Result<String, Box<dyn Error>> {
    let config = format!(
        "worker_processes {workers}\nlisten '127.0.0.1:{}'\npreload_app true\n",
        blog.port
    );
    let name = format!("unicorn-{workers}.rb");
    fs::write(blog.folder.join(&name), config)?;
    // Without it Unicorn adds middleware for development of its own.
    Ok(format!("unicorn -E none -c {name} config.ru"))
}

/// Returns the configuration of a proxy which stores every response for a minute, even private
/// ones: Rails marks all as private.
fn proxy(folder: &str, front: u16, back: u16) -> String {
    let temporary: String = ["client_body", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|kind| format!("  {kind}_temp_path {folder}/{kind};\n"))
        .collect();
    format!(
        "daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log {folder}/errors crit;\nevents {{ worker_connections 1024; }}\n\
         http {{\n{temporary}  proxy_temp_path {folder}/proxy;\n  access_log off;\n\
         \x20 proxy_cache_path {folder}/cache keys_zone=pages:1m;\n\
         \x20 server {{\n    listen 127.0.0.1:{front};\n    location / {{\n      proxy_pass http://127.0.0.1:{back};\n\
         \x20     proxy_cache pages;\n      proxy_cache_valid 200 1m;\n      proxy_cache_lock on;\n\
         \x20     proxy_ignore_headers Cache-Control Expires Set-Cookie;\n    }}\n  }}\n}}\n"
    )
}

fn table(seen: &[(&'static str, Value)]) -> Result<String, Box<dyn Error>> {
    let mut text = format!(
        "{}; {}; {}.\n\n| step | requests/s | × the step before | p50 ms | p95 ms | published score | × the step before |\n|---|--:|--:|--:|--:|--:|--:|\n",
        report::host(),
        report::version("ruby", "--version"),
        report::version("unicorn", "--version"),
    );
    let (mut before, mut published_before): (Option<f64>, Option<f64>) = (None, None);
    for ((name, value), published) in seen.iter().zip(PUBLISHED) {
        let rps = value["rps"].as_f64().ok_or("a step lacks its throughput")?;
        // A percentile that too few requests carry is none.
        let latency = |key: &str| {
            let value = value[key].as_f64();
            value.map_or("–".to_owned(), |ms| format!("{ms:.1}"))
        };
        let times = |now: f64, before: Option<f64>| {
            before.map_or(String::new(), |before| format!("{:.2}", now / before))
        };
        let (shown, ratio) = match published {
            Some(published) => (published.to_string(), times(published, published_before)),
            None => (String::new(), String::new()),
        };
        writeln!(
            text,
            "| {name} | {rps:.1} | {} | {} | {} | {shown} | {ratio} |",
            times(rps, before),
            latency("p50"),
            latency("p95"),
        )?;
        (before, published_before) = (Some(rps), published);
    }
    for (name, value) in seen {
        if let Some(finding) = value["finding"].as_str() {
            writeln!(text, "\nAt “{name}” {finding}")?;
        }
    }
    Ok(text)
}
