//! Both ends of a ring in one process, on real shared memory.

use proptest::prelude::*;
use ring::{
    ActRecord, Hello, Place, ReadError, Reader, Record, RequestRecord, RuntimeRecord, SqlRecord,
    TextKind, Writer,
};

struct Fixture {
    folder: tempfile::TempDir,
    writer: Writer,
}

impl Fixture {
    fn new() -> Fixture {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let writer = Writer::create(&Place {
            folder: folder.path().to_owned(),
            pid: 12,
            tid: 34,
            number: 0,
            capacity_bytes: 1,
        })
        .expect("a ring");
        Fixture { folder, writer }
    }

    fn reader(&self) -> Reader {
        Reader::open(&self.folder.path().join("12-0.ring")).expect("a readable ring")
    }
}

fn drained(reader: &mut Reader) -> Vec<(u16, Vec<u8>)> {
    let mut all = Vec::new();
    reader
        .drain(|kind, payload| all.push((kind, payload.to_owned())))
        .expect("no damage");
    all
}

#[test]
fn what_is_written_is_read_once() {
    let mut fixture = Fixture::new();
    let mut reader = fixture.reader();
    assert!(fixture.writer.push(7, b"one"));
    assert!(fixture.writer.push(8, b""));
    assert_eq!(
        drained(&mut reader),
        [(7, b"one".to_vec()), (8, Vec::new())]
    );
    assert_eq!(drained(&mut reader), []);
    assert_eq!((reader.pid(), reader.tid()), (12, 34));
}

#[test]
fn a_full_ring_drops_counts_and_goes_on_after_a_read() {
    let mut fixture = Fixture::new();
    let mut reader = fixture.reader();
    let payload = [1u8; 1000];
    let fitting = std::iter::repeat_with(|| fixture.writer.push(1, &payload))
        .take(100)
        .filter(|pushed| *pushed)
        .count();
    assert!((60..=65).contains(&fitting), "{fitting} of 64 KiB");
    assert_eq!(reader.dropped(), 100 - fitting as u64);
    assert_eq!(drained(&mut reader).len(), fitting);
    assert!(fixture.writer.push(2, &payload));
    assert_eq!(drained(&mut reader).len(), 1);
}

#[test]
fn the_file_is_private_and_its_end_is_told() {
    use std::os::unix::fs::MetadataExt;
    let fixture = Fixture::new();
    let reader = fixture.reader();
    let path = fixture.folder.path().join("12-0.ring");
    assert_eq!(
        std::fs::metadata(path).expect("a file").mode() & 0o777,
        0o600
    );
    assert!(!reader.is_closed());
    drop(fixture.writer);
    assert!(reader.is_closed());
}

#[test]
fn files_that_are_no_rings_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let check = |bytes: Vec<u8>, expected: fn(&ReadError) -> bool| {
        let path = folder.path().join("1-0.ring");
        std::fs::write(&path, bytes).expect("written");
        let Err(error) = Reader::open(&path) else {
            panic!("opened");
        };
        assert!(expected(&error), "{error}");
    };
    check(vec![], |error| matches!(error, ReadError::NotReady));
    check(vec![0; 4096 + (64 << 10)], |error| {
        matches!(error, ReadError::NotReady)
    });
    let mut other = vec![0; 4096 + (64 << 10)];
    other[..8].copy_from_slice(b"HAKARURB");
    other[8] = 99;
    check(other, |error| matches!(error, ReadError::Version(99)));
}

#[test]
fn damage_is_told_and_skipped() {
    let mut fixture = Fixture::new();
    let mut reader = fixture.reader();
    fixture.writer.push(1, b"a record");
    let path = fixture.folder.path().join("12-0.ring");
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(path)
        .expect("a file");
    // The length of the first record.
    std::os::unix::fs::FileExt::write_all_at(&file, &[0xff; 4], 4096).expect("written");
    assert!(matches!(
        reader.drain(|_, _| {}),
        Err(ReadError::Corrupt(_))
    ));
    fixture.writer.push(2, b"later");
    assert_eq!(drained(&mut reader), [(2, b"later".to_vec())]);
}

