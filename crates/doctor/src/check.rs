//! Checks and findings as types.

use figures::numbers;
use words::{Phrase, Text, phrase, text};

use crate::snapshot::{Database, DatabaseKind, Factor, Snapshot};

/// A part of what is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Area {
    /// Processor, kernel, clocks and other load on the machine.
    Cpu,
    /// Quotas and limits of the control group.
    Container,
    /// Memory and swap.
    Memory,
    /// Limits of the process.
    Limits,
    /// Sockets, ports and names.
    Network,
    /// Disks and file systems.
    Disk,
    /// The Ruby interpreter.
    Ruby,
    /// The app's own settings.
    App,
    /// The database server or file.
    Database,
}

impl Area {
    /// All areas, in the order of the page.
    pub const ALL: [Area; 9] = [
        Area::Cpu,
        Area::Container,
        Area::Memory,
        Area::Limits,
        Area::Network,
        Area::Disk,
        Area::Ruby,
        Area::App,
        Area::Database,
    ];

    /// The name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Area::Cpu => "cpu",
            Area::Container => "container",
            Area::Memory => "memory",
            Area::Limits => "limits",
            Area::Network => "network",
            Area::Disk => "disk",
            Area::Ruby => "ruby",
            Area::App => "app",
            Area::Database => "database",
        }
    }

    /// Returns the area called `name`.
    pub fn named(name: &str) -> Option<Area> {
        Area::ALL.into_iter().find(|area| area.name() == name)
    }
}

/// Severity of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Worth knowing; costs little or nothing now.
    Low,
    /// A cost noticeable to users, now or under load.
    Medium,
    /// Costs much now, falsifies what is measured, or stops the app under load.
    High,
}

impl Level {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Level::Low => "low",
            Level::Medium => "medium",
            Level::High => "high",
        }
    }

    /// The word on pages.
    pub fn word(self) -> Phrase {
        match self {
            Level::Low => phrase!("low"),
            Level::Medium => phrase!("medium"),
            Level::High => phrase!("high"),
        }
    }
}

/// Basis of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sure {
    /// Cost measured on the same machine.
    Measured,
    /// Setting read, without a measurement of the cost.
    Read,
    /// Concluded from other facts.
    Inferred,
}

impl Sure {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Sure::Measured => "measured",
            Sure::Read => "read",
            Sure::Inferred => "inferred",
        }
    }

    /// The word on pages.
    pub fn word(self) -> Phrase {
        match self {
            Sure::Measured => phrase!("measured here"),
            Sure::Read => phrase!("read, cost not measured"),
            Sure::Inferred => phrase!("inferred"),
        }
    }
}

/// Requirement of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing but the permission.
    Nothing,
    /// Root on the host.
    Root,
    /// A restart of the app or server.
    Restart,
    /// A reboot of the machine.
    Reboot,
}

impl Needs {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Needs::Nothing => "nothing",
            Needs::Root => "root",
            Needs::Restart => "restart",
            Needs::Reboot => "reboot",
        }
    }

    /// The remark on pages; `None` where there is nothing to remark.
    pub fn remark(self) -> Option<Phrase> {
        match self {
            Needs::Nothing => None,
            Needs::Root => Some(phrase!("needs root")),
            Needs::Restart => Some(phrase!("needs a restart")),
            Needs::Reboot => Some(phrase!("needs a reboot")),
        }
    }
}

/// Protection given up by a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Safety {
    /// Nothing.
    Safe,
    /// Committed data may be lost in a crash.
    Durability,
    /// A protection against attacks.
    Security,
}

impl Safety {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Safety::Safe => "none",
            Safety::Durability => "durability",
            Safety::Security => "security",
        }
    }

    /// The remark on pages; `None` where nothing is given up.
    pub fn remark(self) -> Option<Phrase> {
        match self {
            Safety::Safe => None,
            Safety::Durability => Some(phrase!("gives up durability: a crash may lose commits")),
            Safety::Security => Some(phrase!("gives up a protection against attacks")),
        }
    }
}

/// Cost of a finding on the machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Cost {
    /// No cost was measured.
    Unknown,
    /// Factor on the time of CPU-bound work.
    Slower(Factor),
    /// Share of time or of events lost, 0 to 1.
    Share(f64),
    /// Time of one event.
    Each {
        /// Nanoseconds an event.
        ns: f64,
        /// Name of the event.
        event: Phrase,
    },
}

impl Cost {
    /// Returns the share of time lost, as far as known, for the order within a level.
    pub fn weight(&self) -> f64 {
        match self {
            Cost::Unknown => 0.0,
            Cost::Slower(factor) => 1.0 - 1.0 / factor.median.max(1.0),
            Cost::Share(share) => *share,
            Cost::Each { .. } => 0.01,
        }
    }

