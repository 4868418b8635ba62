//! The app's source lines and folder, as named by the recording.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use breakdown::Joined;
use recording::{Handled, Recording, TextId};
use stacks::Profile;

use crate::text::file_of;

/// The source lines of a chain, equal neighbours once: a block and a method may stand on one
/// line.
pub(super) fn lines(site: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = breakdown::lines_of(site).collect();
    lines.dedup();
    lines
}

/// The source lines named by the requests' statements and acts.
pub(super) fn sites<'a>(recording: &'a Recording, joined: &Joined<'a>) -> Vec<&'a str> {
    let acts = |handled: &'a Handled| handled.acts.iter().map(|act| act.site);
    let mut sites = texts(recording, joined, acts);
    sites.extend(texts(recording, joined, statements));
    sites
}

/// The innermost lines issuing statements.
pub(super) fn issuing<'a>(recording: &'a Recording, joined: &Joined<'a>) -> HashSet<&'a str> {
    let sites = texts(recording, joined, statements).into_iter();
    sites.map(breakdown::line_of).collect()
}

fn statements(handled: &Handled) -> impl Iterator<Item = TextId> {
    handled.sql.iter().map(|used| used.site)
}

/// The texts named by all requests in the given way, each once.
fn texts<'a, Named: Iterator<Item = TextId>>(
    recording: &'a Recording,
    joined: &Joined<'a>,
    named: impl Fn(&'a Handled) -> Named,
) -> Vec<&'a str> {
    let handled = joined.requests.iter().filter_map(|request| request.handled);
    let named: BTreeSet<TextId> = handled.flat_map(named).collect();
    let texts = named
        .into_iter()
        .filter_map(|site| recording.texts.get(site));
    texts.filter(|text| !text.is_empty()).collect()
}

/// The app's folder: the root of the relative source lines, as found in the profile's files.
pub(super) fn root(profile: &Profile, sites: &[&str]) -> Option<String> {
    let mut votes: BTreeMap<String, usize> = BTreeMap::new();
    let named = sites.iter().flat_map(|site| lines(site));
    let mut files: Vec<&str> = named.filter_map(file_of).collect();
    files.sort_unstable();
    files.dedup();
    for frame in profile.frames() {
        for file in &files {
            let root = frame
                .file
                .strip_suffix(file)
                .and_then(|root| root.strip_suffix('/'));
            if let Some(root) = root.filter(|root| !root.contains("/gems")) {
                *votes.entry(root.to_owned()).or_default() += 1;
            }
        }
    }
    let most = votes.into_iter().max_by_key(|(_, votes)| *votes);
    most.map(|(root, _)| root)
}
