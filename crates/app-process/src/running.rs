//! A running app: processes, output, end.

use std::collections::HashSet;
use std::process::ExitStatus;
use std::time::Duration;

use crate::address::Endpoint;
use crate::procfs;
use crate::ready::ReadyBy;
use crate::tree::Tree;

/// An app ready for requests. Dropping the value stops everything started by
/// [`start`](crate::start).
pub struct Running {
    url: Endpoint,
    ready_by: ReadyBy,
    app: App,
}

/// How an app ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stopped {
    /// Exit status of the command; none when the status could not be read.
    pub status: Option<ExitStatus>,
    /// Processes killed after outliving the grace time.
    pub killed: Vec<u32>,
    /// Processes alive even after the kill.
    pub left: Vec<u32>,
}

enum App {
    Started {
        tree: Box<Tree>,
        grace: Duration,
    },
    /// Processes listening on the URL's port, where `/proc` shows any.
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

    /// Returns the URL of the app.
    pub fn url(&self) -> &Endpoint {
        &self.url
    }

    /// Returns the evidence of readiness.
    pub fn ready_by(&self) -> ReadyBy {
        self.ready_by
    }

    /// Returns whether somebody else started the app: such an app is not stopped, and neither exit
    /// status nor output is recorded.
    pub fn is_attached(&self) -> bool {
        matches!(self.app, App::Attached { .. })
    }

    /// Returns the living processes of the app. The first is the command itself while it lives;
    /// empty for an attached app on another host or of another user.
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

    /// Returns the exit status after the app ended or [`stop`](Self::stop) ended the app; always
    /// none when attached.
    pub fn exited(&self) -> Option<ExitStatus> {
        match &self.app {
            App::Started { tree, .. } => tree.exited(),
            App::Attached { .. } => None,
        }
    }

    /// Returns the last 20 lines of standard error, or of standard output when standard error is
    /// empty.
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

    /// Stops the app and every process started by the app, with the spec's `stop_timeout` before
    /// the kill. Does nothing to an attached app. The second call returns what the first one did.
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
