//! Merges the records of the samplers of a run's processes.

use std::collections::{BTreeMap, HashMap};

use ring::{ProfileRecord, ProfileTotals, SampleRecord, Seen, ToldRequest};
use stacks::{Frame, FrameId, Location, Profile, Request, Sample, StackId, State, ThreadOf, Unit};

/// Collects records until [`ProfileCollector::end`]. Samples may come before the frames they name.
#[derive(Debug, Default)]
pub struct ProfileCollector {
    frames: HashMap<u64, Frame>,
    stacks: HashMap<u64, Vec<(u64, u32)>>,
    samples: Vec<(u32, SampleRecord)>,
    totals: BTreeMap<u32, Vec<ProfileTotals>>,
    counted: Counted,
    /// Facts by name and process: a later fact of a process replaces the earlier.
    facts: BTreeMap<String, BTreeMap<u32, f64>>,
    requests: Vec<ToldRequest>,
}

/// Calls of a counted method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Calling lines, the most calls first.
    pub sites: Vec<Site>,
    /// Calls missed by the counter (in trap handlers).
    pub missed: u64,
}

/// A line calling the counted method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Such as `app.rb:12 in resolve`.
    pub caller: String,
    /// Calls from there.
    pub calls: u64,
    /// Calls with arguments of an earlier call.
    pub repeats: u64,
}

impl ProfileCollector {
    /// Takes one record of a process.
    pub fn add(&mut self, pid: u32, record: ProfileRecord) {
        match record {
            ProfileRecord::Frame {
                id,
                line,
                name,
                file,
            } => {
                self.frames.entry(id).or_insert(Frame { name, file, line });
            }
            ProfileRecord::Stack { id, locations } => {
                self.stacks.entry(id).or_insert(locations);
            }
            ProfileRecord::Sample(sample) => self.samples.push((pid, sample)),
            ProfileRecord::Totals(totals) => self.add_totals(pid, totals),
            ProfileRecord::Counted(line) => self.add_counted(&line),
            ProfileRecord::Fact(line) => self.add_fact(pid, &line),
            ProfileRecord::Request(request) => self.requests.push(request),
        }
    }

