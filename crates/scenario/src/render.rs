//! From an entry to the bytes of a request.

use std::fmt::Write as _;

use crate::ast::{KeyValue, Part};
use crate::aws::{Scope, Unsigned};
use crate::base::BaseUrl;
use crate::body::Body;
use crate::encode::{base64, push_url_component, push_url_text};
use crate::follow::{Hop, shown};
use crate::step::{Fixed, Step, StepUrl};
use crate::template::{Piece, Template};
use crate::variables::Variables;

/// Stands between the parts of a multipart body. Fixed, so that bodies can be rendered once.
const BOUNDARY: &str = "----hakaru-8f1c2b6e4d7a4a53";

/// Header refused in flows: beside the `Content-Length` of a whole body some servers would see two
/// requests in one.
pub(crate) const TRANSFER_ENCODING: &str = "transfer-encoding";
pub(crate) const NOT_IN_CHUNKS: &str =
    "bodies are sent whole, with their length; leave `Transfer-Encoding` out";

/// Renders all of a request but what changes with every one: the id, the cookies, the blank line.
/// With `hop`, the request that a redirect leads to.
pub(crate) fn render(
    step: &Step,
    base: &BaseUrl,
    hop: Option<&Hop>,
    variables: &mut Variables,
) -> Result<Fixed, String> {
    let with_body = hop.is_none_or(|hop| hop.keeps_body);
    // A challenge is asked for without the body, which would be sent in vain.
    let is_probe = hop.is_none() && digest_user(step, variables)?.is_some();
    let body = match (with_body, is_probe) {
        (true, false) => Some(body(step, variables)?),
        (true, true) => Some(Vec::new()),
        (false, _) => None,
    };
    let url = match hop {
        None => url(step, base, variables)?,
        Some(hop) => {
            let mut url = Vec::with_capacity(hop.target.len());
            push_url_text(hop.target.as_bytes(), &mut url);
            url
        }
    };
    let method = hop.map_or(step.entry.method.as_str(), |hop| hop.method.as_str());
    let path = &url[..url
        .iter()
        .position(|byte| *byte == b'?')
        .unwrap_or(url.len())];
    let line = format!("{method} {}", String::from_utf8_lossy(path));

    let mut head = Vec::with_capacity(256);
    head.extend_from_slice(method.as_bytes());
    head.push(b' ');
    head.extend_from_slice(&url);
    head.extend_from_slice(b" HTTP/1.1\r\n");
    headers(step, base, with_body, variables, &mut head)?;
    if let Some(authorization) = hop.and_then(|hop| hop.authorization.as_deref()) {
        push_header(&mut head, "Authorization", authorization)?;
    }
    if let Some(body) = &body {
        content_headers(step, body, &mut head);
    }
    sign(step, base, body.as_deref(), variables, &mut head)?;
    Ok(Fixed {
        head,
        body: body.unwrap_or_default(),
        line,
    })
}

/// Adds the signature asked for by the option `aws-sigv4`, of all parts of the head.
fn sign(
    step: &Step,
    base: &BaseUrl,
    body: Option<&[u8]>,
    variables: &mut Variables,
    head: &mut Vec<u8>,
) -> Result<(), String> {
    let Some(scope) = step.entry.options.text("aws-sigv4") else {
        return Ok(());
    };
    let Some(user) = credentials(step, variables)?.filter(|_| !has_header(step, "authorization"))
    else {
        return Ok(());
    };
    let scope = Scope::parse(&scope.render(variables)?, &base.host)?;
    let text = String::from_utf8_lossy(head).into_owned();
    let mut lines = text.lines();
    let mut first = lines.next().unwrap_or_default().split(' ');
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_owned(), value.to_owned()))
    };
    let unsigned = Unsigned {
        method: first.next().unwrap_or_default(),
        target: first.next().unwrap_or_default(),
        headers: lines.filter_map(header).collect(),
        body: body.unwrap_or_default(),
    };
    for (name, value) in scope.sign(unsigned, &user) {
        push_header(head, &name, &value)?;
    }
    Ok(())
}

/// Returns the error for an address of another host.
fn elsewhere(url: &str, base: &BaseUrl) -> String {
    let (place, base) = (shown(url), base.url());
    format!("{place} points to another host than {base}")
}

