//! From a `.har` file, in which a browser records the walk of one user.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::browser::{form_fields, is_binary, is_kept, is_static, split_url, split_user};
use crate::call::{self, Body, Call, Piece, Style, Template, is_form, name_of};
use crate::correlate::{Responses, located};
use crate::json::{self, Leaf};
use crate::secret::{Secrets, unique, variable_name};
use crate::{LeftOut, Taken, is_safe, multipart, query};

/// One request of the record with the response.
struct Step<'a> {
    /// Position in the record, from 1.
    number: usize,
    request: &'a Value,
    response: &'a Value,
    /// Path and query.
    path: String,
    /// Name and password in the address.
    user: Option<(String, String)>,
}

/// Returns one flow: the walk of the user. Values of a response that a later request sends are
/// captured, secrets that no response held become columns of the feed, and requests that change
/// data are passed over without `writes`.
///
/// # Errors
/// Where the text is no JSON (with line and column), has no `log.entries`, or holds no request of
/// HTTP.
pub fn of_har(text: &str, writes: bool) -> Result<Taken, String> {
    let document: Value =
        serde_json::from_str(text).map_err(|error| format!("this is no JSON: {error}"))?;
    let entries = document["log"]["entries"]
        .as_array()
        .ok_or("this JSON has no `log.entries`, as a .har file has")?;
    let mut taken = Taken::default();
    let steps = steps(entries, &mut taken);
    if steps.is_empty() {
        return Err("no request of it is one for a page of the app".to_owned());
    }
    let mut walk = Walk::default();
    for step in &steps {
        let mut call = walk.call(step);
        let place = format!("entry {}", step.number);
        let left_out = walk.left_out.drain(..);
        (taken.left_out).extend(left_out.map(|why| LeftOut::new(place.as_str(), why)));
        taken.turn_off(&mut call, writes, &place);
        walk.calls.push(call);
        if !walk.responses.add(step.response) {
            let why = "the body of the response is damaged; no value of it is captured";
            taken.left_out.push(LeftOut::new(place, why));
        }
    }
    for (position, name) in call::turn_off_dependents(&mut walk.calls) {
        let place = format!("entry {}", steps[position].number);
        let why = format!("needs `{name}` of a request that is off, and is off too");
        taken.left_out.push(LeftOut::new(place, why));
    }
    taken.add_walk("walk", &walk.calls, &walk.secrets);
    Ok(taken)
}

/// Returns the requests to replay; left-out ones are counted by reason.
fn steps<'a>(entries: &'a [Value], taken: &mut Taken) -> Vec<Step<'a>> {
    let mut steps = Vec::new();
    let mut left: Vec<(String, usize, usize)> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        match step(index + 1, entry, taken) {
            Ok(step) => steps.push(step),
            Err(why) => match left.iter_mut().find(|(known, ..)| *known == why) {
                Some((.., count)) => *count += 1,
                None => left.push((why, index + 1, 1)),
            },
        }
    }
    for (why, first, count) in left {
        let why = match count {
            1 => why,
            count => format!("{why} (and {} more)", count - 1),
        };
        taken
            .left_out
            .push(LeftOut::new(format!("entry {first}"), why));
    }
    steps
}

fn step<'a>(number: usize, entry: &'a Value, taken: &mut Taken) -> Result<Step<'a>, String> {
    let (request, response) = (&entry["request"], &entry["response"]);
    let (url, user) = split_user(request["url"].as_str().unwrap_or_default());
    let (origin, path) = split_url(&url).ok_or("not an address of HTTP")?;
    let kind = response["content"]["mimeType"].as_str().unwrap_or_default();
    let method = request["method"].as_str().unwrap_or_default();
    if entry["_resourceType"] == "websocket" {
        return Err("a WebSocket (`hakaru help flows` has the form of one)".to_owned());
    }
    if response["status"].as_i64().unwrap_or(0) <= 0 {
        return Err("no response".to_owned());
    }
    if is_static(&path, kind) && is_safe(method) {
        return Err("a static file".to_owned());
    }
    if method == "OPTIONS" {
        return Err("a question of the browser by itself (CORS)".to_owned());
    }
    taken.expect_origin(origin)?;
    Ok(Step {
        number,
        request,
        response,
        path,
        user,
    })
}

