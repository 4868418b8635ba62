//! Builds a scenario, ready to run, from a [`Spec`].

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::arrivals::Arrivals;
use crate::ast::{Entry, FlowText, Response};
use crate::base::BaseUrl;
use crate::error::{ParseError, ScenarioError};
use crate::feed::Feed;
use crate::files::Files;
use crate::link::{Link, Way, Ways};
use crate::message::{Draft, Rounds, Spoken};
use crate::names::{GENERATED, check_draft_names, check_names};
use crate::render::{NOT_IN_CHUNKS, TRANSFER_ENCODING, has_header, render};
use crate::spec::{FlowSpec, ScoreSpec, Spec};
use crate::step::{Action, Expected, Step, StepUrl};
use crate::think::ThinkTime;
use crate::value::Value;
use crate::variables::{Variables, is_variable_name};

/// Greatest sum of weights followed exactly; larger ones in proportion.
const CYCLE_MAX: u64 = 10_000;

/// What clients do, ready to run.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) base: BaseUrl,
    pub(crate) flows: Vec<Flow>,
    pub(crate) feeds: Vec<Feed>,
    pub(crate) variables: HashMap<String, Value>,
    /// The order of flows' turns.
    pub(crate) cycle: Vec<u16>,
    /// The flows of a record in order; with a record, flows take turns in the record's order.
    pub(crate) arrivals: Option<Arrivals>,
    pub(crate) score: ScoreSpec,
    pub(crate) feed_rows_min: Option<usize>,
    /// Ways to the server gone by some entry.
    pub(crate) links: Vec<Link>,
}

/// What a step is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepName<'a> {
    /// Flow in the high 16 bits, entry in the low 16.
    pub number: u32,
    /// Method and path without the query, expressions as written.
    pub line: &'a str,
    /// File and line, or the URL.
    pub place: &'a str,
}

/// One flow, ready to run.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub(crate) name: String,
    pub(crate) steps: Vec<Step>,
    pub(crate) feed: Option<usize>,
    pub(crate) think: Option<ThinkTime>,
    pub(crate) cache: bool,
    /// Which steps are run several times before the flow goes on.
    pub(crate) rounds: Option<Rounds>,
}

/// Reads a file for [`Scenario::build`].
type Reader<'a> = dyn FnMut(&Path) -> io::Result<Vec<u8>> + 'a;

impl Scenario {
    /// Reads the files a spec names. The only place here that touches the outside world.
    pub fn read_files(spec: &Spec) -> Result<Scenario, ScenarioError> {
        let mut spec = spec.clone();
        if spec.run_token.is_empty() {
            let now = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default();
            spec.run_token = run_token(now.as_millis() as u64);
        }
        Scenario::build(&spec, &mut |path| std::fs::read(path))
    }

    /// The same with files from `read`.
    pub fn build(spec: &Spec, read: &mut Reader<'_>) -> Result<Scenario, ScenarioError> {
        let base = BaseUrl::parse(&spec.base_url).map_err(ScenarioError::Spec)?;
        let mut scenario = Scenario {
            variables: shared_variables(spec, &base)?,
            base,
            flows: Vec::new(),
            feeds: Vec::new(),
            cycle: cycle(&spec.flows)?,
            arrivals: None,
            score: spec.score.clone(),
            feed_rows_min: None,
            links: Vec::new(),
        };
        let mut links = Vec::new();
        let mut feeds = Vec::new();
        for flow in &spec.flows {
            let feed = match &flow.feed {
                Some(path) => Some(scenario.feed(path, spec, &mut feeds, read)?),
                None => None,
            };
            let flow = scenario.flow(flow, feed, &mut links, read)?;
            scenario.flows.push(flow);
        }
        scenario.links = links;
        scenario.feed_rows_min = scenario.feeds.iter().map(|feed| feed.rows.len()).min();
        scenario.check_score()?;
        if let Some(path) = &spec.arrivals {
            scenario.arrivals = Some(scenario.read_arrivals(path, spec, read)?);
        } else if let Some(path) = &spec.order {
            let order = Arrivals::parse_order(&read_text(path, read)?, &spec.flows);
            let why = |why| ScenarioError::Spec(format!("{}:{why}", path.display()));
            scenario.arrivals = Some(order.map_err(why)?);
        }
        Ok(scenario)
    }

