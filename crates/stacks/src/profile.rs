//! Observations of a program: frames, stacks and samples, each text and each stack stored once.

use std::collections::HashMap;

/// A method, as defined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Frame {
    /// Such as `Resolver::Spec#initialize` or `block in <main>`.
    pub name: String,
    /// Source file; empty for methods in C.
    pub file: String,
    /// Line of the definition, 0 when unknown.
    pub line: u32,
}

/// Names a frame of one profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FrameId(pub u32);

/// Names a stack of one profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StackId(pub u32);

/// Identifies a route of one profile's reported requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RouteId(pub u32);

/// Names a thread of one profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(pub u32);

/// Position of execution in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// The method.
    pub frame: FrameId,
    /// The line being executed, 0 when unknown.
    pub line: u32,
}

/// State of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum State {
    /// Running Ruby or C code with the GVL, or allocating in a profile of objects.
    Running = 0,
    /// Ready to run, waiting for the GVL.
    GvlWait = 1,
    /// Collecting garbage.
    Gc = 2,
    /// Inside a database driver.
    Sql = 3,
    /// Inside an outgoing HTTP call.
    Http = 4,
    /// Waiting for a Mutex, a ConditionVariable, a Queue or another thread's end.
    Lock = 5,
    /// Waiting for a connection of a pool.
    Pool = 6,
    /// In `sleep`.
    Sleep = 7,
    /// Off the GVL for anything else.
    Io = 8,
}

impl State {
    /// All states, by number.
    pub const ALL: [State; 9] = [
        State::Running,
        State::GvlWait,
        State::Gc,
        State::Sql,
        State::Http,
        State::Lock,
        State::Pool,
        State::Sleep,
        State::Io,
    ];

    /// The key in JSON and on the page.
    pub fn name(self) -> &'static str {
        const NAMES: [&str; 9] = [
            "running", "gvl_wait", "gc", "sql", "http", "lock", "pool", "sleep", "other_io",
        ];
        NAMES[self as usize]
    }

    /// Returns the state with a number.
    pub fn from_number(number: u8) -> Option<State> {
        State::ALL.get(usize::from(number)).copied()
    }
}

/// Unit of weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    #[default]
    Nanos,
    /// Objects allocated; `Sample::bytes` says how much memory.
    Objects,
    /// Samples of a tool without times.
    Samples,
}

/// A native thread of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadOf {
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
}

/// One observation, or several of the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Stack of the sample.
    pub stack: StackId,
    /// Doing what.
    pub state: State,
    /// Sampled thread.
    pub thread: ThreadId,
    /// Weight of the sample, in the profile's unit.
    pub weight: u64,
    /// Bytes of memory of the sample, in profiles of objects.
    pub bytes: u64,
    /// Number of observations in the sample.
    pub count: u32,
    /// Nanoseconds since the profile's start.
    pub at: u64,
    /// The request in progress, 0 outside of any.
    pub request: u64,
}

/// A request reported by the app.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Id in [`Sample::request`].
    pub id: u64,
    /// Route of the request, such as `GET /cable speak`.
    pub route: RouteId,
    /// Nanoseconds since the profile's start.
    pub at: u64,
    /// Nanoseconds of the request.
    pub length: u64,
}

/// Cost of the profiling to the app.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// CPU time of the sampler over the CPU time of a core for the same length.
    pub cpu_share: f64,
    /// Observations dropped.
    pub dropped: u64,
}

/// A profile. Stacks are lists of locations, the innermost first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Unit of weights.
    pub unit: Unit,
    /// Such as `wall`.
    pub mode: String,
    /// The profiled command.
    pub command: String,
    /// Nanoseconds between two looks, as asked for.
    pub interval: u64,
    /// Nanoseconds from the first to the last observed moment.
    pub duration: u64,
    /// The host's monotonic clock at the start, nanoseconds; 0 when unknown.
    pub begun: u64,
    /// Cost of sampling.
    pub cost: Cost,
    /// Deviations from the request, one sentence each.
    pub notes: Vec<String>,
    /// Facts reported by the runtime, each name ending with the unit: `gc_major_count`,
    /// `code_bytes`.
    pub facts: Vec<(String, f64)>,
    /// The samples in the order received.
    pub samples: Vec<Sample>,
    /// Requests reported by the app, such as messages of WebSockets.
    pub requests: Vec<Request>,
    /// Frames, stacks, threads and routes by id.
    pub names: Names,
}

