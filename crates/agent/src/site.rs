//! Finds the calling source line of the app.
//!
//! Everything here also runs in an event hook, so it allocates nothing: frames, what is known of
//! them and the text made from them have fixed places.

use std::ffi::{CStr, c_int};
use std::io::Write;

use crate::api::{Api, Value, c_string};
use crate::process;

/// Deepest frame looked at: an ORM puts some forty frames between the driver and the app.
const FRAMES_MAX: usize = 96;

/// Facts about frames, by address and line. Valid until the next collection of garbage, since only
/// that can give a frame's address to another method.
pub(crate) struct SiteCache {
    slots: Box<[Slot; SLOTS]>,
    collections: u64,
}

const SLOTS: usize = 256;

/// The name under which the agent's Ruby half is evaluated.
const AGENT: &str = "hakaru_agent.rb";

/// Line number of cache entries for the nearness of a frame's file.
const KIND_LINE: c_int = -1;

/// Line number of cache entries for the text of all callers together.
const TEXT_LINE: c_int = -2;

#[derive(Clone, Copy, Default)]
struct Slot {
    /// A frame's address, or the key of several.
    frame: Value,
    line: c_int,
    /// For `KIND_LINE`: how near to the app; for `TEXT_LINE`: the hash of the recorded text.
    known: u64,
}

/// Nearness of a file to the app.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nearness {
    /// Ruby itself, a gem, or the agent.
    Library = 0,
    /// Somewhere else: taken when nothing nearer is on the stack.
    Elsewhere = 1,
    /// Below the app's folder.
    App = 2,
}

/// Most frames of the app recorded for a call: the innermost is often a helper for all statements,
/// so the callers are recorded as well.
const CALLERS_MAX: usize = 4;

/// The innermost frames of the app, or the nearest ones.
#[derive(Default)]
pub(crate) struct Callers {
    frames: [(Value, c_int); CALLERS_MAX],
    count: usize,
}

impl SiteCache {
    pub(crate) fn new() -> SiteCache {
        SiteCache {
            slots: Box::new([Slot::default(); SLOTS]),
            collections: u64::MAX,
        }
    }

    /// Forgets everything.
    pub(crate) fn forget(&mut self) {
        self.collections = u64::MAX;
    }

    /// Returns the innermost frames of the app.
    pub(crate) fn callers(&mut self, api: &Api) -> Callers {
        let collections = process::collections();
        if self.collections != collections {
            self.collections = collections;
            self.slots.fill(Slot::default());
        }
        let mut frames = [0 as Value; FRAMES_MAX];
        let mut lines = [0 as c_int; FRAMES_MAX];
        let count = (api.rb_profile_frames)(
            0,
            FRAMES_MAX as c_int,
            frames.as_mut_ptr(),
            lines.as_mut_ptr(),
        );
        let (mut app, mut elsewhere) = (Callers::default(), Callers::default());
        for (&frame, &line) in frames.iter().zip(&lines).take(count.max(0) as usize) {
            match self.nearness(api, frame) {
                Nearness::App => app.add(frame, line),
                Nearness::Elsewhere => elsewhere.add(frame, line),
                Nearness::Library => {}
            }
            if app.count == CALLERS_MAX {
                break;
            }
        }
        if app.count > 0 { app } else { elsewhere }
    }

    /// Returns the hash of the callers' text if recorded since the last collection.
    pub(crate) fn known(&mut self, callers: &Callers) -> Option<u64> {
        let key = callers.key();
        let slot = self.slot(key, TEXT_LINE);
        (slot.frame == key && slot.line == TEXT_LINE).then_some(slot.known)
    }

    /// Remembers the hash of the callers' text.
    pub(crate) fn remember(&mut self, callers: &Callers, known: u64) {
        let key = callers.key();
        *self.slot(key, TEXT_LINE) = Slot {
            frame: key,
            line: TEXT_LINE,
            known,
        };
    }

    fn nearness(&mut self, api: &Api, frame: Value) -> Nearness {
        let slot = self.slot(frame, KIND_LINE);
        if slot.frame == frame && slot.line == KIND_LINE {
            return match slot.known {
                2 => Nearness::App,
                1 => Nearness::Elsewhere,
                _ => Nearness::Library,
            };
        }
        let nearness = path(api, frame).map_or(Nearness::Library, nearness_of);
        *self.slot(frame, KIND_LINE) = Slot {
            frame,
            line: KIND_LINE,
            known: nearness as u64,
        };
        nearness
    }

    fn slot(&mut self, frame: Value, line: c_int) -> &mut Slot {
        // Objects lie 40 bytes apart, so the low three bits say nothing.
        let hash = (frame >> 3).wrapping_mul(31).wrapping_add(line as usize);
        &mut self.slots[(hash ^ hash >> 8) & (SLOTS - 1)]
    }
}

