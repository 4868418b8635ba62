//! The page as one self-contained HTML file.

use words::{Language, Text, phrase, text};

use super::{Shown, measured, subjects};
use crate::check::{Level, Verdict};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;\
color:#1b1f24;background:#fff}h1{font-size:1.4rem}h2{font-size:1.1rem;margin:2rem 0 .5rem}\
article{border-left:4px solid #8a939d;padding:.1rem 0 .1rem 1rem;margin:1rem 0}article.high{border-color:#b3261e}\
article.medium{border-color:#b26a00}article,div,li{overflow-wrap:anywhere}\
code{background:#f0f2f4;padding:.1rem .3rem;border-radius:3px}\
dl{display:grid;grid-template-columns:7rem 1fr;gap:.2rem .8rem;margin:.4rem 0}\
dt{color:#57606a}dd{margin:0}table{border-collapse:collapse}td{padding:.15rem 1.5rem .15rem 0}small{color:#57606a}\
@media(max-width:30rem){dl{grid-template-columns:5rem 1fr}td{padding-right:.8rem}}\
@media(prefers-color-scheme:dark){body{color:#e6e8ea;background:#16181b}code{background:#25292e}dt,small{color:#9aa4ae}}";

/// The page.
pub fn html(shown: &Shown<'_>, language: Language) -> String {
    let say = |text: Text| escaped(&text.written_in(language));
    let tag = match language {
        Language::English => "en",
        Language::Japanese => "ja",
    };
    let mut page = format!(
        "<!doctype html>\n<html lang=\"{tag}\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>hakaru doctor</title>\
         <style>{STYLE}</style></head><body><main>\n<h1>hakaru doctor</h1>\n"
    );
    for line in subjects(shown.snapshot) {
        page.push_str(&format!("<div>{}</div>\n", escaped(&line)));
    }
    let seconds = format!("{:.1}", shown.seconds);
    let count = shown.verdicts.len();
    page.push_str(&format!(
        "<p>{}</p>\n",
        say(text!(
            "{count} found by {checks} checks in {seconds} s",
            count,
            checks = shown.checks,
            seconds
        ))
    ));
    for verdict in shown.verdicts {
        page.push_str(&article(verdict, language));
    }
    let rows = measured(shown.snapshot);
    if !rows.is_empty() {
        page.push_str(&format!(
            "<h2>{}</h2>\n<table>\n",
            say(text!("measured here"))
        ));
        for (name, value) in rows {
            page.push_str(&format!(
                "<tr><td>{}</td><td>{}</td></tr>\n",
                say(name),
                escaped(&value)
            ));
        }
        page.push_str("</table>\n");
    }
    if !shown.snapshot.unseen.is_empty() {
        page.push_str(&format!("<h2>{}</h2>\n<ul>\n", say(text!("not seen"))));
        for unseen in &shown.snapshot.unseen {
            page.push_str(&format!(
                "<li>{}: {}</li>\n",
                say(Text::named(&unseen.what)),
                say(Text::named(&unseen.why))
            ));
        }
        page.push_str("</ul>\n");
    }
    page.push_str("</main></body></html>\n");
    page
}

fn article(verdict: &Verdict, language: Language) -> String {
    let (check, found) = (verdict.check, &verdict.found);
    let say = |text: &Text| escaped(&text.written_in(language));
    let class = match found.level {
        Level::Low => "low",
        Level::Medium => "medium",
        Level::High => "high",
    };
    let title = escaped(&check.title.written_in(language));
    let level = escaped(&found.level.word().written_in(language));
    let on = found
        .on
        .as_ref()
        .map_or(String::new(), |on| format!("{}: ", escaped(on)));
    let mut text = format!("<article class=\"{class}\"><h2>{level} · {on}{title}</h2>\n");
    for evidence in &found.evidence {
        text.push_str(&format!("<div>{}</div>\n", say(evidence)));
    }
    let cost = format!(
        "{} ({})",
        found.cost.text().written_in(language),
        found.sure.word().written_in(language)
    );
    let mut rows = vec![
        (phrase!("why"), escaped(&check.why.written_in(language))),
        (phrase!("cost"), escaped(&cost)),
    ];
    rows.extend(
        found
            .change
            .iter()
            .map(|change| (phrase!("do"), code(&say(change)))),
    );
    rows.extend(
        found
            .undo
            .iter()
            .map(|undo| (phrase!("take back"), code(&say(undo)))),
    );
    let remarks = [found.needs.remark(), found.safety.remark()]
        .into_iter()
        .flatten();
    rows.extend(remarks.map(|remark| (phrase!("note"), escaped(&remark.written_in(language)))));
    text.push_str("<dl>");
    for (name, value) in rows {
        text.push_str(&format!(
            "<dt>{}</dt><dd>{value}</dd>",
            escaped(&name.written_in(language))
        ));
    }
    text.push_str(&format!(
        "</dl><small>{} · {}</small></article>\n",
        check.id,
        escaped(check.source)
    ));
    text
}

fn code(escaped: &str) -> String {
    format!("<code>{escaped}</code>")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
