//! `hakaru doctor`: flags and output. Checks and pages are the doctor crate's, facts the probe
//! crate's.

use std::path::{Path, PathBuf};
use std::time::Instant;

use doctor::page::Shown;
use doctor::{checks, compare, diagnose, page, v1};
use probe::collect::{self, Wanted};
use probe::measure;

use crate::cli::{DoctorArgs, Measure};
use crate::context;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::html::{check_html, check_writable, is_stdout, write_html};
use crate::settings::config;
use console::language;

/// Looks and prints.
pub(crate) fn doctor(args: &DoctorArgs) -> Result<Exit, Failure> {
    if args.list {
        output::page(&page::list(language::chosen()));
        return Ok(Exit::Ok);
    }
    // What cannot be read must not be found out after ten seconds.
    let other = args.compare.as_deref().map(kept).transpose()?;
    let html = args.page.html.as_deref();
    check_html(html, args.page.json)?;
    html.map_or(Ok(()), check_writable)?;
    let wanted = wanted(args)?;
    // Measuring leaves files in the folder when it is killed.
    let stop = context::stop_flag()?;
    let begin = Instant::now();
    let mut snapshot = collect::collect(&wanted);
    if args.measure == Measure::Yes {
        let mut progress = output::Progress::new();
        progress.show("measuring this machine, up to 10 s");
        measure::measure(&wanted, &mut snapshot, &stop);
        progress.clear();
    }
    let verdicts = diagnose(&snapshot, &args.only);
    let shown = Shown {
        snapshot: &snapshot,
        verdicts: &verdicts,
        checks: checks::all().filter(|check| wanted.has(check.area)).count(),
        seconds: begin.elapsed().as_secs_f64(),
    };
    if html.is_some_and(is_stdout) {
        // The page has standard output for itself.
    } else if let Some(other) = other {
        let comparison = compare::compare(&snapshot, &other, &args.only);
        output::page(&page::comparison(&comparison, language::chosen()));
    } else if args.page.json {
        let document = v1::Document::new(&snapshot, &verdicts, shown.seconds);
        let text = document
            .json()
            .map_err(|error| Failure::new(Exit::Failed, error))?;
        output::data(&text);
    } else {
        output::page(&page::terminal(&shown, language::chosen()));
    }
    // What was measured is shown also where the page has no room.
    if let Some(path) = html {
        write_html(path, &page::html(&shown, language::chosen()))?;
    }
    Ok(match context::raised(&stop) {
        true => Exit::Interrupted,
        false => Exit::Ok,
    })
}

fn kept(path: &Path) -> Result<doctor::Snapshot, Failure> {
    let shown = path.display();
    let failed = |message: String| Failure::new(Exit::Failed, message);
    let text = std::fs::read_to_string(path)
        .map_err(|error| failed(format!("cannot read {shown}: {error}")))?;
    v1::read(&text).map_err(|error| failed(format!("{shown}: {error}")))
}

fn wanted(args: &DoctorArgs) -> Result<Wanted, Failure> {
    let of_process = || collect::folder_of(args.pid?);
    let folder = args.folder.clone().or_else(of_process);
    let folder = folder.unwrap_or_else(|| PathBuf::from("."));
    let config = config::load(None, &folder)?.config.target;
    let mut databases = args.databases.clone();
    if databases.is_empty() {
        let variable = || std::env::var("DATABASE_URL").ok();
        databases.extend(config.database.or_else(variable));
    }
    let allowed = [args.host_ok.clone(), config.database_host_ok].concat();
    let mut remote = databases
        .iter()
        .flat_map(|url| guard::remote_hosts(url, &allowed));
    if let Some(host) = remote.next() {
        return Err(Failure::new(
            Exit::Usage,
            format!(
                "the database host `{host}` is not this machine; add --host-ok {host} if it is meant"
            ),
        ));
    }
    Ok(Wanted {
        folder,
        pid: args.pid,
        command: args.command.clone(),
        databases,
        areas: args.only.clone(),
    })
}
