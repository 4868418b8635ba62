//! The small program speaks as `hakaru collector` does.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use collect::message::{self, Begin, Begun, Ended};
use remote::frame::{Decoder, encode};

#[test]
fn a_window_is_collected_and_the_program_ends_with_its_input() {
    let begin = serde_json::to_vec(&Begin::default()).expect("JSON");
    let mut asked = Vec::new();
    encode(message::BEGIN, &begin, &mut asked).expect("a frame");
    encode(message::END, &[], &mut asked).expect("a frame");
    let mut program = Command::new(env!("CARGO_BIN_EXE_hakaru-collector"))
        .arg("collector")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program");
    let mut input = program.stdin.take().expect("an input");
    let mut output = program.stdout.take().expect("an output");
    input.write_all(&asked).expect("frames are taken");
    let (mut frames, mut bytes) = (Vec::new(), Vec::new());
    let mut decoder = Decoder::default();
    let (mut piece, mut is_greeted) = ([0; 4096], false);
    while frames.last() != Some(&message::ENDED) {
        let count = output.read(&mut piece).expect("output");
        assert!(count > 0, "the program ended after {frames:?}");
        bytes.extend_from_slice(&piece[..count]);
        if !is_greeted {
            // Frames follow the line of the greeting.
            let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
                continue;
            };
            assert!(bytes.starts_with(b"hakaru-far "), "{bytes:?}");
            bytes.drain(..=end);
            is_greeted = true;
        }
        decoder.push(&std::mem::take(&mut bytes));
        while let Some(frame) = decoder.next_frame().expect("frames") {
            match frame.kind {
                message::BEGUN => {
                    let begun: Begun = serde_json::from_slice(&frame.body).expect("its body");
                    assert!(begun.cores > 0);
                }
                message::ENDED => {
                    let ended: Ended = serde_json::from_slice(&frame.body).expect("its body");
                    assert_eq!(ended, Ended::default());
                }
                _ => {}
            }
            frames.push(frame.kind);
        }
    }
    assert!(frames.contains(&message::BEGUN), "{frames:?}");
    drop(input);
    assert!(program.wait().expect("an end").success());
}

#[test]
fn a_call_by_hand_is_refused_with_the_reason() {
    let output = Command::new(env!("CARGO_BIN_EXE_hakaru-collector"))
        .output()
        .expect("the program");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("`hakaru collect`"), "{said}");
}

#[test]
fn a_build_for_tests_carries_no_program() {
    // Tests are not to wait for a second build; `cargo xtask release` is what has one.
    let program = collector::program().expect("bytes");
    assert_eq!(program.is_some(), !cfg!(debug_assertions));
}
