//! `hakaru flows from`: flows, weights and a load, written from a record of traffic.

use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use ::logs::Unread;
use ::logs::access::Request;
use flows::{Taken, Wish};
use words::text;

use super::logs;
use crate::cli::{FlowsAction, FlowsArgs, FlowsFromArgs};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::runs;

/// The configuration whose app the flows are for.
const CONFIG: &str = "hakaru.toml";
/// Omitted things listed one by one.
const LISTED_MAX: usize = 20;
/// Bytes read to recognise the kind of a recording.
const HEAD_BYTES: usize = 4_096;

/// Runs the action.
///
/// # Errors
/// [`Exit::Failed`] when a file cannot be read or written, [`Exit::Usage`] when a record is of no
/// known kind or its files are there already.
pub(crate) fn flows(args: &FlowsArgs) -> Result<Exit, Failure> {
    let FlowsAction::From(args) = &args.action;
    let wish = wish(args)?;
    let name = name(args)?;
    let folder = PathBuf::from("flows").join(&name);
    let existing = read_config()?;
    let config = match existing {
        Some(_) => PathBuf::from(format!("hakaru-{name}.toml")),
        None => PathBuf::from(CONFIG),
    };
    for path in [&folder, &config] {
        if path.exists() {
            let path = path.display();
            let why = "is there already, and what people wrote is not replaced; --name NAME writes beside it";
            return Err(Failure::usage(format!("{path} {why}")));
        }
    }
    let source = match (&args.run, args.files.first()) {
        (None, Some(file)) => file.display().to_string(),
        (run, _) => format!("run {}", run.as_deref().unwrap_or("last")),
    };
    let mut taken = match &args.run {
        Some(run) => {
            let stored = runs::stored(run)?;
            flows::of_run(&stored.recording, stored.entry.number, wish).map_err(Failure::usage)?
        }
        None => taken(args, wish)?,
    };
    if taken.flows.is_empty() {
        let why = "holds no request that a flow could make";
        return Err(Failure::usage(format!("{source} {why}")));
    }
    write_flows(&folder, &mut taken)?;
    let text = flows::config(
        &taken,
        &source,
        &folder.display().to_string(),
        existing.as_deref(),
        &args.url,
    );
    if existing.is_some() {
        own_as_config(&config).map_err(|error| unwritable(&config, &error))?;
    }
    write(&config, &text)?;
    report(&taken, &folder, &config);
    Ok(Exit::Ok)
}

/// Returns what to make of a log. Only logs and runs have the times of many users.
fn wish(args: &FlowsFromArgs) -> Result<Wish, Failure> {
    let speed = args.speed.unwrap_or(1.0);
    if !(speed > 0.0 && speed.is_finite()) {
        let why = "is not how many times as fast; write 2 or 0.5";
        return Err(Failure::usage(format!("--speed {speed} {why}")));
    }
    Ok(Wish::new(args.writes, args.replay.then_some(speed)))
}

fn name(args: &FlowsFromArgs) -> Result<String, Failure> {
    let stem = || {
        let name = args.files.first()?.file_name()?.to_str()?;
        let stem = name.split('.').find(|part| !part.is_empty())?;
        Some(stem.to_owned())
    };
    let of_run = args.run.as_ref().map(|run| format!("run-{run}"));
    let wanted = args.name.clone().or(of_run).or_else(stem);
    let wanted = wanted.unwrap_or_else(|| "record".to_owned());
    let name = flows::name_of(&wanted);
    match name.is_empty() {
        true if wanted == "-" => Ok("record".to_owned()),
        true => Err(Failure::usage(format!(
            "--name {wanted}: a name needs a letter or a digit"
        ))),
        false => Ok(name),
    }
}

fn read_config() -> Result<Option<String>, Failure> {
    match std::fs::read_to_string(CONFIG) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::new(
            Exit::Failed,
            format!("{CONFIG} cannot be read: {error}"),
        )),
    }
}

/// Reads the record, whose kind the first bytes of the first file show.
fn taken(args: &FlowsFromArgs, wish: Wish) -> Result<Taken, Failure> {
    let path = &args.files[0];
    let (head, mut rest) = open(path)?;
    let Some(read) = flows::kind_of(&String::from_utf8_lossy(&head)) else {
        return of_logs(args, wish, io::Cursor::new(head).chain(rest));
    };
    if args.replay {
        let why = "--replay is for access logs and runs: this one has no times of many users";
        return Err(Failure::usage(format!("{}: {why}", path.display())));
    }
    if args.files.len() > 1 {
        let why = "only access logs may be several; name one file";
        return Err(Failure::usage(format!("{}: {why}", path.display())));
    }
    let mut bytes = head;
    rest.read_to_end(&mut bytes)
        .map_err(|error| unreadable(path, &error))?;
    let text = String::from_utf8_lossy(&bytes);
    read(&text, args.writes).map_err(|why| Failure::usage(format!("{}: {why}", path.display())))
}

