//! Four hosts on one bridge: a proxy, two app hosts and a database, each with an SSH server.
//!
//! A host is a set of namespaces whose first process reads a pipe that this program holds: when the
//! pipe ends, the host and all that runs on it end. A host's share of the CPU is a control group.

mod group;

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::host::Host;
use super::link::{self, Link};
use super::ssh;
use crate::run::{Outcome, capture, root, write};
use crate::servers::MariadbFiles;
use group::Groups;
pub(in crate::hosts) use group::stamp;

/// Longest wait for a server.
const PATIENCE: Duration = Duration::from_secs(60);
const TICK: Duration = Duration::from_millis(50);
const NET: &str = "10.77.0";
const DATABASE_PORT: u16 = 3306;
const APP_PORT: u16 = 9292;
/// Name, last byte of the address, and roles of each host.
const HOSTS: [(&str, u8, &str); 4] = [
    ("web", 11, "proxy"),
    ("app1", 12, "app"),
    ("app2", 13, "app"),
    ("db", 14, "database"),
];
const WEB: usize = 0;
const APPS: [usize; 2] = [1, 2];
const DATABASE: usize = 3;
/// Limit of cores of the computing database's host, and the rounds for each request: some ten
/// milliseconds of a core, far more than of the app.
const CORES_WHILE_COMPUTING: f64 = 0.2;
const ROUNDS: &str = "50000";
/// Connections of which the fastest shows a round trip, and the room above the planted delay.
const CONNECTS: u32 = 5;
const DELAY_ROOM: Duration = Duration::from_millis(20);
/// Connections of a load without a rate.
const CONNECTIONS: u32 = 8;

/// How the hosts are arranged.
pub(super) struct Plan {
    /// Whether the proxy keeps connections to the apps.
    pub(super) keeps_connections: bool,
    /// How much longer each request takes on the second app host, milliseconds.
    pub(super) slow_ms: Option<u32>,
    /// Whether each request has the database compute, on a host with a part of a core.
    pub(super) computes: bool,
    /// Round trip to the database's host, milliseconds more than of itself.
    pub(super) database_delay_ms: u32,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            keeps_connections: true,
            slow_ms: None,
            computes: false,
            database_delay_ms: 0,
        }
    }
}

/// The hosts with all processes; ended by a drop.
pub(super) struct Bed {
    folder: PathBuf,
    program: PathBuf,
    hosts: Vec<Host>,
    groups: Groups,
    database: MariadbFiles,
    /// Processes of the present plan: proxy and apps.
    services: Vec<Child>,
    link: Option<Link>,
    delay_ms: u32,
}

impl Bed {
    /// Makes the hosts and the database, and starts the common parts of all plans.
    pub(super) fn new(program: PathBuf) -> Outcome<Bed> {
        let folder = std::env::temp_dir().join(format!("hakaru-hosts-{}", stamp()));
        fs::create_dir(&folder)
            .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        link::bridge(&format!("{NET}.1/24"))?;
        let counting = [
            "--slow-query-log=1",
            "--long-query-time=0",
            "--performance-schema=ON",
        ];
        let database = MariadbFiles::new(DATABASE_PORT, &counting)?;
        let groups = Groups::new(&HOSTS.map(|(name, ..)| name))?;
        let mut bed = Bed {
            hosts: Vec::new(),
            folder,
            program,
            groups,
            database,
            services: Vec::new(),
            link: None,
            delay_ms: 0,
        };
        for (name, last, roles) in HOSTS {
            let host = Host::new(name, format!("{NET}.{last}"), roles)?;
            bed.hosts.push(host);
        }
        for host in &bed.hosts {
            Link::veth(&host.name, host.first, &host.address)?.keep();
        }
        bed.start_ssh()?;
        bed.start_database()?;
        Ok(bed)
    }

    /// Arranges the hosts by a plan: the apps and the proxy are ended and started again.
    pub(super) fn arrange(&mut self, plan: &Plan) -> Outcome<()> {
        for mut service in self.services.drain(..) {
            let _ = service.kill();
            let _ = service.wait();
        }
        for index in [WEB, APPS[0], APPS[1]] {
            self.end_all_of(index, &["nginx", "puma", "ruby"])?;
        }
        self.groups.limit(HOSTS[DATABASE].0, None)?;
        self.set_delay(plan.database_delay_ms)?;
        for index in APPS {
            let service = self.app(index, plan)?;
            self.services.push(service);
        }
        for index in APPS {
            self.wait_for(index, APP_PORT)?;
        }
        let service = self.proxy(plan.keeps_connections)?;
        self.services.push(service);
        self.wait_for(WEB, 80)?;
        let cores = plan.computes.then_some(CORES_WHILE_COMPUTING);
        self.groups.limit(HOSTS[DATABASE].0, cores)?;
        Ok(())
    }

