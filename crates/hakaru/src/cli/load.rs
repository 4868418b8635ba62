//! The flags of `hakaru load`.

mod argv;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::{JsonArgs, ReachArgs, parse_duration};
use crate::settings::start::StartAt;

/// Flags as typed.
#[derive(Debug, Default, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  hakaru load http://127.0.0.1:8080/
  hakaru load URL -c 200 -d 30s --threads 2 --json > load.json
  hakaru load URL --rate 2000 -d 60s                      sent however slowly the server answers
  hakaru load --flow login.hurl:3 --flow browse.hurl:7 --rate 100..2000/60s --csv user=users.csv
  hakaru load URL --find-max 'p99 < 200ms, errors < 0.1%'
  hakaru load https://127.0.0.1:8443/ --http2 -c 4 --streams 25
  hakaru load URL --expect 'p95 < 50ms' --expect 'errors = 0'
  hakaru load URL --rate 9000 --part 0/3 --start-at 1764090000 --result 0.result
  hakaru load merge *.result
  hakaru load URL --rate 9000 --on load1,load2,load3       the same over SSH, in one go
  hakaru load URL --rate 20000 --kubernetes --parallelism 20 --image IMAGE

Latency counts from when a request was due; sent → answered stands beside it. `hakaru help load` says more.
Exit codes: 0 all good, 1 a thread of the load failed, 2 wrong usage, 3 an expectation was missed,
4 requests failed, 12 too few requests for an expectation, 130 interrupted."
)]
pub(crate) struct LoadArgs {
    #[command(subcommand)]
    pub(crate) command: Option<LoadCommand>,

    /// What to request, or with --flow the base URL [default: `url` in hakaru.toml]
    #[arg(value_name = "URL")]
    pub(crate) url: Option<String>,

    /// A flow and its weight, instead of the URL alone; may be repeated
    #[arg(long = "flow", value_name = "FILE.hurl[:WEIGHT]")]
    pub(crate) flows: Vec<String>,

    /// Rows of variables for the flows, one row an iteration; columns are {{NAME_column}}, or
    /// {{column}}
    #[arg(long, value_name = "[NAME=]FILE.csv", requires = "flows")]
    pub(crate) csv: Option<String>,

    /// Connections; with --rate the most that may be opened [default: 50, with --rate 1000]
    #[arg(long, short = 'c', value_name = "N", allow_negative_numbers = true)]
    pub(crate) connections: Option<u32>,

    /// Length of the measured part, such as 20s or 2m [default: 10s, or as --rate says]
    #[arg(long, short = 'd', value_name = "TIME", value_parser = parse_duration)]
    pub(crate) duration: Option<Duration>,

    /// Load before the measured part, not counted
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) warmup: Option<Duration>,

    /// Threads of the load generator
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) threads: u32,

    /// What carries the load: epoll, io_uring, or auto for io_uring where the kernel allows it
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = load::Engine::parse)]
    pub(crate) engine: load::Engine,

    /// Open load: requests per second: 2000, 100..2000/60s, or stages such as 100/10s,100..2000/1m
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    pub(crate) rate: Option<String>,

    /// Requests of an open load come by chance, as those of many users do, instead of evenly
    #[arg(long, requires = "rate", conflicts_with = "burst")]
    pub(crate) poisson: bool,

    /// Requests of an open load come so many at once
    #[arg(long, value_name = "N", requires = "rate")]
    pub(crate) burst: Option<u32>,

    /// The method [default: GET, with --body POST]
    #[arg(long, short = 'X', value_name = "METHOD", conflicts_with = "flows")]
    pub(crate) method: Option<String>,

    /// A header; may be repeated
    #[arg(
        long = "header",
        short = 'H',
        value_name = "NAME: VALUE",
        conflicts_with = "flows"
    )]
    pub(crate) headers: Vec<String>,

    /// The body, or @FILE
    #[arg(long, value_name = "TEXT", conflicts_with = "flows")]
    pub(crate) body: Option<String>,

    /// A new connection for each request
    #[arg(long)]
    pub(crate) no_keepalive: bool,

    /// Over HTTP/2: by ALPN where the URL is https, else without asking; several requests share a
    /// connection
    #[arg(long, conflicts_with = "no_keepalive")]
    pub(crate) http2: bool,

    /// Requests under way at once on each connection of HTTP/2, up to 1000 [default: 1]
    #[arg(long, value_name = "N", requires = "http2")]
    pub(crate) streams: Option<u32>,

    /// Keep the bodies of failed requests as examples, which may hold secrets
    #[arg(long)]
    pub(crate) keep_bodies: bool,

    /// A host other than this machine that may be loaded; may be repeated
    #[arg(long, value_name = "HOST")]
    pub(crate) host_ok: Vec<String>,

    #[command(flatten)]
    pub(crate) reach: ReachArgs,

    /// Longest wait for a connection
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) connect_timeout: Option<Duration>,

    /// Decides the order of flows and all random values
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,

    /// What must come out, such as 'p99 < 200ms' or 'errors < 0.1%'; may be repeated
    #[arg(long = "expect", value_name = "FIGURE < LIMIT")]
    pub(crate) expectations: Vec<String>,

    /// Find the highest rate at which these hold, within -d [default: 60s]
    #[arg(long, value_name = "GOALS", conflicts_with_all = ["rate", "expectations", "series"])]
    pub(crate) find_max: Option<String>,

    /// Carry out one generator's part of this load: K of N, from 0 to N - 1. What is expected is
    /// judged by `load merge`
    #[arg(long, value_name = "K/N", requires = "result", conflicts_with = "find_max", value_parser = load::Part::parse)]
    pub(crate) part: Option<load::Part>,

    /// Send this load from these hosts, each its part: names of [[host]] in hakaru.toml, or where
    /// ssh finds them
    #[arg(long, value_name = "HOST,…", value_delimiter = ',', conflicts_with_all = ["find_max", "part", "start_at", "result", "hdr"])]
    pub(crate) on: Vec<String>,

    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,

    /// When to start: a time in seconds since 1970, - for a line on standard input, or a file that
    /// appears
    #[arg(long, value_name = "START", conflicts_with = "find_max", value_parser = StartAt::parse, allow_hyphen_values = true)]
    pub(crate) start_at: Option<StartAt>,

    /// Also write all that was measured, for `hakaru load merge`; - is standard output, without the
    /// report then
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "find_max",
        allow_hyphen_values = true
    )]
    pub(crate) result: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) form: JsonArgs,

    /// Also write the report as one HTML file
    #[arg(long, value_name = "FILE.html", conflicts_with = "find_max")]
    pub(crate) html: Option<PathBuf>,

    /// Also write the figures of each second as CSV
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) series: Option<PathBuf>,

    /// Also write the figures in Prometheus' text format
    #[arg(long, value_name = "FILE.prom", conflicts_with = "find_max")]
    pub(crate) prometheus: Option<PathBuf>,

    /// Send the figures to an OpenTelemetry receiver at the end (OTLP/HTTP, JSON)
    #[arg(long, value_name = "URL", conflicts_with_all = ["find_max", "part"])]
    pub(crate) otlp: Option<String>,

    /// Also write the latencies as an HdrHistogram log (version 2), one histogram per second
    #[arg(long, value_name = "FILE.hlog", conflicts_with = "find_max")]
    pub(crate) hdr: Option<PathBuf>,
}

