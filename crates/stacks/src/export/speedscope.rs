//! JSON for speedscope.app: one sampled profile a thread.

use serde_json::{Value, json};

use crate::profile::{Profile, ThreadId};

/// The document.
pub fn write(profile: &Profile) -> String {
    let frames: Vec<Value> = profile
        .frames()
        .iter()
        .map(|frame| {
            let mut value = json!({ "name": frame.name });
            if !frame.file.is_empty() {
                value["file"] = json!(frame.file);
            }
            if frame.line > 0 {
                value["line"] = json!(frame.line);
            }
            value
        })
        .collect();
    let profiles: Vec<Value> = (0..profile.threads().len())
        .map(|index| thread(profile, ThreadId(index as u32)))
        .collect();
    let document = json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": profile.command,
        "exporter": concat!("hakaru ", env!("CARGO_PKG_VERSION")),
        "activeProfileIndex": busiest(profile),
        "shared": { "frames": frames },
        "profiles": profiles,
    });
    document.to_string()
}

fn thread(profile: &Profile, id: ThreadId) -> Value {
    let thread = profile.thread(id);
    let unit = match profile.unit {
        crate::Unit::Nanos => "nanoseconds",
        _ => "none",
    };
    let (mut samples, mut weights, mut total) = (Vec::new(), Vec::new(), 0);
    for sample in profile.samples.iter().filter(|sample| sample.thread == id) {
        let stack: Vec<u32> = profile
            .stack(sample.stack)
            .iter()
            .rev()
            .map(|location| location.frame.0)
            .collect();
        samples.push(stack);
        weights.push(sample.weight);
        total += sample.weight;
    }
    json!({
        "type": "sampled",
        "name": format!("process {} thread {}", thread.pid, thread.tid),
        "unit": unit,
        "startValue": 0,
        "endValue": total,
        "samples": samples,
        "weights": weights,
    })
}

fn busiest(profile: &Profile) -> usize {
    let mut weights = vec![0u64; profile.threads().len()];
    for sample in &profile.samples {
        weights[sample.thread.0 as usize] += sample.weight;
    }
    (0..weights.len())
        .max_by_key(|index| (weights[*index], std::cmp::Reverse(*index)))
        .unwrap_or(0)
}
