//! HPACK (RFC 7541) without a dynamic table.
//!
//! We tell the server that our table holds nothing, and put nothing into its own. A block then
//! means the same whenever it comes, so that a block that is the last one byte for byte need not be
//! read again, and none is encoded twice.

use super::huffman;

/// Names and values of the static table (appendix A).
const STATIC: [(&str, &str); 61] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];

/// Sets the size of the server's table for us to nothing; to stand before the first block of a
/// connection.
pub(super) const NO_TABLE: u8 = 0x20;
/// A literal without indexing, and one never to be indexed.
const PLAIN: u8 = 0x00;
const SECRET: u8 = 0x10;
/// Largest number accepted as an index or a length.
const NUMBER_MAX: u64 = 1 << 28;

/// Why a block cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadBlock {
    /// Invalid HPACK, or a reference to an empty table entry.
    Encoding(&'static str),
    /// A wrong field in the block, in the caller's words.
    Field(&'static str),
}

/// Takes the name and the value of a field. The error is a sentence.
type TakeField<'a> = dyn FnMut(&[u8], &[u8]) -> Result<(), &'static str> + 'a;

/// Reads a block and passes each field to `take` in order. `scratch` is reused from block to block.
pub(super) fn decode(
    block: &[u8],
    scratch: &mut Vec<u8>,
    take: &mut TakeField<'_>,
) -> Result<(), BadBlock> {
    let mut input = block;
    let mut fields = false;
    while let Some(first) = input.first().copied() {
        if first & 0xe0 == 0x20 {
            let size = number(&mut input, 5)?;
            if fields {
                return Err(BadBlock::Encoding("a table size behind a field"));
            }
            if size > 0 {
                return Err(BadBlock::Encoding("a table size above the limit"));
            }
            continue;
        }
        fields = true;
        scratch.clear();
        if first & 0x80 != 0 {
            let (name, value) = entry(number(&mut input, 7)?)?;
            take(name.as_bytes(), value.as_bytes()).map_err(BadBlock::Field)?;
            continue;
        }
        let prefix = if first & 0x40 != 0 { 6 } else { 4 };
        match number(&mut input, prefix)? {
            0 => text(&mut input, scratch)?,
            index => scratch.extend_from_slice(entry(index)?.0.as_bytes()),
        }
        let split = scratch.len();
        text(&mut input, scratch)?;
        let (name, value) = scratch.split_at(split);
        take(name, value).map_err(BadBlock::Field)?;
    }
    Ok(())
}

fn entry(index: u64) -> Result<(&'static str, &'static str), BadBlock> {
    let index = usize::try_from(index).unwrap_or(usize::MAX);
    let found = index.checked_sub(1).and_then(|at| STATIC.get(at));
    let none = BadBlock::Encoding("an index that stands for nothing");
    found.copied().ok_or(none)
}

/// A number whose first bits are the last `prefix` ones of an octet (5.1).
fn number(input: &mut &[u8], prefix: u32) -> Result<u64, BadBlock> {
    let cut = BadBlock::Encoding("a block that ends too early");
    let mut next = || {
        let (first, rest) = input.split_first().ok_or(cut)?;
        *input = rest;
        Ok(u64::from(*first))
    };
    let most = (1 << prefix) - 1;
    let mut value = next()? & most;
    if value < most {
        return Ok(value);
    }
    for shift in (0..).step_by(7) {
        let octet = next()?;
        if shift > 28 {
            break;
        }
        value += (octet & 0x7f) << shift;
        if octet & 0x80 == 0 && value <= NUMBER_MAX {
            return Ok(value);
        }
    }
    Err(BadBlock::Encoding("a number that is too large"))
}

fn text(input: &mut &[u8], into: &mut Vec<u8>) -> Result<(), BadBlock> {
    let is_coded = input.first().is_some_and(|first| first & 0x80 != 0);
    let length = usize::try_from(number(input, 7)?).unwrap_or(usize::MAX);
    let cut = BadBlock::Encoding("a block that ends too early");
    let (bytes, rest) = input.split_at_checked(length).ok_or(cut)?;
    *input = rest;
    match is_coded {
        false => into.extend_from_slice(bytes),
        true => huffman::decode(bytes, into).ok_or(BadBlock::Encoding("wrong Huffman code"))?,
    }
    Ok(())
}

fn push_number(first: u8, prefix: u32, value: usize, block: &mut Vec<u8>) {
    let most = (1_usize << prefix) - 1;
    if value < most {
        block.push(first | value as u8);
        return;
    }
    block.push(first | most as u8);
    let mut left = value - most;
    while left >= 0x80 {
        block.push(left as u8 | 0x80);
        left >>= 7;
    }
    block.push(left as u8);
}

fn push_text(text: &[u8], block: &mut Vec<u8>) {
    push_number(0, 7, text.len(), block);
    block.extend_from_slice(text);
}

/// Adds one field, with the name in lower case.
fn push_field(name: &[u8], value: &[u8], block: &mut Vec<u8>) {
    let same = |entry: &&(&str, &str)| entry.0.as_bytes() == name;
    let whole = |entry: &(&str, &str)| entry.0.as_bytes() == name && entry.1.as_bytes() == value;
    if let Some(at) = STATIC.iter().position(whole)
        && !value.is_empty()
    {
        return push_number(0x80, 7, at + 1, block);
    }
    let kind = match name {
        b"cookie" | b"authorization" | b"proxy-authorization" => SECRET,
        _ => PLAIN,
    };
    let known = STATIC.iter().find(same);
    let index = known.and_then(|found| STATIC.iter().position(|entry| entry.0 == found.0));
    push_number(kind, 4, index.map_or(0, |at| at + 1), block);
    if index.is_none() {
        push_text(name, block);
    }
    push_text(value, block);
}

/// Returns whether a field belongs to a connection of HTTP/1 and not to a request.
fn is_of_connection(name: &[u8]) -> bool {
    let all: [&[u8]; 6] = [
        b"connection",
        b"keep-alive",
        b"proxy-connection",
        b"transfer-encoding",
        b"upgrade",
        b"http2-settings",
    ];
    all.contains(&name)
}

/// Encodes the head of a request in HTTP/1 form as a block, and returns the length of the head.
pub(super) fn encode_request(head: &[u8], is_tls: bool, block: &mut Vec<u8>) {
    let mut lines = head
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii_end);
    let mut line = lines
        .next()
        .unwrap_or_default()
        .splitn(3, |byte| *byte == b' ');
    let method = line.next().unwrap_or_default();
    let path = line.next().unwrap_or_default();
    let scheme: &[u8] = if is_tls { b"https" } else { b"http" };
    push_field(b":method", method, block);
    push_field(b":scheme", scheme, block);
    push_field(b":path", path, block);
    let fields = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            Some((&line[..colon], line[colon + 1..].trim_ascii()))
        });
    let is_host = |name: &[u8]| name.eq_ignore_ascii_case(b"host");
    if let Some((_, host)) = fields.clone().find(|(name, _)| is_host(name)) {
        push_field(b":authority", host, block);
    }
    for (name, value) in fields.filter(|(name, _)| !is_host(name)) {
        let name = name.to_ascii_lowercase();
        if !is_of_connection(&name) {
            push_field(&name, value, block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let hex: String = hex.split_whitespace().collect();
        let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex");
        (0..hex.len()).step_by(2).map(digits).collect()
    }

    fn decoded(block: &[u8]) -> Result<Vec<String>, BadBlock> {
        let mut all = Vec::new();
        decode(block, &mut Vec::new(), &mut |name, value| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            all.push(format!("{}: {}", text(name), text(value)));
            Ok(())
        })?;
        Ok(all)
    }

    /// RFC 7541, C.2, C.3.1, C.4.1, C.5.1 and C.6.1, which need no table.
    #[test]
    fn known_blocks_are_read() {
        let first = [
            ":method: GET",
            ":scheme: http",
            ":path: /",
            ":authority: www.example.com",
        ];
        let answer = [
            ":status: 302",
            "cache-control: private",
            "date: Mon, 21 Oct 2013 20:13:21 GMT",
            "location: https://www.example.com",
        ];
        for (hex, fields) in [
            (
                "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
                &["custom-key: custom-header"][..],
            ),
            (
                "040c 2f73 616d 706c 652f 7061 7468",
                &[":path: /sample/path"],
            ),
            (
                "1008 7061 7373 776f 7264 0673 6563 7265 74",
                &["password: secret"],
            ),
            ("82", &[":method: GET"]),
            ("8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", &first),
            ("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", &first),
            (
                "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
                &answer,
            ),
            (
                "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
                &answer,
            ),
            ("20 82", &[":method: GET"]),
        ] {
            assert_eq!(decoded(&bytes(hex)).expect(hex), fields, "{hex}");
        }
    }

    #[test]
    fn wrong_blocks_are_refused() {
        for (hex, why) in [
            ("80", "an index that stands for nothing"),
            ("be", "an index that stands for nothing"),
            ("82 20", "a table size behind a field"),
            ("3fe11f 82", "a table size above the limit"),
            ("40", "a block that ends too early"),
            ("400a 63", "a block that ends too early"),
            ("ff ffff ffff ffff ffff", "a number that is too large"),
            ("0001 61 83 ffffff", "wrong Huffman code"),
        ] {
            assert_eq!(decoded(&bytes(hex)), Err(BadBlock::Encoding(why)), "{hex}");
        }
    }

    #[test]
    fn a_request_becomes_a_block() {
        let head = "POST /a?b=1 HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\nX-Long: yes\r\nCookie: a=1\r\nContent-Length: 2\r\n\r\nhi";
        let mut block = Vec::new();
        encode_request(head.as_bytes(), true, &mut block);
        let fields = [
            ":method: POST",
            ":scheme: https",
            ":path: /a?b=1",
            ":authority: app.test",
            "x-long: yes",
            "cookie: a=1",
            "content-length: 2",
        ];
        assert_eq!(decoded(&block).expect("a block"), fields);
        // The numbers of RFC 7541, C.1.
        for (prefix, value, hex) in [(5, 10, "0a"), (5, 1337, "1f9a0a"), (8, 42, "2a")] {
            let mut out = Vec::new();
            push_number(0, prefix, value, &mut out);
            assert_eq!(out, bytes(hex));
        }
    }
}
