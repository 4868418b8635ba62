//! Headers and files sent or fetched by browsers automatically, and the part needed in a flow.

/// Headers left out of flows: of the connection, of the load generator, and of the browser only.
const LEFT_OUT: [&str; 18] = [
    "host",
    "user-agent",
    "accept-encoding",
    "accept-language",
    "connection",
    "content-length",
    "cookie",
    "cache-control",
    "pragma",
    "upgrade-insecure-requests",
    "dnt",
    "origin",
    "referer",
    "if-none-match",
    "if-modified-since",
    "priority",
    "te",
    "transfer-encoding",
];

/// Returns whether a flow sends the header as well.
pub(crate) fn is_kept(header: &str) -> bool {
    let name = header.to_ascii_lowercase();
    let is_left_out = LEFT_OUT.contains(&name.as_str());
    !name.is_empty() && !is_left_out && !name.starts_with("sec-") && !name.starts_with(':')
}

/// Returns whether the response is a file equal for all users.
pub(crate) fn is_static(path: &str, content_type: &str) -> bool {
    const TYPES: [&str; 7] = [
        "image/",
        "font/",
        "audio/",
        "video/",
        "text/css",
        "javascript",
        "application/font",
    ];
    const EXTENSIONS: [&str; 14] = [
        "css", "js", "mjs", "map", "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "woff",
        "woff2", "ttf",
    ];
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let extension = path
        .rsplit('/')
        .next()
        .and_then(|name| name.rsplit_once('.'));
    let by_name = extension.is_some_and(|(_, extension)| EXTENSIONS.contains(&extension));
    by_name || TYPES.iter().any(|kind| content_type.contains(kind))
}

/// Returns whether bodies of the kind are bytes, which a record holds as text.
pub(crate) fn is_binary(kind: &str) -> bool {
    const KINDS: [&str; 7] = [
        "image/",
        "octet-stream",
        "protobuf",
        "grpc",
        "msgpack",
        "zip",
        "pdf",
    ];
    KINDS.iter().any(|part| kind.contains(part))
}

/// Splits an address into scheme with host, and path with query; a fragment is left out. `None` for
/// other schemes than HTTP's.
pub(crate) fn split_url(url: &str) -> Option<(&str, String)> {
    let scheme = ["http://", "https://"]
        .into_iter()
        .find(|scheme| url.starts_with(scheme))?;
    let rest = &url[scheme.len()..];
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    if end == 0 {
        return None;
    }
    let path = rest[end..].split('#').next().unwrap_or_default();
    let slash = if path.starts_with('/') { "" } else { "/" };
    Some((&url[..scheme.len() + end], format!("{slash}{path}")))
}

/// Takes the name and password before the host out of an address; returns both without escapes.
pub(crate) fn split_user(url: &str) -> (String, Option<(String, String)>) {
    let parts = url.split_once("://").and_then(|(scheme, rest)| {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let at = rest[..end].rfind('@')?;
        Some((scheme, &rest[..at], &rest[at + 1..]))
    });
    let Some((scheme, user, rest)) = parts else {
        return (url.to_owned(), None);
    };
    let (name, password) = user.split_once(':').unwrap_or((user, ""));
    let user = (decoded(name), decoded(password));
    (format!("{scheme}://{rest}"), Some(user))
}

/// Returns names and values of a form's body; `None` where the fields do not give all of the body:
/// for a pair without `=`, a field without a name, escapes of other text than UTF-8.
pub(crate) fn form_fields(text: &str) -> Option<Vec<(String, String)>> {
    let plain = |text: &str| String::from_utf8(decoded_bytes(&text.replace('+', " "))).ok();
    text.split('&')
        .map(|pair| {
            let (name, value) = pair.split_once('=')?;
            let name = plain(name).filter(|name| !name.is_empty())?;
            Some((name, plain(value)?))
        })
        .collect()
}

/// Returns the text with `%20` and other percent escapes decoded; anything else is unchanged.
pub(crate) fn decoded(text: &str) -> String {
    String::from_utf8_lossy(&decoded_bytes(text)).into_owned()
}

fn decoded_bytes(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes
            .get(at + 1..at + 3)
            .and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits
            .filter(|two| bytes[at] == b'%' && two.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|two| u8::from_str_radix(two, 16).ok());
        out.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    out
}
