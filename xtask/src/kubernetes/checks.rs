//! Checks of a load from a real cluster, with results.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use super::cluster::{Cluster, NAMESPACE};
use super::document::{number, numbers, quoted};
use crate::run::{Outcome, capture};

/// Kinds of the objects of a run.
const KINDS: &str = "job,secret,configmap,serviceaccount,role,rolebinding,pod";
/// Latencies are kept in three digits.
const DIGIT: f64 = 1e-3;
/// Index of the lost generator.
const LOST: u32 = 1;

/// A cluster, and the load to send from there.
pub(super) struct Bench<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) hakaru: PathBuf,
    /// A folder without settings of loads.
    pub(super) work: PathBuf,
    pub(super) pods: u32,
    /// Requests per second of each pod.
    pub(super) rate: u32,
    pub(super) seconds: u32,
}

type Check = fn(&Bench<'_>) -> Outcome<String>;

/// All checks, named by subject. Each leaves nothing in the namespace.
pub(super) const ALL: [(&str, Check); 6] = [
    ("a load of all pods is one load", whole),
    ("manifests of --dry-run work by hand", by_hand),
    ("a pod that is killed fails the run by name", killed),
    ("a pod that is deleted fails the run by name", deleted),
    ("Ctrl-C before the start leaves nothing", early),
    (
        "Ctrl-C shows what was measured; pods may watch one ConfigMap",
        interrupted,
    ),
];

impl Bench<'_> {
    fn load(&self, seconds: u32) -> Command {
        let (pods, rate) = (self.pods, self.pods * self.rate);
        let mut command = self.cluster.command(&self.hakaru, "user");
        command
            .args(["load", &self.cluster.url, "--rate", &rate.to_string()])
            .args(["-d", &format!("{seconds}s"), "-c", &(pods * 4).to_string()])
            .args(["--threads", "1", "--kubernetes", "-n", NAMESPACE])
            .args([
                "--parallelism",
                &pods.to_string(),
                "--image",
                "local/hakaru",
            ])
            .current_dir(&self.work)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Nothing of a load is in the namespace.
    pub(super) fn left(&self) -> Outcome<()> {
        let left = self.cluster.kubectl(&[
            "get",
            KINDS,
            "-n",
            NAMESPACE,
            "-l",
            "hakaru/run",
            "-o",
            "name",
        ])?;
        match left.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "left in the namespace: {}",
                left.replace('\n', " ")
            )),
        }
    }

    /// Starts a load without an end, and returns the running load once the pods have the sign to
    /// start.
    fn begun(&self) -> Outcome<Running> {
        let mut child = start(&mut self.load(3_600))?;
        let mut errors = BufReader::new(child.stderr.take().ok_or("no standard error")?);
        let mut said = String::new();
        while !said.contains("the load is sent from") {
            if errors.read_line(&mut said).unwrap_or(0) == 0 {
                let _ = child.wait();
                return Err(format!("the load did not begin: {}", said.trim()));
            }
        }
        Ok(Running { child, errors })
    }

    /// Returns the name of the pod with the generator to lose.
    fn victim(&self) -> Outcome<String> {
        let label = format!("hakaru/run,batch.kubernetes.io/job-completion-index={LOST}");
        let name = "jsonpath={.items[0].metadata.name}";
        self.cluster
            .kubectl(&["get", "pods", "-n", NAMESPACE, "-l", &label, "-o", name])
    }

    fn log_of(&self, pod: &str) -> PathBuf {
        self.cluster
            .folder
            .join(format!("pods/{NAMESPACE}/{pod}/generator.log"))
    }
}

/// A load whose pods send.
struct Running {
    child: Child,
    errors: BufReader<std::process::ChildStderr>,
}

impl Running {
    /// Returns the exit code and the rest of both outputs.
    fn end(mut self) -> Outcome<(Option<i32>, String)> {
        let mut said = String::new();
        let _ = self.errors.read_to_string(&mut said);
        let output = self.child.wait_with_output();
        let output = output.map_err(|error| format!("cannot wait for hakaru: {error}"))?;
        said.push_str(&String::from_utf8_lossy(&output.stdout));
        Ok((output.status.code(), said))
    }
}

fn start(command: &mut Command) -> Outcome<Child> {
    let started = command.spawn();
    started.map_err(|error| format!("cannot run hakaru: {error}"))
}

fn interrupt(child: &Child) -> Outcome<()> {
    capture(Command::new("kill").args(["-INT", &child.id().to_string()])).map(drop)
}

