//! Frames in any pieces, good ones and bad ones.

use proptest::prelude::*;

use super::*;

/// An event of a reader, with the bytes.
type Told = (Event, Vec<u8>);

/// A server's frame.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match payload.len() {
        short @ 0..=125 => bytes.push(short as u8),
        medium @ 126..=0xffff => {
            bytes.push(126);
            bytes.extend((medium as u16).to_be_bytes());
        }
        long => {
            bytes.push(127);
            bytes.extend((long as u64).to_be_bytes());
        }
    }
    bytes.extend(payload);
    bytes
}

/// Returns all events of a reader for bytes in pieces of the given size.
fn read(bytes: &[u8], pieces: usize, limit: u64) -> Result<Vec<Told>, BadFrame> {
    let mut reader = FrameReader::new(limit);
    let mut told = Vec::new();
    for mut piece in bytes.chunks(pieces) {
        while !piece.is_empty() {
            let (taken, event) = reader.feed(piece)?;
            assert!(taken == piece.len() || event.is_some());
            if let Some(event) = event {
                let of = match event {
                    Event::Message => reader.message(),
                    _ => reader.control(),
                };
                told.push((event, of.to_vec()));
            }
            piece = &piece[taken..];
        }
    }
    Ok(told)
}

fn check(bytes: &[u8], expected: &[(Event, &[u8])]) {
    let expected: Vec<Told> = expected
        .iter()
        .map(|(event, of)| (*event, of.to_vec()))
        .collect();
    for pieces in [1, 2, 3, bytes.len()] {
        assert_eq!(
            read(bytes, pieces, 1_000),
            Ok(expected.clone()),
            "{bytes:?}"
        );
    }
}

fn bad(bytes: &[u8], why: &'static str) {
    for pieces in [1, bytes.len()] {
        assert_eq!(read(bytes, pieces, 1_000), Err(BadFrame(why)), "{bytes:?}");
    }
}

#[test]
fn messages_and_what_comes_between() {
    check(&frame(0x81, b"Hello"), &[(Event::Message, b"Hello")]);
    check(&frame(0x82, b""), &[(Event::Message, b"")]);
    check(
        &frame(0x82, &[0xff; 300]),
        &[(Event::Message, &[0xff; 300])],
    );
    let pieces = [
        frame(0x01, b"H\xc3"),
        frame(0x89, b"are you there?"),
        frame(0x00, b"\xa9l"),
        frame(0x8a, b""),
        frame(0x80, b"o"),
        frame(0x88, &[0x03, 0xe9, b'b', b'y', b'e']),
    ];
    let expected: [(Event, &[u8]); 4] = [
        (Event::Ping, b"are you there?"),
        (Event::Pong, b""),
        (Event::Message, "Hélo".as_bytes()),
        (Event::Close, b"\x03\xe9bye"),
    ];
    check(&pieces.concat(), &expected);
}

#[test]
fn what_the_standard_forbids() {
    bad(
        &[0xc1, 0x00],
        "a frame uses an extension that was not agreed on",
    );
    bad(&[0x81, 0x80, 0, 0, 0, 0], "the server masks its frames");
    bad(&[0x83, 0x00], "a frame of a kind that is not known");
    bad(&[0x8b, 0x00], "a frame of a kind that is not known");
    bad(&frame(0x80, b"x"), "a message goes on that never began");
    let twice = [frame(0x01, b"x"), frame(0x81, b"y")].concat();
    bad(&twice, "a message begins inside another");
    bad(&[0x09, 0x00], "a control frame is too long, or in pieces");
    bad(
        &frame(0x89, &[7; 126]),
        "a control frame is too long, or in pieces",
    );
    bad(&frame(0x81, b"\xff"), "a text message is not UTF-8");
    bad(&frame(0x81, b"\xc3"), "a text message is not UTF-8");
    let wrong = "the length of a frame is written in a wrong way";
    bad(&[0x81, 126, 0, 125], wrong);
    bad(&[0x81, 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff], wrong);
    bad(&[0x81, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], wrong);
}

#[test]
fn nothing_is_kept_beyond_the_limit() {
    let why = "the message is larger than the limit";
    bad(&[0x82, 126, 0x03, 0xe9], why);
    bad(&[0x82, 127, 0, 0, 0, 1, 0, 0, 0, 0], why);
    bad(
        &[frame(0x02, &[0; 600]), frame(0x00, &[0; 401])].concat(),
        why,
    );
}

#[test]
fn the_words_of_the_end() {
    let goodbye = |payload: &[u8]| -> Result<String, BadFrame> {
        let mut reader = FrameReader::new(10);
        let (_, event) = reader.feed(&frame(0x88, payload))?;
        assert_eq!(event, Some(Event::Close));
        Ok(reader.goodbye())
    };
    assert_eq!(goodbye(b""), Ok("without a reason".to_owned()));
    assert_eq!(goodbye(b"\x03\xe8"), Ok("1000".to_owned()));
    assert_eq!(goodbye(b"\x03\xe9restart"), Ok("1001 restart".to_owned()));
    let bad = |why| -> Result<String, BadFrame> { Err(BadFrame(why)) };
    assert_eq!(goodbye(b"\x03"), bad("a close frame has half a code"));
    assert_eq!(
        goodbye(b"\x03\xed"),
        bad("a close frame has a code that is not allowed")
    );
    assert_eq!(
        goodbye(b"\x03\xe8\xff"),
        bad("the reason of a close frame is not UTF-8")
    );
}

/// Returns a strategy for a message in one or several frames, with a control frame in between.
fn message() -> impl Strategy<Value = (Vec<u8>, Vec<Vec<u8>>)> {
    let payload = proptest::collection::vec(any::<u8>(), 0..400);
    let cuts = proptest::collection::vec(0_usize..400, 0..4);
    (payload, cuts, any::<bool>()).prop_map(|(payload, mut cuts, ping)| {
        cuts.sort_unstable();
        let mut frames = Vec::new();
        let mut from = 0;
        let ends = cuts.into_iter().map(|cut| cut.min(payload.len()));
        for end in ends {
            frames.push(frame(
                if frames.is_empty() { 0x02 } else { 0x00 },
                &payload[from..end],
            ));
            from = end;
        }
        let last = if frames.is_empty() { 0x82 } else { 0x80 };
        frames.push(frame(last, &payload[from..]));
        if ping {
            frames.insert(frames.len() - 1, frame(0x8a, b"pong"));
        }
        (payload, frames)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn messages_come_out_as_they_went_in(
        messages in proptest::collection::vec(message(), 1..4),
        pieces in 1_usize..500,
    ) {
        let (payloads, frames): (Vec<Vec<u8>>, Vec<Vec<Vec<u8>>>) = messages.into_iter().unzip();
        let bytes = frames.concat().concat();
        let told = read(&bytes, pieces, 400).expect("good frames");
        let came: Vec<Vec<u8>> = (told.into_iter())
            .filter(|(event, _)| *event == Event::Message)
            .map(|(_, message)| message)
            .collect();
        prop_assert_eq!(came, payloads);
    }

    /// For any bytes, the reader ends with events or an error, the same for all pieces, within the
    /// limit.
    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in proptest::collection::vec(any::<u8>(), 1..300),
        begin in prop_oneof![Just(0x81_u8), Just(0x01), Just(0x82), Just(0x88), any::<u8>()],
        pieces in 1_usize..50,
    ) {
        let bytes = [vec![begin], bytes].concat();
        prop_assert_eq!(read(&bytes, pieces, 100), read(&bytes, bytes.len(), 100));
    }
}