/// Path and query.
fn url(step: &Step, base: &BaseUrl, variables: &mut Variables) -> Result<Vec<u8>, String> {
    let mut url = Vec::with_capacity(64);
    match &step.url {
        StepUrl::Path(template) => {
            push_url_template(template, variables, &mut url)?;
            if !url.starts_with(b"/") {
                url.insert(0, b'/');
            }
        }
        StepUrl::Whole(template) => {
            let text = template.render(variables)?;
            // What the server gave holds the base URL's prefix already.
            let path = match text.starts_with('/') {
                true => text.as_str(),
                false => base.strip(&text).ok_or_else(|| elsewhere(&text, base))?,
            };
            if !path.starts_with('/') {
                url.push(b'/');
            }
            push_url_text(path.as_bytes(), &mut url);
        }
    }
    // A fragment is for the client alone (RFC 9110, 7.1): a captured `Location` may have one.
    let end = url.iter().position(|byte| *byte == b'#');
    url.truncate(end.unwrap_or(url.len()));
    let mut separator = if url.contains(&b'?') { b'&' } else { b'?' };
    for pair in &step.entry.query {
        url.push(separator);
        separator = b'&';
        push_pair(pair, variables, &mut url)?;
    }
    Ok(url)
}

fn push_url_template(
    template: &Template,
    variables: &mut Variables,
    url: &mut Vec<u8>,
) -> Result<(), String> {
    for piece in &template.pieces {
        match piece {
            Piece::Text(text) => push_url_text(text.as_bytes(), url),
            Piece::Expr(expr) => push_url_text(expr.text(variables)?.as_bytes(), url),
        }
    }
    Ok(())
}

fn push_pair(pair: &KeyValue, variables: &mut Variables, out: &mut Vec<u8>) -> Result<(), String> {
    push_url_component(pair.key.render(variables)?.as_bytes(), out);
    out.push(b'=');
    push_url_component(pair.value.render(variables)?.as_bytes(), out);
    Ok(())
}

fn headers(
    step: &Step,
    base: &BaseUrl,
    with_body: bool,
    variables: &mut Variables,
    head: &mut Vec<u8>,
) -> Result<(), String> {
    let given = |name: &str| has_header(step, name);
    if !given("host") {
        push_header(head, "Host", &base.authority)?;
    }
    if !given("user-agent") {
        push_header(
            head,
            "User-Agent",
            concat!("hakaru/", env!("CARGO_PKG_VERSION")),
        )?;
    }
    if !given("accept") {
        push_header(head, "Accept", "*/*")?;
    }
    if step.entry.options.compressed(variables)? && !given("accept-encoding") {
        push_header(head, "Accept-Encoding", "gzip, deflate")?;
    }
    let pair = match &step.entry.basic_auth {
        Some(pair) => Some(format!(
            "{}:{}",
            pair.key.render(variables)?,
            pair.value.render(variables)?
        )),
        None if given("authorization") || digest_user(step, variables)?.is_some() => None,
        None if step.entry.options.text("aws-sigv4").is_some() => None,
        None => credentials(step, variables)?,
    };
    if let Some(pair) = pair {
        push_header(
            head,
            "Authorization",
            &format!("Basic {}", base64(pair.as_bytes())),
        )?;
    }
    for header in given_headers(step) {
        let name = header.key.render(variables)?;
        if name.eq_ignore_ascii_case(TRANSFER_ENCODING) {
            return Err(NOT_IN_CHUNKS.to_owned());
        }
        let of_body = ["content-type", "content-length", "content-encoding"]
            .iter()
            .any(|known| name.eq_ignore_ascii_case(known));
        if with_body || !of_body {
            push_header(head, &name, &header.value.render(variables)?)?;
        }
    }
    Ok(())
}

/// Returns the headers of the flow.
fn given_headers(step: &Step) -> impl Iterator<Item = &KeyValue> {
    let entry = &step.entry;
    entry.headers.iter().chain(entry.options.headers())
}

/// Returns `name:password` by the option `user`, else by a `.netrc` file.
fn credentials(step: &Step, variables: &mut Variables) -> Result<Option<String>, String> {
    let user = step.entry.options.user();
    let user = user.map(|user| user.render(variables)).transpose()?;
    let netrc = step.netrc.as_ref();
    Ok(user.or_else(|| netrc.map(|(name, password)| format!("{name}:{password}"))))
}

/// Returns `name:password` for digest authentication, where the entry asks for digests and gives no
/// `Authorization` itself.
pub(crate) fn digest_user(
    step: &Step,
    variables: &mut Variables,
) -> Result<Option<String>, String> {
    let options = &step.entry.options;
    let is_own = step.entry.basic_auth.is_some() || has_header(step, "authorization");
    if is_own || options.switch("digest", variables)? != Some(true) {
        return Ok(None);
    }
    credentials(step, variables)
}

pub(crate) fn has_header(step: &Step, name: &str) -> bool {
    given_headers(step).any(|header| {
        let given = header.key.as_static();
        given.is_some_and(|given| given.eq_ignore_ascii_case(name))
    })
}

