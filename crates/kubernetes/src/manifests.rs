//! The requested objects of a run: one Indexed Job, the pods' input, and the right to watch one
//! ConfigMap.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::yaml;

/// The label of all objects of a run.
pub const RUN_LABEL: &str = "hakaru/run";
/// Bytes of the largest order: the API server accepts objects of about 1 MiB, including base64 and
/// names.
const PLAN_BYTES_MAX: usize = 700 * 1024;
/// Folder of a pod's order.
const FOLDER: &str = "/hakaru";
/// The order's file there.
const ORDER: &str = "order.json";
/// User id of the pods, in no image's list of users.
const USER: u32 = 65_532;
/// Time until the objects of a finished run are deleted, when nobody removes any, seconds.
const LEFT_S: u32 = 3_600;
/// Seconds beyond any run, after which pods and logs are deleted.
const DEADLINE_S: u64 = 3 * 3_600;

/// One load by several pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifests {
    /// The name of all objects of the run.
    pub name: String,
    /// Namespace of all objects.
    pub namespace: String,
    /// Image with the program on the path.
    pub image: String,
    /// Number of pods.
    pub parallelism: u32,
    /// Whole cores of each pod, one for each thread of the generator.
    pub cores: u32,
    /// Memory of each pod in the notation of Kubernetes.
    pub memory: String,
    /// Seconds of the load.
    pub seconds: u64,
    /// Order of each generator, as text; secrets may be inside.
    pub order: String,
}

impl Manifests {
    /// Checks the size of the order. The error is a sentence.
    pub fn check(&self) -> Result<(), String> {
        match self.order.len() {
            bytes @ PLAN_BYTES_MAX.. => Err(format!(
                "flows and feeds are {} KiB together, and an object of Kubernetes holds {} KiB of them; give fewer rows",
                bytes / 1024,
                PLAN_BYTES_MAX / 1024
            )),
            _ => Ok(()),
        }
    }

    /// The Job. It begins suspended, so that all else can belong to it, where `suspended`.
    pub fn job(&self, suspended: bool) -> Value {
        let mut job = self.object("batch/v1", "Job", None);
        job["spec"] = json!({
            "completions": self.parallelism,
            "parallelism": self.parallelism,
            "completionMode": "Indexed",
            // With backoffLimit the first pod that fails takes the others with it, and their logs.
            "backoffLimitPerIndex": 0,
            "maxFailedIndexes": self.parallelism,
            "podReplacementPolicy": "Failed",
            "ttlSecondsAfterFinished": LEFT_S,
            "activeDeadlineSeconds": self.seconds + DEADLINE_S,
            "suspend": suspended,
            "template": { "metadata": { "labels": self.labels() }, "spec": self.pod() },
        });
        job
    }

    /// All objects but the Job: the plan, the sign to start, and the right to watch the sign. The
    /// Job with the id owns the objects.
    pub fn others(&self, job_uid: Option<&str>) -> Vec<Value> {
        let mut plan = self.object("v1", "Secret", job_uid);
        plan["type"] = json!("Opaque");
        // Headers, bodies and rows of users may be secrets, and stand on no command line.
        plan["data"] = json!({ ORDER: STANDARD.encode(&self.order) });
        let mut start = self.object("v1", "ConfigMap", job_uid);
        start["data"] = json!({});
        let account = self.object("v1", "ServiceAccount", job_uid);
        let mut role = self.object("rbac.authorization.k8s.io/v1", "Role", job_uid);
        role["rules"] = json!([{
            "apiGroups": [""],
            "resources": ["configmaps"],
            "resourceNames": [self.name],
            "verbs": ["get", "watch"],
        }]);
        let mut binding = self.object("rbac.authorization.k8s.io/v1", "RoleBinding", job_uid);
        binding["roleRef"] = json!({
            "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": self.name,
        });
        binding["subjects"] = json!([{
            "kind": "ServiceAccount", "name": self.name, "namespace": self.namespace,
        }]);
        vec![plan, start, account, role, binding]
    }

    /// All objects as YAML for `kubectl apply -f -`, with the commands for the start and the
    /// results.
    pub fn yaml(&self) -> String {
        let (name, label, space) = (&self.name, RUN_LABEL, format!(" -n {}", self.namespace));
        let mut text = format!(
            "# {pods} generators of one load. When all pods run, start them together:\n\
             #   kubectl{space} patch configmap {name} --type merge -p '{{\"data\":{{\"go\":\"1\"}}}}'\n\
             # When the Job is complete or failed, keep each pod's log and merge them:\n\
             #   for pod in $(kubectl{space} get pods -l {label}={name} -o name); do kubectl{space} logs \"$pod\" > \"${{pod##*/}}.result\"; done\n\
             #   hakaru load merge *.result\n\
             # Take all of it away:\n\
             #   kubectl{space} delete job,secret,configmap,serviceaccount,role,rolebinding -l {label}={name}\n",
            pods = self.parallelism,
        );
        for object in self.others(None).iter().chain([&self.job(false)]) {
            yaml::document(object, &mut text);
        }
        text
    }

    fn labels(&self) -> Value {
        json!({ "app.kubernetes.io/name": "hakaru-load", RUN_LABEL: self.name })
    }