    /// Whether no process sent a record.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty() && self.totals.is_empty()
    }

    /// The longest watched time reported by any process, nanoseconds.
    pub fn watched(&self) -> u64 {
        let lengths = self.totals.values().flatten();
        lengths
            .map(|totals| totals.now.saturating_sub(totals.started))
            .max()
            .unwrap_or(0)
    }

    /// Adds totals of a process. They only grow, but a process may be sampled several times: each
    /// has its own start.
    fn add_totals(&mut self, pid: u32, totals: ProfileTotals) {
        let all = self.totals.entry(pid).or_default();
        match all.iter_mut().find(|known| known.started == totals.started) {
            Some(known) => *known = totals,
            None => all.push(totals),
        }
    }

    fn add_counted(&mut self, line: &str) {
        let mut fields = line.rsplitn(3, '\t');
        let (repeats, calls) = (number(fields.next()), number(fields.next()));
        match fields.next() {
            None | Some("") => self.counted.missed += calls,
            Some(caller) => {
                let sites = &mut self.counted.sites;
                match sites.iter_mut().find(|site| site.caller == caller) {
                    Some(site) => {
                        site.calls += calls;
                        site.repeats += repeats;
                    }
                    None => sites.push(Site {
                        caller: caller.to_owned(),
                        calls,
                        repeats,
                    }),
                }
            }
        }
    }

    fn add_fact(&mut self, pid: u32, line: &str) {
        let Some((name, value)) = line.split_once('\t') else {
            return;
        };
        if let Ok(value) = value.parse::<f64>() {
            let by_process = self.facts.entry(name.to_owned()).or_default();
            by_process.insert(pid, value);
        }
    }

    /// Adds up the facts of all processes, but for shares, of which the largest stands for all.
    fn facts(&self) -> Vec<(String, f64)> {
        let sums = self.facts.iter().map(|(name, by_process)| {
            let values = by_process.values().copied();
            let sum = if name.ends_with("_share") {
                values.fold(0.0, f64::max)
            } else {
                values.sum()
            };
            (name.clone(), sum)
        });
        sums.collect()
    }

    /// Returns the profile of all processes together, in the given mode and interval (nanoseconds),
    /// and the counted calls.
    pub fn end(mut self, mode: &str, interval: u64) -> (Profile, Counted) {
        let mut profile = Profile {
            unit: if mode == "alloc" {
                Unit::Objects
            } else {
                Unit::Nanos
            },
            mode: mode.to_owned(),
            interval,
            ..Profile::default()
        };
        self.sum_up(&mut profile);
        let begin = self
            .totals
            .values()
            .flatten()
            .map(|totals| totals.started)
            .chain(self.samples.iter().map(|(_, sample)| sample.at))
            .min()
            .unwrap_or(0);
        profile.begun = begin;
        profile.facts = self.facts();
        self.tell_requests(&mut profile);
        let mut known: HashMap<(u64, Seen), (StackId, State)> = HashMap::new();
        for (pid, sample) in &self.samples {
            let key = (sample.stack, sample.seen);
            let (stack, state) = *known
                .entry(key)
                .or_insert_with(|| self.resolve(&mut profile, sample));
            let thread = profile.thread_id(ThreadOf {
                pid: *pid,
                tid: sample.tid,
            });
            profile.samples.push(Sample {
                stack,
                state,
                thread,
                weight: sample.weight,
                bytes: sample.bytes,
                count: sample.count,
                at: sample.at.saturating_sub(begin),
                request: sample.request,
            });
        }
        profile.samples.sort_by_key(|sample| sample.at);
        let sites = &mut self.counted.sites;
        sites.sort_by(|a, b| (b.calls, &a.caller).cmp(&(a.calls, &b.caller)));
        (profile, self.counted)
    }

    fn tell_requests(&self, profile: &mut Profile) {
        for told in &self.requests {
            let route = profile.route_id(&told.route);
            profile.requests.push(Request {
                id: told.id,
                route,
                at: told.start.saturating_sub(profile.begun),
                length: told.end.saturating_sub(told.start),
            });
        }
    }

    fn resolve(&self, profile: &mut Profile, sample: &SampleRecord) -> (StackId, State) {
        let locations = self
            .stacks
            .get(&sample.stack)
            .map_or(&[][..], Vec::as_slice);
        let mut stack: Vec<Location> = Vec::with_capacity(locations.len());
        for (frame, line) in locations {
            let frame: FrameId = profile.frame_id(self.frame(*frame));
            stack.push(Location { frame, line: *line });
        }
        if stack.is_empty() {
            let frame = profile.frame_id(Frame {
                name: "(outside of Ruby)".to_owned(),
                ..Frame::default()
            });
            stack.push(Location { frame, line: 0 });
        }
        let state = match sample.seen {
            Seen::Running | Seen::Allocating => State::Running,
            Seen::GvlWait => State::GvlWait,
            Seen::Gc => State::Gc,
            Seen::Off => {
                let frames = stack.iter().map(|location| profile.frame(location.frame));
                stacks::wait_of(frames)
            }
        };
        (profile.stack_id(&stack), state)
    }

    fn frame(&self, id: u64) -> Frame {
        self.frames.get(&id).cloned().unwrap_or_else(|| Frame {
            // Its record found no room in the ring.
            name: "(unknown)".to_owned(),
            ..Frame::default()
        })
    }

    fn sum_up(&self, profile: &mut Profile) {
        let (mut cost, mut watched) = (0, 0);
        for (pid, totals) in self
            .totals
            .iter()
            .flat_map(|(pid, all)| all.iter().map(move |one| (pid, one)))
        {
            let length = totals.now.saturating_sub(totals.started);
            cost += totals.cost;
            watched += length;
            profile.duration = profile.duration.max(length);
            profile.cost.dropped += totals.dropped;
            if totals.interval > profile.interval && profile.unit == Unit::Nanos {
                profile.notes.push(format!(
                    "process {pid}: slowed down to {} Hz to stay within 1 % of a core",
                    1_000_000_000 / totals.interval
                ));
            }
            if totals.unseen > 0 {
                profile.notes.push(format!(
                    "process {pid}: more threads than can be sampled at once, {} times a thread was left out",
                    totals.unseen
                ));
            }
        }
        profile.cost.cpu_share = cost as f64 / watched.max(1) as f64;
    }
}

