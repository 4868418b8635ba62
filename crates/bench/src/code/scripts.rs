//! Ruby scripts: equal ones, and ones with 2 % more turns of the loop.

mod driver;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::{Claim, Part, pair};
use crate::options::value;
use crate::program::hakaru_bench;
use crate::steps::Steps;

/// Turns of the loop, and with the planted difference. What the loop costs beside its turns is a
/// thousandth of them.
const TURNS: u32 = 5_000;
const TURNS_PLANTED: u32 = 5_100;
/// Greatest share of false claims among equal benches, and least share of planted differences
/// found.
const CLAIMED_MAX: f64 = 0.05;
const FOUND_MIN: f64 = 0.9;
const HAKARU: &str = "hakaru";
/// Where Debian's package has the library.
const IPS: &str = "/usr/lib/ruby/vendor_ruby";

/// A bench of two pieces of code, given the turns of both and the seconds; returns a value like
/// [`pair`].
type Bench = Box<dyn Fn(&Path, [u32; 2], u32) -> Result<Value, Box<dyn Error>>>;
/// A tool's name and the claims, bench by bench.
type Claims = (String, Vec<String>);

/// A tool comparing two pieces of code.
struct Tool {
    name: &'static str,
    bench: Bench,
}

/// `--equal N`, each of `--equal-budget` seconds; whether Hakaru claims no more than may be.
pub(super) fn equal(steps: &mut Steps, arguments: &[String]) -> Result<Part, Box<dyn Error>> {
    let count: u32 = value(arguments, "equal", 200)?;
    let budget_s: u32 = value(arguments, "equal-budget", 6)?;
    let claims = in_turns(steps, arguments, "equal", [TURNS; 2], count, budget_s)?;
    let mut part = Part {
        is_held: true,
        table: format!(
            "{count} benches of equal code, {budget_s} s each\n\ntool              claim a difference\n"
        ),
    };
    for (tool, seen) in &claims {
        let nothing = Claim::Nothing.name();
        let claimed = seen.iter().filter(|claim| *claim != nothing).count();
        part.table += &format!("{tool:16}  {claimed:>18}\n");
        part.is_held &= tool != HAKARU || claimed as f64 <= CLAIMED_MAX * f64::from(count);
    }
    let most = CLAIMED_MAX * 100.0;
    part.table += &format!("\nasked of hakaru: at most {most:.0} %\n");
    Ok(part)
}

/// `--planted N`, each of at most `--planted-budget` seconds; whether Hakaru finds the difference
/// often enough.
pub(super) fn planted(steps: &mut Steps, arguments: &[String]) -> Result<Part, Box<dyn Error>> {
    let count: u32 = value(arguments, "planted", 10)?;
    let budget_s: u32 = value(arguments, "planted-budget", 60)?;
    let turns = [TURNS, TURNS_PLANTED];
    let claims = in_turns(steps, arguments, "planted", turns, count, budget_s)?;
    let mut part = Part {
        is_held: true,
        table: format!(
            "{count} benches of 2 % more turns, {budget_s} s each\n\ntool              find it  claim the opposite\n"
        ),
    };
    for (tool, seen) in &claims {
        let of = |claim: Claim| seen.iter().filter(|seen| *seen == claim.name()).count();
        let (found, wrong) = (of(Claim::More), of(Claim::Less));
        part.table += &format!("{tool:16}  {found:>7}  {wrong:>18}\n");
        part.is_held &= tool != HAKARU || found as f64 >= FOUND_MIN * f64::from(count);
    }
    let least = FOUND_MIN * 100.0;
    part.table += &format!("\nasked of hakaru: at least {least:.0} %\n");
    Ok(part)
}

/// What each tool claims, bench by bench.
fn in_turns(
    steps: &mut Steps,
    arguments: &[String],
    kind: &str,
    turns: [u32; 2],
    count: u32,
    budget_s: u32,
) -> Result<Vec<Claims>, Box<dyn Error>> {
    let tools = tools(arguments)?;
    let folder = steps.folder().to_owned();
    let mut claims: Vec<Claims> = tools
        .iter()
        .map(|tool| (tool.name.to_owned(), Vec::new()))
        .collect();
    for number in 1..=count {
        for (tool, (_, seen)) in tools.iter().zip(&mut claims) {
            let key = format!("{kind} {number} {} within {budget_s} s", tool.name);
            let told = steps.take(&key, f64::from(budget_s) * 1.5, || {
                (tool.bench)(&folder, turns, budget_s)
            })?;
            let claim = told["claim"].as_str().unwrap_or_default().to_owned();
            println!(
                "{key}: {:.4}, {claim}",
                told["ratio"].as_f64().unwrap_or(f64::NAN)
            );
            seen.push(claim);
        }
    }
    Ok(claims)
}