/// The walk so far.
#[derive(Default)]
struct Walk {
    calls: Vec<Call>,
    responses: Responses,
    /// Captured values, each with the name of a variable.
    captured: Vec<(String, String)>,
    /// Redirect targets, each with the name of a variable.
    located: Vec<(String, String)>,
    secrets: Secrets,
    /// What of the current request is not taken over.
    left_out: Vec<String>,
    /// What was listed of cookies.
    unset: Vec<String>,
}

impl Walk {
    fn call(&mut self, step: &Step<'_>) -> Call {
        let request = step.request;
        let method = request["method"]
            .as_str()
            .unwrap_or("GET")
            .to_ascii_uppercase();
        let mut call = Call {
            method,
            url: self.url(&step.path),
            status: status(step.response),
            ..Call::default()
        };
        for header in request["headers"].as_array().into_iter().flatten() {
            let [name, value] =
                ["name", "value"].map(|key| header[key].as_str().unwrap_or_default());
            if name.eq_ignore_ascii_case("cookie") {
                self.list_unset(value);
            } else if is_kept(name) {
                let value = self.value(name, value);
                call.headers.push((name.to_owned(), value));
            }
        }
        let is_named = |(name, _): &(String, Template)| name.eq_ignore_ascii_case("authorization");
        if let Some((name, password)) = &step.user
            && !call.headers.iter().any(is_named)
        {
            call.user = Some(self.secrets.login(name, password));
        }
        call.body = self.body(request);
        let kind = request["postData"]["mimeType"].as_str().unwrap_or_default();
        call.settle_content_type(kind);
        call
    }

    /// Returns path and query, with variables for the target of a redirect, and for captured values
    /// and secrets in the query.
    fn url(&mut self, path: &str) -> Template {
        if let Some((place, name)) = located(path, &self.responses) {
            let known = self.located.iter().find(|(known, _)| *known == place);
            if known.is_none() {
                let name = self.capture(
                    name,
                    "place",
                    "header \"Location\" regex \"^(?:https?://[^/]+)?(/[^?#]*)\"",
                );
                self.located.push((place, name));
            }
        }
        let begins = |place: &str| {
            let rest = path.strip_prefix(place)?;
            (rest.is_empty() || rest.starts_with(['/', '?'])).then_some(rest)
        };
        let longest = self
            .located
            .iter()
            .filter_map(|(place, name)| Some((begins(place)?, name)))
            .min_by_key(|(rest, _)| rest.len());
        let (mut url, rest) = match longest {
            Some((rest, name)) => (Template::variable(name), rest),
            None => (Template::default(), path),
        };
        let with_query = query::template(rest, |field, letters| {
            let captured = self.variable_of(&field.name, &field.value);
            let captured = captured.map(|name| format!("{name} urlEncode"));
            captured.or_else(|| {
                field
                    .is_secret
                    .then(|| self.secrets.column(&field.name, letters))
            })
        });
        url.0.extend(with_query.0);
        url
    }

    /// Lists cookies set by no response of the record: the flow begins without such cookies.
    fn list_unset(&mut self, cookies: &str) {
        for name in self.responses.unset(cookies) {
            let why = format!(
                "the cookie `{name}` is of an earlier visit and is not sent; record the login too"
            );
            if !self.unset.contains(&why) {
                self.unset.push(why.clone());
                self.left_out.push(why);
            }
        }
    }