    /// Runs `hakaru run` against the proxy, with a rate or as fast as a few connections go, and
    /// returns the JSON.
    pub(super) fn run(&self, rate: Option<u32>, seconds: u32) -> Outcome<String> {
        let (log, _) = self.database.path("data/slow.log");
        let mut config = format!(
            "[target]\nurl = \"http://{web}\"\nhost_ok = \"{web}\"\n[load]\n{load}\nwarmup = \"2s\"\n\
             duration = \"{seconds}s\"\n[[flow]]\nfile = \"{flow}\"\nfeed = \"users.csv\"\n",
            web = self.hosts[WEB].address,
            load = match rate {
                Some(rate) => format!("rate = {rate}\nconnections = 40"),
                None => format!("connections = {CONNECTIONS}"),
            },
            flow = root().join("xtask/hosts/flow.hurl").display(),
        );
        for host in &self.hosts {
            let logs = match host.name.as_str() {
                "web" => format!("logs = \"{}\"\n", self.folder.join("access.log").display()),
                "db" => format!(
                    "logs = \"{}\"\ndatabase = \"{}\"\n",
                    log.display(),
                    self.database_url()
                ),
                _ => String::new(),
            };
            config += &format!(
                "[[host]]\nname = \"{}\"\nroles = \"{}\"\nssh_config = \"ssh_config\"\n{logs}",
                host.name, host.roles
            );
        }
        write(&self.folder.join("hakaru.toml"), &config)?;
        let users = fs::read_to_string(root().join("apps/chat/flows/users.csv"))
            .map_err(|error| format!("cannot read the users of the chat: {error}"))?;
        let few: Vec<&str> = users.lines().take(101).collect();
        write(&self.folder.join("users.csv"), &(few.join("\n") + "\n"))?;
        let mut hakaru = Command::new(&self.program);
        hakaru.args(["run", "--json"]).current_dir(&self.folder);
        hakaru.env("LC_ALL", "C.UTF-8");
        capture(&mut hakaru)
    }

    fn start_ssh(&self) -> Outcome<()> {
        let sshd = ssh::configure(&self.folder, &self.hosts)?;
        for (index, host) in self.hosts.iter().enumerate() {
            let words = ssh::words(&sshd, &self.folder, host);
            let mut server = self.inside(index, &words.each_ref().map(String::as_str));
            self.spawn(&mut server, &format!("sshd-{}", host.name))?;
        }
        (0..self.hosts.len()).try_for_each(|index| self.wait_for(index, ssh::PORT))
    }

    fn start_database(&self) -> Outcome<()> {
        let (_, log) = self.database.path("data/slow.log");
        let log = format!("--slow-query-log-file={}", log.display());
        let words = self.database.command.iter().map(String::as_str);
        let words: Vec<&str> = words.chain([log.as_str()]).collect();
        let mut server = self.inside(DATABASE, &words);
        server.current_dir(self.database.folder());
        self.spawn(&mut server, "mariadb")?;
        self.wait_for(DATABASE, DATABASE_PORT)?;
        let mut seed = Command::new("ruby");
        seed.args(["seed.rb", "--small"])
            .current_dir(root().join("apps/chat"))
            .env("DATABASE_URL", self.database_url());
        capture(&mut seed).map(drop)
    }

    fn database_url(&self) -> String {
        let address = &self.hosts[DATABASE].address;
        format!("mysql2://hakaru:hakaru@{address}:{DATABASE_PORT}/hakaru")
    }

    fn app(&self, index: usize, plan: &Plan) -> Outcome<Child> {
        let bind = format!("tcp://{}:{APP_PORT}", self.hosts[index].address);
        let rackup = root().join("xtask/hosts/chat.ru").display().to_string();
        let mut puma = self.inside(index, &["puma", "-t", "5:5", "-b", &bind, &rackup]);
        puma.env("DATABASE_URL", self.database_url())
            .env("RACK_ENV", "production");
        if let Some(ms) = plan.slow_ms.filter(|_| index == APPS[1]) {
            puma.env("SLOW_MS", ms.to_string());
        }
        if plan.computes {
            puma.env("COMPUTE_ROUNDS", ROUNDS);
        }
        self.spawn(&mut puma, &self.hosts[index].name)
    }

    fn proxy(&self, keeps: bool) -> Outcome<Child> {
        let folder = self.folder.display();
        let apps = APPS.map(|index| format!("server {}:{APP_PORT};", self.hosts[index].address));
        let (keepalive, protocol) = match keeps {
            true => (
                "keepalive 32;",
                "proxy_http_version 1.1; proxy_set_header Connection \"\";",
            ),
            false => ("", "proxy_http_version 1.0;"),
        };
        let config = format!(
            "daemon off; user root; pid {folder}/nginx.pid; error_log {folder}/error.log;\nevents {{ worker_connections 512; }}\n\
             http {{\n  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;\n  \
               uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;\n  \
               log_format ltsv \"time:$time_iso8601\\tmethod:$request_method\\turi:$request_uri\\tstatus:$status\"\n    \
                 \"\\tsize:$body_bytes_sent\\treqtime:$request_time\\tapptime:$upstream_response_time\"\n    \
                 \"\\tupstream_addr:$upstream_addr\\truntime:$upstream_http_x_runtime\";\n  \
               upstream app {{ {servers} {keepalive} }}\n  \
               server {{ listen {address}:80; access_log {folder}/access.log ltsv;\n    \
                 location / {{ proxy_pass http://app; {protocol} }} }}\n}}\n",
            servers = apps.join(" "),
            address = self.hosts[WEB].address,
        );
        let path = self.folder.join("nginx.conf");
        write(&path, &config)?;
        let path = path.display().to_string();
        let prefix = self.folder.display().to_string();
        let mut nginx = self.inside(WEB, &["nginx", "-p", &prefix, "-c", &path]);
        self.spawn(&mut nginx, "nginx")
    }