/// Frames, stacks, threads and routes of a profile; only added to, by the profile's own functions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names {
    frames: Vec<Frame>,
    stacks: Vec<Box<[Location]>>,
    threads: Vec<ThreadOf>,
    frame_ids: HashMap<Frame, FrameId>,
    stack_ids: HashMap<Box<[Location]>, StackId>,
    thread_ids: HashMap<ThreadOf, ThreadId>,
    routes: Vec<String>,
    route_ids: HashMap<String, RouteId>,
}

impl Profile {
    /// Returns the id of a frame, added if new.
    pub fn frame_id(&mut self, frame: Frame) -> FrameId {
        if let Some(id) = self.names.frame_ids.get(&frame) {
            return *id;
        }
        let id = FrameId(self.names.frames.len() as u32);
        self.names.frames.push(frame.clone());
        self.names.frame_ids.insert(frame, id);
        id
    }

    /// Returns the id of a stack, the innermost location first, added if new.
    pub fn stack_id(&mut self, stack: &[Location]) -> StackId {
        if let Some(id) = self.names.stack_ids.get(stack) {
            return *id;
        }
        let id = StackId(self.names.stacks.len() as u32);
        self.names.stacks.push(stack.into());
        self.names.stack_ids.insert(stack.into(), id);
        id
    }

    /// Returns the id of a thread, added if new.
    pub fn thread_id(&mut self, thread: ThreadOf) -> ThreadId {
        if let Some(id) = self.names.thread_ids.get(&thread) {
            return *id;
        }
        let id = ThreadId(self.names.threads.len() as u32);
        self.names.threads.push(thread);
        self.names.thread_ids.insert(thread, id);
        id
    }

    /// Returns the id of a route, added if new.
    pub fn route_id(&mut self, route: &str) -> RouteId {
        if let Some(id) = self.names.route_ids.get(route) {
            return *id;
        }
        let id = RouteId(self.names.routes.len() as u32);
        self.names.routes.push(route.to_owned());
        self.names.route_ids.insert(route.to_owned(), id);
        id
    }

    /// Returns the route identified by `id`.
    pub fn route(&self, id: RouteId) -> &str {
        &self.names.routes[id.0 as usize]
    }

    /// Returns all routes of reported requests, ordered by id.
    pub fn routes(&self) -> &[String] {
        &self.names.routes
    }

    /// Returns the frame identified by `id`.
    pub fn frame(&self, id: FrameId) -> &Frame {
        &self.names.frames[id.0 as usize]
    }

    /// Returns the stack identified by `id`, the innermost location first.
    pub fn stack(&self, id: StackId) -> &[Location] {
        &self.names.stacks[id.0 as usize]
    }

    /// Returns the thread identified by `id`.
    pub fn thread(&self, id: ThreadId) -> ThreadOf {
        self.names.threads[id.0 as usize]
    }

    /// Returns all frames, ordered by id.
    pub fn frames(&self) -> &[Frame] {
        &self.names.frames
    }

    /// Returns all stacks, ordered by id.
    pub fn stacks(&self) -> impl ExactSizeIterator<Item = &[Location]> {
        self.names.stacks.iter().map(AsRef::as_ref)
    }

    /// Returns all threads, ordered by id.
    pub fn threads(&self) -> &[ThreadOf] {
        &self.names.threads
    }

    /// The sum of all weights.
    pub fn total(&self) -> u64 {
        self.samples.iter().map(|sample| sample.weight).sum()
    }

    /// Observations in all samples.
    pub fn observations(&self) -> u64 {
        self.samples
            .iter()
            .map(|sample| u64::from(sample.count))
            .sum()
    }