    /// A value as a capture, a secret or the text itself.
    fn value(&mut self, field: &str, value: &str) -> Template {
        if let Some(name) = self.variable_of(field, value) {
            return Template::variable(&name);
        }
        // A token behind the name of the scheme.
        if field.eq_ignore_ascii_case("authorization")
            && let Some((scheme, token)) = value.split_once(' ')
            && let Some(name) = self.variable_of("token", token)
        {
            let mut with_scheme = Template::text(&format!("{scheme} "));
            with_scheme.0.push(Piece::Variable(name));
            return with_scheme;
        }
        self.secrets.template(field, value)
    }

    fn body(&mut self, request: &Value) -> Body {
        let data = &request["postData"];
        let text = data["text"].as_str().unwrap_or_default();
        let kind = data["mimeType"].as_str().unwrap_or_default();
        let kind = kind.to_ascii_lowercase();
        if kind.starts_with("multipart/form-data") {
            return self.multipart(data);
        }
        let params = data["params"].as_array().map_or(&[][..], Vec::as_slice);
        if text.is_empty() && !params.is_empty() {
            return self.form(params.iter().map(pair).collect());
        }
        if text.is_empty() {
            if request["bodySize"].as_i64().unwrap_or(0) > 0 {
                self.left_out("the record holds no body; write it into the flow");
            }
            return Body::None;
        }
        if data["encoding"] == "base64" {
            return self.packed(text, &kind);
        }
        if is_binary(&kind) && !text.is_ascii() {
            self.left_out("the body is no text, and the record may have changed its bytes");
        }
        self.text(text, &kind)
    }

    fn text(&mut self, text: &str, kind: &str) -> Body {
        let json = json::template(text, |leaf, letters| self.variable_in_json(leaf, letters));
        if let Some(json) = json {
            return Body::Text(json);
        }
        if !is_form(kind) {
            return Body::Text(Template::text(text));
        }
        match form_fields(text) {
            Some(fields) => self.form(fields),
            None => Body::Text(query::form_without_secrets(text, &mut self.secrets)),
        }
    }

    /// Returns a body recorded in base64: as text, where possible.
    fn packed(&mut self, text: &str, kind: &str) -> Body {
        match STANDARD.decode(text).map(String::from_utf8) {
            Ok(Ok(plain)) => self.text(&plain, kind),
            Ok(Err(_)) => Body::Bytes(self.secrets.column("body", text)),
            Err(_) => {
                self.left_out("the body is damaged; write it into the flow");
                Body::None
            }
        }
    }

    fn form(&mut self, fields: Vec<(String, String)>) -> Body {
        let fields = fields.into_iter().map(|(name, value)| {
            let value = self.value(&name, &value);
            (name, value)
        });
        Body::Form(fields.collect())
    }

    fn multipart(&mut self, data: &Value) -> Body {
        let Some(parts) = multipart::of_record(data) else {
            self.left_out("the form with files cannot be read; write it into [Multipart]");
            return Body::None;
        };
        let mut fields = Vec::new();
        for part in parts {
            if part.is_file {
                let why = "is a file; write it into [Multipart] as `file,NAME;`";
                self.left_out(&format!("the field `{}` {why}", part.name));
            } else {
                let value = self.value(&part.name, &part.value);
                fields.push((part.name, value));
            }
        }
        Body::Multipart(fields)
    }

    fn left_out(&mut self, why: &str) {
        self.left_out.push(why.to_owned());
    }

    /// Returns the variable of a captured value or a secret in a JSON body.
    fn variable_in_json(&mut self, leaf: &Leaf, letters: &str) -> Option<String> {
        // A captured value is sent without escapes.
        let needs_escape =
            |text: &&str| text.contains(|letter: char| "\"\\".contains(letter) || letter < ' ');
        let captured = leaf.text.as_deref().filter(|text| !needs_escape(text));
        captured
            .and_then(|text| self.variable_of(&leaf.field, text))
            .or_else(|| {
                leaf.is_secret
                    .then(|| self.secrets.column(&leaf.field, letters))
            })
    }