/// Appends a header. A line break would make two of one, or another request: it is refused.
pub(crate) fn push_header(head: &mut Vec<u8>, name: &str, value: &str) -> Result<(), String> {
    let name_is_token = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b':');
    if !name_is_token || value.contains(['\r', '\n', '\0']) {
        return Err(format!(
            "`{}` cannot be sent as a header",
            name.escape_debug()
        ));
    }
    for part in [name, ": ", value, "\r\n"] {
        head.extend_from_slice(part.as_bytes());
    }
    Ok(())
}

fn content_headers(step: &Step, body: &[u8], head: &mut Vec<u8>) {
    let entry = &step.entry;
    let content_type = if !entry.form.is_empty() {
        Some("application/x-www-form-urlencoded".to_owned())
    } else if !entry.multipart.is_empty() {
        Some(format!("multipart/form-data; boundary={BOUNDARY}"))
    } else {
        let implied = entry.body.as_ref().and_then(Body::content_type);
        implied.map(str::to_owned)
    };
    if let Some(content_type) = content_type
        && !has_header(step, "content-type")
    {
        head.extend_from_slice(format!("Content-Type: {content_type}\r\n").as_bytes());
    }
    // A server may wait for the length of what is meant to have a body, even an empty one.
    let means_body = matches!(entry.method.as_str(), "POST" | "PUT" | "PATCH");
    if (means_body || !body.is_empty()) && !has_header(step, "content-length") {
        head.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
    }
}

fn body(step: &Step, variables: &mut Variables) -> Result<Vec<u8>, String> {
    let entry = &step.entry;
    let mut out = Vec::new();
    for (position, pair) in entry.form.iter().enumerate() {
        if position > 0 {
            out.push(b'&');
        }
        push_pair(pair, variables, &mut out)?;
    }
    if !entry.multipart.is_empty() {
        multipart(step, variables, &mut out)?;
    }
    match &entry.body {
        Some(body) => content(body, step, variables),
        None => Ok(out),
    }
}

/// The bytes a body stands for, in a request or as a demand on an answer.
pub(crate) fn content(
    body: &Body,
    step: &Step,
    variables: &mut Variables,
) -> Result<Vec<u8>, String> {
    match body {
        Body::Json(json) => Ok(json.render(variables)?.into_bytes()),
        Body::GraphQl(graph) => Ok(graph.render(variables)?.into_bytes()),
        Body::Xml(text) => Ok(text.clone().into_bytes()),
        Body::Multiline(_, template) | Body::Oneline(template) => template.render_bytes(variables),
        Body::Bytes(bytes) => Ok(bytes.clone()),
        Body::File(name) => Ok(file(step, name)?.to_vec()),
    }
}

fn file<'a>(step: &'a Step, name: &str) -> Result<&'a [u8], String> {
    match step.files.get(name) {
        Some(bytes) => Ok(bytes.as_slice()),
        None => Err(format!("{name} was not read")),
    }
}

fn multipart(step: &Step, variables: &mut Variables, out: &mut Vec<u8>) -> Result<(), String> {
    for part in &step.entry.multipart {
        let mut head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=");
        match part {
            Part::Text(pair) => {
                push_parameter(&mut head, &pair.key.render(variables)?);
                out.extend_from_slice(head.as_bytes());
                out.extend_from_slice(b"\r\n\r\n");
                out.extend_from_slice(pair.value.render(variables)?.as_bytes());
            }
            Part::File {
                key,
                file: name,
                content_type,
                ..
            } => {
                push_parameter(&mut head, &key.render(variables)?);
                head.push_str("; filename=");
                push_parameter(&mut head, name.rsplit('/').next().unwrap_or(name));
                let content_type = content_type.as_deref().unwrap_or_else(|| type_of(name));
                let _ = write!(head, "\r\nContent-Type: {content_type}\r\n\r\n");
                out.extend_from_slice(head.as_bytes());
                out.extend_from_slice(file(step, name)?);
            }
        }
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    Ok(())
}

/// Appends a quoted parameter, escaped as browsers do (HTML standard, multipart/form-data
/// encoding).
fn push_parameter(head: &mut String, text: &str) {
    head.push('"');
    for character in text.chars() {
        match character {
            '"' => head.push_str("%22"),
            '\r' => head.push_str("%0D"),
            '\n' => head.push_str("%0A"),
            other => head.push(other),
        }
    }
    head.push('"');
}

/// As `hurl` guesses.
fn type_of(name: &str) -> &'static str {
    let extension = name.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
    match extension.as_str() {
        "gif" => "image/gif",
        "htm" | "html" => "text/html",
        "jpeg" | "jpg" => "image/jpeg",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "txt" => "text/plain",
        "xml" => "application/xml",
        _ => "application/octet-stream",
    }
}
