//! A flow as written, without layout and comments.

use crate::body::Body;
use crate::filter::Filter;
use crate::options::Options;
use crate::predicate::Predicate;
use crate::query::Query;
use crate::template::Template;

/// Where in a flow something stands. All places are equal: two flows that differ only in layout are
/// the same flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    /// Line, counted from 1.
    pub line: u32,
    /// Column in characters, counted from 1.
    pub column: u32,
}

impl PartialEq for Place {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A parsed `.hurl` file. Its [`std::fmt::Display`] is a flow that parses to the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowText {
    pub(crate) entries: Vec<Entry>,
}

/// A request, and the demands on the response.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Entry {
    pub(crate) place: Place,
    pub(crate) method: String,
    pub(crate) url: Template,
    pub(crate) headers: Vec<KeyValue>,
    pub(crate) query: Vec<KeyValue>,
    pub(crate) form: Vec<KeyValue>,
    pub(crate) multipart: Vec<Part>,
    pub(crate) cookies: Vec<KeyValue>,
    pub(crate) basic_auth: Option<KeyValue>,
    pub(crate) options: Options,
    pub(crate) body: Option<Body>,
    pub(crate) response: Option<Response>,
}

/// `name: value`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KeyValue {
    pub(crate) place: Place,
    pub(crate) key: Template,
    pub(crate) value: Template,
}

/// A part of a multipart form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    Text(KeyValue),
    File {
        place: Place,
        key: Template,
        file: String,
        content_type: Option<String>,
    },
}

/// What is demanded of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Response {
    pub(crate) place: Place,
    /// Minor version demanded by `HTTP/1.0` or `HTTP/1.1`; [`crate::HTTP2`] for `HTTP/2`.
    pub(crate) minor_version: Option<u8>,
    /// `None` is `*`.
    pub(crate) status: Option<u16>,
    pub(crate) headers: Vec<KeyValue>,
    pub(crate) captures: Vec<Capture>,
    pub(crate) asserts: Vec<Assert>,
    pub(crate) body: Option<Body>,
}

/// A variable taken from an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Capture {
    pub(crate) place: Place,
    pub(crate) name: String,
    pub(crate) query: Query,
    pub(crate) filters: Vec<Filter>,
    /// Whether the value is a secret.
    pub(crate) redact: bool,
}

/// A check of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Assert {
    pub(crate) place: Place,
    pub(crate) query: Query,
    pub(crate) filters: Vec<Filter>,
    pub(crate) predicate: Predicate,
}