/// Opens a file, packed by gzip or not: returns the first bytes, and a reader of the rest.
fn open(path: &Path) -> Result<(Vec<u8>, Box<dyn io::BufRead>), Failure> {
    let mut head = Vec::new();
    let opened = logs::open(path).and_then(|source| {
        let mut source = ::logs::unpacked(source)?;
        (&mut source)
            .take(HEAD_BYTES as u64)
            .read_to_end(&mut head)?;
        Ok(source)
    });
    match opened {
        Ok(_) if head.is_empty() => Err(Failure::usage(format!("{} is empty", path.display()))),
        Ok(source) => Ok((head, source)),
        Err(error) => Err(unreadable(path, &error)),
    }
}

/// Reads access logs, of which the first is open already: standard input can be read but once.
fn of_logs(args: &FlowsFromArgs, wish: Wish, first: impl Read) -> Result<Taken, Failure> {
    let format = logs::format(args.format.as_deref(), "--format")?;
    let mut requests: Vec<Request> = Vec::new();
    let mut add = |path: &Path, source: &mut dyn Read| {
        let with = |request| requests.push(request);
        let unread = ::logs::requests(source, format.as_ref(), with)
            .map_err(|error| unreadable(path, &error))?;
        warn(path, &unread);
        Ok::<(), Failure>(())
    };
    let mut first = first;
    add(&args.files[0], &mut first)?;
    for path in &args.files[1..] {
        let mut source = logs::open(path).map_err(|error| unreadable(path, &error))?;
        add(path, &mut source)?;
    }
    flows::of_log(&requests, wish)
        .map_err(|why| Failure::usage(format!("{}: {why}", args.files[0].display())))
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let name = path.display();
    match error.kind() {
        ErrorKind::InvalidData => Failure::usage(format!(
            "{name}: {error}, no .har file, no line copied as cURL and no OpenAPI; name an access log's format with --format \
             (`hakaru help flows`)"
        )),
        _ => Failure::new(Exit::Failed, format!("{name} cannot be read: {error}")),
    }
}

/// Warns about lines left out of all flows.
fn warn(path: &Path, unread: &Unread) {
    if let Some((number, line)) = &unread.first {
        output::notice(text!(
            "hakaru: {file}: {lines} could not be read and are in no flow; the first, line {number}: {line}",
            file = path.display().to_string(),
            lines = figures::counted!(unread.lines, "line"),
            number = number.to_string(),
            line = figures::line::one_line(line)
        ));
    }
}

/// Writes flows, feeds and due times. Feeds may hold secrets, so git ignores them.
fn write_flows(folder: &Path, taken: &mut Taken) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    let mut ignored = "*.csv\n".to_owned();
    if let Some((name, text)) = taken.name_turns(&folder.display().to_string()) {
        write(&folder.join(name), text)?;
        ignored += &format!("!{name}\n");
    }
    if taken.flows.iter().any(|flow| flow.has_secrets) {
        write(&folder.join(".gitignore"), &ignored)?;
    }
    for flow in &taken.flows {
        write(&folder.join(format!("{}.hurl", flow.name)), &flow.text)?;
        if let Some(feed) = &flow.feed {
            let path = folder.join(format!("{}.csv", flow.name));
            if flow.has_secrets {
                own(&path).map_err(|error| unwritable(&path, &error))?;
            }
            write(&path, feed)?;
        }
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| unwritable(path, &error))
}

/// Makes an empty file readable by the owner only.
fn own(path: &Path) -> io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options
        .write(true)
        .create(true)
        .mode(0o600)
        .open(path)
        .map(|_| ())
}

/// Makes an empty file with the permissions of the configuration, for a copy of the secrets there.
fn own_as_config(path: &Path) -> io::Result<()> {
    own(path)?;
    std::fs::set_permissions(path, std::fs::metadata(CONFIG)?.permissions())
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    let name = path.display();
    Failure::new(Exit::Failed, format!("{name} cannot be written: {error}"))
}

fn report(taken: &Taken, folder: &Path, config: &Path) {
    let on = taken.flows.iter().filter(|flow| flow.is_on).count();
    let off = taken.flows.len() - on;
    output::notice(text!(
        "{flows} written into {folder}, the load into {config}",
        flows = figures::counted!(on as u64, "flow"),
        folder = folder.display().to_string(),
        config = config.display().to_string()
    ));
    if off > 0 {
        output::notice(text!(
            "{flows} that change data are written and off; --writes runs them",
            flows = figures::counted!(off as u64, "flow")
        ));
    }
    for left in taken.left_out.iter().take(LISTED_MAX) {
        let (place, why) = (left.place.clone(), left.why.clone());
        output::notice(text!("left out: {place}: {why}", place, why));
    }
    if taken.left_out.len() > LISTED_MAX {
        let more = (taken.left_out.len() - LISTED_MAX).to_string();
        output::notice(text!("left out: {more} more of these", more));
    }
    output::notice(text!(
        "next: read them, then `hakaru run --config {config}`",
        config = config.display().to_string()
    ));
}
