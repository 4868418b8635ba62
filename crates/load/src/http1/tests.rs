//! Responses whole, in pieces, and broken.

use proptest::prelude::*;

use super::*;

const LIMITS: Limits = Limits {
    head_bytes: 4096,
    body_bytes: 10_000,
};

/// Status, body, whole length of the body, whether the connection lives on, and bytes left over.
type Read = Result<(u16, Vec<u8>, u64, bool, usize), BadAnswer>;

/// Reads `bytes` in pieces of the given sizes, again and again, then closes.
fn read(bytes: &[u8], pieces: &[usize], is_head: bool) -> Option<Read> {
    let mut reader = AnswerReader::new(LIMITS);
    reader.expect(is_head, 100, false);
    let mut rest = bytes;
    let mut sizes = pieces.iter().cycle();
    while !rest.is_empty() && !reader.is_complete() {
        let size = sizes
            .next()
            .map_or(rest.len(), |size| (*size).clamp(1, rest.len()));
        match reader.feed(&rest[..size]) {
            Ok(taken) => rest = &rest[taken..],
            Err(bad) => return Some(Err(bad)),
        }
    }
    let complete = reader.is_complete() || reader.close();
    let answer = reader.answer(0);
    complete.then(|| {
        let body = answer.body.to_vec();
        Ok((
            answer.status,
            body,
            reader.body_bytes(),
            reader.keeps_alive(),
            rest.len(),
        ))
    })
}

fn check(bytes: &str, is_head: bool, expected: Option<(u16, &str, bool, usize)>) {
    let found = read(bytes.as_bytes(), &[], is_head).map(|read| read.expect(bytes));
    let found = found.map(|(status, body, _, alive, left)| {
        (status, String::from_utf8(body).expect("text"), alive, left)
    });
    let expected =
        expected.map(|(status, body, alive, left)| (status, body.to_owned(), alive, left));
    assert_eq!(found, expected, "{bytes:?}");
}

#[test]
fn bodies_are_framed_as_the_standard_says() {
    let ok = |rest: &str| format!("HTTP/1.1 200 OK\r\n{rest}");
    check(
        &ok("Content-Length: 3\r\n\r\nabcd"),
        false,
        Some((200, "abc", true, 1)),
    );
    check(&ok("Content-Length: 3\r\n\r\nab"), false, None);
    check(
        &ok("Content-Length: 0\r\n\r\n"),
        false,
        Some((200, "", true, 0)),
    );
    check(
        &ok("Content-Length: 3\r\n\r\n"),
        true,
        Some((200, "", true, 0)),
    );
    check(
        &ok("\r\nto the end"),
        false,
        Some((200, "to the end", false, 0)),
    );
    check(
        &ok("Connection: Close\r\nContent-Length: 1\r\n\r\na"),
        false,
        Some((200, "a", false, 0)),
    );
    check(
        "HTTP/1.0 200\r\nContent-Length: 1\r\n\r\na",
        false,
        Some((200, "a", false, 0)),
    );
    check(
        "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na",
        false,
        Some((200, "a", true, 0)),
    );
    check(
        "HTTP/1.1 304 x\r\nContent-Length: 9\r\n\r\n",
        false,
        Some((304, "", true, 0)),
    );
    check(
        "HTTP/1.1 204 x\r\n\r\nHTTP",
        false,
        Some((204, "", true, 4)),
    );
}

#[test]
fn a_connection_that_is_to_be_closed_is_not_kept() {
    for lines in [
        "Connection: close\r\nConnection: keep-alive",
        "Connection: keep-alive\r\nConnection: close",
        "Connection: keep-alive, Close",
    ] {
        let answer = format!("HTTP/1.1 200 OK\r\n{lines}\r\nContent-Length: 1\r\n\r\na");
        check(&answer, false, Some((200, "a", false, 0)));
    }
}