fn number(text: Option<&str>) -> u64 {
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(stack: u64, seen: Seen, weight: u64, at: u64) -> ProfileRecord {
        ProfileRecord::Sample(SampleRecord {
            stack,
            seen,
            tid: 7,
            weight,
            bytes: 0,
            count: 1,
            at,
            request: 0,
        })
    }

    fn frame(id: u64, name: &str) -> ProfileRecord {
        ProfileRecord::Frame {
            id,
            line: 3,
            name: name.to_owned(),
            file: String::new(),
        }
    }

    #[test]
    fn samples_may_come_before_the_frames_they_name() {
        let mut collector = ProfileCollector::default();
        collector.add(1, sample(9, Seen::Off, 5_000_000, 2_000));
        collector.add(1, sample(9, Seen::GvlWait, 1_000_000, 2_000));
        collector.add(1, sample(8, Seen::Running, 1_000_000, 1_000));
        collector.add(
            1,
            ProfileRecord::Stack {
                id: 9,
                locations: vec![(2, 4), (1, 3)],
            },
        );
        collector.add(1, frame(1, "Object#nap"));
        collector.add(1, frame(2, "Kernel#sleep"));
        let (profile, _) = collector.end("wall", 1_000_000);
        assert_eq!(profile.total(), 7_000_000);
        assert_eq!(
            stacks::states(&profile),
            [
                (State::Running, 1_000_000),
                (State::GvlWait, 1_000_000),
                (State::Sleep, 5_000_000)
            ]
        );
        assert_eq!(profile.samples[0].at, 0, "times count from the first");
        let names: Vec<_> = profile.frames().iter().map(|frame| &frame.name).collect();
        assert!(
            names.contains(&&"(outside of Ruby)".to_owned()),
            "{names:?}"
        );
    }

    #[test]
    fn totals_say_the_cost_and_what_was_done_differently() {
        let totals = |now, cost, interval| {
            ProfileRecord::Totals(ProfileTotals {
                started: 1_000_000_000,
                now,
                cost,
                dropped: 2,
                interval,
                unseen: 0,
            })
        };
        let mut collector = ProfileCollector::default();
        collector.add(5, totals(2_000_000_000, 1_000_000, 100_000));
        collector.add(5, totals(3_000_000_000, 8_000_000, 400_000));
        let (profile, _) = collector.end("wall", 100_000);
        assert_eq!(profile.duration, 2_000_000_000);
        assert_eq!(profile.cost.dropped, 2);
        assert!((profile.cost.cpu_share - 0.004).abs() < 1e-9);
        assert_eq!(
            profile.notes,
            ["process 5: slowed down to 2500 Hz to stay within 1 % of a core"]
        );
    }

    #[test]
    fn the_last_facts_of_several_processes_are_added_but_for_shares() {
        let mut collector = ProfileCollector::default();
        for (pid, line) in [
            (1, "gc_ms\t2"),
            (1, "gc_ms\t3"),
            (2, "gc_ms\t4.5"),
            (1, "jit_ratio_share\t0.9"),
            (2, "jit_ratio_share\t0.5"),
            (2, "odd"),
        ] {
            collector.add(pid, ProfileRecord::Fact(line.to_owned()));
        }
        let (profile, _) = collector.end("wall", 1);
        let told = |name: &str, value| (name.to_owned(), value);
        assert_eq!(
            profile.facts,
            [told("gc_ms", 7.5), told("jit_ratio_share", 0.9)]
        );
    }

    #[test]
    fn counts_of_several_processes_are_added_by_caller() {
        let mut collector = ProfileCollector::default();
        for line in [
            "a.rb:1 in x\t3\t1",
            "a.rb:2 in y\t9\t0",
            "a.rb:1 in x\t4\t4",
            "\t2\t0",
        ] {
            collector.add(1, ProfileRecord::Counted(line.to_owned()));
        }
        let (_, counted) = collector.end("wall", 1);
        assert_eq!(counted.missed, 2);
        let sites: Vec<_> = counted
            .sites
            .iter()
            .map(|site| (site.caller.as_str(), site.calls, site.repeats))
            .collect();
        assert_eq!(sites, [("a.rb:2 in y", 9, 0), ("a.rb:1 in x", 7, 5)]);
    }
}