    /// Returns the variable of a value of an earlier response; captures the value when no variable
    /// exists.
    fn variable_of(&mut self, field: &str, value: &str) -> Option<String> {
        let (response, query) = self.responses.source_of(field, value)?;
        // A page that is asked again may hold another token: the latest response counts.
        let key = format!("{response} {value}");
        if let Some((_, name)) = self.captured.iter().find(|(known, _)| *known == key) {
            return Some(name.clone());
        }
        let name = self.capture(response, &variable_name(field), &query);
        self.captured.push((key, name.clone()));
        Some(name)
    }

    /// Adds a capture to the call of a response and returns the capture's name.
    fn capture(&mut self, response: usize, base: &str, query: &str) -> String {
        let used: Vec<String> = self
            .calls
            .iter()
            .flat_map(|call| call.captures.iter().map(|(name, _)| name.clone()))
            .chain(self.secrets.names().map(str::to_owned))
            .collect();
        let name = unique(&name_of(base, '_'), |name| {
            used.iter().any(|used| used == name)
        });
        self.secrets.reserve(&name);
        self.calls[response]
            .captures
            .push((name.clone(), query.to_owned()));
        name
    }
}

fn pair(param: &Value) -> (String, String) {
    let [name, value] = ["name", "value"].map(|key| param[key].as_str().unwrap_or_default());
    (name.to_owned(), value.to_owned())
}

/// Returns the status demanded by a flow: a browser with a stored page receives 304, and a flow,
/// without one, 200.
fn status(response: &Value) -> Option<u16> {
    let status = response["status"]
        .as_u64()
        .and_then(|status| u16::try_from(status).ok())?;
    Some(if status == 304 { 200 } else { status })
}