    fn object(&self, version: &str, kind: &str, job_uid: Option<&str>) -> Value {
        let mut object = json!({
            "apiVersion": version,
            "kind": kind,
            "metadata": { "name": self.name, "namespace": self.namespace, "labels": self.labels() },
        });
        if let Some(uid) = job_uid {
            object["metadata"]["ownerReferences"] = json!([{
                "apiVersion": "batch/v1", "kind": "Job", "name": self.name, "uid": uid,
            }]);
        }
        object
    }

    fn pod(&self) -> Value {
        json!({
            "restartPolicy": "Never",
            "serviceAccountName": self.name,
            "enableServiceLinks": false,
            "terminationGracePeriodSeconds": 5,
            "securityContext": {
                "runAsNonRoot": true,
                "runAsUser": USER,
                "runAsGroup": USER,
                "fsGroup": USER,
                "seccompProfile": { "type": "RuntimeDefault" },
            },
            "topologySpreadConstraints": [{
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": { "matchLabels": { RUN_LABEL: self.name } },
            }],
            "containers": [self.container()],
            "volumes": [{ "name": "plan", "secret": { "secretName": self.name } }],
        })
    }

    fn container(&self) -> Value {
        let resources = json!({ "cpu": self.cores.to_string(), "memory": self.memory });
        let part = format!("$(JOB_COMPLETION_INDEX)/{}", self.parallelism);
        let order = format!("{FOLDER}/{ORDER}");
        let start = format!("configmap:{}", self.name);
        json!({
            "name": "generator",
            "image": self.image,
            "imagePullPolicy": "IfNotPresent",
            "command": [
                "hakaru", "generator", "--order", order, "--part", part, "--start-at", start,
            ],
            "resources": { "requests": resources, "limits": resources },
            "securityContext": {
                "allowPrivilegeEscalation": false,
                "readOnlyRootFilesystem": true,
                "capabilities": { "drop": ["ALL"] },
            },
            "volumeMounts": [{ "name": "plan", "mountPath": FOLDER, "readOnly": true }],
        })
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    fn manifests() -> Manifests {
        Manifests {
            name: "hakaru-load-1".to_owned(),
            namespace: "perf".to_owned(),
            image: "registry/hakaru:1".to_owned(),
            parallelism: 20,
            cores: 2,
            memory: "512Mi".to_owned(),
            seconds: 60,
            order: "{\"words\":[\"--header=Authorization: N\"]}".to_owned(),
        }
    }

    fn documents(text: &str) -> Vec<Value> {
        let documents = serde_yaml_ng::Deserializer::from_str(text);
        documents
            .map(|document| Value::deserialize(document).expect("YAML"))
            .collect()
    }

    #[test]
    fn the_yaml_is_what_is_asked_for() {
        let manifests = manifests();
        let read = documents(&manifests.yaml());
        let wanted: Vec<Value> = manifests
            .others(None)
            .into_iter()
            .chain([manifests.job(false)])
            .collect();
        assert_eq!(read, wanted);
        let kinds: Vec<&Value> = read.iter().map(|object| &object["kind"]).collect();
        assert_eq!(
            kinds,
            [
                "Secret",
                "ConfigMap",
                "ServiceAccount",
                "Role",
                "RoleBinding",
                "Job"
            ]
        );
        assert!(
            read.iter()
                .all(|object| object["metadata"]["namespace"] == "perf")
        );
    }

    #[test]
    fn a_pod_that_fails_takes_no_other_with_it() {
        let spec = &manifests().job(false)["spec"];
        assert_eq!(spec["completionMode"], "Indexed");
        assert_eq!(spec["backoffLimitPerIndex"], 0);
        assert_eq!(spec["completions"], spec["parallelism"]);
        assert!(spec.get("backoffLimit").is_none());
    }

    #[test]
    fn rights_and_limits_are_the_least() {
        let manifests = manifests();
        let role = &manifests.others(None)[3];
        assert_eq!(
            role["rules"],
            json!([{"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["hakaru-load-1"], "verbs": ["get", "watch"]}])
        );
        let job = manifests.job(false);
        let container = &job["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(
            container["resources"]["requests"],
            container["resources"]["limits"]
        );
        assert_eq!(
            container["securityContext"]["capabilities"]["drop"],
            json!(["ALL"])
        );
        assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
        assert_eq!(
            job["spec"]["template"]["spec"]["securityContext"]["runAsNonRoot"],
            true
        );
    }

    #[test]
    fn what_may_be_secret_stands_in_the_secret_alone() {
        let manifests = manifests();
        let words = manifests.job(false).to_string();
        assert!(!words.contains("Authorization"), "{words}");
        let secret = &manifests.others(None)[0];
        let order = secret["data"][ORDER].as_str().expect("base64");
        let order = STANDARD.decode(order).expect("base64");
        assert_eq!(order, manifests.order.as_bytes());
    }

    #[test]
    fn everything_belongs_to_the_job() {
        for object in manifests().others(Some("u-1")) {
            assert_eq!(
                object["metadata"]["ownerReferences"][0]["uid"], "u-1",
                "{object}"
            );
        }
        assert!(manifests().job(true)["spec"]["suspend"] == true);
    }

    #[test]
    fn files_that_fit_no_object_are_refused() {
        let mut manifests = manifests();
        manifests.check().expect("it fits");
        manifests.order = "x".repeat(1024 * 1024);
        assert!(
            manifests
                .check()
                .expect_err("too much")
                .contains("1024 KiB")
        );
    }
}