    /// Puts the database's host on a wire with a delay, or on one without.
    fn set_delay(&mut self, delay_ms: u32) -> Outcome<()> {
        if self.delay_ms == delay_ms {
            return Ok(());
        }
        let host = &self.hosts[DATABASE];
        match self.link.take() {
            Some(slow) => slow.cut()?,
            None => link::cut(&host.name)?,
        }
        let link = match delay_ms {
            0 => {
                Link::veth(&host.name, host.first, &host.address)?.keep();
                None
            }
            _ => Some(Link::slow(&host.name, host.first, &host.address, delay_ms)?),
        };
        (self.link, self.delay_ms) = (link, delay_ms);
        self.wait_for(DATABASE, DATABASE_PORT)?;
        self.check_delay(delay_ms)
    }

    /// Compares the shortest time to connect, a round trip, with the planted one. A wire that does
    /// not delay would plant nothing, and an idle one is another case than a busy one.
    fn check_delay(&self, delay_ms: u32) -> Outcome<()> {
        let host = &self.hosts[DATABASE];
        let address = address(&host.address, DATABASE_PORT)?;
        let planted = Duration::from_millis(delay_ms.into());
        let mut shortest = PATIENCE;
        for _ in 0..CONNECTS {
            let begin = Instant::now();
            TcpStream::connect_timeout(&address, PATIENCE)
                .map_err(|error| format!("{}: {error}", host.name))?;
            shortest = shortest.min(begin.elapsed());
        }
        let is_planted = shortest >= planted && shortest < planted + DELAY_ROOM;
        is_planted.then_some(()).ok_or_else(|| {
            format!(
                "a round trip to {} takes {shortest:?}, not {planted:?}",
                host.name
            )
        })
    }

    /// Returns a command on a host, in the host's control group.
    fn inside(&self, index: usize, words: &[&str]) -> Command {
        let host = &self.hosts[index];
        let script = "for group in $GROUPS_OF_HOST; do echo $$ >$group/cgroup.procs || exit; done; exec \"$@\"";
        let mut command = Command::new("sh");
        command
            .args(["-c", script, "sh"])
            .args(host.words())
            .args(words)
            .env("GROUPS_OF_HOST", self.groups.folders(&host.name));
        command
    }

    fn end_all_of(&self, index: usize, names: &[&str]) -> Outcome<()> {
        let names = names.join("|");
        // Of this host only: the process namespace has no others.
        let script = format!(
            "for dir in /proc/[0-9]*; do grep -qE '^({names})' $dir/comm 2>/dev/null && kill -9 ${{dir#/proc/}}; done; true"
        );
        capture(&mut self.inside(index, &["sh", "-c", &script])).map(drop)
    }

    fn spawn(&self, command: &mut Command, name: &str) -> Outcome<Child> {
        let path = self.folder.join(format!("{name}.log"));
        let log = fs::File::create(&path)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        let copy = log
            .try_clone()
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        command.stdin(Stdio::null()).stdout(log).stderr(copy);
        command
            .spawn()
            .map_err(|error| format!("cannot start {name}: {error}"))
    }

    /// Waits until a host accepts connections.
    fn wait_for(&self, index: usize, port: u16) -> Outcome<()> {
        let host = &self.hosts[index];
        let address = address(&host.address, port)?;
        let deadline = Instant::now() + PATIENCE;
        while TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_err() {
            if Instant::now() > deadline {
                return Err(format!(
                    "nothing accepts connections at {address} on {}; its logs are in {}:\n{}",
                    host.name,
                    self.folder.display(),
                    last_lines(&self.folder)
                ));
            }
            thread::sleep(TICK);
        }
        Ok(())
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        self.services.clear();
        self.hosts.clear();
        self.groups.remove();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn address(host: &str, port: u16) -> Outcome<SocketAddr> {
    let place = format!("{host}:{port}");
    let address = place.parse();
    address.map_err(|error| format!("{place} is no address: {error}"))
}

/// The last lines of all logs, for messages.
fn last_lines(folder: &Path) -> String {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let logs = entries.filter(|entry| entry.path().extension().is_some_and(|end| end == "log"));
    let last = logs.filter_map(|entry| {
        let text = fs::read_to_string(entry.path()).ok()?;
        let lines: Vec<&str> = text.lines().collect();
        let tail = lines[lines.len().saturating_sub(3)..].join("\n  ");
        let name = entry.file_name();
        (!tail.is_empty()).then(|| format!("{}:\n  {tail}", name.to_string_lossy()))
    });
    last.collect::<Vec<_>>().join("\n")
}
