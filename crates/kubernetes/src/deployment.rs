//! A number of workers and threads as a patch of a Deployment: pods, their processes, CPU and
//! memory. Pure.

use serde_json::{Value, json};

use crate::yaml;

/// Workers of a pod unless said otherwise: enough to share a queue and a master's memory, and few
/// enough for a cluster to find room.
const POD_WORKERS: u32 = 4;
/// Room above what was measured: for uneven balancing of pods, and for growth of memory.
const CPU_ROOM: f64 = 1.2;
const MEMORY_ROOM: f64 = 1.25;
/// Steps of the requests, thousandths of a core and mebibytes.
const CPU_STEP: f64 = 50.0;
const MEMORY_STEP: u64 = 16;
const MEBIBYTE: u64 = 1024 * 1024;

/// A measured number of workers and threads, the resources used, and the Deployment to hold both.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizing {
    /// Name of the Deployment.
    pub deployment: String,
    /// Name of the app's container.
    pub container: String,
    /// Workers of all pods together, at least 1.
    pub workers: u32,
    /// Threads of each worker.
    pub threads: u32,
    /// Most workers of a pod; `None` for a choice.
    pub pod_workers: Option<u32>,
    /// `WEB_CONCURRENCY` of a pod with one worker: 0 for Puma, which then has no master.
    pub single: u32,
    /// Cores in use by all workers.
    pub cores: f64,
    /// Memory of a worker, bytes; 0 where not known.
    pub worker_bytes: u64,
    /// Memory of the processes beside the workers, bytes.
    pub other_bytes: u64,
    /// Lines about the origin of the numbers, for the head.
    pub origin: Vec<String>,
}

impl Sizing {
    /// Returns the number of pods, and the workers of each.
    pub fn pods(&self) -> (u32, u32) {
        let most = self.pod_workers.unwrap_or(POD_WORKERS).max(1);
        let workers = self.workers.max(1);
        let pods = workers.div_ceil(most);
        (pods, workers.div_ceil(pods))
    }

    /// Returns the strategic merge patch.
    pub fn patch(&self) -> Value {
        let (pods, workers) = self.pods();
        let concurrency = if workers == 1 { self.single } else { workers };
        let text = |number: u32| Value::from(number.to_string());
        let mut container = json!({
            "name": self.container,
            "env": [
                { "name": "WEB_CONCURRENCY", "value": text(concurrency) },
                { "name": "RAILS_MAX_THREADS", "value": text(self.threads) },
                { "name": "PUMA_MAX_THREADS", "value": text(self.threads) },
                { "name": "PUMA_MIN_THREADS", "value": text(self.threads) },
            ],
        });
        container["resources"] = self.resources(pods, workers);
        json!({
            "spec": {
                "replicas": pods,
                "template": { "spec": { "containers": [container] } },
            },
        })
    }

    /// Returns requests and limits. A limit of CPU below what the workers can use at once would
    /// stop all threads of the pod for the rest of each tenth of a second, so it is one core a
    /// worker.
    fn resources(&self, pods: u32, workers: u32) -> Value {
        let millis = self.cores.max(0.0) * 1e3 * CPU_ROOM / f64::from(pods);
        let millis = ((millis / CPU_STEP).ceil().max(1.0) * CPU_STEP) as u64;
        let most = millis.max(u64::from(workers) * 1000);
        let mut resources = json!({
            "requests": { "cpu": format!("{millis}m") },
            "limits": { "cpu": format!("{most}m") },
        });
        if self.worker_bytes > 0 {
            let bytes = self.other_bytes + self.worker_bytes * u64::from(workers);
            let mebibytes = (bytes as f64 * MEMORY_ROOM / MEBIBYTE as f64).ceil() as u64;
            let memory = format!("{}Mi", mebibytes.div_ceil(MEMORY_STEP) * MEMORY_STEP);
            resources["requests"]["memory"] = memory.as_str().into();
            resources["limits"]["memory"] = memory.into();
        }
        resources
    }

