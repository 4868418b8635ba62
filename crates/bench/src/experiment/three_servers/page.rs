//! The page of the experiment: our curves beside what was published.

use std::error::Error;
use std::path::Path;

use serde_json::Value;

use crate::plot::{Curve, svg};

/// Up to so many connections the published ratio is said to hold.
const PUBLISHED_UP_TO: f64 = 50.0;
/// Relative difference up to which two servers are equal: more than the scatter of short runs.
const EQUAL: f64 = 0.1;
/// Published: one Puma process flat at so many requests a second where Go reached so many.
const PUBLISHED_FLAT: (f64, f64) = (600.0, 1_200.0);
/// Published: Ruby's share of Go's throughput on the mixed handler.
const PUBLISHED_MIXED: f64 = 0.7;
/// Published: memory of Ruby in three processes, and of Go, in MB.
const PUBLISHED_MEMORY: (f64, f64) = (51.0, 17.0);
/// Connections from which one process has no thread free.
const FLAT_FROM: f64 = 10.0;
/// Ratio to Ruby's throughput from which Go is "far ahead".
const FAR_AHEAD: f64 = 1.5;

/// A published statement, and the local measurement.
struct Claim {
    what: String,
    published: String,
    here: String,
    /// Whether the same was measured; absolute figures are not compared.
    holds: Option<bool>,
}

/// Connections and requests a second.
type Points = Vec<(f64, f64)>;

fn points(curve: &Value) -> Points {
    let steps = curve["steps"].as_array().into_iter().flatten();
    steps
        .filter_map(|step| Some((step["connections"].as_f64()?, step["rps"].as_f64()?)))
        .collect()
}

fn curves(kind: &Value) -> Vec<&Value> {
    kind["curves"].as_array().into_iter().flatten().collect()
}

/// Returns the measured curve with the given name.
fn measured<'a>(kind: &'a Value, name: &str) -> Result<&'a Value, Box<dyn Error>> {
    let found = curves(kind).into_iter().find(|curve| curve["name"] == name);
    Ok(found.ok_or_else(|| format!("{} has no curve {name:?}", kind["kind"]))?)
}

/// What each has of the other's throughput, by connections.
fn ratio(ruby: &Points, go: &Points) -> Points {
    let pairs = ruby.iter().zip(go);
    pairs.map(|(ruby, go)| (ruby.0, ruby.1 / go.1)).collect()
}

fn best(points: &Points) -> f64 {
    points.iter().map(|point| point.1).fold(0.0, f64::max)
}

fn up_to_published(points: &Points) -> Vec<f64> {
    let inside = points.iter().filter(|point| point.0 <= PUBLISHED_UP_TO);
    inside.map(|point| point.1).collect()
}

/// Returns whether more connections than threads leave the throughput unchanged.
fn is_flat(points: &Points) -> bool {
    let later = points.iter().filter(|point| point.0 >= FLAT_FROM);
    let (least, most) = later.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), point| {
        (least.min(point.1), most.max(point.1))
    });
    most <= least * (1.0 + 2.0 * EQUAL)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn range(values: &[f64]) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    format!("{least:.2} to {most:.2}")
}

