//! Profiles in the formats of other tools' viewers. States become innermost frames such as
//! `[sleep]` where a format knows none.

pub mod collapsed;
pub mod firefox;
pub mod pprof;
pub mod speedscope;

use crate::profile::Profile;

/// A format to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Lines `outer;inner weight`, as read by flamegraph.pl; microseconds.
    Collapsed,
    /// JSON for speedscope.app.
    Speedscope,
    /// JSON for profiler.firefox.com.
    Firefox,
    /// Gzipped protocol buffer for `go tool pprof`.
    Pprof,
}

impl Format {
    /// All formats, with the names on the command line.
    pub const ALL: [(&'static str, Format); 4] = [
        ("collapsed", Format::Collapsed),
        ("speedscope", Format::Speedscope),
        ("firefox", Format::Firefox),
        ("pprof", Format::Pprof),
    ];

    /// The file's bytes.
    pub fn write(self, profile: &Profile) -> Vec<u8> {
        let profile = crate::filter::states_as_frames(profile);
        match self {
            Format::Collapsed => collapsed::write(&profile).into_bytes(),
            Format::Speedscope => speedscope::write(&profile).into_bytes(),
            Format::Firefox => firefox::write(&profile).into_bytes(),
            Format::Pprof => pprof::write(&profile),
        }
    }
}

/// The unit's name in pprof and speedscope, and the value of one weight in the unit.
fn unit_names(profile: &Profile) -> (&'static str, &'static str) {
    match profile.unit {
        crate::Unit::Nanos => ("nanoseconds", "time"),
        crate::Unit::Objects => ("count", "objects"),
        crate::Unit::Samples => ("count", "samples"),
    }
}
