//! The program on an example app, run as users run hakaru.

use std::cell::RefCell;
use std::error::Error;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

/// Connections of every load.
pub(crate) const CONNECTIONS: u32 = 20;
/// Greatest number of measurements of a setting while the cores are slow.
const TRIES: usize = 3;
/// Greatest slowdown against the fastest quarter of the runs.
const SLOW: f64 = 1.04;

/// Returns the measured program.
pub(crate) fn hakaru() -> Result<PathBuf, Box<dyn Error>> {
    let program = std::env::var_os("HAKARU_BENCH_PROGRAM")
        .ok_or("HAKARU_BENCH_PROGRAM is not set; run it as `cargo xtask bench`")?;
    Ok(PathBuf::from(program))
}

/// Runs `hakaru bench --json` with `words` and returns the document.
pub(crate) fn hakaru_bench(words: &[&str]) -> Result<Value, Box<dyn Error>> {
    let output = Command::new(hakaru()?)
        .args(["bench", "--json"])
        .args(words)
        .output()?;
    serde_json::from_slice(&output.stdout).map_err(|error| {
        let printed = String::from_utf8_lossy(&output.stderr);
        format!("hakaru bench printed no JSON ({error}): {}", printed.trim()).into()
    })
}

/// A copy of an example app in a separate folder.
pub(crate) struct Project {
    program: PathBuf,
    folder: PathBuf,
    config: String,
    rackup: String,
    port: u16,
    env: Vec<(String, String)>,
    /// How fast the cores were in each run: microseconds for the same work.
    paces_us: RefCell<Vec<f64>>,
}

/// A run.
pub(crate) struct Measured {
    /// Number of the run.
    pub(crate) number: i64,
    pub(crate) figures: Figures,
    /// Duration in seconds, boot and end included.
    pub(crate) took_s: f64,
    /// Duration of the calibration probe, µs; 0 where unknown.
    pace_us: f64,
}

/// How hard and how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// Requests due per second; `None` for a closed load.
    pub(crate) rate: Option<f64>,
    pub(crate) seconds: f64,
    pub(crate) warmup: f64,
}

impl Load {
    /// Returns the seconds from the first request to the last.
    pub(crate) fn whole(&self) -> f64 {
        self.warmup + self.seconds
    }
}

/// What a run measured, or a prediction says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    pub(crate) rps: f64,
    pub(crate) p50: f64,
    pub(crate) p95: f64,
}

impl Project {
    /// Returns a copy of `app` in a folder below `parent`: `io`, `cpu`, `mixed`, `lock`, `native`,
    /// `pauses`; `chat` on MariaDB with all solutions, or unsolved: `chat-sqlite`, `chat-mariadb`.
    /// A folder that is there already is taken as it is, with its runs.
    pub(crate) fn new(app: &str, parent: &Path) -> Result<Project, Box<dyn Error>> {
        let program = std::env::var_os("HAKARU_BENCH_PROGRAM")
            .ok_or("HAKARU_BENCH_PROGRAM is not set; run it as `cargo xtask bench`")?;
        let is_chat = app.starts_with("chat");
        let name = if is_chat { "chat" } else { "three-servers" };
        let folder = parent.join(app);
        if !folder.exists() {
            copy(name, &folder)?;
            if app == "chat" {
                solve(&folder)?;
            }
        }
        let (mut config, mut rackup) = (format!("{app}.toml"), format!("{app}.ru"));
        if is_chat {
            (config, rackup) = ("hakaru.toml".to_owned(), "config.ru".to_owned());
        }
        let env = match app {
            "chat-sqlite" => Vec::new(),
            _ if is_chat => vec![("DATABASE_URL".to_owned(), mariadb_url()?)],
            _ => same_work(&folder)?,
        };
        Ok(Project {
            program: program.into(),
            folder,
            config,
            rackup,
            port: TcpListener::bind("127.0.0.1:0")?.local_addr()?.port(),
            env,
            paces_us: RefCell::default(),
        })
    }

    /// Returns the folder of the copy.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the app's data is.
    pub(crate) fn database(&self) -> String {
        let told = self.env.iter().find(|(name, _)| name == "DATABASE_URL");
        told.map_or_else(
            || format!("sqlite:{}", self.folder.join("chat.db").display()),
            |(_, url)| url.clone(),
        )
    }