/// Ruby as a share of Go, for each kind: `io`, `cpu`, `mixed` in one process, `mixed` in three.
struct Ratios {
    all: [(&'static str, Points); 4],
}

impl Ratios {
    fn of(kinds: &[Value]) -> Result<Ratios, Box<dyn Error>> {
        let [io, cpu, mixed] = kinds else {
            return Err("three kinds are needed".into());
        };
        let one = |kind: &Value, name: &str| -> Result<Points, Box<dyn Error>> {
            Ok(ratio(
                &points(measured(kind, name)?),
                &points(measured(kind, "Go")?),
            ))
        };
        Ok(Ratios {
            all: [
                ("io, Ruby 1 × 200", one(io, "Ruby 1 × 200")?),
                ("cpu, Ruby 1 × 1", one(cpu, "Ruby 1 × 1")?),
                ("mixed, Ruby 1 × 3", one(mixed, "Ruby 1 × 3")?),
                ("mixed, Ruby 2 × 3", one(mixed, "Ruby 2 × 3")?),
            ],
        })
    }

    fn inside(&self, index: usize) -> Vec<f64> {
        up_to_published(&self.all[index].1)
    }
}

fn claims(kinds: &[Value], ratios: &Ratios) -> Result<Vec<Claim>, Box<dyn Error>> {
    let [io, cpu, mixed] = kinds else {
        return Err("three kinds are needed".into());
    };
    let (waiting, computing, both) = (ratios.inside(0), ratios.inside(1), ratios.inside(3));
    let (ruby, go) = (
        points(measured(cpu, "Ruby 1 × 1")?),
        points(measured(cpu, "Go")?),
    );
    let ahead = best(&go) / best(&ruby);
    let process = points(measured(mixed, "Ruby 1 × 3")?);
    let flat = best(&process);
    let reached = best(&points(measured(mixed, "Go")?));
    let between = mean(&computing) < mean(&both) && mean(&both) < mean(&waiting).max(1.0);
    let share = PUBLISHED_FLAT.0 / PUBLISHED_FLAT.1;
    let claim = |what: &str, published: String, here: String, holds| Claim {
        what: what.to_owned(),
        published,
        here,
        holds,
    };
    Ok(vec![
        claim(
            "waiting only: Ruby's share of Go's throughput, up to 50 connections",
            "equal".to_owned(),
            range(&waiting),
            Some(waiting.iter().all(|share| (share - 1.0).abs() <= EQUAL)),
        ),
        claim(
            "computing only: Go's throughput",
            "far ahead".to_owned(),
            format!("{ahead:.1} times Ruby's"),
            Some(ahead >= FAR_AHEAD),
        ),
        claim(
            "both: Ruby's share of Go's throughput, three processes, up to 50 connections",
            format!("about {PUBLISHED_MIXED}"),
            format!("{} (between the two above: {})", range(&both), yes(between)),
            Some(between),
        ),
        claim(
            "both: one Puma process flat at … where Go reached …",
            format!("{} of {}: {share:.2}", PUBLISHED_FLAT.0, PUBLISHED_FLAT.1),
            format!(
                "{flat:.0} of {reached:.0}: {:.2} (flat from {FLAT_FROM} connections on: {})",
                flat / reached,
                yes(is_flat(&process))
            ),
            Some(is_flat(&process) && reached >= FAR_AHEAD * flat),
        ),
        claim(
            "both: threads a process that are right",
            "about 3, as 1 / (share of CPU)".to_owned(),
            recommended(mixed),
            Some((3..=4).contains(&mixed["threads"].as_u64().unwrap_or(0))),
        ),
        claim(
            "memory: Ruby in three processes, Go",
            format!("{} MB, {} MB", PUBLISHED_MEMORY.0, PUBLISHED_MEMORY.1),
            format!(
                "{:.0} MB (with the agent), {:.0} MB; {:.0} MB in one process of 200 threads",
                megabytes(measured(mixed, "Ruby 2 × 3")?),
                megabytes(measured(mixed, "Go")?),
                megabytes(measured(io, "Ruby 1 × 200")?),
            ),
            None,
        ),
    ])
}

fn megabytes(curve: &Value) -> f64 {
    let steps = curve["steps"].as_array().into_iter().flatten();
    let bytes = steps.filter_map(|step| step["memory_bytes"].as_f64());
    bytes.fold(0.0, f64::max) / 1e6
}

fn recommended(kind: &Value) -> String {
    let threads = kind["threads"].as_u64();
    threads.map_or_else(
        || "nothing is advised".to_owned(),
        |count| count.to_string(),
    )
}

fn yes(holds: bool) -> &'static str {
    if holds { "yes" } else { "no" }
}

/// Writes the page and pictures; returns whether all repeatable claims were repeated.
pub(super) fn write(folder: &Path, kinds: &[Value]) -> Result<bool, Box<dyn Error>> {
    let ratios = Ratios::of(kinds)?;
    let claims = claims(kinds, &ratios)?;
    let held = claims.iter().all(|claim| claim.holds != Some(false));
    let pictures = folder.join("three-servers");
    let mut text = HEAD.to_owned();
    text += "| | published, ten cores | here | the same? |\n|---|---|---|---|\n";
    for claim in &claims {
        let holds = claim.holds.map_or("not compared", yes);
        text += &format!(
            "| {} | {} | {} | {holds} |\n",
            claim.what, claim.published, claim.here
        );
    }
    std::fs::write(pictures.join("ratios.svg"), ratio_picture(&ratios))?;
    text += "\n![Ruby's share of Go's throughput](three-servers/ratios.svg)\n";
    for kind in kinds {
        let name = kind["kind"].as_str().unwrap_or_default();
        std::fs::write(pictures.join(format!("{name}.svg")), picture(kind))?;
        text += &section(kind, name);
    }
    std::fs::write(folder.join("three-servers.md"), &text)?;
    println!("{text}");
    Ok(held)
}

const HEAD: &str = "# The three servers

