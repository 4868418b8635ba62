//! `hakaru report`, and how every run is shown: breakdown, findings, the page, the exit code.

use std::path::Path;

use recording::Recording;
use store::RunRef;

use crate::cli::ReportArgs;
use crate::commands::collect::during::Seen;
use crate::exit::{Exit, Failure};
use crate::output::html::{check_html, is_stdout, write_html};
use crate::output::{self, look};
use console::language;

/// `hakaru report`: shows a stored run.
pub(crate) fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    check_html(args.html.as_deref(), args.form.json)?;
    let wanted: RunRef = args
        .run
        .parse()
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    let store = crate::runs::open()?;
    let stored = store
        .load(wanted)
        .map_err(|error| Failure::new(Exit::Failed, error))?;
    let hosts = Seen::of_run(&store, stored.entry.number).part(&stored.recording);
    let form = match (&args.html, args.form.json) {
        (Some(_), false) => None,
        (_, true) => Some(Form::Json),
        (None, false) => Some(Form::of(args.full)),
    };
    let outputs = Outputs {
        print: form,
        html: args.html.as_deref(),
        hosts: hosts.as_ref(),
    };
    show(&stored.recording, Some(stored.entry.number), outputs)?;
    Ok(Exit::Ok)
}

/// Format of a printed run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The page for people: what is read first.
    Page,
    /// All of the page for people.
    Full,
    /// The JSON for programs.
    Json,
}

impl Form {
    /// The page for people.
    pub(crate) fn of(full: bool) -> Form {
        if full { Form::Full } else { Form::Page }
    }
}

/// Outputs of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outputs<'a> {
    /// On standard output.
    pub(crate) print: Option<Form>,
    /// Into a file as HTML.
    pub(crate) html: Option<&'a Path>,
    /// What the hosts of the run say, behind the page or within the JSON.
    pub(crate) hosts: Option<&'a HostsPart>,
}

/// What several hosts saw of a run.
#[derive(Debug)]
pub(crate) struct HostsPart {
    /// For the page.
    pub(crate) page: String,
    /// For the JSON.
    pub(crate) json: serde_json::Value,
    /// For the HTML page: the JSON with sentences in the chosen language.
    pub(crate) html: serde_json::Value,
}

/// Explains a run and writes the result to the requested places. The page is printed even when the
/// file cannot be written.
pub(crate) fn show(
    recording: &Recording,
    number: Option<i64>,
    outputs: Outputs<'_>,
) -> Result<(), Failure> {
    let breakdown = breakdown::of(recording);
    let profile = number.and_then(profile_commands::kept_of_run);
    let findings = findings::all(findings::Facts {
        recording,
        breakdown: &breakdown,
        profile: profile.as_ref(),
    });
    let revision = number.and_then(crate::runs::revision_of);
    let view = report::View {
        revision: revision
            .as_ref()
            .map(|(commit, dirty)| report::Revision { commit, dirty }),
        recording,
        breakdown: &breakdown,
        findings: &findings,
        number,
    };
    let print = outputs
        .print
        .filter(|_| !outputs.html.is_some_and(is_stdout));
    match print {
        Some(Form::Json) => {
            let hosts = outputs.hosts.map(|hosts| hosts.json.clone());
            output::data(&report::json::run(&view, hosts));
        }
        Some(form @ (Form::Page | Form::Full)) => {
            let style = report::terminal::Style {
                columns: look::page_columns(),
                colour: output::colour(),
                ascii: look::is_ascii(),
                language: language::chosen(),
                full: form == Form::Full,
                rows: look::page_rows(),
            };
            output::data(&report::terminal::run(&view, style));
            if let Some(hosts) = outputs.hosts {
                output::page(&format!("\n{}", hosts.page));
            }
        }
        None => {}
    }
    match outputs.html {
        Some(path) => {
            let profile = profile.map(|profile| report::profile::of_run(recording, &profile));
            let beside = report::html::Beside {
                profile,
                hosts: outputs.hosts.map(|hosts| hosts.html.clone()),
                hosts_text: outputs
                    .hosts
                    .map(|hosts| hosts.page.clone())
                    .unwrap_or_default(),
            };
            Ok(write_html(
                path,
                &report::html::run(&view, beside, language::chosen()),
            )?)
        }
        None => Ok(()),
    }
}
