//! Reads the stacks of samples from the point of view of the app's lines.

use std::collections::{HashMap, HashSet};

use stacks::{Frame, FrameId, Location, Profile, StackId};

use super::work::Named;

/// Most frames of the app in a source line, as recorded by the agent.
const FRAMES_MAX: usize = 4;
/// Parts of the names of ActiveRecord's and Sequel's methods for making objects of rows.
const MAKES_ROWS: [&str; 3] = [
    "instantiate",
    "yield_hash_rows",
    "Sequel::Model::ClassMethods#call",
];
/// Parts of the names of ActiveRecord's and Sequel's methods for loading an association of many
/// rows at once.
const LOADS_ALL: [&str; 2] = ["Associations::Preloader", "eager_load"];
/// Ends of the names of methods for turning objects into JSON: the app's own, ActiveSupport's and
/// ActiveModel's.
const MAKES_JSON: [&str; 3] = ["as_json", "to_json", "serializable_hash"];
/// Beginnings of the names of libraries for reading and writing JSON.
const JSON: [&str; 4] = ["JSON.", "JSON::", "ActiveSupport::JSON", "Oj."];
/// Parts of paths of libraries' files for building, issuing and reading statements, and exceptions
/// among the paths.
const QUERIES: [&str; 6] = [
    "/active_record/",
    "/arel/",
    "/sequel/",
    "/sqlite3/",
    "/mysql2/",
    "/trilogy",
];
const QUERIES_NOT: [&str; 3] = [
    "/active_record/attribute",
    "/active_record/serialization",
    "/sequel/plugins/json",
];
/// Beginnings of the names of the drivers' native methods, which have no file.
const DRIVERS: [&str; 4] = ["PG::", "Mysql2::", "SQLite3::", "Trilogy"];
/// The method by which a template renders another one, in ActionView and Tilt.
const RENDERS: &str = "render";
/// Beginning of the names of Sinatra's methods for rendering, one for each engine: `erb`, `haml`.
const RENDERS_BY_ENGINE: &str = "Sinatra::Templates#";
/// Part of the names by which ActionView renders a collection at once.
const COLLECTION: &str = "collection";
/// Ends of the names of methods starting another program. The thread keeps the GVL until the
/// program runs.
const SPAWNS: [&str; 8] = [
    "`", "system", "spawn", "fork", "popen", "popen2", "popen2e", "popen3",
];

/// All stacks of the samples.
pub(super) struct Stacks<'a> {
    seen: HashMap<StackId, Seen<'a>>,
    /// The outermost frames of stacks with a line of the app: where the server's threads begin.
    roots: HashSet<FrameId>,
}

impl<'a> Stacks<'a> {
    pub(super) fn of(profile: &'a Profile, root: &str, issuing: &HashSet<&str>) -> Stacks<'a> {
        let mut stacks = Stacks {
            seen: HashMap::new(),
            roots: HashSet::new(),
        };
        for sample in &profile.samples {
            let seen = stacks
                .seen
                .entry(sample.stack)
                .or_insert_with(|| Seen::of(profile, sample.stack, root, issuing));
            if !seen.chain.is_empty() {
                stacks.roots.extend(seen.outermost);
            }
        }
        stacks.tell_queries_apart();
        stacks
    }

    /// Marks which stacks belong to statements. A line that issues a statement may do more. Where a
    /// known library issues it, the rest is not the statement's.
    fn tell_queries_apart(&mut self) {
        let querying = self.seen.values().filter(|seen| seen.does == Does::Query);
        let lines: HashSet<String> = querying
            .filter_map(|seen| seen.chain.first().cloned())
            .collect();
        for seen in self.seen.values_mut() {
            let is_known = seen.chain.first().is_some_and(|line| lines.contains(line));
            seen.issues &= match seen.does {
                Does::Query => true,
                Does::Json => false,
                Does::Other => !is_known,
            };
        }
    }

    pub(super) fn seen(&self, stack: StackId) -> &Seen<'a> {
        &self.seen[&stack]
    }

    /// Whether a stack is a Fiber's, such as an Enumerator's, without a line of the app: the stack
    /// ends where the Fiber begins.
    pub(super) fn is_of_fiber(&self, stack: StackId) -> bool {
        let seen = self.seen(stack);
        let of_thread = seen.outermost.is_some_and(|at| self.roots.contains(&at));
        seen.chain.is_empty() && !of_thread
    }

    /// Returns the stack as if below the app's lines of another one.
    pub(super) fn on_top_of(&self, stack: StackId, caller: StackId) -> Seen<'a> {
        let own = self.seen(stack);
        Seen {
            leaf: own.leaf,
            called: own.called,
            makes_rows: own.makes_rows,
            renders: false,
            does: own.does,
            named: own.named.or(self.seen(caller).named),
            ..self.seen(caller).clone()
        }
    }
}

/// Purpose of a library called by the app's innermost line.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    /// Builds, issues or reads a statement.
    Query,
    /// Turns objects into JSON, for whichever line of the app.
    Json,
    Other,
}

/// A stack reduced to the parts needed here.
#[derive(Clone)]
pub(super) struct Seen<'a> {
    /// The app's lines, innermost first.
    pub(super) chain: Vec<String>,
    /// The app's innermost method.
    pub(super) method: &'a Frame,
    pub(super) leaf: &'a Frame,
    /// The library's method called by the app's innermost line; the app's own where the line calls
    /// none.
    pub(super) called: &'a Frame,
    pub(super) outermost: Option<FrameId>,
    pub(super) makes_rows: bool,
    /// Whether the app's innermost line renders a template from outside of one.
    pub(super) renders: bool,
    /// The app's line asking for JSON, if the stack makes some.
    pub(super) json: Option<String>,
    /// Whether the stack loads associations of rows on the way to JSON.
    pub(super) loads_json: bool,
    /// Whether the stack belongs to a statement issued by the app's innermost line.
    pub(super) issues: bool,
    /// The innermost named work around the stack's end.
    pub(super) named: Option<Named>,
    does: Does,
}