    /// Returns the patch as YAML, under a head with the commands.
    pub fn yaml(&self) -> String {
        let (pods, workers) = self.pods();
        let mut text = String::new();
        for line in &self.origin {
            text += &format!("# {line}\n");
        }
        text += &format!(
            "# {pods} pods of {workers} workers and {threads} threads each. Save this as patch.yaml, look at what would change, apply:\n\
             #   kubectl patch deployment {name} --patch-file patch.yaml --dry-run=server -o yaml\n\
             #   kubectl patch deployment {name} --patch-file patch.yaml\n\
             # Flags of the container's command, such as -w and -t of Puma, override these variables: remove them there.\n",
            threads = self.threads,
            name = self.deployment,
        );
        if pods == 1 {
            text += "# With one pod the app stands still while its node is drained: two pods need twice of it all.\n";
        }
        if self.worker_bytes == 0 {
            text += "# The memory of the processes was not measured, so that none is named.\n";
        }
        yaml::document(&self.patch(), &mut text);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizing(workers: u32, pod_workers: Option<u32>) -> Sizing {
        Sizing {
            deployment: "web".to_owned(),
            container: "app".to_owned(),
            workers,
            threads: 3,
            pod_workers,
            single: 0,
            cores: 3.1,
            worker_bytes: 100 * MEBIBYTE,
            other_bytes: 60 * MEBIBYTE,
            origin: vec!["from run 7".to_owned()],
        }
    }

    #[test]
    fn workers_are_divided_evenly_and_none_is_lost() {
        let check = |workers, pod_workers, pods| {
            assert_eq!(sizing(workers, pod_workers).pods(), pods, "{workers}");
        };
        check(1, None, (1, 1));
        check(4, None, (1, 4));
        check(5, None, (2, 3));
        check(8, None, (2, 4));
        check(8, Some(3), (3, 3));
        check(8, Some(1), (8, 1));
        for workers in 1..200 {
            for most in 1..9 {
                let (pods, each) = sizing(workers, Some(most)).pods();
                assert!(pods * each >= workers && each <= most, "{workers} {most}");
                assert!(
                    (pods - 1) * each < workers,
                    "{workers} {most}: a pod too many"
                );
            }
        }
    }

    #[test]
    fn a_pod_has_room_and_is_never_throttled_below_its_workers() {
        let patch = sizing(5, None).patch();
        let container = &patch["spec"]["template"]["spec"]["containers"][0];
        // 3.1 cores and a fifth over two pods; 60 + 3 × 100 MiB and a quarter.
        assert_eq!(
            container["resources"],
            json!({
                "requests": { "cpu": "1900m", "memory": "464Mi" },
                "limits": { "cpu": "3000m", "memory": "464Mi" },
            })
        );
        assert_eq!(patch["spec"]["replicas"], 2);
        let busy = Sizing {
            cores: 9.0,
            worker_bytes: 0,
            ..sizing(5, None)
        };
        let resources = &busy.patch()["spec"]["template"]["spec"]["containers"][0]["resources"];
        assert_eq!(resources["requests"]["cpu"], resources["limits"]["cpu"]);
        assert_eq!(resources["limits"]["memory"], Value::Null);
    }

    #[test]
    fn the_text_is_the_patch_with_strings_for_the_variables() {
        let sizing = sizing(1, None);
        let text = sizing.yaml();
        let read: Value = serde_yaml_ng::from_str(&text).expect("YAML");
        assert_eq!(read, sizing.patch());
        let env = &read["spec"]["template"]["spec"]["containers"][0]["env"];
        assert_eq!(env[0], json!({ "name": "WEB_CONCURRENCY", "value": "0" }));
        assert!(text.starts_with("# from run 7\n# 1 pods"), "{text}");
        assert!(text.contains("two pods need twice"), "{text}");
    }
}
