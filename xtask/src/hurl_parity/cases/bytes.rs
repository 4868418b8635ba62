//! Bodies other than UTF-8, charsets, and answers over TLS.

use super::{Case, answer_bytes};

/// Bodies by charset.
const TEXTS: [(&str, &[u8]); 12] = [
    ("utf-8", "été".as_bytes()),
    ("UTF-8", b"plain"),
    ("iso-8859-1", b"\xe9t\xe9"),
    ("latin1", b"\xe9"),
    ("windows-1252", b"\x93x\x94 \x80"),
    ("shift_jis", b"\x93\xfa\x96{"),
    ("euc-jp", b"\xc6\xfc\xcb\xdc"),
    ("gb2312", b"\xc4\xe3\xba\xc3"),
    ("utf-16le", b"h\0i\0"),
    ("koi8-r", b"\xf0\xd2\xc9"),
    ("none", b"x"),
    ("utf-8", b"\xff\xfe\0x"),
];

const CHECKS: [&str; 22] = [
    "body exists",
    "body == \"été\"",
    "body contains \"é\"",
    "body count == 3",
    "bytes count == 3",
    "bytes exists",
    "bytes startsWith hex,e9;",
    "bytes contains hex,ff;",
    "rawbytes count > 1",
    "sha256 exists",
    "md5 exists",
    "regex \"(.)\" == \"é\"",
    "bytes decode \"iso-8859-1\" == \"été\"",
    "bytes charsetDecode \"gb2312\" == \"你好\"",
    "bytes charsetDecode \"utf-8\" exists",
    "bytes toHex == \"e974e9\"",
    "bytes base64Encode exists",
    "bytes utf8Decode exists",
    "xpath \"string(/)\" exists",
    "jsonpath \"$\" exists",
    "body startsWith \"h\"",
    "header \"Content-Type\" contains \"charset\"",
];

/// Bodies of requests other than text, and demands on a body of such bytes.
const BODIES: [&str; 10] = [
    "hex,00ff10;",
    "base64,AP8Q;",
    "file,cat.bin;",
    "file,data.json;",
    "hex,;",
    "```hex\n00 ff\n```",
    "[Multipart]\na: file,cat.bin;",
    "[Multipart]\na: file,cat.bin; application/x-cat\nb: é",
    "Content-Type: application/octet-stream\n\nhex,ff;",
    "`é`",
];

const TRUSTS: [&str; 7] = [
    "",
    "insecure: true",
    "insecure: false",
    "cacert: ca.pem",
    "cacert: cert.pem",
    "cacert: hello.txt",
    "cacert: ca.pem\ninsecure: true",
];
const IDENTITIES: [&str; 6] = [
    "",
    "cert: cert.pem\nkey: key.pem",
    "cert: both.pem",
    "cert: both.pem\nkey: key.pem",
    "cert: cert.pem",
    "cert: key.pem\nkey: cert.pem",
];
const WAYS: [&str; 9] = [
    "",
    "http1.1: true",
    "http2: true",
    "http2: false",
    "netrc-file: netrc.txt",
    "user: a:b\ncompressed: true",
    "connect-to: other.test:443:127.0.0.1:1",
    "resolve: other.test:443:127.0.0.9\nlocation: true",
    "retry: 1\nretry-interval: 1ms\nheader: A: 1",
];

pub(super) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for (charset, body) in TEXTS {
        let url = answer_bytes(
            200,
            &format!("Content-Type: text/plain; charset={charset}"),
            body,
        );
        for check in CHECKS {
            let text = format!("GET {url}\nHTTP 200\n[Asserts]\n{check}\n");
            cases.push(Case::new(format!("charset {charset} {check}"), text));
        }
    }
    let cat = answer_bytes(200, "Content-Type: image/cat", b"\0\xffcat");
    for body in BODIES {
        let cause = format!("bytes {}", body.replace('\n', "\\n"));
        cases.push(Case::new(
            cause.clone(),
            format!("POST §/echo\n{body}\nHTTP 200\n"),
        ));
        cases.push(Case::new(cause, format!("GET {cat}\nHTTP 200\n{body}\n")));
    }
    cases
}

/// Options of connections in combination, over TLS.
pub(super) fn over_tls() -> Vec<Case> {
    let mut cases = Vec::new();
    for trust in TRUSTS {
        for identity in IDENTITIES {
            for way in WAYS {
                let options = [trust, identity, way].join("\n");
                let options = options.trim().replace("\n\n", "\n");
                let version = if way == "http2: true" {
                    "HTTP/2"
                } else {
                    "HTTP"
                };
                let text = format!("GET §/echo\n[Options]\n{options}\n{version} 200\n");
                let cause = format!("TLS {}", options.replace('\n', ", "));
                cases.push(Case {
                    is_tls: true,
                    ..Case::new(cause, text)
                });
            }
        }
    }
    cases
}