impl<'a> Seen<'a> {
    fn of(profile: &'a Profile, stack: StackId, root: &str, issuing: &HashSet<&str>) -> Seen<'a> {
        let locations = profile.stack(stack);
        let mut seen = Seen {
            chain: Vec::new(),
            method: profile.frame(locations[0].frame),
            leaf: profile.frame(locations[0].frame),
            called: profile.frame(locations[0].frame),
            outermost: locations.last().map(|location| location.frame),
            makes_rows: false,
            renders: false,
            json: None,
            loads_json: false,
            issues: false,
            named: Named::innermost(profile, locations),
            does: does(profile, locations, root),
        };
        match seen.does {
            Does::Json => seen.json = asks_for_json(profile, locations, root),
            Does::Query => seen.loads_json = loads_json(profile, locations),
            Does::Other => {}
        }
        let mut collection = false;
        for location in locations {
            let (frame, line) = (profile.frame(location.frame), location.line);
            let Some(file) = own(root, &frame.file) else {
                // Below the app's innermost line.
                if seen.chain.is_empty() {
                    seen.called = frame;
                    seen.makes_rows |= MAKES_ROWS.iter().any(|part| frame.name.contains(part));
                    collection |= frame.name.to_ascii_lowercase().contains(COLLECTION);
                    seen.renders = renders(frame) && !collection;
                }
                continue;
            };
            if seen.chain.is_empty() {
                seen.method = frame;
                seen.renders &= is_template(file);
            }
            let line = format!("{file}:{line}");
            if seen.chain.last() != Some(&line) {
                seen.chain.push(line);
            }
            if seen.chain.len() == FRAMES_MAX {
                break;
            }
        }
        let innermost = seen.chain.first();
        seen.issues = innermost.is_some_and(|line| issuing.contains(line.as_str()));
        seen
    }

    /// Whether a library builds, issues or reads a statement.
    pub(super) fn queries(&self) -> bool {
        self.does == Does::Query
    }
}

/// Returns the purpose of the innermost frame with a known one.
fn does(profile: &Profile, locations: &[Location], root: &str) -> Does {
    let mut in_library = true;
    for location in locations {
        let frame = profile.frame(location.frame);
        in_library &= own(root, &frame.file).is_none();
        if makes_json(frame) {
            return Does::Json;
        }
        if in_library && queries(frame) {
            return Does::Query;
        }
    }
    Does::Other
}

/// Whether a method turns objects into JSON.
pub(super) fn makes_json(frame: &Frame) -> bool {
    let name = &frame.name;
    MAKES_JSON.iter().any(|end| name.ends_with(end))
        || JSON.iter().any(|start| name.starts_with(start))
}

fn queries(frame: &Frame) -> bool {
    let is_in = |files: &[&str]| files.iter().any(|part| frame.file.contains(part));
    let is_native = DRIVERS.iter().any(|driver| frame.name.starts_with(driver));
    is_native || is_in(&QUERIES) && !is_in(&QUERIES_NOT)
}

/// Returns the app's line calling the outermost method for making JSON.
fn asks_for_json(profile: &Profile, locations: &[Location], root: &str) -> Option<String> {
    let makes = |location: &Location| makes_json(profile.frame(location.frame));
    let outermost = locations.iter().rposition(makes)?;
    locations[outermost + 1..].iter().find_map(|location| {
        let file = own(root, &profile.frame(location.frame).file)?;
        Some(format!("{file}:{}", location.line))
    })
}

/// Whether associations are loaded all at once below a method for making JSON.
fn loads_json(profile: &Profile, locations: &[Location]) -> bool {
    let frames = || locations.iter().map(|at| profile.frame(at.frame));
    let loads = |frame: &Frame| LOADS_ALL.iter().any(|part| frame.name.contains(part));
    frames()
        .position(loads)
        .is_some_and(|at| frames().skip(at).any(makes_json))
}

/// Whether a method of a library renders a template.
fn renders(frame: &Frame) -> bool {
    method(&frame.name) == RENDERS || frame.name.starts_with(RENDERS_BY_ENGINE)
}

/// Whether a method starts another program.
pub(super) fn spawns(name: &str) -> bool {
    SPAWNS.contains(&method(name))
}

/// The last part of a name such as `Process.spawn`.
pub(super) fn method(name: &str) -> &str {
    name.rsplit(['#', '.']).next().unwrap_or(name)
}

/// Whether a source line or file is a template's, and not Ruby's.
pub(crate) fn is_template(line: &str) -> bool {
    let file = match line.rsplit_once(':') {
        Some((file, number)) if number.parse::<u32>().is_ok() => file,
        _ => line,
    };
    !file.ends_with(".rb") && !file.ends_with(".ru")
}

/// Returns the path of a file of the app, from the app's root; `None` for libraries.
pub(super) fn own<'a>(root: &str, file: &'a str) -> Option<&'a str> {
    let rest = file.strip_prefix(root)?.strip_prefix('/')?;
    let is_library = rest.starts_with("vendor/") || rest.contains("/gems/");
    (!is_library).then_some(rest)
}
