//! Generators in a Kubernetes cluster: the requested objects, the course of a run, and the watch
//! for the sign to start; and the patch of a Deployment for a recommended setting.
//!
//! [`Manifests`] and [`Sizing`] are pure. [`Cluster`] drives the user's own `kubectl`, which has
//! the credentials;
//! [`watch`] is what a pod does. There is no operator and nothing stays: everything belongs to one
//! Job and goes with it.

mod cluster;
mod deployment;
mod kubectl;
mod manifests;
pub mod watch;
mod yaml;

pub use cluster::{Cluster, ClusterError, Pod};
pub use deployment::Sizing;
pub use kubectl::Kubectl;
pub use manifests::{Manifests, RUN_LABEL};