/// Checks one report of all pods: exact counts, and the percentiles of HdrHistogram's own sum.
fn whole(bench: &Bench<'_>) -> Outcome<String> {
    let due = u64::from(bench.pods * bench.rate * bench.seconds);
    let before = bench.cluster.served()?;
    let output = bench
        .load(bench.seconds)
        .arg("--json")
        .output()
        .map_err(|error| format!("cannot run hakaru: {error}"))?;
    let document = told(&output, 0)?;
    let served = bench.cluster.served()? - before;
    let names = quoted(&document, "hakaru-load-");
    let logs = names.iter().map(|name| bench.log_of(name));
    let files: Vec<PathBuf> = logs.filter(|log| log.is_file()).collect();
    let sum = bench.cluster.merge(&files)?;
    let figure = |words: &[&str]| {
        number(&document, words).ok_or_else(|| format!("no {words:?} in the JSON"))
    };
    let requests = figure(&["\"requests\""])? as u64;
    // What is due in the last instant of a window stays unsent where a core was not free.
    let unsent = figure(&["\"generator\"", "\"unsent\""])? as u64;
    same_count("requests sent and unsent", requests + unsent, due)?;
    same_count("requests at the server", served, requests)?;
    same_sum(&sum, requests, &figure)?;
    let spread = numbers(&document, "\"started_after_ms\"")
        .into_iter()
        .fold(0.0, f64::max);
    Ok(format!(
        "{due} requests due, {requests} sent and at the server, {unsent} unsent; p50 {} ms, p99 {} ms, as HdrHistogram's own sum of {} logs; \
         pods began within {spread:.1} ms; late p50 {} ms, p99 {} ms",
        figure(&["\"latency_ms\"", "\"p50\""])?,
        figure(&["\"latency_ms\"", "\"p99\""])?,
        files.len(),
        figure(&["\"lateness_ms\"", "\"p50\""])?,
        figure(&["\"lateness_ms\"", "\"p99\""])?,
    ))
}

fn same_count(what: &str, is: u64, due: u64) -> Outcome<()> {
    match is == due {
        true => Ok(()),
        false => Err(format!("{what}: {is}, not {due}")),
    }
}

/// Compares the figures of the report with the sum of the pods' logs.
fn same_sum(sum: &str, requests: u64, figure: &dyn Fn(&[&str]) -> Outcome<f64>) -> Outcome<()> {
    let other = |word: &str| number(sum, &[word]).ok_or_else(|| format!("no {word} in {sum:?}"));
    same_count("requests in the logs", other("requests")? as u64, requests)?;
    for percentile in ["p50", "p99"] {
        let ours = figure(&["\"latency_ms\"", &format!("\"{percentile}\"")])?;
        let theirs = other(percentile)?;
        // Each of both may give any value of a class.
        if (ours - theirs).abs() > theirs * DIGIT {
            return Err(format!(
                "{percentile} is {ours} ms, and {theirs} ms in the sum of the logs"
            ));
        }
    }
    Ok(())
}

/// Returns the standard output of a program ended with the expected code.
fn told(output: &Output, code: i32) -> Outcome<String> {
    match output.status.code() == Some(code) {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!(
            "ended with {}: {}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim(),
            String::from_utf8_lossy(&output.stdout).trim()
        )),
    }
}

/// Applies the manifests, and runs the commands in the head as typed by a person.
fn by_hand(bench: &Bench<'_>) -> Outcome<String> {
    let dry = bench.load(bench.seconds).arg("--dry-run").output();
    let yaml = told(
        &dry.map_err(|error| format!("cannot run hakaru: {error}"))?,
        0,
    )?;
    let file = bench.work.join("load.yaml");
    fs::write(&file, &yaml).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    let commands: Vec<&str> = yaml
        .lines()
        .filter_map(|line| line.strip_prefix("#   "))
        .collect();
    let [go, keep, merge, away] = commands.as_slice() else {
        return Err(format!(
            "{} commands in the head of the manifests",
            commands.len()
        ));
    };
    let wait = |what: &str| {
        format!("kubectl -n {NAMESPACE} wait job -l hakaru/run --for={what} --timeout=120s")
    };
    let ready = format!("jsonpath={{.status.ready}}={}", bench.pods);
    let merge = merge.replace("hakaru ", "\"$HAKARU\" ") + " --json";
    shell(bench, "kubectl apply -f load.yaml")?;
    shell(bench, &wait(&ready))?;
    shell(bench, go)?;
    shell(bench, &wait("condition=complete"))?;
    shell(bench, keep)?;
    let document = shell(bench, &merge)?;
    shell(bench, away)?;
    shell(
        bench,
        &format!("kubectl -n {NAMESPACE} wait pod -l hakaru/run --for=delete --timeout=60s"),
    )?;
    let due = u64::from(bench.pods * bench.rate * bench.seconds);
    let figure = |words: &[&str]| number(&document, words).unwrap_or(0.0) as u64;
    let requests = figure(&["\"requests\""]);
    let all = requests + figure(&["\"generator\"", "\"unsent\""]);
    same_count("requests in the merged report, sent and unsent", all, due)?;
    Ok(format!("{} commands, {requests} requests", commands.len()))
}