    fn json(&self, words: &[String], command: &[String]) -> Result<Value, Box<dyn Error>> {
        let mut hakaru = Command::new(&self.program);
        hakaru
            .args(words)
            .arg("--json")
            .current_dir(&self.folder)
            .env_remove("DATABASE_URL")
            .envs(self.env.iter().cloned());
        if !command.is_empty() {
            hakaru.arg("--").args(command);
        }
        let output = hakaru.output()?;
        serde_json::from_slice(&output.stdout).map_err(|error| {
            let said = String::from_utf8_lossy(&output.stderr);
            format!("hakaru {}: {error}: {said}", words.join(" ")).into()
        })
    }

    /// Returns the command starting the app with `workers` and `threads`.
    pub(crate) fn command(&self, workers: u32, threads: u32) -> Vec<String> {
        let workers = if workers > 1 { workers } else { 0 };
        let words = [
            "puma",
            "-w",
            &workers.to_string(),
            "-t",
            &format!("{threads}:{threads}"),
        ];
        let listen = [
            "-b",
            &format!("tcp://127.0.0.1:{}", self.port),
            &self.rackup,
        ];
        words
            .iter()
            .chain(&listen)
            .map(|word| (*word).to_string())
            .collect()
    }

    fn place(&self) -> Vec<String> {
        let url = format!("http://127.0.0.1:{}/", self.port);
        [
            "--config",
            &self.config,
            "--url",
            &url,
            "--connections",
            &CONNECTIONS.to_string(),
        ]
        .map(str::to_owned)
        .to_vec()
    }

    /// Measures a setting, again while the cores are slow; the run with the fastest cores counts.
    pub(crate) fn run(
        &self,
        workers: u32,
        threads: u32,
        load: Load,
    ) -> Result<Measured, Box<dyn Error>> {
        let mut best = self.run_once(workers, threads, load)?;
        for _ in 1..TRIES {
            if !self.is_slow(best.pace_us) {
                break;
            }
            let next = self.run_once(workers, threads, load)?;
            if next.pace_us < best.pace_us {
                best = next;
            }
        }
        Ok(best)
    }

    /// The first setting is measured as often as any may be: what is fast here is not known before.
    fn is_slow(&self, pace_us: f64) -> bool {
        let mut paces = self.paces_us.borrow().clone();
        paces.sort_by(f64::total_cmp);
        let fast = stats::quantile(&paces, 0.25);
        paces.len() < TRIES || fast.is_some_and(|fast| pace_us > SLOW * fast)
    }

    fn run_once(&self, workers: u32, threads: u32, load: Load) -> Result<Measured, Box<dyn Error>> {
        let begin = Instant::now();
        let mut words = vec!["run".to_owned()];
        words.extend(self.place());
        words.extend(["--duration".to_owned(), format!("{}s", load.seconds)]);
        words.extend(["--warmup".to_owned(), format!("{}s", load.warmup)]);
        if let Some(rate) = load.rate {
            words.extend(["--rate".to_owned(), format!("{rate:.2}")]);
        }
        let run = self.json(&words, &self.command(workers, threads))?;
        let number = run["number"].as_i64().ok_or("the run was not kept")?;
        let failed =
            run["errors"].as_u64().unwrap_or(0) + run["checks_failed"].as_u64().unwrap_or(0);
        if failed > 0 {
            return Err(
                format!("run {number} at {workers} × {threads}: {failed} requests failed").into(),
            );
        }
        let pace_us = run["host"]["core_pace_us"].as_f64();
        self.paces_us.borrow_mut().extend(pace_us);
        Ok(Measured {
            number,
            figures: figures(&run)?,
            took_s: begin.elapsed().as_secs_f64(),
            pace_us: pace_us.unwrap_or(0.0),
        })
    }

    /// Predicts a setting from run `number`.
    pub(crate) fn predict(
        &self,
        number: i64,
        workers: u32,
        threads: u32,
        rate: Option<f64>,
    ) -> Result<Figures, Box<dyn Error>> {
        let mut words: Vec<String> =
            vec!["predict".to_owned(), "--run".to_owned(), number.to_string()];
        words.extend(["--workers".to_owned(), workers.to_string()]);
        words.extend(["--threads".to_owned(), threads.to_string()]);
        words.extend(["--connections".to_owned(), CONNECTIONS.to_string()]);
        if let Some(rate) = rate {
            words.extend(["--rate".to_owned(), format!("{rate:.2}")]);
        }
        figures(&self.json(&words, &[])?["predicted"])
    }