    /// A profile of the same settings and requests without samples.
    pub fn empty_like(&self) -> Profile {
        let mut empty = Profile {
            unit: self.unit,
            mode: self.mode.clone(),
            command: self.command.clone(),
            interval: self.interval,
            duration: self.duration,
            begun: self.begun,
            cost: self.cost,
            notes: self.notes.clone(),
            facts: self.facts.clone(),
            ..Profile::default()
        };
        empty.take_requests(self, 0);
        empty
    }

    /// Adds the other's requests, which began so much later.
    fn take_requests(&mut self, other: &Profile, later: u64) {
        let routes: Vec<RouteId> = other
            .routes()
            .iter()
            .map(|route| self.route_id(route))
            .collect();
        let moved = other.requests.iter().map(|request| Request {
            route: routes[request.route.0 as usize],
            at: request.at + later,
            ..*request
        });
        self.requests.extend(moved);
    }

    /// Adds the samples of another profile, such as another process's or a repeated run's. The
    /// durations are added: shares of the sum are then shares of both.
    pub fn merge(&mut self, other: &Profile) {
        let frames: Vec<FrameId> = other
            .names
            .frames
            .iter()
            .map(|frame| self.frame_id(frame.clone()))
            .collect();
        let stacks: Vec<StackId> = other
            .names
            .stacks
            .iter()
            .map(|stack| {
                let moved: Vec<Location> = stack
                    .iter()
                    .map(|location| Location {
                        frame: frames[location.frame.0 as usize],
                        line: location.line,
                    })
                    .collect();
                self.stack_id(&moved)
            })
            .collect();
        let threads: Vec<ThreadId> = other
            .names
            .threads
            .iter()
            .map(|thread| self.thread_id(*thread))
            .collect();
        let offset = self.duration;
        self.samples
            .extend(other.samples.iter().map(|sample| Sample {
                stack: stacks[sample.stack.0 as usize],
                thread: threads[sample.thread.0 as usize],
                at: sample.at + offset,
                ..*sample
            }));
        self.take_requests(other, offset);
        let whole = (self.duration + other.duration).max(1) as f64;
        self.cost.cpu_share = (self.cost.cpu_share * self.duration as f64
            + other.cost.cpu_share * other.duration as f64)
            / whole;
        self.cost.dropped += other.cost.dropped;
        self.duration += other.duration;
        for note in &other.notes {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A profile from lines of collapsed stacks, a millisecond a count.
    pub(crate) fn profile(lines: &str) -> Profile {
        let mut profile = Profile {
            interval: 1_000_000,
            ..Profile::default()
        };
        let thread = profile.thread_id(ThreadOf { pid: 1, tid: 1 });
        for line in lines.split('\n').map(str::trim).filter(|l| !l.is_empty()) {
            let (frames, count) = line.rsplit_once(' ').expect("a count");
            let count: u64 = count.parse().expect("a number");
            let mut stack: Vec<Location> = frames
                .split(';')
                .map(|name| Location {
                    frame: profile.frame_id(Frame {
                        name: name.to_owned(),
                        file: format!("/app/{name}.rb"),
                        line: 1,
                    }),
                    line: 2,
                })
                .collect();
            stack.reverse();
            let stack = profile.stack_id(&stack);
            for _ in 0..count {
                profile.samples.push(Sample {
                    stack,
                    state: State::Running,
                    thread,
                    weight: 1_000_000,
                    bytes: 0,
                    count: 1,
                    at: profile.duration,
                    request: 0,
                });
                profile.duration += 1_000_000;
            }
        }
        profile
    }

    #[test]
    fn merging_keeps_every_weight_and_every_text_once() {
        let mut one = profile("a;b 3\na 1");
        let two = profile("a;b 2\na;c 4");
        one.merge(&two);
        assert_eq!(one.total(), 10_000_000);
        assert_eq!(one.duration, 10_000_000);
        assert_eq!(one.frames().len(), 3);
        assert_eq!(one.stacks().len(), 3);
    }
}
