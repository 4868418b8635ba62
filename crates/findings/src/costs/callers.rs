//! Finds who resumed a Fiber: a Fiber's stack ends where the Fiber begins, without the resumer's.

use std::collections::{BTreeMap, HashMap};

use stacks::{Profile, Sample, StackId};

use super::seen::{Seen, Stacks, own};

/// Weight and one stack by chain of the app's lines.
type Chains<'s> = BTreeMap<&'s [String], (u64, StackId)>;

/// The app's stacks likely to have resumed a Fiber.
pub(super) struct Callers<'a> {
    /// The app's heaviest stack by route and by file of the libraries called from there.
    of_file: HashMap<(usize, &'a str), StackId>,
    /// The app's latest stack by request.
    of_request: HashMap<u64, StackId>,
}

impl<'a> Callers<'a> {
    /// `routes` gives the route of a request; samples of others are left out.
    pub(super) fn of(
        profile: &'a Profile,
        root: &str,
        stacks: &Stacks<'_>,
        routes: &HashMap<u64, usize>,
    ) -> Callers<'a> {
        let mut weights: HashMap<(usize, &str), Chains<'_>> = HashMap::new();
        for sample in &profile.samples {
            let chain = stacks.seen(sample.stack).chain.as_slice();
            let route = routes.get(&sample.request);
            let Some(route) = route.filter(|_| !chain.is_empty()) else {
                continue;
            };
            for file in called_files(profile, root, sample.stack) {
                let of_file = weights.entry((*route, file)).or_default();
                let (weight, _) = of_file.entry(chain).or_insert((0, sample.stack));
                *weight += sample.weight;
            }
        }
        let heaviest = |chains: Chains<'_>| {
            let most = chains.into_values().max_by_key(|(weight, _)| *weight);
            most.map(|(_, stack)| stack)
        };
        let of_file = weights
            .into_iter()
            .filter_map(|(at, chains)| Some((at, heaviest(chains)?)));
        Callers {
            of_file: of_file.collect(),
            of_request: HashMap::new(),
        }
    }

    /// Records a sample's stack as the latest in the app of the sample's request. Samples come in
    /// the order of time.
    pub(super) fn follow(&mut self, stacks: &Stacks<'_>, sample: &Sample) {
        if !stacks.seen(sample.stack).chain.is_empty() {
            self.of_request.insert(sample.request, sample.stack);
        }
    }

    /// Returns a Fiber's stack on top of the resumer's lines: the route's stack calling the same
    /// library, else the request's latest in the app. `None` for a stack of the thread itself, and
    /// where nothing says it.
    pub(super) fn resumed<'s>(
        &self,
        profile: &'a Profile,
        stacks: &Stacks<'s>,
        route: usize,
        sample: &Sample,
    ) -> Option<Seen<'s>> {
        if !stacks.is_of_fiber(sample.stack) {
            return None;
        }
        let locations = profile.stack(sample.stack).iter().rev();
        let mut files = locations.map(|at| profile.frame(at.frame).file.as_str());
        let same_library = files.find_map(|file| self.of_file.get(&(route, file)));
        let caller = same_library.or_else(|| self.of_request.get(&sample.request))?;
        Some(stacks.on_top_of(sample.stack, *caller))
    }
}

/// The files of libraries below the app's innermost line of a stack.
fn called_files<'a>(
    profile: &'a Profile,
    root: &str,
    stack: StackId,
) -> impl Iterator<Item = &'a str> {
    let files = profile.stack(stack).iter();
    let files = files.map(|at| profile.frame(at.frame).file.as_str());
    let below = files.take_while(move |file| own(root, file).is_none());
    below.filter(|file| !file.is_empty())
}
