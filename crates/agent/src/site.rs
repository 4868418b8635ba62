//! Which source line of the app is calling.

use std::ffi::c_int;

use crate::api::{Api, Value, c_string};
use crate::process;

/// Deepest frame looked at: an ORM puts some forty frames between the driver and the app.
const FRAMES_MAX: usize = 96;

/// What is known about frames, by address and line. Holds until the next collection of garbage, since
/// only that can give a frame's address to another method.
pub(crate) struct SiteCache {
    slots: Box<[Slot; SLOTS]>,
    collections: u64,
}

const SLOTS: usize = 256;

/// Line of the entry that says what kind of file a frame is from.
const KIND_LINE: c_int = -1;

#[derive(Clone, Copy, Default)]
struct Slot {
    frame: Value,
    line: c_int,
    /// For `KIND_LINE`: how near to the app; otherwise the hash of the told text.
    known: u64,
}

/// How near a file is to the app.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nearness {
    /// Ruby itself, a gem, this agent.
    Library = 0,
    /// Somewhere else: taken when nothing nearer is on the stack.
    Elsewhere = 1,
    /// Below the app's folder.
    App = 2,
}

/// A frame of the app, or the nearest to it.
pub(crate) struct Caller {
    frame: Value,
    line: c_int,
}

impl SiteCache {
    pub(crate) fn new() -> SiteCache {
        SiteCache {
            slots: Box::new([Slot::default(); SLOTS]),
            collections: u64::MAX,
        }
    }

    /// The innermost frame that belongs to the app. Called from a Ruby method, not from a hook.
    pub(crate) fn caller(&mut self, api: &Api) -> Option<Caller> {
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
        let mut elsewhere = None;
        for (&frame, &line) in frames.iter().zip(&lines).take(count.max(0) as usize) {
            match self.nearness(api, frame) {
                Nearness::App => return Some(Caller { frame, line }),
                Nearness::Elsewhere if elsewhere.is_none() => {
                    elsewhere = Some(Caller { frame, line });
                }
                _ => {}
            }
        }
        elsewhere
    }

    /// The hash of the caller's text if it was told since the last collection.
    pub(crate) fn known(&mut self, caller: &Caller) -> Option<u64> {
        let slot = self.slot(caller.frame, caller.line);
        (slot.frame == caller.frame && slot.line == caller.line).then_some(slot.known)
    }

    /// Remembers the hash of the caller's text.
    pub(crate) fn remember(&mut self, caller: &Caller, known: u64) {
        *self.slot(caller.frame, caller.line) = Slot {
            frame: caller.frame,
            line: caller.line,
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
        let nearness = nearness_of(&path(api, frame));
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

impl Caller {
    /// Such as `app.rb:120 in find_user`.
    pub(crate) fn text(&self, api: &Api) -> String {
        let path = path(api, self.frame);
        let root = process::settings().map_or("", |settings| settings.app_root.as_str());
        let short = path
            .strip_prefix(root)
            .map_or(path.as_str(), |rest| rest.trim_start_matches('/'));
        match c_string((api.rb_profile_frame_method_name)(self.frame)) {
            Some(method) => format!("{short}:{} in {}", self.line, method.to_string_lossy()),
            None => format!("{short}:{}", self.line),
        }
    }
}

fn path(api: &Api, frame: Value) -> String {
    c_string((api.rb_profile_frame_absolute_path)(frame))
        .or_else(|| c_string((api.rb_profile_frame_path)(frame)))
        .map(|path| path.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn nearness_of(path: &str) -> Nearness {
    const BUNDLED: [&str; 3] = ["/vendor/bundle/", "/vendor/cache/", "/.bundle/"];
    const LIBRARIES: [&str; 3] = ["/gems/", "/lib/ruby/", "/rubygems-integration/"];
    let root = process::settings().map_or("", |settings| settings.app_root.as_str());
    if !path.starts_with('/') {
        return Nearness::Library;
    }
    let below_root = !root.is_empty()
        && path
            .strip_prefix(root)
            .is_some_and(|rest| rest.starts_with('/'));
    if below_root && !BUNDLED.iter().any(|part| path.contains(part)) {
        Nearness::App
    } else if below_root || LIBRARIES.iter().any(|part| path.contains(part)) {
        Nearness::Library
    } else {
        Nearness::Elsewhere
    }
}
