//! Compares the memory of a run with a run ten times as long.

use std::error::Error;

use super::nginx::{Nginx, Serves};
use super::{child, tools};

const CONNECTIONS: u32 = 50;
/// Requests of the long run.
const REQUESTS: f64 = 1e7;
/// Seconds of the short run, full and brief.
const SECONDS: (u32, u32) = (20, 1);
/// The long run may need so much more, in 10^6 bytes: what an allocator rounds up to.
const GROWTH_MB_MAX: f64 = 1.0;

/// Runs both; whether the memory stayed.
pub(super) fn run(brief: bool) -> Result<bool, Box<dyn Error>> {
    println!("\nmemory of a long run");
    let server = Nginx::start(Serves::File)?;
    let short = load(&server, if brief { SECONDS.1 } else { SECONDS.0 })?;
    let rate = short.requests / f64::from(short.seconds);
    // A tenth more, since no two runs are equally fast.
    let wanted = if brief { 10.0 * rate } else { REQUESTS };
    let long = load(&server, (wanted * 1.1 / rate).ceil() as u32)?;
    let growth = long.memory_mb - short.memory_mb;
    let good = growth <= GROWTH_MB_MAX && long.requests >= wanted;
    println!(
        "  {} {:.1e} requests: {:.1} MB; {:.1e}: {:.1} MB",
        super::mark(good),
        short.requests,
        short.memory_mb,
        long.requests,
        long.memory_mb
    );
    Ok(good)
}

struct Load {
    seconds: u32,
    requests: f64,
    memory_mb: f64,
}

fn load(server: &Nginx, seconds: u32) -> Result<Load, Box<dyn Error>> {
    let mut command = vec![tools::program().display().to_string()];
    let arguments = format!(
        "load {} -c {CONNECTIONS} -d {seconds}s --json",
        server.url()
    );
    command.extend(arguments.split(' ').map(str::to_owned));
    let ran = child::run(&command)?;
    let json: serde_json::Value = serde_json::from_str(&ran.output)?;
    Ok(Load {
        seconds,
        requests: json["requests"].as_f64().ok_or("no requests in the JSON")?,
        memory_mb: ran.memory_mb,
    })
}