    /// Returns the URL of the target.
    pub fn base_url(&self) -> &BaseUrl {
        &self.base
    }

    /// Ways to the server gone by some entry, by [`crate::Session::link`].
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Names of the flows, by the flow number of a step.
    pub fn flow_names(&self) -> Vec<String> {
        self.flows.iter().map(|flow| flow.name.clone()).collect()
    }

    /// All steps, flow by flow.
    pub fn steps(&self) -> impl Iterator<Item = StepName<'_>> {
        let flows = self.flows.iter().enumerate();
        flows.flat_map(|(flow, found)| {
            let steps = found.steps.iter().enumerate();
            steps.map(move |(entry, step)| StepName {
                number: (flow as u32) << 16 | entry as u32,
                line: &step.written_line,
                place: &step.place,
            })
        })
    }

    /// How points are given, when there is a rule.
    pub fn score(&self) -> Option<&ScoreSpec> {
        let any = !self.score.rules.is_empty() || !self.score.captures.is_empty();
        any.then_some(&self.score)
    }

    /// Rows of the shortest feed. More users than that cannot each have a row of their own.
    pub fn feed_rows_min(&self) -> Option<usize> {
        self.feed_rows_min
    }

    fn read_arrivals(
        &self,
        path: &Path,
        spec: &Spec,
        read: &mut Reader<'_>,
    ) -> Result<Arrivals, ScenarioError> {
        let text = read_text(path, read)?;
        let why = |why| ScenarioError::Spec(format!("{}:{why}", path.display()));
        let arrivals = Arrivals::parse(&text, &spec.flows).map_err(why)?;
        let is_single = |flow: &Flow| flow.steps.len() == 1 && flow.rounds.is_none();
        match self.flows.iter().find(|flow| !is_single(flow)) {
            None => Ok(arrivals),
            Some(flow) => Err(ScenarioError::Spec(format!(
                "{} has several requests, and {} says when each single one is due; split the flow, or leave `arrivals` out",
                flow.name,
                path.display()
            ))),
        }
    }

    /// Returns when each request is due, in nanoseconds from the start, where the order of the
    /// flows is a record's with due times; empty otherwise.
    pub fn due_ns(&self) -> &[u64] {
        self.arrivals
            .as_ref()
            .map_or(&[], |arrivals| &arrivals.due_ns)
    }

    /// Returns the feed at `path`, read once for all flows, so two flows never share a row.
    fn feed(
        &mut self,
        path: &Path,
        spec: &Spec,
        known: &mut Vec<PathBuf>,
        read: &mut Reader<'_>,
    ) -> Result<usize, ScenarioError> {
        if let Some(position) = known.iter().position(|known| known == path) {
            return Ok(position);
        }
        let text = read_text(path, read)?;
        let mut feed = Feed::of_file(path, &text)
            .map_err(|why| ScenarioError::Spec(format!("{}:{why}", path.display())))?;
        if !spec.feed_prefix.is_empty() {
            let prefixed = |name: &String| format!("{}_{name}", spec.feed_prefix);
            feed.names = feed.names.iter().map(prefixed).collect();
        }
        known.push(path.to_owned());
        self.feeds.push(feed);
        Ok(self.feeds.len() - 1)
    }

    fn flow(
        &self,
        spec: &FlowSpec,
        feed: Option<usize>,
        links: &mut Vec<Link>,
        read: &mut Reader<'_>,
    ) -> Result<Flow, ScenarioError> {
        let name = spec.name();
        let path = spec.file.as_deref().unwrap_or(Path::new(""));
        let text = spec.file.as_deref().map(|path| read_text(path, read));
        let text = text.transpose()?.unwrap_or_default();
        let parsed = FlowText::parse(&name, &text)?;
        let spoken = spec
            .socket
            .as_ref()
            .map(|socket| Spoken::parse(&name, socket));
        let spoken = spoken.transpose()?.unwrap_or_default();
        let count = parsed.entries.len() + spoken.drafts.len();
        if count == 0 || count > usize::from(u16::MAX) {
            return Err(ScenarioError::Spec(format!("{name} has no request to run")));
        }
        let mut known: HashSet<&str> = GENERATED.into();
        known.extend(self.variables.keys().map(String::as_str));
        if let Some(feed) = feed {
            known.extend(self.feeds[feed].names.iter().map(String::as_str));
        }
        let fail = |place, message| ParseError::at_place(&name, &text, place, message);
        let mut ways = Ways::of(&self.base, &self.variables, path, links);
        let mut steps = Vec::new();
        for entry in &parsed.entries {
            check_names(entry, &mut known).map_err(|(place, message)| fail(place, message))?;
            let files = read_files(entry, path, read)?;
            let way = ways.of_entry(entry, read);
            let options = entry.options.lines.first().map(|line| line.place);
            let way = way.map_err(|message| fail(options.unwrap_or(entry.place), message))?;
            let step = self.step(&name, entry, files, way);
            steps.push(step.map_err(|message| fail(entry.place, message))?);
        }
        let rounds = spoken.rounds(steps.len());
        for draft in &spoken.drafts {
            let way = ways.plain();
            let step = way.and_then(|way| self.spoken_step(draft, way, &mut known));
            steps.push(step.map_err(|why| ScenarioError::Spec(format!("{}: {why}", draft.place)))?);
        }
        Ok(Flow {
            name,
            steps,
            feed,
            think: spec.think,
            cache: spec.cache,
            rounds,
        })
    }

    /// Returns a step over a WebSocket, or the opening one.
    fn spoken_step<'a>(
        &self,
        draft: &'a Draft,
        way: Way,
        known: &mut HashSet<&'a str>,
    ) -> Result<Step, String> {
        check_draft_names(draft, known)?;
        let mut step = self.step("", &draft.entry, Files::new(), way)?;
        step.action = draft.action.clone();
        step.place.clone_from(&draft.place);
        step.think = draft.think;
        if let Action::Message(message) = &step.action {
            step.fixed = None;
            step.written_line = format!("{} {}", step.written_line, message.name);
        }
        Ok(step)
    }

    fn step(&self, file: &str, entry: &Entry, files: Files, way: Way) -> Result<Step, String> {
        let response = entry.response.as_ref();
        let scored = |response: &Response| {
            let position = |name: &str| self.score.captures.iter().position(|c| c.name == name);
            response
                .captures
                .iter()
                .map(|c| position(&c.name))
                .collect()
        };
        let url = StepUrl::resolve(&entry.url, &self.base)?;
        let mut step = Step {
            action: Action::Request,
            written_line: url.written_line(&entry.method),
            url,
            entry: entry.clone(),
            files,
            expected: response.map_or(Expected::Unstated, |response| {
                response.status.map_or(Expected::Any, Expected::Status)
            }),
            needs_body: entry.needs_body(),
            scored: response.map(scored).unwrap_or_default(),
            watches_url: entry.watches_url(),
            link: way.link,
            netrc: way.netrc,
            fixed: None,
            place: format!("{file}:{}", entry.place.line),
            think: None,
        };
        if has_header(&step, TRANSFER_ENCODING) {
            return Err(NOT_IN_CHUNKS.to_owned());
        }
        // A signature holds the time.
        let is_signed = entry.options.text("aws-sigv4").is_some();
        let has_exprs =
            step.url.template().exprs().next().is_some() || !entry.request_exprs().is_empty();
        if !is_signed && !has_exprs {
            step.fixed = Some(render(&step, &self.base, None, &mut Variables::default())?);
        }
        Ok(step)
    }

    fn check_score(&self) -> Result<(), ScenarioError> {
        if self.score.rules.iter().any(|rule| rule.per == 0) {
            return Err(ScenarioError::Spec(
                "a score rule's `per` is zero".to_owned(),
            ));
        }
        let steps = self.flows.iter().flat_map(|flow| &flow.steps);
        let responses = steps.filter_map(|step| step.entry.response.as_ref());
        let captured: HashSet<&str> = responses
            .flat_map(|response| &response.captures)
            .map(|capture| capture.name.as_str())
            .collect();
        match self
            .score
            .captures
            .iter()
            .find(|c| !captured.contains(c.name.as_str()))
        {
            None => Ok(()),
            Some(capture) => Err(ScenarioError::Spec(format!(
                "the score counts the capture `{}`, but no flow captures it",
                capture.name
            ))),
        }
    }
}