    /// The sentence on pages.
    pub fn text(&self) -> Text {
        match self {
            Cost::Unknown => phrase!("not measured").into(),
            Cost::Slower(factor) => text!(
                "{factor} times as long for CPU-bound work ({low} to {high}, {count} pairs)",
                factor = format!("{:.2}", factor.median),
                low = format!("{:.2}", factor.low),
                high = format!("{:.2}", factor.high),
                count = factor.pairs
            ),
            Cost::Share(share) => text!("{share} lost", share = numbers::share(*share)),
            Cost::Each { ns, event } => text!(
                "{time} for each {event}",
                time = numbers::duration_ns(*ns),
                event
            ),
        }
    }
}

/// A finding of a check.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Severity.
    pub level: Level,
    /// Subject among several of a kind, such as database servers.
    pub on: Option<String>,
    /// The facts, as `name = value` or one short line each.
    pub evidence: Vec<Text>,
    /// Cost on the machine.
    pub cost: Cost,
    /// The exact change: commands and lines of configuration.
    pub change: Vec<Text>,
    /// Steps to undo the change.
    pub undo: Vec<Text>,
    /// Requirement of the change.
    pub needs: Needs,
    /// Protection given up by the change.
    pub safety: Safety,
    /// Basis of the finding.
    pub sure: Sure,
}

impl Found {
    /// Creates a finding of `level` with a first piece of evidence and no more.
    pub fn new(level: Level, evidence: impl Into<Text>) -> Found {
        Found {
            level,
            on: None,
            evidence: vec![evidence.into()],
            cost: Cost::Unknown,
            change: Vec::new(),
            undo: Vec::new(),
            needs: Needs::Nothing,
            safety: Safety::Safe,
            sure: Sure::Read,
        }
    }

    fn on(mut self, on: &str) -> Found {
        self.on = Some(on.to_owned());
        self
    }

    /// Adds one more piece of evidence.
    pub fn evidence(mut self, evidence: impl Into<Text>) -> Found {
        self.evidence.push(evidence.into());
        self
    }

    /// Adds a cost measured on the machine.
    pub fn cost(mut self, cost: Cost) -> Found {
        if cost != Cost::Unknown {
            self.sure = Sure::Measured;
        }
        self.cost = cost;
        self
    }

    /// Adds a change, and the way to undo the change.
    pub fn change(mut self, change: impl Into<Text>, undo: impl Into<Text>) -> Found {
        self.change.push(change.into());
        let undo = undo.into();
        if !undo.is_empty() {
            self.undo.push(undo);
        }
        self
    }

    /// Sets the requirement of the change.
    pub fn needs(mut self, needs: Needs) -> Found {
        self.needs = needs;
        self
    }

    /// Sets the protection given up by the change.
    pub fn safety(mut self, safety: Safety) -> Found {
        self.safety = safety;
        self
    }

    /// Concluded from other facts.
    pub fn inferred(mut self) -> Found {
        self.sure = Sure::Inferred;
        self
    }
}

/// One check.
#[derive(Debug)]
pub struct Check {
    /// Name of the check, `area.what`; stable over versions.
    pub id: &'static str,
    /// Area of the check.
    pub area: Area,
    /// The problem reported.
    pub title: Phrase,
    /// Consequences of the problem.
    pub why: Phrase,
    /// Source of the threshold or claim.
    pub source: &'static str,
    /// Function returning the findings in a snapshot.
    pub look: Look,
}

/// Form of a check. Neither form does I/O.
#[derive(Clone, Copy, Debug)]
pub enum Look {
    /// At the whole.
    Whole(fn(&Snapshot) -> Option<Found>),
    /// Checks each database of the given kinds.
    Databases(
        &'static [DatabaseKind],
        fn(&Database, &Snapshot) -> Option<Found>,
    ),
}

impl Check {
    /// Returns the check's findings in a snapshot.
    pub fn found(&self, snapshot: &Snapshot) -> Vec<Found> {
        match self.look {
            Look::Whole(look) => look(snapshot).into_iter().collect(),
            Look::Databases(kinds, look) => {
                let databases = snapshot.databases.iter();
                let of_kind = databases.filter(|database| kinds.contains(&database.kind));
                let found = of_kind.filter_map(|database| {
                    let found = look(database, snapshot)?;
                    Some(found.on(&database.name))
                });
                found.collect()
            }
        }
    }
}

/// A check with one finding.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The check.
    pub check: &'static Check,
    /// The finding.
    pub found: Found,
}
