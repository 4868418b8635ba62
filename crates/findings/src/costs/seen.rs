//! What the stacks of samples say of the app's lines.

use std::collections::{HashMap, HashSet};

use stacks::{Frame, FrameId, Location, Profile, StackId};

/// Frames of the app that a source line holds at most, as the agent records them.
const FRAMES_MAX: usize = 4;
/// Part of the names of ActiveRecord's methods that make objects of rows.
const MAKES_ROWS: &str = "instantiate";
/// Methods that turn objects into JSON, by the ends of their names: the app's own, ActiveSupport's and the json gem's.
const MAKES_JSON: [&str; 4] = ["as_json", "to_json", "serializable_hash", "JSON.generate"];
/// The method by which a template renders another one, in ActionView, Sinatra and Tilt.
const RENDERS: &str = "render";
/// Part of the names by which ActionView renders a collection at once.
const COLLECTION: &str = "collection";
/// Methods that start another program, by the ends of their names. The thread keeps the GVL until the program runs.
const SPAWNS: [&str; 8] = [
    "`", "system", "spawn", "fork", "popen", "popen2", "popen2e", "popen3",
];

/// All stacks of the samples.
pub(super) struct Stacks<'a> {
    seen: HashMap<StackId, Seen<'a>>,
    /// The outermost frames of stacks that have a line of the app: where the server's threads begin.
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
        stacks
    }

    pub(super) fn seen(&self, stack: StackId) -> &Seen<'a> {
        &self.seen[&stack]
    }

    /// A Fiber's stack, such as an Enumerator's, ends where the Fiber begins, and who resumed it is on another one. `caller` is
    /// where the request was last seen in the app, and most likely resumed it. `None` for a stack of the thread itself.
    pub(super) fn resumed(&self, stack: StackId, caller: StackId) -> Option<Seen<'a>> {
        let own = self.seen(stack);
        let of_fiber =
            own.chain.is_empty() && !own.outermost.is_some_and(|at| self.roots.contains(&at));
        of_fiber.then(|| Seen {
            leaf: own.leaf,
            makes_rows: own.makes_rows,
            renders: false,
            ..self.seen(caller).clone()
        })
    }
}

/// What matters of a stack.
#[derive(Clone)]
pub(super) struct Seen<'a> {
    /// The app's lines, innermost first.
    pub(super) chain: Vec<String>,
    /// The app's innermost method.
    pub(super) method: &'a Frame,
    pub(super) leaf: &'a Frame,
    pub(super) outermost: Option<FrameId>,
    pub(super) makes_rows: bool,
    /// The app's innermost line renders a template, and this is not in one.
    pub(super) renders: bool,
    /// The line of the app that asks for JSON, where this makes some.
    pub(super) json: Option<String>,
    /// The app's innermost line issues statements.
    pub(super) issues: bool,
}

impl<'a> Seen<'a> {
    fn of(profile: &'a Profile, stack: StackId, root: &str, issuing: &HashSet<&str>) -> Seen<'a> {
        let locations = profile.stack(stack);
        let mut seen = Seen {
            chain: Vec::new(),
            method: profile.frame(locations[0].frame),
            leaf: profile.frame(locations[0].frame),
            outermost: locations.last().map(|location| location.frame),
            makes_rows: false,
            renders: false,
            json: asks_for_json(profile, locations, root),
            issues: false,
        };
        let mut collection = false;
        for location in locations {
            let (frame, line) = (profile.frame(location.frame), location.line);
            let Some(file) = own(root, &frame.file) else {
                // Below the app's innermost line.
                if seen.chain.is_empty() {
                    seen.makes_rows |= frame.name.contains(MAKES_ROWS);
                    collection |= frame.name.to_ascii_lowercase().contains(COLLECTION);
                    seen.renders = method(&frame.name) == RENDERS && !collection;
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
}

/// The line of the app that calls the outermost method that makes JSON.
fn asks_for_json(profile: &Profile, locations: &[Location], root: &str) -> Option<String> {
    let makes = |location: &Location| {
        let name = &profile.frame(location.frame).name;
        MAKES_JSON.iter().any(|method| name.ends_with(method))
    };
    let outermost = locations.iter().rposition(makes)?;
    locations[outermost + 1..].iter().find_map(|location| {
        let file = own(root, &profile.frame(location.frame).file)?;
        Some(format!("{file}:{}", location.line))
    })
}

/// Whether a method starts another program.
pub(super) fn spawns(name: &str) -> bool {
    SPAWNS.contains(&method(name))
}

/// The last part of a name such as `Process.spawn`.
pub(super) fn method(name: &str) -> &str {
    name.rsplit(['#', '.']).next().unwrap_or(name)
}

/// Whether a source line or its file is a template's: none of Ruby.
pub(crate) fn is_template(line: &str) -> bool {
    let file = match line.rsplit_once(':') {
        Some((file, number)) if number.parse::<u32>().is_ok() => file,
        _ => line,
    };
    !file.ends_with(".rb") && !file.ends_with(".ru")
}

/// The path of a file of the app, from its root; `None` for libraries.
pub(super) fn own<'a>(root: &str, file: &'a str) -> Option<&'a str> {
    let rest = file.strip_prefix(root)?.strip_prefix('/')?;
    let is_library = rest.starts_with("vendor/") || rest.contains("/gems/");
    (!is_library).then_some(rest)
}
