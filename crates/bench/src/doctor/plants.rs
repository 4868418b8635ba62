//! The faults, one function each.

use std::any::Any;
use std::error::Error;
use std::fs;

use super::Bench;
use super::app::{Follower, fill};
use super::machine::{Group, SlowDisk, Swapped};

/// How the events of a request are counted.
pub(super) enum Events {
    /// No cost is stated, or none in time.
    FoundOnly,
    /// So many in each request.
    Each(f64),
    /// By the growth of the named counter of the server.
    Counter(&'static str),
    /// None: the cost is a factor.
    Factor,
    /// The same where the sides differ by more or less of the same fault.
    FactorOfBoth,
}

/// A fault, made.
pub(super) struct Plant {
    pub(super) finding: &'static str,
    pub(super) work: &'static str,
    pub(super) count: u32,
    /// Pause before each piece of work, ms: between an app's writes lies other work.
    pub(super) pause_ms: f64,
    pub(super) events: Events,
    pub(super) a: Side,
    pub(super) b: Side,
    pub(super) note: &'static str,
    /// Values which undo the fault on drop.
    pub(super) keep: Vec<Box<dyn Any>>,
}

/// One side of the comparison.
#[derive(Clone, Default)]
pub(super) struct Side {
    pub(super) env: Vec<(String, String)>,
    /// For the shell, before the app and before doctor.
    pub(super) before: String,
    /// Words in front of the command of the app and of doctor.
    pub(super) through: String,
    /// Flags of doctor.
    pub(super) doctor: Vec<String>,
    /// Whether other programs use the cores meanwhile.
    pub(super) busy: bool,
}

type Make = fn(&Bench) -> Result<Plant, Box<dyn Error>>;

/// All plants, by the name on the command line.
pub(super) const ALL: [(&str, Make); 15] = [
    ("pool", pool),
    ("binlog", binlog),
    ("shared-buffers", shared_buffers),
    ("page-cost", page_cost),
    ("replica-behind", |_| replica("MARIADB", "BEHIND")),
    ("replica-stopped", |_| replica("MARIADB", "STOPPED")),
    ("mysql-replica", |_| replica("MYSQL", "BEHIND")),
    ("journal", journal),
    ("loop-device", loop_device),
    ("quota", quota),
    ("neighbours", neighbours),
    ("filters", filters),
    ("files", files),
    ("arenas", arenas),
    ("swap", swap),
];

impl Side {
    fn of(env: &[(&str, String)], doctor: &[&str]) -> Side {
        Side {
            env: env
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect(),
            doctor: doctor.iter().map(|word| (*word).to_owned()).collect(),
            ..Side::default()
        }
    }

    fn after(mut self, line: impl Into<String>) -> Side {
        self.before = line.into();
        self
    }
}

impl Plant {
    fn new(finding: &'static str, work: &'static str, count: u32, a: Side, b: Side) -> Plant {
        Plant {
            finding,
            work,
            count,
            pause_ms: 0.0,
            events: Events::FoundOnly,
            a,
            b,
            note: "",
            keep: Vec::new(),
        }
    }

    fn events(mut self, events: Events) -> Plant {
        self.events = events;
        self
    }

    /// One write for good in each piece of work, after a pause.
    fn writes(mut self) -> Plant {
        const PAUSE_MS: f64 = 1.0;
        self.pause_ms = PAUSE_MS;
        let count = f64::from(self.count);
        self.events(Events::Each(count))
    }