fn tools(arguments: &[String]) -> Result<Vec<Tool>, Box<dyn Error>> {
    let mut tools = vec![Tool {
        name: HAKARU,
        bench: Box::new(by_hakaru),
    }];
    let ips = PathBuf::from(value(arguments, "ips", IPS.to_owned())?);
    match ips.join("benchmark/ips.rb").is_file() {
        true => tools.push(Tool {
            name: "benchmark-ips",
            bench: Box::new(move |folder, turns, budget_s| by_ips(&ips, folder, turns, budget_s)),
        }),
        false => println!(
            "benchmark-ips is not there: --ips FOLDER of its lib, or Debian's ruby-benchmark-ips"
        ),
    }
    let driver = PathBuf::from(value(arguments, "driver", String::new())?);
    match driver.join(driver::PROGRAM).is_file() {
        true => tools.push(Tool {
            name: "benchmark_driver",
            bench: Box::new(move |folder, turns, budget_s| {
                driver::bench(&driver, folder, turns, budget_s)
            }),
        }),
        false => println!("benchmark_driver is not there: --driver FOLDER of its gem"),
    }
    Ok(tools)
}

/// Writes the pair as a file for Hakaru and benchmark_driver.
fn file(folder: &Path, [a, b]: [u32; 2]) -> Result<String, Box<dyn Error>> {
    let file = folder.join("pair.yml");
    let text = format!("benchmark:\n  a: {:?}\n  b: {:?}\n", code(a), code(b));
    fs::write(&file, text)?;
    Ok(file.display().to_string())
}

fn code(turns: u32) -> String {
    format!("i = 0; i += 1 while i < {turns}")
}

fn by_hakaru(folder: &Path, turns: [u32; 2], budget_s: u32) -> Result<Value, Box<dyn Error>> {
    let file = file(folder, turns)?;
    let budget = format!("{budget_s}s");
    pair(&hakaru_bench(&[&file, "--budget", &budget])?, "b")
}

/// Runs benchmark-ips; the claim is the library's own: `compare!` calls a pair the same where the
/// intervals of mean ± deviation overlap.
fn by_ips(
    lib: &Path,
    folder: &Path,
    [a, b]: [u32; 2],
    budget_s: u32,
) -> Result<Value, Box<dyn Error>> {
    let file = folder.join("ips.rb");
    // Each side warms up for a tenth of its time.
    let side_s = f64::from(budget_s) / 2.0;
    let text = format!(
        "require 'benchmark/ips'\n\
         report = Benchmark.ips(quiet: true) do |x|\n\
         \x20 x.config(warmup: {}, time: {})\n\
         \x20 x.report('a') {{ {} }}\n\
         \x20 x.report('b') {{ {} }}\n\
         \x20 x.compare!\n\
         end\n\
         puts 'means ' + report.entries.map {{ |entry| entry.stats.central_tendency }}.join(' ')\n",
        side_s * 0.1,
        side_s * 0.9,
        code(a),
        code(b)
    );
    fs::write(&file, text)?;
    let output = Command::new("ruby")
        .arg("-I")
        .arg(lib)
        .arg(&file)
        .output()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    told_by_ips(&printed, budget_s).ok_or_else(|| {
        let error = String::from_utf8_lossy(&output.stderr);
        format!("benchmark-ips printed no comparison: {printed}{error}").into()
    })
}

/// Reads the output of `compare!`: the faster first, and for the other the slowdown, or equality.
fn told_by_ips(printed: &str, budget_s: u32) -> Option<Value> {
    let means = printed
        .lines()
        .find_map(|line| line.strip_prefix("means "))?;
    let mut means = means.split(' ').filter_map(|mean| mean.parse::<f64>().ok());
    let ratio = means.next()? / means.next()?;
    let is_claimed = printed.contains("slower");
    let claim = match (is_claimed, ratio > 1.0) {
        (false, _) => Claim::Nothing,
        (true, true) => Claim::More,
        (true, false) => Claim::Less,
    };
    Some(json!({"ratio": ratio, "claim": claim.name(), "seconds": budget_s}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_benchmark_ips_become_claims() {
        let told = |words: &str, means: &str| {
            let printed =
                format!("Comparison:\n  a: 10.0 i/s\n  b: 9.0 i/s - {words}\nmeans {means}\n");
            told_by_ips(&printed, 6).map(|told| told["claim"].clone())
        };
        assert_eq!(told("1.11x  slower", "10.0 9.0"), Some(json!("more")));
        assert_eq!(told("1.11x  slower", "9.0 10.0"), Some(json!("less")));
        let same = "same-ish: difference falls within error";
        assert_eq!(told(same, "10.0 9.0"), Some(json!("nothing")));
        assert_eq!(told_by_ips("", 6), None);
    }
}