fn request() -> impl Strategy<Value = RequestRecord> {
    let sql = prop::array::uniform6(any::<u64>()).prop_map(
        |[digest, site, count, rows, time, gvl_wait]| SqlRecord {
            digest,
            site,
            count,
            rows,
            time,
            gvl_wait,
        },
    );
    let burst = (0u8..6, 0u64..1 << 56);
    let act = (any::<(u8, u32)>(), prop::array::uniform3(any::<u64>())).prop_map(
        |((kind, count), [what, site, time])| ActRecord {
            kind,
            what,
            site,
            count,
            time,
        },
    );
    (
        prop::array::uniform5(any::<u64>()),
        prop::array::uniform2(any::<u32>()),
        prop::array::uniform10(any::<u64>()),
        proptest::option::of(prop::array::uniform4(any::<u64>())),
        prop::collection::vec(sql, 0..33),
        prop::collection::vec(burst, 0..97),
        prop::collection::vec(act, 0..17),
    )
        .prop_map(
            |(ids, numbers, parts, sample, sql, bursts, acts)| RequestRecord {
                id: ids[0],
                ready: ids[1],
                start: ids[2],
                end: ids[3],
                route: ids[4],
                status: numbers[0],
                statements: numbers[1],
                parts,
                sample,
                sql,
                bursts,
                acts,
            },
        )
}

proptest! {
    #[test]
    fn any_sequence_of_records_comes_out_as_it_went_in(
        rounds in prop::collection::vec(
            prop::collection::vec((any::<u16>(), prop::collection::vec(any::<u8>(), 0..900)), 0..40),
            1..12,
        )
    ) {
        let mut fixture = Fixture::new();
        let mut reader = fixture.reader();
        for round in rounds {
            let kept: Vec<_> = round
                .into_iter()
                .filter(|(kind, payload)| fixture.writer.push(*kind, payload))
                .collect();
            prop_assert_eq!(drained(&mut reader), kept);
        }
    }

    #[test]
    fn requests_survive_their_encoding(request in request()) {
        let mut bytes = Vec::new();
        let kind = request.view().encode(&mut bytes);
        prop_assert_eq!(Record::decode(kind, &bytes), Some(Record::Request(request.clone())));
        let mut fixture = Fixture::new();
        let mut reader = fixture.reader();
        prop_assert!(request.view().push(&mut fixture.writer, &mut Vec::new()));
        prop_assert_eq!(drained(&mut reader), [(kind, bytes)]);
    }

    #[test]
    fn texts_and_hellos_survive_their_encoding(
        id in any::<u64>(), text in ".{0,200}", ruby in ".{0,80}", numbers in prop::array::uniform6(any::<u32>()), gvl in any::<bool>()
    ) {
        let mut bytes = Vec::new();
        let number = Record::encode_text(TextKind::Site, id, text.as_bytes(), &mut bytes);
        prop_assert_eq!(
            Record::decode(number, &bytes),
            Some(Record::Text { kind: TextKind::Site, id, text: text.clone() })
        );
        let hello = Hello {
            ruby,
            server: text,
            gvl,
            workers: numbers[0],
            threads: numbers[1],
            database_pool: numbers[2],
            cost_request_ns: numbers[3],
            cost_event_ns: numbers[4],
            cost_statement_ns: numbers[5],
        };
        let number = hello.encode(&mut bytes);
        prop_assert_eq!(Record::decode(number, &bytes), Some(Record::Hello(hello)));
    }

    #[test]
    fn settings_and_counters_survive_their_encoding(
        pairs in prop::collection::vec(("[^\t\r\n]{0,20}", "[^\t\r\n]{0,20}"), 0..9),
        gc in prop::array::uniform4(any::<u64>()),
        gc_cause in ".{0,40}",
        jit in proptest::option::of(prop::array::uniform4(any::<u64>())),
        server in proptest::option::of(prop::array::uniform2(any::<u32>())),
    ) {
        let mut bytes = Vec::new();
        let lines: String = pairs.iter().map(|(name, value)| format!("{name}\t{value}\n")).collect();
        let number = Record::encode_settings(lines.as_bytes(), &mut bytes);
        prop_assert_eq!(Record::decode(number, &bytes), Some(Record::Settings(pairs)));
        let runtime = RuntimeRecord { at: gc[0], gc, gc_cause, jit, server };
        let number = runtime.encode(&mut bytes);
        prop_assert_eq!(Record::decode(number, &bytes), Some(Record::Runtime(runtime)));
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(kind in 0u16..9, bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let _ = Record::decode(kind, &bytes);
    }
}