    /// Milliseconds of a request in which the app does nothing.
    pub(super) fn pauses_ms(&self) -> f64 {
        self.pause_ms * f64::from(self.count)
    }
}

/// A server of the benchmark: the planted one, or the one without the fault.
pub(super) fn server(name: &str) -> Result<String, Box<dyn Error>> {
    let variable = format!("HAKARU_BENCH_{name}");
    Ok(std::env::var(&variable)
        .map_err(|_| format!("{variable} is not set; run it as `cargo xtask bench doctor`"))?)
}

/// A server, filled once.
fn filled(name: &str) -> Result<Side, Box<dyn Error>> {
    let url = server(name)?;
    let side = Side::of(
        &[("DATABASE_URL", url.clone())],
        &["--only", "database", "--database", &url],
    );
    // The second plant on a server finds its tables there.
    match fill(&side.env) {
        Err(why) if !why.to_string().contains("exists") => Err(why),
        _ => Ok(side),
    }
}

/// Both servers of a kind, filled once.
fn servers(kind: &str) -> Result<[Side; 2], Box<dyn Error>> {
    let side = |which: &str| filled(&format!("{kind}_{which}"));
    Ok([side("PLANTED")?, side("HEALTHY")?])
}

/// The planted MariaDB, filled.
pub(super) fn planted_mariadb() -> Result<Side, Box<dyn Error>> {
    let [planted, _] = servers("MARIADB")?;
    Ok(planted)
}

fn pool(_: &Bench) -> Result<Plant, Box<dyn Error>> {
    let [a, b] = servers("MARIADB")?;
    Ok(
        Plant::new("mysql.buffer-pool-small", "mysql-read", 50, a, b)
            .events(Events::Counter("Innodb_buffer_pool_reads")),
    )
}

fn binlog(_: &Bench) -> Result<Plant, Box<dyn Error>> {
    let [a, b] = servers("MARIADB")?;
    Ok(Plant::new("mysql.commit-syncs", "mysql-commit", 10, a, b).writes())
}

fn shared_buffers(_: &Bench) -> Result<Plant, Box<dyn Error>> {
    let [a, b] = servers("POSTGRES")?;
    Ok(
        Plant::new("postgres.shared-buffers-small", "postgres-sum", 20, a, b)
            .events(Events::Counter("(blocks read)")),
    )
}

fn page_cost(_: &Bench) -> Result<Plant, Box<dyn Error>> {
    let (a, b) = (filled("POSTGRES_COSTLY")?, filled("POSTGRES_HEALTHY")?);
    let (finding, work) = ("postgres.random-page-cost", "postgres-range");
    Ok(Plant::new(finding, work, 1, a, b).events(Events::Each(1.0)))
}

/// A copy of another server, behind or stopped.
fn replica(kind: &str, fault: &str) -> Result<Plant, Box<dyn Error>> {
    let (source, copy) = match kind {
        "MARIADB" => (server("MARIADB_PLANTED")?, server("MARIADB_REPLICA")?),
        _ => (server("MYSQL_SOURCE")?, server("MYSQL_REPLICA")?),
    };
    let follower = Follower::start(&source, &copy, fault)?;
    let flags = ["--only", "database", "--measure", "no", "--database", &copy];
    let finding = match fault {
        "BEHIND" => "database.replication-lag",
        _ => "database.replication-stopped",
    };
    let side = Side::of(&[], &flags);
    let mut plant = Plant::new(finding, "cpu", 1, side, Side::default());
    plant.note = "costs old rows, not time";
    plant.keep.push(Box::new(follower));
    Ok(plant)
}

fn journal(bench: &Bench) -> Result<Plant, Box<dyn Error>> {
    let side = |journal: &str, synchronous: &str| -> Result<Side, Box<dyn Error>> {
        let file = bench.folder.path().join(format!("{journal}.sqlite3"));
        let url = format!("sqlite:{}", file.display());
        let file = ("FILE", file.display().to_string());
        fill(&Side::of(&[file.clone(), ("JOURNAL", journal.to_owned())], &[]).env)?;
        Ok(Side::of(
            &[file, ("SYNCHRONOUS", synchronous.to_owned())],
            &["--only", "database", "--database", &url],
        ))
    };
    let (a, b) = (side("delete", "full")?, side("wal", "normal")?);
    Ok(Plant::new("sqlite.rollback-journal", "sqlite-commit", 5, a, b).writes())
}

fn loop_device(bench: &Bench) -> Result<Plant, Box<dyn Error>> {
    const WRITES_PER_S: u32 = 40;
    let disk = SlowDisk::make(bench.folder.path(), WRITES_PER_S)?;
    let side = |folder: &std::path::Path| -> Result<Side, Box<dyn Error>> {
        let file = folder.join("written");
        fs::write(&file, vec![1; 65_536])?;
        let folder = folder.display().to_string();
        Ok(Side::of(
            &[("FILE", file.display().to_string())],
            &["--only", "disk", "--folder", &folder],
        ))
    };
    let (a, b) = (side(&disk.folder)?, side(bench.folder.path())?);
    let mut plant = Plant::new("disk.sync-slow", "sync", 3, a, b).writes();
    plant.keep.push(Box::new(disk));
    Ok(plant)
}

fn quota(bench: &Bench) -> Result<Plant, Box<dyn Error>> {
    let group = Group::of_quota(0.5)?;
    // One process of Ruby can use one core.
    let app = bench.folder.path().join("one");
    fs::create_dir_all(app.join("config"))?;
    fs::write(app.join("config/puma.rb"), "workers 0\nthreads 1, 1\n")?;
    let app = app.display().to_string();
    let a = Side::of(&[], &["--only", "container", "--folder", &app]).after(group.enter());
    let mut plant = Plant::new(
        "container.quota-below-cores",
        "cpu",
        100,
        a,
        Side::default(),
    )
    .events(Events::Factor);
    plant.keep.push(Box::new(group));
    Ok(plant)
}

fn neighbours(_: &Bench) -> Result<Plant, Box<dyn Error>> {
    let b = Side::of(&[], &["--only", "cpu"]);
    let a = Side {
        busy: true,
        ..b.clone()
    };
    Ok(Plant::new("cpu.busy-neighbour", "cpu", 50, a, b).events(Events::FactorOfBoth))
}

fn filters(_: &Bench) -> Result<Plant, Box<dyn Error>> {
    const CALLS: u32 = 100_000;
    let nested = concat!(env!("CARGO_MANIFEST_DIR"), "/src/doctor/filtered.rb");
    let under = |filters: u32| Side {
        through: format!("ruby {nested} {filters}"),
        ..Side::of(&[], &["--only", "cpu"])
    };
    // The advice is one filter, not none.
    let (a, b) = (under(6), under(1));
    Ok(Plant::new("cpu.filter-expensive", "calls", CALLS, a, b)
        .events(Events::Each(f64::from(CALLS))))
}

fn files(_: &Bench) -> Result<Plant, Box<dyn Error>> {
    let a = Side::of(&[], &["--only", "limits", "--measure", "no"]).after("ulimit -n 64;");
    let mut plant = Plant::new("limits.files", "cpu", 1, a, Side::default());
    plant.note = "costs failed requests, not time";
    Ok(plant)
}

fn arenas(bench: &Bench) -> Result<Plant, Box<dyn Error>> {
    let app = bench.folder.path().join("eight");
    fs::create_dir_all(app.join("config"))?;
    fs::write(app.join("config/puma.rb"), "threads 8, 8\n")?;
    let a = Side::of(
        &[],
        &[
            "--only",
            "ruby",
            "--measure",
            "no",
            "--folder",
            &app.display().to_string(),
        ],
    );
    let mut plant = Plant::new(
        "ruby.malloc-arenas",
        "cpu",
        1,
        a.after("unset MALLOC_ARENA_MAX;"),
        Side::default(),
    );
    plant.note = "costs memory, not time";
    Ok(plant)
}

fn swap(bench: &Bench) -> Result<Plant, Box<dyn Error>> {
    let swapped = Swapped::make(bench.folder.path())?;
    let a = Side::of(
        &[],
        &[
            "--only",
            "memory",
            "--measure",
            "no",
            "--pid",
            &swapped.pid().to_string(),
        ],
    );
    let mut plant = Plant::new("memory.process-swapped", "cpu", 1, a, Side::default());
    plant.note = "costs when the memory is touched again";
    plant.keep.push(Box::new(swapped));
    Ok(plant)
}
