//! The user's own `kubectl`, which has the credentials, the proxies and the cloud's plug-ins.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::cluster::ClusterError;

/// One call takes no longer.
const CALL_MAX: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(5);

/// Options of every call of `kubectl`.
#[derive(Clone, Debug)]
pub struct Kubectl {
    context: Option<String>,
    namespace: Option<String>,
}

impl Kubectl {
    /// Makes a caller with the given context and namespace, or the defaults of `kubectl`'s
    /// settings.
    pub fn new(context: Option<String>, namespace: Option<String>) -> Kubectl {
        Kubectl { context, namespace }
    }

    /// Returns the namespace of all calls.
    ///
    /// # Errors
    /// It is not installed, or has no settings that can be read.
    pub fn namespace(&self) -> Result<String, ClusterError> {
        if let Some(namespace) = &self.namespace {
            return Ok(namespace.clone());
        }
        let words = ["config", "view", "--minify", "-o", "jsonpath={..namespace}"];
        let found = self.call(&words, None)?.trim().to_owned();
        Ok(match found.is_empty() {
            true => "default".to_owned(),
            false => found,
        })
    }

    /// Runs `kubectl` with the words, and returns standard output.
    ///
    /// # Errors
    /// The program is missing, took too long, or ended with an error, which is included.
    pub(crate) fn call(&self, words: &[&str], input: Option<&str>) -> Result<String, ClusterError> {
        let mut command = Command::new("kubectl");
        for (flag, value) in [
            ("--context", &self.context),
            ("--namespace", &self.namespace),
        ] {
            if let Some(value) = value {
                command.args([flag, value]);
            }
        }
        command
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C is for us: what we began is to be taken away by calls that it must not end.
            .process_group(0);
        let called = words.first().copied().unwrap_or_default().to_owned();
        let mut child = command.spawn().map_err(ClusterError::NoKubectl)?;
        let output = talk(&mut child, input);
        match output {
            Some((0, out, _)) => Ok(out),
            Some((_, _, told)) => Err(ClusterError::Refused { called, told }),
            None => {
                let _ = child.kill();
                let _ = child.wait();
                let told = format!("no answer within {} s", CALL_MAX.as_secs());
                Err(ClusterError::Refused { called, told })
            }
        }
    }
}

/// Returns exit code and both outputs; `None` after a timeout.
fn talk(child: &mut Child, input: Option<&str>) -> Option<(i32, String, String)> {
    let (mut stdin, mut stdout, mut stderr) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        scope.spawn(move || {
            if let (Some(stdin), Some(input)) = (&mut stdin, input) {
                // What it does not read it complains about itself.
                let _ = stdin.write_all(input.as_bytes());
            }
        });
        let out = scope.spawn(move || read(stdout.as_mut()));
        let told = scope.spawn(move || read(stderr.as_mut()));
        let code = wait(child)?;
        Some((code, out.join().ok()?, told.join().ok()?.trim().to_owned()))
    })
}

/// Waits for the end of the process, and kills a process out of time.
fn wait(child: &mut Child) -> Option<i32> {
    let deadline = Instant::now() + CALL_MAX;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.code().unwrap_or(-1)),
            Ok(None) if Instant::now() < deadline => thread::sleep(LOOK),
            _ => {
                // Its outputs end with it, so that nobody waits for them.
                let _ = child.kill();
                return None;
            }
        }
    }
}

fn read(pipe: Option<&mut impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        let _ = pipe.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
