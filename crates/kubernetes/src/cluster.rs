//! The way of a run in a cluster: made, ready, started, over, read, taken away.

use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::kubectl::Kubectl;
use crate::manifests::{Manifests, RUN_LABEL};
use crate::watch::{GO, STOP};

/// Interval of reading the Job's state.
const LOOK: Duration = Duration::from_millis(300);
/// Interval of looking at Ctrl-C in a wait.
const SLICE: Duration = Duration::from_millis(50);
/// Images must be pulled, and nodes may have to be made.
const READY_MAX: Duration = Duration::from_secs(300);
/// Time limit of the pods beyond the load itself.
const END_MAX: Duration = Duration::from_secs(120);
/// Kinds of what a run makes, the Job first.
const KINDS: &str = "job,secret,configmap,serviceaccount,role,rolebinding";

/// One run in a cluster.
pub struct Cluster<'a> {
    kubectl: &'a Kubectl,
    manifests: &'a Manifests,
    /// Whether the user interrupted the run.
    stopped: &'a dyn Fn() -> bool,
}

/// A pod of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pod {
    /// Name of the pod.
    pub name: String,
    /// Index of the pod's generator.
    pub index: u32,
    /// `Pending`, `Running`, `Succeeded` or `Failed`.
    pub phase: String,
    /// Reason of a wait or an end, as reported by the cluster; empty without one.
    pub why: String,
}

/// Error of a cluster.
#[derive(Debug)]
pub enum ClusterError {
    /// `kubectl` cannot be run.
    NoKubectl(std::io::Error),
    /// `kubectl` ended with an error.
    Refused {
        /// Subcommand of `kubectl`.
        called: String,
        /// Output of `kubectl`.
        told: String,
    },
    /// A response other than the expected one.
    Strange(String),
    /// Pods were not ready in time.
    NotReady {
        /// Pods not ready, with the cluster's reason for each.
        pods: Vec<Pod>,
        /// Number of ready pods, and of all.
        ready: (u64, u32),
    },
    /// Pods failed or are gone while the load ran.
    Lost {
        /// Failed pods and missing pods.
        pods: Vec<Pod>,
        /// Indexes of all failed pods in the notation of Kubernetes, such as `1,4-6`.
        indexes: String,
    },
    /// The Job did not end in time.
    NotOver,
    /// The user interrupted the run.
    Stopped,
}

impl fmt::Display for ClusterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClusterError::NoKubectl(error) => write!(
                f,
                "kubectl cannot be run: {error}; install it, or write the manifests with --dry-run"
            ),
            ClusterError::Refused { called, told } => write!(f, "kubectl {called}: {told}"),
            ClusterError::Strange(what) => write!(f, "kubectl: {what}"),
            ClusterError::NotReady {
                pods,
                ready: (ready, of),
            } => {
                write!(
                    f,
                    "{ready} of {of} pods were ready within {} s; start fewer (--parallelism), or ask the cluster for more",
                    READY_MAX.as_secs()
                )?;
                for pod in pods.iter().take(5) {
                    write!(f, "\n  {} is {}: {}", pod.name, pod.phase, pod.why)?;
                }
                Ok(())
            }
            ClusterError::Lost { pods, indexes } => {
                write!(f, "generator {indexes} was lost, so the run has failed")?;
                for pod in pods.iter().take(5) {
                    write!(f, "\n  {} is {}: {}", pod.name, pod.phase, pod.why)?;
                }
                Ok(())
            }
            ClusterError::NotOver => write!(
                f,
                "the pods did not end within {} s after the load; look at them with kubectl get pods -l {RUN_LABEL}",
                END_MAX.as_secs()
            ),
            ClusterError::Stopped => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for ClusterError {}

impl<'a> Cluster<'a> {
    /// Nothing is asked of the cluster yet. `stopped` says whether the user called it off.
    pub fn new(
        kubectl: &'a Kubectl,
        manifests: &'a Manifests,
        stopped: &'a dyn Fn() -> bool,
    ) -> Self {
        Cluster {
            kubectl,
            manifests,
            stopped,
        }
    }

