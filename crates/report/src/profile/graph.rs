//! Flame graphs for the HTML page: columns of numbers, with one table of frames for all graphs.

use std::collections::HashMap;

use serde_json::{Value, json};
use stacks::{Flame, Frame, InTime, Origin, Own, Profile, State, Unit};

/// Flame graphs of one document, with a shared table of frames.
pub(super) struct Graphs {
    unit: Unit,
    frames: Vec<Value>,
    ids: HashMap<Frame, usize>,
    origins: Vec<String>,
    graphs: Vec<Value>,
}

impl Graphs {
    pub(super) fn new(profile: &Profile) -> Graphs {
        Graphs {
            unit: profile.unit,
            frames: Vec::new(),
            ids: HashMap::new(),
            origins: Vec::new(),
            graphs: Vec::new(),
        }
    }

    /// Adds a graph under a name, with the number of requests inside, where known.
    pub(super) fn add(&mut self, name: &str, requests: Option<usize>, flame: &Flame) {
        let frame = self.frames_of(flame);
        let weights = |earlier: bool| self.weights(flame, earlier);
        let mut graph = json!({
            "name": name,
            "requests": requests,
            "depth": flame.depth,
            "frame": frame,
            "own": weights(false),
        });
        if flame.own.iter().any(|own| own.earlier) {
            graph["before"] = json!(weights(true));
        }
        if self.unit == Unit::Objects {
            let bytes: Vec<u64> = (flame.own.iter())
                .filter(|own| !own.earlier)
                .map(|own| own.bytes)
                .collect();
            graph["bytes"] = json!(bytes);
        }
        self.graphs.push(graph);
    }

    /// Adds to the last graph one thread's stacks in the order of time.
    pub(super) fn add_time(&mut self, shown: &InTime) {
        let frame = self.frames_of(&shown.flame);
        let own = self.weights(&shown.flame, false);
        if let Some(graph) = self.graphs.last_mut() {
            graph["time"] = json!({
                "thread": shown.thread.tid.to_string(),
                "duration_us": shown.duration / 1000,
                "depth": shown.flame.depth,
                "frame": frame,
                "own": own,
            });
        }
    }

    fn frames_of(&mut self, flame: &Flame) -> Vec<usize> {
        // The root names none.
        let of = |(node, frame): (usize, &u32)| match node {
            0 => 0,
            _ => self.frame(&flame.frames[*frame as usize]),
        };
        flame.frame.iter().enumerate().map(of).collect()
    }

    /// Node, state and weight of each entry.
    fn weights(&self, flame: &Flame, earlier: bool) -> Vec<u64> {
        let all = flame.own.iter().filter(|own| own.earlier == earlier);
        let told = |own: &Own| {
            [
                u64::from(own.node),
                own.state as u64,
                self.scaled(own.weight),
            ]
        };
        all.flat_map(told).collect()
    }

    /// The number of a frame in the document.
    pub(super) fn frame(&mut self, frame: &Frame) -> usize {
        if let Some(known) = self.ids.get(frame) {
            return *known;
        }
        let name = Origin::of(frame).name();
        let known = self.origins.iter().position(|origin| origin == name);
        let origin = known.unwrap_or_else(|| {
            self.origins.push(name.to_owned());
            self.origins.len() - 1
        });
        self.frames
            .push(json!([frame.name, frame.file, frame.line, origin]));
        self.ids.insert(frame.clone(), self.frames.len() - 1);
        self.frames.len() - 1
    }

    pub(super) fn end(self) -> Value {
        json!({
            "unit": match self.unit {
                Unit::Nanos => "us",
                Unit::Objects => "objects",
                Unit::Samples => "samples",
            },
            "states": State::ALL.map(State::name),
            "origins": self.origins,
            "frames": self.frames,
            "graphs": self.graphs,
        })
    }

    /// Whole microseconds: a thousandth of the shortest interval is nothing, and half the digits.
    fn scaled(&self, weight: u64) -> u64 {
        match self.unit {
            Unit::Nanos => (weight + 500) / 1000,
            _ => weight,
        }
    }
}
