//! What the requests of a flow differ in: columns of a feed.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use logs::access::Request;

use crate::call::{Body, Style, Template};
use crate::query;

/// Which parts a request carries. Requests of one flow carry the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shape {
    pub(super) has_cookie: bool,
    pub(super) body: Carried,
    pub(super) has_content_type: bool,
}

/// A request's body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Carried {
    #[default]
    Nothing,
    Text,
    /// No text, such as a picture: stands in base64 in a feed.
    Bytes,
}

/// The parts of a flow's request, with variables where the requests differ.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) url: Template,
    pub(super) headers: Vec<(String, Template)>,
    pub(super) body: Body,
    /// Rows of the variables as CSV; `None` where all requests are equal.
    pub(super) feed: Option<String>,
    /// Whether the feed holds secrets.
    pub(super) has_secrets: bool,
}

impl Shape {
    pub(super) fn of(request: &Request) -> Shape {
        let body = match std::str::from_utf8(&request.body) {
            Ok("") => Carried::Nothing,
            Ok(_) => Carried::Text,
            Err(_) => Carried::Bytes,
        };
        let has_body = body != Carried::Nothing;
        Shape {
            has_cookie: !request.cookie.is_empty(),
            body,
            has_content_type: has_body && !request.content_type.is_empty(),
        }
    }
}

/// Returns the request of a flow, and rows of a feed: each request as often as recorded, in order,
/// `rows_max` at most. A feed has at least `users` rows, one for each user.
pub(super) fn of(requests: &[&Request], shape: Shape, users: u32, rows_max: usize) -> Columns {
    let mut table = Table::default();
    let uri = |request: &Request| Template::text(&request.uri).print(Style::Url);
    // Secrets have a column also where all requests have the same one.
    let has_secret_uri = requests
        .iter()
        .any(|request| query::has_secret(&request.uri));
    let url = match has_secret_uri {
        true => table.hide("uri", requests, uri),
        false => table.add("uri", requests, uri),
    };
    let mut headers = Vec::new();
    if shape.has_content_type {
        let kind = table.add("content_type", requests, |request| {
            request.content_type.clone()
        });
        headers.push(("Content-Type".to_owned(), kind));
    }
    if shape.has_cookie {
        let cookie = table.hide("cookie", requests, |request| request.cookie.clone());
        headers.push(("Cookie".to_owned(), cookie));
    }
    let text = |request: &Request| String::from_utf8_lossy(&request.body).into_owned();
    let body = match shape.body {
        Carried::Nothing => Body::None,
        Carried::Text => Body::Text(table.hide("body", requests, text)),
        Carried::Bytes => {
            table.hide("body", requests, |request| STANDARD.encode(&request.body));
            Body::Bytes("body".to_owned())
        }
    };
    Columns {
        url,
        headers,
        body,
        feed: table.feed(requests.len(), users, rows_max),
        has_secrets: has_secret_uri || shape.has_cookie || shape.body != Carried::Nothing,
    }
}

/// Columns with a value for each request.
#[derive(Default)]
struct Table {
    names: Vec<&'static str>,
    columns: Vec<Vec<String>>,
}

impl Table {
    /// Returns the part's text, or the part's variable where the requests differ.
    fn add(
        &mut self,
        name: &'static str,
        requests: &[&Request],
        part: impl Fn(&Request) -> String,
    ) -> Template {
        let first = part(requests[0]);
        match requests.iter().all(|request| part(request) == first) {
            true => Template::text(&first),
            false => self.hide(name, requests, part),
        }
    }

    /// Returns the part's variable.
    fn hide(
        &mut self,
        name: &'static str,
        requests: &[&Request],
        part: impl Fn(&Request) -> String,
    ) -> Template {
        self.names.push(name);
        self.columns
            .push(requests.iter().map(|request| part(request)).collect());
        Template::variable(name)
    }

    fn feed(&self, count: usize, users: u32, rows_max: usize) -> Option<String> {
        if self.names.is_empty() {
            return None;
        }
        let taken = count.min(rows_max);
        let quoted = |value: &String| format!("\"{}\"", value.replace('"', "\"\""));
        let row = |index: usize| {
            let at = index * count / taken;
            let fields: Vec<String> = self
                .columns
                .iter()
                .map(|column| quoted(&column[at]))
                .collect();
            fields.join(",") + "\n"
        };
        let rows: String = (0..taken).map(row).collect();
        // Each user needs a row of its own; whole rounds keep the shares.
        let rounds = (users as usize).div_ceil(taken).max(1);
        Some(format!("{}\n{}", self.names.join(","), rows.repeat(rounds)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_with_a_secret_stands_in_a_feed_for_the_owner() {
        let request = Request {
            uri: "/a?token=s3cr3t".to_owned(),
            ..Request::default()
        };
        let columns = of(&[&request], Shape::default(), 1, 10);
        assert_eq!(columns.url, Template::variable("uri"));
        assert_eq!(
            (columns.feed.as_deref(), columns.has_secrets),
            (Some("uri\n\"/a?token=s3cr3t\"\n"), true)
        );
    }
}
