//! An app that is up: its processes, its output, its end.

use std::collections::HashSet;
use std::process::ExitStatus;
use std::time::Duration;

use crate::address::Endpoint;
use crate::procfs;
use crate::ready::ReadyBy;
use crate::tree::Tree;

/// An app that is ready for requests. Dropping it stops what [`start`](crate::start) started.
pub struct Running {
    url: Endpoint,
    ready_by: ReadyBy,
    app: App,
}

/// How an app ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stopped {
    /// How the command itself ended; none when it could not be learned.
    pub status: Option<ExitStatus>,
    /// Processes that outlived the grace time and were killed.
    pub killed: Vec<u32>,
    /// Processes that could not be ended at all.
    pub left: Vec<u32>,
}

enum App {
    Started {
        tree: Box<Tree>,
        grace: Duration,
    },
    /// The processes that listen on the URL's port, where `/proc` tells.
    Attached {
        roots: Vec<u32>,
    },
}

impl Running {
    pub(crate) fn started(url: Endpoint, ready_by: ReadyBy, tree: Tree, grace: Duration) -> Self {
        Self {
            url,
            ready_by,
            app: App::Started {
                tree: Box::new(tree),
                grace,
            },
        }
    }

    pub(crate) fn attached(url: Endpoint, ready_by: ReadyBy, roots: Vec<u32>) -> Self {
        Self {
            url,
            ready_by,
            app: App::Attached { roots },
        }
    }

    /// Where it answers.
    pub fn url(&self) -> &Endpoint {
        &self.url
    }

    /// How it showed that it is ready.
    pub fn ready_by(&self) -> ReadyBy {
        self.ready_by
    }

    /// Whether somebody else started it: it is not stopped, its end is not seen, its output not
    /// kept.
    pub fn is_attached(&self) -> bool {
        matches!(self.app, App::Attached { .. })
    }

    /// Its living processes. The first is the command itself while it lives; empty for an attached
    /// app on another host or of another user.
    pub fn pids(&self) -> Vec<u32> {
        match &self.app {
            App::Started { tree, .. } => tree.living(),
            App::Attached { roots } => {
                let all = procfs::processes();
                let mut pids: Vec<u32> =
                    procfs::with_descendants(&all, &roots.iter().copied().collect::<HashSet<_>>())
                        .into_iter()
                        .collect();
                pids.sort_unstable();
                pids
            }
        }
    }

    /// How it ended, when it has ended by itself or by [`stop`](Self::stop); always none when
    /// attached.
    pub fn exited(&self) -> Option<ExitStatus> {
        match &self.app {
            App::Started { tree, .. } => tree.exited(),
            App::Attached { .. } => None,
        }
    }

    /// The last 20 lines of its standard error, or of its standard output when there are none.
    pub fn log_tail(&self) -> Vec<String> {
        match &self.app {
            App::Started { tree, .. } => {
                if tree.leader_status().is_some() {
                    tree.log().settle(Duration::from_millis(200));
                }
                tree.log().tail()
            }
            App::Attached { .. } => Vec::new(),
        }
    }

    /// Stops it and everything it started, giving it the spec's `stop_timeout` before it is killed.
    /// Does nothing to an attached app. The second call returns what the first one did.
    pub fn stop(&mut self) -> Stopped {
        match &mut self.app {
            App::Started { tree, grace } => {
                let grace = *grace;
                tree.stop(grace)
            }
            App::Attached { .. } => Stopped::default(),
        }
    }
}
