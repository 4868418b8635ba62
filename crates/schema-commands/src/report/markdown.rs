//! A report as Markdown, for comments of pull requests and summaries of jobs.

use super::Report;

pub(super) fn text(report: &Report) -> String {
    let mut text = format!("## {}\n\n`{}`", report.title, report.place);
    text.extend(
        report
            .wanted
            .as_ref()
            .map(|wanted| format!(" against `{wanted}`")),
    );
    text.push_str("\n\n");
    if report.findings.is_empty() {
        text.push_str("Nothing found.\n");
    } else {
        text.push_str("| level | rule | object | what |\n|---|---|---|---|\n");
    }
    for finding in &report.findings {
        let spot = finding.place.as_ref();
        let spot = spot.map_or(String::new(), |spot| {
            format!(" ({}:{})", cell(&spot.file), spot.line)
        });
        let advice = finding
            .advice
            .as_ref()
            .map_or(String::new(), |advice| format!("; {}", cell(advice)));
        text.push_str(&format!(
            "| {} | {} | {} `{}`{spot} | {}{advice} |\n",
            finding.level,
            finding.rule,
            finding.kind,
            cell(&finding.name),
            cell(&finding.message)
        ));
    }
    let statements: Vec<&str> = report
        .findings
        .iter()
        .filter_map(|finding| finding.sql.as_deref())
        .collect();
    if !statements.is_empty() {
        // A fence longer than any in the text ends where it should.
        let fence = "`".repeat(longest_run(&statements).max(2) + 1);
        text.push_str(&format!(
            "\n{fence}sql\n{};\n{fence}\n",
            statements.join(";\n\n")
        ));
    }
    if !report.unseen.is_empty() {
        text.push_str("\nNot looked at:\n\n");
        text.extend(
            report
                .unseen
                .iter()
                .map(|each| format!("- {}\n", cell(each))),
        );
    }
    text
}

/// Text escaped for one cell.
fn cell(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('|', "\\|")
        .replace('<', "&lt;")
        .replace(['\n', '\r'], " ")
}

fn longest_run(texts: &[&str]) -> usize {
    let runs = texts
        .iter()
        .flat_map(|text| text.split(|letter| letter != '`'));
    runs.map(str::len).max().unwrap_or(0)
}