fn shell(bench: &Bench<'_>, line: &str) -> Outcome<String> {
    let mut command = bench.cluster.command("sh", "user");
    command
        .args(["-ec", line])
        .env("HAKARU", &bench.hakaru)
        .current_dir(&bench.work);
    capture(&mut command)
}

fn killed(bench: &Bench<'_>) -> Outcome<String> {
    let running = bench.begun()?;
    let pod = bench.victim()?;
    let pid = bench.log_of(&pod).with_file_name("pid");
    let pid = fs::read_to_string(&pid).map_err(|error| format!("{}: {error}", pid.display()))?;
    capture(Command::new("kill").args(["-KILL", pid.trim()]))?;
    lost(running, &pod)
}

fn deleted(bench: &Bench<'_>) -> Outcome<String> {
    let running = bench.begun()?;
    let pod = bench.victim()?;
    bench
        .cluster
        .kubectl(&["delete", "pod", &pod, "-n", NAMESPACE, "--wait=false"])?;
    lost(running, &pod)
}

/// Checks the run's failure: the message names the lost pod and the known facts.
fn lost(running: Running, pod: &str) -> Outcome<String> {
    let (code, said) = running.end()?;
    let said = said.trim().replace('\n', "; ");
    let is_named = said.contains(pod) && said.contains(&format!("generator {LOST}"));
    match (code, is_named) {
        (Some(1), true) => Ok(said),
        _ => Err(format!("exit code {code:?}, pod {pod}: {said}")),
    }
}

fn early(bench: &Bench<'_>) -> Outcome<String> {
    let child = start(&mut bench.load(3_600))?;
    loop {
        let jobs = [
            "get",
            "job",
            "-n",
            NAMESPACE,
            "-l",
            "hakaru/run",
            "-o",
            "name",
        ];
        if !bench.cluster.kubectl(&jobs)?.is_empty() {
            break;
        }
    }
    interrupt(&child)?;
    let output = child.wait_with_output();
    told(
        &output.map_err(|error| format!("cannot wait for hakaru: {error}"))?,
        130,
    )
    .map(|_| "exit code 130".to_owned())
}

fn interrupted(bench: &Bench<'_>) -> Outcome<String> {
    let running = bench.begun()?;
    let job = [
        "get",
        "job",
        "-n",
        NAMESPACE,
        "-l",
        "hakaru/run",
        "-o",
        "jsonpath={.items[0].metadata.name}",
    ];
    let rights = bench
        .cluster
        .kubectl(&job)
        .and_then(|name| rights(bench, &name));
    interrupt(&running.child)?;
    let (code, said) = running.end()?;
    let is_shown = said.contains("requests/s") && said.contains("began after");
    match (code, is_shown) {
        (Some(130), true) => Ok(format!("exit code 130; {}", rights?)),
        _ => Err(format!("exit code {code:?}: {said}")),
    }
}

/// Checks the rights of the pods' account, granted and denied.
fn rights(bench: &Bench<'_>, name: &str) -> Outcome<String> {
    let account = format!("system:serviceaccount:{NAMESPACE}:{name}");
    let own = format!("configmaps/{name}");
    let asked: [(&str, &str, &str, bool); 9] = [
        ("get", &own, NAMESPACE, true),
        ("watch", &own, NAMESPACE, true),
        ("patch", &own, NAMESPACE, false),
        ("get", "configmaps/kube-root-ca.crt", NAMESPACE, false),
        ("list", "configmaps", NAMESPACE, false),
        ("get", &format!("secrets/{name}"), NAMESPACE, false),
        ("list", "pods", NAMESPACE, false),
        ("create", "pods", NAMESPACE, false),
        ("get", &own, "default", false),
    ];
    for (verb, what, namespace, may) in asked {
        let question =
            format!("kubectl auth can-i {verb} {what} -n {namespace} --as {account} || true");
        let mut command = bench.cluster.command("sh", "admin");
        let answer = capture(command.args(["-c", &question]))?;
        if (answer.trim() == "yes") != may {
            return Err(format!(
                "{verb} {what} in {namespace} by the pods: {}",
                answer.trim()
            ));
        }
    }
    Ok(format!("{} questions about rights", asked.len()))
}
