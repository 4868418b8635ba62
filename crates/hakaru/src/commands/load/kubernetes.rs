//! `hakaru load --kubernetes`: one load from the pods of an Indexed Job, from the manifests to one
//! report. All objects are removed at the end, also after an error.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use figures::counted;
use generators::{GeneratorResult, Given, Order};
use kubernetes::{Cluster, ClusterError, Kubectl, Manifests, Pod};
use words::text;

use super::merge;
use super::on::check_parts;
use super::settings::Settings;
use super::show::Outputs;
use crate::cli::ClusterArgs;
use crate::context;
use crate::exit::{Exit, Failure};
use crate::output;

/// The namespace where neither flags nor `kubectl` name one.
const NAMESPACE_DEFAULT: &str = "default";

/// Sends the load from pods, prints the result, and returns the exit code.
///
/// # Errors
/// [`Exit::Failed`] with what the cluster refused, or with the pods that were lost.
pub(super) fn kubernetes(
    args: &ClusterArgs,
    mut settings: Settings,
    order: &Order,
    outputs: &Outputs<'_>,
    stop: &AtomicBool,
) -> Result<Exit, Failure> {
    let parallelism = args.parallelism.unwrap_or(1);
    check_parts(&mut settings, parallelism)?;
    let kubectl = Kubectl::new(args.context.clone(), args.namespace.clone());
    let namespace = match (kubectl.namespace(), args.dry_run) {
        (Ok(namespace), _) => namespace,
        (Err(_), true) => NAMESPACE_DEFAULT.to_owned(),
        (Err(error), false) => return Err(failed(&error)),
    };
    let plan = &settings.plan;
    let manifests = Manifests {
        name: format!("hakaru-load-{}", order.run_token),
        namespace,
        image: args.image.clone().unwrap_or_default(),
        parallelism,
        cores: plan.threads,
        memory: args.memory.clone(),
        seconds: (plan.warmup + plan.duration + plan.drain)
            .0
            .div_ceil(1_000_000_000),
        order: order.to_text(),
    };
    manifests.check().map_err(Failure::usage)?;
    if args.dry_run {
        output::data(&manifests.yaml());
        return Ok(Exit::Ok);
    }
    let is_stopped = || context::raised(stop);
    let cluster = Cluster::new(&kubectl, &manifests, &is_stopped);
    let length = Duration::from_secs(manifests.seconds);
    let times = (length, Duration::from_nanos(plan.drain.0));
    let given = run(&cluster, parallelism, times, stop);
    let removed = cluster.remove();
    if let Err(error) = removed {
        output::notice(format!(
            "hakaru: {error}; take away what is left: kubectl -n {} delete job,secret,configmap,serviceaccount,role,rolebinding -l {}={}",
            manifests.namespace,
            kubernetes::RUN_LABEL,
            manifests.name
        ));
    }
    match given {
        Ok(given) => merge::finish(given, outputs),
        Err(ClusterError::Stopped) => Ok(Exit::Interrupted),
        Err(error) => Err(failed(&error)),
    }
}

fn failed(error: &ClusterError) -> Failure {
    Failure::new(Exit::Failed, error)
}

/// Creates the Job, starts all pods together, and returns the pods' results.
fn run(
    cluster: &Cluster<'_>,
    parallelism: u32,
    (length, drain): (Duration, Duration),
    stop: &AtomicBool,
) -> Result<Vec<Given>, ClusterError> {
    cluster.create()?;
    let begun = cluster.wait_ready()?;
    cluster.start()?;
    output::notice(text!(
        "hakaru: the load is sent from {pods}",
        pods = counted!(u64::from(parallelism), "pod")
    ));
    match cluster.wait_end(&begun, length) {
        Err(ClusterError::Stopped) => {
            // The next Ctrl-C ends the wait for the results.
            stop.store(false, Ordering::Relaxed);
            output::notice(text!(
                "hakaru: the pods end early; Ctrl-C again ends without a report"
            ));
            cluster.call_off()?;
            cluster.wait_end(&begun, drain)?;
        }
        ended => ended?,
    }
    let pods = cluster.pods()?;
    pods.iter().map(|pod| given(cluster, pod)).collect()
}

fn given(cluster: &Cluster<'_>, pod: &Pod) -> Result<Given, ClusterError> {
    let log = cluster.log(pod)?;
    let result = GeneratorResult::of_text(&log)
        .map_err(|error| ClusterError::Strange(format!("the log of {} {error}", pod.name)))?;
    Ok(Given {
        name: pod.name.clone(),
        result,
        clock_bound: None,
    })
}
