//! Far end of a session: standard input and output of the program on the other host.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

use crate::frame::{self, Decoder, Frame};
use crate::queue::Queue;
use crate::{QUEUE_FRAMES, SILENCE_MAX, monotonic_ns, script, wall_ns};

/// Time for the program to end without help after end of input.
const END_WAIT: Duration = Duration::from_secs(2);
const PIECE_BYTES: usize = 64 * 1024;

/// Shift of the far host's clocks, by which a test can plant a wrong clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shift {
    /// Nanoseconds.
    pub nanos: i64,
}

impl Shift {
    /// Returns the shift in `HAKARU_CLOCK_SHIFT_MS`.
    pub fn of_environment() -> Shift {
        let millis = std::env::var("HAKARU_CLOCK_SHIFT_MS").ok();
        let millis = millis.and_then(|text| text.parse::<i64>().ok());
        Shift {
            nanos: millis.unwrap_or(0).saturating_mul(1_000_000),
        }
    }
}

/// The far end of a session: frames from the near side, and a way to reply.
#[derive(Debug)]
pub struct Far {
    from: Arc<Queue<Frame>>,
    speaker: Speaker,
}

/// Sends frames to the near side, from any thread.
#[derive(Clone, Debug)]
pub struct Speaker {
    out: Arc<Mutex<File>>,
}

impl Far {
    /// Greets, and begins to listen. From now on the process ends when its input does, at the
    /// latest two seconds later, or when nothing is heard for [`SILENCE_MAX`]. Nothing else may use
    /// standard input and output.
    ///
    /// # Errors
    /// Standard input or output cannot be used.
    pub fn start(shift: Shift) -> io::Result<Far> {
        // Run through a descriptor, the process would be named after its number.
        #[cfg(target_os = "linux")]
        let _ = rustix::thread::set_name(c"hakaru");
        let out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let speaker = Speaker {
            out: Arc::new(Mutex::new(out)),
        };
        speaker.write(format!("{}\n", script::greeting()).as_bytes())?;
        let from = Arc::new(Queue::new(QUEUE_FRAMES));
        let listener = Listener {
            input,
            from: Arc::clone(&from),
            speaker: speaker.clone(),
            shift,
        };
        thread::spawn(move || {
            let _ = listener.listen();
            listener.from.close();
            // Whatever the program is doing, it has nobody to do it for.
            thread::sleep(END_WAIT);
            std::process::exit(1);
        });
        Ok(Far { from, speaker })
    }

    /// Returns the next frame, as soon as there is one; `None` when the near side has gone.
    pub fn receive(&self) -> Option<Frame> {
        self.from.pop(Duration::MAX).ok()
    }

    /// Returns the next frame; `Ok(None)` when none came for so long.
    ///
    /// # Errors
    /// The near side has gone.
    pub fn receive_within(&self, wait: Duration) -> io::Result<Option<Frame>> {
        match self.from.pop(wait) {
            Ok(frame) => Ok(Some(frame)),
            Err(crate::queue::Nothing::Late) => Ok(None),
            Err(crate::queue::Nothing::Closed) => Err(ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Returns what sends frames.
    pub fn speaker(&self) -> Speaker {
        self.speaker.clone()
    }
}

impl Speaker {
    /// Sends a frame; waits while the near side or the network does not keep up.
    ///
    /// # Errors
    /// The near side has gone, or the body is too long.
    pub fn send(&self, kind: u8, body: &[u8]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(body.len() + 8);
        frame::encode(kind, body, &mut bytes).map_err(io::Error::other)?;
        self.write(&bytes)
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        out.write_all(bytes)
    }
}

struct Listener {
    input: File,
    from: Arc<Queue<Frame>>,
    speaker: Speaker,
    shift: Shift,
}

impl Listener {
    /// Returns when the near side has gone or is silent for too long.
    fn listen(&self) -> io::Result<()> {
        let mut piece = vec![0; PIECE_BYTES];
        let mut decoder = Decoder::default();
        let silence = Timespec {
            tv_sec: SILENCE_MAX.as_secs() as i64,
            tv_nsec: 0,
        };
        loop {
            let mut waiting = [PollFd::new(&self.input, PollFlags::IN)];
            match poll(&mut waiting, Some(&silence)) {
                Ok(0) => return Err(ErrorKind::TimedOut.into()),
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            let count = (&self.input).read(&mut piece)?;
            if count == 0 {
                return Ok(());
            }
            decoder.push(&piece[..count]);
            while let Some(frame) = decoder.next_frame().map_err(io::Error::other)? {
                match frame.kind {
                    frame::PING => self.pong(frame.body)?,
                    _ if self.from.push(frame, Duration::MAX).is_err() => return Ok(()),
                    _ => {}
                }
            }
        }
    }

    fn pong(&self, mut body: Vec<u8>) -> io::Result<()> {
        let shift = self.shift.nanos;
        body.extend_from_slice(&(monotonic_ns() + shift).to_le_bytes());
        body.extend_from_slice(&(wall_ns() + shift).to_le_bytes());
        self.speaker.send(frame::PONG, &body)
    }
}
