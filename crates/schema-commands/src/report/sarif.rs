//! A report as SARIF 2.1.0 (OASIS), which code hosts show beside the lines of a change.

use serde_json::{Value, json};

use super::{Finding, Report, Spot};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

pub(super) fn text(report: &Report) -> String {
    let rules: Vec<Value> = report
        .rules
        .iter()
        .map(|(name, about)| json!({ "id": name, "shortDescription": { "text": about } }))
        .collect();
    let results: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| result(report, finding))
        .collect();
    let driver = json!({
        "name": "hakaru",
        "version": env!("CARGO_PKG_VERSION"),
        "rules": rules,
    });
    let run = json!({ "tool": { "driver": driver }, "results": results });
    let log = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] });
    serde_json::to_string_pretty(&log).unwrap_or_default() + "\n"
}

fn result(report: &Report, finding: &Finding) -> Value {
    let advice = finding
        .advice
        .as_ref()
        .map_or(String::new(), |advice| format!("; {advice}"));
    let sql = finding
        .sql
        .as_ref()
        .map_or(String::new(), |sql| format!("\n{sql};"));
    let mut result = json!({
        "ruleId": finding.rule,
        "level": finding.level,
        "message": { "text": format!("{}{advice}{sql}", finding.message) },
        "partialFingerprints": { "object": format!("{}:{}:{}", finding.rule, finding.kind, finding.name) },
    });
    let logical = json!([{ "fullyQualifiedName": finding.name, "kind": finding.kind }]);
    let file = report
        .wanted
        .as_ref()
        .filter(|wanted| !wanted.contains(':'));
    // Hosts drop results without a line; what is in no file is said of the first line of the wanted
    // one.
    let first = file.map(|file| Spot {
        file: file.clone(),
        line: 1,
    });
    let location = match finding.place.clone().or(first) {
        Some(spot) => json!({
            "physicalLocation": {
                "artifactLocation": { "uri": spot.file },
                "region": { "startLine": spot.line },
            },
            "logicalLocations": logical,
        }),
        None => json!({ "logicalLocations": logical }),
    };
    result["locations"] = json!([location]);
    result
}