#[test]
fn interim_answers_and_chunks() {
    check(
        "HTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 201 OK\r\nContent-Length: 1\r\n\r\na",
        false,
        Some((201, "a", true, 0)),
    );
    let chunked =
        |rest: &str| format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{rest}");
    check(
        &chunked("1\r\na\r\n2;e=1\r\nbc\r\n0\r\n\r\n"),
        false,
        Some((200, "abc", true, 0)),
    );
    check(
        &chunked("0\r\nT: 1\r\nU: 2\r\n\r\nx"),
        false,
        Some((200, "", true, 1)),
    );
    check(&chunked("1\r\na\r\n"), false, None);
    check(
        &chunked("A\n0123456789\n0\n\n"),
        false,
        Some((200, "0123456789", true, 0)),
    );
}

fn answer() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let body = proptest::collection::vec(any::<u8>(), 0..300);
    (body, any::<bool>(), 1_usize..40, 0_usize..30).prop_map(|(body, chunked, size, headers)| {
        let mut bytes = b"HTTP/1.1 200 OK\r\n".to_vec();
        for number in 0..headers {
            bytes.extend_from_slice(
                format!("X-{number}: {}\r\n", "v".repeat(number * 7)).as_bytes(),
            );
        }
        if chunked {
            bytes.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
            for chunk in body.chunks(size) {
                bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                bytes.extend_from_slice(chunk);
                bytes.extend_from_slice(b"\r\n");
            }
            bytes.extend_from_slice(b"0\r\n\r\n");
        } else {
            bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
            bytes.extend_from_slice(&body);
        }
        (bytes, body)
    })
}

proptest! {
    #[test]
    fn pieces_do_not_matter(
        (bytes, body) in answer(),
        behind in 0_usize..5,
        pieces in proptest::collection::vec(1_usize..50, 1..8),
    ) {
        let with_more = [bytes, vec![b'x'; behind]].concat();
        let kept = body[..body.len().min(100)].to_vec();
        let expected: Option<Read> = Some(Ok((200, kept, body.len() as u64, true, behind)));
        prop_assert_eq!(read(&with_more, &[], false), expected.clone());
        // In pieces, what is left over is counted from all bytes too.
        prop_assert_eq!(read(&with_more, &pieces, false), expected);
    }

    #[test]
    fn any_bytes_are_survived(
        bytes in proptest::collection::vec(any::<u8>(), 0..600),
        start in prop_oneof![
            Just(""),
            Just("HTTP/1.1 200 OK\r\n"),
            Just("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
        ],
        pieces in proptest::collection::vec(1_usize..50, 1..8),
    ) {
        let all = [start.as_bytes(), &bytes].concat();
        let whole = read(&all, &[], false);
        prop_assert_eq!(read(&all, &pieces, false), whole);
    }
}

#[test]
fn an_answer_is_read_the_same_behind_any_other() {
    let answers: [(&[u8], bool); 9] = [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", false),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcd", false),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", true),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
            false,
        ),
        (b"HTTP/1.1 204 No Content\r\n\r\n", false),
        (
            b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
            false,
        ),
        (
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
            false,
        ),
        (
            b"HTTP/1.1 500 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            false,
        ),
        (b"HTTP/1.0 200 OK\r\n\r\nto the end", false),
    ];
    let read_one = |reader: &mut AnswerReader, (bytes, is_head): (&[u8], bool), piece: usize| {
        reader.expect(is_head, 100, false);
        assert_eq!(reader.answer(0).head, b"", "an old head shows");
        assert_eq!(reader.answer(0).headers.len(), 0);
        for piece in bytes.chunks(piece) {
            assert_eq!(reader.feed(piece), Ok(piece.len()));
        }
        assert!(reader.is_complete() || reader.close());
        let answer = reader.answer(0);
        let fields: Vec<_> = answer
            .fields()
            .map(|(n, v)| (n.to_vec(), v.to_vec()))
            .collect();
        let body = answer.body.to_vec();
        (
            answer.status,
            answer.minor_version,
            fields,
            body,
            reader.keeps_alive(),
        )
    };
    for piece in [1, 7, 1000] {
        for first in answers {
            for second in answers {
                let alone = read_one(&mut AnswerReader::new(LIMITS), second, piece);
                let mut reader = AnswerReader::new(LIMITS);
                read_one(&mut reader, first, 1000);
                assert_eq!(read_one(&mut reader, second, piece), alone);
                assert_eq!(
                    read_one(&mut reader, second, 1000),
                    alone,
                    "the second time"
                );
            }
        }
    }
}