    /// Runs the program by the app's own configuration, but on a free port; returns what was
    /// printed.
    pub(crate) fn hakaru(&self, command: &str, flags: &[&str]) -> Result<Value, Box<dyn Error>> {
        let config = std::fs::read_to_string(self.folder.join(&self.config))?;
        let here = format!("port-{}.toml", self.port);
        // The example apps all ask for Rack's own port.
        let config = config.replace("9292", &self.port.to_string());
        std::fs::write(self.folder.join(&here), config)?;
        let words = [command].into_iter().chain(flags.iter().copied());
        let words = words.chain(["--config", &here]);
        let words: Vec<String> = words.map(str::to_owned).collect();
        let printed = self.json(&words, &[]);
        std::fs::remove_file(self.folder.join(&here))?;
        printed
    }

    /// Tunes from the setting 1 × 5 within `budget` seconds; returns the JSON.
    pub(crate) fn tune(&self, budget: f64, threads_max: u32) -> Result<Value, Box<dyn Error>> {
        let mut words = vec!["tune".to_owned()];
        words.extend(self.place());
        words.extend(["--budget".to_owned(), format!("{budget}s")]);
        words.extend(["--threads-max".to_owned(), threads_max.to_string()]);
        words.extend(
            ["--workers-max", "2", "--block", "4s", "--warmup", "1500ms"].map(str::to_owned),
        );
        self.json(&words, &self.command(1, 5))
    }
}

impl Figures {
    /// Returns the figures in the form stored in steps.
    pub(crate) fn kept(&self) -> Value {
        json!({"rps": self.rps, "latency_ms": {"p50": self.p50, "p95": self.p95}})
    }
}

/// Out of a run, a prediction, or a kept step.
pub(crate) fn figures(value: &Value) -> Result<Figures, Box<dyn Error>> {
    let number = |value: &Value, name: &str| {
        value[name]
            .as_f64()
            .ok_or_else(|| format!("{name} is missing: {value}"))
    };
    let latency = &value["latency_ms"];
    Ok(Figures {
        rps: number(value, "rps")?,
        p50: number(latency, "p50")?,
        p95: number(latency, "p95")?,
    })
}

/// Returns variables with the amount of work per ms of CPU, measured once: on a slow host, a
/// starting app would measure less work.
fn same_work(folder: &Path) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let found = [
        ("ROUNDS_A_MS", "burner", "Burner.new.rounds_a_ms"),
        (
            "NATIVE_BYTES_A_MS",
            "compressor",
            "Compressor.new.bytes_a_ms",
        ),
    ];
    let variable = |(name, library, value): (&str, &str, &str)| {
        let kept = folder.join(library);
        if !kept.exists() {
            let mut ruby = Command::new("ruby");
            ruby.args([
                &format!("-r./lib/{library}"),
                "-e",
                &format!("print {value}"),
            ])
            .current_dir(folder);
            std::fs::write(&kept, ruby.output()?.stdout)?;
        }
        Ok((name.to_owned(), std::fs::read_to_string(&kept)?))
    };
    found.into_iter().map(variable).collect()
}

/// Returns the address of the empty database for the chat.
pub(crate) fn mariadb_url() -> Result<String, Box<dyn Error>> {
    let url = std::env::var("HAKARU_BENCH_MARIADB_URL");
    Ok(url.map_err(|_| "HAKARU_BENCH_MARIADB_URL is not set; run it as `cargo xtask bench`")?)
}

/// Copies an example app without runs.
pub(crate) fn copy(name: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps");
    done(
        Command::new("cp")
            .arg("-r")
            .args([&source.join(name), folder]),
    )?;
    let _ = std::fs::remove_dir_all(folder.join(".hakaru"));
    Ok(())
}

/// Applies the chat's solutions in order.
fn solve(folder: &Path) -> Result<(), Box<dyn Error>> {
    for patch in patches(folder)? {
        apply(folder, &patch)?;
    }
    Ok(())
}

/// Returns the solutions of an example app, in order.
pub(crate) fn patches(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let entries = std::fs::read_dir(folder.join("solutions"))?.flatten();
    let mut patches: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|name| name == "patch"))
        .collect();
    patches.sort();
    Ok(patches)
}

/// Applies one solution.
pub(crate) fn apply(folder: &Path, patch: &Path) -> Result<(), Box<dyn Error>> {
    let mut command = Command::new("patch");
    done(
        command
            .current_dir(folder)
            .args(["-s", "-p1", "-i"])
            .arg(patch),
    )
}

/// Runs a command; the output is the error on failure.
pub(crate) fn done(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}: {said}", output.status).into())
}
