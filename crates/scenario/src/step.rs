//! Entries made ready to run: URLs resolved, files read, what can be rendered once rendered once.

use crate::ast::{Entry, Part};
use crate::base::BaseUrl;
use crate::body::Body;
use crate::files::Files;
use crate::message::Message;
use crate::options::OptionLine;
use crate::query::Query;
use crate::template::{Expr, Piece, Source, Template};
use crate::think::ThinkTime;

/// An entry, ready to run.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) action: Action,
    pub(crate) entry: Entry,
    pub(crate) url: StepUrl,
    pub(crate) files: Files,
    pub(crate) expected: Expected,
    pub(crate) needs_body: bool,
    /// For each of the entry's captures, the index in the score's captures, where scored.
    pub(crate) scored: Vec<Option<usize>>,
    /// Whether a query or a followed redirect needs the URL.
    pub(crate) watches_url: bool,
    /// Head and body, when free of expressions.
    pub(crate) fixed: Option<Fixed>,
    /// Method and path without the query, expressions as written.
    pub(crate) written_line: String,
    /// File and line, for people.
    pub(crate) place: String,
    /// Number of the way to the server, among [`crate::Scenario::links`].
    pub(crate) link: u16,
    /// Name and password from a `.netrc` file.
    pub(crate) netrc: Option<(String, String)>,
    /// Think time of the entry itself beside options.
    pub(crate) think: Option<ThinkTime>,
}

/// What is done at a step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    /// A request is made.
    Request,
    /// A request is made whose connection becomes a WebSocket.
    Upgrade,
    /// A message over a WebSocket: sent, awaited, or both. Only captures and asserts of the entry
    /// count.
    Message(Box<Message>),
}

/// Where a request goes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StepUrl {
    /// A path of the base URL's host, prefix included.
    Path(Template),
    /// Known only when rendered; must then lead to the base URL's host.
    Whole(Template),
}

/// The status demanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// `HTTP *`.
    Any,
    /// The flow says nothing about the answer: anything but a server error.
    Unstated,
    /// Not from a flow but a single URL: anything below 400.
    Success,
    /// `HTTP 200`.
    Status(u16),
}

/// A request rendered once.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fixed {
    /// Head of the request up to the headers different in each request.
    pub(crate) head: Vec<u8>,
    pub(crate) body: Vec<u8>,
    /// Method and path without the query.
    pub(crate) line: String,
}

impl Fixed {
    /// Path and query.
    pub(crate) fn target(&self) -> &str {
        let mut words = self.head.split(|byte| *byte == b' ');
        let target = words.nth(1).unwrap_or_default();
        std::str::from_utf8(target).unwrap_or("/")
    }
}

impl StepUrl {
    /// Resolves an entry's URL. The error is a sentence about the URL.
    pub(crate) fn resolve(url: &Template, base: &BaseUrl) -> Result<StepUrl, String> {
        let mut path = Template::text(&base.prefix);
        match url.pieces.first() {
            Some(Piece::Text(text)) if text.starts_with('/') => append(&mut path, &url.pieces),
            Some(Piece::Text(text)) => {
                // The base URL's own prefix is part of an absolute URL already.
                let rest = base.strip(text).ok_or_else(|| {
                    format!(
                        "this URL points to another host than {}; begin with `/` or {{{{base_url}}}}",
                        base.url()
                    )
                })?;
                path = Template::text(rest);
                append(&mut path, &url.pieces[1..]);
            }
            Some(Piece::Expr(expr)) if is_base_url(expr) => append(&mut path, &url.pieces[1..]),
            _ => return Ok(StepUrl::Whole(url.clone())),
        }
        match path.pieces.first() {
            Some(Piece::Text(text)) if text.starts_with('/') => {}
            // The variable's value decides when the request is made.
            Some(Piece::Expr(_)) => {}
            // `{{base_url}}?a=b` and the bare host mean the root.
            _ => path.pieces.insert(0, Piece::Text("/".to_owned())),
        }
        Ok(StepUrl::Path(path))
    }

    /// Returns method and path without the query, expressions as written: the line of a request
    /// with failed rendering.
    pub(crate) fn written_line(&self, method: &str) -> String {
        let url = self.template().print(crate::template::Style::Url);
        format!("{method} {}", url.split('?').next().unwrap_or(""))
    }

    pub(crate) fn template(&self) -> &Template {
        match self {
            StepUrl::Path(template) | StepUrl::Whole(template) => template,
        }
    }
}

fn append(path: &mut Template, pieces: &[Piece]) {
    for piece in pieces {
        match piece {
            Piece::Text(text) => path.push_text(text),
            Piece::Expr(expr) => path.pieces.push(Piece::Expr(expr.clone())),
        }
    }
}

fn is_base_url(expr: &Expr) -> bool {
    expr.filters.is_empty() && expr.source == Source::Variable("base_url".to_owned())
}

impl Entry {
    /// Returns the expressions of the request, except in the URL, which is resolved apart, and in
    /// `[Cookies]`, which are rendered with the jar.
    pub(crate) fn request_exprs(&self) -> Vec<&Expr> {
        let pairs = self
            .headers
            .iter()
            .chain(&self.query)
            .chain(&self.form)
            .chain(&self.basic_auth);
        let mut templates: Vec<&Template> = Vec::new();
        for pair in pairs {
            templates.extend([&pair.key, &pair.value]);
        }
        for part in &self.multipart {
            match part {
                Part::Text(pair) => templates.extend([&pair.key, &pair.value]),
                Part::File { key, .. } => templates.push(key),
            }
        }
        let mut exprs: Vec<&Expr> = templates
            .iter()
            .flat_map(|template| template.exprs())
            .collect();
        let options = self.options.lines.iter();
        exprs.extend(
            options
                .filter(|line| line.is_of_request())
                .flat_map(OptionLine::exprs),
        );
        if let Some(body) = &self.body {
            exprs.extend(body.exprs());
        }
        exprs
    }

    pub(crate) fn cookie_exprs(&self) -> impl Iterator<Item = &Expr> {
        self.cookies
            .iter()
            .flat_map(|pair| pair.key.exprs().chain(pair.value.exprs()))
    }

    /// Returns the names of files sent or compared with.
    pub(crate) fn file_names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for part in &self.multipart {
            if let Part::File { file, .. } = part {
                names.push(file.as_str());
            }
        }
        let demanded = self
            .response
            .as_ref()
            .and_then(|response| response.body.as_ref());
        for body in self.body.iter().chain(demanded) {
            if let Body::File(file) = body {
                names.push(file);
            }
        }
        let asserts = self.response.iter().flat_map(|response| &response.asserts);
        names.extend(asserts.filter_map(|assert| assert.predicate.file()));
        names
    }

    /// Returns whether the URL, or the redirects, are needed.
    pub(crate) fn watches_url(&self) -> bool {
        let asks = |query: &Query| matches!(query, Query::Url | Query::Redirects);
        self.options.may_follow()
            || self.options.may_digest()
            || self.response.as_ref().is_some_and(|response| {
                let mut captures = response.captures.iter();
                let mut asserts = response.asserts.iter();
                captures.any(|capture| asks(&capture.query))
                    || asserts.any(|assert| asks(&assert.query))
            })
    }

    pub(crate) fn needs_body(&self) -> bool {
        self.response.as_ref().is_some_and(|response| {
            response.body.is_some()
                || response
                    .captures
                    .iter()
                    .any(|capture| capture.query.needs_body())
                || response
                    .asserts
                    .iter()
                    .any(|assert| assert.query.needs_body())
        })
    }
}
