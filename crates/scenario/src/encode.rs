//! Texts and bytes in the clothes of URLs, HTML, hexadecimal digits and base64.

const HEX_DIGITS: &[u8; 16] = b"0123456789abcdef";
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The five characters escaped in HTML text, with the escapes.
const HTML: [(char, &str); 5] = [
    ('&', "&amp;"),
    ('<', "&lt;"),
    ('>', "&gt;"),
    ('"', "&quot;"),
    ('\'', "&#x27;"),
];

pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(HEX_DIGITS[usize::from(byte >> 4)] as char);
        text.push(HEX_DIGITS[usize::from(byte & 15)] as char);
    }
    text
}

/// The bytes of an even number of hexadecimal digits.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .chars()
        .map(|c| c.to_digit(16).map(|digit| digit as u8))
        .collect::<Option<_>>()?;
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    Some(
        digits
            .chunks(2)
            .map(|pair| pair[0] << 4 | pair[1])
            .collect(),
    )
}

/// Returns the bytes of hexadecimal digits, white space ignored.
pub(crate) fn from_hex_text(text: &str) -> Option<Vec<u8>> {
    from_hex(&text.replace(char::is_whitespace, ""))
}

/// Appends 16 hexadecimal digits.
pub(crate) fn push_hex_u64(number: u64, out: &mut Vec<u8>) {
    for shift in (0..16).rev() {
        out.push(HEX_DIGITS[(number >> (shift * 4)) as usize & 15]);
    }
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk
            .iter()
            .fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for position in 0..4 {
            let sextet = (bits >> (18 - 6 * position)) & 63;
            let used = position <= chunk.len();
            text.push(if used {
                BASE64[sextet as usize] as char
            } else {
                '='
            });
        }
    }
    text
}

/// In the alphabet for URLs, without padding (RFC 4648, section 5).
pub(crate) fn base64_url_safe(bytes: &[u8]) -> String {
    let plain = base64(bytes);
    plain
        .trim_end_matches('=')
        .replace('+', "-")
        .replace('/', "_")
}

/// The bytes of base64 text in either alphabet; white space is skipped, padding may be missing.
/// `None` for what no encoder writes.
pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut bits = 0_u32;
    let mut bits_held = 0;
    let mut padded = false;
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        let sextet = match byte {
            b'=' => {
                padded = true;
                continue;
            }
            _ if padded => return None,
            b'-' => 62,
            b'_' => 63,
            _ => BASE64.iter().position(|letter| *letter == byte)? as u32,
        };
        bits = bits << 6 | sextet;
        bits_held += 6;
        if bits_held >= 8 {
            bits_held -= 8;
            bytes.push((bits >> bits_held) as u8);
        }
    }
    // Six bits are no byte: something was cut off.
    (bits_held < 6).then_some(bytes)
}

/// Returns the bytes of base64 in the strict form of RFC 4648, section 4: padded, without white
/// space.
pub(crate) fn from_base64_exactly(text: &str) -> Option<Vec<u8>> {
    let bytes = from_base64(text)?;
    // Only one text stands for these bytes.
    (base64(&bytes) == text).then_some(bytes)
}

/// The bytes of base64 in the alphabet for URLs, without padding.
pub(crate) fn from_base64_url_safe(text: &str) -> Option<Vec<u8>> {
    let bytes = from_base64(text)?;
    (base64_url_safe(&bytes) == text).then_some(bytes)
}

/// Whether a text is a whole URL.
pub(crate) fn is_url(text: &str) -> bool {
    let rest = text
        .strip_prefix("http://")
        .or_else(|| text.strip_prefix("https://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['/', '?', '#', ':']))
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~')
}

fn push_percent(byte: u8, out: &mut Vec<u8>) {
    out.push(b'%');
    out.push(HEX_DIGITS[usize::from(byte >> 4)].to_ascii_uppercase());
    out.push(HEX_DIGITS[usize::from(byte & 15)].to_ascii_uppercase());
}

/// Appends `bytes` with all but unreserved characters percent-encoded, as in a query or a form.
pub(crate) fn push_url_component(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        if is_unreserved(*byte) {
            out.push(*byte);
        } else {
            push_percent(*byte, out);
        }
    }
}

/// Appends a URL's own text, encoding only what cannot stand in a request line.
pub(crate) fn push_url_text(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        if byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>') {
            out.push(*byte);
        } else {
            push_percent(*byte, out);
        }
    }
}

/// Percent-encodes all but unreserved characters and `/`.
pub(crate) fn url_encode(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    for (position, part) in text.split('/').enumerate() {
        if position > 0 {
            out.push(b'/');
        }
        push_url_component(part.as_bytes(), &mut out);
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns the decoded value of a parameter in a URL's query; `None` for a missing one.
pub(crate) fn url_query_param(url: &str, name: &str) -> Option<String> {
    let query = url.split('#').next()?.split_once('?')?.1;
    let plain = |text: &str| url_decode(&text.replace('+', " "));
    query.split('&').find_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (plain(key) == name).then(|| plain(value))
    })
}

