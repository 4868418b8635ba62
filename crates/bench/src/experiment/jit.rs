//! The same app without and with Ruby's JIT compiler, in interleaved blocks: `hakaru compare` with
//! one variable more. Once a Rails app, once a small one that is compiled in seconds.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use serde_json::Value;

use super::rails::{Blog, Start};
use super::report;
use crate::options::value;
use crate::program::Project;
use crate::steps::Steps;

/// Ratios of times without and with an early JIT, as published for a Rails app: at p50 and at p100.
const PUBLISHED: [(&str, f64); 2] = [("p50", 1.18), ("p100", 1.37)];
const CONNECTIONS: u32 = 2;
/// Rails 7.2 switches YJIT on by itself where Ruby has it: on both sides.
const NOT_BY_RAILS: &str = "Rails.application.config.yjit = false\n";

/// Runs the experiment. The shape depends on the compiler, so none is asked for.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let mut steps = Steps::open("experiment-jit", arguments)?;
    let budget_s: u32 = value(arguments, "budget", 300)?;
    let flag: String = value(arguments, "flag", best_flag().to_owned())?;
    let blog = Blog::new(steps.folder())?;
    let initializers = blog.folder.join("config/initializers");
    fs::create_dir_all(&initializers)?;
    fs::write(initializers.join("compiler.rb"), NOT_BY_RAILS)?;
    let command = format!("bundle exec puma -t 1:1 -b tcp://127.0.0.1:{}", blog.port);
    let env = [("RAILS_ENV", "production"), ("RAILS_MAX_THREADS", "1")];
    let start = Start {
        command: &command,
        port: blog.port,
        env: &env,
        connections: CONNECTIONS,
    };
    let budget = format!("{budget_s}s");
    let variable = format!("RUBYOPT={flag}");
    let key = format!("{flag} beside none within {budget}");
    let compared = steps.take(&key, f64::from(budget_s), || {
        blog.hakaru(
            &start,
            &["compare", "--env-b", &variable, "--budget", &budget],
        )
    })?;
    let small = Project::new("cpu", steps.folder())?;
    let flags = ["--env-b", &variable, "--budget", &budget];
    let key = format!("cpu {flag} within {budget}");
    let of_small = steps.take(&key, f64::from(budget_s), || {
        small.hakaru("compare", &flags)
    })?;
    let text = [
        format!(
            "{}; {}; `{flag}`.\n",
            report::host(),
            report::version("ruby", "--version")
        ),
        format!("### `apps/blog`\n\n{}", table(&compared)?),
        format!(
            "### `apps/three-servers`, 5 ms of Ruby a request\n\n{}",
            table(&of_small)?
        ),
    ];
    report::write("jit", &text.join("\n"))?;
    Ok(true)
}

/// Returns the flag of the compiler used in production, where available; a Ruby built without YJIT
/// only warns.
fn best_flag() -> &'static str {
    let script = "exit RubyVM::YJIT.enabled?";
    let has_yjit = Command::new("ruby").args(["--yjit", "-e", script]).output();
    match has_yjit.is_ok_and(|output| output.status.success()) {
        true => "--yjit",
        false => "--rjit",
    }
}

fn table(compared: &Value) -> Result<String, Box<dyn Error>> {
    if compared["ended"] == "failed" {
        // That an app does not run with the compiler is what there is to say of it.
        return Ok(format!(
            "{}\n",
            compared["verdict"].as_str().unwrap_or_default()
        ));
    }
    let noise = compared["noise_floor"].as_f64().map_or_else(
        || "too few for the host's noise floor".to_owned(),
        |floor| format!("noise floor of the host ±{:.1} %", floor * 100.0),
    );
    let mut text = format!(
        "{} blocks in {:.0} s, {noise}.\n\n\
         | | without | with | without / with | 95 % interval | | published |\n|---|--:|--:|--:|--:|---|--:|\n",
        compared["blocks"],
        compared["measuring_s"].as_f64().unwrap_or(f64::NAN),
    );
    for row in compared["rows"].as_array().ok_or("no rows")? {
        let metric = row["metric"].as_str().ok_or("a row without a name")?;
        let figure = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
        let interval = match row["low"].is_number() && row["high"].is_number() {
            true => format!("{:.2}–{:.2}", 1.0 / figure("high"), 1.0 / figure("low")),
            false => "too few blocks".to_owned(),
        };
        let published = PUBLISHED.iter().find(|(name, _)| *name == metric);
        let published = published.map_or(String::new(), |(_, ratio)| format!("{ratio}x"));
        let unit = if metric == "rps" { "" } else { " ms" };
        writeln!(
            text,
            "| {metric}{unit} | {:.2} | {:.2} | {:.2}x | {interval} | {} | {published} |",
            figure("a"),
            figure("b"),
            1.0 / figure("ratio"),
            row["verdict"].as_str().unwrap_or_default(),
        )?;
    }
    for (name, key, scale) in [
        ("start s", "start_s", 1.0),
        ("settled after s", "warmup_s", 1.0),
        ("memory MiB", "memory_bytes", 1.0 / f64::from(1 << 20)),
    ] {
        let side = |side: &str| {
            let value = compared[side][key].as_f64();
            value.map_or("?".to_owned(), |value| format!("{:.1}", value * scale))
        };
        writeln!(text, "| {name} | {} | {} | | | | |", side("a"), side("b"))?;
    }
    text += &curve(compared);
    writeln!(
        text,
        "\n{}",
        compared["verdict"].as_str().unwrap_or_default()
    )?;
    Ok(text)
}

/// Percentiles from the middle to the greatest, of all blocks together.
fn curve(compared: &Value) -> String {
    const SHARE_MIN: f64 = 0.5;
    let mut text =
        "\n| percentile | without, ms | with, ms | without / with |\n|--:|--:|--:|--:|\n"
            .to_owned();
    let points = compared["latency_curve"].as_array().into_iter().flatten();
    for point in points {
        let figure = |key: &str| point[key].as_f64();
        let (Some(share), Some(a), Some(b)) = (figure("share"), figure("a_ms"), figure("b_ms"))
        else {
            continue;
        };
        if share >= SHARE_MIN {
            let percent = (share * 10_000.0).round() / 100.0;
            let _ = writeln!(text, "| {percent} | {a:.2} | {b:.2} | {:.2}x |", a / b);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_upper_half_of_both_curves_is_written() {
        let point =
            |share: f64, a: f64| serde_json::json!({"share": share, "a_ms": a, "b_ms": 2.0});
        let without = serde_json::json!({"share": 0.99, "a_ms": null, "b_ms": 2.0});
        let compared = serde_json::json!({"latency_curve": [point(0.25, 1.0), point(0.5, 3.0), without, point(1.0, 8.0)]});
        let text = curve(&compared);
        let rows: Vec<&str> = text.lines().skip(3).collect();
        assert_eq!(
            rows,
            [
                "| 50 | 3.00 | 2.00 | 1.50x |",
                "| 100 | 8.00 | 2.00 | 4.00x |"
            ]
        );
    }
}
