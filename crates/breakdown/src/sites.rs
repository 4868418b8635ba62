//! Informative source lines: frames shared by many statements are left out.
//!
//! The agent records up to four frames of the app, innermost first, joined by ` < `. Where an app
//! keeps its statements behind helpers (`db.rows`, `db.first`), the innermost frame is the same for
//! all of them and names none. Such a frame is a *funnel*: [`DIGESTS_MIN`] or more distinct
//! statements have it innermost. Leading funnels are dropped as long as another frame follows, and
//! what then is innermost is judged again, since helpers call each other.

use std::collections::{HashMap, HashSet};

use recording::{Recording, TextId};

use crate::join::Request;

/// Distinct statements from which a line is taken for a helper. Chosen by judgement: a line that
/// really issues several is rare (`if` on one line, a statement put together by hand), and then its
/// caller is named, which is wrong by one frame only.
const DIGESTS_MIN: usize = 3;

/// Between the frames of a source line.
const BETWEEN: &str = " < ";

/// The informative part of each source line named by the measured requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sites {
    telling: HashMap<TextId, String>,
}

impl Sites {
    pub(crate) fn of(recording: &Recording, requests: &[Request<'_>]) -> Sites {
        let pairs: HashSet<(TextId, TextId)> = requests
            .iter()
            .flat_map(|request| request.handled)
            .flat_map(|handled| &handled.sql)
            .map(|used| (used.site, used.digest))
            .collect();
        let mut chains: Vec<Chain<'_>> = pairs
            .into_iter()
            .filter_map(|(site, digest)| {
                let frames = recording.texts.get(site)?.split(BETWEEN).collect();
                Some(Chain {
                    site,
                    digest,
                    frames,
                    skipped: 0,
                })
            })
            .collect();
        skip_funnels(&mut chains);
        let telling = chains
            .into_iter()
            .map(|chain| (chain.site, chain.frames[chain.skipped..].join(BETWEEN)))
            .collect();
        Sites { telling }
    }

    pub(crate) fn get(&self, site: TextId) -> Option<&str> {
        self.telling.get(&site).map(String::as_str)
    }
}

/// One statement at one source line.
struct Chain<'a> {
    site: TextId,
    digest: TextId,
    /// Innermost first, at least one.
    frames: Vec<&'a str>,
    /// Number of leading funnels.
    skipped: usize,
}

fn skip_funnels(chains: &mut [Chain<'_>]) {
    let mut statements: HashMap<&str, HashSet<TextId>> = HashMap::new();
    // Each round but the last skips a frame, so this ends.
    let mut changed = true;
    while changed {
        changed = false;
        for chain in chains.iter() {
            let innermost = line_of(chain.frames[chain.skipped]);
            statements
                .entry(innermost)
                .or_default()
                .insert(chain.digest);
        }
        for chain in chains.iter_mut() {
            let through = &statements[line_of(chain.frames[chain.skipped])];
            if through.len() >= DIGESTS_MIN && chain.skipped + 1 < chain.frames.len() {
                chain.skipped += 1;
                changed = true;
            }
        }
    }
}

/// The file and line of the innermost frame of a source line: `db.rb:12` of `db.rb:12 in query <
/// app.rb:7`.
pub fn line_of(site: &str) -> &str {
    let frame = frames_of(site, 1);
    frame.split(" in ").next().unwrap_or(frame)
}

/// File and line of each frame of a source line, innermost first.
pub fn lines_of(site: &str) -> impl Iterator<Item = &str> {
    frames(site).map(line_of)
}

/// Frames of a source line, innermost first, such as `app/models/order.rb:12 in total`.
pub fn frames(site: &str) -> impl Iterator<Item = &str> {
    site.split(BETWEEN)
}

/// The `count` innermost frames of a source line.
pub fn frames_of(site: &str, count: usize) -> &str {
    match site.match_indices(BETWEEN).nth(count.saturating_sub(1)) {
        Some((end, _)) => &site[..end],
        None => site,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `site | statement` in, what is left of each site out, in the same order.
    fn check(told: &[(&str, &str)], expected: &[&str]) {
        let mut chains: Vec<Chain<'_>> = told
            .iter()
            .map(|(site, digest)| Chain {
                site: TextId::of(site.as_bytes()),
                digest: TextId::of(digest.as_bytes()),
                frames: site.split(BETWEEN).collect(),
                skipped: 0,
            })
            .collect();
        skip_funnels(&mut chains);
        let left: Vec<String> = chains
            .iter()
            .map(|chain| chain.frames[chain.skipped..].join(BETWEEN))
            .collect();
        assert_eq!(left, expected);
    }

    #[test]
    fn helpers_that_call_each_other_are_left_out() {
        check(
            &[
                (
                    "db.rb:28 in rows < db.rb:30 in first < app.rb:143 < app.rb:136",
                    "count",
                ),
                (
                    "db.rb:28 in rows < db.rb:30 in first < app.rb:137 < app.rb:136",
                    "read",
                ),
                (
                    "db.rb:28 in rows < db.rb:30 in first < app.rb:42 in user",
                    "user",
                ),
                ("db.rb:28 in rows < app.rb:112", "page"),
            ],
            &[
                "app.rb:143 < app.rb:136",
                "app.rb:137 < app.rb:136",
                "app.rb:42 in user",
                "app.rb:112",
            ],
        );
    }

    #[test]
    fn two_statements_make_no_funnel() {
        let told = [
            ("db.rb:28 < app.rb:1", "a"),
            ("db.rb:28 < app.rb:2", "b"),
            ("db.rb:28 < app.rb:3", "b"),
        ];
        check(&told, &told.map(|(site, _)| site));
    }

    #[test]
    fn the_outermost_frame_stays() {
        let told = [("db.rb:28", "a"), ("db.rb:28", "b"), ("db.rb:28", "c")];
        check(&told, &["db.rb:28"; 3]);
        check(&[("", "a"), ("", "b"), ("", "c")], &["", "", ""]);
    }

    #[test]
    fn helpers_found_late_count_everywhere() {
        // `first` is a funnel only once `rows` is gone, and then for the site that begins with it
        // too.
        check(
            &[
                ("db.rb:1 in rows < db.rb:2 in first < app.rb:1", "a"),
                ("db.rb:1 in rows < db.rb:2 in first < app.rb:2", "b"),
                ("db.rb:1 in rows < db.rb:2 in first < app.rb:3", "c"),
                ("db.rb:2 in first < app.rb:4", "d"),
            ],
            &["app.rb:1", "app.rb:2", "app.rb:3", "app.rb:4"],
        );
    }

    #[test]
    fn frames_are_cut_off() {
        let site = "a.rb:1 in x < b.rb:2 < c.rb:3";
        assert_eq!(line_of(site), "a.rb:1");
        assert_eq!(frames_of(site, 1), "a.rb:1 in x");
        assert_eq!(frames_of(site, 2), "a.rb:1 in x < b.rb:2");
        assert_eq!(frames_of(site, 9), site);
        assert_eq!((line_of(""), frames_of("", 2)), ("", ""));
    }
}
