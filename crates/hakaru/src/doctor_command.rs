//! `hakaru doctor`: flags and output. Checks and pages are the doctor crate's, facts the probe crate's.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use doctor::page::Shown;
use doctor::{Area, checks, compare, diagnose, page, v1};
use probe::collect::{self, Wanted};
use probe::measure;
use words::text;

use crate::exit::{Exit, Failure};
use crate::{config, language, talk};

/// Whether the machine is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Measure {
    /// Yes, in up to 10 s
    #[default]
    Yes,
    /// No: facts only, in less than 1 s
    No,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hakaru doctor                                   this machine, its Ruby, the app in this folder, its database
  hakaru doctor --only database --database mysql2://root@127.0.0.1/app
  hakaru doctor --pid 4242                        how that process is treated
  hakaru doctor --json > laptop.json              elsewhere: hakaru doctor --compare laptop.json
  hakaru doctor --list                            every check with its source

Nothing is changed. Exit codes: 0 whatever was found, 1 a file cannot be read or written, 2 wrong usage.")]
pub(crate) struct DoctorArgs {
    /// Only these areas: cpu, container, memory, limits, network, disk, ruby, app, database; may be repeated
    #[arg(long, value_name = "AREA", value_parser = area)]
    pub(crate) only: Vec<Area>,

    /// Whether to measure the machine, which takes up to 10 s: yes or no
    #[arg(
        long,
        value_enum,
        value_name = "yes|no",
        default_value = "yes",
        hide_possible_values = true
    )]
    pub(crate) measure: Measure,

    /// A running process, in place of what a process started here would get
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) pid: Option<u32>,

    /// The app's folder [default: this one]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,

    /// The address of a database; may be repeated [default: that of hakaru.toml, else of DATABASE_URL]
    #[arg(long = "database", value_name = "URL")]
    pub(crate) databases: Vec<String>,

    /// A database host other than this machine that may be asked; may be repeated
    #[arg(long, value_name = "HOST")]
    pub(crate) host_ok: Vec<String>,

    /// Compare with the facts in a document of `--json`, made on another machine
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "html"])]
    pub(crate) compare: Option<PathBuf>,

    /// Print JSON on standard output, and nothing after it
    #[arg(long)]
    pub(crate) json: bool,

    /// Also write the page as one self-contained HTML file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// List all checks with their sources
    #[arg(long, conflicts_with_all = ["json", "html", "compare", "pid"])]
    pub(crate) list: bool,

    /// The command that would start the app; its Ruby is looked at. It is not run
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

fn area(name: &str) -> Result<Area, String> {
    let names: Vec<&str> = Area::ALL.iter().map(|area| area.name()).collect();
    Area::named(name).ok_or_else(|| format!("not an area; there are {}", names.join(", ")))
}

/// Looks and prints.
pub(crate) fn doctor(args: &DoctorArgs) -> Result<Exit, Failure> {
    if args.list {
        talk::page(&page::list(language::chosen()));
        return Ok(Exit::Ok);
    }
    // What cannot be read must not be found out after ten seconds.
    let other = args.compare.as_deref().map(kept).transpose()?;
    let wanted = wanted(args)?;
    let begin = Instant::now();
    let mut snapshot = collect::collect(&wanted);
    if args.measure == Measure::Yes {
        let mut progress = talk::Progress::new();
        progress.show("measuring this machine, up to 10 s");
        measure::measure(&wanted, &mut snapshot);
        progress.clear();
    }
    let verdicts = diagnose(&snapshot, &args.only);
    let shown = Shown {
        snapshot: &snapshot,
        verdicts: &verdicts,
        checks: checks::all().filter(|check| wanted.has(check.area)).count(),
        seconds: begin.elapsed().as_secs_f64(),
    };
    if let Some(path) = &args.html {
        let text = page::html(&shown, language::chosen());
        std::fs::write(path, text).map_err(|error| failed("write", path, &error))?;
        talk::say(text!(
            "the page is in {path}",
            path = path.display().to_string()
        ));
    }
    if let Some(other) = other {
        let comparison = compare::compare(&snapshot, &other, &args.only);
        talk::page(&page::comparison(&comparison, language::chosen()));
    } else if args.json {
        let document = v1::Document::new(&snapshot, &verdicts, shown.seconds);
        let text = document
            .json()
            .map_err(|error| Failure::new(Exit::Failed, error))?;
        talk::data(&text);
    } else {
        talk::page(&page::terminal(&shown, language::chosen()));
    }
    Ok(Exit::Ok)
}

fn kept(path: &Path) -> Result<doctor::Snapshot, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| failed("read", path, &error))?;
    v1::read(&text)
        .map_err(|error| Failure::new(Exit::Failed, format!("{}: {error}", path.display())))
}

fn failed(verb: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(
        Exit::Failed,
        format!("cannot {verb} {}: {error}", path.display()),
    )
}

fn wanted(args: &DoctorArgs) -> Result<Wanted, Failure> {
    let folder = args.folder.clone().unwrap_or_else(|| PathBuf::from("."));
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