/// Where in a cluster a load is sent from.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Kubernetes")]
pub(crate) struct ClusterArgs {
    /// Send this load from the pods of a Job, through the kubectl of this machine
    #[arg(long, conflicts_with_all = ["find_max", "part", "start_at", "result", "hdr", "on"], requires = "parallelism", requires = "image")]
    pub(crate) kubernetes: bool,

    /// How many pods
    #[arg(long, value_name = "N", requires = "kubernetes", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) parallelism: Option<u32>,

    /// An image with this program on its PATH
    #[arg(long, value_name = "IMAGE", requires = "kubernetes")]
    pub(crate) image: Option<String>,

    /// The namespace [default: kubectl's own]
    #[arg(long, short = 'n', value_name = "NAME", requires = "kubernetes")]
    pub(crate) namespace: Option<String>,

    /// The context [default: kubectl's own]
    #[arg(long, value_name = "NAME", requires = "kubernetes")]
    pub(crate) context: Option<String>,

    /// Memory of each pod
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "512Mi",
        requires = "kubernetes"
    )]
    pub(crate) memory: String,

    /// Print the manifests, and ask the cluster for nothing
    #[arg(long, requires = "kubernetes")]
    pub(crate) dry_run: bool,
}

/// What a generator elsewhere is given: nothing over SSH, where all comes on standard input.
#[derive(Debug, Args)]
pub(crate) struct GeneratorArgs {
    /// The file of the order
    #[arg(long, requires = "part", requires = "start_at")]
    pub(crate) order: Option<PathBuf>,

    /// The part of the load, K/N
    #[arg(long, requires = "order", value_parser = load::Part::parse)]
    pub(crate) part: Option<load::Part>,

    /// When to start
    #[arg(long, requires = "order", value_parser = StartAt::parse)]
    pub(crate) start_at: Option<StartAt>,
}

/// What else there is to loads.
#[derive(Debug, Subcommand)]
pub(crate) enum LoadCommand {
    /// Add up what several generators left (--result), and judge what was expected
    Merge(MergeArgs),
}

/// Flags of `hakaru load merge`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: as of hakaru load; 1 where a generator left no result, 2 where the results are not of one load.")]
pub(crate) struct MergeArgs {
    /// One result of each generator
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) form: JsonArgs,

    /// Also write the report as one HTML file
    #[arg(long, value_name = "FILE.html")]
    pub(crate) html: Option<PathBuf>,

    /// Also write the figures of each second as CSV
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) series: Option<PathBuf>,

    /// Also write the figures in Prometheus' text format
    #[arg(long, value_name = "FILE.prom")]
    pub(crate) prometheus: Option<PathBuf>,

    /// Send the figures to an OpenTelemetry receiver (OTLP/HTTP, JSON)
    #[arg(long, value_name = "URL")]
    pub(crate) otlp: Option<String>,
}