    /// Creates the Job and the objects of the run, and lets the pods start.
    ///
    /// # Errors
    /// The cluster refuses something. [`Cluster::remove`] takes away what is there.
    pub fn create(&self) -> Result<(), ClusterError> {
        let words = ["create", "-o", "json", "-f", "-"];
        let job = self.manifests.job(true).to_string();
        let made = parsed(&self.kubectl.call(&words, Some(&job))?)?;
        let uid = made["metadata"]["uid"].as_str();
        let uid = uid.ok_or_else(|| ClusterError::Strange("a Job without an id".to_owned()))?;
        let others = self.manifests.others(Some(uid));
        let list = serde_json::json!({ "apiVersion": "v1", "kind": "List", "items": others });
        self.kubectl.call(&words, Some(&list.to_string()))?;
        self.patch("job", r#"{"spec":{"suspend":false}}"#)
    }

    /// Waits until every pod runs, and returns the pods by index.
    ///
    /// # Errors
    /// Some do not in time, the Job failed before, or it was called off.
    pub fn wait_ready(&self) -> Result<Vec<Pod>, ClusterError> {
        let of = self.manifests.parallelism;
        let deadline = Instant::now() + READY_MAX;
        loop {
            let status = self.job_status()?;
            let ready = status["ready"].as_u64().unwrap_or(0);
            if ready == u64::from(of) {
                return self.pods();
            }
            if Instant::now() > deadline || condition(&status, "Failed") {
                let pods = self
                    .pods()?
                    .into_iter()
                    .filter(|pod| pod.phase != "Running");
                return Err(ClusterError::NotReady {
                    pods: pods.collect(),
                    ready: (ready, of),
                });
            }
            self.pause()?;
        }
    }

    /// Gives the sign to start, which all pods watch for.
    ///
    /// # Errors
    /// The cluster refuses it.
    pub fn start(&self) -> Result<(), ClusterError> {
        self.sign(GO)
    }

    /// Ends the load of all pods early; each still gives a result.
    ///
    /// # Errors
    /// The cluster refuses it.
    pub fn call_off(&self) -> Result<(), ClusterError> {
        self.sign(STOP)
    }

    fn sign(&self, sign: &str) -> Result<(), ClusterError> {
        self.patch(
            "configmap",
            &serde_json::json!({ "data": { sign: "1" } }).to_string(),
        )
    }

    /// Waits until the Job is complete, or one of the pods `begun` is lost. `load` is the rest of
    /// the load itself.
    ///
    /// # Errors
    /// A pod was lost, the Job is not over in time, or it was called off.
    pub fn wait_end(&self, begun: &[Pod], load: Duration) -> Result<(), ClusterError> {
        let deadline = Instant::now() + load + END_MAX;
        loop {
            let status = self.job_status()?;
            if condition(&status, "Complete") {
                return Ok(());
            }
            if status["failed"].as_u64() > Some(0) || condition(&status, "Failed") {
                return Err(self.lost(&status, begun)?);
            }
            if Instant::now() > deadline {
                return Err(ClusterError::NotOver);
            }
            self.pause()?;
        }
    }

    fn lost(&self, status: &Value, begun: &[Pod]) -> Result<ClusterError, ClusterError> {
        let pods = lost_of(begun, self.pods()?);
        let numbers: Vec<String> = pods.iter().map(|pod| pod.index.to_string()).collect();
        let indexes = status["failedIndexes"].as_str();
        let indexes = indexes.map_or_else(|| numbers.join(","), str::to_owned);
        Ok(ClusterError::Lost { pods, indexes })
    }

    /// Returns all pods of the run, by index.
    ///
    /// # Errors
    /// The cluster does not tell.
    pub fn pods(&self) -> Result<Vec<Pod>, ClusterError> {
        let label = self.label();
        let list = parsed(
            &self
                .kubectl
                .call(&["get", "pods", "-l", &label, "-o", "json"], None)?,
        )?;
        let items = list["items"].as_array().cloned().unwrap_or_default();
        let mut pods: Vec<Pod> = items.iter().filter_map(pod).collect();
        pods.sort_by_key(|pod| pod.index);
        Ok(pods)
    }

    /// The log of a pod.
    ///
    /// # Errors
    /// There is none any more.
    pub fn log(&self, pod: &Pod) -> Result<String, ClusterError> {
        self.kubectl.call(&["logs", &pod.name], None)
    }

    /// Removes all objects of the run, and waits until all are gone.
    ///
    /// # Errors
    /// The cluster refuses it; what to call by hand is in the message.
    pub fn remove(&self) -> Result<(), ClusterError> {
        let label = self.label();
        let words = [
            "delete",
            KINDS,
            "-l",
            &label,
            "--ignore-not-found",
            "--wait",
            "--timeout=30s",
        ];
        self.kubectl.call(&words, None)?;
        let words = [
            "delete",
            "pods",
            "-l",
            &label,
            "--ignore-not-found",
            "--wait",
            "--timeout=30s",
        ];
        self.kubectl.call(&words, None).map(drop)
    }

    fn label(&self) -> String {
        format!("{RUN_LABEL}={}", self.manifests.name)
    }

    fn patch(&self, kind: &str, patch: &str) -> Result<(), ClusterError> {
        let words = [
            "patch",
            kind,
            &self.manifests.name,
            "--type",
            "merge",
            "-p",
            patch,
        ];
        self.kubectl.call(&words, None).map(drop)
    }

    fn job_status(&self) -> Result<Value, ClusterError> {
        let words = ["get", "job", &self.manifests.name, "-o", "json"];
        Ok(parsed(&self.kubectl.call(&words, None)?)?["status"].take())
    }

    fn pause(&self) -> Result<(), ClusterError> {
        let until = Instant::now() + LOOK;
        while Instant::now() < until {
            if (self.stopped)() {
                return Err(ClusterError::Stopped);
            }
            thread::sleep(SLICE);
        }
        Ok(())
    }
}

/// Returns failed pods and missing pods, by index.
fn lost_of(begun: &[Pod], now: Vec<Pod>) -> Vec<Pod> {
    let is_gone = |pod: &&Pod| now.iter().all(|other| other.name != pod.name);
    let gone = begun.iter().filter(is_gone).map(|pod| Pod {
        phase: "gone".to_owned(),
        why: "somebody deleted it, or its node was drained".to_owned(),
        ..pod.clone()
    });
    let mut lost: Vec<Pod> = gone.collect();
    lost.extend(now.into_iter().filter(|pod| pod.phase == "Failed"));
    lost.sort_by_key(|pod| pod.index);
    lost
}

fn parsed(text: &str) -> Result<Value, ClusterError> {
    serde_json::from_str(text)
        .map_err(|error| ClusterError::Strange(format!("no JSON came: {error}")))
}

fn condition(status: &Value, kind: &str) -> bool {
    let all = status["conditions"].as_array();
    all.is_some_and(|all| {
        all.iter()
            .any(|one| one["type"] == kind && one["status"] == "True")
    })
}

fn pod(item: &Value) -> Option<Pod> {
    let (metadata, status) = (&item["metadata"], &item["status"]);
    let index = &metadata["labels"]["batch.kubernetes.io/job-completion-index"];
    let index = index
        .as_str()
        .or(metadata["annotations"]["batch.kubernetes.io/job-completion-index"].as_str())?;
    Some(Pod {
        name: metadata["name"].as_str()?.to_owned(),
        index: index.parse().ok()?,
        phase: status["phase"].as_str().unwrap_or("Unknown").to_owned(),
        why: why(status),
    })
}

/// Reason of the container's wait or end, or of a pod without a node.
fn why(status: &Value) -> String {
    let container = &status["containerStatuses"][0]["state"];
    let ended = &container["terminated"];
    if let Some(code) = ended["exitCode"].as_i64() {
        let reason = ended["reason"].as_str().unwrap_or("ended");
        return format!("{reason}, exit code {code}");
    }
    let unscheduled = status["conditions"].as_array().and_then(|all| {
        let found = all
            .iter()
            .find(|one| one["status"] == "False" && one["message"].is_string())?;
        found["message"].as_str()
    });
    let waiting = &container["waiting"];
    let told = [
        waiting["message"].as_str(),
        waiting["reason"].as_str(),
        status["message"].as_str(),
        status["reason"].as_str(),
        unscheduled,
    ];
    told.into_iter()
        .flatten()
        .next()
        .unwrap_or("no reason is told")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pod_that_is_gone_is_lost_by_name() {
        let pod = |index, phase: &str| Pod {
            name: format!("load-{index}-x"),
            index,
            phase: phase.to_owned(),
            why: String::new(),
        };
        let begun = [pod(0, "Running"), pod(1, "Running"), pod(2, "Running")];
        let lost = lost_of(&begun, vec![pod(0, "Running"), pod(2, "Failed")]);
        let lost: Vec<(u32, &str)> = lost
            .iter()
            .map(|pod| (pod.index, pod.phase.as_str()))
            .collect();
        assert_eq!(lost, [(1, "gone"), (2, "Failed")]);
    }

    #[test]
    fn a_pod_says_why_it_is_not_as_it_should_be() {
        let check = |status: Value, why: &str| {
            let item = json!({
                "metadata": {
                    "name": "load-3-x",
                    "labels": {"batch.kubernetes.io/job-completion-index": "3"},
                },
                "status": status,
            });
            let pod = pod(&item).expect("a pod");
            assert_eq!((pod.index, pod.why.as_str()), (3, why));
        };
        let killed = json!({"terminated": {"exitCode": 137, "reason": "OOMKilled"}});
        check(
            json!({"phase": "Failed", "containerStatuses": [{"state": killed}]}),
            "OOMKilled, exit code 137",
        );
        let pulling = json!({"waiting": {"reason": "ErrImagePull", "message": "no such image"}});
        check(
            json!({"phase": "Pending", "containerStatuses": [{"state": pulling}]}),
            "no such image",
        );
        let unscheduled = json!([{"type": "PodScheduled", "status": "False", "message": "0/3 nodes are available"}]);
        check(
            json!({"phase": "Pending", "conditions": unscheduled}),
            "0/3 nodes are available",
        );
        check(json!({}), "no reason is told");
    }
}