impl Callers {
    fn add(&mut self, frame: Value, line: c_int) {
        if let Some(slot) = self.frames.get_mut(self.count) {
            *slot = (frame, line);
            self.count += 1;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// One word for all frames and lines.
    fn key(&self) -> Value {
        self.frames
            .iter()
            .fold(0x9e37_79b9, |key: Value, (frame, line)| {
                (key ^ frame ^ (*line as usize)).wrapping_mul(0x0000_0100_0000_01b3)
            })
    }

    /// Such as `db.rb:12 in query < app.rb:120 in find_user`, innermost first.
    pub(crate) fn text(&self, api: &Api) -> SiteText {
        let mut text = SiteText::default();
        let mut begun = 0;
        for (frame, line) in self.frames.iter().take(self.count) {
            let end = text.length;
            if end > 0 {
                text.add(BETWEEN);
            }
            let start = text.length;
            text.add_frame(api, *frame, *line);
            // A block and the method around it are two frames of one line.
            let (before, this) = (begun..end, start..text.length);
            if end > 0 && text.bytes[before] == text.bytes[this] {
                text.length = end;
            } else {
                begun = start;
            }
        }
        text
    }
}

const BETWEEN: &[u8] = b" < ";

/// Prefix of the method Rails compiles a view into: the name repeats the path, with another number
/// in each process.
const VIEW: &[u8] = b"_app_views_";

/// Most bytes of a source line's text with callers; longer ones are cut.
const TEXT_BYTES_MAX: usize = 1024;

/// The text of a source line with callers.
pub(crate) struct SiteText {
    bytes: [u8; TEXT_BYTES_MAX],
    length: usize,
}

impl Default for SiteText {
    fn default() -> SiteText {
        SiteText {
            bytes: [0; TEXT_BYTES_MAX],
            length: 0,
        }
    }
}

impl SiteText {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn add(&mut self, part: &[u8]) {
        let mut rest = &mut self.bytes[self.length..];
        // What does not fit is cut off.
        let free = rest.len();
        let _ = rest.write_all(&part[..part.len().min(free)]);
        self.length += part.len().min(free);
    }

    fn add_number(&mut self, number: c_int) {
        let mut digits = [0; 12];
        let mut rest = digits.as_mut_slice();
        let _ = write!(rest, "{number}");
        let free = rest.len();
        self.add(&digits[..digits.len() - free]);
    }

    fn add_frame(&mut self, api: &Api, frame: Value, line: c_int) {
        let path = path(api, frame).map_or(&b""[..], CStr::to_bytes);
        let root = process::settings().map_or("", |settings| settings.app_root.as_str());
        let short = path.strip_prefix(root.as_bytes()).map_or(path, |rest| {
            let slashes = rest.iter().take_while(|byte| **byte == b'/').count();
            &rest[slashes..]
        });
        self.add(short);
        self.add(b":");
        self.add_number(line);
        let method = c_string((api.rb_profile_frame_method_name)(frame)).map(CStr::to_bytes);
        if let Some(method) = method.filter(|method| !method.starts_with(VIEW)) {
            self.add(b" in ");
            self.add(method);
        }
    }
}

/// The file of a frame; `None` for a method in C, whose absolute path Ruby would make a string for.
fn path<'a>(api: &Api, frame: Value) -> Option<&'a CStr> {
    let given = c_string((api.rb_profile_frame_path)(frame))?;
    Some(c_string((api.rb_profile_frame_absolute_path)(frame)).unwrap_or(given))
}

fn nearness_of(path: &CStr) -> Nearness {
    const BUNDLED: [&[u8]; 4] = [
        b"/vendor/bundle/",
        b"/vendor/cache/",
        b"/vendor/gems/",
        b"/.bundle/",
    ];
    const LIBRARIES: [&[u8]; 3] = [b"/gems/", b"/lib/ruby/", b"/rubygems-integration/"];
    let path = path.to_bytes();
    let holds = |part: &&[u8]| path.windows(part.len()).any(|window| window == *part);
    let root = process::settings().map_or("", |settings| settings.app_root.as_str());
    // Evaluated code has the name it was given: `config.ru` is the app's, `<internal:kernel>`,
    // `(eval at …)` and this agent are not.
    if !path.starts_with(b"/") {
        let anonymous = matches!(path, [] | [b'<' | b'(', ..]) || path == AGENT.as_bytes();
        return if anonymous {
            Nearness::Library
        } else {
            Nearness::App
        };
    }
    let below_root = !root.is_empty()
        && path
            .strip_prefix(root.as_bytes())
            .is_some_and(|rest| rest.starts_with(b"/"));
    if below_root && !BUNDLED.iter().any(holds) {
        Nearness::App
    } else if below_root || LIBRARIES.iter().any(holds) {
        Nearness::Library
    } else {
        Nearness::Elsewhere
    }
}