    cargo xtask experiment three-servers

A handler that only waits, one that only computes, and one that does both, on Puma and on Go's net/http
([apps/three-servers](../../apps/three-servers/README.md)), under more and more connections. This page and its pictures are
written by that command; the figures are in [three-servers/](three-servers/).

The published experiment ran on ten cores. **Absolute figures differ**: here server and load generator share the cores that
are named below, the handlers' milliseconds are others, and Ruby carries Hakaru's agent. What can be repeated is the shape.

";

fn ratio_picture(ratios: &Ratios) -> String {
    let ends = [1.0, PUBLISHED_UP_TO];
    let level = |name: &str, value: f64| Curve {
        name: name.to_owned(),
        points: ends.map(|connections| (connections, value)).to_vec(),
        dashed: true,
    };
    let mut curves: Vec<Curve> = ratios
        .all
        .iter()
        .map(|(name, points)| Curve {
            name: (*name).to_owned(),
            points: points.clone(),
            dashed: false,
        })
        .collect();
    curves.push(level("published: waiting", 1.0));
    curves.push(level("published: both", PUBLISHED_MIXED));
    svg("Ruby's share of Go's throughput", "1 is equal", &curves)
}

fn picture(kind: &Value) -> String {
    let here = curves(kind)
        .into_iter()
        .filter(|curve| curve["cores"].is_null());
    let drawn: Vec<Curve> = here
        .map(|curve| Curve {
            name: curve["name"].as_str().unwrap_or_default().to_owned(),
            points: points(curve),
            dashed: curve["predicted"] == true,
        })
        .collect();
    let title = kind["about"].as_str().unwrap_or_default();
    svg(&format!("A handler that {title}"), "requests/s", &drawn)
}

fn section(kind: &Value, name: &str) -> String {
    let text = |key: &str| kind[key].as_str().unwrap_or_default();
    let term = |key: &str| kind["balance_ms"][key].as_f64().unwrap_or(0.0);
    let waits = term("sleep") + term("sql") + term("other_io");
    let mut page = format!(
        "\n## `{name}`: {}\n\n![requests a second]({}/{name}.svg)\n\n",
        text("about"),
        "three-servers"
    );
    page += &format!(
        "As it is shipped, under its own load: {:.2} ms of CPU and {waits:.2} ms of waiting a request, and beside them {:.2} ms \
         of waiting for the GVL, which a view from outside would take for waiting. Threads advised: {}.\n\n",
        term("cpu"),
        term("gvl_wait"),
        recommended(kind),
    );
    page += &table(&curves(kind));
    page + &format!(
        "\n{}, {} s each; {}.\n",
        text("date"),
        kind["seconds"],
        text("machine")
    )
}

fn table(curves: &[&Value]) -> String {
    let names: Vec<&str> = curves
        .iter()
        .map(|curve| curve["name"].as_str().unwrap_or_default())
        .collect();
    let mut page = format!(
        "Requests a second:\n\n| connections | {} |\n|---{}|\n",
        names.join(" | "),
        "|---:".repeat(names.len())
    );
    let steps = curves
        .first()
        .map(|curve| points(curve))
        .unwrap_or_default();
    for (index, (connections, _)) in steps.iter().enumerate() {
        let cell = |curve: &&Value| match points(curve).get(index) {
            Some((_, rps)) => format!("{rps:.0}"),
            None => "–".to_owned(),
        };
        let cells: Vec<String> = curves.iter().map(cell).collect();
        page += &format!("| {connections} | {} |\n", cells.join(" | "));
    }
    page
}