/// A text between the quotation marks of Hurl's format.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", Template::text(text).print(Style::Quoted))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the flow of requests, each of a method, an address and a body of a kind.
    fn flow(requests: &[(&str, &str, &str, &str)]) -> crate::Flow {
        let entry = |(method, url, kind, text): &(&str, &str, &str, &str)| {
            serde_json::json!({
                "request": {
                    "method": method,
                    "url": url,
                    "headers": [{"name": "Content-Type", "value": kind}],
                    "postData": {"mimeType": kind, "text": text},
                },
                "response": {"status": 200, "content": {"mimeType": "text/html", "text": ""}},
            })
        };
        let entries: Vec<Value> = requests.iter().map(entry).collect();
        let har = serde_json::json!({"log": {"entries": entries}});
        let mut taken = of_har(&har.to_string(), true).expect("a flow");
        taken.flows.remove(0)
    }

    #[test]
    fn secrets_of_a_body_in_json_stand_in_the_feed_as_they_were_written() {
        let body = r#"{"login":"anna","password":"a","otp":"q\"1","pin":4711}"#;
        let flow = flow(&[("POST", "http://a.test/", "application/json", body)]);
        let expected = r#""login":"anna","password":"{{password}}","otp":"{{otp}}","pin":{{pin}}"#;
        assert!(flow.text.contains(expected), "{}", flow.text);
        let feed = "password,otp,pin\n\"a\",\"q\\\"\"1\",\"4711\"\n";
        assert_eq!(flow.feed.as_deref(), Some(feed));
    }

    #[test]
    fn secrets_of_a_query_stand_in_the_feed_alone() {
        let flow = flow(&[("GET", "http://a.test/x?q=1&access_token=s3cr3t", "", "")]);
        let expected = "{{base_url}}/x?q=1&access_token={{access_token}}\n";
        assert!(flow.text.contains(expected), "{}", flow.text);
        assert_eq!(flow.feed.as_deref(), Some("access_token\n\"s3cr3t\"\n"));
    }

    #[test]
    fn a_form_whose_fields_do_not_say_all_is_sent_as_written() {
        let kind = "application/x-www-form-urlencoded";
        let sent = |text: &str| flow(&[("POST", "http://a.test/", kind, text)]).text;
        // Letters of Shift_JIS are no UTF-8.
        let text = sent("name=%83n&password=h%83sh");
        assert!(text.contains("Content-Type: application/x-www"), "{text}");
        assert!(text.contains("`name=%83n&password={{password}}`"), "{text}");
        let text = sent("{\"a\": \"b=c\"}");
        assert!(text.contains("\"a\": \"b=c\""), "{text}");
        let text = sent("name=%E3%81%82");
        assert!(text.ends_with("/\n[Form]\nname: あ\nHTTP 200\n"), "{text}");
    }

    #[test]
    fn a_form_with_files_has_its_fields_and_no_boundary() {
        let body = "--x\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nhush\r\n\
            --x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nfile,b;\r\n--x--\r\n";
        let kind = "multipart/form-data; boundary=x";
        let flow = flow(&[("POST", "http://a.test/", kind, body)]);
        let expected = "POST {{base_url}}/\n[Multipart]\npassword: {{password}}\n\
            a: \\u{66}ile,b;\nHTTP 200\n";
        assert_eq!(flow.text, expected);
    }

    #[test]
    fn bytes_are_sent_as_bytes() {
        let har = serde_json::json!({"log": {"entries": [{
            "request": {
                "method": "POST",
                "url": "http://a.test/",
                "headers": [],
                "postData": {"mimeType": "image/png", "text": "iVBORw==", "encoding": "base64"},
            },
            "response": {"status": 200},
        }, {
            "request": {"method": "POST", "url": "http://a.test/", "bodySize": 7},
            "response": {"status": 200},
        }]}});
        let taken = of_har(&har.to_string(), true).expect("a flow");
        let flow = &taken.flows[0];
        assert!(
            flow.text.contains("`{{body base64Decode}}`"),
            "{}",
            flow.text
        );
        assert_eq!(flow.feed.as_deref(), Some("body\n\"iVBORw==\"\n"));
        let places: Vec<&str> = taken.left_out.iter().map(|left| &*left.place).collect();
        assert_eq!(places, ["entry 2"]);
    }

    #[test]
    fn a_token_of_a_login_is_captured_for_the_header() {
        let har = serde_json::json!({"log": {"entries": [{
            "request": {"method": "POST", "url": "http://a.test/login"},
            "response": {
                "status": 200,
                "content": {"mimeType": "application/json", "text": "{\"jwt\": \"abc.1234.def\"}"},
            },
        }, {
            "request": {
                "method": "GET",
                "url": "http://a.test/me",
                "headers": [{"name": "Authorization", "value": "Bearer abc.1234.def"}],
            },
            "response": {"status": 200},
        }]}});
        let taken = of_har(&har.to_string(), true).expect("a flow");
        let flow = &taken.flows[0];
        assert!(
            flow.text
                .contains("[Captures]\ntoken: jsonpath \"$.jwt\"\n"),
            "{}",
            flow.text
        );
        assert!(
            flow.text.contains("Authorization: Bearer {{token}}\n"),
            "{}",
            flow.text
        );
        assert_eq!(flow.feed, None);
    }

    #[test]
    fn a_cookie_of_an_earlier_visit_is_listed_once() {
        let entry = |cookies: &str| {
            serde_json::json!({
                "request": {
                    "method": "GET",
                    "url": "http://a.test/",
                    "headers": [{"name": "Cookie", "value": cookies}],
                },
                "response": {
                    "status": 200,
                    "headers": [{"name": "Set-Cookie", "value": "new=2; Path=/"}],
                },
            })
        };
        let entries = [entry("sid=s3cr3t"), entry("sid=s3cr3t; new=2")];
        let har = serde_json::json!({"log": {"entries": entries}});
        let taken = of_har(&har.to_string(), true).expect("a flow");
        let listed: Vec<(&str, bool)> = (taken.left_out.iter())
            .map(|left| (&*left.place, left.why.starts_with("the cookie `sid`")))
            .collect();
        assert_eq!(listed, [("entry 1", true)]);
    }
}