/// Undoes percent-encoding. A `%` without its digits stays, bytes that are not UTF-8 become
/// replacement characters.
pub fn url_decode(text: &str) -> String {
    let mut decoded = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let digit = |place: usize| char::from(*bytes.get(place)?).to_digit(16);
        let escape = (bytes[at] == b'%')
            .then(|| Some(digit(at + 1)? << 4 | digit(at + 2)?))
            .flatten();
        decoded.push(escape.map_or(bytes[at], |byte| byte as u8));
        at += if escape.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

pub(crate) fn html_escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match HTML.iter().find(|(plain, _)| *plain == character) {
            Some((_, escaped)) => out.push_str(escaped),
            None => out.push(character),
        }
    }
    out
}

/// References valid in HTML without a trailing `;` ("named character references").
const HTML_WITHOUT_SEMICOLON: &str = "AElig AMP Aacute Acirc Agrave Aring Atilde Auml COPY Ccedil ETH Eacute Ecirc Egrave Euml \
    GT Iacute Icirc Igrave Iuml LT Ntilde Oacute Ocirc Ograve Oslash Otilde Ouml QUOT REG \
    THORN Uacute Ucirc Ugrave Uuml Yacute aacute acirc acute aelig agrave amp aring atilde \
    auml brvbar ccedil cedil cent copy curren deg divide eacute ecirc egrave eth euml frac12 \
    frac14 frac34 gt iacute icirc iexcl igrave iquest iuml laquo lt macr micro middot nbsp \
    not ntilde oacute ocirc ograve ordf ordm oslash otilde ouml para plusmn pound quot raquo \
    reg sect shy sup1 sup2 sup3 szlig thorn times uacute ucirc ugrave uml uuml yacute yen \
    yuml";

/// Resolves the references of HTML, also without `;`; invalid ones are unchanged.
pub(crate) fn html_unescape(text: &str) -> String {
    let mut closed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, from) = rest.split_at(at);
        closed.push_str(before);
        let length = unclosed_reference(from).unwrap_or(0);
        let taken = length.max(1);
        closed.push_str(&from[..taken]);
        if length > 0 {
            closed.push(';');
        }
        rest = &from[taken..];
    }
    closed.push_str(rest);
    html_escape::decode_html_entities(&closed).into_owned()
}

/// Returns the length of the reference at the start of `text`, if unclosed.
fn unclosed_reference(text: &str) -> Option<usize> {
    let run = |from: usize, belongs: fn(&char) -> bool| {
        let taken = text[from..].chars().take_while(belongs);
        from + taken.map(char::len_utf8).sum::<usize>()
    };
    let (start, end) = match text.get(1..3) {
        Some("#x" | "#X") => (3, run(3, char::is_ascii_hexdigit)),
        Some(digits) if digits.starts_with('#') => (2, run(2, char::is_ascii_digit)),
        _ => (1, run(1, char::is_ascii_alphanumeric)),
    };
    let is_closed = text[end..].starts_with(';');
    if start > 1 {
        return (end > start && !is_closed).then_some(end);
    }
    let whole = text.get(..=end).filter(|_| is_closed);
    if whole.is_some_and(|whole| html_escape::decode_html_entities(whole) != whole) {
        return None;
    }
    let names = HTML_WITHOUT_SEMICOLON.split(' ');
    let longest = names
        .filter(|name| text[1..end].starts_with(name))
        .map(str::len)
        .max()?;
    Some(1 + longest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn base64_is_the_one_of_the_standard() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), coded);
            assert_eq!(from_base64(coded).as_deref(), Some(plain.as_bytes()));
        }
        assert_eq!(from_base64("Zg=x"), None);
    }

    #[test]
    fn html_references_are_resolved() {
        assert_eq!(
            html_unescape("a &lt;b&gt; &#x27;&#39; &amp;amp; &x &"),
            "a <b> '' &amp; &x &"
        );
        assert_eq!(
            html_unescape("&#65 foo &#x42; &ampx &notit; &notin; &#; &é &copy"),
            "A foo B &x \u{ac}it; \u{2209} &#; &é \u{a9}"
        );
        assert_eq!(
            html_escape("<a href=\"x\">"),
            "&lt;a href=&quot;x&quot;&gt;"
        );
    }

    proptest! {
        #[test]
        fn codes_undo_each_other(bytes: Vec<u8>, text: String) {
            prop_assert_eq!(from_base64(&base64(&bytes)), Some(bytes.clone()));
            prop_assert_eq!(from_hex(&hex(&bytes)), Some(bytes));
            prop_assert_eq!(url_decode(&url_encode(&text)), text.clone());
            prop_assert_eq!(html_unescape(&html_escape(&text)), text);
        }
    }
}
