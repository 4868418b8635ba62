//! A scenario of one request, without a flow's text.

use std::collections::HashMap;

use crate::ast::{Entry, KeyValue, Place};
use crate::base::BaseUrl;
use crate::body::Body;
use crate::error::ScenarioError;
use crate::files::Files;
use crate::link::Link;
use crate::render::render;
use crate::scenario::{Flow, Scenario};
use crate::spec::ScoreSpec;
use crate::step::{Action, Expected, Step, StepUrl};
use crate::template::Template;
use crate::variables::Variables;

/// One request as described by flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Single {
    /// The URL in full.
    pub url: String,
    /// The method, such as `GET`.
    pub method: String,
    /// Headers added to the default ones, or replacing one.
    pub headers: Vec<(String, String)>,
    /// The body; none when empty.
    pub body: Vec<u8>,
}

impl Single {
    /// A GET of `url`.
    pub fn get(url: &str) -> Single {
        Single {
            url: url.to_owned(),
            method: "GET".to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }
}

impl Scenario {
    /// One GET of one URL, over and over; a status of 400 or more is a failed check.
    pub fn single(url: &str) -> Result<Scenario, ScenarioError> {
        Scenario::request(&Single::get(url))
    }

    /// One request over and over; a status of 400 or more is a failed check. Nothing in it is a
    /// template.
    pub fn request(single: &Single) -> Result<Scenario, ScenarioError> {
        let (base, path) = BaseUrl::split(&single.url).map_err(ScenarioError::Spec)?;
        let path = path.split('#').next().unwrap_or("");
        let slash = if path.starts_with('/') { "" } else { "/" };
        let method = &single.method;
        let is_word = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_alphabetic());
        if !is_word || method.eq_ignore_ascii_case("connect") {
            let message = format!("`{method}` is no method that can be sent; try GET or POST");
            return Err(ScenarioError::Spec(message));
        }
        let header = |(name, value): &(String, String)| KeyValue {
            place: Place::default(),
            key: Template::text(name),
            value: Template::text(value),
        };
        let entry = Entry {
            method: method.clone(),
            url: Template::text(&format!("{slash}{path}")),
            headers: single.headers.iter().map(header).collect(),
            body: (!single.body.is_empty()).then(|| Body::Bytes(single.body.clone())),
            ..Entry::default()
        };
        let url = StepUrl::Path(entry.url.clone());
        let mut step = Step {
            action: Action::Request,
            written_line: url.written_line(method),
            url,
            entry,
            files: Files::new(),
            expected: Expected::Success,
            needs_body: false,
            scored: Vec::new(),
            watches_url: false,
            link: 0,
            netrc: None,
            fixed: None,
            place: single.url.clone(),
            think: None,
        };
        let fixed = render(&step, &base, None, &mut Variables::default());
        step.fixed = Some(fixed.map_err(ScenarioError::Spec)?);
        let flow = Flow {
            name: single.url.clone(),
            steps: vec![step],
            feed: None,
            think: None,
            cache: false,
            rounds: None,
        };
        Ok(Scenario {
            base,
            flows: vec![flow],
            feeds: Vec::new(),
            variables: HashMap::new(),
            cycle: vec![0],
            arrivals: None,
            score: ScoreSpec::default(),
            feed_rows_min: None,
            links: vec![Link::default()],
        })
    }
}
