//! Filters: each takes a profile and gives another one.

use crate::profile::{Frame, Location, Profile, Sample};

/// Name of the frame in place of hidden ones.
pub const GEMS: &str = "(gems)";

/// Replaces runs of library frames by one frame `(gems)`, leaving the app's own code.
pub fn hide_gems(profile: &Profile) -> Profile {
    let is_gem: Vec<bool> = profile.frames().iter().map(is_library).collect();
    map_stacks(profile, |filtered, stack| {
        let mut out: Vec<Location> = Vec::with_capacity(stack.len());
        let mut in_gems = false;
        for location in stack {
            let gem = is_gem[location.frame.0 as usize];
            if !gem {
                out.push(copied(profile, filtered, location));
            } else if !in_gems {
                let frame = filtered.frame_id(Frame {
                    name: GEMS.to_owned(),
                    ..Frame::default()
                });
                out.push(Location { frame, line: 0 });
            }
            in_gems = gem;
        }
        Some(out)
    })
}

/// Folds recursion, direct or over others, to the outermost call: the frames between are cut out of
/// the stack.
pub fn fold_recursion(profile: &Profile) -> Profile {
    map_stacks(profile, |filtered, stack| {
        let mut out: Vec<Location> = Vec::with_capacity(stack.len());
        for location in stack.iter().rev() {
            match out.iter().position(|kept| kept.frame == location.frame) {
                Some(place) => out.truncate(place + 1),
                None => out.push(*location),
            }
        }
        out.reverse();
        Some(
            out.iter()
                .map(|kept| copied(profile, filtered, kept))
                .collect(),
        )
    })
}

/// Returns the stacks with a frame whose name or file contains `text`, from the frame inwards.
pub fn focus(profile: &Profile, text: &str) -> Profile {
    let matches: Vec<bool> = profile
        .frames()
        .iter()
        .map(|frame| frame.name.contains(text) || frame.file.contains(text))
        .collect();
    map_stacks(profile, |filtered, stack| {
        let outermost = stack
            .iter()
            .rposition(|location| matches[location.frame.0 as usize])?;
        let kept = &stack[..=outermost];
        Some(
            kept.iter()
                .map(|kept| copied(profile, filtered, kept))
                .collect(),
        )
    })
}

/// Returns the profile with the samples selected by `wanted` alone.
pub fn only(profile: &Profile, wanted: impl Fn(&Sample) -> bool) -> Profile {
    let mut filtered = profile.clone();
    filtered.samples.retain(wanted);
    filtered
}

/// Adds the state as the innermost frame, such as `[sleep]`, for formats without states. Running
/// code gets none.
pub fn states_as_frames(profile: &Profile) -> Profile {
    let mut filtered = profile.empty_like();
    for sample in &profile.samples {
        let mut stack: Vec<Location> = Vec::new();
        if sample.state != crate::State::Running {
            let frame = filtered.frame_id(Frame {
                name: format!("[{}]", sample.state.name()),
                ..Frame::default()
            });
            stack.push(Location { frame, line: 0 });
        }
        let rest = profile.stack(sample.stack);
        stack.extend(
            rest.iter()
                .map(|location| copied(profile, &mut filtered, location)),
        );
        push(profile, &mut filtered, sample, &stack);
    }
    filtered
}

/// Whether a frame belongs to a gem or to Ruby itself. Methods in C and builtin ones count with
/// their caller, so they do not.
pub fn is_library(frame: &Frame) -> bool {
    const LIBRARIES: [&str; 6] = [
        "/gems/",
        "/lib/ruby/",
        "/vendor/bundle/",
        "/rubygems-integration/",
        "/usr/share/rubygems",
        "<internal:",
    ];
    LIBRARIES.iter().any(|part| frame.file.contains(part))
}

fn map_stacks(
    profile: &Profile,
    mut map: impl FnMut(&mut Profile, &[Location]) -> Option<Vec<Location>>,
) -> Profile {
    let mut filtered = profile.empty_like();
    let stacks: Vec<Option<Vec<Location>>> = profile
        .stacks()
        .map(|stack| map(&mut filtered, stack))
        .collect();
    for sample in &profile.samples {
        if let Some(stack) = &stacks[sample.stack.0 as usize] {
            push(profile, &mut filtered, sample, stack);
        }
    }
    filtered
}

fn push(from: &Profile, to: &mut Profile, sample: &Sample, stack: &[Location]) {
    let stack = to.stack_id(stack);
    let thread = to.thread_id(from.thread(sample.thread));
    to.samples.push(Sample {
        stack,
        thread,
        ..*sample
    });
}

fn copied(from: &Profile, to: &mut Profile, location: &Location) -> Location {
    Location {
        frame: to.frame_id(from.frame(location.frame).clone()),
        line: location.line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;
    use crate::export::collapsed;
    use crate::profile::tests::profile;

    fn gem(mut profile: Profile, name: &str) -> Profile {
        // Rebuilt, since frames are found by content.
        let old = profile.clone();
        profile = old.empty_like();
        for sample in &old.samples {
            let stack: Vec<Location> = old
                .stack(sample.stack)
                .iter()
                .map(|location| {
                    let mut frame = old.frame(location.frame).clone();
                    if frame.name == name {
                        frame.file =
                            format!("/usr/share/rubygems-integration/all/gems/x/{name}.rb");
                    }
                    Location {
                        frame: profile.frame_id(frame),
                        line: location.line,
                    }
                })
                .collect();
            push(&old, &mut profile, sample, &stack);
        }
        profile
    }

    #[test]
    fn frames_of_gems_become_one() {
        let profile = gem(gem(profile("m;x;y;a 2\nm;x 1"), "x"), "y");
        assert_eq!(
            collapsed::write(&hide_gems(&profile)),
            "m;(gems) 1000\nm;(gems);a 2000\n"
        );
    }

    #[test]
    fn recursion_is_cut_to_its_outermost_call() {
        let profile = profile("m;f;g;f;g;h 3\nm;f;f 2");
        assert_eq!(
            collapsed::write(&fold_recursion(&profile)),
            "m;f 2000\nm;f;g;h 3000\n"
        );
    }

    #[test]
    fn focus_starts_at_the_outermost_match_and_drops_the_rest() {
        let profile = profile("m;f;g 3\nm;h 2");
        assert_eq!(collapsed::write(&focus(&profile, "f")), "f;g 3000\n");
    }

    #[test]
    fn the_state_becomes_the_innermost_frame() {
        let mut profile = profile("m;f 2");
        profile.samples[0].state = State::Sleep;
        assert_eq!(
            collapsed::write(&states_as_frames(&profile)),
            "m;f 1000\nm;f;[sleep] 1000\n"
        );
    }
}
