//! The server's own work around the handlers, by the samples outside of requests.

use std::collections::HashMap;

use stacks::{Frame, Profile, State};

use super::SAMPLES_MIN;

/// Beginnings of the names of methods for compressing a body: Ruby's zlib, Rack's middleware, and
/// Brotli.
const COMPRESSES: [&str; 9] = [
    "Zlib::Deflate",
    "Zlib::GzipWriter",
    "Zlib::GzipFile",
    "Zlib::ZStream",
    "Zlib.deflate",
    "Zlib.gzip",
    "Rack::Deflater",
    "Rack::Brotli",
    "Brotli",
];

/// Work outside of requests while requests were measured, in weights of samples.
#[derive(Clone, Debug, Default)]
pub(super) struct Around {
    weight: u64,
    samples: u32,
    compressing: u64,
}

impl Around {
    /// `routes` has the measured requests.
    pub(super) fn of(profile: &Profile, routes: &HashMap<u64, usize>) -> Around {
        let mut around = Around::default();
        let measured = profile.samples.iter();
        let measured = measured.filter(|sample| routes.contains_key(&sample.request));
        let times = measured.map(|sample| sample.at);
        let (Some(first), Some(last)) = (times.clone().min(), times.max()) else {
            return around;
        };
        for sample in &profile.samples {
            if sample.request != 0 || !(first..=last).contains(&sample.at) {
                continue;
            }
            let leaf = profile.stack(sample.stack).first();
            let compresses = leaf.is_some_and(|leaf| compresses(profile.frame(leaf.frame)));
            // Compressing lets go of the GVL, and is work nevertheless.
            let works = match sample.state {
                State::Running | State::Gc => true,
                State::Io => compresses,
                _ => false,
            };
            if works {
                around.weight += sample.weight;
                around.samples += sample.count;
                around.compressing += if compresses { sample.weight } else { 0 };
            }
        }
        around
    }

    /// Share of the work spent compressing; `None` with too few samples.
    pub(super) fn compressing(&self) -> Option<f64> {
        let share = self.compressing as f64 / self.weight.max(1) as f64;
        (self.samples >= SAMPLES_MIN).then_some(share)
    }
}

fn compresses(frame: &Frame) -> bool {
    let name = frame.name.strip_prefix("block in ").unwrap_or(&frame.name);
    COMPRESSES.iter().any(|start| name.starts_with(start))
}