/// Returns a short text, different for each `unix_ms`, in digits and lower-case letters.
pub fn run_token(unix_ms: u64) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut rest = unix_ms;
    let mut digits = Vec::new();
    while rest > 0 || digits.is_empty() {
        digits.push(DIGITS[(rest % 36) as usize]);
        rest /= 36;
    }
    digits
        .iter()
        .rev()
        .map(|digit| char::from(*digit))
        .collect()
}

fn shared_variables(spec: &Spec, base: &BaseUrl) -> Result<HashMap<String, Value>, ScenarioError> {
    let mut variables = HashMap::new();
    for (name, value) in &spec.variables {
        if !is_variable_name(name) || GENERATED.contains(&name.as_str()) {
            return Err(ScenarioError::Spec(format!(
                "`{name}` cannot be the name of a variable; use letters, digits, _ and -, and none of {}",
                GENERATED.join(", ")
            )));
        }
        variables.insert(name.clone(), Value::of_variable(value));
    }
    variables.insert("base_url".to_owned(), Value::Text(base.url()));
    variables.insert("run".to_owned(), Value::Text(spec.run_token.clone()));
    Ok(variables)
}

/// Returns an order of flows with each one's share as even as whole turns allow: always the flow
/// furthest behind ("smooth weighted round robin").
fn cycle(flows: &[FlowSpec]) -> Result<Vec<u16>, ScenarioError> {
    if flows.is_empty() || flows.len() > usize::from(u16::MAX) {
        return Err(ScenarioError::Spec(
            "a scenario needs at least one flow".to_owned(),
        ));
    }
    if let Some(flow) = flows.iter().find(|flow| flow.weight == 0) {
        let name = flow.name();
        return Err(ScenarioError::Spec(format!(
            "the weight of {name} is zero; leave it out"
        )));
    }
    let sum: u64 = flows.iter().map(|flow| u64::from(flow.weight)).sum();
    let divisor = flows
        .iter()
        .fold(sum, |d, flow| gcd(d, u64::from(flow.weight)));
    let turns = (sum / divisor).min(CYCLE_MAX);
    let mut credits = vec![0_i64; flows.len()];
    let mut cycle = Vec::with_capacity(turns as usize);
    for _ in 0..turns {
        for (credit, flow) in credits.iter_mut().zip(flows) {
            *credit += i64::from(flow.weight);
        }
        let most = (0..credits.len())
            .rev()
            .max_by_key(|flow| credits[*flow])
            .unwrap_or(0);
        credits[most] -= sum as i64;
        cycle.push(most as u16);
    }
    Ok(cycle)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn read_text(path: &Path, read: &mut Reader<'_>) -> Result<String, ScenarioError> {
    let bytes = read(path).map_err(|source| ScenarioError::Read {
        path: path.to_owned(),
        source,
    })?;
    String::from_utf8(bytes)
        .map_err(|_| ScenarioError::Spec(format!("{} is not UTF-8 text", path.display())))
}

fn read_files(entry: &Entry, flow: &Path, read: &mut Reader<'_>) -> Result<Files, ScenarioError> {
    let folder = flow.parent().unwrap_or(Path::new(""));
    let mut files = Files::new();
    for name in entry.file_names() {
        let path = folder.join(name);
        match read(&path) {
            Ok(bytes) => files.insert(name.to_owned(), Arc::new(bytes)),
            Err(source) => return Err(ScenarioError::Read { path, source }),
        };
    }
    Ok(files)
}
